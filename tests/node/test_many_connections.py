"""Thousands of connections that want nothing, or take for ever: a node goes on doing its work."""

from __future__ import annotations

import asyncio
import os
import struct
from pathlib import Path

import pytest

from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import RequestFrame, encode_request
from kraftool.net.guests import Limits
from tests.node.processes import Pair, allow_files, end, fetched_ms, pair

pytestmark = pytest.mark.slow

IS_LONG = bool(os.environ.get("KRAFTOOL_SOAK"))
COUNT = 3_000 if IS_LONG else 300
ROUNDS = 40 if IS_LONG else 10
OWN = 20  # of its own to its leader and from it, which come and go meanwhile
ASK_VERSIONS = encode_request(
    RequestFrame(name="ApiVersions", version=0, correlation_id=1, client_id="many", body={})
)
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def opened(quorum: Pair, count: int) -> list[Stream]:
    """Connections to the follower, a hundred at a time."""
    host, port = quorum.follower.endpoint
    connections: list[Stream] = []
    while len(connections) < count:
        some = min(100, count - len(connections))
        connections += await asyncio.gather(
            *(asyncio.open_connection(host, port) for _ in range(some))
        )
    return connections


async def trickle(writers: list[asyncio.StreamWriter]) -> None:
    """A frame of a kilobyte from each, byte for byte, which the node does not wait for."""
    for writer in writers:
        writer.write(struct.pack(">i", 1024))
    while True:
        await asyncio.sleep(0.5)
        for writer in writers:
            if not writer.transport.is_closing():
                writer.write(b"\0")


async def greeted(stream: Stream) -> None:
    """Ask for the versions, and say nothing more."""
    reader, writer = stream
    writer.write(struct.pack(">i", len(ASK_VERSIONS)) + ASK_VERSIONS)
    [size] = struct.unpack(">i", await reader.readexactly(4))
    await reader.readexactly(size)


async def greeting(quorum: Pair, count: int) -> list[Stream]:
    """Connections that have asked for the versions. A hundred at a time are silent."""
    streams: list[Stream] = []
    while len(streams) < count:
        some = await opened(quorum, min(100, count - len(streams)))
        await asyncio.gather(*map(greeted, some))
        streams += some
    return streams


def test_a_node_answers_and_follows_its_leader_among_idle_and_slow_connections(
    tmp_path: Path,
) -> None:
    files = allow_files(COUNT + 1_000)
    assert files >= COUNT + 500, "the system allows too few open files (ulimit -n)"

    async def run() -> None:
        async with pair(tmp_path) as quorum:
            before = await quorum.followed()
            follower, idle_files = quorum.follower, quorum.follower.files()
            third = COUNT // 3
            streams = await greeting(quorum, third)
            stay = third + min(2 * third, Limits().max_silent_per_ip)
            streams += await opened(quorum, COUNT - third)
            writers = [writer for _, writer in streams[third : 2 * third]]
            slow = asyncio.get_running_loop().create_task(trickle(writers))

            async def are_in() -> bool:
                return follower.files() >= idle_files + stay - OWN

            await quorum.until("all of them to be in", are_in)
            heard = fetched_ms(await quorum.leader.describe())
            for _ in range(ROUNDS):
                assert (await follower.describe())["errorCode"] == Error.NOT_LEADER_OR_FOLLOWER
            kept = follower.files() - idle_files
            assert kept >= stay - third - OWN, "nobody else is sent away for it"

            async def was_heard() -> bool:
                return fetched_ms(await quorum.leader.describe()) > heard

            await quorum.until("the follower to fetch meanwhile", was_heard)
            slow.cancel()
            for _, writer in streams:
                writer.transport.abort()

            async def are_gone() -> bool:
                return follower.files() < idle_files + 50

            await quorum.until("what they took to be given back", are_gone)
            after = await quorum.followed()
            assert after["leaderEpoch"] == before["leaderEpoch"], "its leader was not lost"
            assert await end(follower) == 0
            assert "WARNING" not in follower.said.partition(" Follower ")[2]

    asyncio.run(run())
