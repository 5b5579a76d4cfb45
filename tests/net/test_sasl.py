"""Logins: PLAIN and SCRAM on both sides, over plain text and TLS; who does not get in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from kraftool.commands.node_log import handler
from kraftool.decoders.rpc_frames import RequestFrame, encode_request
from kraftool.image.scram import ScramCredential
from kraftool.net import scram
from kraftool.net.connection import connect
from kraftool.net.errors import AuthenticationError, NetError
from kraftool.net.guests import Limits
from kraftool.net.security import (
    PLAIN,
    ClientSecurity,
    SaslClient,
    SaslServer,
    ServerSecurity,
)
from kraftool.net.server import Peer
from kraftool.net.settings import client_security, listener_security
from tests.net.certificates import authority, node
from tests.net.serving import answer_to, framed, serving

CREDENTIALS: Mapping[tuple[str, str], ScramCredential] = {
    (mechanism, user): scram.credential(mechanism, "CANARY-secret")
    for mechanism in scram.DIGESTS
    for user in ("admin", "a=b,c")
}


def _lookup(mechanism: str, user: str) -> ScramCredential | None:
    return CREDENTIALS.get((mechanism, user))


SERVER = SaslServer(
    plain={"admin": "CANARY-secret", "a=b,c": "CANARY-secret"},
    scram=dict.fromkeys(scram.DIGESTS, _lookup),
)
LISTENER = ServerSecurity(sasl=SERVER)


def _client(mechanism: str, user: str, password: str) -> ClientSecurity:
    return ClientSecurity(
        sasl=SaslClient(mechanism=mechanism, user=user, password=password),
    )


def _principal(client: ClientSecurity, server: ServerSecurity = LISTENER) -> str:
    async def run() -> str:
        async with serving(security=server) as (_, where):
            connection = await connect(where, client, timeout_s=30)
            body = await connection.request("DescribeQuorum", None, {"topics": []}, 30)
            await connection.close()
            return str(body["errorMessage"])

    return asyncio.run(run())


@pytest.mark.parametrize("mechanism", [PLAIN, *scram.DIGESTS])
@pytest.mark.parametrize("user", ["admin", "a=b,c"])
def test_who_logs_in_is_the_user(mechanism: str, user: str) -> None:
    assert _principal(_client(mechanism, user, "CANARY-secret")) == f"User:{user}"


@pytest.mark.parametrize("mechanism", [PLAIN, *scram.DIGESTS])
@pytest.mark.parametrize(("user", "password"), [("admin", "wrong"), ("nobody", "CANARY-secret")])
def test_who_does_not_is_told_no_more_than_that(mechanism: str, user: str, password: str) -> None:
    with pytest.raises(AuthenticationError) as raised:
        _principal(_client(mechanism, user, password))
    words = {PLAIN: "Authentication failed: Invalid username or password"}
    told_by_all = f"due to invalid credentials with SASL mechanism {mechanism}"
    assert words.get(mechanism, told_by_all) in raised.value.message
    assert "CANARY" not in raised.value.message


def _failed_logins(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(record)["fields"] for record in caplog.records if record.message == "login failed"]


@pytest.mark.parametrize("mechanism", [PLAIN, *scram.DIGESTS])
@pytest.mark.parametrize("user", ["admin", "no=body,\x1b[31m\nINFO x", "u" * 5_000])
def test_a_failed_login_is_logged_with_its_user_listener_and_address(
    mechanism: str, user: str, caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[str] = []
    log_handler = handler(lines.append, as_json=False)
    with pytest.raises(AuthenticationError):
        _principal(_client(mechanism, user, "CANARY-wrong"))
    [failed] = _failed_logins(caplog)
    assert failed["listener"] == "CONTROLLER"
    assert failed["address"].startswith("127.0.0.1:")
    assert failed["mechanism"] == mechanism
    assert failed["user"] == (user if len(user) < 80 else "u" * 80 + "…")
    for record in caplog.records:
        log_handler.handle(record)
    assert len(lines) == len(caplog.records)
    assert not any("CANARY" in line or "\n" in line or "\x1b" in line for line in lines)


def test_a_login_that_names_nobody_is_logged_with_its_mechanism(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run() -> None:
        limits = Limits(failed_authentication_delay_s=0.01)
        async with serving(security=LISTENER, limits=limits) as (_, where):
            await answer_to(where, _frame("SaslHandshake", {"mechanism": "GSSAPI"}))
            await answer_to(
                where,
                _frame("SaslHandshake", {"mechanism": "PLAIN"}),
                _frame("SaslAuthenticate", {"authBytes": b"CANARY-secret"}),
            )

    asyncio.run(run())
    disabled, garbage = _failed_logins(caplog)
    assert (disabled["mechanism"], disabled["user"]) == ("GSSAPI", None)
    assert (garbage["mechanism"], garbage["user"]) == ("PLAIN", "")
    assert "CANARY" not in str(garbage)


def test_a_mechanism_that_is_not_enabled_is_told() -> None:
    server = ServerSecurity(sasl=SaslServer(plain={"admin": "x"}))
    with pytest.raises(AuthenticationError) as raised:
        _principal(_client("SCRAM-SHA-256", "admin", "x"), server)
    assert raised.value.hint == "its mechanisms: PLAIN"


def test_an_asker_without_a_login_gets_no_answer() -> None:
    with pytest.raises(NetError):
        _principal(ClientSecurity())


def test_a_login_over_tls() -> None:
    trusted = authority()
    own = node(trusted)
    server = listener_security(
        {
            "ssl.keystore.type": "PEM",
            "listener.name.controller.ssl.keystore.key": own.key_pem(),
            "ssl.keystore.certificate.chain": own.pem,
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.controller.plain.sasl.jaas.config": (
                "org.apache.kafka.common.security.plain.PlainLoginModule required"
                ' username="admin" password="x" user_admin="CANARY-secret";'
            ),
        },
        "CONTROLLER",
        "SASL_SSL",
    )
    client = client_security(
        {
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": trusted.pem,
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": (
                "org.apache.kafka.common.security.plain.PlainLoginModule required"
                ' username="admin" password="CANARY-secret";'
            ),
        }
    )
    assert _principal(client, server) == "User:admin"
    assert "CANARY" not in repr(client) + repr(server)


def _frame(name: str, body: dict[str, object], version: int = 1) -> bytes:
    return framed(
        encode_request(
            RequestFrame(name=name, version=version, correlation_id=1, client_id=None, body=body)
        )
    )


@pytest.mark.parametrize(
    "data",
    [
        [_frame("SaslAuthenticate", {"authBytes": b"\0admin\0CANARY-secret"})],
        [_frame("SaslHandshake", {"mechanism": "PLAIN"})] * 2,
        [_frame("SaslHandshake", {"mechanism": "GSSAPI"})],
        [
            _frame("SaslHandshake", {"mechanism": "PLAIN"}),
            _frame("SaslAuthenticate", {"authBytes": b"\0admin\0wrong"}),
            _frame("SaslAuthenticate", {"authBytes": b"\0admin\0CANARY-secret"}),
            _frame("DescribeQuorum", {"topics": []}),
        ],
        [
            _frame("SaslHandshake", {"mechanism": "SCRAM-SHA-256"}),
            _frame("SaslAuthenticate", {"authBytes": b"garbage"}),
        ],
        [_frame("DescribeQuorum", {"topics": []})],
        [_frame("SaslHandshake", {"mechanism": "PLAIN"}), _frame("DescribeQuorum", {"topics": []})],
        [(600 << 10).to_bytes(4, "big")],
    ],
    ids=[
        "no handshake", "two handshakes", "another mechanism", "a second try", "no SCRAM",
        "no login", "half a login", "a large login",
    ],
)  # fmt: skip
def test_what_is_no_login_ends_the_connection(data: list[bytes]) -> None:
    asked: list[str] = []

    async def handler(peer: object, request: RequestFrame) -> None:
        asked.append(request.name)

    async def run() -> None:
        limits = Limits(failed_authentication_delay_s=0.01)
        async with serving(handler, security=LISTENER, limits=limits) as (_, where):
            await answer_to(where, *data)

    asyncio.run(run())
    assert asked == [], "nobody was asked anything"


def test_after_version_0_of_the_handshake_tokens_have_no_header() -> None:
    """As Kafka's SaslServerAuthenticator: a login that fails is answered by a close alone."""
    handshake = _frame("SaslHandshake", {"mechanism": "PLAIN"}, version=0)
    right, wrong = (framed(f"\0admin\0{word}".encode()) for word in ("CANARY-secret", "wrong"))
    describe = _frame("DescribeQuorum", {"topics": []})
    principals: list[str] = []

    async def handler(peer: Peer, request: RequestFrame) -> None:
        principals.append(peer.principal)

    async def run() -> tuple[bytes, bytes]:
        limits = Limits(failed_authentication_delay_s=0.01)
        async with serving(handler, security=LISTENER, limits=limits) as (_, where):
            return (
                await answer_to(where, handshake, right, describe),
                await answer_to(where, handshake, wrong, describe),
            )

    let_in, refused = asyncio.run(run())
    agreed = int.from_bytes(let_in[:4], "big") + 4
    assert let_in[agreed:] == framed(b""), "an empty token"
    assert refused == let_in[:agreed]
    assert principals == ["User:admin"]


def test_the_exchange_of_the_rfc() -> None:
    """RFC 7677, section 3, as far as it does not depend on the client's own nonce."""
    salted = ScramCredential(salt=b"", stored_key=b"", server_key=b"", iterations=4096)
    assert "stored_key" not in repr(salted)
    for mechanism in scram.DIGESTS:
        client = scram.client(mechanism, "user", "pencil")
        server = scram.server(mechanism, lambda name, user: scram.credential(name, "pencil"))
        next(server)
        kept = scram.credential(mechanism, "pencil")

        def known(name: str, user: str, kept: ScramCredential = kept) -> ScramCredential:
            return kept

        server = scram.server(mechanism, known)
        next(server)
        first = server.send(next(client))
        last = server.send(client.send(first))
        with pytest.raises(StopIteration) as who:
            client.send(last)
        assert who.value.value == "user"


@pytest.mark.parametrize(
    "first",
    [b"", b"r=another,s=AAAA,i=4096", b"r=%s,s=AAAA,i=1", b"r=%s,s=,i=4096", b"r=%s,i=9999999999"],
)
def test_a_client_does_not_go_along_with_an_odd_server(first: bytes) -> None:
    client = scram.client("SCRAM-SHA-256", "user", "pencil")
    nonce = next(client).rpartition(b"r=")[2]
    with pytest.raises(AuthenticationError):
        client.send(first.replace(b"%s", nonce + b"more"))


def test_a_server_that_does_not_know_the_password_is_found_out() -> None:
    kept = scram.credential("SCRAM-SHA-256", "another")
    client = scram.client("SCRAM-SHA-256", "user", "pencil")
    server = scram.server("SCRAM-SHA-256", lambda name, user: kept)
    next(server)
    client.send(server.send(next(client)))
    with pytest.raises(AuthenticationError, match="does not know the password"):
        client.send(b"v=AAAA")
