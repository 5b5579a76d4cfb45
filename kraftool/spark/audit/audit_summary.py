"""A directory at a glance: the summary of the audit from what doctor and verify-log have read.

Owns which of their values stand in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraftool.arrow.fleet import FleetDirectory
from kraftool.decoders.names import FileState
from kraftool.directory.metadata_summary import SeenVoters
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


def with_checked(summary: DirectorySummary, checked: Checked) -> DirectorySummary:
    """With what verify-log counted."""
    return replace(
        summary,
        files=checked.files,
        size=checked.size,
        segments=checked.segments,
        snapshots=checked.snapshots,
        batches=checked.batches,
        records=checked.records,
        start_offset=checked.start_offset,
        end_offset=checked.end_offset,
    )


def with_examined(
    summary: DirectorySummary, examined: ExaminedDirectory, snapshots: Iterable[VerifiedSnapshot]
) -> DirectorySummary:
    """With what doctor has read of it, and the hash of the newest snapshot's state."""
    metadata = examined.summary
    log, node, newest = metadata.log, metadata.node, metadata.newest_snapshot
    feature, quorum = metadata.feature(METADATA_VERSION), metadata.quorum_state
    voters = metadata.voter_set
    states = (snapshot for snapshot in snapshots if snapshot.is_state)
    verified = max(states, key=lambda snapshot: snapshot.offset, default=None)
    if examined.state is not None:
        image = examined.state.image
        topics = image.topics.by_id.values()
        summary = replace(
            summary,
            topics=len(topics),
            partitions=sum(len(topic.partitions) for topic in topics),
            brokers=len(image.cluster.brokers),
            controllers=len(image.cluster.controllers),
        )
    if log is not None:
        summary = replace(
            summary,
            start_offset=log.start,
            end_offset=log.end,
            intact_end_offset=log.intact_end,
            epoch=log.last_epoch,
            first_timestamp=log.first_timestamp,
            last_timestamp=log.last_timestamp,
            elections=log.leader_changes,
        )
    return replace(
        summary,
        cluster_id=node.cluster_id or summary.cluster_id,
        node_id=node.node_id if node.node_id is not None else summary.node_id,
        directory_id=node.directory_id or summary.directory_id,
        is_live=examined.is_live,
        snapshots=sum(snapshot.state is FileState.LIVE for snapshot in metadata.snapshots),
        newest_snapshot_offset=newest.offset if newest is not None else None,
        newest_snapshot_epoch=newest.epoch if newest is not None else None,
        newest_snapshot_timestamp=newest.timestamp if newest is not None else None,
        newest_snapshot_hash=verified.state_hash if verified is not None else "",
        metadata_version=feature.level if feature is not None else None,
        metadata_release=feature.release if feature is not None else "",
        kraft_version=examined.source.kraft_version,
        voters=voters_of(voters),
        voters_from=voters.source.value if voters is not None else "",
        quorum_epoch=quorum.leader_epoch if quorum is not None else None,
        leader_id=quorum.leader_id if quorum is not None and quorum.leader_id >= 0 else None,
        voted_id=quorum.voted_id if quorum is not None and quorum.voted_id >= 0 else None,
    )


def voters_of(voters: SeenVoters | None) -> VoterSet:
    """The voters by id."""
    if voters is None:
        return NO_VOTERS
    return VoterSet.of(*sorted(voters.voters, key=lambda voter: voter.id))
