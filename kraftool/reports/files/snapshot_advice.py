"""The advice on a damaged snapshot, by the files next to it, and if Kafka exits on it at its start.

Owns that advice. Moving a snapshot away is right only where the log, or an older snapshot and the
log behind it, gives the same state: Kafka then reads that instead. It is never told where the log
ends before the snapshot does, or where a record of the log could not be read or replayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraftool.decoders.fault import FaultKind
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import FileState
from kraftool.directory.file_report import FileReport
from kraftool.directory.metadata_summary import MetadataSummary, SnapshotSummary
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds

DAMAGES = frozenset({snap_kinds.DAMAGE.code, snap_kinds.FORM.code})
"""The findings that this advice is for."""
_UNTRUSTED = frozenset(
    kind.code
    for kind in (
        log_kinds.CRC, log_kinds.DAMAGE, log_kinds.MAGIC, log_kinds.RECORDS,
        log_kinds.UNKNOWN_TYPE,
        log_kinds.EPOCH_BACK, log_kinds.GAP, log_kinds.FILE_NAME, log_kinds.REPLAY,
        log_kinds.RECORD_FORM, log_kinds.TWO_LEADERS,
    )
)  # fmt: skip
_DIES = "Kafka exits on it, when it starts or later; "
_UNCHECKED = "Kafka does not check this, and loads what is there; "
"""Of a snapshot that ends too early, and has its header and a metadata.version."""
_ANOTHER = "replace it with the same .checkpoint of another node"


def is_sound(findings: Iterable[Finding]) -> bool:
    """True if nothing speaks against reading a log from its start to its end."""
    return not any(finding.code in _UNTRUSTED for finding in findings)


def snapshot_advice(summary: MetadataSummary, finding: Finding, *, sound: bool) -> str:
    """Return what to do about a damaged snapshot. `sound`: the log's records are good."""
    file = finding.file
    loaded = summary.loaded_snapshot
    is_judged = finding.code == snap_kinds.FORM.code or (loaded and loaded.file == file)
    dies = _UNCHECKED if is_judged and not finding.exits_here else _DIES
    live = [snapshot for snapshot in summary.snapshots if snapshot.state is FileState.LIVE]
    this = next((snapshot for snapshot in live if snapshot.file == file), None)
    if this is None:
        return f"{dies}{_ANOTHER}"
    newer = [
        snapshot
        for snapshot in live
        if (snapshot.offset, snapshot.epoch) > (this.offset, this.epoch)
    ]
    if newer and newer[-1].intact:
        return "Kafka starts from the newest snapshot; this older one is not needed for that"
    if any(snapshot.intact for snapshot in newer):
        return "the newest snapshot is damaged too, but this one is not needed to replace it"
    if newer:
        return f"the newest snapshot is damaged too, see there; or {_ANOTHER}"
    instead = _instead(summary, this, live) if sound else ""
    return f"{dies}{instead or _ANOTHER}"


def bootstrap_advice(finding: Finding, *, has_metadata: bool) -> str:
    """Return what to do about a damaged bootstrap.checkpoint."""
    does = (
        "Kafka exits on it when it starts, because it finds no metadata.version in it"
        if finding.exits_here
        else "Kafka starts on it, because it finds metadata.version in it"
    )
    if has_metadata:
        return (
            f"{does}. A node that has metadata starts without the file: with Kafka stopped, move"
            " it away"
        )
    return f"{does}. Format the directory again, as it was formatted at first (kraftool format)"


def _instead(
    summary: MetadataSummary, this: SnapshotSummary, live: Iterable[SnapshotSummary]
) -> str:
    """Return what Kafka can read in the newest snapshot's place; empty if there is nothing."""
    log = summary.log
    if log is None or not log.batches or log.intact_end < this.offset:
        return ""
    older = [
        snapshot
        for snapshot in live
        if snapshot.intact and log.start <= snapshot.offset < this.offset and snapshot.offset > 0
    ]
    if older:
        return (
            f"the log is whole from {log.start} on: with Kafka stopped, move the"
            f" snapshot away. Kafka then uses the one at {older[-1].offset}"
        )
    if log.start == 0:
        return (
            "the log is whole from 0: with Kafka stopped, move the snapshot away. Kafka then"
            " reads the log"
        )
    return ""


def with_exit(finding: Finding, file: FileReport, summary: MetadataSummary) -> Finding:
    """Damage of a snapshot, with what Kafka does on it at its start.

    A kind says it for all its findings (`keeps_from_starting`); here the files decide it.
    """
    if file.kind is FileKind.BOOTSTRAP_CHECKPOINT:
        return replace(finding, exits_here=file.is_live and not _has_metadata_version(file))
    loaded = summary.loaded_snapshot
    is_loaded = loaded is not None and loaded.file == file.file
    return replace(finding, exits_here=is_loaded and _is_refused(finding, file))


_UNNOTICED = (FaultKind.GAP, FaultKind.TORN_TAIL)


def _is_refused(finding: Finding, file: FileReport) -> bool:
    """Kafka reads a snapshot without a footer, but none without a header. It checks each batch, and
    not if offsets follow on each other, or if the file ends inside a batch: it loads what is there,
    if a metadata.version is."""
    if file.log is None or not _has_metadata_version(file):
        return True
    if finding.code == snap_kinds.FORM.code:
        return not file.log.has_header
    return file.log.omitted_problems > 0 or any(
        problem.kind not in _UNNOTICED for problem in file.log.problems
    )


def _has_metadata_version(file: FileReport) -> bool:
    """True if Kafka finds in bootstrap.checkpoint what it looks for. It reads the file at each
    start, also if the node has metadata, and checks no CRC in it."""
    features = file.log.features if file.log is not None else ()
    return any(feature.name == "metadata.version" for feature in features)
