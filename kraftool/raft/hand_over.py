"""A leader without a controller hands leadership to a voter that has one and has caught up.

Owns which voters are known to run a controller, when to resign for one of them, and how long to
wait where that failed before. It acts only on a node that runs no controller. (Not of Kafka.)
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import ApiVersionsRequest, ApiVersionsResponse
from kraftool.raft.names import UNKNOWN, ReplicaKey
from kraftool.raft.raft import Raft
from kraftool.raft.replicas import Replica
from kraftool.raft.roles import Leader
from kraftool.raft.settings import (
    HAND_OVER_FAILED_WITHIN_MS,
    HAND_OVER_LOOK_MS,
    HAND_OVER_PAUSE_MS,
    LONGEST_HAND_OVER_PAUSE_MS,
)


def begin(raft: Raft, leader: Leader) -> None:
    """Wait before the next attempt if this node leads again soon after it handed over.

    The successor did not win, or not for long. The wait doubles each time, so that the quorum does
    not spend its time on elections.
    """
    last = raft.handed_over_ms
    if last >= 0 and raft.now_ms - last < HAND_OVER_FAILED_WITHIN_MS:
        longer = max(2 * raft.hand_over_pause_ms, HAND_OVER_PAUSE_MS)
        raft.hand_over_pause_ms = min(longer, LONGEST_HAND_OVER_PAUSE_MS)
    else:
        raft.hand_over_pause_ms = 0
    leader.hand_over_deadline_ms = raft.now_ms + raft.hand_over_pause_ms


def is_due(raft: Raft, leader: Leader) -> bool:
    """True if a voter with a controller has the whole log. A change of the voters ends first."""
    if not leader.hands_over or leader.change is not None or leader.upgrading_to is not None:
        return False
    if not any(_is_ready(raft, leader, voter) for voter in leader.replicas.voters.values()):
        return False
    if raft.now_ms < leader.hand_over_deadline_ms:
        raft.wake_at(leader.hand_over_deadline_ms)
        return False
    raft.handed_over_ms = raft.now_ms
    return True


def successors(raft: Raft, leader: Leader) -> tuple[ReplicaKey, ...]:
    """The other voters in the order in which they should try: ready ones, then (of a leader without
    a controller) those with one, then the others; each group by log, as Kafka has it."""
    ready = {id_ for id_, voter in leader.replicas.voters.items() if _is_ready(raft, leader, voter)}
    return tuple(
        sorted(
            leader.replicas.successors(),
            key=lambda successor: (
                successor.id not in ready,
                leader.hands_over and successor.id not in leader.controllers,
            ),
        )
    )


def _is_ready(raft: Raft, leader: Leader, voter: Replica) -> bool:
    return (
        voter.key.id in leader.controllers
        and voter.end_offset is not None
        and voter.end_offset >= raft.log.end_offset
        and _fetches(raft, voter)
    )


def _fetches(raft: Raft, voter: Replica) -> bool:
    """True if it fetched lately; to another the leader sends BeginQuorumEpoch, and nothing else."""
    patience = raft.timing.begin_quorum_ms
    return voter.last_fetch_ms >= 0 and raft.now_ms - voter.last_fetch_ms < patience


def ask_voters(raft: Raft, leader: Leader) -> None:
    """Ask the voters that fetch whether they run a controller, again and again: a Kafka may have
    been started in place of a witness."""
    if not leader.hands_over:
        return
    for voter_id, voter in leader.replicas.voters.items():
        last = leader.asked_ms.get(voter_id, UNKNOWN)
        is_due = last < 0 or raft.now_ms - last >= HAND_OVER_LOOK_MS
        if voter_id == leader.local.id or not is_due or not _fetches(raft, voter):
            continue
        if raft.send_to_voter(voter_id, ApiVersionsRequest()):
            leader.asked_ms[voter_id] = raft.now_ms


def heard(raft: Raft, leader: Leader, source_id: int, answer: ApiVersionsResponse) -> None:
    """Take note of whether a voter runs a controller."""
    failed = answer.top_error is not Error.NONE or answer.error is not Error.NONE
    if leader.hands_over and source_id in raft.control.voters.ids:
        if answer.runs_controller and not failed:
            leader.controllers.add(source_id)
        else:
            leader.controllers.discard(source_id)
