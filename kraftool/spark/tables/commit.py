"""A run over the tables of a place: whose they are, and all of a run or nothing of it.

Owns the order in which a run becomes visible, what is left of a run that was killed, and that the
runs of this machine do not meet. A run's files are in the tables' folders from the beginning, but
no table knows them. The commit of the state is the moment in which the run counts; then each table
gets a commit of its own, by this run or by the next one. It refuses places that hold something
else.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import OccupiedError, UnusableError
from kraftool.spark.outputs import own_folder
from kraftool.spark.tables import delta
from kraftool.spark.tables.delta import ActiveFile
from kraftool.spark.tables.layout import OURS, TABLES, file_schema
from kraftool.spark.tables.memory import GroupMemory
from kraftool.spark.tables.place import FILE_MODE, CannotWriteError, TablePlace
from kraftool.spark.tables.run_changes import RunChanges
from kraftool.spark.tables.state import (
    STATE,
    OtherLayoutError,
    RunSummary,
    SharedOptions,
    State,
    StateFile,
    TableChange,
    Totals,
    UnreadableStateError,
)

_OLD_MARKER = f"{OURS}/tables.json"
"""What the first layout had."""
_LOCK = f"{OURS}/lock"
_ATTEMPTS = f"{OURS}/attempts"
_KEPT_HOURS = 7 * 24
"""How long files stay that no table has any more: for readers of earlier versions."""
_SWEEP_SECONDS = 24 * 3600
_TRIES = 10

NOTHING = Totals()


class TablesRefusedError(OccupiedError):
    """A place that is not to be written to, or not now."""


class _Started(NamedTuple):
    """A run that has begun to write."""

    run_id: str
    memories: StateFile


class TableStore:
    """The tables of a place, which this run holds."""

    def __init__(self, place: TablePlace, state: State, summary: RunSummary) -> None:
        self.place, self._state, self.summary = place, state, summary
        self._started: _Started | None = None
        self._committed: RunChanges | None = None

    def memories(self) -> Iterator[GroupMemory]:
        """Yield what is remembered, one cluster at a time."""
        for _, value in self._state.memories():
            try:
                yield GroupMemory.from_json(value)
            except (LookupError, TypeError, ValueError) as error:
                raise KraftoolError(
                    f"{self.place.path(STATE)} cannot be read",
                    hint="write the tables again to another place",
                ) from error

    def start(self) -> str:
        """Return the id of this run: the folder, in each table, of the files that it writes."""
        if self._started is None:
            # Not a name that workers of a run that was killed may still be writing to.
            run_id = f"{self.summary.run + 1:06d}-{os.urandom(4).hex()}"
            if not self.place.is_remote:
                self.place.create(f"{_ATTEMPTS}/{run_id}").close()
            self._started = _Started(run_id, StateFile(self.place, f"{run_id}.parquet"))
        return self._started.run_id

    @property
    def memory_file(self) -> StateFile:
        """Return what the next run has to know."""
        self.start()
        assert self._started is not None
        return self._started.memories

    def files_of(self, cluster_id: str | None) -> Iterator[tuple[str, ActiveFile]]:
        """Yield the files of a cluster in the tables that are appended to by day."""
        for name in self.summary.totals:
            table = delta.opened(self.place, name) if TABLES[name].dated else None
            if table is None:
                continue
            for file in delta.active_files(self.place, table):
                if file.least.get("cluster_id") == cluster_id:
                    yield name, file

    def commit(self, changes: RunChanges) -> None:
        """Give the tables a run's files, and take from them those that are replaced."""
        started, now = self._started, int(time.time())
        assert started is not None
        latest = _read(self.place)
        if latest is None or latest.summary.run != self.summary.run:
            raise self._overtaken()
        self._check_untouched(changes)
        is_due = now - self.summary.swept > _SWEEP_SECONDS
        summary = replace(
            self.summary,
            run=self.summary.run + 1,
            run_id=started.run_id,
            swept=now if is_due else self.summary.swept,
            totals=changes.after(self.summary.totals),
        )
        self._committed = changes
        try:
            self._state = self._state.commit(summary, started.memories, changes.changes())
        except delta.ConflictError:
            self._committed = None
            raise self._overtaken() from None
        self.summary = summary
        self._state = _finished(self._state, changes.changes())
        if is_due:
            _vacuum(self.place, summary.totals)

    def _overtaken(self) -> TablesRefusedError:
        return TablesRefusedError(
            f"another run has written to {self.place.root} meanwhile; this one discards its work",
            hint="run it again",
        )

    def _check_untouched(self, changes: RunChanges) -> None:
        """Refuse tables whose files another program has rewritten, restored or deleted."""
        for name, change in changes.changes():
            table = delta.opened(self.place, name)
            files = set[str]()
            if table is not None:
                files = {file.path for file in delta.active_files(self.place, table)}
            expected = self.summary.totals.get(name, NOTHING).files
            if len(files) != expected or not {file.path for file in change.removed} <= files:
                raise TablesRefusedError(
                    f"another program has changed the files of the table {name} in"
                    f" {self.place.root}: {len(files)} in place of {expected}",
                    hint="restore the version that kraftool wrote, or name another place",
                )

    def end(self) -> None:
        """Remove what this run wrote and did not commit, if that is certain."""
        started = self._started
        if started is None:
            return
        if self._committed is not None and self.summary.run_id != started.run_id:
            return  # it may have been committed; the next run knows
        committed = self._committed or RunChanges()
        _sweep(
            self.place,
            started.run_id,
            lambda table: {file.path for file in committed.of(table).added},
        )
        if self._committed is None:
            for name in self.place.listed(STATE):
                if name.startswith(started.run_id):
                    self.place.delete(f"{STATE}/{name}")
        _forget_attempt(self.place, started.run_id)


def _finished(state: State, changes: Iterable[tuple[str, TableChange]]) -> State:
    """Give all tables what the latest run has for them. Any part of it may have been done."""
    place, run = state.place, state.summary.run
    for name, change in changes:
        _apply(place, name, change, run)
    place.synchronized()
    try:
        return state.finished()
    except delta.ConflictError:
        latest_state = State.read(place)  # another run has finished this one
        if latest_state is None or latest_state.is_pending:
            raise CannotWriteError(f"{place.root}: other runs are writing there") from None
        return latest_state


def _apply(place: TablePlace, name: str, change: TableChange, run: int) -> None:
    def apply() -> None:
        table = delta.opened(place, name)
        if table is None or delta.run_of(table) < run:
            delta.commit(place, name, table, file_schema(name), *change, run)

    _until_committed(place, name, apply)


def _with_statistics_named(state: State) -> State:
    """Repair the tables of an earlier kraftool, so that filters on any column find their rows."""
    for name in state.summary.totals:
        _until_committed(state.place, name, partial(delta.name_statistics, state.place, name))
    try:
        return state.with_statistics_named()
    except delta.ConflictError:  # another run has written meanwhile; the next one looks again
        return _read(state.place) or state


def _until_committed(place: TablePlace, name: str, commit: Callable[[], None]) -> None:
    for _ in range(_TRIES):
        with suppress(delta.ConflictError):
            return commit()
    raise CannotWriteError(f"{place.path(name)}: other programs are writing there")


def _vacuum(place: TablePlace, tables: Iterable[str]) -> None:
    for name in (*tables, STATE):
        table = delta.opened(place, name)
        if table is not None:
            delta.vacuum(place, table, _KEPT_HOURS)
            for folder in () if place.is_remote else place.listed(name):
                place.delete_folder(f"{name}/{folder}")


def _sweep(place: TablePlace, run_id: str, committed: Callable[[str], Collection[str]]) -> None:
    """Remove the files of a run, except those that it committed to each table."""
    for table in sorted(TABLES.keys() & set(place.listed(""))):
        folder = f"{table}/{run_id}"
        names = place.listed(folder)
        kept = committed(table) if names else ()
        for name in names:
            if f"{run_id}/{name}" not in kept:
                place.delete(f"{folder}/{name}")
        place.delete_folder(folder)
        place.delete_folder(table)


def _sweep_killed(place: TablePlace) -> None:
    """Remove what runs of this machine left that were killed. In an object store a run that was
    killed looks like one that is working: its files go once they are old."""

    def committed(name: str) -> set[str]:
        table = delta.opened(place, name)
        files = delta.active_files(place, table) if table is not None else ()
        return {file.path for file in files}

    for run_id in () if place.is_remote else place.listed(_ATTEMPTS):
        _sweep(place, run_id, committed)
        _forget_attempt(place, run_id)
    place.delete_folder(_ATTEMPTS)


def _forget_attempt(place: TablePlace, run_id: str) -> None:
    if not place.is_remote:
        place.delete(f"{_ATTEMPTS}/{run_id}")
        place.delete_folder(_ATTEMPTS)


@contextmanager
def held(
    place: TablePlace, kept: SharedOptions, roots: Sequence[str], depth: int
) -> Iterator[TableStore]:
    """Hold the tables of a place, made if need be. A run that was killed is finished or discarded
    first.

    Raises TablesRefusedError where that cannot be.
    """
    _check(place)
    with nullcontext() if place.is_remote else _locked(place):
        state = _read(place)
        if state is None:
            state = State.make(place, RunSummary(kept=kept, roots=tuple(roots), depth=depth))
        if state.is_pending:
            state = _finished(state, state.pending())
        if not state.summary.statistics_named:
            state = _with_statistics_named(state)
        _sweep_killed(place)
        summary = _checked(place, state.summary, kept, tuple(roots), depth)
        store = TableStore(place, state, summary)
        try:
            yield store
        finally:
            store.end()


def _check(place: TablePlace) -> None:
    """Look at the place before anything is written, and make a folder if it is not there."""
    names = set(place.listed("")) if place.is_remote else own_folder(Path(place.root))
    if not place.is_remote and os.path.exists(place.path(_OLD_MARKER)):
        raise TablesRefusedError(
            f"{place.root} was written by an older kraftool (layout 1; this one writes Delta"
            " tables)",
            hint="write the tables again to another place; nothing here was changed",
        )
    # A first run that was killed early leaves no state, and no table either.
    if names - {OURS} and delta.opened(place, STATE) is None:
        raise TablesRefusedError(
            f"{place.root} contains something other than tables of kraftool",
            hint="name an empty or a new folder",
        )


@contextmanager
def _locked(place: TablePlace) -> Iterator[None]:
    root = place.root
    try:
        place.make_folder(OURS)
        descriptor = os.open(place.path(_LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    except OSError as error:
        raise UnusableError(f"{root} cannot be written: {error.strerror}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TablesRefusedError(
                f"another run is writing to {root}",
                hint="wait until it has finished, and try again",
            ) from None
        except OSError as error:
            raise TablesRefusedError(
                f"{root} cannot be locked against a second run: {error.strerror}",
                hint="name a folder on another file system",
            ) from None
        yield
    finally:
        os.close(descriptor)


def _read(place: TablePlace) -> State | None:
    try:
        return State.read(place)
    except UnreadableStateError as error:
        raise TablesRefusedError(
            error.message, hint="write the tables again to another place"
        ) from None
    except OtherLayoutError as error:
        layout = error.layout
        other = "a newer" if isinstance(layout, int) and layout > 2 else "another"
        raise TablesRefusedError(
            f"{place.root} was written by {other} kraftool ({error.message}; this one writes 2)",
            hint="use that one, or write the tables again to another place",
        ) from None


def _checked(
    place: TablePlace, summary: RunSummary, kept: SharedOptions, roots: tuple[str, ...], depth: int
) -> RunSummary:
    """Refuse a run that would mix tables, or take for gone what it does not look at."""
    root = place.root
    for option, before, now in (
        ("--show-secrets", summary.kept.show_secrets, kept.show_secrets),
        ("--snapshots", summary.kept.snapshots, kept.snapshots),
    ):
        if before != now:
            raise TablesRefusedError(
                f"{root} was written {'with' if before else 'without'} {option}, and tables are"
                " not mixed",
                hint=f"{'give' if before else 'leave out'} {option}, or name another folder",
            )
    missing = [root for root in summary.roots if root not in roots]
    if missing:
        raise TablesRefusedError(
            f"{root} also has the tables of {missing[0]}, which this run would not read",
            hint=f"name all ROOTs again ({', '.join(summary.roots)}), or another folder",
        )
    if depth < summary.depth:
        raise TablesRefusedError(
            f"{root} was written with --depth {summary.depth}; with {depth} deeper directories"
            " would count as removed",
            hint=f"give --depth {summary.depth}, or name another folder",
        )
    present = set(place.listed(""))
    for name, total in summary.totals.items():
        if total.files and name not in present:
            raise TablesRefusedError(
                f"{root} has lost its table {name}, with {total.rows} rows, and they are not"
                " read again",
                hint="put it back, or write the tables again to another folder",
            )
    return replace(summary, roots=roots, depth=depth)
