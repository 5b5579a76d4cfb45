"""The report of one source on the voters, as values.

Owns the read model: a `VoterSourceReport` is a source however it was obtained, from files or from
a running controller. It refuses to compare sources; that is `diff.py` and the rules beside it.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from dataclasses import field, replace
from enum import StrEnum

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.json_marks import Ids
from kraftool.decoders.names import METADATA_FOLDER, segment_offset
from kraftool.decoders.quorum_state import QuorumState
from kraftool.raft.names import NO_VOTERS, Endpoints, VoterSet
from kraftool.reports.files.metadata_summary import NodeIds, SeenVoters, VoterSource
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds.directory import UNREADABLE
from kraftool.reports.voters.voter_set import edited_node_id
from kraftool.storage.witness_marker import WitnessMarker


class Origin(StrEnum):
    """The place where an entry of the history was read."""

    LOG = "log"
    SNAPSHOT = "snapshot"
    BOOTSTRAP = "bootstrap snapshot"


class Commitment(StrEnum):
    """The certainty that a record is committed, mostly without a running quorum."""

    COMMITTED = "committed"
    FORMATTED = "formatted"
    ON_MAJORITY = "on a majority"
    REPLACED = "replaced"
    PENDING = "not committed yet"
    UNKNOWN = "cannot be known offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentVerdict:
    """The commitment of an entry, and the reason."""

    commitment: Commitment = Commitment.UNKNOWN
    reason: str = ""
    by_majority: bool = False
    """True if only the directories that have it say so, and nothing that Kafka did later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A voter set or a kraft.version, from an offset on.

    A snapshot's are filed at its last contained offset, as Kafka files them: -1 for the 0-0
    checkpoint. Exactly one of `voters` and `level` is set.
    """

    offset: int
    epoch: int
    origin: Origin
    file: str
    position: int
    voters: VoterSet | None = None
    level: int | None = None
    timestamp: int | None = None
    """When a leader wrote it; None for a snapshot's."""
    last_offset: int
    """The last offset of the batch that holds it."""
    digest: str
    """Of the whole batch: equal bytes on two nodes have equal digests."""
    with_leader_change: bool = False
    """True if a leader wrote it with its first batch."""
    after_damage: bool = False
    """True if Kafka would cut it off if it started on this log."""
    contradicted: bool = False
    """True if it is a snapshot's, and the log beside it has other voters at its offset."""
    changes: tuple[str, ...] = ()
    """What differs from the entry before, in words."""
    repeated_in: tuple[str, ...] = ()
    """Snapshots that say the same at their offset."""
    verdict: CommitmentVerdict = CommitmentVerdict()

    @property
    def identity(self) -> tuple[bool, int, int, str]:
        """The same for the same record in two logs; a snapshot's bytes are its own."""
        digest = self.digest if self.origin is Origin.LOG else ""
        return self.level is None, self.offset, self.epoch, digest


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderEntry:
    """A LeaderChange record."""

    offset: int
    epoch: int
    leader_id: int
    voters: Ids
    file: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExtent:
    """The offsets of a log, and their epochs."""

    start: int
    end: int
    epochs: tuple[EpochEntry, ...]
    """(start offset, epoch), ascending."""
    breaks: tuple[int, ...] = ()
    """Offsets before which something is missing or damaged."""
    last_timestamp_ms: int = -1
    """When the leader wrote the last record; -1 if there is none."""
    cut: int | None = None
    """Where Kafka would cut the log if it started on it; a gap it does not notice."""
    odd: int | None = None
    """Where the headers of sound batches first contradict each other, which Kafka does not notice:
    an offset that does not follow, or an epoch that is higher than those on both sides."""

    @property
    def rank(self) -> tuple[int, int]:
        """Return how up to date the log is in an election: its last epoch, then its end."""
        return self.epochs[-1].epoch if self.epochs else -1, self.end

    def epoch_at(self, offset: int) -> int | None:
        """The epoch of the record at an offset; None where the log does not reach."""
        if not self.start <= offset < self.end:
            return None
        number = bisect_right(self.epochs, offset, key=lambda epoch_entry: epoch_entry.start_offset)
        return self.epochs[number - 1].epoch if number else None

    def covers(self, first: int, last: int) -> bool:
        """True if every offset from `first` to `last` is there, with nothing odd between."""
        return (
            self.start <= first
            and last < self.end
            and not any(first <= break_offset <= last for break_offset in self.breaks)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotExtent:
    """A snapshot by its name."""

    file: str
    offset: int
    epoch: int
    intact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumSettings:
    """The settings of the quorum in a server.properties."""

    file: str
    node_id: int | None = None
    roles: tuple[str, ...] = ()
    static_voters: VoterSet = NO_VOTERS
    bootstrap_servers: tuple[str, ...] = ()
    controller_listeners: tuple[str, ...] = ()
    advertised: Endpoints = field(default_factory=dict)
    """An empty host or port 0 is not known."""


_NO_NODE = NodeIds()


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterSourceReport:
    """One source. What it has no part about is None or empty."""

    name: str
    kind: str
    directory: str = ""
    missing: str = ""
    """The directory that its settings name, and that is not there."""
    node: NodeIds = _NO_NODE
    registered_controllers: tuple[int, ...] = ()
    settings: QuorumSettings | None = None
    quorum_state: QuorumState | None = None
    quorum_state_file: str = ""
    meta_file: str = ""
    history: tuple[HistoryEntry, ...] = ()
    """Voter sets and kraft.versions, by offset."""
    leaders: tuple[LeaderEntry, ...] = ()
    log: LogExtent | None = None
    epoch_checkpoint: tuple[EpochEntry, ...] = ()
    """The entries of leader-epoch-checkpoint, if Kafka accepts the file."""
    snapshots: tuple[SnapshotExtent, ...] = ()
    seen_voters: SeenVoters | None = None
    """Voters that no record tells: of the settings, a LeaderChange or quorum-state."""
    is_live: bool = False
    """True if a running node said this, and no file."""
    is_witness: bool | None = None
    """True for a voter without a controller, by its ApiVersions or by the file kraftool-witness;
    None where that is unknown."""
    marker: WitnessMarker | None = None
    """The file kraftool-witness of a directory, if it counts."""
    high_watermark: int | None = None
    """Of a running leader, whose log this is."""
    findings: tuple[Finding, ...] = ()
    """Of its own files: what could not be read, and damage that may hide a change."""
    keeps_from_starting: Finding | None = None
    """Why Kafka exits when it starts on the directory; None if it starts."""

    @property
    def edited_from(self) -> int | None:
        """The node id of the directory, if its meta.properties has another one by an edit."""
        newest = self.newest
        if self.settings is None or newest is None or newest.voters is None:
            return None
        own, configured = self.node, self.settings.node_id
        return edited_node_id(own.node_id, own.directory_id, configured, newest.voters)

    @property
    def is_log_unread(self) -> bool:
        """True if a segment could not be read, or the folder that has them could not be listed."""
        names = (
            os.path.basename(finding.file)
            for finding in self.findings
            if finding.code == UNREADABLE.code
        )
        return any(name == METADATA_FOLDER or segment_offset(name) is not None for name in names)

    @property
    def voter_sets(self) -> tuple[HistoryEntry, ...]:
        return tuple(entry for entry in self.history if entry.voters is not None)

    @property
    def newest(self) -> HistoryEntry | None:
        """The newest voter set of a record."""
        sets = self.voter_sets
        return sets[-1] if sets else None

    @property
    def kraft_version(self) -> int | None:
        """The newest kraft.version; 0 where a whole history says nothing of it."""
        levels = [entry.level for entry in self.history if entry.level is not None]
        if levels:
            return levels[-1]
        if self.newest is not None:
            return 1  # the lowest that has voters in records
        whole = self.log is not None and self.log.start == 0 < self.log.end
        return 0 if whole or any(snapshot.intact for snapshot in self.snapshots) else None

    @property
    def has_metadata(self) -> bool:
        return (self.log is not None and self.log.end > 0) or bool(self.snapshots)

    @property
    def tells_nothing(self) -> bool:
        """True if nothing here concerns voters: no record, no settings, no node."""
        return (
            self.in_force is None
            and self.settings is None
            and self.quorum_state is None
            and self.node == _NO_NODE
            and not self.has_metadata
        )

    @property
    def in_force(self) -> SeenVoters | None:
        """The voters that a node with these files goes by; any record beats the settings."""
        newest = self.newest
        if newest is None or newest.voters is None:
            return self.seen_voters
        return SeenVoters(
            source=VoterSource.RECORD,
            voters=newest.voters,
            offset=newest.offset,
            file=newest.file,
        )

    @property
    def end(self) -> int:
        """The first offset that this source knows nothing of."""
        ends = [snapshot.offset for snapshot in self.snapshots]
        return max([*ends, self.log.end if self.log is not None else 0], default=0)

    def with_words_of(self, node: VoterSourceReport) -> VoterSourceReport:
        """The same log with what its running node says besides."""
        return replace(
            self,
            seen_voters=self.seen_voters if self.newest is not None else node.seen_voters,
            registered_controllers=node.registered_controllers,
            is_witness=node.is_witness,
        )

    def epoch_at(self, offset: int) -> int | None:
        """The epoch of the record at an offset, by the log or by a snapshot that ends with it."""
        epoch = self.log.epoch_at(offset) if self.log is not None else None
        if epoch is None:
            ends = (snapshot.epoch for snapshot in self.snapshots if snapshot.offset == offset + 1)
            epoch = next(ends, None)
        return epoch

    def parts_from(self, other: VoterSourceReport) -> int | None:
        """An offset whose record both have, of different epochs; None where none is known.

        Looked for where the shorter one ends: with the same epoch there, they are the same up to
        there, since a leader's records follow on a log that is its own.
        """
        last = min(self.end, other.end) - 1
        if any(source.log is not None and last in source.log.breaks for source in (self, other)):
            return None
        mine, theirs = self.epoch_at(last), other.epoch_at(last)
        return last if None not in (mine, theirs) and mine != theirs else None

    def plays(self, role: str) -> bool | None:
        """True if the node has a role; None if no settings show it."""
        return role in self.settings.roles if self.settings and self.settings.roles else None
