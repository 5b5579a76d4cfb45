"""Asks nodes again and again: over connections that stay, and the less often the longer one is
down.

Owns connections, patience and backoff. A node that takes long never holds up the others: its
question goes on in the background, and its answer counts in a later poll. Until then its last
answer is shown, and `waiting_ms` says from when on it is overdue. It is not reached only if it
refuses, or if the timeout has passed.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace

from kraftool.client.asking import CLIENT_ID, Access, answered
from kraftool.client.failures import unasked
from kraftool.client.model import NodeAnswer
from kraftool.net.connection import Connection, connect
from kraftool.net.errors import Failure, NetError, RequestTimeoutError
from kraftool.raft.names import Endpoint
from kraftool.watching.lateness import LATE_S, Lateness

PATIENCE_S = 0.8
"""How long a poll waits for a node. Within a second there is to be a picture."""
_OVERDUE = 1.5
"""An answer is overdue after this many times the longest of the last ones: on a slow path each of
them comes late, and none is missing."""
_TIMES = 10
LONGEST_BACKOFF_S = 10.0
AGREE_EVERY = 5
"""Looks between two questions for the features, which change rarely."""


@dataclass(slots=True)
class _Node:
    """The memory of an endpoint."""

    connection: Connection | None = None
    polls: int = 0
    failures: int = 0
    not_before: float = 0.0
    last: NodeAnswer | None = None
    asking: asyncio.Task[NodeAnswer] | None = None
    asked_s: float = 0.0
    """When the question went out that has no answer yet."""
    took_s: deque[float] = field(default_factory=lambda: deque(maxlen=_TIMES))
    """How long the last answers took."""


@dataclass(slots=True)
class Pool:
    """The nodes of a quorum, by endpoint. `ask` is an `Asking` of the survey."""

    patience_s: float | None = PATIENCE_S
    """Seconds that a poll waits for a node; None for as long as its timeout allows."""
    lateness: Lateness = field(default_factory=Lateness)
    _nodes: dict[Endpoint, _Node] = field(default_factory=dict)

    async def ask(
        self,
        endpoint: Endpoint,
        access: Access,
        *,
        node_id: int | None = None,
        server_name: str | None = None,
    ) -> NodeAnswer:
        """Return the node's answer, or its last one if it was down a moment ago or is slow."""
        node = self._nodes.setdefault(endpoint, _Node())
        came_late = False
        if node.asking is not None and node.asking.done():
            self._take(node)
            # What takes longer than a poll is asked again at once, and not waited for.
            came_late = self.patience_s is not None and node.took_s[-1] > self.patience_s
        if node.asking is None:
            if node.last is not None and _now() < node.not_before:
                return _known_as(node.last, node_id)
            node.asked_s = _now()
            node.asking = asyncio.create_task(self._ask(node, endpoint, access, server_name))
        if not came_late:
            # Asking goes on when this poll does not wait for it any longer.
            await asyncio.wait((node.asking,), timeout=self.patience_s)
            if node.asking.done():
                self._take(node)
        return _known_as(self._seen(node, endpoint), node_id)

    def _take(self, node: _Node) -> None:
        assert node.asking is not None, "the caller has a question"
        node.last, node.asking = node.asking.result(), None
        node.took_s.append(node.last.took_ms / 1000)

    def _seen(self, node: _Node, endpoint: Endpoint) -> NodeAnswer:
        """Return what is known of a node now: its answer, or the last one and for how long the
        next one is overdue."""
        waited_s = 0.0 if node.asking is None else _now() - node.asked_s
        waited_ms = round(waited_s * 1000)
        if node.last is None:
            return NodeAnswer(
                endpoint=endpoint,
                asked_ms=int(time.time() * 1000),
                is_reached=False,
                waiting_ms=waited_ms,
                problem=f"{endpoint} has not answered yet",
            )
        expected_s = _OVERDUE * max(node.took_s, default=0.0)
        is_overdue = waited_s >= max(self.patience_s or 0.0, expected_s)
        if node.asking is None or not node.last.is_reached or not is_overdue:
            return node.last
        return replace(node.last, waiting_ms=waited_ms)

    async def _ask(
        self, node: _Node, endpoint: Endpoint, access: Access, server_name: str | None
    ) -> NodeAnswer:
        began_s = _now()
        while True:
            asked_s = _now()
            answer = NodeAnswer(endpoint=endpoint, asked_ms=int(time.time() * 1000))
            try:
                answer = await self._answer(node, answer, access, server_name)
                node.failures = 0
                break
            except NetError as error:
                await _close(node)
                late_s = self.lateness.since(asked_s)
                enough_s = max(LATE_S, access.timeout_s / 4)
                if error.failure is Failure.TIMED_OUT and late_s >= enough_s:
                    continue  # This process was late, which says nothing about the node.
                answer = unasked(answer, error)
                if node.last is not None and node.last.is_broker:
                    # A broker that is down stays a broker, not an unknown node of the quorum.
                    answer = replace(answer, offered=node.last.offered)
                node.failures += 1
                # The first tries follow at once, as a restart is soon over.
                more = node.failures - 3
                node.not_before = _now() + (min(2.0**more, LONGEST_BACKOFF_S) if more >= 0 else 0)
                break
        return replace(answer, took_ms=round((_now() - began_s) * 1000))

    async def _answer(
        self, node: _Node, answer: NodeAnswer, access: Access, server_name: str | None
    ) -> NodeAnswer:
        """Over the connection that is there; where that was closed meanwhile, over a new one."""
        if node.connection is not None and node.connection.is_open:
            try:
                if node.polls % AGREE_EVERY == 0:
                    await _agree(node.connection, access.timeout_s)
                node_answer = replace(answer, offered=node.connection.offered)
                node_answer = await answered(node.connection, node_answer, access.timeout_s)
            except RequestTimeoutError:
                raise  # Another connection would be waited for as long again.
            except NetError:
                pass
            else:
                node.polls += 1
                return node_answer
        await _close(node)
        node.connection = await connect(
            answer.endpoint,
            access.security,
            CLIENT_ID,
            timeout_s=access.timeout_s,
            server_name=server_name,
        )
        node.polls = 1
        answer = replace(answer, offered=node.connection.offered)
        return await answered(node.connection, answer, access.timeout_s)

    async def close(self) -> None:
        """End all that goes on."""
        for node in self._nodes.values():
            if node.asking is not None:
                node.asking.cancel()
                with suppress(asyncio.CancelledError):
                    await node.asking
            await _close(node)
        self._nodes.clear()


async def _agree(connection: Connection, timeout_s: float) -> None:
    """Ask for the features again. Raises NetError."""
    try:
        async with asyncio.timeout(timeout_s):
            await connection.agree()
    except TimeoutError:
        raise RequestTimeoutError(
            f"{connection.endpoint}: no answer to ApiVersions within {timeout_s:g} s",
            failure=Failure.TIMED_OUT,
        ) from None


def _now() -> float:
    return time.monotonic()


async def _close(node: _Node) -> None:
    if node.connection is not None:
        await node.connection.close()
        node.connection = None


def _known_as(answer: NodeAnswer, node_id: int | None) -> NodeAnswer:
    return answer if answer.node_id is not None else replace(answer, node_id=node_id)
