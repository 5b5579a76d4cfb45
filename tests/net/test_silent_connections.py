"""Connections that have not sent a whole request: how many an address has, and what they keep."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame, encode_request
from kraftool.net.connection import connect
from kraftool.net.guests import ConnectionLimit, Limits
from tests.net.serving import answer_to, framed, serving, until

DESCRIBE: Value = {"topics": []}
VERSIONS = framed(
    encode_request(
        RequestFrame(name="ApiVersions", version=0, correlation_id=1, client_id="", body={})
    )
)
LARGE: Value = {"topics": [{"topicName": "x" * 30_000, "partitions": []}] * 10}
_KEPT = """
import asyncio
import gc
from kraftool.net.framing import read_frame

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) >> 10

async def unfinished():
    reader = asyncio.StreamReader(limit=1 << 16)
    reading = asyncio.ensure_future(read_frame(reader, 1 << 30, idle_s=None, patience_s=60))
    reader.feed_data((99 << 20).to_bytes(4, "big"))
    for _ in range(80):
        reader.feed_data(bytes(64 << 10))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    return reading

async def main():
    before = resident()
    readings = [await unfinished() for _ in range(20)]
    pins = [bytes(64 << 10) for _ in range(20)]
    during = resident()
    for reading in readings:
        reading.cancel()
    await asyncio.gather(*readings, return_exceptions=True)
    del reading, readings
    gc.collect()
    print(during - before, resident() - before)

asyncio.run(main())
"""


def test_the_oldest_silent_connection_of_an_address_gives_way_and_nobody_else() -> None:
    async def run() -> None:
        async with serving(limits=Limits(max_silent_per_ip=3)) as (server, where):
            known = await connect(where)
            other = await asyncio.open_connection(*where, local_addr=("127.0.0.2", 0))
            await until(lambda: server.connections == 2)
            crowd = []
            for _ in range(5):
                crowd.append(await asyncio.open_connection(*where))
                crowd[-1][1].write(b"\0")
            assert await asyncio.gather(*(reader.read() for reader, _ in crowd[:2])) == [b"", b""]
            await until(lambda: server.connections == 5)
            assert server.guests.refused[ConnectionLimit.SILENT_PER_IP] == 2
            late = await connect(where)
            for connection in (known, late):
                answer = await connection.request("DescribeQuorum", None, DESCRIBE, 30)
                assert answer["errorCode"] == 41
                await connection.close()
            other[1].write(VERSIONS)
            assert await other[0].readexactly(4)
            for _, writer in (*crowd, other):
                writer.transport.abort()

    asyncio.run(run())


def test_a_connection_that_sent_a_request_counts_no_more_among_the_silent_ones() -> None:
    async def run() -> None:
        async with serving(limits=Limits(max_silent_per_ip=2)) as (server, where):
            connections = [await connect(where) for _ in range(6)]
            for connection in connections:
                answer = await connection.request("DescribeQuorum", None, DESCRIBE, 30)
                assert answer["errorCode"] == 41
            assert not server.guests.refused
            for connection in connections:
                await connection.close()

    asyncio.run(run())


def test_only_the_first_request_of_a_connection_has_to_be_small() -> None:
    async def run() -> None:
        async with serving() as (server, where):
            half = (99 << 20).to_bytes(4, "big") + bytes(1 << 20)
            assert await asyncio.gather(*(answer_to(where, half) for _ in range(5))) == [b""] * 5
            connection = await connect(where)
            answer = await connection.request("DescribeQuorum", None, LARGE, 30)
            assert answer["errorCode"] == 41
            await connection.close()
            await until(lambda: server.connections == 0)

    asyncio.run(run())


if sys.platform == "linux":

    def test_the_memory_of_unfinished_frames_goes_back_to_the_system() -> None:
        """A frame in small pieces, with others between them, leaves a heap that stays as large."""
        ran = subprocess.run(
            [sys.executable, "-c", _KEPT], capture_output=True, text=True, check=True
        )
        during, after = map(int, ran.stdout.split())
        assert during >= 90, "20 frames of 5 MB were there"
        assert after < during // 2
