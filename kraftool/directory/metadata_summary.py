"""The answer at a glance, as values: who the node is, who leads, who votes, what is kept.

Owns the read model that the command line, the dashboard and pipelines share. How it comes from
files is `directory_summary.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.json_marks import Count, Hidden, Ids, Moment, in_json_before
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
class LogSpan:
    """The offsets of a log, and whose epochs they are of."""

    start: int = 0
    end: int = 0
    epochs: tuple[EpochEntry, ...] = ()
    """Of its records, in the order of their offsets."""
    odd: int | None = None
    """Where the headers of sound batches first contradict each other, which Kafka does not notice:
    an offset that does not follow, or an epoch that is higher than those on both sides. Kafka
    believes them, and so does an election. Nothing from there on is evidence of what the node
    has."""
    last_timestamp_ms: int = -1
    """When the leader wrote the last record; -1 if that is not known."""

    def epoch_at(self, offset: int) -> int | None:
        """The epoch of the record at an offset; None where the log does not reach."""
        if not self.start <= offset < self.end:
            return None
        number = bisect_right(self.epochs, offset, key=lambda epoch: epoch.start_offset)
        return self.epochs[number - 1].epoch if number else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExtent(LogSpan):
    """A log as its files have it, all segments together."""

    breaks: tuple[int, ...] = ()
    """Offsets before which something is missing or damaged."""
    cut: int | None = None
    """Where Kafka would cut the log if it started on it; a gap it does not notice."""
    intact_end: int = 0
    """The log's end if Kafka started on it."""
    ends_soundly: bool = True
    """True if the last bytes of the log are a sound batch, damaged or not before it."""
    is_metadata: bool = True
    """False for the log of a topic."""
    segments: int = 0
    size: int = 0
    batches: int = 0
    records: int = 0
    first_timestamp: int | None = None
    leader_changes: int = 0

    @property
    def first_epoch(self) -> int | None:
        return self.epochs[0].epoch if self.epochs else None

    @property
    def last_epoch(self) -> int | None:
        return self.epochs[-1].epoch if self.epochs else None

    @property
    def last_timestamp(self) -> int | None:
        return self.last_timestamp_ms if self.last_timestamp_ms >= 0 else None

    @property
    def rank(self) -> tuple[int, int]:
        """Return how up to date the log is in an election: its last epoch, then its end."""
        return self.epochs[-1].epoch if self.epochs else -1, self.end

    def covers(self, first: int, last: int) -> bool:
        """True if every offset from `first` to `last` is there, with nothing odd between."""
        return (
            self.start <= first
            and last < self.end
            and not any(first <= break_offset <= last for break_offset in self.breaks)
        )


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
    timestamp: Hidden[int | None] = None
    """Of the record; None if only a snapshot has it."""


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
    """A feature and its last level; `release` is the name of a metadata.version."""

    name: str
    level: int
    release: str
    """The name of a metadata.version, such as 4.3-IV0; empty for other features."""
    offset: int | None
    """The place in the log; None if only a snapshot has the level."""
    file: str
    timestamp: Hidden[int | None]
    """Of the record in the log."""


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
    log: LogExtent | None = None
    leader_change: LastLeaderChange | None = None
    finalized_kraft_version: FinalizedKRaftVersion = FinalizedKRaftVersion()
    voter_set: SeenVoters | None = None
    feature_levels: Hidden[tuple[Feature, ...]] = ()
    """The last level of each feature, 0 where it was taken back."""
    snapshots: tuple[SnapshotSummary, ...] = ()
    transactions: TransactionCounts = TransactionCounts()
    brokers: Ids = ()
    """Registered at the log's end."""
    controllers: Ids = ()
    """Registered at the log's end."""
    record_types: tuple[TypeCount, ...] = ()
    """Of the log."""
    snapshot_record_types: tuple[TypeCount, ...] = ()
    """Of the newest snapshot."""

    @property
    @in_json_before("snapshots")
    def features(self) -> tuple[Feature, ...]:
        # The finalized ones.
        return tuple(feature for feature in self.feature_levels if feature.level)

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
