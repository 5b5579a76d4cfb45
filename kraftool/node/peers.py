"""The node's connections to others: what the core wants sent goes out, what comes back is posted.

Owns one connection for each destination, and what the core is told where there is no answer. The
core asks one thing at a time of a destination, and waits no longer than its request timeout; an
answer that comes after that is dropped by the core, and the connection is given up, since the next
answer on it would be late as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from kraftool.decoders.addresses import shown_address
from kraftool.decoders.errors import DecodeError
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.net.connection import Connection
from kraftool.net.errors import (
    AuthenticationError,
    ConnectError,
    NetError,
    UnsupportedError,
)
from kraftool.node.narration import say
from kraftool.node.runner import Runner
from kraftool.raft.events import ResponseReceived, Send
from kraftool.raft.messages import (
    ANSWERED_BY,
    ApiVersionsRequest,
    ApiVersionsResponse,
    Response,
)
from kraftool.raft.names import Endpoint, Error, VersionRange
from kraftool.raft.wire import requests, responses
from kraftool.raft.wire.shapes import NotSendable

Connect = Callable[[Endpoint], Awaitable[Connection]]


class Peers:
    """Carries requests. A failure is an answer too, with Kafka's error for it."""

    def __init__(self, runner: Runner, connect: Connect) -> None:
        self._runner, self._connect = runner, connect
        self._connections: dict[tuple[int, Endpoint], Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._silent: set[int] = set()
        """Destinations that were said to be out of reach."""

    def send(self, effect: Send) -> None:
        task = asyncio.get_running_loop().create_task(self._carry(effect))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for each in self._connections.values():
            await each.close()
        self._connections.clear()

    async def _carry(self, effect: Send) -> None:
        answer = ANSWERED_BY[type(effect.request)]
        response: Response
        try:
            response = await self._asked(effect)
            self._reachable(effect)
        except (UnsupportedError, NotSendable):
            response = answer(top_error=Error.UNSUPPORTED_VERSION)
        except ConnectError as error:
            self._unreachable(effect, error)
            response = answer(top_error=Error.BROKER_NOT_AVAILABLE)
        except AuthenticationError as error:
            # Not CLUSTER_AUTHORIZATION_FAILED: that ends Kafka's nodes, and passes here.
            self._unreachable(effect, error)
            response = answer(top_error=Error.NETWORK_EXCEPTION)
        except (NetError, DecodeError, OSError) as error:
            self._unreachable(effect, error)
            await self._give_up(effect)
            response = answer(top_error=Error.NETWORK_EXCEPTION)
        self._runner.post(
            ResponseReceived(
                source_id=effect.destination_id,
                correlation_id=effect.correlation_id,
                response=response,
            )
        )

    async def _asked(self, effect: Send) -> Response:
        connection = await self._connection(effect)
        request, timing = effect.request, self._runner.settings.timing
        patience_s = timing.request_timeout_ms / 1000
        if isinstance(request, ApiVersionsRequest):
            levels = connection.offered.supported.get(KRAFT_VERSION)
            return ApiVersionsResponse(
                kraft_version=None if levels is None else VersionRange(*levels)
            )
        name = requests.NAMES[type(request)]
        version = connection.offered.version(name)
        body: dict[str, Any] = await connection.request(
            name, version, requests.to_kafka(request, version), timeout_s=patience_s
        )
        return responses.from_kafka(name, body, self._runner.settings.default_listener)

    async def _connection(self, effect: Send) -> Connection:
        key = (effect.destination_id, effect.endpoint)
        found = self._connections.get(key)
        if found is None or not found.is_open:
            # A node that moved leaves a connection to where it was.
            for old in [each for each in self._connections if each[0] == effect.destination_id]:
                await self._connections.pop(old).close()
            found = self._connections[key] = await self._connect(effect.endpoint)
        return found

    async def _give_up(self, effect: Send) -> None:
        found = self._connections.pop((effect.destination_id, effect.endpoint), None)
        if found is not None:
            await found.close()

    def _unreachable(self, effect: Send, error: Exception) -> None:
        """Say it once, until the destination has answered again."""
        if effect.destination_id not in self._silent:
            self._silent.add(effect.destination_id)
            say("no answer", logging.WARNING, **_destination(effect), reason=str(error))

    def _reachable(self, effect: Send) -> None:
        if effect.destination_id in self._silent:
            self._silent.discard(effect.destination_id)
            say("answers again", **_destination(effect))


def _destination(effect: Send) -> dict[str, Any]:
    """Whom it was for. Servers of the configuration have no id before they answer."""
    endpoint = shown_address(*effect.endpoint)
    if effect.destination_id < 0:
        return {"bootstrapServer": endpoint}
    return {"node": effect.destination_id, "endpoint": endpoint}
