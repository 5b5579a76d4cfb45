"""Checks that what a node confirms is on its disk before."""

from __future__ import annotations

from kraftool.raft.events import Send
from kraftool.raft.messages import (
    BeginQuorumEpochRequest,
    FetchRequest,
    Response,
    VoteRequest,
    VoteResponse,
)
from kraftool.raft.names import ElectionState
from tests.simulator.checkers.base import Checker
from tests.simulator.network import Asked
from tests.simulator.node import Node

_NOTHING = ElectionState()


class Promises(Checker):
    """A vote, an epoch and a leadership are written before they are told; a fetch from an offset
    says that everything below it is safe."""

    name = "durability"

    def sends(self, node: Node, send: Send) -> None:
        stored = node.disk.election or _NOTHING
        match send.request:
            case FetchRequest() as request:
                self._epoch(node, request.current_leader_epoch, stored)
                if node.settings.is_controller and node.disk.durable < request.fetch_offset:
                    self.violated(
                        f"{node.name} fetches from {request.fetch_offset},"
                        f" and has {node.disk.durable} on disk"
                    )
            case VoteRequest() as request:
                self._epoch(node, request.replica_epoch, stored)
                voted = stored.voted.id if stored.voted is not None else None
                if not request.pre_vote and voted != node.id:
                    self.violated(f"{node.name} stands in {stored.epoch} without its own vote")
            case BeginQuorumEpochRequest(leader_epoch=epoch):
                self._epoch(node, epoch, stored)
                if stored.leader_id != node.id:
                    self.violated(f"{node.name} leads epoch {epoch} without having written it")
            case _:
                pass

    def replies(self, node: Node, asked: Asked, response: Response) -> None:
        stored = node.disk.election or _NOTHING
        self._epoch(node, response.leader_epoch, stored)
        request = asked.request
        if (
            isinstance(response, VoteResponse)
            and isinstance(request, VoteRequest)
            and response.vote_granted
            and not request.pre_vote
        ):
            voted = stored.voted.id if stored.voted is not None else None
            if stored.epoch != request.replica_epoch or voted != request.replica.id:
                self.violated(f"{node.name} tells a vote for {request.replica.id} it has not kept")

    def _epoch(self, node: Node, epoch: int, stored: ElectionState) -> None:
        if epoch > stored.epoch:
            self.violated(f"{node.name} tells of epoch {epoch}, and has {stored.epoch} on disk")
