"""What an operator is advised to do, by what failed on the way to a node.

The nodes here close, refuse or answer as Kafka 4.3.0's listeners do.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kraftool.client.asking import Access, question
from kraftool.client.failures import AUTHORIZE, OLD_METADATA_VERSION
from kraftool.client.health import health
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net import connection
from kraftool.net.framing import read_frame
from kraftool.net.server import Peer
from kraftool.net.settings import client_security
from kraftool.net.tls import server_context
from kraftool.raft.names import Endpoint
from tests.net.certificates import Certified, authority, node
from tests.net.serving import plain, serving
from tests.support.ports import HOST

PLAINTEXT = Access(timeout_s=10)
TLS_ALERT = bytes.fromhex("15030300020250")
"""What Kafka 4.3.0's TLS listener answers to a plaintext request, before it closes."""


def _asked(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    access: Access = PLAINTEXT,
) -> NodeAnswer:
    async def run() -> NodeAnswer:
        server = await asyncio.start_server(serve, HOST, 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await question(Endpoint(HOST, port), access)

    return asyncio.run(run())


def _answering(data: bytes) -> Callable[..., Awaitable[None]]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(data)
        writer.close()

    return serve


def _certificate_advice(trusted: Certified, **of_node: Any) -> str:
    """What is advised on a node with this certificate, where an authority is trusted."""
    own = node(of_node.pop("by", trusted), **of_node)
    keys = {"ssl.keystore.type": "PEM", "ssl.keystore.key": own.key_pem()}
    server = server_context({**keys, "ssl.keystore.certificate.chain": own.pem})
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": trusted.pem}
    access = Access(security=client_security({"security.protocol": "SSL", **trust}), timeout_s=10)

    async def run() -> NodeAnswer:
        listening = await asyncio.start_server(_answering(b""), HOST, 0, ssl=server)
        async with listening:
            port = listening.sockets[0].getsockname()[1]
            return await question(Endpoint(HOST, port), access)

    answer = asyncio.run(run())
    assert not answer.is_reached
    assert "certificate is not accepted" in answer.problem
    return answer.advice


def test_each_cause_of_a_refused_certificate_has_its_own_advice() -> None:
    trusted = authority()
    expired = _certificate_advice(trusted, days=-1)
    other_name = _certificate_advice(trusted, host="elsewhere.example")
    other_address = _certificate_advice(trusted, host="192.0.2.1")
    unknown = _certificate_advice(trusted, by=authority("Another"))
    assert expired.startswith("renew the node's certificate")
    assert other_name == other_address
    assert other_name.startswith("connect by a name in the node's certificate")
    assert unknown.startswith("name a truststore")


@pytest.mark.parametrize("data", [TLS_ALERT, b""], ids=["alert", "close"])
def test_a_tls_port_asked_in_plaintext(data: bytes) -> None:
    answer = _asked(_answering(data))
    assert not answer.is_reached
    assert "is this a TLS port?" in answer.advice
    assert "--command-config" in answer.advice


def test_a_plaintext_port_asked_with_tls() -> None:
    access = Access(security=client_security({"security.protocol": "SSL"}), timeout_s=10)
    answer = _asked(_answering(b""), access)
    assert not answer.is_reached
    assert "is this a plaintext port?" in answer.advice


@pytest.mark.parametrize("error", [BrokenPipeError, ConnectionResetError, ConnectionAbortedError])
def test_a_close_while_requests_are_on_their_way(
    error: type[OSError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far they came decides what asyncio raises; the advice is that of a close."""
    read = read_frame

    async def fails_after_one(*args: Any, **named: Any) -> bytes | None:
        monkeypatch.setattr(connection, "read_frame", fails)
        return await read(*args, **named)

    async def fails(*_: Any, **__: Any) -> bytes | None:
        raise error

    async def run() -> NodeAnswer:
        async with serving(plain) as (_, where):
            monkeypatch.setattr(connection, "read_frame", fails_after_one)
            return await question(where, PLAINTEXT)

    answer = asyncio.run(run())
    assert not answer.is_reached
    assert "If this listener requires SASL" in answer.advice


def test_a_sasl_port_asked_without_a_login() -> None:
    """Kafka answers ApiVersions, and closes at anything else."""

    async def handler(peer: Peer, request: RequestFrame) -> Value | None:
        return await plain(peer, request) if request.name == "ApiVersions" else None

    async def run() -> NodeAnswer:
        async with serving(handler) as (_, where):
            return await question(where, PLAINTEXT)

    answer = asyncio.run(run())
    assert answer.problem.endswith("closed the connection")
    assert not answer.is_reached
    assert "SASL_PLAINTEXT" in answer.advice


@pytest.mark.parametrize(
    ("where", "first"),
    [
        (Endpoint(HOST, 1), "check that the process is running"),
        (Endpoint("localhost", 1), "check that the process is running"),
        (Endpoint("ctl-1.invalid", 9093), "check the name"),
    ],
)
def test_the_advice_begins_with_what_failed(where: Endpoint, first: str) -> None:
    answer = asyncio.run(question(where, PLAINTEXT))
    assert answer.advice.startswith(first)
    assert ("--resolve" in answer.advice) == where.host.endswith(".invalid")


def test_a_name_with_two_addresses_is_refused_not_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """asyncio puts the errors of both into one text without a number, with and without TLS."""
    addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{n}", 1)) for n in (1, 2)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
    tls = Access(security=client_security({"security.protocol": "SSL"}), timeout_s=10)
    for access in (PLAINTEXT, tls):
        answer = asyncio.run(question(Endpoint("two", 1), access))
        assert answer.problem == "two:1: connection refused"
        assert answer.advice.startswith("check that the process is running")


def test_a_silent_node_is_looked_for_before_the_network() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    answer = _asked(serve, Access(timeout_s=0.2))
    assert answer.advice.startswith("check that the process is running and not paused")
    assert "--resolve" not in answer.advice


REFUSALS = [
    (31, "Request Request(processor=0, …) needs ALTER permission.", AUTHORIZE),
    (
        35,
        "Direct-to-controller communication is not supported with the current MetadataVersion.",
        OLD_METADATA_VERSION,
    ),
    (-1, "The server experienced an unexpected error.", ""),
]


@pytest.mark.parametrize(("code", "message", "advice"), REFUSALS)
def test_an_authorizer_is_named_only_for_what_it_refuses(
    code: int, message: str, advice: str
) -> None:
    async def handler(peer: Peer, request: RequestFrame) -> Value | None:
        if request.name == "DescribeCluster":
            return {"errorCode": code, "errorMessage": message, "clusterId": "", "brokers": []}
        return await plain(peer, request)

    async def run() -> NodeAnswer:
        async with serving(handler) as (_, where):
            return await question(where, PLAINTEXT)

    answer = asyncio.run(run())
    assert answer.is_reached
    assert "Request(" not in answer.problem
    view = QuorumView(nodes=(answer,))
    [finding] = [
        finding for finding in health(view, view).findings if finding.code == "KT-LIVE-REFUSED"
    ]
    assert ("authorizer" in finding.advice) == (advice == AUTHORIZE)
    assert finding.advice.startswith(advice) if advice else "log" in finding.advice
