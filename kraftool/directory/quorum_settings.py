"""The settings of the quorum in a server.properties.

Owns the settings that concern voters, static and dynamic, as Kafka reads them. It refuses to read
any other, so that no secret comes near a report.
"""

from __future__ import annotations

from kraftool.decoders.properties import Properties
from kraftool.directory.directory_summary import static_voters
from kraftool.directory.voter_history import QuorumSettings
from kraftool.raft.endpoints import read_endpoint
from kraftool.raft.names import Endpoint, Endpoints
from kraftool.raft.settings import TIMING_KEYS, Timing

_UNTOLD = frozenset({"", "0.0.0.0", "::"})
"""Hosts that are no address to reach a node by: Kafka puts the machine's own name there."""


def settings_of(path: str, server: Properties) -> QuorumSettings:
    """The quorum's settings; what cannot be read as Kafka would read it is left out."""
    listeners = tuple(listener.upper() for listener in _list(server, "controller.listener.names"))
    return QuorumSettings(
        file=path,
        node_id=_number(server.get("node.id") or server.get("broker.id")),
        roles=_list(server, "process.roles"),
        static_voters=static_voters(server.get("controller.quorum.voters") or ""),
        bootstrap_servers=_list(server, "controller.quorum.bootstrap.servers"),
        controller_listeners=listeners,
        log_directories=len(_list(server, "log.dirs") or _list(server, "log.dir")),
        advertised_endpoints=_advertised(server, listeners),
        timing=_timing(server),
    )


def _list(server: Properties, key: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in (server.get(key) or "").split(",") if part.strip())


def _number(value: str | None) -> int | None:
    value = (value or "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 10 else None


def _advertised(server: Properties, names: tuple[str, ...]) -> Endpoints:
    """Each controller listener's endpoint: of advertised.listeners, else of listeners."""
    endpoints: dict[str, Endpoint] = {}
    for key in ("listeners", "advertised.listeners"):
        for listener in _list(server, key):
            name, (host, port) = read_endpoint(listener)
            if name.upper() in names:
                endpoints[name.upper()] = Endpoint("" if host in _UNTOLD else host, port)
    return {name: endpoints[name] for name in names if name in endpoints}


def _timing(server: Properties) -> Timing:
    durations = {}
    for key, name in TIMING_KEYS.items():
        value = (server.get(key) or "").strip()
        if value.isascii() and value.isdigit() and len(value) < 10:
            durations[name] = int(value)
    return Timing(**durations)
