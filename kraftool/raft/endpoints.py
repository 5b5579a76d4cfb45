"""Endpoints in text: LISTENER://HOST:PORT, and HOST:PORT where no listener is named.

Owns the one form in which they are read and written. It refuses to look a name up, and to judge
what Kafka takes for a host: settings and options each have their own rules.
"""

from __future__ import annotations

from kraftool.decoders.addresses import host_and_port
from kraftool.raft.names import Endpoint, Endpoints, Voter


def read_endpoint(text: str) -> tuple[str, Endpoint]:
    """The listener's name as it is written, empty without one, and where it is reached; port 0
    stands for what is no port's number."""
    listener, mark, address = text.partition("://")
    host, port = host_and_port(address if mark else text)
    return listener if mark else "", Endpoint(host, port or 0)


def shown_endpoint(listener: str, endpoint: Endpoint) -> str:
    if listener:
        return f"{listener}://{endpoint}"
    return str(endpoint) if endpoint.port else endpoint.host


def shown_endpoints(endpoints: Endpoints) -> tuple[str, ...]:
    return tuple(shown_endpoint(name, endpoint) for name, endpoint in endpoints.items())


def shown_voter(voter: Voter) -> str:
    """The id and all endpoints: of a static voter what controller.quorum.voters has of it."""
    return f"{voter.id}@{','.join(shown_endpoints(voter.endpoints))}"


def static_voter(voter: Voter) -> str:
    """Return what controller.quorum.voters needs of a voter: ID@HOST:PORT, by its first
    endpoint.
    """
    return f"{voter.id}@{voter.endpoint or ''}"
