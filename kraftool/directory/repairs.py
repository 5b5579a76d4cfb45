"""The traces of `recover apply` in a directory: plans that are half done, or were carried out.

Owns what of a journal is read: the stage, and which files the plan made. A node goes on from such a
checkpoint without a log, and begins the epoch of such a quorum-state. Whether all files are as
planned is for `recover verify`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from kraftool.decoders import quorum_state
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_FOLDER, parse_checkpoint_name, segment_offset
from kraftool.storage.entry import EntryProblem
from kraftool.storage.files import Files
from kraftool.storage.paths import Location, LocationKind
from kraftool.storage.repair_journal import NAME, Entry, Stage, entries_at, folders_in, stage_of
from kraftool.storage.source import FileSource


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairTrace:
    """A plan that has a folder in a metadata partition's."""

    folder: str
    directory: str
    """The data directory."""
    stage: Stage | None = None
    """None if the journal could not be read."""
    planned: frozenset[str] = frozenset()
    """The names of checkpoints that a node goes on from without a log, as an applied plan left
    them; and quorum-state, if it is as a plan wrote it: then no node has run since."""
    unread: EntryProblem | None = None
    is_damaged: bool = False
    """True if the content of the journal is why it could not be read."""


def repairs_in(location: Location) -> tuple[RepairTrace, ...]:
    """Return the plans in a directory; nothing is raised for what cannot be read."""
    partition = location.directory
    if location.kind is not LocationKind.PARTITION:
        partition = os.path.join(partition, METADATA_FOLDER)
    if not os.access(partition, os.X_OK):
        return ()  # nothing shows that a plan left something there
    directory = location.data_directory
    try:
        folders = folders_in(partition)
    except OSError as error:
        problem = _problem(error.filename or partition, error)
        return (RepairTrace(folder=partition, directory=directory, unread=problem),)
    return tuple(_repair(folder, partition, directory) for folder in folders)


def _repair(folder: str, partition: str, directory: str) -> RepairTrace:
    try:
        entries = entries_at(Files(), os.path.join(folder, NAME))
        planned = _without_log(entries, partition) | _quorum_state(entries, partition)
    except OSError as error:
        return RepairTrace(folder=folder, directory=directory, unread=_problem(folder, error))
    except KraftoolError as error:
        problem = EntryProblem(name=folder, reason=error.message, hint=error.hint)
        return RepairTrace(folder=folder, directory=directory, unread=problem, is_damaged=True)
    stage = stage_of(entries)
    is_applied = stage is Stage.APPLIED
    return RepairTrace(
        folder=folder,
        directory=directory,
        stage=stage,
        planned=frozenset(planned if is_applied else ()),
    )


def _problem(name: str, error: OSError) -> EntryProblem:
    return EntryProblem(name=name, reason=f"it cannot be read: {error.strerror or error}")


def _without_log(entries: Sequence[Entry], partition: str) -> set[str]:
    """Return the checkpoints that a plan made; if it made none and removed the log, all of them."""
    made: set[str] = set()
    removed = kept = False
    for entry in entries:
        changes = entry.get("changes")
        for change in changes if isinstance(changes, list) else ():
            name = _target_name(change)
            if not name:
                continue
            if "before" not in change and parse_checkpoint_name(name):
                made.add(name)
            if segment_offset(name) is not None:
                removed, kept = removed or "after" not in change, kept or "after" in change
    if made or kept or not removed:
        return made
    return {name for name in os.listdir(partition) if parse_checkpoint_name(name)}


def _quorum_state(entries: Sequence[Entry], partition: str) -> set[str]:
    """Return the name of quorum-state if the file has the content that a plan gave it."""
    names: list[str] = []
    wanted: object = None
    for entry in entries:
        match entry:
            case {"kind": "begin", "changes": list() as changes}:
                names = [_target_name(change) for change in changes]
            case {"kind": "ready", "after": list() as after}:
                by_name = dict(zip(names, after, strict=False))
                wanted = by_name.get(quorum_state.FILE_NAME, wanted)
    if not isinstance(wanted, dict) or not isinstance(wanted.get("fingerprint"), dict):
        return set()
    try:
        with FileSource(os.path.join(partition, quorum_state.FILE_NAME)) as file:
            content = file.read_at(0, file.size())
    except KraftoolError:
        return set()
    is_planned = hashlib.sha256(content).hexdigest() == wanted["fingerprint"].get("sha256")
    return {quorum_state.FILE_NAME} if is_planned else set()


def _target_name(change: object) -> str:
    match change:
        case {"target": {"name": str() as name}}:
            return name
    return ""
