"""The traces of `recover apply` in a directory: plans that are half done, or were carried out.

Owns the findings of it that every report tells: a node that starts on a half-done directory makes
it worse. Of a journal it reads the stages, and which files the plan makes: a node goes on from such
a checkpoint without a log, and begins the epoch of such a quorum-state. Whether all files are as
planned is for `recover verify`.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Sequence
from dataclasses import field

from kraftool.decoders import quorum_state
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_FOLDER, parse_checkpoint_name, segment_offset
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import repair as kinds
from kraftool.storage.files import Files
from kraftool.storage.paths import Location, LocationKind
from kraftool.storage.repair_journal import NAME, Entry, Stage, entries_at, folders_in, stage_of
from kraftool.storage.source import FileSource


@dataclass(slots=True)
class Repairs:
    """All plans that have a folder in a metadata partition's."""

    findings: list[Finding] = field(default_factory=list)
    planned: set[str] = field(default_factory=set)
    """The names of checkpoints that a node goes on from without a log, as an applied plan left
    them; and quorum-state, if it is as a plan wrote it: then no node has run since."""


def repairs_in(location: Location) -> Repairs:
    """Return what is told of plans in a directory; nothing is raised for what cannot be read."""
    repairs = Repairs()
    partition = location.directory
    if location.kind is not LocationKind.PARTITION:
        partition = os.path.join(partition, METADATA_FOLDER)
    if not os.access(partition, os.X_OK):
        return repairs  # nothing shows that a plan left something there
    try:
        folders = folders_in(partition)
    except OSError as error:
        where = error.filename or partition
        finding = kinds.KEPT.at(where, f"it cannot be read: {error.strerror or error}")
        return Repairs(findings=[finding])
    for folder in folders:
        try:
            entries = entries_at(Files(), os.path.join(folder, NAME))
            planned = _without_log(entries, partition) | _quorum_state(entries, partition)
        except OSError as error:
            finding = kinds.KEPT.at(folder, f"it cannot be read: {error.strerror or error}")
        except KraftoolError as error:
            finding = dir_kinds.UNREADABLE.at(folder, error.message, advice=error.hint or None)
        else:
            stage = stage_of(entries)
            finding = _finding(folder, stage, location.data_directory)
            if stage is Stage.APPLIED:
                repairs.planned |= planned
        repairs.findings.append(finding)
    return repairs


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


def _finding(folder: str, stage: Stage, directory: str) -> Finding:
    text = f"recovery plan {os.path.basename(folder)} is {stage.value} here"
    if stage not in (Stage.CHANGING, Stage.UNDOING):
        return kinds.KEPT.at(folder, text)
    return kinds.HALF.at(folder, text, advice=how_to_finish(folder, stage, directory))


def how_to_finish(folder: str, stage: Stage, directory: str) -> str:
    """The command for a plan that is half done; its folder has the plan."""
    verb = "apply" if stage is Stage.CHANGING else "undo"
    plan, where = shlex.quote(os.path.join(folder, "plan.yaml")), shlex.quote(directory)
    command = f"kraftool recover {verb} {plan} --dir {where}"
    back = ", or undo it with recover undo" if stage is Stage.CHANGING else ""
    return f"do not start the node. Finish the plan with {command}{back}"
