"""A proxy before a peer, in the test's own process: it is slow, refuses connections, or is silent.

The peer itself stays as it is. So a test sees a slow path, a stopped process or a paused one
without the rights and the time that namespaces and real processes need.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from kraftool.raft.names import Endpoint
from tests.support.ports import HOST

_PIECE = 1 << 16


class PeerProxy:
    """Passes bytes on, until the test says otherwise. Made by `proxied`."""

    def __init__(self, peer: Endpoint, round_trip_s: float | None) -> None:
        self.peer = peer
        self.round_trip_s = round_trip_s or 0.0
        """How much longer each question and its answer are under way, together."""
        self.is_silent = round_trip_s is None
        """Connections are accepted and nothing comes back, as of a paused process."""
        self.endpoint = Endpoint(HOST, 0)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def accept(self) -> None:
        """Listen, again at the same place after `refuse`."""
        self._server = await asyncio.start_server(self._serve, HOST, self.endpoint.port)
        self.endpoint = Endpoint(HOST, self._server.sockets[0].getsockname()[1])

    async def refuse(self) -> None:
        """End all connections, and refuse new ones, as where no process runs."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            # Python 3.11 prints a traceback for a connection whose task was cancelled.
            with suppress(OSError, asyncio.CancelledError):
                await self._pass_on(reader, writer)
        finally:
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer_reader, peer_writer = await asyncio.open_connection(*self.peer)
        try:
            async with asyncio.TaskGroup() as group:
                there = group.create_task(self._carry(reader, peer_writer))
                back = group.create_task(self._carry(peer_reader, writer))
                await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
                there.cancel()
                back.cancel()
        finally:
            peer_writer.transport.abort()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Each piece is late for itself: those that follow it need not wait longer for it."""
        loop = asyncio.get_running_loop()
        late: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, data = await late.get()
                await asyncio.sleep(due - loop.time())
                if not self.is_silent:
                    sink.write(data)
                    await sink.drain()
                if not data:
                    return

        delivering = loop.create_task(deliver())
        try:
            with suppress(ConnectionError):
                while data := await source.read(_PIECE):
                    late.put_nowait((loop.time() + self.round_trip_s / 2, data))
            late.put_nowait((loop.time() + self.round_trip_s / 2, b""))
            with suppress(ConnectionError):
                await delivering
        finally:
            delivering.cancel()


@asynccontextmanager
async def proxied(peer: Endpoint, round_trip_s: float | None = 0.0) -> AsyncIterator[PeerProxy]:
    """A proxy before a peer, gone afterwards; None for one that is silent."""
    proxy = PeerProxy(peer, round_trip_s)
    await proxy.accept()
    try:
        yield proxy
    finally:
        await proxy.refuse()
