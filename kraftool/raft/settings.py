"""The settings of a node before it starts: who it is, where others are, how patient it is.

Owns the defaults of `controller.quorum.*`. It refuses to read a server.properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.wire import ZERO_UUID
from kraftool.raft.names import NO_ID, Endpoint, ReplicaKey, VersionRange, Voter, VoterSet

OBSERVER_EXPIRY_MS = 300_000
"""How long a leader lists an observer after its last fetch."""
CLEANER_PERIOD_MS = 60_000
CAUGHT_UP_WITHIN_MS = 3_600_000
"""How recent the last fetch of a replica has to be that shall become a voter."""
MAX_BATCH_BYTES = 8 << 20
MAX_PENDING_BATCHES = 10
LAST_RESORT_REFUSALS = 2
"""Refusals of one candidate for its shorter log after which a witness is a candidate itself. One
proves nothing: a voter with a longer log may be about to ask. A Kafka asks again after a fetch and
an election timeout, 3 to 4 s by default: long enough for every other voter to ask. A third refusal
would leave the cluster without a leader for 4 s more, and prove nothing new."""
HAND_OVER_LOOK_MS = 1_000
"""Interval at which a leader without a controller asks the other voters whether they run one."""
HAND_OVER_FAILED_WITHIN_MS = 10_000
"""A node that leads again so soon after it handed over had a successor that did not win, or not for
long."""
HAND_OVER_PAUSE_MS = 4_000
"""Wait before the next attempt after one that failed: the time of two elections. It doubles."""
LONGEST_HAND_OVER_PAUSE_MS = 60_000
SUPPORTED_KRAFT_VERSION = VersionRange(0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """All the patience, in milliseconds."""

    election_timeout_ms: int = 1000
    fetch_timeout_ms: int = 2000
    election_backoff_max_ms: int = 1000
    append_linger_ms: int = 25
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    fetch_max_wait_ms: int = 500

    @property
    def check_quorum_ms(self) -> int:
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_quorum_ms(self) -> int:
        return self.fetch_timeout_ms // 2


TIMING_KEYS: Mapping[str, str] = {
    f"controller.quorum.{name}.ms": f"{name.replace('.', '_')}_ms"
    for name in (
        "election.timeout",
        "fetch.timeout",
        "election.backoff.max",
        "append.linger",
        "request.timeout",
        "retry.backoff",
    )
}
"""The fields of Timing by the keys of a server.properties; fetch_max_wait_ms has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """One node. Without an id it observes and can never vote."""

    node_id: int | None
    directory_id: str
    cluster_id: str
    listeners: Mapping[str, Endpoint] = field(default_factory=dict)
    """Its own, as it advertises them; the names in upper case."""
    default_listener: str = "CONTROLLER"
    """The one by which nodes of the quorum reach each other."""
    static_voters: VoterSet = field(default_factory=VoterSet)
    """controller.quorum.voters."""
    bootstrap_servers: tuple[Endpoint, ...] = ()
    is_controller: bool = True
    """True if it may become a voter; a broker never does."""
    auto_join: bool = False
    is_witness: bool = False
    """True for a voter that is a candidate as a last resort only (`last_resort.py`). (Not of
    Kafka.)"""
    hands_over: bool = False
    """True for a node that runs no controller: it leads only until a voter that runs one has caught
    up (`hand_over.py`). (Not of Kafka.)"""
    stands_again: bool = False
    """True for a node that starts as a Kafka does after a vote for itself: as a candidate of that
    epoch, even if its log has records of the leader who won it. What it is asked then to grant is
    called invalid. (kraftool's own node follows, or waits.)"""
    timing: Timing = field(default_factory=Timing)
    fetch_max_bytes: int = 1 << 20
    fetch_snapshot_max_bytes: int = 1 << 20
    kraft_version: VersionRange = SUPPORTED_KRAFT_VERSION

    @property
    def runs_controller(self) -> bool:
        """True if a controller acts on its log while it leads."""
        return not (self.hands_over or self.is_witness)

    def __post_init__(self) -> None:
        if self.directory_id == ZERO_UUID or not self.directory_id:
            raise KraftoolError("a node needs a directory id, which is not all zeros")

    @property
    def key(self) -> ReplicaKey | None:
        """Its replica key; None without an id."""
        return None if self.node_id is None else ReplicaKey(self.node_id, self.directory_id)

    @property
    def fetch_key(self) -> ReplicaKey:
        """Its replica key in a fetch; a node without an id names its directory only."""
        return ReplicaKey(NO_ID if self.node_id is None else self.node_id, self.directory_id)

    @property
    def as_voter(self) -> Voter:
        """Return how it would stand in a voter set."""
        assert self.key is not None, "only nodes with an id vote"
        return Voter(key=self.key, endpoints=self.listeners, kraft_version=self.kraft_version)

    @property
    def bootstrap_nodes(self) -> dict[int, Endpoint]:
        """Return whom to ask for the leader. Servers without an id have numbers from -2
        downwards.
        """
        if self.bootstrap_servers:
            return {
                -2 - number: bootstrap_server
                for number, bootstrap_server in enumerate(self.bootstrap_servers)
            }
        return {
            static_voter.key.id: static_voter.endpoints[self.default_listener]
            for static_voter in self.static_voters
            if static_voter.key.id != self.node_id
            and self.default_listener in static_voter.endpoints
        }
