"""The asking side: answers that fit nothing, peers that leave, peers that are not there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kraftool.decoders.rpc_frames import ResponseFrame, encode_response
from kraftool.net.connection import connect
from kraftool.net.errors import ConnectError, DisconnectedError, NetError, ProtocolViolation
from kraftool.raft.names import Endpoint
from tests.net.serving import framed

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _against(serve: Serve) -> None:
    """Connect to a peer that behaves so, and ask it something."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        where = Endpoint(*server.sockets[0].getsockname()[:2])
        connection = await connect(where, timeout_s=2)
        try:
            await connection.request("DescribeQuorum", None, {"topics": []}, 2)
        finally:
            await connection.close()
    finally:
        server.close()


def _offer(correlation_id: int) -> bytes:
    keys = [{"apiKey": 55, "minVersion": 0, "maxVersion": 2}]
    return framed(
        encode_response(
            ResponseFrame(
                name="ApiVersions",
                version=4,
                correlation_id=correlation_id,
                body={"errorCode": 0, "apiKeys": keys},
            )
        )
    )


async def _take(reader: asyncio.StreamReader) -> int:
    """Read a request; its correlation id."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    return int.from_bytes((await reader.readexactly(size))[4:8], "big")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (framed((99).to_bytes(4, "big") + b"\x00"), ProtocolViolation),
        (framed((2).to_bytes(4, "big") + b"\x00\xff"), ProtocolViolation),
        (framed(b""), ProtocolViolation),
        (b"\xff\xff\xff\xff", ProtocolViolation),
        (b"\x7f\xff\xff\xff", ProtocolViolation),
        (b"\x00\x00\x00\x10half", DisconnectedError),
        (b"", DisconnectedError),
    ],
    ids=["another id", "garbage", "empty", "negative", "absurd", "cut short", "nothing"],
)
def test_an_answer_that_is_none_ends_the_connection(answer: bytes, error: type[NetError]) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(_offer(await _take(reader)))
        await _take(reader)
        writer.write(answer)
        writer.close()

    with pytest.raises(error):
        asyncio.run(_against(serve))


def test_an_answer_that_nobody_asked_for_ends_the_connection() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        offer = _offer(await _take(reader))
        writer.write(offer + offer)
        await reader.read()
        writer.close()

    with pytest.raises(NetError):
        asyncio.run(_against(serve))


def test_whoever_accepts_and_says_nothing_is_given_up() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    with pytest.raises(ConnectError, match="within 2 s"):
        asyncio.run(_against(serve))


@pytest.mark.parametrize(
    "where",
    [
        *(Endpoint("127.0.0.1", 1), Endpoint("no.such.name.invalid", 9093), Endpoint("x" * 80, 1)),
        *(Endpoint("a\0host", 1), Endpoint("1\udcff7.0.0.1", 1), Endpoint("127.0.0.1", 70_000)),
    ],
)
def test_who_is_not_there_is_told_by_name(where: Endpoint) -> None:
    async def run() -> None:
        await connect(where, timeout_s=5)

    with pytest.raises(ConnectError, match=where.host[:20]):
        asyncio.run(run())
