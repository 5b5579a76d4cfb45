"""Endpoints of a controller with their listeners: as options name them, as its own config does.

Owns LISTENER://HOST:PORT, and what of a server.properties with its directory makes a candidate.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from kraftool.client.endpoints import EndpointError, parse_endpoint
from kraftool.decoders import meta_properties, properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import META_PROPERTIES
from kraftool.directory.quorum_settings import settings_of
from kraftool.net.settings import SettingsError, read_settings
from kraftool.raft.endpoints import shown_endpoints
from kraftool.raft.names import Endpoint, Endpoints


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVoter:
    """A controller that shall vote, as far as its configuration and directory tell."""

    node_id: int | None = None
    directory_id: str | None = None
    endpoints: Endpoints
    cluster_id: str | None = None


def parse_listeners(given: Iterable[str]) -> dict[str, Endpoint]:
    """LISTENER://HOST:PORT, each listener once; names in upper case."""
    endpoints: dict[str, Endpoint] = {}
    for word in given:
        name, mark, address = word.partition("://")
        if not mark or not name.strip():
            raise EndpointError(
                f"{word!r} is not LISTENER://HOST:PORT", hint="for example CONTROLLER://ctl-4:9093"
            )
        if name.strip().upper() in endpoints:
            raise EndpointError(f"listener {name} is named twice")
        endpoints[name.strip().upper()] = parse_endpoint(address)
    return endpoints


def words(endpoints: Endpoints) -> str:
    return ", ".join(shown_endpoints(endpoints))


def candidate_of(path: str) -> NewVoter:
    """The controller whose server.properties this is; its directory has to be here too."""
    given = read_settings(path)
    data = properties.encode(given.items())
    server = properties.decode(data)[0]
    settings = settings_of(path, server)
    if settings.node_id is None:
        raise SettingsError(f"{path} has no node.id")
    if "controller" not in settings.roles:
        raise SettingsError(f"{path}: process.roles does not include controller")
    endpoints = {
        name: endpoint._replace(host=endpoint.host or "localhost")
        for name, endpoint in settings.advertised_endpoints.items()
        if endpoint.port
    }
    missing = [
        controller_listener
        for controller_listener in settings.controller_listeners
        if controller_listener not in endpoints
    ]
    if missing or not endpoints:
        listener_names = ", ".join(missing) or "any controller listener"
        raise SettingsError(
            f"{path}: neither listeners nor advertised.listeners name {listener_names}"
        )
    folder = given.get("metadata.log.dir") or given.get("log.dirs") or given.get("log.dir", "")
    folder = folder.split(",")[0].strip()
    directory = os.path.join(os.path.dirname(os.path.abspath(path)), folder)
    directory_id, cluster_id = _identity(os.path.join(directory, META_PROPERTIES))
    return NewVoter(
        node_id=settings.node_id,
        directory_id=directory_id,
        endpoints=endpoints,
        cluster_id=cluster_id,
    )


def _identity(path: str) -> tuple[str, str | None]:
    """directory.id and cluster.id."""
    try:
        with open(path, "rb") as source:
            meta, _ = meta_properties.decode(source.read(properties.MAX_BYTES))
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror or error}",
            hint="run this on the host with the new controller's directory, or give"
            " --controller-directory-id and --endpoint",
        ) from None
    except KraftoolError as error:
        raise SettingsError(f"{path}: {error.message}") from None
    if meta.directory_id is None:
        raise SettingsError(f"{path} has no directory.id", hint="format it with Kafka 3.9 or newer")
    return meta.directory_id, meta.cluster_id
