"""The node's connections to others: what the core wants sent goes out, what comes back is posted.

Owns one connection for each destination, and what the core is told where there is no answer. The
core asks one thing at a time of a destination, and waits no longer than its request timeout; an
answer that comes after that is dropped by the core, and the connection is given up, since the next
answer on it would be late as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import Any

from kraftool.decoders.error_codes import Error
from kraftool.decoders.errors import DecodeError
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.net.api_versions import Range
from kraftool.net.connection import Connection
from kraftool.net.errors import (
    AuthenticationError,
    ConnectError,
    DisconnectedError,
    NetError,
    UnsupportedError,
)
from kraftool.net.lines import Limit
from kraftool.node.narration import say
from kraftool.node.runner import Runner
from kraftool.raft.events import ResponseReceived, Send
from kraftool.raft.messages import (
    ANSWERED_BY,
    ApiVersionsRequest,
    ApiVersionsResponse,
    Response,
)
from kraftool.raft.names import Endpoint, VersionRange
from kraftool.raft.wire import requests, responses
from kraftool.raft.wire.shapes import NotSendable

Connect = Callable[[Endpoint], Coroutine[Any, Any, Connection]]


class _Line:
    """The one connection to a destination, from the moment that it is being made."""

    def __init__(self, endpoint: Endpoint, connecting: asyncio.Task[Connection]) -> None:
        self.endpoint, self._connecting = endpoint, connecting

    @property
    def is_usable(self) -> bool:
        """True while it is being made, and while it is open."""
        made = self._connecting
        if not made.done():
            return True
        return not made.cancelled() and made.exception() is None and made.result().is_open

    @property
    def offered(self) -> Mapping[str, Range]:
        """The requests that the other side offers; none until it has said so."""
        made = self._connecting
        if not made.done() or made.cancelled() or made.exception() is not None:
            return {}
        return made.result().offered.apis

    async def connection(self) -> Connection:
        """Return the connection. A caller that is cancelled leaves it to the others."""
        await asyncio.wait({self._connecting})
        if self._connecting.cancelled():
            raise DisconnectedError("the connection was given up for a newer one")
        return self._connecting.result()

    async def close(self) -> None:
        self._connecting.cancel()
        await asyncio.wait({self._connecting})
        if not self._connecting.cancelled() and self._connecting.exception() is None:
            await self._connecting.result().close()


class Peers:
    """Carries requests. A failure is an answer too, with Kafka's error for it."""

    def __init__(self, runner: Runner, connect: Connect) -> None:
        self._runner, self._connect = runner, connect
        self._lines: dict[int, _Line] = {}
        """By destination: requests that are sent at once share one connection."""
        self._carrying: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._silent: set[int] = set()
        """Destinations that were said to be out of reach."""

    def send(self, effect: Send) -> None:
        """Carry a request; nothing is carried after `close`."""
        if not self._is_closed:
            _start(self._carry(effect), self._carrying)

    def offering_more(self, than: Collection[str]) -> frozenset[int]:
        """The nodes that this one is connected to and that offer requests which it does not."""
        offered = {node_id: line.offered for node_id, line in self._lines.items()}
        return frozenset(
            node_id for node_id, apis in offered.items() if not apis.keys() <= set(than)
        )

    async def close(self) -> None:
        self._is_closed = True
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)
        for destination in list(self._lines):
            self._drop(destination)
        await asyncio.gather(*self._closing, return_exceptions=True)

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
            response = answer(top_error=Error.NETWORK_EXCEPTION)
        self._runner.post(
            ResponseReceived(
                source_id=effect.destination_id,
                correlation_id=effect.correlation_id,
                response=response,
            )
        )

    async def _asked(self, effect: Send) -> Response:
        connection = await self._line(effect).connection()
        try:
            return await self._answer(effect, connection)
        except (UnsupportedError, NotSendable):
            raise
        except (NetError, DecodeError, OSError):
            await connection.close()  # the next answer on it would be late, or wrong, as well
            raise

    async def _answer(self, effect: Send, connection: Connection) -> Response:
        request, timing = effect.request, self._runner.settings.timing
        patience_s = timing.request_timeout_ms / 1000
        if isinstance(request, ApiVersionsRequest):
            levels = connection.offered.supported.get(KRAFT_VERSION)
            return ApiVersionsResponse(
                kraft_version=None if levels is None else VersionRange(*levels),
                runs_controller=connection.offered.runs_controller,
            )
        name = requests.NAMES[type(request)]
        version = connection.offered.version(name)
        body: dict[str, Any] = await connection.request(
            name, version, requests.to_kafka(request, version), timeout_s=patience_s
        )
        return responses.from_kafka(name, body, self._runner.settings.default_listener)

    def _line(self, effect: Send) -> _Line:
        """Return the connection to the destination, or begin to make one.

        It does not wait: between the look and the beginning no other request has its turn.
        """
        line = self._lines.get(effect.destination_id)
        if line is None or line.endpoint != effect.endpoint or not line.is_usable:
            self._drop(effect.destination_id)  # a node that moved leaves one to its old endpoint
            connecting = asyncio.get_running_loop().create_task(self._connect(effect.endpoint))
            line = self._lines[effect.destination_id] = _Line(effect.endpoint, connecting)
        return line

    def _drop(self, destination: int) -> None:
        line = self._lines.pop(destination, None)
        if line is not None:
            _start(line.close(), self._closing)

    def _unreachable(self, effect: Send, error: Exception) -> None:
        """Say it once, until the destination has answered again."""
        if effect.destination_id not in self._silent:
            self._silent.add(effect.destination_id)
            say(
                "no answer",
                logging.WARNING,
                limit=Limit(key=(effect.destination_id, effect.endpoint)),
                **_destination(effect),
                reason=str(error),
            )

    def _reachable(self, effect: Send) -> None:
        if effect.destination_id in self._silent:
            self._silent.discard(effect.destination_id)
            limit = Limit(key=(effect.destination_id, effect.endpoint))
            say("answers again", limit=limit, **_destination(effect))


def _start(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
    """Run it as a task that is kept until it is done."""
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


def _destination(effect: Send) -> dict[str, Any]:
    """Return whom it was for. Servers of the configuration have no id before they answer."""
    endpoint = str(effect.endpoint)
    if effect.destination_id < 0:
        return {"bootstrapServer": endpoint}
    return {"node": effect.destination_id, "endpoint": endpoint}
