"""Listeners as a server.properties names them: where to listen, what to advertise, how secured.

Owns `listeners`, `advertised.listeners`, `controller.listener.names` and
`listener.security.protocol.map`, and hosts with ports anywhere.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kraftool.decoders.java_text import read_int32
from kraftool.net.security import SecurityProtocol
from kraftool.node.config_values import Values
from kraftool.raft.names import Endpoint

ANY_HOST = "0.0.0.0"
_LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)\Z")
_HOST_PORT = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)\Z")
_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerConfig:
    """One listener: its name in upper case; no host stands for every interface, port 0 for any."""

    name: str
    host: str
    port: int
    protocol: SecurityProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """All that a configuration says of listeners."""

    bound: tuple[ListenerConfig, ...]
    """`listeners`, of brokers too."""
    advertised: Mapping[str, Endpoint]
    """What controllers advertise, in the order of their names; a host may be empty."""
    advertised_names: frozenset[str]
    """The names in `advertised.listeners`."""
    brokers: tuple[ListenerConfig, ...]
    """What a broker advertises."""
    controllers: tuple[str, ...]
    """`controller.listener.names`, in upper case."""
    protocols: Mapping[str, SecurityProtocol]
    """Of each listener name that is mapped."""

    def known_as(self, listed: Endpoint) -> Listeners:
        """The same for a static voter: where its first listener has no host that it could be
        reached at, it advertises what controller.quorum.voters says of it."""
        name = self.controllers[0] if self.controllers else ""
        there = self.advertised.get(name)
        if there is None or name in self.advertised_names or there.host not in ("", ANY_HOST):
            return self
        return replace(self, advertised={**self.advertised, name: listed})

    def of_controllers(self) -> tuple[ListenerConfig, ...]:
        return tuple(listener for listener in self.bound if listener.name in self.controllers)


def listeners_of(values: Values) -> Listeners:
    """Read them; what Kafka would refuse is a problem of `values`."""
    given = values.items("controller.listener.names")
    controllers = tuple(name.upper() for name in given if name)
    named = values.items("listeners")
    protocols = _protocols(values, given, named)
    bound = _parsed("listeners", named, protocols, values.problems)
    _judge_names("listeners", bound, values.problems)
    _judge_ports(bound, values.problems)
    listeners: tuple[ListenerConfig, ...] = ()
    if values.has("advertised.listeners"):
        key = "advertised.listeners"
        listeners = _parsed(key, values.items(key), protocols, values.problems)
        _judge_names(key, listeners, values.problems)
        values.problems += [
            f"{key}: no node can reach {listener.name} at {ANY_HOST}"
            for listener in listeners
            if listener.host == ANY_HOST
        ]
    return Listeners(
        bound=bound,
        advertised=_advertised(controllers, bound, listeners),
        advertised_names=frozenset(listener.name for listener in listeners),
        brokers=tuple(
            listener for listener in listeners or bound if listener.name not in controllers
        ),
        controllers=controllers,
        protocols=protocols,
    )


def _protocols(
    values: Values, given: tuple[str, ...], named: Iterable[str]
) -> dict[str, SecurityProtocol]:
    """Each name's protocol. Without a map a controller's is PLAINTEXT, if it is in upper case."""
    key = "listener.security.protocol.map"
    if not values.has(key):
        mapped = {
            security_protocol.value: security_protocol for security_protocol in SecurityProtocol
        }
        used = {*given, *(listener.partition(":")[0].upper() for listener in named)}
        if used & (set(SecurityProtocol) - {SecurityProtocol.PLAINTEXT}):
            return mapped  # Nothing is taken for PLAINTEXT beside listeners that are secured.
        return {**dict.fromkeys(given, SecurityProtocol.PLAINTEXT), **mapped}
    mapped = {}
    for word in filter(None, re.split(r"\s*,\s*", values.text(key))):
        name, mark, protocol = word.rpartition(":")
        try:
            mapped[name.strip().upper()] = SecurityProtocol(protocol.strip().upper())
        except ValueError:
            what = "has no colon" if not mark else "names no security protocol of Kafka's"
            values.problems.append(f"{key}: {word!r} {what}")
    return mapped


def _parsed(
    key: str,
    entries: Iterable[str],
    protocols: Mapping[str, SecurityProtocol],
    problems: list[str],
) -> tuple[ListenerConfig, ...]:
    listeners = []
    for entry in entries:
        match = _LISTENER.match(entry)
        port = read_int32(match.group(3)) if match else None
        if match is None or port is None or not -1 <= port <= _HIGHEST_PORT:
            problems.append(f"{key}: {entry!r} is not of the form NAME://HOST:PORT")
            continue
        name = match.group(1).upper()
        protocol = protocols.get(name)
        if protocol is None:
            problems.append(f"{key}: listener.security.protocol.map does not have {name}")
            continue
        listeners.append(
            ListenerConfig(name=name, host=match.group(2), port=port, protocol=protocol)
        )
    return tuple(listeners)


def _judge_names(key: str, listeners: tuple[ListenerConfig, ...], problems: list[str]) -> None:
    names = [listener.name for listener in listeners]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems += [f"{key}: {name} is there more than once" for name in twice]


def _judge_ports(listeners: tuple[ListenerConfig, ...], problems: list[str]) -> None:
    """A port is one listener's, but that one of IPv4 and one of IPv6 may share it."""
    for port in sorted({listener.port for listener in listeners if listener.port != 0}):
        families = [_family(listener.host) for listener in listeners if listener.port == port]
        if len(families) > 1 and sorted(families) != [4, 6]:
            problems.append(f"listeners: more than one has port {port}")


def _family(host: str) -> int:
    try:
        return ipaddress.ip_address(host).version
    except ValueError:
        return 0


def _advertised(
    controllers: tuple[str, ...],
    bound: tuple[ListenerConfig, ...],
    configs: tuple[ListenerConfig, ...],
) -> dict[str, Endpoint]:
    endpoints = {}
    for name in controllers:
        for listener in (*configs, *bound):
            if listener.name == name:
                endpoints[name] = Endpoint(listener.host, listener.port)
                break
    return endpoints


def host_and_port(text: str) -> Endpoint | None:
    """HOST:PORT, [IPV6]:PORT or NAME://HOST:PORT; None for what Kafka does not take."""
    match = _HOST_PORT.match(text)
    if match is None:
        return None
    port = read_int32(match.group(2))
    if port is None or port > _HIGHEST_PORT:
        return None
    return Endpoint(match.group(1), port)
