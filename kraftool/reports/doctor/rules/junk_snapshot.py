"""A snapshot beyond the log that Kafka would die on, after it has deleted the log for it."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.directory.metadata_summary import SnapshotSummary
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "JUNK-SNAPSHOT",
    Severity.ERROR,
    "A snapshot that cannot be loaded has a name beyond the end of the log. At its next start"
    " Kafka deletes the log and all older snapshots because of it, and then exits on it.",
    "move this file out of the folder before you start Kafka. Compare the node's log with the"
    " other voters' logs before it votes: if the snapshot was real, the log lacks records"
    " that it held. It is better to use another node's checkpoint that fits the log",
    references=("KIP-630",),
    tells_better=frozenset({snap_kinds.AHEAD.code}),
)

_BROKEN = frozenset(
    kind.code
    for kind in (snap_kinds.DAMAGE, snap_kinds.FORM, snap_kinds.REPLAY, snap_kinds.FILE_NAME)
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        log, newest = examined.summary.log, examined.summary.loaded_snapshot
        if log is None or newest is None or newest.offset == 0 or examined.is_live:
            continue
        ends = (log.last_epoch if log.last_epoch is not None else -1, log.end)
        wipes = newest.epoch > ends[0] or (newest.epoch == ends[0] and newest.offset > ends[1])
        why = _broken(examined, newest) if wipes else ""
        if not why:
            continue
        yield Diagnosis(
            finding=KIND.at(
                newest.file,
                f"its name is beyond the end of the log and it cannot be loaded: {why}",
                offset=newest.offset,
                expected=f"a snapshot up to offset {ends[1]} of epoch {ends[0]}",
                found=f"offset {newest.offset} of epoch {newest.epoch}",
            ),
            directory=examined.path,
            evidence=(
                Evidence(file=newest.file, found=f"{newest.size} bytes: {why}"),
                Evidence(
                    file=examined.path, offset=ends[1],
                    found=f"the log ends here in epoch {ends[0]}",
                ),
            ),
            commands=(
                shell_text.aside(newest.file)
                if _is_spare(examined)
                else shell_text.keep_copy(examined.path),
                shell_text.on(examined.path, "verify-log"),
            ),
        )  # fmt: skip


def _is_spare(examined: ExaminedDirectory) -> bool:
    """True if Kafka starts without the newest snapshot: something else has the log's beginning."""
    log, newest = examined.summary.log, examined.summary.loaded_snapshot
    return log is not None and (
        log.start == 0
        or any(
            snapshot.intact and log.start <= snapshot.offset <= log.intact_end
            for snapshot in examined.summary.snapshots
            if snapshot is not newest
        )
    )


def _broken(examined: ExaminedDirectory, snapshot: SnapshotSummary) -> str:
    findings = [
        finding
        for file in examined.files
        if file.file == snapshot.file
        for finding in file_findings(file)
    ]
    findings += examined.state.findings if examined.state is not None else ()
    for finding in findings:
        if finding.code in _BROKEN and finding.file == snapshot.file:
            return finding.text
    return "" if snapshot.intact else "it has no complete header and footer"
