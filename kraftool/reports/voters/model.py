"""The voters of a directory as values: the history by its records, and the settings.

Owns the read model. It refuses to compare directories; that is `diff.py` and the rules beside it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from enum import StrEnum

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.json_marks import Ids
from kraftool.raft.names import NO_VOTERS, Endpoints, VoterSet
from kraftool.raft.settings import Timing
from kraftool.reports.files.metadata_summary import SnapshotSummary
from kraftool.reports.findings.finding import Finding


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
    """A log as its files have it."""

    breaks: tuple[int, ...] = ()
    """Offsets before which something is missing or damaged."""
    cut: int | None = None
    """Where Kafka would cut the log if it started on it; a gap it does not notice."""
    ends_soundly: bool = True
    """True if the last bytes of the log are a sound batch, damaged or not before it."""

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
    timing: Timing = Timing()
    """The patience that the node is configured with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterHistory:
    """The history of the voters in the files of a directory."""

    entries: tuple[HistoryEntry, ...] = ()
    leaders: tuple[LeaderEntry, ...] = ()
    log: LogExtent | None = None
    snapshots: tuple[SnapshotSummary, ...] = ()
    """Those that Kafka may load: live ones with a header."""
    findings: tuple[Finding, ...] = ()


NO_HISTORY = VoterHistory()
