"""A proxy between Kafka nodes that takes down each request with its answer, and can cut nodes off.

Owns the connections, the frames and who asks whom (by the client id, which names the asking node).
It changes no byte. It runs in a thread of its own; `exchanges` may be read at any time.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeVar

from kraftool.decoders import rpc_frames

T = TypeVar("T")
HOST = "127.0.0.1"
_OF_A_NODE = re.compile(r"raft-client-(\d+)$")


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request and, once it is there, its answer; times in milliseconds of the clock."""

    asker: str
    """The client id."""
    node_id: int
    """Who was asked."""
    api_key: int
    version: int
    correlation_id: int
    request: bytes
    asked_ms: float
    response: bytes | None = None
    answered_ms: float = 0.0


@dataclass(slots=True, eq=False)
class _Link:
    """One connection through the proxy."""

    node_id: int
    asker_id: int | None = None
    waiting: deque[Exchange] = field(default_factory=deque)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)


class Proxy:
    """Ports in front of nodes: `{port of the proxy: (node id, port of the node)}`."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self._cut: frozenset[int] = frozenset()
        self._links: set[_Link] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._servers: list[asyncio.Server] = []

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def front(self, node_id: int, port: int) -> int:
        """Open a port in front of a node's; its number."""
        return self._call(self._front(node_id, port))

    def cut_off(self, *node_ids: int) -> None:
        """Break, and refuse, all connections of these nodes with others; without any: of nobody."""
        self._call(self._cut_off(frozenset(node_ids)))

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(20)

    async def _front(self, node_id: int, port: int) -> int:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(node_id, port, reader, writer)

        server = await asyncio.start_server(serve, HOST, 0)
        self._servers.append(server)
        bound_port: int = server.sockets[0].getsockname()[1]
        return bound_port

    async def _cut_off(self, node_ids: frozenset[int]) -> None:
        self._cut = node_ids
        for link in list(self._links):
            if self._is_cut(link):
                _break(link)

    def _is_cut(self, link: _Link) -> bool:
        return link.asker_id is not None and bool(self._cut & {link.asker_id, link.node_id})

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        for link in list(self._links):
            _break(link)
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(
        self,
        node_id: int,
        port: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        link = _Link(node_id)
        self._links.add(link)
        link.writers.append(writer)
        try:
            to_reader, to_writer = await asyncio.open_connection(HOST, port)
            link.writers.append(to_writer)
            await asyncio.gather(
                self._requests(link, reader, to_writer), self._responses(link, to_reader, writer)
            )
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # either side has gone, or the proxy has, and so do the others
        finally:
            self._links.discard(link)
            _break(link)

    async def _requests(
        self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            frame = await _frame(reader)
            key, version, correlation_id = rpc_frames.peek(frame)
            client = _client_id(frame)
            if match := _OF_A_NODE.match(client):
                link.asker_id = int(match[1])
            if self._is_cut(link):
                raise ConnectionResetError
            exchange = Exchange(
                asker=client,
                node_id=link.node_id,
                api_key=key,
                version=version,
                correlation_id=correlation_id,
                request=frame,
                asked_ms=time.time() * 1000,
            )
            self.exchanges.append(exchange)
            link.waiting.append(exchange)
            await _write(writer, frame)

    async def _responses(
        self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            frame = await _frame(reader)
            # Kafka answers the requests of a connection in their order.
            exchange = link.waiting.popleft()
            assert exchange.correlation_id == int.from_bytes(frame[:4], "big", signed=True)
            exchange.response, exchange.answered_ms = frame, time.time() * 1000
            await _write(writer, frame)


def _client_id(frame: bytes) -> str:
    """It follows on the fixed part of the header, in any version."""
    size = int.from_bytes(frame[8:10], "big", signed=True)
    return frame[10 : 10 + max(size, 0)].decode(errors="replace")


async def _frame(reader: asyncio.StreamReader) -> bytes:
    size = int.from_bytes(await reader.readexactly(4), "big")
    return await reader.readexactly(size)


async def _write(writer: asyncio.StreamWriter, frame: bytes) -> None:
    writer.write(len(frame).to_bytes(4, "big") + frame)
    await writer.drain()


def _break(link: _Link) -> None:
    for writer in link.writers:
        with contextlib.suppress(OSError):
            writer.close()
