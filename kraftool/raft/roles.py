"""The six roles as values, and which role may follow which.

Owns the transition table: what is not in it is an error. A vote is no role of its own; it is what
Unattached, Prospective or Follower carries. The way from one role to the next, with what has to be
durable before it, is `transitions.py`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftool.decoders.error_codes import Error
from kraftool.raft.accumulator import Accumulator
from kraftool.raft.messages import FetchRequest, FetchResponse
from kraftool.raft.names import (
    ElectionState,
    Endpoints,
    OffsetAndEpoch,
    ReplicaKey,
    Voter,
    VoterSet,
)
from kraftool.raft.replicas import Replicas
from kraftool.raft.tally import Tally

NEVER = 1 << 62
"""A deadline that does not come."""


@dataclass(slots=True, kw_only=True)
class Unattached:
    """Knows of no leader that it could fetch from."""

    epoch: int
    leader_id: int | None = None
    voted: ReplicaKey | None = None
    high_watermark: int | None = None
    election_deadline_ms: int = NEVER

    @property
    def leader_endpoints(self) -> Endpoints:
        return {}

    @property
    def election(self) -> ElectionState:
        return ElectionState(epoch=self.epoch, leader_id=self.leader_id, voted=self.voted)


@dataclass(slots=True, kw_only=True)
class Prospective:
    """Asks, before it disturbs anyone, whether it could win an election."""

    epoch: int
    tally: Tally
    leader_id: int | None = None
    leader_endpoints: Endpoints = field(default_factory=dict)
    voted: ReplicaKey | None = None
    high_watermark: int | None = None
    election_deadline_ms: int

    @property
    def election(self) -> ElectionState:
        return ElectionState(epoch=self.epoch, leader_id=self.leader_id, voted=self.voted)


@dataclass(slots=True, kw_only=True)
class Candidate:
    """Has voted for itself and asks the others to."""

    epoch: int
    local: ReplicaKey
    tally: Tally
    high_watermark: int | None = None
    election_deadline_ms: int

    leader_id = None

    @property
    def voted(self) -> ReplicaKey:
        return self.local

    @property
    def leader_endpoints(self) -> Endpoints:
        return {}

    @property
    def election(self) -> ElectionState:
        return ElectionState(epoch=self.epoch, voted=self.local)


@dataclass(slots=True, kw_only=True)
class Download:
    """A snapshot on its way from the leader."""

    snapshot_id: OffsetAndEpoch
    position: int = 0


@dataclass(slots=True, kw_only=True)
class Follower:
    """Fetches from a leader."""

    epoch: int
    leader_id: int
    leader_endpoints: Endpoints
    voted: ReplicaKey | None = None
    high_watermark: int | None = None
    has_fetched: bool = False
    """True if this leader has answered well since the role was entered."""
    has_updated_leader: bool = False
    """True if the leader has acknowledged an UpdateRaftVoter since then."""
    not_needed: Error = Error.DUPLICATE_VOTER
    """The error which says that the newest AddRaftVoter or RemoveRaftVoter was not needed."""
    download: Download | None = None
    fetch_deadline_ms: int
    update_deadline_ms: int

    @property
    def election(self) -> ElectionState:
        return ElectionState(epoch=self.epoch, leader_id=self.leader_id, voted=self.voted)


@dataclass(slots=True, kw_only=True)
class AddingVoter:
    """An AddRaftVoter that is not answered yet, or not yet committed."""

    request_id: int | None
    """None once it was answered before the commit."""
    voter: Voter
    ack_when_committed: bool
    deadline_ms: int
    offset: int | None = None
    """Of the voters record; None while the newcomer's versions are asked for."""


@dataclass(slots=True, kw_only=True)
class RemovingVoter:
    """A RemoveRaftVoter that is not committed yet."""

    request_id: int
    key: ReplicaKey
    deadline_ms: int
    offset: int


@dataclass(slots=True, kw_only=True)
class ParkedFetch:
    """A fetch that waits for news."""

    request_id: int
    listener: str
    request: FetchRequest
    answer: FetchResponse
    """What it is told if nothing happens: as things were when it came."""
    deadline_ms: int

    @property
    def fetch_offset(self) -> int:
        return self.request.fetch_offset


@dataclass(slots=True, kw_only=True)
class Leader:
    """Appends, answers fetches, and says what is committed."""

    epoch: int
    local: ReplicaKey
    endpoints: Endpoints
    epoch_start_offset: int
    granting: tuple[int, ...]
    replicas: Replicas
    accumulator: Accumulator
    high_watermark: int | None = None
    heard: set[int] = field(default_factory=set)
    """Voters heard from since the check-quorum timer began."""
    check_quorum_deadline_ms: int
    begin_quorum_deadline_ms: int
    resign_requested: bool = False
    change: AddingVoter | RemovingVoter | None = None
    volatile_voters: VoterSet | None = None
    """Under kraft.version 0: what the voters told of themselves. None once an upgrade took it."""
    upgrading_to: int | None = None
    hands_over: bool = False
    """True if it runs no controller, and resigns for a voter that does."""
    controllers: set[int] = field(default_factory=set)
    """Voters that are known to run a controller, where it hands over; or those that its state
    machine prefers, when that wants to lead no more."""
    asked_ms: dict[int, int] = field(default_factory=dict)
    """When each voter was asked for that last."""
    hand_over_deadline_ms: int = 0
    """Not before then."""
    is_held: bool = False
    """True while the state machine works out records for the offset that comes next. Whoever runs
    the core keeps back what may append (`appends.may_append`); UpdateRaftVoter is told to come
    again, since a follower does not fetch before it has an answer."""

    @property
    def leader_id(self) -> int:
        return self.local.id

    @property
    def voted(self) -> None:
        return None

    @property
    def leader_endpoints(self) -> Endpoints:
        return self.endpoints

    @property
    def election(self) -> ElectionState:
        return ElectionState(epoch=self.epoch, leader_id=self.local.id)


@dataclass(slots=True, kw_only=True)
class Resigned:
    """Has led its epoch, and leads no more."""

    epoch: int
    local: ReplicaKey
    endpoints: Endpoints
    unacknowledged: set[int]
    successors: tuple[ReplicaKey, ...]
    election_deadline_ms: int

    @property
    def leader_id(self) -> int:
        return self.local.id

    @property
    def voted(self) -> None:
        return None

    @property
    def high_watermark(self) -> None:
        return None

    @property
    def leader_endpoints(self) -> Endpoints:
        return self.endpoints

    @property
    def election(self) -> ElectionState:
        return ElectionState(epoch=self.epoch, leader_id=self.local.id)


Role = Unattached | Prospective | Candidate | Follower | Leader | Resigned
RoleType = type[Unattached | Prospective | Candidate | Follower | Leader | Resigned]

TRANSITIONS: dict[RoleType, frozenset[RoleType]] = {
    Unattached: frozenset({Unattached, Prospective, Follower}),
    Prospective: frozenset({Unattached, Prospective, Candidate, Follower}),
    Candidate: frozenset({Unattached, Prospective, Follower, Leader}),
    Follower: frozenset({Unattached, Prospective, Follower}),
    Leader: frozenset({Unattached, Follower, Resigned}),
    Resigned: frozenset({Unattached, Follower}),
}
"""Which role may follow which. From a role to itself: a higher epoch, a vote that is added, more
endpoints of the same leader."""
