"""The documents of `recover apply` and `recover undo` with -o json."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kraftool.repair.plan import Action, Edit, Fingerprint, PlanStep, RequiredSetting
from kraftool.repair.step_commands import with_plan_file
from kraftool.repair.verify import DirectoryCheck
from kraftool.reports.text.json_form import form


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
    needed_settings: tuple[RequiredSetting, ...]
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
