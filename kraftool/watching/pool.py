"""Asks nodes again and again: over connections that stay, and the less often the longer one is
down.

Owns connections, patience and backoff. A node that takes long never holds up the others: its
question goes on in the background, and its answer counts in a later look.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace

from kraftool.client.asking import CLIENT_ID, Access, answered
from kraftool.client.failures import unasked
from kraftool.client.model import NodeAnswer
from kraftool.net.connection import Connection, connect
from kraftool.net.errors import NetError
from kraftool.raft.names import Endpoint

PATIENCE_S = 0.8
"""How long a look waits for a node. Within a second there is to be a picture."""
LONGEST_BACKOFF_S = 10.0
AGREE_EVERY = 5
"""Looks between two questions for the features, which change rarely."""


@dataclass(slots=True)
class _Node:
    """The memory of an endpoint."""

    connection: Connection | None = None
    looks: int = 0
    failures: int = 0
    not_before: float = 0.0
    last: NodeAnswer | None = None
    asking: asyncio.Task[NodeAnswer] | None = None


@dataclass(slots=True)
class Pool:
    """The nodes of a quorum, by endpoint. `ask` is an `Asking` of the survey."""

    patience_s: float = PATIENCE_S
    _nodes: dict[Endpoint, _Node] = field(default_factory=dict)

    async def ask(
        self,
        endpoint: Endpoint,
        access: Access,
        *,
        node_id: int | None = None,
        server_name: str | None = None,
    ) -> NodeAnswer:
        """Return the node's answer, or its last one if it was down a moment ago."""
        node = self._nodes.setdefault(endpoint, _Node())
        if node.asking is None:
            if node.last is not None and _now() < node.not_before:
                return _known_as(node.last, node_id)
            node.asking = asyncio.create_task(self._ask(node, endpoint, access, server_name))
        # Asking goes on when this look does not wait for it any longer.
        await asyncio.wait((node.asking,), timeout=min(self.patience_s, access.timeout_s))
        if not node.asking.done():
            waited = f"{endpoint} has not answered yet"
            if node.last is not None and not node.last.is_reached:
                return _known_as(node.last, node_id)
            return NodeAnswer(
                endpoint=endpoint,
                node_id=node_id,
                asked_ms=int(time.time() * 1000),
                is_reached=False,
                problem=waited,
            )
        node.last = node.asking.result()
        node.asking = None
        return _known_as(node.last, node_id)

    async def _ask(
        self, node: _Node, endpoint: Endpoint, access: Access, server_name: str | None
    ) -> NodeAnswer:
        began = time.monotonic()
        answer = NodeAnswer(endpoint=endpoint, asked_ms=int(time.time() * 1000))
        try:
            answer = await self._answer(node, answer, access, server_name)
            node.failures = 0
        except NetError as error:
            answer = unasked(answer, error)
            if node.last is not None and node.last.is_broker:
                # A broker that is down stays a broker, not an unknown node of the quorum.
                answer = replace(answer, offered=node.last.offered)
            await _close(node)
            node.failures += 1
            # The first tries follow at once, as a restart is soon over.
            wait_s = min(2.0 ** (node.failures - 3), LONGEST_BACKOFF_S) if node.failures > 2 else 0
            node.not_before = _now() + wait_s
        return replace(answer, took_ms=round((time.monotonic() - began) * 1000))

    async def _answer(
        self, node: _Node, answer: NodeAnswer, access: Access, server_name: str | None
    ) -> NodeAnswer:
        """Over the connection that is there; where that was closed meanwhile, over a new one."""
        if node.connection is not None and node.connection.is_open:
            with suppress(NetError):
                if node.looks % AGREE_EVERY == 0:
                    async with asyncio.timeout(access.timeout_s):
                        await node.connection.agree()
                node_answer = replace(answer, offered=node.connection.offered)
                node_answer = await answered(node.connection, node_answer, access.timeout_s)
                node.looks += 1
                return node_answer
        await _close(node)
        node.connection = await connect(
            answer.endpoint,
            access.security,
            CLIENT_ID,
            timeout_s=access.timeout_s,
            server_name=server_name,
        )
        node.looks = 1
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


def _now() -> float:
    return time.monotonic()


async def _close(node: _Node) -> None:
    if node.connection is not None:
        await node.connection.close()
        node.connection = None


def _known_as(answer: NodeAnswer, node_id: int | None) -> NodeAnswer:
    return answer if answer.node_id is not None else replace(answer, node_id=node_id)
