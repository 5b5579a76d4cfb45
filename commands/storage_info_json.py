"""The document of `storage info -o json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftool.storage.formatted import Formatted


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageInfoDocument:
    """The directories of a configuration, and how they are formatted."""

    log_dirs: tuple[str, ...]
    """Those that exist, formatted or not."""
    cluster_id: str | None
    """Of the first formatted directory, as are the next ones; None if no directory is formatted."""
    directory_id: str | None
    node_id: int | None
    version: int | None
    """Of meta.properties."""
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    """On the configuration."""


def storage_info_document(formatted: Formatted, notes: Sequence[str]) -> StorageInfoDocument:
    meta = formatted.meta
    return StorageInfoDocument(
        log_dirs=formatted.directories,
        cluster_id=None if meta is None else meta.cluster_id,
        directory_id=None if meta is None else meta.directory_id,
        node_id=None if meta is None else meta.node_id,
        version=None if meta is None else meta.version,
        problems=formatted.problems,
        notes=tuple(notes),
    )
