"""leader-epoch-checkpoint against the log beside it: the file that elections go by.

Owns the comparison for a node that does not run. It refuses to say which epochs Kafka then goes by;
that is `voters/kafka_epochs.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraftool.decoders.checkpoint_files import EpochEntry, LeaderEpochCheckpoint
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import FileState
from kraftool.directory.file_report import FileReport
from kraftool.directory.metadata_summary import LogExtent, MetadataSummary
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds


def epoch_findings(case: NodeDirectory) -> Iterator[Finding]:
    """Yield what is wrong with the file in a directory on which nothing runs.

    A recovery plan that changes the log deletes it, so that Kafka makes it again.
    """
    summary, log = case.summary, case.summary.log
    file = case.one(FileKind.LEADER_EPOCH_CHECKPOINT)
    if log is None or case.is_running:
        return
    if file is None:
        # An archive that was cut off may have had the file, and a leader sends none.
        if log.batches and not case.cut and not case.is_live:
            severity = Severity.INFO if case.repairs else None
            text = "there is no leader-epoch-checkpoint"
            yield kinds.EPOCHS_MISSING.at(case.path, text, severity=severity)
        return
    content = file.content
    if not isinstance(content, LeaderEpochCheckpoint) or not content.accepted:
        return
    if content.entries:
        starts = [
            start
            for report in case.all_of(FileKind.LOG)
            if report.log is not None
            for start in report.log.epochs
        ]
        yield from _differing(file, content.entries, starts, summary, log)
    elif log.batches:
        yield _empty(file)


def covers_start(summary: MetadataSummary) -> bool:
    """True if the log begins at 0, or a snapshot reaches to where it begins."""
    start = summary.log.start if summary.log is not None else 0
    return start == 0 or any(
        snapshot.state is FileState.LIVE and snapshot.offset >= start
        for snapshot in summary.snapshots
    )


def _differing(
    file: FileReport,
    entries: Iterable[EpochEntry],
    starts: Iterable[EpochEntry],
    summary: MetadataSummary,
    log: LogExtent,
) -> Iterator[Finding]:
    expected: dict[int, int] = {}
    for start in sorted(starts, key=lambda start: start.start_offset):
        expected.setdefault(start.epoch, start.start_offset)
    claims = {entry.epoch: entry.start_offset for entry in entries}
    # Kafka cuts the file at its log start, a snapshot's offset that no segment need begin at; where
    # that snapshot is missing, which is told by itself, it may have been any.
    cut = min(claims.values(), default=-1)
    is_cut = not covers_start(summary) or any(
        snapshot.offset == cut for snapshot in summary.snapshots
    )
    begins = max(cut, log.start) if is_cut else log.start
    in_log = [item for item in expected.items() if item[1] >= begins]
    for epoch, offset in in_log:
        claim = claims.get(epoch)
        if claim == offset or (offset == log.start and claim is not None and claim < offset):
            continue
        yield kinds.EPOCHS_DIFFER.at(
            file.file,
            f"the log has the start of epoch {epoch} at another offset",
            offset=offset,
            expected=f"{epoch} {offset}",
            found="no such epoch" if claim is None else f"{epoch} {claim}",
        )
        return
    for epoch, offset in claims.items():
        inside = log.start < offset < log.end
        if inside and epoch not in expected:
            yield kinds.EPOCHS_DIFFER.at(
                file.file,
                f"the log has no batch of epoch {epoch}",
                offset=offset,
                found=f"{epoch} {offset}",
            )
            return


def _empty(file: FileReport) -> Finding:
    """Kafka creates the file without a byte. It writes the epochs of the first batch under another
    name that it then changes: beside batches, a crash of the machine or a failed copy left it."""
    if file.size:
        return kinds.EPOCHS_EMPTY.at(file.file, "it has no epoch")
    return kinds.EPOCHS_EMPTY.at(
        file.file,
        "it has no byte, and Kafka writes the file with the first batch of the log",
        position=0,
        severity=Severity.WARNING,
        advice="nothing to do for this file. A crash of the machine, a full disk or a failed copy"
        " leaves such files: check the other files of that time",
    )
