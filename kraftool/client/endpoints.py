"""Endpoints as operators write them: HOST:PORT lists, and ID=HOST:PORT for port-forwards.

Owns their form.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraftool.decoders.addresses import host_and_port
from kraftool.decoders.errors import KraftoolError
from kraftool.raft.names import Endpoint


class EndpointError(KraftoolError):
    """An error: the text is not an endpoint."""


def parse_endpoint(text: str) -> Endpoint:
    """HOST:PORT; an IPv6 address stands in brackets."""
    host, port = host_and_port(text)
    bare = ":" in host and not text.lstrip().startswith("[")
    if bare or not host or not port:
        raise EndpointError(f"{text.strip()!r} is not HOST:PORT", hint="for example ctl-1:9093")
    return Endpoint(host, port)


def parse_endpoints(text: str) -> tuple[Endpoint, ...]:
    """HOST:PORT,HOST:PORT,…"""
    endpoints = tuple(parse_endpoint(part) for part in text.split(",") if part.strip())
    if not endpoints:
        raise EndpointError("no endpoint is named", hint="for example ctl-1:9093,ctl-2:9093")
    return tuple(dict.fromkeys(endpoints))


def parse_resolved(given: Iterable[str]) -> dict[int, Endpoint]:
    """ID=HOST:PORT, once for each node."""
    endpoints: dict[int, Endpoint] = {}
    for word in given:
        number, mark, address = word.partition("=")
        if not mark or not (number.strip().isascii() and number.strip().isdigit()):
            raise EndpointError(
                f"{word!r} is not ID=HOST:PORT", hint="for example 2=localhost:19093"
            )
        if int(number) in endpoints:
            raise EndpointError(f"node {int(number)} is named twice")
        endpoints[int(number)] = parse_endpoint(address)
    return endpoints
