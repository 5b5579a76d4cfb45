"""What a format is going to do: decided whole before anything is written.

Owns which directories are formatted as what, the first voters, and the refusals: those of
kafka-storage, and beside them whatever would give one cluster two voter sets, which kafka-storage
lets pass. It refuses to write.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import uuid4

from kraftool.decoders import meta_properties
from kraftool.decoders.addresses import shown_address
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.decoders.java_text import read_int32, read_uuid
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import parse_checkpoint_name, parse_segment_name
from kraftool.image.metadata_version import (
    KRAFT_VERSION,
    METADATA_VERSION,
    SCRAM_LEVEL,
)
from kraftool.image.uuids import is_reserved_directory
from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION
from kraftool.storage.entry import METADATA_PARTITION
from kraftool.storage.format_levels import FormatImpossible, FormatRefused, starting_levels
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.scram_records import ScramUser

META_PROPERTIES = "meta.properties"
ONE_FILE_LEVEL = 31
"""From this metadata.version on, whose servers are of 4.4 or newer, the first snapshot holds the
records too and there is no bootstrap.checkpoint, as 4.4.0's kafka-storage writes."""
_META_LIMIT = 1 << 20


class DirectoryRole(StrEnum):
    """What a directory is formatted as, in kafka-storage's words."""

    LOG = "data directory"
    STATIC_METADATA = "metadata directory"
    DYNAMIC_METADATA = "dynamic metadata directory"
    DYNAMIC_VOTER = "dynamic metadata voter directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatRequest:
    """What a server.properties and the options ask for."""

    node_id: int
    cluster_id: str
    directories: Sequence[str]
    metadata_directory: str
    is_controller: bool
    static_voters: VoterSet
    listener: str
    """The first of controller.listener.names: a voter's endpoint has this name."""
    advertised: Endpoint | None
    """Where this node's own controller listener is reached; None for a broker."""
    standalone: bool = False
    initial_controllers: str = ""
    no_initial_controllers: bool = False
    release: str = ""
    features: Mapping[str, int]
    scram: Sequence[ScramUser] = ()
    ignore_formatted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDirectory:
    """A directory that will be formatted."""

    path: str
    role: DirectoryRole
    directory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatPlan:
    """All that will be written, but for the time."""

    node_id: int
    cluster_id: str
    is_controller: bool
    levels: Mapping[str, int]
    scram: tuple[ScramUser, ...]
    voters: VoterSet | None
    """The first voters, for a directory of the metadata; None where none are written."""
    directories: tuple[PlannedDirectory, ...]
    formatted: tuple[str, ...]
    """Directories that are formatted already and stay as they are."""
    unusable: tuple[str, ...]
    """Directories that cannot be read, and why."""
    notes: tuple[str, ...]

    @property
    def metadata_version(self) -> int:
        return self.levels[METADATA_VERSION]

    @property
    def is_beginning(self) -> bool:
        """Whether the metadata directory is among those that are formatted, with what is first."""
        return _has_metadata(self.directories)

    @property
    def in_one_file(self) -> bool:
        """Whether the records are in the first snapshot, and no bootstrap.checkpoint is."""
        return self.metadata_version >= ONE_FILE_LEVEL

    def has_first_snapshot(self, planned: PlannedDirectory) -> bool:
        """Whether a directory gets a 0-0 snapshot."""
        if self.in_one_file:
            return self.is_controller and planned.role is not DirectoryRole.LOG
        return planned.role in (DirectoryRole.DYNAMIC_METADATA, DirectoryRole.DYNAMIC_VOTER)

    def records(self) -> list[bytes]:
        """The first records of the cluster. kraft.version has none: a control record tells it."""
        named = sorted(set(self.levels) - {METADATA_VERSION, KRAFT_VERSION})
        found = [
            encode_record(
                "FeatureLevelRecord", 0, {"name": name, "featureLevel": self.levels[name]}
            )
            for name in (METADATA_VERSION, *named)
            if self.levels[name] > 0
        ]
        return found + [
            encode_record("UserScramCredentialRecord", 0, each.record) for each in self.scram
        ]


def random_directory_id() -> str:
    """An id for a directory: none that Kafka reserves or that begins like an option."""
    while True:
        text = _text_of(secrets.token_bytes(16))
        if not text.startswith("-") and not is_reserved_directory(text):
            return text


def random_uuid() -> str:
    """A uuid as `kafka-storage random-uuid` gives it."""
    while True:
        text = _text_of(uuid4().bytes)
        if not text.startswith("-"):
            return text


def _text_of(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def plan_format(request: FormatRequest) -> FormatPlan:
    """Decide everything. Raises FormatRefused."""
    voters, notes = _first_voters(request)
    is_dynamic = not request.static_voters
    levels = starting_levels(request.release, request.features, is_dynamic=is_dynamic)
    if request.scram and levels[METADATA_VERSION] < SCRAM_LEVEL:
        raise FormatImpossible(f"SCRAM users need {METADATA_VERSION}={SCRAM_LEVEL} (3.5-IV2)")
    found = _look(request)
    _refuse_a_second_set(request, found, voters)
    directories = tuple(_planned(request, path, voters) for path in found.empty)
    was_asked = request.release or METADATA_VERSION in request.features
    if request.is_controller and not was_asked and levels[METADATA_VERSION] >= ONE_FILE_LEVEL:
        notes.append(
            "only servers from Kafka 4.4 on read what is formatted so: where one is older, give its"
            " --release-version"
        )
    return FormatPlan(
        node_id=request.node_id,
        cluster_id=request.cluster_id,
        is_controller=request.is_controller,
        levels=levels,
        scram=tuple(request.scram),
        voters=voters,
        directories=directories,
        formatted=tuple(found.formatted),
        unusable=found.unusable,
        notes=tuple(notes) if _has_metadata(directories) else (),
    )


def _has_metadata(directories: Sequence[PlannedDirectory]) -> bool:
    return any(each.role is not DirectoryRole.LOG for each in directories)


def _planned(request: FormatRequest, path: str, voters: VoterSet | None) -> PlannedDirectory:
    role, directory_id = DirectoryRole.LOG, None
    if path == request.metadata_directory:
        role = DirectoryRole.STATIC_METADATA
        if voters is not None:
            role = DirectoryRole.DYNAMIC_METADATA
            voter = voters.voters.get(request.node_id)
            if voter is not None:
                role, directory_id = DirectoryRole.DYNAMIC_VOTER, voter.key.directory_id
    return PlannedDirectory(
        path=path, role=role, directory_id=directory_id or random_directory_id()
    )


# Voters


def _first_voters(request: FormatRequest) -> tuple[VoterSet | None, list[str]]:
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
        raise FormatImpossible(f"{' and '.join(asked)} exclude each other")
    if request.static_voters:
        if asked and not request.no_initial_controllers:
            raise FormatRefused(
                f"controller.quorum.voters names the voters already; {asked[0]} would make"
                " a second set",
                hint="take controller.quorum.voters out and set controller.quorum.bootstrap.servers"
                " for a quorum that can change its voters",
            )
        return None, []
    if request.standalone:
        return _standalone(request)
    if request.initial_controllers:
        voters = voters_of(request.initial_controllers, request.listener)
        return voters, _about_oneself(request, voters)
    if request.is_controller and not request.no_initial_controllers:
        raise FormatImpossible(
            "controller.quorum.voters is not set: who are the first voters?",
            hint="--standalone for this node alone, --initial-controllers for several (the same"
            " words on each), --no-initial-controllers for one that joins a quorum",
        )
    return None, []


def _standalone(request: FormatRequest) -> tuple[VoterSet, list[str]]:
    if not request.is_controller or request.advertised is None:
        raise FormatImpossible("only a controller can be --standalone; process.roles has none")
    host, port = request.advertised.host or "localhost", request.advertised.port
    if port <= 0:
        raise FormatImpossible(
            "its controller listener has port 0: nobody would find the only voter",
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
            f"node {request.node_id} is among the initial controllers, and process.roles says that"
            " it is none"
        )
    told, listed = request.advertised, own.endpoints[request.listener.upper()]
    if told is not None and told.host and (_as_java(told.host), told.port) != listed:
        at = f"node {request.node_id} is listed at {shown_address(*listed)}"
        return [f"{at} and advertises {shown_address(*told)}"]
    return []


def voters_of(text: str, listener: str) -> VoterSet:
    """Read ID@HOST:PORT:DIRECTORY_ID,… . Raises FormatImpossible."""
    words = filter(None, (each.strip() for each in text.split(",")))
    found = [_read_voter(word, listener) for word in words]
    if not found:
        raise FormatImpossible("--initial-controllers names nobody")
    name = listener.upper()
    for what, each in (
        ("the id", [str(voter.key.id) for voter in found]),
        ("the directory id", [voter.key.directory_id or "" for voter in found]),
        ("the address", ["{}:{}".format(*voter.endpoints[name]) for voter in found]),
    ):
        twice = next((value for value in each if each.count(value) > 1), None)
        if twice is not None:
            raise FormatImpossible(f"--initial-controllers: {what} {twice} is given twice")
    return VoterSet.of(*sorted(found, key=lambda voter: voter.key.id))


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
        raise FormatImpossible(f"--initial-controllers: nobody reaches {word}")
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
    return ":".join(each.lstrip("0") or "0" for each in groups)


# Directories


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    empty: tuple[str, ...]
    formatted: Mapping[str, MetaProperties]
    unusable: tuple[str, ...]


def _look(request: FormatRequest) -> _Found:
    empty, unusable = [], []
    formatted: dict[str, MetaProperties] = {}
    for path in request.directories:
        try:
            meta = read_meta(path)
        except OSError as error:
            unusable.append(f"{path}: {error.strerror or error}")
            if path == request.metadata_directory:
                raise FormatRefused(
                    f"{path}, where the metadata belongs, cannot be used: {error.strerror or error}"
                ) from error
            continue
        if meta is None:
            empty.append(path)
            continue
        formatted[path] = meta
        _check_meta(request, path, meta)
        if not request.ignore_formatted:
            raise FormatRefused(
                f"{path} is formatted already",
                hint="--ignore-formatted leaves it as it is and formats the others",
            )
    ids = [each.directory_id for each in formatted.values() if each.directory_id]
    if len(set(ids)) != len(ids):
        raise FormatRefused("two directories have the same directory.id: one is a copy")
    for path in empty:
        if lock_holder(path).state is LockState.HELD:
            raise FormatRefused(f"{path} is in use: another process holds its lock")
    return _Found(empty=tuple(empty), formatted=formatted, unusable=tuple(unusable))


def read_meta(path: str) -> MetaProperties | None:
    """A directory's meta.properties; None where there is none. Raises FormatRefused, OSError."""
    if os.path.exists(path) and not os.path.isdir(path):
        raise NotADirectoryError(f"{path} is not a directory")
    if os.path.isdir(path):
        os.listdir(path)  # one that may not be read is not taken for an empty one
    try:
        with open(os.path.join(path, META_PROPERTIES), "rb") as file:
            data = file.read(_META_LIMIT)
    except FileNotFoundError:
        return None
    meta, findings = meta_properties.decode(data)
    if not meta.accepted:
        raise FormatRefused(
            f"{os.path.join(path, META_PROPERTIES)} cannot be read: {findings[0].describe()}",
            hint="Kafka would not start on it either",
        )
    return meta


def _check_meta(request: FormatRequest, path: str, meta: MetaProperties) -> None:
    for key, there, wanted in (
        ("cluster.id", meta.cluster_id, request.cluster_id),
        ("node.id", meta.node_id, request.node_id),
    ):
        if there is not None and there != wanted:
            raise FormatRefused(f"{path} is formatted with {key} {there}, and not {wanted}")


def _refuse_a_second_set(request: FormatRequest, found: _Found, voters: VoterSet | None) -> None:
    """Refuse to begin a quorum where one has begun: its log would have other voters."""
    metadata = request.metadata_directory
    if metadata in found.empty:
        for path in (metadata, *(each for each in request.directories if each != metadata)):
            begun = _begun(os.path.join(path, METADATA_PARTITION))
            if begun:
                raise FormatRefused(
                    f"{begun}: this node has metadata already; what is formatted here would be"
                    " another quorum's beginning",
                    hint="put its meta.properties back, or point metadata.log.dir at it; to begin"
                    " anew, move it away",
                )
    own = voters.voters.get(request.node_id) if voters is not None else None
    meta = found.formatted.get(metadata)
    if own is None or meta is None or request.standalone:
        return
    if meta.directory_id != own.key.directory_id:
        raise FormatRefused(
            f"{metadata} has the directory.id {meta.directory_id or '(none)'}, and"
            f" --initial-controllers gives node {request.node_id} {own.key.directory_id}"
        )


def _begun(partition: str) -> str:
    """What shows that a quorum has begun in a partition's folder; a format may have been cut
    short, so what it writes shows nothing."""
    try:
        names = sorted(os.listdir(partition))
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise KraftoolError(f"{partition} cannot be read: {error.strerror or error}") from error
    for name in names:
        path = os.path.join(partition, name)
        checkpoint, segment = parse_checkpoint_name(name), parse_segment_name(name)
        has_log = segment is not None and segment.suffix == ".log" and os.path.getsize(path) > 0
        is_later = checkpoint is not None and (checkpoint.offset, checkpoint.epoch) != (0, 0)
        if name == "quorum-state" or has_log or is_later:
            return path
    return ""
