"""Check-quorum: a leader resigns if it has not heard from a majority for a while.

Owns the timer of the leader. Every family of requests that shows a voter alive restarts it.
"""

from __future__ import annotations

from kraftool.raft.names import ReplicaKey
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader


def _needed(raft: Raft, leader: Leader) -> int:
    """Return how many other voters the leader has to hear from."""
    voters = raft.control.voters
    return voters.majority - (1 if voters.has(leader.local) else 0)


def heard_from(raft: Raft, leader: Leader, replica: ReplicaKey | None) -> None:
    """Restart the check-quorum timer once the leader has heard from enough voters.

    A sole voter needs no other, so every replica restarts its timer. The timer runs on meanwhile:
    with the second voter it counts again.
    """
    if replica is not None:
        if replica.id == leader.local.id:
            return
        if raft.control.voters.has(replica):
            leader.heard.add(replica.id)
    if len(leader.heard) >= _needed(raft, leader):
        leader.heard.clear()
        leader.check_quorum_deadline_ms = raft.now_ms + raft.timing.check_quorum_ms
