"""A run over the tables of a place: whose they are, and that a killed run is simply run again.

Owns the order of a run's commits: one for each table, then the state, which names the version of
each table. A table that is ahead of the state was left by a run that was killed: it gets its files
of that version back before the next run begins. Owns also that the runs of this machine do not
meet. It refuses places that hold something else, and tables whose rows another program changed.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import UnusableError
from kraftool.spark.outputs import own_folder
from kraftool.spark.tables import delta
from kraftool.spark.tables.commit_plan import CommitPlan
from kraftool.spark.tables.delta import ActiveFile
from kraftool.spark.tables.layout import OURS, TABLES, commented_schema
from kraftool.spark.tables.memory import GroupMemory
from kraftool.spark.tables.place import FILE_MODE, TablePlace
from kraftool.spark.tables.replaced_rows import Rewritten, TableFileName
from kraftool.spark.tables.sink import StagedFile
from kraftool.spark.tables.state import (
    STATE,
    RunSummary,
    SharedOptions,
    State,
    TablesRefusedError,
    TableState,
    Totals,
)

if TYPE_CHECKING:
    from deltalake import DeltaTable

_LOCK = f"{OURS}/lock"
_KEPT_HOURS = 7 * 24
"""How long files stay that no table has any more: for readers of earlier versions."""
_SWEEP_SECONDS = 24 * 3600

NOTHING = Totals()

Rewrite = Callable[[Sequence[TableFileName]], Iterable[Rewritten]]


@dataclass(slots=True)
class TableChange:
    """The change of a table by a run. The table is None if there is none yet."""

    table: DeltaTable | None
    added: list[StagedFile]
    removed: list[ActiveFile] = field(default_factory=list)


class TableStore:
    """The tables of a place, which this run holds."""

    def __init__(self, place: TablePlace, state: State, summary: RunSummary) -> None:
        self.place, self._state, self.summary = place, state, summary
        self._run_id = ""
        self._kept: dict[str, set[str]] = {}
        """The files of this run that tables have, or may have."""

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

    def catch_up(self) -> None:
        """Take back what a killed run has committed, and accept files that were rearranged."""
        tables = dict(self.summary.tables)
        for name in sorted(TABLES.keys() & {*self.place.listed(""), *tables}):
            known, latest = tables.get(name), delta.latest_version(self.place, name)
            if known is not None and latest is None:
                raise TablesRefusedError(
                    f"{self.place.root} has lost its table {name}, with {known.totals.rows} rows,"
                    " and they are not read again",
                    hint="put it back, or write the tables again to another folder",
                )
            if latest is not None and (known is None or latest != known.version):
                tables[name] = self._caught_up(name, known, latest)
        self.summary = replace(self.summary, tables=tables)

    def _caught_up(self, name: str, known: TableState | None, latest: int) -> TableState:
        place, run = self.place, self.summary.run
        version = -1 if known is None else known.version
        later = delta.later_commits(place, name, version, latest)
        table, files = _opened(place, name)
        changed = latest < version
        if later.changes_data:
            before = {} if known is None else _opened(place, name, version)[1]
            changed = before.keys() != files.keys()
        if changed and not (latest > version and later.only_ours):
            raise TablesRefusedError(
                f"another program has changed the rows of the table {name} in {place.root}",
                hint="restore the version that kraftool wrote, or name another place",
            )
        if changed:
            if known is None:
                delta.commit(place, name, table, commented_schema(name), [], [*files.values()], run)
            else:
                delta.restore(place, table, version, run)
            table, files = _opened(place, name)
        return TableState(version=table.version(), totals=Totals.of(files.values()))

    def start(self) -> str:
        """Return the id of this run: the folder, in each table, of the files that it writes."""
        if not self._run_id:
            # Not a name that workers of a run that was killed may still be writing to.
            self._run_id = f"{self.summary.run + 1:06d}-{os.urandom(4).hex()}"
        return self._run_id

    def changes(self, plan: CommitPlan, rewrite: Rewrite) -> dict[str, TableChange]:
        """Return what each table gets and loses. `rewrite` writes the rows that stay of files that
        also have rows that go."""
        changes: dict[str, TableChange] = {}
        unsure: dict[TableFileName, ActiveFile] = {}
        for name in TABLES:
            known, has_old = self.summary.tables.get(name), plan.replaced.concerns(name)
            if name not in plan.added and (known is None or not has_old):
                continue
            table = None if known is None else delta.opened(self.place, name)
            if known is not None and (table is None or table.version() != known.version):
                raise self._overtaken()
            changes[name] = change = TableChange(table, plan.added.get(name, []))
            for file in delta.active_files(self.place, table) if table and has_old else ():
                share = plan.replaced.share(name, file)
                if share:
                    change.removed.append(file)
                elif share is None:
                    unsure[TableFileName(name, file.path, file.size)] = file
        for result in rewrite(list(unsure)) if unsure else ():
            change = changes[result.before.table]
            change.removed.append(unsure[result.before])
            change.added += [] if result.after is None else [result.after]
        return {name: change for name, change in changes.items() if change.added or change.removed}

    def commit(self, plan: CommitPlan, changes: Mapping[str, TableChange]) -> None:
        """Commit the changes, one table after the other, and then the state."""
        now, run, tables = int(time.time()), self.summary.run + 1, dict(self.summary.tables)
        self.place.synchronized()  # what workers of this machine wrote; others have closed theirs
        for name, change in changes.items():
            added, removed = change.added, change.removed
            self._kept[name] = {file.path for file in added}
            try:
                version = delta.commit(
                    self.place, name, change.table, commented_schema(name), added, removed, run
                )
            except delta.ConflictError:
                del self._kept[name]
                raise self._overtaken() from None
            before = tables[name].totals if name in tables else NOTHING
            totals = before + Totals.of(added) - Totals.of(removed)
            tables[name] = TableState(version=version, totals=totals)
        is_due = now - self.summary.swept > _SWEEP_SECONDS
        swept = now if is_due else self.summary.swept
        summary = replace(self.summary, run=run, tables=tables, swept=swept)
        self._commit_state(summary, plan.memories)
        if is_due:
            self._vacuum()

    def _commit_state(self, summary: RunSummary, memories: Mapping[str, bytes | None]) -> None:
        try:
            self._state = self._state.commit(summary, memories)
        except delta.ConflictError:
            raise self._overtaken() from None
        self.summary = summary

    def put_together(self) -> bool:
        """Put the small files of each table together; True if there were any."""
        tables = dict(self.summary.tables)
        for name, known in tables.items():
            table = delta.opened(self.place, name)
            if table is not None and known.totals.files > 1:
                delta.put_together(self.place, table, self.summary.run)
                table, files = _opened(self.place, name)
                totals = Totals.of(files.values())
                tables[name] = TableState(version=table.version(), totals=totals)
        if tables == self.summary.tables:
            return False
        self._commit_state(replace(self.summary, tables=tables), {})
        return True

    def _overtaken(self) -> TablesRefusedError:
        return TablesRefusedError(
            f"another run has written to {self.place.root} meanwhile; this one discards its work",
            hint="run it again",
        )

    def _vacuum(self) -> None:
        for name in (*self.summary.tables, STATE):
            table = delta.opened(self.place, name)
            if table is not None:
                delta.vacuum(self.place, table, _KEPT_HOURS)
                for folder in () if self.place.is_remote else self.place.listed(name):
                    self.place.delete_folder(f"{name}/{folder}")
        self._state = State.read(self.place) or self._state

    def end(self) -> None:
        """Remove what this run wrote and no table has."""
        for table in sorted(TABLES.keys() & set(self.place.listed(""))) if self._run_id else ():
            folder = f"{table}/{self._run_id}"
            names = self.place.listed(folder)
            for name in names:
                if f"{self._run_id}/{name}" not in self._kept.get(table, ()):
                    self.place.delete(f"{folder}/{name}")
            if names:
                self.place.delete_folder(folder)
                self.place.delete_folder(table)
        self._run_id, self._kept = "", {}


def _opened(
    place: TablePlace, name: str, version: int | None = None
) -> tuple[DeltaTable, dict[str, ActiveFile]]:
    """A version of a table that is there, and its files by their paths."""
    table = delta.opened(place, name, version)
    assert table is not None
    return table, {file.path: file for file in delta.active_files(place, table)}


@contextmanager
def held(
    place: TablePlace, kept: SharedOptions, roots: Sequence[str], depth: int
) -> Iterator[TableStore]:
    """Hold the tables of a place, made if need be. What a killed run has committed is taken back
    first.

    Raises TablesRefusedError where that cannot be.
    """
    _check(place)
    with nullcontext() if place.is_remote else _locked(place):
        state = State.read(place)
        if state is None:
            swept = int(time.time())
            first = RunSummary(kept=kept, roots=tuple(roots), depth=depth, swept=swept)
            state = State.make(place, first)
        summary = _checked(place, state.summary, kept, tuple(roots), depth)
        store = TableStore(place, state, summary)
        store.catch_up()
        try:
            yield store
        finally:
            store.end()


def _check(place: TablePlace) -> None:
    """Look at the place before anything is written, and make a folder if it is not there."""
    names = set(place.listed("")) if place.is_remote else own_folder(Path(place.root))
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
    return replace(summary, roots=roots, depth=depth)
