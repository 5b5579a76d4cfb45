"""The formatted directories of a configuration, and what does not fit.

Owns the questions that `kafka-storage info` answers. It refuses to look further than
meta.properties.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import META_PROPERTIES
from kraftool.storage.meta_file import read_meta


@dataclass(frozen=True, slots=True, kw_only=True)
class Formatted:
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


def read_formatted(directories: Iterable[str], notes: Iterable[str]) -> Formatted:
    """Read each directory's meta.properties and compare them."""
    there: list[str] = []
    problems: list[str] = []
    first: MetaProperties | None = None
    for path in sorted(directories):
        if not os.path.isdir(path):
            is_file = os.path.exists(path)
            problems.append(f"{path} {'is not a directory' if is_file else 'does not exist'}")
            continue
        there.append(path)
        try:
            meta = read_meta(path)
        except KraftoolError as error:
            problems.append(error.message)
            continue
        except OSError as error:
            problems.append(
                f"{os.path.join(path, META_PROPERTIES)} cannot be read: {error.strerror or error}"
            )
            continue
        if meta is None:
            problems.append(f"{path} is not formatted.")
        elif first is None:
            first = meta
        elif meta.cluster_id != first.cluster_id:
            problems.append("Mismatched cluster IDs between storage directories.")
        elif meta.node_id != first.node_id:
            problems.append("Mismatched node IDs between storage directories.")
    if first is not None and first.version == 0:
        problems.append(f"{META_PROPERTIES} has version 0: formatted for ZooKeeper, not for KRaft")
    meta = first or MetaProperties(version=None)
    return Formatted(
        log_dirs=tuple(there),
        cluster_id=meta.cluster_id,
        directory_id=meta.directory_id,
        node_id=meta.node_id,
        version=meta.version,
        problems=tuple(problems),
        notes=tuple(notes),
    )
