"""The last resort: a witness is a candidate after it refused one several times for its shorter log.

Owns that count. A witness can have committed records that no other running voter has: it refuses
every candidate, and without this nobody is elected. (Kafka has no witnesses.)
"""

from __future__ import annotations

from kraftool.raft.messages import VoteRequest
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Follower, Leader, Prospective, Unattached


def judged(raft: Raft, asked: VoteRequest, *, granted: bool) -> None:
    """Count a candidate that was refused for its log, and become one when it was often enough.

    A grant starts the count again: that candidate can win. A node with a leader refuses everyone,
    which shows nothing.
    """
    if not raft.is_witness:
        return
    if granted:
        raft.refusals.clear()
        return
    role = raft.role
    candidate = OffsetAndEpoch(asked.last_offset, asked.last_offset_epoch)
    has_leader = isinstance(role, Leader) or (isinstance(role, Follower) and role.has_fetched)
    if has_leader or candidate.is_at_least(raft.log.end):
        return
    if asked.replica.id in raft.control.voters.ids:
        raft.refusals[asked.replica.id] = raft.refusals.get(asked.replica.id, 0) + 1
    if raft.is_last_resort:
        _hurry(raft)


def _hurry(raft: Raft) -> None:
    """Ask for votes at once. A Prospective does so in its turn, and has the time of an election."""
    match raft.role:
        case Prospective() as role:
            role.election_deadline_ms = raft.now_ms + raft.election_timeout_ms()
        case Unattached() as role:
            role.election_deadline_ms = raft.now_ms
        case Follower() as role:
            role.fetch_deadline_ms = raft.now_ms
        case _:
            pass
