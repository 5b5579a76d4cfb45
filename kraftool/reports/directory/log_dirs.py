"""The other directories of log.dirs, as far as Kafka looks at them before it starts.

Owns the comparison of their meta.properties with that of the directory that has the metadata. It
refuses to read anything else of them: they hold topics.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import META_PROPERTIES, METADATA_FOLDER
from kraftool.directory.metadata_summary import NodeIds
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.storage.meta_file import read_meta
from kraftool.storage.paths import Location

_MOUNT_OR_FORMAT = (
    "mount its disk, or put back the directory that belongs there. If it should be a new,"
    " empty one, run kraftool format --ignore-formatted with the cluster's id"
)

_COPIED = (
    "put back the directory that belongs there. If only meta.properties was copied, run kraftool"
    " recover plan: it prints the command that repairs it"
)


@dataclass(slots=True)
class _Ids:
    """The ids of the directories so far; the first one of each decides."""

    cluster_id: str | None
    node_id: int | None
    paths: dict[str, str] = field(default_factory=dict)
    """The directory of each directory id."""


def findings_of_log_dirs(
    location: Location, home: NodeIds, node_id: int | None
) -> Iterator[Finding]:
    """Yield what keeps Kafka from starting with the other directories that server.properties names.

    `home`: what the directory with the metadata says; `node_id`: what the configuration does.
    """
    ids = _Ids(home.cluster_id, node_id if node_id is not None else home.node_id)
    if home.directory_id is not None:
        ids.paths[home.directory_id] = location.directory
    yield from _metadata_elsewhere(location)
    seen = {os.path.realpath(location.directory)}
    for path in location.log_dirs:
        if "${" in path or os.path.realpath(path) in seen:
            continue
        seen.add(os.path.realpath(path))
        name = os.path.join(path, META_PROPERTIES)
        try:
            meta = read_meta(path)
        except (KraftoolError, OSError) as error:
            yield dir_kinds.LOG_DIR_OFFLINE.at(name, str(error))
            continue
        if meta is None:
            there = "does not exist" if not os.path.isdir(path) else "has no meta.properties"
            text = f"{path} is one of log.dirs, but {there}"
            yield dir_kinds.LOG_DIR.at(name, text, advice=_MOUNT_OR_FORMAT)
        else:
            yield from _compared(name, path, meta, ids)


def _metadata_elsewhere(location: Location) -> Iterator[Finding]:
    """Yield where the metadata log is, if Kafka looks for it in another directory."""
    expected = location.expected_directory or location.directory
    for path in dict.fromkeys(location.log_dirs):
        folder = os.path.join(path, METADATA_FOLDER)
        if "${" in path or not os.path.isdir(folder) or _is_same(path, expected):
            continue
        if not location.expected_directory:
            text = f"Kafka looks for the metadata in {expected}, but this folder exists too"
            yield dir_kinds.METADATA_PLACE.at(folder, text)
            continue
        yield dir_kinds.METADATA_PLACE.at(
            folder,
            f"the metadata log is here, but Kafka looks for it in {expected}",
            advice=f"with Kafka stopped, mount {expected} and {path} in each other's place. If the"
            f" mounts are right, set metadata.log.dir={path}. Do not remove the voter: its log is"
            " here",
        )


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _compared(name: str, path: str, meta: MetaProperties, ids: _Ids) -> Iterator[Finding]:
    if meta.cluster_id is not None:
        ids.cluster_id = ids.cluster_id or meta.cluster_id
        if meta.cluster_id != ids.cluster_id:
            yield _differs(name, "cluster.id", "cluster", ids.cluster_id, meta.cluster_id)
    if meta.node_id is not None:
        ids.node_id = meta.node_id if ids.node_id is None else ids.node_id
        if meta.node_id != ids.node_id:
            yield _differs(name, "node.id", "node", str(ids.node_id), str(meta.node_id))
    if meta.directory_id is not None:
        other = ids.paths.setdefault(meta.directory_id, path)
        if other != path:
            text = f"{other} has the same directory.id {meta.directory_id}: one is a copy"
            yield dir_kinds.LOG_DIR.at(name, text, field="directory.id", advice=_COPIED)


def _differs(name: str, field: str, noun: str, expected: str, actual: str) -> Finding:
    text = f"a directory of another {noun}, {actual}, beside one of {noun} {expected}"
    return dir_kinds.LOG_DIR.at(name, text, field=field, expected=expected, found=actual)
