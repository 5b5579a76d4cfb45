"""A directory at a glance: the summary of the audit from what doctor and verify-log have read.

Owns which of their values stand in it. It refuses to read files.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.arrow.fleet import FleetDirectory
from kraftool.decoders.names import FileState
from kraftool.directory.metadata_summary import MetadataSummary, SeenVoters
from kraftool.raft.names import NO_VOTERS, VoterSet
from kraftool.reports.doctor.model import ExaminedDirectory
from kraftool.reports.fleet.model import DirectorySummary
from kraftool.reports.verify.log import Checked
from kraftool.reports.verify.snapshot_values import VerifiedSnapshot

METADATA_VERSION = "metadata.version"


def begun(directory: FleetDirectory) -> DirectorySummary:
    """Return what is known before anything was read."""
    return DirectorySummary(
        name=directory.name,
        cluster="",
        cluster_id=directory.cluster_id,
        node_id=directory.node_id,
        directory_id=directory.directory_id,
    )


def with_counts(
    summary: DirectorySummary, checked: Checked, examined: ExaminedDirectory | None
) -> DirectorySummary:
    """With what verify-log counted, except for what doctor, which has read more, knows."""
    log = examined.summary.log if examined is not None else None
    return replace(
        summary,
        files=checked.files,
        size=checked.size,
        segments=checked.segments,
        snapshots=checked.snapshots if examined is None else summary.snapshots,
        batches=checked.batches,
        records=checked.records,
        start_offset=checked.start_offset if log is None else summary.start_offset,
        end_offset=checked.end_offset if log is None else summary.end_offset,
    )


def with_examined(summary: DirectorySummary, examined: ExaminedDirectory) -> DirectorySummary:
    """With what doctor has read of it."""
    metadata_summary = examined.summary
    state = examined.state.image if examined.state is not None else None
    if state is not None:
        topics = state.topics.by_id.values()
        summary = replace(
            summary,
            topics=len(topics),
            partitions=sum(len(topic.partitions) for topic in topics),
            brokers=len(state.cluster.brokers),
            controllers=len(state.cluster.controllers),
        )
    summary = _with_log(summary, metadata_summary)
    summary = _with_quorum(summary, examined, metadata_summary)
    newest = metadata_summary.newest_snapshot
    return replace(
        summary,
        cluster_id=metadata_summary.node.cluster_id or summary.cluster_id,
        node_id=metadata_summary.node.node_id
        if metadata_summary.node.node_id is not None
        else summary.node_id,
        directory_id=metadata_summary.node.directory_id or summary.directory_id,
        is_live=examined.is_live,
        snapshots=sum(snapshot.state is FileState.LIVE for snapshot in metadata_summary.snapshots),
        newest_snapshot_offset=newest.offset if newest is not None else None,
        newest_snapshot_epoch=newest.epoch if newest is not None else None,
        newest_snapshot_timestamp=newest.timestamp if newest is not None else None,
    )


def _with_log(summary: DirectorySummary, metadata_summary: MetadataSummary) -> DirectorySummary:
    log = metadata_summary.log
    if log is None:
        return summary
    return replace(
        summary,
        start_offset=log.start,
        end_offset=log.end,
        intact_end_offset=log.intact_end,
        epoch=log.last_epoch,
        first_timestamp=log.first_timestamp,
        last_timestamp=log.last_timestamp,
        elections=log.leader_changes,
    )


def _with_quorum(
    summary: DirectorySummary, examined: ExaminedDirectory, metadata_summary: MetadataSummary
) -> DirectorySummary:
    feature, state = metadata_summary.feature(METADATA_VERSION), metadata_summary.quorum_state
    voters = metadata_summary.voter_set
    return replace(
        summary,
        metadata_version=feature.level if feature is not None else None,
        metadata_release=feature.release if feature is not None else "",
        kraft_version=examined.source.kraft_version,
        voters=voters_of(voters),
        voters_from=voters.source.value if voters is not None else "",
        quorum_epoch=state.leader_epoch if state is not None else None,
        leader_id=state.leader_id if state is not None and state.leader_id >= 0 else None,
        voted_id=state.voted_id if state is not None and state.voted_id >= 0 else None,
    )


def voters_of(voters: SeenVoters | None) -> VoterSet:
    """The voters by id."""
    if voters is None:
        return NO_VOTERS
    return VoterSet.of(*sorted(voters.voters, key=lambda voter: voter.id))


def with_hash(
    summary: DirectorySummary, snapshots: tuple[VerifiedSnapshot, ...]
) -> DirectorySummary:
    """With the hash of the newest snapshot's state."""
    state_snapshots = (snapshot for snapshot in snapshots if snapshot.is_state)
    newest = max(state_snapshots, key=lambda snapshot: snapshot.offset, default=None)
    return replace(summary, newest_snapshot_hash=newest.state_hash) if newest else summary
