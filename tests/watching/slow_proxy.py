"""A proxy in the process of the test, before one node: it is slow, or it forwards nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from kraftool.raft.names import Endpoint


@asynccontextmanager
async def slow_proxy(to: Endpoint, round_trip_s: float | None) -> AsyncIterator[Endpoint]:
    """Forward what comes, half of the round trip late each way; None forwards nothing."""
    tasks: set[asyncio.Task[None]] = set()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pending: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        async def read() -> None:
            while data := await reader.read(1 << 16):
                await pending.put((loop.time(), data))
            await pending.put((loop.time(), b""))

        reading = asyncio.create_task(read())
        tasks.add(reading)
        assert round_trip_s is not None
        while True:
            came_s, data = await pending.get()
            await asyncio.sleep(came_s + round_trip_s / 2 - loop.time())
            if not data:
                break
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if round_trip_s is None:
            await asyncio.Event().wait()
        there = await asyncio.open_connection(to.host, to.port)
        for ends in ((reader, there[1]), (there[0], writer)):
            task = asyncio.create_task(forward(*ends))
            tasks.add(task)

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await task
