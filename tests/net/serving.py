"""What the tests of connections share: a server with a plain handler, and bytes sent to it raw."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net.guests import Limits, Listener
from kraftool.net.security import ServerSecurity
from kraftool.net.server import Peer, Server
from kraftool.raft.names import Endpoint

KNOWN = {"ApiVersions": (0, 4), "DescribeQuorum": (0, 2), "DescribeCluster": (0, 2)}
API_KEYS = {"ApiVersions": 18, "DescribeQuorum": 55, "DescribeCluster": 60}

Handler = Callable[[Peer, RequestFrame], Awaitable[Value | None]]


async def plain(peer: Peer, request: RequestFrame) -> Value | None:
    """Answers a describe with the asker's principal as its message."""
    if request.name == "ApiVersions":
        return {
            "errorCode": 0,
            "apiKeys": [
                {"apiKey": API_KEYS[name], "minVersion": low, "maxVersion": high}
                for name, (low, high) in KNOWN.items()
            ],
            "supportedFeatures": [{"name": "kraft.version", "minVersion": 0, "maxVersion": 1}],
            "finalizedFeaturesEpoch": 7,
        }
    return {"errorCode": 41, "errorMessage": peer.principal, "topics": []}


@asynccontextmanager
async def serving(
    handler: Handler = plain,
    *,
    security: ServerSecurity | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[tuple[Server, Endpoint]]:
    """A server on a free port, gone afterwards."""
    listener = Listener(
        name="CONTROLLER", host="127.0.0.1", port=0, security=security or ServerSecurity()
    )
    server = Server([listener], handler, KNOWN, limits)
    await server.start()
    try:
        yield server, server.bound["CONTROLLER"]
    finally:
        await server.close()


async def answer_to(where: Endpoint, *data: bytes, wait_s: float = 20.0) -> bytes:
    """Everything that comes back to these bytes until the other side closes."""
    reader, writer = await asyncio.open_connection(where.host, where.port)
    try:
        for piece in data:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(wait_s):
            try:
                return await reader.read()
            except ConnectionError:
                return b""
    finally:
        writer.transport.abort()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what a server notices a moment later, as who has gone."""
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
