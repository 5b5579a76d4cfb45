"""Vote: asked for and given, for good or (pre-vote) as a promise of nothing.

Owns the order of checks of a Vote request, the matrix of who grants what, and what answers do to an
election.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import candidacy, last_resort, leadership, rules, transitions
from kraftool.raft.events import Reply, RequestReceived
from kraftool.raft.messages import VoteRequest, VoteResponse
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.raft import Raft
from kraftool.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Unattached,
)


def request(raft: Raft, event: RequestReceived, asked: VoteRequest) -> None:
    """Answer a nominee. A grant of a standard vote is durable before it is told."""
    top = rules.top_error(raft, asked)
    if top is not Error.NONE:
        raft.emit(Reply(request_id=event.request_id, response=VoteResponse(top_error=top)))
        return
    error, granted = _decide(raft, asked)
    leader_id, epoch = leadership.who_leads(raft)
    raft.emit(
        Reply(
            request_id=event.request_id,
            response=VoteResponse(
                error=error,
                leader_id=leader_id,
                leader_epoch=epoch,
                endpoints=leadership.endpoints_for(raft, event.listener),
                vote_granted=granted,
            ),
        )
    )


def _decide(raft: Raft, asked: VoteRequest) -> tuple[Error, bool]:
    last = asked.last_offset_epoch
    # A nominee of an epoch cannot have records of it; one that only asks may have.
    too_new = last > asked.replica_epoch if asked.pre_vote else last >= asked.replica_epoch
    if asked.last_offset < 0 or last < 0 or too_new:
        return Error.INVALID_REQUEST, False
    error = rules.voter_error(raft, asked.replica.id, asked.replica_epoch)
    if error is not Error.NONE:
        return error, False
    if asked.replica_epoch > raft.epoch:
        transitions.to_unattached(raft, asked.replica_epoch)
    if not rules.is_meant_for(raft, asked.voter):
        return Error.INVALID_VOTER_KEY, False
    granted = grants(raft, asked)
    last_resort.judged(raft, asked, granted=granted)
    if granted and not asked.pre_vote:
        role = raft.role
        if isinstance(role, Unattached | Prospective) and role.voted is None:
            transitions.add_vote(raft, asked.replica)
    return Error.NONE, granted


def grants(raft: Raft, asked: VoteRequest) -> bool:
    """True if the role gives its vote, in the epoch that both are in."""
    role = raft.role
    nominee = OffsetAndEpoch(asked.last_offset, asked.last_offset_epoch)
    is_up_to_date = nominee.is_at_least(raft.log.end)
    if asked.pre_vote:
        match role:
            case Leader():
                return False
            case Follower():
                return is_up_to_date and not role.has_fetched
            case _:
                return is_up_to_date
    if not isinstance(role, Unattached | Prospective) or raft.settings.node_id is None:
        return False
    if asked.replica.id == raft.settings.node_id:
        return False
    if role.voted is not None:
        return asked.replica.is_known_as(role.voted)
    return role.leader_id is None and is_up_to_date


def response(raft: Raft, source_id: int, answer: VoteResponse) -> bool:
    """Count an answer, and win or lose by it."""
    role = raft.role
    if answer.top_error is Error.UNSUPPORTED_VERSION and isinstance(role, Prospective):
        # That voter knows of no pre-vote, and can only be asked for a real one.
        candidacy.become_candidate(raft)
        return True
    if rules.failed_on_top(answer.top_error):
        return False
    handled = rules.common(raft, answer)
    if handled is not None:
        return handled
    if answer.error is not Error.NONE:
        return False
    role = raft.role
    if isinstance(role, Prospective | Candidate):
        role.tally.record(source_id, granted=answer.vote_granted, fixed=isinstance(role, Candidate))
        candidacy.forward(raft)
    return True
