"""All that is known of a quorum at a moment, and of the moments before: frozen values.

Owns their form. Everything that shows a quorum takes a `Picture` and nothing else; how it comes to
be is `watcher.py`, and what follows from it is `judging.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kraftool.client.model import QuorumView
from kraftool.decoders.json_marks import Moment
from kraftool.raft.names import ReplicaKey
from kraftool.reports.findings.status import Status
from kraftool.watching.directory_reading import DirectoryReading


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumSample:
    """A live quorum's numbers at one poll."""

    at_ms: int
    epoch: int | None
    leader_id: int | None
    high_watermark: int | None
    """None without a leader, or while it knows of none."""
    leader_end: int | None
    ends: Mapping[ReplicaKey, int] = field(default_factory=dict)
    """Log ends by replica; one that is not known is missing."""
    voters: tuple[ReplicaKey, ...] = ()
    unreached: frozenset[int] = frozenset()
    """Nodes that were asked and did not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedElection:
    """A leader that was elected."""

    epoch: int
    leader_id: int | None
    """None where the epoch was seen, and who leads it is not known."""
    timestamp: Moment
    """Of the LeaderChange record; without one, when it was noticed."""
    is_recorded: bool
    """True if a log has it. If not, it was seen while watching."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent:
    """Something that happened while watching."""

    timestamp: Moment
    """When it was noticed; of an election that a log records, the record's time."""
    status: Status
    reason: str
    """The event, as a sentence without a full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchHistory:
    """The results of earlier polls; bounded, so that watching costs the same after a week."""

    since_ms: int = 0
    samples: tuple[QuorumSample, ...] = ()
    """Of the last minutes, the oldest first."""
    elections: tuple[ObservedElection, ...] = ()
    """The last ones, the oldest first."""
    elections_seen: int = 0
    """How many there were while watching; `elections` may have more, from logs, or fewer."""
    events: tuple[WatchEvent, ...] = ()
    """The last ones, the oldest first."""
    down_since_ms: Mapping[int, int] = field(default_factory=dict)
    """Since when each unreachable node does not answer, by its id."""
    before: QuorumView | None = None
    """The earlier poll that the newest one is compared with."""


NO_HISTORY = WatchHistory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A quorum at a moment, by all that could be asked and read."""

    at_ms: int
    view: QuorumView | None = None
    """What live nodes said; None where none is watched."""
    directories: tuple[DirectoryReading, ...] = ()
    """In the order in which they were given."""
    history: WatchHistory = NO_HISTORY
    late_ms: int = 0
    """How late the dashboard itself was since the picture before."""

    @property
    def stamp(self) -> tuple[object, ...]:
        """Changes when a file of a directory does: whoever reads directories itself (a screen's
        work, say) reads again when this differs."""
        return tuple(directory.stamp for directory in self.directories)
