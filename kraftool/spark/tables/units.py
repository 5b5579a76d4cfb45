"""The work for each cluster that has changed, cut into units and dealt out to Spark's tasks.

Owns which rows are made anew, how large a piece of work gets, and that the longest begin first. It
runs beside the driver, on what was read of the headers of logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, TypeVar

from kraftool.arrow.fleet import FleetDirectory, FleetFile
from kraftool.arrow.splits import Split, packed
from kraftool.decoders.names import METADATA_FOLDER, parse_checkpoint_name
from kraftool.spark.tables.memory import ClusterKey
from kraftool.spark.tables.new_batches import ReadTail, TailTask
from kraftool.spark.tables.plan import ClusterTask, Group
from kraftool.spark.tables.work import (
    Changes,
    ClusterEvents,
    FindingsUnit,
    OwnedChange,
    Ranges,
    States,
    Tail,
    Unit,
    Whole,
)
from kraftool.storage.tail import TailState

_MOST_LISTED = 20_000
"""Files of the clusters in one run: the driver keeps the results of their tasks."""
_LEAST = 1 << 20
"""Bytes below which no task is worth its start."""
_FEWEST_TASKS = 16
_STATE, _JUDGED = 2, 3
"""A state takes so many times as long as rows of as many bytes, a judgement so many times less; an
event table takes as long. As measured, about."""
_Sized = TypeVar("_Sized", TailTask, Unit)


class _Directory(NamedTuple):
    """A directory's files, and the bytes of all of them."""

    files: tuple[FleetFile, ...]
    size: int


def units_of(task: ClusterTask, tails: Mapping[str, ReadTail], split_bytes: int) -> Iterator[Unit]:
    """The units of work of one cluster, by what was read of its logs. None has a number yet."""
    group, key = task.group, task.group.key
    if not task.only_gone and not task.forgotten:
        yield from _cluster_events(group)
        yield from _states(task, tails, split_bytes)
        for files in packed(chain.from_iterable(group.directories.values()), split_bytes):
            cost = sum(fleet_file.size for fleet_file in files) // _JUDGED
            yield FindingsUnit(key=key, cost=cost, files=tuple(files))
        if group.unread:
            yield FindingsUnit(key=key, cost=1, unread=tuple(group.unread))
    yield from _ranges(key, tails, split_bytes)
    for tail in tails.values():
        if tail.tail:
            cost = sum(split.size for split in tail.tail)
            yield Tail(key=key, cost=cost, splits=tail.tail)
    for file in task.wholes:
        yield Whole(key=key, cost=file.size, split=Split(file=file))
    yield from _changes(task, tails)


def _cluster_events(group: Group) -> Iterator[Unit]:
    directories = tuple(tuple(files) for files in group.directories.values() if files)
    if directories and (group.logs or group.wholes):
        cost = sum(file.size for files in directories for file in files)
        yield ClusterEvents(key=group.key, cost=cost, directories=directories)


def _states(task: ClusterTask, tails: Mapping[str, ReadTail], split_bytes: int) -> Iterator[Unit]:
    listed = {name: files for name, files in task.group.directories.items() if files}

    def end(name: str) -> tuple[int, int]:
        return max(_end(task, tails, file) for file in listed[name])

    newest = max(listed, key=end, default="")
    sized = (_Directory(tuple(own), sum(file.size for file in own)) for own in listed.values())
    for together in packed(sized, split_bytes):
        cost = _STATE * sum(directory.size for directory in together)
        own = tuple(directory.files for directory in together)
        yield States(key=task.group.key, cost=cost, directories=own, newest=newest)


def _end(task: ClusterTask, tails: Mapping[str, ReadTail], file: FleetFile) -> tuple[int, int]:
    """The epoch and offset up to which a file's log, or a snapshot, goes."""
    checkpoint = parse_checkpoint_name(file.basename)
    if checkpoint is not None:
        return checkpoint.epoch, checkpoint.offset
    folder = file.name.rpartition("/")[0]
    state = TailState()
    if folder in tails:
        state = tails[folder].state
    elif folder in task.before.logs:
        state = task.before.logs[folder].state
    return (-1 if state.epoch is None else state.epoch), state.offset or -1


def _ranges(key: ClusterKey, tails: Mapping[str, ReadTail], split_bytes: int) -> Iterator[Unit]:
    """New ranges. A unit has whole logs, or a part of one: what a log loses while it is read then
    costs no other log its rows."""
    together: list[Split] = []
    size = 0
    for tail in tails.values():
        own = sum(split.size for split in tail.new)
        if own > split_bytes:
            for splits in packed(tail.new, split_bytes):
                yield _of_ranges(key, splits)
            continue
        if together and size + own > split_bytes:
            yield _of_ranges(key, together)
            together, size = [], 0
        together += tail.new
        size += own
    if together:
        yield _of_ranges(key, together)


def _of_ranges(key: ClusterKey, splits: Sequence[Split]) -> Unit:
    return Ranges(key=key, cost=sum(split.size for split in splits), splits=tuple(splits))


def _changes(task: ClusterTask, tails: Mapping[str, ReadTail]) -> Iterator[Unit]:
    owners = {folder: files[0].directory for folder, files in task.group.logs.items()}
    changes = [
        OwnedChange(owners[tail.folder], tail.folder, tail.change)
        for tail in tails.values()
        if tail.change is not None
    ]
    for folder, (_, change) in task.gone.items():
        name = folder.removesuffix(f"/{METADATA_FOLDER}")
        owner = FleetDirectory(name=name, cluster_id=task.group.key.cluster_id)
        changes.append(OwnedChange(owner, folder, change))
    if changes:
        yield Changes(key=task.group.key, cost=1, changes=tuple(changes))


def spark_tasks_of(units: Iterable[Unit], split_bytes: int, cores: int) -> list[tuple[Unit, ...]]:
    """The units of each Spark task, the longest first: what is long is begun early, and
    small ones are together so that a task is worth its start. Units get their numbers here."""
    numbered = [replace(unit, number=number) for number, unit in enumerate(units)]
    numbered.sort(key=lambda unit: -unit.cost)
    return _packed(numbered, split_bytes, cores)


def _packed(things: Sequence[_Sized], most: int, cores: int) -> list[tuple[_Sized, ...]]:
    total = sum(thing.size for thing in things)
    pack = min(max(total // max(_FEWEST_TASKS, 4 * cores), _LEAST), most)
    return [tuple(group) for group in packed(things, pack)]


def runs_of(tasks: list[ClusterTask]) -> Iterator[list[ClusterTask]]:
    """Take the clusters from a list, and yield those of each run. The first of several runs have
    the largest clusters, since no run is faster than its longest task."""
    if sum(map(_listed, tasks)) > _MOST_LISTED:
        tasks.sort(key=lambda task: sum(tail.size for tail in task.tails))
    else:
        tasks.reverse()
    while tasks:
        group = [tasks.pop()]
        count = _listed(group[0])
        while tasks and count + _listed(tasks[-1]) <= _MOST_LISTED:
            group.append(tasks.pop())
            count += _listed(group[-1])
        yield group


def _listed(task: ClusterTask) -> int:
    """Return the number of a cluster's files, or of its logs in the last run if there were more."""
    return max(sum(map(len, task.group.directories.values())), len(task.before.logs), 1)


def tails_of(
    tasks: Iterable[ClusterTask], split_bytes: int, cores: int
) -> list[tuple[TailTask, ...]]:
    """The logs that each Spark task reads, in the same way."""
    sized_tails = (replace(tail, split_bytes=split_bytes) for task in tasks for tail in task.tails)
    tails = sorted(sized_tails, key=lambda tail: -tail.size)
    return _packed(tails, 4 * split_bytes, cores)
