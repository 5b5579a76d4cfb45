"""The document of `storage format -o json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kraftool.commands.format_release import Release
from kraftool.reports.text.json_forms import VoterObject, voter_object
from kraftool.storage.format_plan import DirectoryRole, FormatPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramUserObject:
    """A user whose credential is written."""

    name: str
    mechanism: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FormattedDirectory:
    """A directory that is formatted."""

    path: str
    role: DirectoryRole
    directory_id: str
    """With --dry-run, an id that is chosen by lot will be another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatDocument:
    """The directories that were formatted, or with --dry-run would be."""

    is_dry_run: bool
    """True if nothing was written."""
    cluster_id: str
    node_id: int
    levels: Mapping[str, int]
    """The level of each feature that the cluster starts with; empty where no record is written."""
    metadata_version_source: str | None
    """The origin of metadata.version: an option, the jar of --kafka-home, or the quorum of
    --bootstrap-controller; null if none is given."""
    scram_users: tuple[ScramUserObject, ...]
    voters: tuple[VoterObject, ...]
    """The first voters; empty where none are written."""
    directories: tuple[FormattedDirectory, ...]
    formatted: tuple[str, ...]
    """Directories that were formatted already and stay as they are."""
    unusable: tuple[str, ...]
    """Directories that could not be read, and why; they are left out."""
    notes: tuple[str, ...]


def format_document(plan: FormatPlan, release: Release, *, dry_run: bool) -> FormatDocument:
    return FormatDocument(
        is_dry_run=dry_run,
        cluster_id=plan.cluster_id,
        node_id=plan.node_id,
        levels=dict(plan.levels),
        metadata_version_source=release.source or None,
        scram_users=tuple(
            ScramUserObject(name=scram_user.name, mechanism=scram_user.mechanism)
            for scram_user in plan.scram
        ),
        voters=tuple(voter_object(voter) for voter in plan.voters or ()),
        directories=tuple(
            FormattedDirectory(
                path=directory.path, role=directory.role, directory_id=directory.directory_id
            )
            for directory in plan.directories
        ),
        formatted=tuple(plan.formatted),
        unusable=tuple(plan.unusable),
        notes=tuple(plan.notes),
    )
