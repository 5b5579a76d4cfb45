"""Ways that a case only needs to have gone: `become leader`, `commit` and the like.

Owns the usual course of those. Nothing of them is printed; the state after them is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kraftool.raft.events import LogFlushed, Resign, StateMachineAt, TimePassed
from kraftool.raft.messages import BeginQuorumEpochRequest, FetchRequest
from kraftool.raft.roles import Candidate, Follower, Leader, Prospective, Resigned
from tests.raft import transcript_words as words
from tests.raft.transcript_setup import CLUSTER_ID
from tests.raft.transcript_words import TranscriptError

if TYPE_CHECKING:
    from tests.raft.transcript_node import Node


def run(node: Node, verb: str, rest: Sequence[str]) -> None:
    match [verb, *rest]:
        case ["become", "prospective"]:
            _until(node, Prospective)
        case ["become", "candidate"]:
            _until(node, Candidate)
        case ["become", "leader"]:
            _until(node, Leader)
            _flush(node)
        case ["become", "resigned"]:
            _until(node, Leader)
            _flush(node)
            node.step(Resign(epoch=node.raft.epoch))
            assert isinstance(node.raft.role, Resigned), "it has resigned"
        case ["become", "follower", "of", leader, "epoch", epoch]:
            request = BeginQuorumEpochRequest(
                cluster_id=CLUSTER_ID,
                leader_id=int(leader),
                leader_epoch=int(epoch),
                voter=node.raft.settings.key,
                leader_endpoints=words.endpoints(int(leader), ["CONTROLLER"]),
            )
            node.step(node.received(leader, request))
            assert isinstance(node.raft.role, Follower), "it follows"
        case ["commit"]:
            _commit(node)
        case _:
            raise TranscriptError(f"{verb} {' '.join(rest)} is no way to go")


def _until(node: Node, wanted: type[Prospective | Candidate | Leader]) -> None:
    """Let the timer run out, then have everyone grant what they are asked, one by one."""
    role = node.raft.role
    if not node.is_asking():
        assert not isinstance(role, Leader), "it leads already"
        deadline = (
            role.fetch_deadline_ms if isinstance(role, Follower) else role.election_deadline_ms
        )
        node.now_ms = max(node.now_ms, deadline)
        node.step(TimePassed())
    while not isinstance(node.raft.role, wanted):
        role = node.raft.role
        assert isinstance(role, Prospective | Candidate), "it is on its way"
        node.step(node.answer([str(role.tally.unrecorded[0]), "granted"]))


def _flush(node: Node) -> None:
    """What the leader has written is durable, and its state machine is as far as it may be."""
    node.step(LogFlushed(end_offset=node.raft.log.end_offset))


def _commit(node: Node) -> None:
    """All others fetch at the end of the log, so that all of it is committed and consumed."""
    _flush(node)
    raft = node.raft
    for member in sorted(raft.control.voters.ids - {raft.settings.node_id}):
        fetched = FetchRequest(
            cluster_id=CLUSTER_ID,
            replica=raft.control.voters.voters[member].key,
            current_leader_epoch=raft.epoch,
            fetch_offset=raft.log.end_offset,
            last_fetched_epoch=raft.log.last_epoch,
            max_wait_ms=0,
        )
        node.step(node.received(str(member), fetched))
    node.step(StateMachineAt(next_offset=raft.log.end_offset))
