"""The connections that are in, and the limits that decide who comes in.

Owns the counts: of all connections, of each address, and of those that have not said who they are.
A connection before its authentication costs its sender nothing and this node much, so that their
number has a limit of its own, and so has their time.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from kraftool.net.security import ServerSecurity


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """The address to listen on, and how clients log in there."""

    name: str
    """As it is configured; it is compared in upper case."""
    host: str
    """Empty for all addresses."""
    port: int
    """0 for any that is free."""
    security: ServerSecurity = field(default_factory=ServerSecurity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of what a server accepts. The defaults are Kafka's where it has one."""

    max_request_bytes: int = 100 << 20
    """socket.request.max.bytes"""
    max_connections: int = 4096
    """Kafka's max.connections; more than this would take the files that the log needs."""
    max_connections_per_ip: int = 1 << 31
    max_silent_per_ip: int = 200
    """Connections of an address that have not sent a whole request. Clients send one at once."""
    max_first_bytes: int = 64 << 10
    """Of a connection's first request, which is ApiVersions."""
    idle_s: float = 600.0
    """connections.max.idle.ms"""
    authentication_s: float = 10.0
    """For TLS and SASL together."""
    max_authenticating: int = 200
    """Connections that have not passed TLS and SASL yet. With TLS each takes 280 kB."""
    max_authenticating_per_ip: int = 20
    max_login_bytes: int = 512 << 10
    """sasl.server.max.receive.size"""
    failed_authentication_delay_s: float = 0.1
    """connection.failed.authentication.delay.ms"""
    patience_s: float = 30.0
    """For each part of a frame, and for an answer to be taken."""
    buffered_bytes: int = 128 << 20
    """Of all large requests that are coming in. One of the largest size fits."""
    backlog: int = 1024


@dataclass(eq=False, slots=True)
class Guest:
    """A connection that came in."""

    listener: Listener
    socket: socket.socket
    host: str
    port: int
    task: asyncio.Task[None] | None = None
    writer: asyncio.StreamWriter | None = None
    is_authenticated: bool = False
    """True if it has passed TLS and SASL, where its listener has either."""
    is_served: bool = False
    """True if a request of it is being handled."""


class ConnectionLimit(StrEnum):
    """The limit that a refused connection exceeds."""

    CONNECTIONS = "max_connections"
    CONNECTIONS_PER_IP = "max_connections_per_ip"
    SILENT_PER_IP = "max_silent_per_ip"
    AUTHENTICATING = "max_authenticating"
    AUTHENTICATING_PER_IP = "max_authenticating_per_ip"


class Guests:
    """The connections that are open."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._silent: OrderedDict[Guest, None] = OrderedDict()
        """Connections that have not asked anything yet, oldest first."""
        self._known: OrderedDict[Guest, None] = OrderedDict()
        """The others, the one that asked longest ago first."""
        self._by_host: Counter[str] = Counter()
        self._silent_by_host: Counter[str] = Counter()
        self._authenticating: Counter[str] = Counter()
        """By host: connections that have not passed TLS and SASL yet."""
        self.refused: Counter[ConnectionLimit] = Counter()

    def __len__(self) -> int:
        return len(self._silent) + len(self._known)

    def __iter__(self) -> Iterator[Guest]:
        return iter([*self._silent, *self._known])

    @property
    def authenticating(self) -> int:
        """Connections that have not passed TLS and SASL yet."""
        return self._authenticating.total()

    def admit(self, guest: Guest) -> ConnectionLimit | None:
        """Let it in, in the place of one of less use if need be; or say why not."""
        refusal = self._refusal(guest)
        if refusal is not None:
            self.refused[refusal] += 1
            return refusal
        if self._silent_by_host[guest.host] >= self._limits.max_silent_per_ip:
            self._end_oldest_silent(guest.host)
        self._silent[guest] = None
        self._silent_by_host[guest.host] += 1
        self._by_host[guest.host] += 1
        if not guest.is_authenticated:
            self._authenticating[guest.host] += 1
        return None

    def _refusal(self, guest: Guest) -> ConnectionLimit | None:
        limits, host = self._limits, guest.host
        if self._by_host[host] >= limits.max_connections_per_ip:
            return ConnectionLimit.CONNECTIONS_PER_IP
        if not guest.is_authenticated:
            if self._authenticating[host] >= limits.max_authenticating_per_ip:
                return ConnectionLimit.AUTHENTICATING_PER_IP
            if self.authenticating >= limits.max_authenticating:
                return ConnectionLimit.AUTHENTICATING
        if len(self) >= limits.max_connections and not self.make_room():
            return ConnectionLimit.CONNECTIONS
        return None

    def authenticated(self, guest: Guest) -> None:
        """It has said who it is."""
        if guest in self and not guest.is_authenticated:
            _less(self._authenticating, guest.host)
        guest.is_authenticated = True

    def asked(self, guest: Guest) -> None:
        """A request of it has come."""
        self._leave_silent(guest)
        self._known[guest] = None
        self._known.move_to_end(guest)

    def is_silent(self, guest: Guest) -> bool:
        """True if no whole request of it has come."""
        return guest in self._silent

    def _end_oldest_silent(self, host: str) -> None:
        """End it, and not the newest one: a client that shares its address with an attacker has
        its turn to send a request."""
        for guest in self._silent:
            if guest.host == host and guest.task is not None:
                self.refused[ConnectionLimit.SILENT_PER_IP] += 1
                guest.task.cancel()
                self.forget(guest)
                return

    def _leave_silent(self, guest: Guest) -> None:
        if guest in self._silent:
            del self._silent[guest]
            _less(self._silent_by_host, guest.host)

    def make_room(self) -> bool:
        """End the connection that will be missed least; whether there was one."""
        for guests in (self._silent, self._known):
            for guest in guests:
                if not guest.is_served and guest.task is not None:
                    guest.task.cancel()
                    self.forget(guest)
                    return True
        return False

    def forget(self, guest: Guest) -> None:
        """It has gone, or has to."""
        if guest not in self:
            return
        self._leave_silent(guest)
        self._known.pop(guest, None)
        _less(self._by_host, guest.host)
        if not guest.is_authenticated:
            _less(self._authenticating, guest.host)

    def __contains__(self, guest: Guest) -> bool:
        return guest in self._silent or guest in self._known


def _less(counts: Counter[str], host: str) -> None:
    """One less of it; a host without any is not kept."""
    counts[host] -= 1
    if not counts[host]:
        del counts[host]
