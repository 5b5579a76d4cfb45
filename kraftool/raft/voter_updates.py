"""UpdateRaftVoter: a voter tells the leader where it is reached and what it supports.

Owns both sides: what the leader makes of it, and when a follower has something to tell. Under
kraft.version 0 nothing is logged; the leader keeps it in memory for an upgrade.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import check_quorum, fetching, leadership, rules
from kraftool.raft.events import Reply, RequestReceived
from kraftool.raft.messages import UpdateVoterRequest, UpdateVoterResponse
from kraftool.raft.names import Voter
from kraftool.raft.raft import Raft
from kraftool.raft.records import Voters
from kraftool.raft.roles import Follower, Leader
from kraftool.raft.voter_rules import busy, names_metadata_cluster, uncommitted


def request(raft: Raft, event: RequestReceived, voter_request: UpdateVoterRequest) -> None:
    error = _update(raft, voter_request)
    leader_id, epoch = leadership.who_leads(raft)
    raft.emit(
        Reply(
            request_id=event.request_id,
            response=UpdateVoterResponse(
                error=error,
                leader_id=leader_id,
                leader_epoch=epoch,
                endpoints=leadership.endpoints_for(raft, event.listener),
            ),
        )
    )


def _update(raft: Raft, voter_request: UpdateVoterRequest) -> Error:
    if not names_metadata_cluster(raft, voter_request.cluster_id):
        return Error.INCONSISTENT_CLUSTER_ID
    error = rules.leader_error(raft, voter_request.current_leader_epoch)
    if error is not Error.NONE:
        return error
    low, high = voter_request.kraft_version
    if (
        voter_request.voter is None
        or raft.settings.default_listener not in voter_request.listeners
        or low < 0
        or high < low
    ):
        return Error.INVALID_REQUEST
    leader = raft.role
    assert isinstance(leader, Leader), "the check above says so"
    error, _ = busy(raft, leader)
    if error is Error.NONE and raft.control.kraft_version >= 1:
        error, _ = uncommitted(raft, leader)
        error = Error.REQUEST_TIMED_OUT if leader.is_held else error
    elif error is Error.NONE and leader.volatile_voters is None:
        error = Error.REQUEST_TIMED_OUT
    if error is not Error.NONE:
        return error
    if not voter_request.kraft_version.holds(raft.control.kraft_version):
        return Error.INVALID_REQUEST
    voter = Voter(
        key=voter_request.voter,
        endpoints=voter_request.listeners,
        kraft_version=voter_request.kraft_version,
    )
    error = _accept(raft, leader, voter)
    if error is Error.NONE:
        check_quorum.heard_from(raft, leader, voter.key)
    return error


def _accept(raft: Raft, leader: Leader, voter: Voter) -> Error:
    if raft.control.kraft_version >= 1:
        voters = raft.control.voters.updated(voter)
        if voters is None:
            return Error.VOTER_NOT_FOUND
        leader.accumulator.append_control([Voters(voters)], raft.now_ms)
        return Error.NONE
    assert leader.volatile_voters is not None, "the check before says so"
    volatile = leader.volatile_voters.updated_ignoring_directories(voter)
    if volatile is None:
        return Error.VOTER_NOT_FOUND
    leader.volatile_voters = volatile
    return Error.NONE


def is_needed(raft: Raft, role: Follower) -> bool:
    """True if the leader has to be told: what stands in the log is wrong, or (kraft.version 0)
    this leader has not been told yet."""
    if raft.control.kraft_version < 1:
        return not role.has_updated_leader
    own = raft.settings.as_voter
    return raft.control.voters.voters.get(own.key.id) != own


def about_self(raft: Raft) -> UpdateVoterRequest:
    own = raft.settings.as_voter
    return UpdateVoterRequest(
        cluster_id=raft.settings.cluster_id,
        current_leader_epoch=raft.epoch,
        voter=own.key,
        listeners=own.endpoints,
        kraft_version=own.kraft_version,
    )


def response(raft: Raft, answer: UpdateVoterResponse) -> bool:
    """The only family with a single error code; an old leader that does not know it says 35."""
    error = answer.error if answer.top_error is Error.NONE else answer.top_error
    handled = rules.common(raft, answer, error)
    if handled is not None:
        return handled
    if error not in (Error.NONE, Error.UNSUPPORTED_VERSION):
        return False
    if isinstance(raft.role, Follower):
        raft.role.has_updated_leader = True
        fetching.succeeded(raft, raft.role)
    return True
