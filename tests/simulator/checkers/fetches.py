"""One fetch at a time, so that no records are appended twice."""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft.events import Event, ResponseReceived, Send
from kraftool.raft.messages import FetchRequest, FetchSnapshotRequest, Response
from kraftool.raft.roles import Role
from tests.simulator.checkers.base import Checker
from tests.simulator.network import Asked
from tests.simulator.node import Node


class Fetches(Checker):
    """Over all connections a node waits for the answer to one fetch at most; it stops waiting when
    the request times out, and when its role changes. A leader serves the fetches of its own epoch
    and no others."""

    name = "fetches"

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[int, int, Role]] = {}

    def asks(self, node: Node, send: Send, event: Event | None) -> None:
        if not isinstance(send.request, FetchRequest | FetchSnapshotRequest):
            return
        role, now = node.raft.role, node.raft.now_ms
        waiting = self._waiting.get(node.id)
        answered = event.correlation_id if isinstance(event, ResponseReceived) else -1
        is_waiting = waiting is not None and waiting[2] is role and now < waiting[1]
        if waiting is not None and is_waiting and waiting[0] != answered:
            self.violated(f"{node.name} fetches again, while it waits for an answer")
        timeout = node.settings.timing.request_timeout_ms
        self._waiting[node.id] = (send.correlation_id, now + timeout, role)

    def starts(self, node: Node) -> None:
        self._waiting.pop(node.id, None)

    def stepped(self, node: Node, event: Event | None) -> None:
        if isinstance(event, ResponseReceived):
            waiting = self._waiting.get(node.id)
            if waiting is not None and waiting[0] == event.correlation_id:
                del self._waiting[node.id]

    def replies(self, node: Node, asked: Asked, response: Response) -> None:
        request = asked.request
        if (
            isinstance(request, FetchRequest)
            and response.error is Error.NONE
            and response.top_error is Error.NONE
            and response.leader_epoch != request.current_leader_epoch
        ):
            self.violated(
                f"{node.name} leads epoch {response.leader_epoch}, and serves a fetch of"
                f" {request.current_leader_epoch}"
            )
