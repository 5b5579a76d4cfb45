"""The voters of a directory as values: the history by its records, and the settings.

Owns these values. It refuses to compare directories; that is `reports/voters/`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kraftool.decoders.errors import Fault
from kraftool.decoders.json_marks import Hidden, Ids, Moment
from kraftool.directory.metadata_summary import SnapshotSummary
from kraftool.raft.names import NO_VOTERS, Endpoints, VoterSet
from kraftool.raft.settings import Timing


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
class HistoryEntry:
    """A voter set or a kraft.version, from an offset on."""

    # A snapshot's are filed at its last contained offset, as Kafka files them.
    offset: int
    """-1 for the 0-0 checkpoint; a snapshot's last contained offset."""
    epoch: int
    timestamp: Moment | None = None
    """When a leader wrote it; None for a snapshot's."""
    origin: Origin
    file: str
    position: int
    kraft_version: int | None = None
    """None where the entry is a voter set."""
    voters: VoterSet | None = None
    """None where the entry is a kraft.version."""
    differences: tuple[str, ...] = ()
    """From the entry before."""
    after_damage: bool = False
    """True if Kafka would cut it off if it started on this log."""
    repeated_in: tuple[str, ...] = ()
    """Snapshots that have the same at their offset."""
    commitment: Commitment = Commitment.UNKNOWN
    reason: str = ""
    """Why that is known of its commitment."""
    by_majority: Hidden[bool] = False
    """True if only the directories that have it say so, and nothing that Kafka did later."""
    last_offset: Hidden[int]
    """The last offset of the batch that holds it."""
    digest: Hidden[str]
    """Of the whole batch: equal bytes on two nodes have equal digests."""
    with_leader_change: Hidden[bool] = False
    """True if a leader wrote it with its first batch."""
    contradicted: Hidden[bool] = False
    """True if it is a snapshot's, and the log beside it has other voters at its offset."""

    @property
    def words(self) -> str:
        if self.voters is None:
            return f"kraft.version {self.kraft_version}"
        ids = ", ".join(map(str, sorted(voter.id for voter in self.voters)))
        return f"voters {ids}"

    @property
    def identity(self) -> tuple[bool, int, int, str]:
        """The same for the same record in two logs; a snapshot's bytes are its own."""
        digest = self.digest if self.origin is Origin.LOG else ""
        return self.kraft_version is None, self.offset, self.epoch, digest


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
class QuorumSettings:
    """The settings of the quorum in a server.properties."""

    file: str
    node_id: int | None = None
    roles: tuple[str, ...] = ()
    static_voters: VoterSet = NO_VOTERS
    """Of controller.quorum.voters."""
    bootstrap_servers: tuple[str, ...] = ()
    """Of controller.quorum.bootstrap.servers."""
    controller_listeners: tuple[str, ...] = ()
    advertised_endpoints: Endpoints = field(default_factory=dict)
    """Without a host or a port where the settings leave them open."""
    log_directories: Hidden[int] = 0
    """How many it names; 0 where it leaves them to the default."""
    timing: Hidden[Timing] = Timing()
    """The patience that the node is configured with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A snapshot that has other voters or another kraft.version than the log at its offset."""

    snapshot: str
    """The name of its file."""
    offset: int
    """The snapshot's last one."""
    before: HistoryEntry
    """The entry of the log."""
    entry: HistoryEntry | None
    """The entry of the snapshot; None if it has none."""
    changes: tuple[str, ...]
    """What differs, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterHistory:
    """The history of the voters in the files of a directory."""

    entries: tuple[HistoryEntry, ...] = ()
    leaders: tuple[LeaderEntry, ...] = ()
    snapshots: tuple[SnapshotSummary, ...] = ()
    """Those that Kafka may load: live ones with a header."""
    contradictions: tuple[Contradiction, ...] = ()
    left_out: tuple[Fault, ...] = ()
    """The first record of a file that the history does not have, because there are too many."""


NO_HISTORY = VoterHistory()
