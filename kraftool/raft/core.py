"""One step of a node: `step(raft, now_ms, event) -> effects`.

Owns the order of one step: what came in is handled, then the role acts (Kafka's poll), then the
state machine above is told what it may see. What the families of requests do is theirs, one file
each. The state of the node is a `Raft`.

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
from kraftool.raft.events import (
    Append,
    Effect,
    Event,
    LogCleaned,
    LogFlushed,
    RequestReceived,
    Resign,
    ResponseReceived,
    SetDeadline,
    Shutdown,
    SnapshotInstalled,
    SnapshotWritten,
    StateMachineAt,
    TimePassed,
    UpgradeKRaftVersion,
)
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
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoterChangeResponse,
    VoteRequest,
    VoteResponse,
)
from kraftool.raft.names import (
    CommittedTruncation,
    ImpossibleMessage,
    ProtocolError,
)
from kraftool.raft.raft import Raft
from kraftool.raft.roles import (
    NEVER,
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Unattached,
)

_MOST_POLLS = 16
"""How often a role may change in one step; more is a circle."""


def start(raft: Raft, now_ms: int) -> list[Effect]:
    """Choose the role to begin in, and act in it."""
    raft.now_ms, raft.effects = now_ms, []
    startup.begin(raft)
    return _settle(raft)


def step(raft: Raft, now_ms: int, event: Event) -> list[Effect]:
    """Return what happens, and everything that the node wants done for it, in order."""
    assert now_ms >= raft.now_ms, "time goes forwards"
    raft.now_ms, raft.effects = now_ms, []
    if not raft.is_stopped:
        try:
            _handle(raft, event)
        except CommittedTruncation:
            raise  # no node goes on after this
        except ProtocolError as error:
            if isinstance(event, RequestReceived | ResponseReceived):
                raise ImpossibleMessage(error.message) from error
            raise
    return _settle(raft)


def refuse(raft: Raft, event: RequestReceived | ResponseReceived) -> list[Effect]:
    """Go on after an ImpossibleMessage as if it had been no good: what the step had wanted up
    to there, and the role's turn."""
    if isinstance(event, ResponseReceived):
        raft.connections.answered(event.source_id, event.correlation_id, raft.now_ms, well=False)
    return _settle(raft)


def _settle(raft: Raft) -> list[Effect]:
    """Let the role act until it stays the same, then tell the state machine.

    No role acts between `InstallSnapshot` and `SnapshotInstalled`, which Kafka's thread does
    without a pause: an election would be counted by the voters from before the snapshot.
    """
    for _ in range(_MOST_POLLS):
        raft.wake_ms = NEVER
        if raft.is_installing:
            break
        shutdown.complete_if_possible(raft)
        if raft.is_stopped:
            break
        before = raft.role
        _poll(raft)
        if raft.role is before:
            break
    else:
        raise ProtocolError(f"the role changes without end: {raft.role}")
    if raft.parked and not raft.is_stopped:
        parking.expire(raft)
    raft.state_machine.update(raft.role, raft.log, raft.emit)
    raft.emit(SetDeadline(at_ms=raft.wake_ms))
    return raft.effects


def _handle(raft: Raft, event: Event) -> None:
    match event:
        case RequestReceived():
            _request(raft, event)
        case ResponseReceived():
            _response(raft, event)
        case TimePassed():
            pass
        case LogFlushed(end_offset=end):
            appends.flushed(raft, end)
        case Append():
            appends.append(raft, event)
        case SnapshotWritten(snapshot_id=snapshot):
            snapshots.written(raft, snapshot)
        case SnapshotInstalled():
            snapshots.installed(raft, event)
        case LogCleaned(start_offset=start):
            raft.log.clean(start)
        case StateMachineAt(next_offset=offset):
            raft.state_machine.consumed(offset)
        case Resign():
            leading.resign(raft, event)
        case Shutdown():
            raft.is_shutting_down = True
        case UpgradeKRaftVersion():
            kraft_upgrade.upgrade(raft, event)


def _request(raft: Raft, event: RequestReceived) -> None:
    match event.request:
        case FetchRequest() as request:
            fetch.request(raft, event, request)
        case VoteRequest() as request:
            vote.request(raft, event, request)
        case BeginQuorumEpochRequest() as request:
            begin_quorum.request(raft, event, request)
        case EndQuorumEpochRequest() as request:
            end_quorum.request(raft, event, request)
        case FetchSnapshotRequest() as request:
            snapshots.request(raft, event, request)
        case DescribeQuorumRequest() as request:
            describe_quorum.request(raft, event, request)
        case AddVoterRequest() as request:
            voter_changes.add(raft, event, request)
        case RemoveVoterRequest() as request:
            voter_changes.remove(raft, event, request)
        case UpdateVoterRequest() as request:
            voter_updates.request(raft, event, request)
        case ApiVersionsRequest():
            raise ProtocolError("ApiVersions is answered by whoever runs the core")


def _response(raft: Raft, event: ResponseReceived) -> None:
    """Handle an answer that is still waited for; the connection is ready again, or pauses."""
    if not raft.connections.is_expected(event.source_id, event.correlation_id):
        return
    match event.response:
        case FetchResponse() as response:
            well = following.fetched(raft, response)
        case VoteResponse() as response:
            well = vote.response(raft, event.source_id, response)
        case BeginQuorumEpochResponse() as response:
            well = begin_quorum.response(raft, event.source_id, response)
        case EndQuorumEpochResponse() as response:
            well = end_quorum.response(raft, event.source_id, response)
        case FetchSnapshotResponse() as response:
            well = snapshots.downloaded(raft, response)
        case UpdateVoterResponse() as response:
            well = voter_updates.response(raft, response)
        case VoterChangeResponse() as response:
            well = following.joined(raft, response)
        case ApiVersionsResponse() as response:
            well = voter_changes.versions(raft, event.source_id, response)
        case _:
            raise ProtocolError(f"an answer to nothing: {type(event.response).__name__}")
    raft.connections.answered(event.source_id, event.correlation_id, raft.now_ms, well=well)


def _poll(raft: Raft) -> None:
    match raft.role:
        case Follower() as role:
            following.poll(raft, role)
        case Leader() as role:
            leading.poll(raft, role)
        case Unattached() as role:
            candidacy.poll_unattached(raft, role)
        case Prospective() as role:
            candidacy.poll_prospective(raft, role)
        case Candidate() as role:
            candidacy.poll_candidate(raft, role)
        case Resigned() as role:
            end_quorum.poll_resigned(raft, role)
