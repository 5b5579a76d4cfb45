"""A server.properties that leads nowhere: its node is lost, or its disk is not mounted.

Owns the question, and the refusal of a plan where nobody said that the node is lost.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError
from kraftool.directory.quorum_settings import settings_of
from kraftool.storage.paths import open_path


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingDirectory:
    """A server.properties whose metadata directory is not there."""

    file: str
    directory: str
    node_id: int | None


def refuse_missing_directories(missing: Sequence[MissingDirectory], lost: Collection[int]) -> None:
    """Raise KraftoolError for directories that are not there, and whose nodes are not lost."""
    others = [one for one in missing if one.node_id not in lost]
    if not others:
        return
    hint = "mount the disk. If it was moved, name the data directory itself"
    ids = {*lost, *(one.node_id for one in others if one.node_id is not None)}
    if ids:
        hint += ". If it is gone for good, declare it:"
        hint += f" --set lost={','.join(map(str, sorted(ids)))}"
    places = "; ".join(f"{one.file} leads to {one.directory}" for one in others)
    raise KraftoolError(f"{places}, which is not there", hint=hint)


def missing_directory(path: str) -> MissingDirectory | None:
    """Return what is missing where a PATH is a server.properties that leads nowhere."""
    if not os.path.isfile(path):
        return None
    location = open_path(path, settings_alone=True)
    if location.server is None or not location.missing:
        return None
    node_id = settings_of(path, location.server).node_id
    return MissingDirectory(file=path, directory=location.missing, node_id=node_id)
