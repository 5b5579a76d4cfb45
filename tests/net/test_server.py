"""The serving side: what it answers, what ends a connection, and what it survives."""

from __future__ import annotations

import asyncio
import socket

import pytest

from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame, decode_response, encode_request
from kraftool.net.connection import connect
from kraftool.net.errors import DisconnectedError, NetError, RequestTimeoutError, UnsupportedError
from kraftool.net.guests import Limits, Listener
from kraftool.net.server import Peer, Server
from tests.net.serving import KNOWN, answer_to, framed, plain, serving, until

pytestmark = pytest.mark.slow

DESCRIBE: Value = {"topics": []}


def _request(name: str, version: int, body: Value, correlation_id: int = 5) -> bytes:
    return framed(
        encode_request(
            RequestFrame(
                name=name,
                version=version,
                correlation_id=correlation_id,
                client_id="test",
                body=body,
            )
        )
    )


VERSIONS = _request(
    "ApiVersions", 4, {"clientSoftwareName": "test", "clientSoftwareVersion": "1"}, 1
)


def test_both_sides_agree_on_versions_and_features() -> None:
    async def run() -> None:
        async with serving() as (_, where):
            connection = await connect(where)
            assert connection.offered.apis["DescribeQuorum"] == (0, 2)
            assert connection.offered.supported == {"kraft.version": (0, 1)}
            assert connection.offered.finalized_epoch == 7
            assert connection.offered.version("DescribeQuorum") == 2
            assert connection.offered.version("DescribeQuorum", (0, 1)) == 1
            with pytest.raises(UnsupportedError):
                connection.offered.version("Vote")
            with pytest.raises(UnsupportedError):
                connection.offered.version("DescribeQuorum", (3, 9))
            await connection.close()

    asyncio.run(run())


def test_apis_of_sasl_are_offered_so_that_java_clients_frame_their_tokens() -> None:
    async def run() -> None:
        async with serving() as (_, where):
            connection = await connect(where)
            assert connection.offered.apis["SaslHandshake"] == (0, 1)
            assert connection.offered.apis["SaslAuthenticate"] == (0, 2)
            body = await connection.request("SaslHandshake", 1, {"mechanism": "PLAIN"})
            assert body["errorCode"] == 34, "nobody has to log in"
            await connection.close()

    asyncio.run(run())


def test_requests_that_are_sent_at_once_are_answered_in_their_order() -> None:
    async def slow_first(peer: Peer, request: RequestFrame) -> Value | None:
        if request.name == "DescribeQuorum" and request.correlation_id == 2:
            await asyncio.sleep(0.2)
        answer = await plain(peer, request)
        assert answer is not None
        return (
            {**answer, "errorMessage": str(request.correlation_id)}
            if "topics" in answer
            else answer
        )

    async def run() -> None:
        async with serving(slow_first) as (_, where):
            connection = await connect(where)
            answers = await asyncio.gather(
                *(connection.request("DescribeQuorum", None, DESCRIBE) for _ in range(20))
            )
            assert [answer["errorMessage"] for answer in answers] == [str(n) for n in range(2, 22)]
            await connection.close()

    asyncio.run(run())


def test_an_unknown_version_of_api_versions_is_answered_in_version_0() -> None:
    async def run() -> None:
        async with serving() as (_, where):
            newer = bytearray(VERSIONS)
            newer[6:8] = (9).to_bytes(2, "big")
            reader, writer = await asyncio.open_connection(*where)
            writer.write(newer)
            size = int.from_bytes(await reader.readexactly(4), "big")
            answer = decode_response(await reader.readexactly(size), "ApiVersions", 0)
            assert answer.body["errorCode"] == 35
            listed = [
                (e["apiKey"], e["minVersion"], e["maxVersion"]) for e in answer.body["apiKeys"]
            ]
            assert listed == [(18, 0, 4)]
            writer.write(VERSIONS)
            size = int.from_bytes(await reader.readexactly(4), "big")
            again = decode_response(await reader.readexactly(size), "ApiVersions", 4)
            assert again.body["errorCode"] == 0, "the connection goes on"
            writer.close()

    asyncio.run(run())


def test_a_client_asks_again_in_a_version_that_the_node_has() -> None:
    async def run() -> None:
        listener = Listener(name="C", host="127.0.0.1", port=0)
        server = Server([listener], plain, {**KNOWN, "ApiVersions": (0, 2)})
        await server.start()
        connection = await connect(server.bound["C"])
        assert connection.offered.apis["DescribeQuorum"] == (0, 2)
        assert connection.offered.supported == {}, "version 2 tells of no features"
        await connection.close()
        await server.close()

    asyncio.run(run())


def test_software_without_a_proper_name_is_refused() -> None:
    async def run() -> None:
        async with serving() as (_, where):
            odd = _request(
                "ApiVersions", 4, {"clientSoftwareName": "-", "clientSoftwareVersion": "1"}
            )
            reader, writer = await asyncio.open_connection(*where)
            writer.write(odd)
            size = int.from_bytes(await reader.readexactly(4), "big")
            answer = decode_response(await reader.readexactly(size), "ApiVersions", 4)
            assert answer.body["errorCode"] == 42
            writer.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xff\xff\xff\xff", id="a negative size"),
        pytest.param(b"\x7f\xff\xff\xff", id="an absurd size"),
        pytest.param(b"\x00\x00\x00\x00", id="an empty frame"),
        pytest.param(framed(b"\x00\x12"), id="half a header"),
        pytest.param(framed(b"\x00\x12\x00\x04\x00\x00\x00\x01\xff\xff"), id="no body"),
        pytest.param(framed(VERSIONS[4:] + b"\x00"), id="a byte too many"),
        pytest.param(framed(b"\x7f\xff\x00\x00\x00\x00\x00\x01\xff\xff"), id="an unknown api"),
        pytest.param(_request("Vote", 2, {"topics": []}), id="an api that is not served"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", id="HTTP"),
        pytest.param(bytes.fromhex("16030100050100000100"), id="TLS"),
    ],
)
def test_what_cannot_be_answered_ends_the_connection_and_nothing_else(data: bytes) -> None:
    async def run() -> None:
        limits = Limits(patience_s=0.3)
        async with serving(limits=limits) as (_, where):
            assert await answer_to(where, data) == b""
            connection = await connect(where)
            await connection.close()

    asyncio.run(run())


def test_a_version_that_is_not_served_ends_the_connection() -> None:
    async def run() -> None:
        listener = Listener(name="C", host="127.0.0.1", port=0)
        server = Server([listener], plain, {**KNOWN, "DescribeQuorum": (0, 1)})
        await server.start()
        assert await answer_to(server.bound["C"], _request("DescribeQuorum", 2, DESCRIBE)) == b""
        await server.close()

    asyncio.run(run())


def test_a_handler_that_fails_ends_its_connection_and_no_other() -> None:
    async def failing(peer: Peer, request: RequestFrame) -> Value | None:
        if request.name == "DescribeCluster":
            raise RuntimeError("a bug")
        return await plain(peer, request)

    async def run() -> None:
        async with serving(failing) as (_, where):
            well, ill = await connect(where), await connect(where)
            with pytest.raises(DisconnectedError):
                await ill.request("DescribeCluster", None, {})
            assert not ill.is_open
            assert (await well.request("DescribeQuorum", None, DESCRIBE))["errorCode"] == 41
            await well.close()
            await ill.close()

    asyncio.run(run())


def test_a_slow_sender_is_cut_off() -> None:
    async def run() -> None:
        limits = Limits(patience_s=0.2, max_first_bytes=10 << 20)
        async with serving(limits=limits) as (server, where):
            loop = asyncio.get_running_loop()
            began = loop.time()
            assert await answer_to(where, VERSIONS[:10]) == b""
            assert loop.time() - began < 3
            large = (10 << 20).to_bytes(4, "big") + bytes(1000)
            assert await answer_to(where, large) == b""
            await until(lambda: server.connections == 0)

    asyncio.run(run())


def test_an_idle_connection_ends() -> None:
    async def run() -> None:
        async with serving(limits=Limits(idle_s=0.2)) as (_, where):
            assert await answer_to(where) == b""

    asyncio.run(run())


def test_an_announced_size_keeps_nobody_else_waiting() -> None:
    async def run() -> None:
        limits = Limits(patience_s=1.5, buffered_bytes=1 << 20, max_first_bytes=64 << 20)
        async with serving(limits=limits) as (_, where):
            claims = [answer_to(where, (50 << 20).to_bytes(4, "big")) for _ in range(20)]
            waiting = asyncio.gather(*claims)
            connection = await connect(where)
            large = {"topics": [{"topicName": "x" * 300_000, "partitions": []}]}
            answer = await connection.request("DescribeQuorum", None, large, 10)
            assert answer["errorCode"] == 41
            await connection.close()
            assert await waiting == [b""] * 20

    asyncio.run(run())


def test_large_frames_that_fill_the_memory_allowed_give_way() -> None:
    async def run() -> None:
        limits = Limits(patience_s=1.5, buffered_bytes=1 << 20, max_first_bytes=64 << 20)
        async with serving(limits=limits) as (_, where):
            half = (50 << 20).to_bytes(4, "big") + bytes(900_000)
            assert await asyncio.gather(*(answer_to(where, half) for _ in range(5))) == [b""] * 5
            connection = await connect(where)
            large = {"topics": [{"topicName": "x" * 300_000, "partitions": []}]}
            assert (await connection.request("DescribeQuorum", None, large, 10))["errorCode"] == 41
            await connection.close()

    asyncio.run(run())


def test_among_too_many_the_silent_ones_go_first() -> None:
    async def run() -> None:
        async with serving(limits=Limits(max_connections=20)) as (server, where):
            known = await connect(where)
            crowd = [await asyncio.open_connection(*where) for _ in range(100)]
            await asyncio.sleep(0.1)
            assert server.connections <= 20
            assert (await known.request("DescribeQuorum", None, DESCRIBE, 30))["errorCode"] == 41
            late = await connect(where)
            assert (await late.request("DescribeQuorum", None, DESCRIBE, 30))["errorCode"] == 41
            await known.close()
            await late.close()
            for _, writer in crowd:
                writer.transport.abort()

    asyncio.run(run())


def test_one_host_has_no_more_connections_than_it_may() -> None:
    async def run() -> None:
        async with serving(limits=Limits(max_connections_per_ip=2)) as (server, where):
            first, second = await connect(where), await connect(where)
            with pytest.raises(NetError):
                await connect(where, timeout_s=2)
            await first.close()
            await until(lambda: server.connections < 2)
            third = await connect(where)
            await second.close()
            await third.close()
            assert server.limits.max_connections_per_ip == 2

    asyncio.run(run())


def test_thousands_of_connections_leave_the_others_served() -> None:
    async def run() -> None:
        limits = Limits(max_connections=300, max_silent_per_ip=1000)
        async with serving(limits=limits) as (server, where):
            known = await connect(where)
            for _ in range(10):
                crowd = []
                for _ in range(200):
                    client = socket.socket()
                    client.setblocking(False)
                    client.connect_ex(tuple(where))
                    crowd.append(client)
                answer = await known.request("DescribeQuorum", None, DESCRIBE, 30)
                assert answer["errorCode"] == 41
                assert server.connections <= 300
                for opened in crowd:
                    opened.close()
            await known.close()

    asyncio.run(run())


def test_a_request_without_an_answer_in_time_ends_the_connection() -> None:
    async def silent(peer: Peer, request: RequestFrame) -> Value | None:
        if request.name != "ApiVersions":
            await asyncio.sleep(30)
        return await plain(peer, request)

    async def run() -> None:
        async with serving(silent) as (_, where):
            connection = await connect(where)
            with pytest.raises(RequestTimeoutError):
                await connection.request("DescribeQuorum", None, DESCRIBE, 0.1)
            assert not connection.is_open, "the next answer would be late as well"
            with pytest.raises(RequestTimeoutError):
                await connection.request("DescribeQuorum", None, DESCRIBE, 0.1)
            await connection.close()

    asyncio.run(run())


def test_a_port_that_is_taken_is_told() -> None:
    async def run() -> None:
        async with serving() as (_, where):
            listener = Listener(name="OTHER", host=where.host, port=where.port)
            with pytest.raises(NetError, match=r"listener OTHER cannot listen on .* in use"):
                await Server([listener], plain, KNOWN).start()

    asyncio.run(run())
