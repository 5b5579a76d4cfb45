"""The plan of a format: decided whole before anything is written.

Owns which directories are formatted as what, and the refusals: those of kafka-storage, and also
whatever would give one cluster two voter sets, which kafka-storage lets pass.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.decoders.json_marks import Hidden
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import parse_checkpoint_name, parse_segment_name
from kraftool.image.metadata_version import (
    KAFKA_4_4_LEVEL,
    KRAFT_VERSION,
    METADATA_VERSION,
    SCRAM_LEVEL,
)
from kraftool.raft.names import Voter, VoterSet
from kraftool.storage.entry import METADATA_PARTITION
from kraftool.storage.format_levels import FormatImpossible, FormatRefused, starting_levels
from kraftool.storage.format_request import FormatRequest
from kraftool.storage.format_voters import first_voters
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.meta_file import read_meta
from kraftool.storage.random_ids import random_directory_id
from kraftool.storage.scram_records import ScramUser


class DirectoryRole(StrEnum):
    """The role for which a directory is formatted, in kafka-storage's words."""

    LOG = "data directory"
    STATIC_METADATA = "metadata directory"
    DYNAMIC_METADATA = "dynamic metadata directory"
    DYNAMIC_VOTER = "dynamic metadata voter directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDirectory:
    """A directory that is formatted."""

    path: str
    role: DirectoryRole
    directory_id: str
    """With --dry-run, an id that is chosen by lot will be another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatPlan:
    """The directories that were formatted, or with --dry-run would be."""

    is_dry_run: bool
    """True if nothing was written."""
    cluster_id: str
    node_id: int
    is_controller: Hidden[bool]
    levels: Mapping[str, int]
    """The level of each feature that the cluster starts with; empty where no record is written."""
    metadata_version_source: str | None
    """The origin of metadata.version: an option, the jar of --kafka-home, or the quorum of
    --bootstrap-controller; None if none is given."""
    scram_users: tuple[ScramUser, ...]
    voters: tuple[Voter, ...]
    """The first voters; empty where none are written."""
    directories: tuple[PlannedDirectory, ...]
    formatted: tuple[str, ...]
    """Directories that were formatted already and stay as they are."""
    unusable: tuple[str, ...]
    """Directories that could not be read, and why; they are left out."""
    notes: tuple[str, ...]

    @property
    def metadata_version(self) -> int | None:
        return self.levels.get(METADATA_VERSION)

    @property
    def is_beginning(self) -> bool:
        """True if the metadata directory is among those that are formatted, with what is first."""
        return _has_metadata(self.directories)

    @property
    def in_one_file(self) -> bool:
        """True if the records are in the first snapshot, and no bootstrap.checkpoint is: so it is
        with the servers of 4.4 and newer."""
        return self.metadata_version is not None and self.metadata_version >= KAFKA_4_4_LEVEL

    @property
    def has_bootstrap_checkpoint(self) -> bool:
        """True if the records are in a file of their own in each directory."""
        return bool(self.levels) and not self.in_one_file

    def has_first_snapshot(self, planned: PlannedDirectory) -> bool:
        """True if a directory gets a 0-0 snapshot."""
        if not self.levels:
            return False
        if self.in_one_file:
            return self.is_controller and planned.role is not DirectoryRole.LOG
        return planned.role in (DirectoryRole.DYNAMIC_METADATA, DirectoryRole.DYNAMIC_VOTER)

    def records(self) -> list[bytes]:
        """The first records of the cluster. kraft.version has none: a control record tells it."""
        named = sorted(set(self.levels) - {METADATA_VERSION, KRAFT_VERSION})
        level_records = [
            encode_record(
                "FeatureLevelRecord", 0, {"name": name, "featureLevel": self.levels[name]}
            )
            for name in (METADATA_VERSION, *named)
            if self.levels[name] > 0
        ]
        return level_records + [
            encode_record("UserScramCredentialRecord", 0, scram_user.record)
            for scram_user in self.scram_users
        ]


def plan_format(request: FormatRequest) -> FormatPlan:
    """Decide everything. Raises FormatRefused."""
    voters, notes = first_voters(request)
    if voters is not None and request.running_cluster == request.cluster_id:
        raise FormatRefused(
            f"cluster {request.cluster_id} is running and has voters; these would be a second"
            " voter set",
            hint="--no-initial-controllers formats a controller that joins it",
        )
    levels = _levels(request)
    if request.scram_users and levels[METADATA_VERSION] < SCRAM_LEVEL:
        raise FormatImpossible(f"SCRAM users need {METADATA_VERSION}={SCRAM_LEVEL} (3.5-IV2)")
    survey = _existing(request)
    _refuse_a_second_set(request, survey, voters)
    directories = tuple(_planned(request, path, voters) for path in survey.empty)
    return FormatPlan(
        is_dry_run=request.is_dry_run,
        cluster_id=request.cluster_id,
        node_id=request.node_id,
        is_controller=request.is_controller,
        levels=levels,
        metadata_version_source=request.metadata_version_source,
        scram_users=tuple(request.scram_users),
        voters=tuple(voters or ()),
        directories=directories,
        formatted=tuple(survey.formatted),
        unusable=survey.unusable,
        notes=tuple(notes) if _has_metadata(directories) else (),
    )


def _levels(request: FormatRequest) -> dict[str, int]:
    """The levels of the first records. There is no default: a server that is older than the level
    exits on such a directory (3.9.1), or passes over the records in it (4.3.0)."""
    if not request.release and METADATA_VERSION not in request.features:
        if not request.writes_records:
            return {}
        raise FormatImpossible(
            f"the {METADATA_VERSION} of the new cluster is not given",
            hint="give the release of its oldest server with --release-version, such as 4.3. Or"
            " use --kafka-home with the folder of that Kafka, --bootstrap-controller to use"
            f" the level of a running quorum, or --feature {METADATA_VERSION}=LEVEL",
        )
    is_dynamic = not request.static_voters
    return starting_levels(request.release, request.features, is_dynamic=is_dynamic)


def _has_metadata(directories: Sequence[PlannedDirectory]) -> bool:
    return any(directory.role is not DirectoryRole.LOG for directory in directories)


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


# Directories


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    empty: tuple[str, ...]
    formatted: Mapping[str, MetaProperties]
    unusable: tuple[str, ...]


def _existing(request: FormatRequest) -> _Found:
    empty, unusable = [], []
    formatted: dict[str, MetaProperties] = {}
    for path in request.directories:
        try:
            meta = read_meta(path)
        except KraftoolError as error:
            raise FormatRefused(error.message, hint=error.hint) from error
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
                hint="--ignore-formatted leaves it unchanged and formats the others",
            )
    ids = [
        formatted_meta.directory_id
        for formatted_meta in formatted.values()
        if formatted_meta.directory_id
    ]
    if len(set(ids)) != len(ids):
        raise FormatRefused("two directories have the same directory.id: one is a copy")
    for path in empty:
        if lock_holder(path).state is LockState.HELD:
            raise FormatRefused(f"{path} is in use: another process holds its lock")
    return _Found(empty=tuple(empty), formatted=formatted, unusable=tuple(unusable))


def _check_meta(request: FormatRequest, path: str, meta: MetaProperties) -> None:
    for key, there, wanted in (
        ("cluster.id", meta.cluster_id, request.cluster_id),
        ("node.id", meta.node_id, request.node_id),
    ):
        if there is not None and there != wanted:
            raise FormatRefused(f"{path} is formatted with {key} {there}, not {wanted}")


def _refuse_a_second_set(request: FormatRequest, survey: _Found, voters: VoterSet | None) -> None:
    """Refuse to begin a quorum where one has begun: its log would have other voters."""
    metadata = request.metadata_directory
    if metadata in survey.empty:
        for path in (
            metadata,
            *(directory for directory in request.directories if directory != metadata),
        ):
            begun = _begun(os.path.join(path, METADATA_PARTITION))
            if begun:
                raise FormatRefused(
                    f"{begun}: this node already has metadata. Formatting here would start"
                    " another quorum",
                    hint="put its meta.properties back, or point metadata.log.dir at it. To start"
                    " from scratch, move it away",
                )
    own = voters.voters.get(request.node_id) if voters is not None else None
    meta = survey.formatted.get(metadata)
    if own is None or meta is None or request.standalone:
        return
    if meta.directory_id != own.key.directory_id:
        raise FormatRefused(
            f"{metadata} has the directory.id {meta.directory_id or '(none)'}, but"
            f" --initial-controllers gives node {request.node_id} {own.key.directory_id}"
        )


def _begun(partition: str) -> str:
    """Return what shows that a quorum has begun in a partition's folder; a format may have been cut
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
