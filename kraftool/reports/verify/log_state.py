"""State files and snapshots against the log, once all of them were read.

Owns the comparisons that a dump does not make. Each rule yields findings; none of them reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import FileState
from kraftool.decoders.quorum_state import QuorumStateFile
from kraftool.directory.metadata_summary import SnapshotSummary
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.verify.log_pass import DirectoryPass


def quorum_state(report: NodeDirectory, seen: DirectoryPass) -> Iterator[Finding]:
    """The state file's leader against LeaderChange, its form against kraft.version."""
    file = report.one(FileKind.QUORUM_STATE)
    content = file.content if file is not None else None
    if file is None or not isinstance(content, QuorumStateFile) or content.quorum_state is None:
        return
    state = content.quorum_state
    leader = seen.history.leaders.get(state.leader_epoch)
    if leader is not None and state.leader_id >= 0 and leader.leader_id != state.leader_id:
        yield dir_kinds.QUORUM_LEADER.at(
            file.file,
            f"epoch {state.leader_epoch} has another leader in the log, at offset {leader.offset}",
            field="leaderId",
            expected=str(leader.leader_id),
            found=str(state.leader_id),
        )
    level, version = report.summary.finalized_kraft_version.level, state.data_version
    voters = report.summary.voter_set
    node = report.summary.node.node_id
    # An observer may keep the old form for ever; a voter until its next vote or leader.
    is_voter = voters is not None and node is not None and voters.of(node) is not None
    if (version == 0 and level > 0 and is_voter) or (version == 1 and level == 0):
        yield dir_kinds.QUORUM_VERSION.at(
            file.file,
            "the format of another kraft.version",
            field="data_version",
            expected=str(min(level, 1)),
            found=str(version),
        )


def snapshots(report: NodeDirectory, seen: DirectoryPass) -> Iterator[Finding]:
    """Each snapshot's end against the batch that it ends with."""
    log = report.log
    if log is None:
        return
    for snapshot in _live(report.summary.snapshots):
        if not log.start < snapshot.offset <= log.intact_end:
            continue
        epoch = log.epoch_at(snapshot.offset - 1)
        if epoch is not None and epoch != snapshot.epoch:
            yield snap_kinds.LOG_EPOCH.at(
                snapshot.file,
                f"the log's record at offset {snapshot.offset - 1} has another epoch",
                offset=snapshot.offset,
                expected=str(epoch),
                found=str(snapshot.epoch),
            )
        place = seen.places.get(snapshot.offset)
        if place is None:
            text = "the log has no batch that ends there"
            if seen.is_stream:
                text = "the batch that it ends with had passed before the snapshot was seen"
            yield log_kinds.NOT_CHECKED.at(snapshot.file, text, offset=snapshot.offset)
        elif place.inside:
            yield snap_kinds.LOG_BOUNDARY.at(
                snapshot.file,
                f"a batch of {place.file} continues over that offset",
                position=None,
                offset=snapshot.offset,
            )
        elif snapshot.timestamp is not None and seen.times.contradict(
            snapshot.offset, snapshot.timestamp
        ):
            yield snap_kinds.LOG_TIMESTAMP.at(
                snapshot.file,
                f"the batch at position {place.position} of {place.file} has a later time, and"
                f" no later batch of leader epoch {place.epoch} has this time",
                offset=snapshot.offset,
                field="lastContainedLogTimestamp",
                expected=str(place.timestamp),
                found=str(snapshot.timestamp),
            )


def _live(snapshots: Sequence[SnapshotSummary]) -> Iterator[SnapshotSummary]:
    return (
        snapshot
        for snapshot in snapshots
        if snapshot.state is FileState.LIVE and snapshot.offset > 0
    )
