"""The state of one node, and what every family of requests does with it: emit, send, wake.

Owns no protocol: `core.py` has the order of a step, and the families have the rest. Time and chance
come from outside; nothing here waits, reads or writes.
"""

from __future__ import annotations

from kraftool.raft.connections import Connections, Random
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.events import Effect, Send
from kraftool.raft.log_view import LogView
from kraftool.raft.messages import Request
from kraftool.raft.names import UNKNOWN, ElectionState, Endpoint, ProtocolError
from kraftool.raft.roles import NEVER, ParkedFetch, Role, Unattached
from kraftool.raft.settings import LAST_RESORT_REFUSALS, NodeSettings
from kraftool.raft.state_machine import StateMachine


class Raft:
    """One node. `core.start` chooses its first role; every further change is a step."""

    def __init__(
        self,
        settings: NodeSettings,
        random: Random,
        log: LogView,
        control: ControlHistory,
        stored: ElectionState | None,
    ) -> None:
        """`log` and `control` have been read up to the end of the log, `stored` from quorum-state;
        None where there is no file."""
        self.settings, self.timing = settings, settings.timing
        self.key = settings.key
        self.random, self.log, self.control = random, log, control
        self.connections = Connections(
            request_timeout_ms=self.timing.request_timeout_ms,
            retry_backoff_ms=self.timing.retry_backoff_ms,
        )
        self.state_machine = StateMachine()
        self.bootstrap = settings.bootstrap_nodes
        self.parked: list[ParkedFetch] = []
        self.next_parked_deadline_ms = NEVER
        """The earliest deadline of a parked fetch."""
        self.stored = stored if stored is not None else ElectionState()
        self.role: Role = Unattached(epoch=self.stored.epoch)
        self.is_shutting_down = self.is_stopped = False
        self.is_installing = False
        """True if a snapshot is on its way into its place: who votes is known only after it."""
        self.refusals: dict[int, int] = {}
        """A witness's: how often it refused each candidate for its shorter log."""
        self.handed_over_ms = UNKNOWN
        self.hand_over_pause_ms = 0
        self.now_ms = 0
        self.effects: list[Effect] = []
        """What the step wants done up to now, in order."""
        self.wake_ms = NEVER
        """When the next step is due at the latest."""
        self._next_correlation_id = 0

    @property
    def epoch(self) -> int:
        return self.role.epoch

    @property
    def is_voter(self) -> bool:
        """True if the node is in the newest voter set, committed or not."""
        return self.key is not None and self.control.voters.has(self.key)

    @property
    def stands(self) -> bool:
        """True for a voter that may be elected; a witness may as a last resort."""
        return self.is_voter and (not self.settings.is_witness or self.is_last_resort)

    @property
    def is_last_resort(self) -> bool:
        """True once a candidate was refused so often that no voter has a longer log."""
        return any(count >= LAST_RESORT_REFUSALS for count in self.refusals.values())

    @property
    def is_witness(self) -> bool:
        """True for a voter that may be elected as a last resort only."""
        return self.is_voter and self.settings.is_witness

    @property
    def leader_id(self) -> int | None:
        return self.role.leader_id

    @property
    def has_remote_leader(self) -> bool:
        return self.leader_id is not None and self.leader_id != self.settings.node_id

    def emit(self, effect: Effect) -> None:
        self.effects.append(effect)

    def wake_at(self, at_ms: int) -> None:
        """Ask for the next step at this time at the latest."""
        if at_ms < self.wake_ms:
            self.wake_ms = at_ms

    def election_timeout_ms(self) -> int:
        """A timeout that differs from node to node, so that not all begin an election at once."""
        base = self.timing.election_timeout_ms
        return base + self.random.randrange(base) if base else 0

    def send(self, destination: int, endpoint: Endpoint, request: Request) -> bool:
        """Send a request if the connection is free; else wake when it may be."""
        is_ready = self.connections.is_ready(destination, self.now_ms)
        if is_ready:
            correlation_id = self._next_correlation_id
            self._next_correlation_id += 1
            self.connections.sent(destination, correlation_id, self.now_ms)
            self.emit(
                Send(
                    destination_id=destination,
                    endpoint=endpoint,
                    correlation_id=correlation_id,
                    request=request,
                )
            )
        self.wake_at(self.connections.ready_ms(destination, self.now_ms))
        return is_ready

    def is_waiting_for(self, destination: int) -> bool:
        """True if the connection is not free; wakes when it may be. It saves making a request."""
        if self.connections.is_ready(destination, self.now_ms):
            return False
        self.wake_at(self.connections.ready_ms(destination, self.now_ms))
        return True

    def send_to_voter(self, voter_id: int, request: Request) -> bool:
        """Send to a member of the newest voter set, by its default listener."""
        endpoint = self.control.voters.endpoints_of(voter_id).get(self.settings.default_listener)
        if endpoint is None:
            raise ProtocolError(
                f"voter {voter_id} has no endpoint of listener {self.settings.default_listener}"
            )
        return self.send(voter_id, endpoint, request)
