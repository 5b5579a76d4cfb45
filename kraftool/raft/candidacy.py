"""The way to leadership: waiting for a leader, asking whether it could be won, asking for votes.

Owns what Unattached, Prospective and Candidate do when it is their turn.
"""

from __future__ import annotations

from kraftool.raft import fetching, leading, transitions
from kraftool.raft.messages import VoteRequest
from kraftool.raft.names import ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Candidate, Prospective, Unattached
from kraftool.raft.tally import Tally


def poll_unattached(raft: Raft, role: Unattached) -> None:
    """Look for the leader at the bootstrap servers. A voter that may be elected stops after a
    while and asks for votes."""
    if raft.stands:
        if raft.is_shutting_down:
            return
        if raft.now_ms >= role.election_deadline_ms:
            become_prospective(raft)
            return
        raft.wake_at(role.election_deadline_ms)
    fetching.fetch_from_any(raft)


def become_prospective(raft: Raft) -> None:
    transitions.to_prospective(raft)
    forward(raft)


def become_candidate(raft: Raft) -> None:
    transitions.to_candidate(raft)
    forward(raft)


def forward(raft: Raft) -> None:
    """Go on if the count is enough, and back if it can no longer be. A sole voter goes all the
    way."""
    role = raft.role
    if isinstance(role, Prospective):
        if role.tally.is_won and raft.stands:
            become_candidate(raft)
        elif role.tally.is_lost:
            give_up(raft, role)
    elif isinstance(role, Candidate) and role.tally.is_won:
        leading.become_leader(raft)


def give_up(raft: Raft, role: Prospective) -> None:
    """Go back to the leader that is remembered, or wait to learn of one."""
    if role.leader_id is not None and role.leader_endpoints:
        transitions.to_follower(raft, role.epoch, role.leader_id, role.leader_endpoints)
    else:
        transitions.to_unattached(raft, role.epoch, role.leader_id)


def poll_prospective(raft: Raft, role: Prospective) -> None:
    if _is_over(raft, role):
        give_up(raft, role)
        return
    _ask(raft, role.tally, pre_vote=True)


def poll_candidate(raft: Raft, role: Candidate) -> None:
    if _is_over(raft, role):
        become_prospective(raft)
        return
    _ask(raft, role.tally, pre_vote=False)


def _is_over(raft: Raft, role: Prospective | Candidate) -> bool:
    """True if the time of an election is up. It never is for a node that shuts down: that one
    goes on until it is elected, and can resign, or another leads."""
    if raft.is_shutting_down:
        return False
    raft.wake_at(role.election_deadline_ms)
    return raft.now_ms >= role.election_deadline_ms


def _ask(raft: Raft, tally: Tally, *, pre_vote: bool) -> None:
    """Ask everyone who has not answered, for as long as it can still be won. A witness asks only as
    a last resort: else it is Prospective to vote for another, which a follower does not."""
    if tally.is_lost or not raft.stands:
        return
    assert raft.key is not None, "only voters are elected"
    end = raft.log.end
    for voter_id in tally.unrecorded:
        voter = raft.control.voters.voters.get(voter_id)
        if voter is None:
            raise ProtocolError(f"voter {voter_id} is no longer one during an election")
        if raft.is_waiting_for(voter_id):
            continue
        raft.send_to_voter(
            voter_id,
            VoteRequest(
                cluster_id=raft.settings.cluster_id,
                replica_epoch=raft.epoch,
                replica=raft.key,
                voter=voter.key,
                last_offset=end.offset,
                last_offset_epoch=end.epoch,
                pre_vote=pre_vote,
            ),
        )
