"""The commit of a run, made of what its units of work report.

Owns what is remembered of each cluster from now on, and which rows the new ones replace. A log that
was lost while it was read is as if this run had not looked at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kraftool.spark.tables.memory import ClusterKey, GroupMemory, LogMemory
from kraftool.spark.tables.new_batches import ReadTail, TailsByCluster, listing_of
from kraftool.spark.tables.plan import ClusterTask
from kraftool.spark.tables.replaced_rows import ReplacedRows
from kraftool.spark.tables.sink import StagedFile
from kraftool.spark.tables.work import Done, Ranges, Unit, Whole

_Outcome = tuple[Unit, Done]


@dataclass(slots=True)
class CommitPlan:
    """The files that come, the rows that go, and what is remembered."""

    added: dict[str, list[StagedFile]] = field(default_factory=dict)
    replaced: ReplacedRows = field(default_factory=ReplacedRows)
    memories: dict[str, bytes | None] = field(default_factory=dict)
    """By the keys of clusters; None for one that is forgotten."""
    unreadable: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.memories

    def take(self, files: Iterable[StagedFile]) -> None:
        for file in files:
            self.added.setdefault(file.table, []).append(file)


def commit_plan(
    tasks: Iterable[ClusterTask], tails: TailsByCluster, done: Iterable[_Outcome]
) -> CommitPlan:
    """Put together what was done for some clusters."""
    outcomes: dict[ClusterKey, list[_Outcome]] = {}
    for unit, outcome in done:
        outcomes.setdefault(unit.key, []).append((unit, outcome))
    plan = CommitPlan()
    for task in tasks:
        key = task.group.key
        _add(plan, task, tails.get(key, {}), outcomes.get(key, []))
    return plan


def _add(
    plan: CommitPlan, task: ClusterTask, tails: Mapping[str, ReadTail], done: Sequence[_Outcome]
) -> None:
    """Add one cluster."""
    lost = {folder for _, outcome in done for folder in outcome.lost}
    plan.unreadable += sorted(lost)
    if any(tails[folder].change is not None for folder in lost if folder in tails):
        # Rows of the log as it was would be gone, and those of the log as it is not there.
        return
    after = None if task.forgotten else _remembered(task, tails, done, lost)
    if after is not None:
        plan.unreadable += [name for name in after.unreadable if name]
        if _is_as_it_was(task, after):
            return
    key, before, replaced = task.group.key, task.before, plan.replaced
    plan.memories[key.text] = None if after is None else after.to_json()
    if not task.only_gone:
        replaced.add_key(key)
    for name in (*task.moved, *_unread_before(task)):
        if name in before.logs:
            replaced.add_log(name, "", 0)
        else:
            replaced.add_file(name)
    for folder, tail in tails.items():
        if folder in lost:
            continue
        known = before.logs.get(folder)
        if known is not None and known.tail and tail.tail is not None:
            # Rows behind what was read are there until that changes.
            replaced.add_log(folder, known.state.segment, known.state.position)
        if tail.change is not None and tail.change.change == "TRUNCATED":
            replaced.add_log(folder, tail.change.segment, tail.change.position)
    for unit, outcome in done:
        plan.take(outcome.notes)
        if isinstance(unit, Whole) and unit.split.file.name in before.wholes:
            replaced.add_file(unit.split.file.name)
        if not (isinstance(unit, Ranges) and unit.folders <= lost):
            plan.take(outcome.files)


def _unread_before(task: ClusterTask) -> list[str]:
    """Checkpoints that could not be read, and are no longer there: their rows say only that."""
    if task.only_gone:
        return []
    wholes = task.before.wholes
    return [name for name in wholes if name not in task.group.wholes and not wholes[name]]


def _is_as_it_was(task: ClusterTask, after: GroupMemory) -> bool:
    """True if a cluster was looked at only since something could not be read the last time, and
    could not be read again. What this run wrote of it is in the tables already."""
    before = task.before
    return bool(before.unreadable) and not task.gone and not task.moved and before == after


def _remembered(
    task: ClusterTask, tails: Mapping[str, ReadTail], done: Sequence[_Outcome], lost: set[str]
) -> GroupMemory:
    before = task.before
    unreadable = {name for _, outcome in done for name in outcome.unreadable}
    logs, wholes = dict(before.logs), dict(before.wholes)
    for folder, (state, _) in task.gone.items():
        logs[folder] = replace(logs[folder], listing="", state=state)
    for folder, tail in tails.items():
        unreadable |= set(tail.unreadable)
        if folder not in lost:
            listing = "" if tail.unreadable else listing_of(task.group.logs[folder])
            logs[folder] = LogMemory(listing=listing, state=tail.state, tail=tail.tail_listing)
    for name in (*task.moved, *_unread_before(task)):
        logs.pop(name, None)
        wholes.pop(name, None)
    for unit, outcome in done:
        if isinstance(unit, Whole):
            file = unit.split.file
            wholes[file.name] = "" if outcome.unreadable else listing_of([file])
    return GroupMemory(
        key=before.key,
        listing="" if lost else task.listing,
        logs=logs,
        wholes=wholes,
        unreadable=tuple(sorted(unreadable)),
    )
