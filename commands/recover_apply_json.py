"""The documents of `recover apply` and `recover undo` with -o json."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kraftool.decoders.json_marks import Count, Moment
from kraftool.raft.names import ReplicaKey
from kraftool.repair.plan import Action, Edit, Fingerprint, PlanStep
from kraftool.repair.step_commands import with_plan_file
from kraftool.repair.verify import DirectoryCheck
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_form import form
from kraftool.storage.repair_journal import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintObject:
    """Size and hash of a file."""

    size: int
    sha256: str


@form
def fingerprint_object(fingerprint: Fingerprint) -> FingerprintObject:
    return FingerprintObject(size=fingerprint.size, sha256=fingerprint.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditObject:
    """A file before and after."""

    path: str
    """Below the data directory."""
    edit: Literal["create", "replace", "remove"]
    before: Fingerprint | None
    after: Fingerprint | None
    is_computed: bool
    """True for a checkpoint that is made where the plan is applied, with an unknown hash before."""
    reason: str


@form
def edit_object(edit: Edit) -> EditObject:
    return EditObject(
        path=edit.target.path,
        edit="remove" if edit.is_removal else "create" if edit.before is None else "replace",
        before=edit.before,
        after=edit.after,
        is_computed=edit.snapshot is not None,
        reason=edit.why,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStepObject:
    """A step for a person."""

    number: int
    """The step's number in the plan."""
    action: Action
    hosts: tuple[str, ...]
    what: str
    commands: tuple[str, ...]


def steps(of: Iterable[tuple[int, PlanStep]], file: str) -> tuple[PlanStepObject, ...]:
    """Steps whose commands name the plan's file."""
    return tuple(
        PlanStepObject(
            number=number,
            action=plan_step.action,
            hosts=plan_step.hosts,
            what=plan_step.text,
            commands=tuple(with_plan_file(one, file) for one in plan_step.commands),
        )
        for number, plan_step in of
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededSetting:
    """A line that server.properties needs."""

    key: str
    value: str
    """Empty for no such line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryCheckObject:
    """The state of a directory."""

    path: str
    host: str
    changes: Count
    """Files that the plan changes there."""
    stage: Stage
    ended: Moment | None
    """When the plan was applied or undone."""
    has_moved_on: bool
    """True if a node has run on it since the plan was applied."""
    is_running: bool
    """True if a process holds its lock."""
    voter_keys: tuple[ReplicaKey, ...]
    """By its own log and snapshots; empty with static voters."""
    findings: tuple[Finding, ...]


@form
def directory_check_object(checked: DirectoryCheck) -> DirectoryCheckObject:
    return DirectoryCheckObject(
        path=checked.path,
        host=checked.host,
        changes=checked.changes,
        stage=checked.stage,
        ended=checked.ended_ms or None,
        has_moved_on=checked.has_moved_on,
        is_running=checked.is_running,
        voter_keys=checked.voters,
        findings=checked.findings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyDocument:
    """The changes of a plan in a directory, planned or made."""

    command: Literal["apply"] = "apply"
    plan_id: str
    host: str
    """The host of the plan to which the directory belongs."""
    is_dry_run: bool
    """True if nothing was written."""
    is_already_done: bool
    """True if the plan was applied before, or changes no file here."""
    edits: tuple[Edit, ...]
    """In the order in which files change."""
    needed_settings: tuple[NeededSetting, ...]
    backup: str | None
    """The folder of the originals and the journal; null where no file changes."""
    checked: DirectoryCheck | None
    """The state afterwards; null with --dry-run."""
    next_steps: tuple[PlanStepObject, ...]
    """The steps that are left for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoDocument:
    """The files that were restored."""

    command: Literal["undo"] = "undo"
    plan_id: str
    host: str
    is_already_done: bool
    restored: tuple[str, ...]
    """Files with their old bytes."""
    removed: tuple[str, ...]
    """Files that the plan made."""
    backup: str | None
