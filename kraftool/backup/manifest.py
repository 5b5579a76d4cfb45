"""The manifest of a backup: what it is of, and what its checkpoint has to be.

Owns the form. The file is the same document as `backup info -o json` prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Count, Moment, in_json
from kraftool.repair.document import from_document
from kraftool.reports.text.json_document import camel, members
from kraftool.storage.backup_files import MANIFEST, BackupFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupFeature:
    """A finalized feature."""

    name: str
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterKey:
    """A voter."""

    id: int
    directory_id: str | None
    """null if the log does not say it."""

    def __str__(self) -> str:
        return str(self.id) if self.directory_id is None else f"{self.id}@{self.directory_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupCheckpoint:
    """The file with the state."""

    path: str
    """Below the folder or URL of all backups. It may lie beside the manifest of an earlier backup
    of the same state."""
    offset: int
    """That of its name: the checkpoint has the records below it."""
    epoch: int
    size: int
    """In bytes, encrypted if the backup is."""
    sha256: str
    """Of these bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A backup."""

    kind: str
    """kraftool backup"""
    name: str
    created: Moment
    kraftool_version: str
    host: str
    """The name of the machine that made it."""
    source: str
    """The PATH, or the leader that was read."""
    cluster_id: str
    """Empty if nothing said it, as beside a single file."""
    offset: int
    """The backup has the state of the records below this offset."""
    epoch: int
    last_timestamp: Moment
    """When the leader appended the last of them."""
    is_committed: bool | None
    """True for a live leader's committed records. null for files, which do not say it."""
    metadata_version: int
    kraft_version: int
    features: tuple[BackupFeature, ...]
    """The finalized ones besides metadata.version."""
    voter_keys: tuple[VoterKey, ...]
    """Empty if they are not in the log, but in the settings of the nodes."""
    state_hash: str
    """Of the checkpoint's state, as kraftool state prints it."""
    brokers: Count
    topics: Count
    partitions: Count
    configs: Count
    acls: Count
    client_quotas: Count
    scram_credentials: Count
    delegation_tokens: Count
    has_secrets: bool
    """False if SCRAM credentials and secret config values were left out."""
    left_out_scram_credentials: Count
    left_out_configs: tuple[str, ...]
    """The resource and the name of each config that was left out."""
    encrypted_to: tuple[str, ...]
    """The public keys. Empty if the checkpoint is not encrypted."""
    checkpoint: BackupCheckpoint

    @property
    @in_json
    def is_encrypted(self) -> bool:
        return bool(self.encrypted_to)

    @property
    def has_own_checkpoint(self) -> bool:
        return self.checkpoint.path.startswith(f"{self.name}/")


_FIELDS = {field.name for field in fields(Manifest)}
_HASH = re.compile("[0-9a-f]{64}")


def read_manifest(files: BackupFiles, name: str) -> Manifest:
    """The manifest of a backup. Raises KraftoolError where there is none, or it is damaged."""
    document = files.manifest(name)
    files.checkpoint_of(document, name)
    try:
        manifest = from_document(Manifest, _members(document), "it")
    except KraftoolError as error:
        raise KraftoolError(
            f"{files.shown_path(f'{name}/{MANIFEST}')}: {error.message}", hint=error.hint
        ) from None
    if manifest.name != name:
        raise KraftoolError(
            f"{files.shown_path(f'{name}/{MANIFEST}')}: it is the manifest of {manifest.name}",
            hint="a backup's folder keeps its name",
        )
    if problem := _contradiction(manifest):
        raise KraftoolError(f"{files.shown_path(f'{name}/{MANIFEST}')}: {problem}")
    return manifest


def _contradiction(manifest: Manifest) -> str:
    """Return the contradiction in a manifest; empty if it has none."""
    checkpoint = manifest.checkpoint
    file = checkpoint.path.partition("/")[2]
    if (int(file[:20]), int(file[21:31])) != (checkpoint.offset, checkpoint.epoch):
        return f"its checkpoint {file} is not that of offset {checkpoint.offset}"
    if manifest.offset < checkpoint.offset:
        return f"its checkpoint is newer than its offset {manifest.offset}"
    if not _HASH.fullmatch(manifest.state_hash) or not _HASH.fullmatch(checkpoint.sha256):
        return "it has a hash that is not one"
    return ""


def _members(document: Mapping[str, Any]) -> dict[str, Any]:
    """The members by their attributes. Times in words, and what a newer kraftool adds, are not
    read."""
    return {
        camel(member.attribute): document[member.name]
        for member in members(Manifest)
        if member.name in document and member.attribute in _FIELDS
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadBackup:
    """A folder of a backup whose manifest is missing or damaged."""

    name: str
    is_unfinished: bool
    """True if there is no manifest."""
    reason: str


def read_all(files: BackupFiles) -> tuple[list[Manifest], list[UnreadBackup]]:
    """All backups, the oldest first, and the folders that are none."""
    manifests: list[Manifest] = []
    unread: list[UnreadBackup] = []
    for name in files.names():
        if not files.has(f"{name}/{MANIFEST}"):
            unread.append(UnreadBackup(name=name, is_unfinished=True, reason="it has no manifest"))
            continue
        try:
            manifests.append(read_manifest(files, name))
        except KraftoolError as error:
            unread.append(UnreadBackup(name=name, is_unfinished=False, reason=error.message))
    # What prune left of a backup because a later one needs its checkpoint is no backup any more.
    needed = {manifest.checkpoint.path.partition("/")[0] for manifest in manifests}
    return manifests, [one for one in unread if not (one.is_unfinished and one.name in needed)]


def newest(files: BackupFiles, name: str = "") -> Manifest:
    """The manifest of a backup; the newest one without a name. Raises KraftoolError."""
    if name:
        return read_manifest(files, name)
    for manifest in newest_first(files):
        return manifest
    raise KraftoolError(
        f"{files.shown}: no backup is there",
        hint="name the folder or URL that kraftool backup create was given",
    )


def newest_first(files: BackupFiles) -> Iterator[Manifest]:
    """Yield the manifests that can be read, each when it is asked for."""
    for name in reversed(files.names()):
        if files.has(f"{name}/{MANIFEST}"):
            with suppress(KraftoolError):
                yield read_manifest(files, name)
