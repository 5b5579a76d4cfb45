"""Listeners: who connects, what it may send, and the answers in order.

Owns the life of each connection on the serving side: it is counted from its first packet on, has to
secure itself and say who it is in time, sends frames of bounded size at a bounded slowness, and has
one request handled at a time. When there are too many, the one that was of least use goes. A
request that nobody here can read ends its connection, as in Kafka. It refuses to know what is
asked: the handler does.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kraftool.decoders.addresses import shown_address
from kraftool.decoders.codec import Value
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.rpc_frames import (
    API_VERSIONS,
    RequestFrame,
    ResponseFrame,
    apis,
    decode_request,
    encode_response,
    peek,
)
from kraftool.image.acls import ANONYMOUS
from kraftool.net import api_versions
from kraftool.net.api_versions import Range
from kraftool.net.errors import AuthenticationError, NetError
from kraftool.net.framing import Budget, read_frame, write_frame
from kraftool.net.guests import Guest, Guests, Limits, Listener
from kraftool.net.lines import Limit, claimed, write
from kraftool.net.sasl import ILLEGAL_SASL_STATE, SASL_APIS, Login, refused
from kraftool.raft.names import Endpoint

LOGGER = logging.getLogger("kraftool.net")
_ACCEPTED_AT_ONCE = 8
"""Far fewer than an address has silent connections, so that each has turns before it gives way."""
_say = partial(write, LOGGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The client that sends a request."""

    listener: str
    principal: str
    """As super.users names it: User:ANONYMOUS, User:alice, User:CN=node-1."""
    host: str
    port: int
    is_authenticated: bool = False
    """True if the listener required the client to say who it is, by SASL or a certificate."""
    has_token: bool = False
    """True if the client logged in with a delegation token."""


Handler = Callable[[Peer, RequestFrame], Awaitable[Value | None]]
"""Gives the body of the answer, or None where the connection is to be closed."""


class _Ended(Exception):
    """A connection that has to end, of which everything was said."""


class Server:
    """All listeners of a node."""

    def __init__(
        self,
        listeners: Sequence[Listener],
        handler: Handler,
        known_apis: Mapping[str, Range],
        limits: Limits | None = None,
    ) -> None:
        """`known_apis`: the versions of each api that the handler answers, ApiVersions among them.

        ApiVersions goes to the handler too, of whom one does not know yet who it is; SASL's own
        requests do not.
        """
        self._listeners = listeners
        self._handler = handler
        self._known = {**SASL_APIS, **known_apis}
        self.limits = limits or Limits()
        self._budget = Budget(self.limits.buffered_bytes)
        self._accepting: list[asyncio.Task[None]] = []
        self._sockets: list[socket.socket] = []
        self.guests = Guests(self.limits)
        self.bound: dict[str, Endpoint] = {}
        """Where each listener really listens."""

    @property
    def connections(self) -> int:
        """Return how many there are now."""
        return len(self.guests)

    async def start(self) -> None:
        """Listen. Raises NetError where an address cannot be had."""
        loop = asyncio.get_running_loop()
        try:
            for listener in self._listeners:
                bound = _bind(listener, self.limits.backlog)
                self._sockets.append(bound)
                host, port = bound.getsockname()[:2]
                self.bound[listener.name] = Endpoint(host, port)
        except BaseException:
            await self.close()
            raise
        for listener, bound in zip(self._listeners, self._sockets, strict=True):
            self._accepting.append(loop.create_task(self._accept(listener, bound)))

    async def close(self) -> None:
        """Listen no more, and end every connection."""
        tasks = [*self._accepting, *(guest.task for guest in self.guests if guest.task is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for bound in self._sockets:
            bound.close()
        self._accepting, self._sockets = [], []

    async def _accept(self, listener: Listener, bound: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        accepted = 0
        while True:
            try:
                connection, address = await loop.sock_accept(bound)
            except OSError as error:
                # No more files, mostly: let one go and give the others time to.
                _say(
                    "no connection can be accepted",
                    logging.WARNING,
                    limit=Limit(),
                    reason=str(error),
                )
                self.guests.make_room()
                await asyncio.sleep(0.1)
                continue
            self._admit(listener, connection, address)
            accepted += 1
            # Several come in at once: the system drops what comes to a full queue, and its sender
            # waits longer each time. But those who are in have their turn too.
            if accepted % _ACCEPTED_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _admit(
        self, listener: Listener, connection: socket.socket, address: tuple[Any, ...]
    ) -> None:
        host, port = address[:2]
        guest = Guest(listener, connection, host, port)
        guest.is_authenticated = not listener.security.authenticates
        refusal = self.guests.admit(guest)
        if refusal is not None:
            connection.close()
            _say(
                "connection refused",
                logging.WARNING,
                limit=Limit(key=(refusal, listener.name, host)),
                **_of(guest),
                reason=f"more than {refusal} ({getattr(self.limits, refusal)})",
                authenticating=self.guests.authenticating,
            )
            return
        guest.task = asyncio.get_running_loop().create_task(self._host(guest))

    async def _host(self, guest: Guest) -> None:
        """One connection from its first byte to its end."""
        is_wanted = True
        try:
            reader, writer, peer = await self._enter(guest)
            while await self._exchange(guest, peer, reader, writer):
                pass
        except asyncio.CancelledError:
            is_wanted = False
            raise
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError, _Ended):
            pass  # it went, or has to
        except (NetError, DecodeError, OSError) as error:  # ssl.SSLError is an OSError
            reason = error.message if isinstance(error, KraftoolError) else str(error)
            self._say_ended(guest, reason=reason)
        except Exception:
            _say(
                "an error closed the connection",
                logging.ERROR,
                limit=Limit(),
                exc_info=True,
                **_of(guest),
            )
        finally:
            self.guests.forget(guest)
            if guest.writer is None:
                guest.socket.close()
            elif is_wanted:
                await _let_go(guest.writer)
            else:
                guest.writer.transport.abort()

    async def _enter(self, guest: Guest) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, Peer]:
        """TLS and SASL, in the time that there is for both."""
        try:
            async with asyncio.timeout(self.limits.authentication_s):
                reader, writer = await _streams(guest)
                peer = await self._authenticated(guest, reader, writer)
        except TimeoutError:
            seconds = self.limits.authentication_s
            self._say_ended(guest, reason=f"not authenticated within {seconds:g} s")
            raise _Ended from None
        self.guests.authenticated(guest)
        if guest.listener.security.sasl is not None:
            self.guests.asked(guest)  # the requests of its login were whole
        return reader, writer, peer

    def _say_ended(self, guest: Guest, *, reason: str) -> None:
        _say("connection ended", limit=_for(guest), **_of(guest), reason=reason)

    async def _authenticated(
        self, guest: Guest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Peer:
        """Learn who it is."""
        security = guest.listener.security
        principal = ANONYMOUS
        if security.tls is not None and security.sasl is None:
            secured = writer.get_extra_info("ssl_object")
            principal = security.principal(secured.getpeercert(binary_form=True))
        peer = Peer(
            listener=guest.listener.name,
            principal=principal,
            host=guest.host,
            port=guest.port,
            is_authenticated=principal != ANONYMOUS or security.sasl is not None,
        )
        if security.sasl is None:
            return peer
        login = Login(security.sasl)
        try:
            user = await self._log_in(peer, login, reader, writer)
        except AuthenticationError as error:
            if login.mechanism:
                _say_refused_login(peer, login, error.message)
                raise _Ended from None
            raise
        return replace(peer, principal=f"User:{user}")

    async def _log_in(
        self,
        peer: Peer,
        login: Login,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> str:
        """A SASL login. Until it is over, nothing but its requests and ApiVersions is answered."""
        patience_s = self.limits.patience_s
        while login.user is None:
            data = await read_frame(
                reader, self.limits.max_login_bytes, idle_s=patience_s, patience_s=patience_s
            )
            if data is None:
                raise AuthenticationError("the client closed the connection before it logged in")
            answer = login.bare(data) if login.is_bare else await self._answer(peer, data, login)
            if login.failure:
                await asyncio.sleep(self.limits.failed_authentication_delay_s)
            if answer is not None:
                await write_frame(writer, answer, patience_s=patience_s)
            if login.failure or answer is None:
                raise AuthenticationError(login.failure or "a request before the login")
        return login.user

    async def _exchange(
        self,
        guest: Guest,
        peer: Peer,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """A request and its answer; whether the connection goes on."""
        limits = self.limits
        most = limits.max_request_bytes
        data = await read_frame(
            reader,
            min(most, limits.max_first_bytes) if self.guests.is_silent(guest) else most,
            idle_s=limits.idle_s,
            patience_s=limits.patience_s,
            budget=self._budget,
        )
        if data is None:
            return False
        guest.is_served = True
        self.guests.asked(guest)
        answer = await self._answer(peer, data)
        guest.is_served = False
        if answer is None:
            return False
        await write_frame(writer, answer, patience_s=limits.patience_s)
        return True

    async def _answer(self, peer: Peer, data: bytes, login: Login | None = None) -> bytes | None:
        key, version, correlation_id = peek(data)
        name = apis().get(key)
        served = self._known.get(name) if name is not None else None
        if name is None or served is None:
            _say("api not served", limit=_for(peer), **_of(peer), api=name or key)
            return None
        if not served[0] <= version <= served[1]:
            if name != API_VERSIONS:
                _say("version not served", limit=_for(peer), **_of(peer), api=name, version=version)
                return None
            return _encoded(name, 0, correlation_id, api_versions.unknown_version(served))
        request = decode_request(data)
        if name in SASL_APIS:
            body = _out_of_place(name) if login is None else login.answer(request)
        elif login is not None and name != API_VERSIONS:
            return None
        elif name == API_VERSIONS and not api_versions.is_wellformed(request):
            body = {"errorCode": api_versions.INVALID_REQUEST, "apiKeys": []}
        else:
            given = await self._handler(peer, request)
            if given is None:
                return None
            body = _with_sasl(given) if name == API_VERSIONS else given
        return _encoded(name, version, correlation_id, body)


def _say_refused_login(peer: Peer, login: Login, reason: str) -> None:
    """Name who it claims to be, and never what it proves it with."""
    user = None if login.claimed_user is None else claimed(login.claimed_user)
    mechanism = claimed(login.mechanism)
    _say(
        "login failed",
        logging.WARNING,
        limit=Limit(key=(peer.listener, peer.host, mechanism, user)),
        **_of(peer),
        mechanism=mechanism,
        user=user,
        reason=reason,
    )


def _of(peer: Peer | Guest) -> dict[str, Any]:
    """The fields that name it in a line."""
    name = peer.listener if isinstance(peer, Peer) else peer.listener.name
    return {"listener": name, "address": shown_address(peer.host, peer.port)}


def _for(peer: Peer | Guest) -> Limit:
    """Lines of one host at one listener are repeats: each connection has another port."""
    name = peer.listener if isinstance(peer, Peer) else peer.listener.name
    return Limit(key=(name, peer.host))


def _encoded(name: str, version: int, correlation_id: int, body: Value) -> bytes:
    return encode_response(
        ResponseFrame(name=name, version=version, correlation_id=correlation_id, body=body)
    )


def _out_of_place(name: str) -> Value:
    """SASL where it is not wanted, or no more."""
    if name == "SaslHandshake":
        return {"errorCode": ILLEGAL_SASL_STATE, "mechanisms": []}
    return refused(ILLEGAL_SASL_STATE, "nobody has to log in here, or not any more")


def _with_sasl(body: Value) -> Value:
    """ApiVersions with what is answered here."""
    listed = {api_key["apiKey"]: api_key for api_key in body["apiKeys"]}
    for key, name in apis().items():
        if name in SASL_APIS:
            low, high = SASL_APIS[name]
            listed.setdefault(key, {"apiKey": key, "minVersion": low, "maxVersion": high})
    return {**body, "apiKeys": [listed[key] for key in sorted(listed)]}


def _bind(listener: Listener, backlog: int) -> socket.socket:
    """A listening socket. Without a host it takes IPv4 and IPv6 where the machine has both."""
    where = shown_address(listener.host, listener.port)
    try:
        if not listener.host:
            both = socket.has_dualstack_ipv6()
            bound = socket.create_server(
                ("", listener.port),
                family=socket.AF_INET6 if both else socket.AF_INET,
                backlog=backlog,
                dualstack_ipv6=both,
            )
        else:
            family, _, _, _, address = socket.getaddrinfo(
                listener.host, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            bound = socket.create_server(address[:2], family=family, backlog=backlog)
    except OSError as error:
        raise NetError(
            f"listener {listener.name} cannot listen on {where}: {error.strerror or error}"
        ) from None
    bound.setblocking(False)
    return bound


async def _streams(guest: Guest) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The streams over a socket, after the TLS handshake where there is to be one."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):
        guest.socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.connect_accepted_socket(
        lambda: protocol, guest.socket, ssl=guest.listener.security.tls
    )
    guest.writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    return reader, guest.writer


async def _let_go(writer: asyncio.StreamWriter) -> None:
    """Close it without waiting long: what was answered last may still go out."""
    writer.close()
    try:
        async with asyncio.timeout(1):
            await writer.wait_closed()
    except (OSError, TimeoutError):  # ssl.SSLError is an OSError
        pass
    finally:
        writer.transport.abort()
