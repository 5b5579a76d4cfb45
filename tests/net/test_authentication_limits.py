"""Connections that do not say who they are: few may wait, for a short time, and others get in."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kraftool.net.connection import connect
from kraftool.net.guests import ConnectionLimit, Limits
from kraftool.net.security import (
    PLAIN,
    ClientSecurity,
    SaslClient,
    SaslServer,
    ServerSecurity,
)
from kraftool.net.server import Server
from kraftool.net.settings import client_security, listener_security
from kraftool.node.metrics import samples_of
from kraftool.raft.names import Endpoint
from tests.net.certificates import authority, node
from tests.net.serving import serving, until

SASL = ServerSecurity(sasl=SaslServer(plain={"admin": "secret"}))
ADMIN = ClientSecurity(
    sasl=SaslClient(mechanism=PLAIN, user="admin", password="secret"),
)


@contextmanager
def crowd(where: Endpoint, count: int, *, hosts: int = 1) -> Iterator[list[socket.socket]]:
    """Connections that send nothing, from as many addresses of loopback."""
    sockets = []
    try:
        for number in range(count):
            client = socket.socket()
            sockets.append(client)
            client.setblocking(False)
            client.bind((f"127.0.0.{number % hosts + 1}", 0))
            client.connect_ex(tuple(where))
        yield sockets
    finally:
        for opened in sockets:
            opened.close()


def refused(server: Server, limit: ConnectionLimit) -> int:
    return server.guests.refused[limit]


def tls() -> tuple[ServerSecurity, ClientSecurity]:
    trusted = authority()
    own = node(trusted)
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": own.key_pem(),
        "ssl.keystore.certificate.chain": own.pem,
    }
    client = {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": trusted.pem,
    }
    return listener_security(settings, "CONTROLLER", "SSL"), client_security(client)


def test_hundreds_of_silent_tls_connections_of_one_address_are_refused_but_twenty() -> None:
    security, client = tls()

    async def run() -> None:
        async with serving(security=security) as (server, where):
            known = await connect(where, client, timeout_s=30)
            await until(lambda: server.guests.authenticating == 0)
            with crowd(where, 300):
                await until(lambda: refused(server, ConnectionLimit.AUTHENTICATING_PER_IP) == 280)
                assert server.guests.authenticating == 20
                assert server.connections == 21, "who is in stays in"
                answer = await known.request("DescribeQuorum", None, {"topics": []}, 30)
                assert answer["errorCode"] == 41
            await until(lambda: server.guests.authenticating == 0)
            again = await connect(where, client, timeout_s=30)
            await known.close()
            await again.close()

    asyncio.run(run())


def test_many_addresses_share_a_limit_of_their_own() -> None:
    limits = Limits(max_authenticating=50, max_authenticating_per_ip=5)

    async def run() -> None:
        async with serving(security=SASL, limits=limits) as (server, where):
            with crowd(where, 200, hosts=20):
                await until(lambda: refused(server, ConnectionLimit.AUTHENTICATING) > 0)
                await until(lambda: server.guests.refused.total() == 150)
                assert server.guests.authenticating == 50 == server.connections
            await until(lambda: server.connections == 0)

    asyncio.run(run())


def test_who_waits_for_too_long_makes_room_for_a_login(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "kraftool.net")
    limits = Limits(max_authenticating_per_ip=3, authentication_s=0.5)

    async def run() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        async with serving(security=SASL, limits=limits) as (server, where):
            with crowd(where, 10):
                await until(lambda: refused(server, ConnectionLimit.AUTHENTICATING_PER_IP) == 7)
                await until(lambda: server.guests.authenticating == 0)
                logins = [await connect(where, ADMIN, timeout_s=30) for _ in range(5)]
                assert server.guests.authenticating == 0, "a login that is over does not count"
                assert server.connections == 5
                shown = {
                    (sample.name, sample.labels): sample.value
                    for sample in samples_of(server.guests)
                }
                for login in logins:
                    await login.close()
                return shown

    shown = asyncio.run(run())
    assert shown["kraftool_node_connections", ()] == 5
    assert shown["kraftool_node_connections_authenticating", ()] == 0
    limit = (("limit", "max_authenticating_per_ip"),)
    assert shown["kraftool_node_connections_refused_total", limit] == 7
    fields: list[dict[str, Any]] = [vars(record)["fields"] for record in caplog.records]
    reasons = {field["reason"] for field in fields}
    assert "more than max_authenticating_per_ip (3)" in reasons
    assert "not authenticated within 0.5 s" in reasons


def test_a_listener_that_authenticates_nobody_has_no_such_limit() -> None:
    limits = Limits(max_authenticating=1, max_authenticating_per_ip=1)

    async def run() -> None:
        async with serving(limits=limits) as (server, where):
            with crowd(where, 50):
                await until(lambda: server.connections == 50)

    asyncio.run(run())
