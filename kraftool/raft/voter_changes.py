"""AddRaftVoter and RemoveRaftVoter: the voter set changes by one member at a time.

Owns the checks, in their order, and the way from the request to the commit (KIP-853). A change
counts as soon as its record is appended; its commit only answers whoever asked.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import hand_over, pending_change, rules, voter_refusals
from kraftool.raft.events import RequestReceived
from kraftool.raft.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    RemoveVoterRequest,
)
from kraftool.raft.names import Voter
from kraftool.raft.raft import Raft
from kraftool.raft.records import Voters
from kraftool.raft.roles import AddingVoter, Leader, RemovingVoter
from kraftool.raft.voter_rules import change_refused, names_metadata_cluster


def add(raft: Raft, event: RequestReceived, asked: AddVoterRequest) -> None:
    """Begin to add a voter: first its versions are asked for."""
    leader, error, why = _leader_for(raft, asked.cluster_id)
    if error is Error.NONE and asked.voter is None:
        error, why = Error.INVALID_REQUEST, "a voter needs an id and a directory id"
    if error is Error.NONE and raft.settings.default_listener not in asked.listeners:
        error = Error.INVALID_REQUEST
        why = f"a voter needs an endpoint of listener {raft.settings.default_listener}"
    if error is Error.NONE:
        assert leader is not None, "the first check says so"
        error, why = change_refused(raft, leader)
    if error is not Error.NONE:
        pending_change.answer(raft, event.request_id, error, why)
        return
    assert leader is not None, "the first check says so"
    assert asked.voter is not None, "the second check says so"
    voter = asked.voter
    if voter.id in raft.control.voters.ids:
        why = voter_refusals.is_voter_already(raft.control.voters, voter)
        pending_change.answer(raft, event.request_id, Error.DUPLICATE_VOTER, why)
        return
    endpoint = asked.listeners[raft.settings.default_listener]
    if not raft.send(voter.id, endpoint, ApiVersionsRequest()):
        why = f"the connection to node {voter.id} is busy"
        pending_change.answer(raft, event.request_id, Error.REQUEST_TIMED_OUT, why)
        return
    leader.change = AddingVoter(
        request_id=event.request_id,
        voter=Voter(key=voter, endpoints=asked.listeners),
        ack_when_committed=asked.ack_when_committed,
        deadline_ms=raft.now_ms + raft.timing.request_timeout_ms,
    )


def versions(raft: Raft, source_id: int, answer: ApiVersionsResponse) -> bool:
    """The newcomer has told its versions: if all is well, the record is appended."""
    leader = raft.role
    if not isinstance(leader, Leader):
        return True
    hand_over.heard(raft, leader, source_id, answer)
    change = leader.change
    if (
        not isinstance(change, AddingVoter)
        or change.offset is not None
        or change.voter.key.id != source_id
    ):
        return answer.top_error is Error.NONE
    error = answer.top_error if answer.top_error is not Error.NONE else answer.error
    if error is not Error.NONE:
        why = voter_refusals.without_versions(source_id, error)
        pending_change.complete(raft, leader, Error.REQUEST_TIMED_OUT, why)
        return False
    supported = answer.kraft_version
    level = raft.control.kraft_version
    if supported is None or not supported.holds(level):
        why = voter_refusals.without_support(source_id, answer, level)
        pending_change.complete(raft, leader, Error.INVALID_REQUEST, why)
        return True
    if not leader.replicas.is_caught_up(change.voter.key, raft.now_ms):
        why = voter_refusals.not_caught_up(leader, change.voter.key)
        pending_change.complete(raft, leader, Error.REQUEST_TIMED_OUT, why)
        return True
    newcomer = Voter(
        key=change.voter.key, endpoints=change.voter.endpoints, kraft_version=supported
    )
    voters = raft.control.voters.with_voter(newcomer)
    if voters is None:
        why = voter_refusals.is_voter_already(raft.control.voters, newcomer.key)
        pending_change.complete(raft, leader, Error.DUPLICATE_VOTER, why)
        return True
    change.offset = leader.accumulator.append_control([Voters(voters)], raft.now_ms)
    if not change.ack_when_committed and change.request_id is not None:
        pending_change.answer(raft, change.request_id, Error.NONE)
        change.request_id = None
    return True


def remove(raft: Raft, event: RequestReceived, asked: RemoveVoterRequest) -> None:
    """Append the set without a voter, if it is one."""
    leader, error, why = _leader_for(raft, asked.cluster_id)
    if error is Error.NONE and asked.voter is None:
        error, why = Error.INVALID_REQUEST, "a voter needs an id and a directory id"
    if error is Error.NONE:
        assert leader is not None, "the first check says so"
        error, why = change_refused(raft, leader)
    if error is not Error.NONE:
        pending_change.answer(raft, event.request_id, error, why)
        return
    assert leader is not None, "the first check says so"
    assert asked.voter is not None, "the second check says so"
    voters = raft.control.voters.without(asked.voter)
    if voters is None:
        why = voter_refusals.not_removable(raft.control.voters, asked.voter)
        pending_change.answer(raft, event.request_id, Error.VOTER_NOT_FOUND, why)
        return
    leader.change = RemovingVoter(
        request_id=event.request_id,
        key=asked.voter,
        deadline_ms=raft.now_ms + raft.timing.request_timeout_ms,
        offset=leader.accumulator.append_control([Voters(voters)], raft.now_ms),
    )


def _leader_for(raft: Raft, cluster_id: str | None) -> tuple[Leader | None, Error, str]:
    """The first checks of both requests."""
    if not names_metadata_cluster(raft, cluster_id):
        return None, Error.INCONSISTENT_CLUSTER_ID, f"this is cluster {raft.settings.cluster_id}"
    error = rules.leader_error(raft, raft.epoch)
    if error is not Error.NONE:
        return None, error, voter_refusals.not_leader(raft, error)
    assert isinstance(raft.role, Leader), "the check above says so"
    return raft.role, Error.NONE, ""


def committed(raft: Raft, leader: Leader) -> None:
    """The high watermark rose: a change whose record lies below it is done."""
    change = leader.change
    known = leader.high_watermark
    if change is None or change.offset is None or known is None or known <= change.offset:
        return
    pending_change.complete(raft, leader, Error.NONE)
    if isinstance(change, RemovingVoter) and not raft.is_voter:
        leader.resign_requested = True
