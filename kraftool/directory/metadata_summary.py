"""The answer at a glance, as values: who the node is, who leads, who votes, what is kept.

Owns the read model that the command line, the dashboard and pipelines share. How it comes from
files is `directory_summary.py`.
"""

from __future__ import annotations

from enum import StrEnum

from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.json_marks import Count, Ids, Moment
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import FileState
from kraftool.decoders.quorum_state import QuorumState
from kraftool.directory.log_summary import TypeCount
from kraftool.raft.names import Voter, VoterSet


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeIds:
    """The node that the directory belongs to, from meta.properties; None for an unknown value."""

    node_id: int | None = None
    directory_id: str | None = None
    cluster_id: str | None = None
    meta_version: int | None = None

    @classmethod
    def of(cls, meta: MetaProperties) -> NodeIds:
        return cls(
            node_id=meta.node_id,
            directory_id=meta.directory_id,
            cluster_id=meta.cluster_id,
            meta_version=meta.version,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRange:
    """All segments together."""

    segments: Count
    size: int
    batches: Count
    records: Count
    start_offset: int
    end_offset: int
    """One beyond the last offset."""
    intact_end_offset: int
    """The offset at which Kafka would cut the log if it started on it."""
    first_epoch: int | None
    last_epoch: int | None
    epochs: Count
    first_timestamp: Moment | None
    last_timestamp: Moment | None
    leader_changes: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class LastLeaderChange:
    """The last LeaderChange record of the log."""

    leader_id: int
    epoch: int
    offset: int
    timestamp: Moment
    voters: Ids
    granting_voters: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizedKRaftVersion:
    """kraft.version; 0 without a file where no record says anything."""

    level: int = 0
    offset: int | None = None
    """Of the record; None without one."""
    file: str = ""


class VoterSource(StrEnum):
    """The source of the voters."""

    RECORD = "KRaftVoters record"
    PROPERTIES = "controller.quorum.voters"
    LEADER_CHANGE = "LeaderChange record"
    QUORUM_STATE = "quorum-state currentVoters"
    LEADER = "the running leader"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenVoters:
    """A voter set and where it was seen. A snapshot's is the one at its last offset.

    Only records and a leader have directory ids and listeners, and only records version ranges; a
    static voter's one address is under the empty listener name.
    """

    source: VoterSource
    voters: VoterSet
    offset: int | None = None
    file: str = ""

    @property
    def is_recorded(self) -> bool:
        return self.source is VoterSource.RECORD

    def of(self, node_id: int | None) -> Voter | None:
        return self.voters.get(node_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A finalized feature; `release` is the name of a metadata.version."""

    name: str
    level: int
    release: str
    """The name of a metadata.version, such as 4.3-IV0; empty for other features."""
    offset: int | None
    """The place in the log; None for one in a snapshot."""
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSummary:
    """A .checkpoint in the partition."""

    file: str
    path: str
    offset: int
    epoch: int
    state: FileState
    size: int
    records: Count
    """Without control records."""
    timestamp: Moment | None
    """lastContainedLogTimestamp of the header."""
    has_header: bool
    has_footer: bool
    intact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionCounts:
    """The metadata transactions in the log."""

    committed: Count = 0
    aborted: Count = 0
    open_offset: int | None = None
    """The start of the open one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataSummary:
    """The answer at a glance."""

    node: NodeIds = NodeIds()
    quorum_state: QuorumState | None = None
    log: LogRange | None = None
    leader_change: LastLeaderChange | None = None
    kraft_version: FinalizedKRaftVersion = FinalizedKRaftVersion()
    voters: SeenVoters | None = None
    features: tuple[Feature, ...] = ()
    snapshots: tuple[SnapshotSummary, ...] = ()
    transactions: TransactionCounts = TransactionCounts()
    brokers: tuple[int, ...] = ()
    controllers: tuple[int, ...] = ()
    types: tuple[TypeCount, ...] = ()
    """Of the log."""
    snapshot_types: tuple[TypeCount, ...] = ()
    """Of the newest snapshot."""

    @property
    def newest_snapshot(self) -> SnapshotSummary | None:
        live = [snapshot for snapshot in self.snapshots if snapshot.state is FileState.LIVE]
        return live[-1] if live else None

    @property
    def loaded_snapshot(self) -> SnapshotSummary | None:
        """The snapshot that Kafka loads at its start: of the highest epoch, then offset."""
        live = [snapshot for snapshot in self.snapshots if snapshot.state is FileState.LIVE]
        return max(live, key=lambda snapshot: (snapshot.epoch, snapshot.offset), default=None)

    def feature(self, name: str) -> Feature | None:
        return next((feature for feature in self.features if feature.name == name), None)
