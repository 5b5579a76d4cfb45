"""The first voters of a cluster: whom the options of a format make a voter set of.

Owns their form, ID@HOST:PORT:DIRECTORY_ID, and which options contradict each other or the settings.
"""

from __future__ import annotations

import ipaddress

from kraftool.decoders.java_text import read_int32, read_uuid
from kraftool.image.uuids import is_reserved_directory
from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION
from kraftool.storage.format_levels import FormatImpossible, FormatRefused
from kraftool.storage.format_request import FormatRequest
from kraftool.storage.random_ids import random_uuid


def first_voters(request: FormatRequest) -> tuple[VoterSet | None, list[str]]:
    """The voters that the options make, and what is worth a word about them."""
    asked = [
        name
        for name, given in (
            ("--standalone", request.standalone),
            ("--initial-controllers", request.initial_controllers),
            ("--no-initial-controllers", request.no_initial_controllers),
        )
        if given
    ]
    if len(asked) > 1:
        raise FormatImpossible(f"{' and '.join(asked)} cannot be used together")
    if request.static_voters:
        if asked and not request.no_initial_controllers:
            raise FormatRefused(
                f"controller.quorum.voters already names the voters; {asked[0]} would make a"
                " second voter set",
                hint="remove controller.quorum.voters and set controller.quorum.bootstrap.servers"
                " for a quorum with dynamic voters",
            )
        return None, []
    if request.standalone:
        return _standalone(request)
    if request.initial_controllers:
        voters = voters_of(request.initial_controllers, request.listener)
        return voters, _about_oneself(request, voters)
    if request.is_controller and not request.no_initial_controllers:
        raise FormatImpossible(
            "controller.quorum.voters is not set: name the initial voters",
            hint="use --standalone for this node alone, --initial-controllers for several (the"
            " same value on each), or --no-initial-controllers for one that joins a quorum",
        )
    return None, []


def _standalone(request: FormatRequest) -> tuple[VoterSet, list[str]]:
    if not request.is_controller or request.advertised is None:
        raise FormatImpossible(
            "only a controller can be --standalone, but process.roles does not include controller"
        )
    host, port = request.advertised.host or "localhost", request.advertised.port
    if port <= 0:
        raise FormatImpossible(
            "its controller listener has port 0: no node could find the only voter",
            hint="give it a port",
        )
    voter = _voter(request.node_id, host, port, random_uuid(), request.listener)
    note = "this node alone will be the quorum; controllers that join are formatted with"
    return VoterSet.of(voter), [f"{note} --no-initial-controllers, and then added"]


def _about_oneself(request: FormatRequest, voters: VoterSet) -> list[str]:
    own = voters.voters.get(request.node_id)
    if own is None:
        return [f"node {request.node_id} is not among the initial controllers and will not vote"]
    if not request.is_controller:
        raise FormatImpossible(
            f"node {request.node_id} is among the initial controllers, but process.roles does"
            " not include controller"
        )
    endpoint, listed = request.advertised, own.endpoints[request.listener.upper()]
    if (
        endpoint is not None
        and endpoint.host
        and (_as_java(endpoint.host), endpoint.port) != listed
    ):
        at = f"node {request.node_id} is listed at {listed}"
        return [f"{at} and advertises {endpoint}"]
    return []


def voters_of(text: str, listener: str) -> VoterSet:
    """Read ID@HOST:PORT:DIRECTORY_ID,… . Raises FormatImpossible."""
    words = filter(None, (part.strip() for part in text.split(",")))
    voters = [_read_voter(word, listener) for word in words]
    if not voters:
        raise FormatImpossible("--initial-controllers is empty")
    name = listener.upper()
    for what, texts in (
        ("the id", [str(voter.key.id) for voter in voters]),
        ("the directory id", [voter.key.directory_id or "" for voter in voters]),
        ("the address", ["{}:{}".format(*voter.endpoints[name]) for voter in voters]),
    ):
        twice = next((value for value in texts if texts.count(value) > 1), None)
        if twice is not None:
            raise FormatImpossible(f"--initial-controllers: {what} {twice} is given twice")
    return VoterSet.of(*sorted(voters, key=lambda voter: voter.key.id))


def _read_voter(word: str, listener: str) -> Voter:
    id_text, mark, rest = word.partition("@")
    node_id = read_int32(id_text) if mark else None
    if rest.startswith("["):
        host, closing, rest = rest[1:].partition("]")
        rest = rest.removeprefix(":") if closing and rest.startswith(":") else ""
    else:
        host, _, rest = rest.partition(":")
    port_text, colon, directory_text = rest.partition(":")
    port = read_int32(port_text) if colon else None
    directory_id = read_uuid(directory_text) if colon else None
    if node_id is None or node_id < 0 or port is None or directory_id is None:
        raise FormatImpossible(
            f"--initial-controllers: {word} is not of the form ID@HOST:PORT:DIRECTORY_ID",
            hint="`kraftool storage random-uuid` gives a directory id",
        )
    if not host or not 0 < port <= 65535:
        raise FormatImpossible(f"--initial-controllers: no node can reach {word}")
    if is_reserved_directory(directory_id):
        raise FormatImpossible(
            f"--initial-controllers: no directory may have the id {directory_id}"
        )
    return _voter(node_id, host, port, directory_id, listener)


def _voter(node_id: int, host: str, port: int, directory_id: str, listener: str) -> Voter:
    return Voter(
        key=ReplicaKey(node_id, directory_id),
        endpoints={listener.upper(): Endpoint(_as_java(host), port)},
        kraft_version=SUPPORTED_KRAFT_VERSION,
    )


def _as_java(host: str) -> str:
    """A host as kafka-storage writes it: an IPv6 address with all its groups."""
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    groups = address.exploded.split(":")
    return ":".join(group.lstrip("0") or "0" for group in groups)
