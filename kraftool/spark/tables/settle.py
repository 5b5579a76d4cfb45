"""The result of units of work, ready to be committed: files that come, files that go.

Owns what is remembered of each cluster from now on. A log that was lost while it was read is as if
this run had not looked at it. It refuses to touch files, but for the memory that it adds to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kraftool.spark.tables.looking import Looked, listing_of
from kraftool.spark.tables.memory import GroupMemory, LogMemory, Stored, WholeMemory
from kraftool.spark.tables.plan import ClusterTask
from kraftool.spark.tables.sink import StagedFile
from kraftool.spark.tables.state import StateFile
from kraftool.spark.tables.work import (
    Done,
    FindingsUnit,
    Ranges,
    States,
    Stories,
    Tail,
    Unit,
    Whole,
)


@dataclass(slots=True)
class Settled:
    """The result for some clusters: the files that come, and those that go."""

    staged: list[StagedFile] = field(default_factory=list)
    removed: list[Stored] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def take(self, files: Iterable[StagedFile]) -> tuple[Stored, ...]:
        """Add files to the tables."""
        taken = list(files)
        self.staged += taken
        return tuple(Stored(file.path, file.rows, file.size) for file in taken)


@dataclass(slots=True)
class _Work:
    """The units of one cluster with what they say."""

    done: list[tuple[Unit, Done]] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)

    def add(self, unit: Unit, done: Done) -> None:
        self.done.append((unit, done))
        self.lost |= set(done.lost)


def settle(
    tasks: Iterable[ClusterTask],
    looked: Iterable[Looked],
    done: Iterable[tuple[Unit, Done]],
    memories: StateFile,
) -> Settled:
    """Put together what was done for some clusters, and remember it."""
    work: dict[object, _Work] = {}
    for unit, outcome in done:
        work.setdefault(unit.key, _Work()).add(unit, outcome)
    looks: dict[object, dict[str, Looked]] = {}
    for look in looked:
        looks.setdefault(look.key, {})[look.folder] = look
    settled = Settled()
    for task in tasks:
        key = task.group.key
        _settle(settled, task, looks.get(key, {}), work.get(key, _Work()), memories)
    return settled


def _settle(
    settled: Settled,
    task: ClusterTask,
    looked: Mapping[str, Looked],
    work: _Work,
    memories: StateFile,
) -> None:
    key = task.group.key
    settled.unreadable += sorted(work.lost)
    if task.forgotten:
        logs, wholes = task.before.logs.values(), task.before.wholes.values()
        settled.removed += task.before.replaced
        settled.removed += (file for log in logs for file in log.tail_files)
        settled.removed += (file for whole in wholes for file in whole.files)
        for _, done in work.done:
            settled.removed += done.removed
            settled.take(done.files)
        memories.remember(key.text, None)
        return
    if any(looked[folder].change is not None for folder in work.lost if folder in looked):
        # Rows of the log as it was would be gone, and those of the log as it is not there.
        return
    own = Settled()
    after = _remembered(own, task, looked, work)
    settled.unreadable += own.unreadable
    if _is_as_it_was(task, after):
        return
    settled.staged += own.staged
    settled.removed += own.removed
    memories.remember(key.text, after.to_json())


def _is_as_it_was(task: ClusterTask, after: GroupMemory) -> bool:
    """True if a cluster was looked at only since something could not be read the last time, and
    could not be read again. What this run wrote of it is in the tables already."""
    before = task.before
    return (
        bool(before.unreadable)
        and not task.gone
        and not task.moved
        and (before.listing, before.unreadable) == (after.listing, after.unreadable)
        and _far(before) == _far(after)
    )


def _far(memory: GroupMemory) -> object:
    """Return how far everything was read."""
    logs = {name: (log.listing, log.state, log.tail) for name, log in memory.logs.items()}
    return logs, {name: whole.listing for name, whole in memory.wholes.items()}


def _remembered(
    settled: Settled, task: ClusterTask, looked: Mapping[str, Looked], work: _Work
) -> GroupMemory:
    before = task.before
    unreadable = {name for _, done in work.done for name in done.unreadable}
    logs, wholes = dict(before.logs), dict(before.wholes)
    for folder, (state, _) in task.gone.items():
        logs[folder] = replace(logs[folder], listing="", state=state)
    for folder, look in looked.items():
        unreadable |= set(look.unreadable)
        if folder not in work.lost:
            known = before.logs.get(folder)
            logs[folder] = LogMemory(
                listing="" if look.unreadable else listing_of(task.group.logs[folder]),
                state=look.state,
                tail=look.tail_listing,
                tail_files=known.tail_files if known is not None and look.tail is None else (),
            )
            if known is not None and look.tail is not None:
                settled.removed += known.tail_files
    for name in task.moved:
        settled.removed += logs.pop(name).tail_files if name in logs else wholes.pop(name).files
    for name in [*wholes]:
        if name not in task.group.wholes and not wholes[name].listing and not task.only_gone:
            settled.removed += wholes.pop(name).files
    replaced: list[Stored] = []
    for unit, done in work.done:
        settled.removed += done.removed
        replaced += settled.take(done.notes)
        match unit:
            case Ranges() if unit.folders <= work.lost:
                pass
            case Tail() if unit.folder in work.lost:
                pass
            case Tail():
                files = settled.take(done.files)
                logs[unit.folder] = replace(logs[unit.folder], tail_files=files)
            case Whole():
                file = unit.split.file
                settled.removed += wholes[file.name].files if file.name in wholes else ()
                listing = "" if done.unreadable else listing_of([file])
                wholes[file.name] = WholeMemory(listing=listing, files=settled.take(done.files))
            case Stories() | States() | FindingsUnit():
                replaced += settled.take(done.files)
            case _:
                settled.take(done.files)
    if not task.only_gone:
        settled.removed += before.replaced
    settled.unreadable += sorted(unreadable - {""})
    return GroupMemory(
        key=before.key,
        listing="" if work.lost else task.listing,
        logs=logs,
        wholes=wholes,
        replaced=before.replaced if task.only_gone else tuple(replaced),
        unreadable=tuple(sorted(unreadable)),
    )
