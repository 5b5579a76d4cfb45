"""The state machine itself: `step(now_ms, event) -> effects`.

Owns the state of one node and the order of one step: what came in is handled, then the role acts
(Kafka's poll), then the state machine above is told what it may see. What the families of requests
do is theirs, one file each. Time and chance come from outside; nothing here waits, reads or writes.

A ProtocolError leaves the state as it is no more to be trusted: whoever runs the core stops, unless
it is an ImpossibleMessage and is refused.
"""

from __future__ import annotations

from kraftool.raft import (
    appends,
    begin_quorum,
    candidacy,
    describe_quorum,
    end_quorum,
    fetch,
    following,
    kraft_upgrade,
    leading,
    parking,
    shutdown,
    snapshots,
    startup,
    vote,
    voter_changes,
    voter_updates,
)
from kraftool.raft.connections import Connections, Random
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.events import (
    Append,
    Effect,
    Event,
    LogCleaned,
    LogFlushed,
    RequestReceived,
    Resign,
    ResponseReceived,
    Send,
    SetDeadline,
    Shutdown,
    SnapshotInstalled,
    SnapshotWritten,
    StateMachineAt,
    TimePassed,
    UpgradeKRaftVersion,
)
from kraftool.raft.log_view import LogView
from kraftool.raft.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    DescribeQuorumRequest,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RemoveVoterRequest,
    Request,
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoterChangeResponse,
    VoteRequest,
    VoteResponse,
)
from kraftool.raft.names import (
    CommittedTruncation,
    ElectionState,
    Endpoint,
    ImpossibleMessage,
    ProtocolError,
    ReplicaKey,
)
from kraftool.raft.roles import (
    NEVER,
    Candidate,
    Follower,
    Leader,
    ParkedFetch,
    Prospective,
    Resigned,
    Role,
    Unattached,
)
from kraftool.raft.settings import NodeSettings
from kraftool.raft.state_machine import StateMachine

_MOST_POLLS = 16
"""How often a role may change in one step; more is a circle."""


class Raft:
    """One node. `start` chooses the first role; every further change is a step."""

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
        """Whether a snapshot is on its way into its place: who votes is known only after it."""
        self.now_ms = 0
        self._effects: list[Effect] = []
        self._next_correlation_id = 0
        self._wake_ms = NEVER

    def start(self, now_ms: int) -> list[Effect]:
        """Choose the role to begin in, and act in it."""
        self.now_ms, self._effects = now_ms, []
        startup.begin(self)
        return self._settle()

    def step(self, now_ms: int, event: Event) -> list[Effect]:
        """What happens, and everything that the node wants done for it, in order."""
        assert now_ms >= self.now_ms, "time goes forwards"
        self.now_ms, self._effects = now_ms, []
        if not self.is_stopped:
            try:
                self._handle(event)
            except CommittedTruncation:
                raise  # no node goes on after this
            except ProtocolError as error:
                if isinstance(event, RequestReceived | ResponseReceived):
                    raise ImpossibleMessage(error.message) from error
                raise
        return self._settle()

    def refuse(self, event: RequestReceived | ResponseReceived) -> list[Effect]:
        """Go on after an ImpossibleMessage as if it had been no good: what the step had wanted up
        to there, and the role's turn."""
        if isinstance(event, ResponseReceived):
            self.connections.answered(
                event.source_id, event.correlation_id, self.now_ms, well=False
            )
        return self._settle()

    def _settle(self) -> list[Effect]:
        """Let the role act until it stays the same, then tell the state machine.

        No role acts between `InstallSnapshot` and `SnapshotInstalled`, which Kafka's thread does
        without a pause: an election would be counted by the voters from before the snapshot.
        """
        for _ in range(_MOST_POLLS):
            self._wake_ms = NEVER
            if self.is_installing:
                break
            shutdown.complete_if_possible(self)
            if self.is_stopped:
                break
            before = self.role
            self._poll()
            if self.role is before:
                break
        else:
            raise ProtocolError(f"the role changes without end: {self.role}")
        if not self.is_stopped:
            parking.expire(self)
        self.state_machine.update(self.role, self.log, self.emit)
        self.emit(SetDeadline(at_ms=self._wake_ms))
        return self._effects

    def _handle(self, event: Event) -> None:
        match event:
            case RequestReceived():
                self._request(event)
            case ResponseReceived():
                self._response(event)
            case TimePassed():
                pass
            case LogFlushed(end_offset=end):
                appends.flushed(self, end)
            case Append():
                appends.append(self, event)
            case SnapshotWritten(snapshot_id=snapshot):
                snapshots.written(self, snapshot)
            case SnapshotInstalled():
                snapshots.installed(self, event)
            case LogCleaned(start_offset=start):
                self.log.clean(start)
            case StateMachineAt(next_offset=offset):
                self.state_machine.consumed(offset)
            case Resign(epoch=epoch):
                leading.resign(self, epoch)
            case Shutdown():
                self.is_shutting_down = True
            case UpgradeKRaftVersion():
                kraft_upgrade.upgrade(self, event)

    def _request(self, event: RequestReceived) -> None:
        match event.request:
            case VoteRequest() as request:
                vote.request(self, event, request)
            case BeginQuorumEpochRequest() as request:
                begin_quorum.request(self, event, request)
            case EndQuorumEpochRequest() as request:
                end_quorum.request(self, event, request)
            case FetchRequest() as request:
                fetch.request(self, event, request)
            case FetchSnapshotRequest() as request:
                snapshots.request(self, event, request)
            case DescribeQuorumRequest() as request:
                describe_quorum.request(self, event, request)
            case AddVoterRequest() as request:
                voter_changes.add(self, event, request)
            case RemoveVoterRequest() as request:
                voter_changes.remove(self, event, request)
            case UpdateVoterRequest() as request:
                voter_updates.request(self, event, request)
            case ApiVersionsRequest():
                raise ProtocolError("ApiVersions is answered by whoever runs the core")

    def _response(self, event: ResponseReceived) -> None:
        """Handle an answer that is still waited for; the connection is ready again, or pauses."""
        if not self.connections.is_expected(event.source_id, event.correlation_id):
            return
        match event.response:
            case VoteResponse() as response:
                well = vote.response(self, event.source_id, response)
            case BeginQuorumEpochResponse() as response:
                well = begin_quorum.response(self, event.source_id, response)
            case EndQuorumEpochResponse() as response:
                well = end_quorum.response(self, event.source_id, response)
            case FetchResponse() as response:
                well = following.fetched(self, response)
            case FetchSnapshotResponse() as response:
                well = snapshots.downloaded(self, response)
            case UpdateVoterResponse() as response:
                well = voter_updates.response(self, response)
            case VoterChangeResponse() as response:
                well = following.joined(self, response)
            case ApiVersionsResponse() as response:
                well = voter_changes.versions(self, event.source_id, response)
            case _:
                raise ProtocolError(f"an answer to nothing: {type(event.response).__name__}")
        self.connections.answered(event.source_id, event.correlation_id, self.now_ms, well=well)

    def _poll(self) -> None:
        match self.role:
            case Unattached() as role:
                candidacy.poll_unattached(self, role)
            case Prospective() as role:
                candidacy.poll_prospective(self, role)
            case Candidate() as role:
                candidacy.poll_candidate(self, role)
            case Follower() as role:
                following.poll(self, role)
            case Leader() as role:
                leading.poll(self, role)
            case Resigned() as role:
                end_quorum.poll_resigned(self, role)

    @property
    def epoch(self) -> int:
        return self.role.epoch

    @property
    def key(self) -> ReplicaKey | None:
        return self.settings.key

    @property
    def is_voter(self) -> bool:
        """Whether the node is in the newest voter set, committed or not."""
        return self.key is not None and self.control.voters.has(self.key)

    @property
    def stands(self) -> bool:
        """Whether the node may be elected: a voter, and no witness."""
        return self.is_voter and not self.settings.is_witness

    @property
    def is_witness(self) -> bool:
        """Whether the node is a voter that may not be elected."""
        return self.is_voter and self.settings.is_witness

    @property
    def leader_id(self) -> int | None:
        return self.role.leader_id

    @property
    def has_remote_leader(self) -> bool:
        return self.leader_id is not None and self.leader_id != self.settings.node_id

    def emit(self, effect: Effect) -> None:
        self._effects.append(effect)

    def wake_at(self, at_ms: int) -> None:
        """Ask for the next step at this time at the latest."""
        self._wake_ms = min(self._wake_ms, at_ms)

    def election_timeout_ms(self) -> int:
        """A timeout that differs from node to node, so that not all begin an election at once."""
        base = self.timing.election_timeout_ms
        return base + self.random.randrange(base) if base else 0

    def send(self, destination: int, endpoint: Endpoint, request: Request) -> bool:
        """Send a request if the connection is free; else wake when it may be."""
        if self.connections.is_ready(destination, self.now_ms):
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
            return True
        self.wake_at(self.connections.ready_ms(destination, self.now_ms))
        return False

    def send_to_voter(self, voter_id: int, request: Request) -> bool:
        """Send to a member of the newest voter set, by its default listener."""
        endpoint = self.control.voters.endpoints_of(voter_id).get(self.settings.default_listener)
        if endpoint is None:
            raise ProtocolError(
                f"voter {voter_id} has no endpoint of listener {self.settings.default_listener}"
            )
        return self.send(voter_id, endpoint, request)
