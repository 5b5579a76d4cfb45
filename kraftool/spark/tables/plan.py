"""The clusters that have changed since the latest run, and the parts of them to read.

Owns the comparison of what is listed with what is remembered. It runs beside the driver and opens
no log but those that could not be opened before; the headers of logs are read in tasks, see
`new_batches.py`.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from kraftool.arrow.fleet import Fleet, FleetDirectory, FleetFile, Unread, with_batches
from kraftool.arrow.search_steps import has_pattern
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind, detect
from kraftool.decoders.names import parse_segment_name
from kraftool.spark.tables.memory import ClusterKey, GroupMemory
from kraftool.spark.tables.new_batches import TailTask, listing_of
from kraftool.storage.remote import shown_url
from kraftool.storage.tail import LogRewrite, TailState, read_tail


@dataclass(slots=True)
class Group:
    """A cluster as it is listed now, or a directory that does not say whose it is."""

    key: ClusterKey
    directories: dict[str, list[FleetFile]] = field(default_factory=dict)
    logs: dict[str, list[FleetFile]] = field(default_factory=dict)
    wholes: dict[str, FleetFile] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)

    @property
    def listing(self) -> str:
        files = (file for files in self.directories.values() for file in files)
        return listing_of(files, self.unread)


def grouped(fleet: Fleet, *, snapshots: bool) -> dict[ClusterKey, Group]:
    """The files of a fleet by cluster."""
    groups: dict[ClusterKey, Group] = {}
    for file in fleet.files:
        group = _group(groups, file.directory)
        group.directories.setdefault(file.directory.name, []).append(file)
    for file in with_batches(fleet, snapshots=snapshots):
        group = _group(groups, file.directory)
        folder, _, name = file.name.rpartition("/")
        kind = detect(name, b"", file.size).kind
        if kind is FileKind.LOG and parse_segment_name(name) is not None:
            group.logs.setdefault(folder, []).append(file)
        else:
            group.wholes[file.name] = file
    for group in groups.values():
        for files in group.logs.values():
            files.sort(key=lambda fleet_file: fleet_file.basename)
    for problem in fleet.problems:
        _group(groups, FleetDirectory(name=problem.name)).unread.append(problem)
    return groups


def _group(groups: dict[ClusterKey, Group], owner: FleetDirectory) -> Group:
    known = owner.cluster_id
    key = ClusterKey("cluster", known) if known else ClusterKey("directory", owner.name)
    if key not in groups:
        groups[key] = Group(key)
    return groups[key]


@dataclass(slots=True)
class ClusterTask:
    """A cluster that has changed: what was known of it, and what is to be done."""

    group: Group
    before: GroupMemory
    listing: str = ""
    tails: list[TailTask] = field(default_factory=list)
    wholes: list[FleetFile] = field(default_factory=list)
    gone: dict[str, tuple[TailState, LogRewrite]] = field(default_factory=dict)
    """Logs that are no longer listed, though a ROOT leads to where they were."""
    only_gone: bool = False
    """Nothing of the cluster is listed any more: its tables stay as they are."""
    moved: tuple[str, ...] = ()
    """Logs and files that are listed as another cluster's now, where they are read anew: a
    meta.properties was written, or damaged. Their rows here go."""
    forgotten: bool = False
    """Nothing of it is left, and all of its rows go."""


class RootCoverage:
    """The names to which the ROOTs of a run lead, so that what is not there is known to be gone."""

    def __init__(self, roots: Iterable[str], unread: Iterable[Unread]) -> None:
        self._roots = [(shown_url(root).rstrip("/"), has_pattern(root)) for root in roots]
        self._unread = tuple(problem.name.rstrip("/") for problem in unread)

    def covers(self, name: str) -> bool:
        if any(name == unread or name.startswith(f"{unread}/") for unread in self._unread):
            return False
        return any(self._leads(root, name, pattern=pattern) for root, pattern in self._roots)

    @staticmethod
    def _leads(root: str, name: str, *, pattern: bool) -> bool:
        if not pattern:
            # A file that was named by itself stands for its own folder.
            return name == root or name.startswith(f"{root}/") or root.startswith(f"{name}/")
        wanted, given = root.split("/"), name.split("/")
        if "**" in wanted:
            wanted = wanted[: wanted.index("**")]
        return len(given) >= len(wanted) and all(map(fnmatch.fnmatchcase, given, wanted))


class Owners:
    """The cluster in which each log, and each file that is read as a whole, is listed now."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._keys = {name: group.key for group in groups for name in (*group.logs, *group.wholes)}

    def moved(self, before: GroupMemory) -> tuple[str, ...]:
        """Return what of a cluster is another one's now."""
        names = (*before.logs, *before.wholes)
        return tuple(name for name in names if self._keys.get(name, before.key) != before.key)


def compare(
    group: Group, before: GroupMemory | None, reach: RootCoverage, owners: Owners
) -> ClusterTask | None:
    """Return what has changed in a cluster; None if nothing has."""
    before = before or GroupMemory(key=group.key)
    listing = group.listing
    moved = owners.moved(before)
    same = listing == before.listing and not moved
    if same and not _can_be_read_now(group, before.unreadable):
        return None
    task = ClusterTask(group, before, listing, moved=moved)
    for folder, files in group.logs.items():
        known = before.logs.get(folder)
        if known is None or not known.listing or known.listing != listing_of(files):
            task.tails.append(
                TailTask(key=group.key, folder=folder, files=tuple(files), before=known)
            )
    for name, file in group.wholes.items():
        if before.wholes.get(name) != listing_of([file]):
            task.wholes.append(file)
    task.gone = _gone(before, {*group.logs, *moved}, reach)
    return task


def departed(before: GroupMemory, reach: RootCoverage, owners: Owners) -> ClusterTask | None:
    """The same for a cluster of which nothing is listed; None if it is out of sight, or known."""
    moved = owners.moved(before)
    left = (before.logs.keys() | before.wholes.keys()) - set(moved)
    group = Group(before.key)
    # A folder that could not be listed has findings only; it now can be, or is no more.
    was_unread = before.key.kind == "directory" and reach.covers(before.key.name)
    if not left and (moved or was_unread):
        return ClusterTask(group, before, moved=moved, forgotten=True)
    gone = _gone(before, set(moved), reach)
    if not gone and not moved:
        return None
    return ClusterTask(group, before, gone=gone, moved=moved, only_gone=True)


def _gone(
    before: GroupMemory, present: Collection[str], reach: RootCoverage
) -> dict[str, tuple[TailState, LogRewrite]]:
    gone = {}
    for folder, log in before.logs.items():
        if folder not in present and reach.covers(folder):
            seen = read_tail(log.state, ())
            if seen.change is not None:
                gone[folder] = (seen.state, seen.change)
    return gone


def _can_be_read_now(group: Group, names: Sequence[str]) -> bool:
    """True if any file that could not be read now can be."""
    if not names:
        return False
    wanted = set(names)
    if "" in wanted:
        return True
    for files in group.directories.values():
        for file in files:
            if file.name in wanted:
                with suppress(KraftoolError), file.open() as source:
                    source.read_at(0, 1)
                    return True
    return False
