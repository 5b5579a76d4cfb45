"""SASL over Kafka's requests: SaslHandshake names a mechanism, SaslAuthenticate carries its tokens.

Owns both sides of a login with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512. The mechanisms are
generators (see `scram.py`); what they say of a failure is for this side's log: the other side is
told no more than that it failed.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Generator, Mapping

from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net import scram
from kraftool.net.errors import AuthenticationError, DisconnectedError, UnsupportedError
from kraftool.net.security import PLAIN, SaslClient, SaslServer

SASL_APIS: Mapping[str, tuple[int, int]] = {"SaslHandshake": (0, 1), "SaslAuthenticate": (0, 2)}
"""What is served. Version 0 of the handshake is followed by tokens without any header."""

UNSUPPORTED_SASL_MECHANISM = 33
ILLEGAL_SASL_STATE = 34
SASL_AUTHENTICATION_FAILED = 58

Exchange = Generator[bytes, bytes, str]
Ask = Callable[[str, int | None, Value], Awaitable[Value]]
"""Asks over a connection: api, version (None for any) and body; returns the body of the answer."""


async def authenticate(client: SaslClient, ask: Ask) -> None:
    """Log in over a connection. Raises AuthenticationError."""
    try:
        await _log_in(client, ask)
    except UnsupportedError as error:
        raise AuthenticationError(f"the node offers no SASL login: {error.message}") from None
    except DisconnectedError as error:
        raise AuthenticationError(f"the login was cut off: {error.message}") from None


async def _log_in(client: SaslClient, ask: Ask) -> None:
    body = await ask("SaslHandshake", 1, {"mechanism": client.mechanism})
    if body["errorCode"]:
        there = ", ".join(body["mechanisms"]) or "none"
        raise AuthenticationError(
            f"the node does not accept {client.mechanism}", hint=f"its mechanisms: {there}"
        )
    exchange = _client_exchange(client)
    token = next(exchange)
    while True:
        body = await ask("SaslAuthenticate", None, {"authBytes": token})
        if body["errorCode"]:
            reason = body["errorMessage"] or f"error {body['errorCode']}"
            raise AuthenticationError(f"the node refuses the login of {client.user}: {reason}")
        try:
            token = exchange.send(body["authBytes"])
        except StopIteration:
            return


def _client_exchange(client: SaslClient) -> Exchange:
    if client.mechanism == PLAIN:
        return _plain_client(client.user, client.password)
    return scram.client(client.mechanism, client.user, client.password)


def _plain_client(user: str, password: str) -> Exchange:
    yield f"\0{user}\0{password}".encode()
    return user


def _plain_claim(token: bytes) -> str:
    """The user that a PLAIN message names; empty if it is no such message."""
    parts = token.decode("utf-8", "replace").split("\0")
    return parts[1] if len(parts) == 3 else ""


def _plain_server(passwords: Mapping[str, str]) -> Exchange:
    token = yield b""
    parts = token.decode("utf-8", "replace").split("\0")
    if len(parts) != 3 or not parts[1] or not parts[2]:
        raise AuthenticationError("a PLAIN message without a name and a password")
    authorization, user, password = parts
    expected = passwords.get(user, "")
    is_right = hmac.compare_digest(expected.encode(), password.encode())
    if user not in passwords or not is_right:
        raise AuthenticationError("invalid credentials with SASL mechanism PLAIN")
    if authorization not in ("", user):
        raise AuthenticationError("a PLAIN login as somebody else")
    yield b""
    return user


def _server_exchange(server: SaslServer, mechanism: str) -> Exchange | None:
    """Return a login; None for a mechanism that is not enabled."""
    if mechanism == PLAIN and server.plain is not None:
        return _plain_server(server.plain)
    lookup = server.scram.get(mechanism)
    return None if lookup is None else scram.server(mechanism, lookup)


class Login:
    """One connection's way in."""

    def __init__(self, server: SaslServer) -> None:
        self._server = server
        self._exchange: Exchange | None = None
        self.mechanism = ""
        """The one that was asked for, also if it is not enabled."""
        self.claimed_user: str | None = None
        """Who the first message says it is, before that is proved; empty if it does not say."""
        self.user: str | None = None
        """Set at the end of a login that went well."""
        self.failure = ""
        """Why it failed, in words for this side; the connection ends after the answer."""
        self.is_bare = False
        """True if tokens come and go without a header."""
        self._steps: Mapping[str, Callable[[RequestFrame], Value]] = {
            "SaslHandshake": self._handshake,
            "SaslAuthenticate": self._authenticate,
        }

    def answer(self, request: RequestFrame) -> Value:
        """The answer to one of SASL's requests."""
        return self._steps[request.name](request)

    def _handshake(self, request: RequestFrame) -> Value:
        mechanisms = list(self._server.mechanisms)
        mechanism = request.body["mechanism"]
        if self._exchange is not None:
            self.failure = "a second SaslHandshake"
            return {"errorCode": ILLEGAL_SASL_STATE, "mechanisms": mechanisms}
        self.mechanism = mechanism
        self._exchange = _server_exchange(self._server, mechanism)
        if self._exchange is None:
            self.failure = "the mechanism is not enabled"
            return {"errorCode": UNSUPPORTED_SASL_MECHANISM, "mechanisms": mechanisms}
        next(self._exchange)
        self.is_bare = request.version == 0
        return {"errorCode": 0, "mechanisms": mechanisms}

    def _authenticate(self, request: RequestFrame) -> Value:
        if self._exchange is None:
            self.failure = "SaslAuthenticate without SaslHandshake"
            return refused(ILLEGAL_SASL_STATE, "SaslHandshake has to come first")
        return self._take(request.body["authBytes"])

    def bare(self, token: bytes) -> bytes | None:
        """The answer to a token without a header; None if the login failed."""
        body = self._take(token)
        return None if body["errorCode"] else bytes(body["authBytes"])

    def _take(self, given: bytes) -> Value:
        assert self._exchange is not None, "a handshake came first"
        if self.claimed_user is None:
            claim = _plain_claim if self.mechanism == PLAIN else scram.claimed_user
            self.claimed_user = claim(given)
        try:
            token = self._exchange.send(given)
        except AuthenticationError as error:
            self.failure = error.message
            return refused(SASL_AUTHENTICATION_FAILED, _failed(self.mechanism))
        except StopIteration:
            self.failure = "a login goes on after its end"
            return refused(ILLEGAL_SASL_STATE, "the login is over")
        if self._is_last(token):
            try:
                next(self._exchange)
            except StopIteration as end:
                self.user = end.value
        return {"errorCode": 0, "errorMessage": None, "authBytes": token, "sessionLifetimeMs": 0}

    def _is_last(self, token: bytes) -> bool:
        """PLAIN ends with nothing to say, SCRAM with the server's own proof."""
        return token == b"" if self.mechanism == PLAIN else token.startswith(b"v=")


def _failed(mechanism: str) -> str:
    """In Kafka's words, whatever the reason."""
    if mechanism == PLAIN:
        return "Authentication failed: Invalid username or password"
    return (
        "Authentication failed during authentication due to invalid credentials with SASL"
        f" mechanism {mechanism}"
    )


def refused(code: int, message: str) -> Value:
    """The answer to a SaslAuthenticate that does not get in."""
    return {"errorCode": code, "errorMessage": message, "authBytes": b"", "sessionLifetimeMs": 0}
