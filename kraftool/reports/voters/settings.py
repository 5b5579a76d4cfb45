"""What a server.properties says about the quorum.

Owns the settings that concern voters, static and dynamic, as Kafka reads them. It refuses to read
any other, so that no secret comes near a report.
"""

from __future__ import annotations

from kraftool.decoders.addresses import host_and_port
from kraftool.decoders.properties import Properties
from kraftool.reports.directory_summary import static_voters
from kraftool.reports.voters.model import Advertised, QuorumSettings

_UNTOLD = frozenset({"", "0.0.0.0", "::"})
"""Hosts that are no address to reach a node by: Kafka puts the machine's own name there."""


def settings_of(path: str, server: Properties) -> QuorumSettings:
    """The quorum's settings; what cannot be read as Kafka would read it is left out."""
    listeners = tuple(each.upper() for each in _list(server, "controller.listener.names"))
    return QuorumSettings(
        file=path,
        node_id=_number(server.get("node.id") or server.get("broker.id")),
        roles=_list(server, "process.roles"),
        static_voters=static_voters(server.get("controller.quorum.voters") or ""),
        bootstrap_servers=_list(server, "controller.quorum.bootstrap.servers"),
        controller_listeners=listeners,
        advertised=_advertised(server, listeners),
    )


def _list(server: Properties, key: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in (server.get(key) or "").split(",") if each.strip())


def _number(value: str | None) -> int | None:
    value = (value or "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 10 else None


def _advertised(server: Properties, names: tuple[str, ...]) -> tuple[Advertised, ...]:
    """Each controller listener's endpoint: of advertised.listeners, else of listeners."""
    found: dict[str, Advertised] = {}
    for key in ("listeners", "advertised.listeners"):
        for each in _list(server, key):
            name, mark, address = each.partition("://")
            host, port = host_and_port(address)
            if mark and name.upper() in names:
                found[name.upper()] = Advertised(
                    listener=name.upper(),
                    host="" if host in _UNTOLD else host,
                    port=port or None,
                )
    return tuple(found[name] for name in names if name in found)
