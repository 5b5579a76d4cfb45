"""What a node is told before it starts: who it is, where others are, how patient it is.

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
    """Whether it may become a voter; a broker never does."""
    auto_join: bool = False
    is_witness: bool = False
    """Whether it votes and replicates, and never stands for election. (Not of Kafka.)"""
    timing: Timing = field(default_factory=Timing)
    fetch_max_bytes: int = 1 << 20
    fetch_snapshot_max_bytes: int = 1 << 20
    kraft_version: VersionRange = SUPPORTED_KRAFT_VERSION

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
        """How it would stand in a voter set."""
        assert self.key is not None, "only nodes with an id vote"
        return Voter(key=self.key, endpoints=self.listeners, kraft_version=self.kraft_version)

    @property
    def bootstrap_nodes(self) -> dict[int, Endpoint]:
        """Whom to ask for the leader. Servers without an id have numbers from -2 downwards."""
        if self.bootstrap_servers:
            return {-2 - number: each for number, each in enumerate(self.bootstrap_servers)}
        return {
            each.key.id: each.endpoints[self.default_listener]
            for each in self.static_voters
            if each.key.id != self.node_id and self.default_listener in each.endpoints
        }
