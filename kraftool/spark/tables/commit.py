"""The folder of the tables: whose it is, one run at a time, and all of a run or nothing of it.

Owns the marker that makes a folder ours, the lock, the staging folder, and the journal. A run's
files are written beside the tables. Once all of them are there the journal says which names they
get and which files they replace; from then on a run that is killed is finished by the next one,
and one that is killed before is forgotten. It refuses folders that hold what is not ours.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Count
from kraftool.spark.errors import OccupiedError, UnusableError
from kraftool.spark.outputs import own_folder
from kraftool.spark.tables.layout import FILE_MODE, OURS, make_file, make_folders
from kraftool.storage.remote import is_url

LAYOUT = 1
"""Grows when what lies in the folder is no longer understood by an older kraftool."""

MARKER = f"{OURS}/tables.json"
MEMORY = f"{OURS}/memory"
_JOURNAL = f"{OURS}/journal.jsonl"
_LOCK = f"{OURS}/lock"
_STAGING = f"{OURS}/staging"


class TablesRefusedError(OccupiedError):
    """A folder that is not to be written to, or not now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOptions:
    """The options that all runs over a folder share."""

    show_secrets: bool = False
    snapshots: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The size of a table."""

    rows: Count = 0
    files: Count = 0
    size: int = 0


NOTHING = Totals()


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The state of the folder after the latest run that was committed."""

    kept: SharedOptions
    roots: tuple[str, ...] = ()
    """The ROOTs, as they are shown. What a run does not look at it could take for gone."""
    depth: int = 0
    """How deep below them runs have looked, for the same reason."""
    run: int = 0
    totals: Mapping[str, Totals] = field(default_factory=dict)

    def to_json(self) -> bytes:
        return orjson.dumps(
            {
                "layout": LAYOUT,
                "run": self.run,
                "showSecrets": self.kept.show_secrets,
                "snapshots": self.kept.snapshots,
                "roots": list(self.roots),
                "depth": self.depth,
                "tables": {
                    name: [total.rows, total.files, total.size]
                    for name, total in self.totals.items()
                },
            },
            option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
        )


class TableStore:
    """A folder of tables that this run holds."""

    def __init__(self, root: str, marker: Marker) -> None:
        self.root, self.marker = root, marker
        self._staged = ""

    def path(self, relative: str) -> str:
        return os.path.join(self.root, relative)

    def staging(self) -> str:
        """The folder in which this run's files come together."""
        if not self._staged:
            # Not a name that workers of a run that was killed may still be writing to.
            name = f"{_STAGING}/{self.marker.run + 1}-{os.urandom(4).hex()}"
            with _told(self.root):
                make_folders(self.root, name)
            self._staged = self.path(name)
        return self._staged

    def commit(
        self,
        moves: Iterable[tuple[str, str]],
        deletes: Iterable[str],
        totals: Mapping[str, Totals],
    ) -> None:
        """Give staged files (by their whole paths) their names below the folder, and delete those
        that they replace."""
        marker = replace(self.marker, run=self.marker.run + 1, totals=dict(totals))
        with _told(self.root):
            self._commit(moves, deletes, marker)
        self.marker = marker

    def _commit(
        self, moves: Iterable[tuple[str, str]], deletes: Iterable[str], marker: Marker
    ) -> None:
        staged = os.path.join(self.staging(), "tables.json")
        make_file(staged, marker.to_json())
        os.sync()  # what workers of this machine have written; those of others have closed it
        passing = os.path.join(self.staging(), "journal.jsonl")
        descriptor = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(descriptor, "wb") as out:
            for source, target in (*moves, (staged, MARKER)):
                out.write(_line("move", os.path.relpath(source, self.root), target))
            for path in deletes:
                out.write(_line("delete", path))
            out.flush()
            os.fsync(out.fileno())
        os.replace(passing, self.path(_JOURNAL))
        _sync_folder(self.path(OURS))
        finish(self.root)


def _line(*parts: str) -> bytes:
    return orjson.dumps(parts) + b"\n"


def _sync_folder(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def finish(root: str) -> None:
    """Carry out the journal, of which any part may have been carried out before."""
    journal = os.path.join(root, _JOURNAL)
    emptied: set[str] = set()
    with _without_readers(root):
        with open(journal, "rb") as lines:
            for line in lines:
                match orjson.loads(line):
                    case ["move", source, target]:
                        _move(root, source, target)
                    case ["delete", path]:
                        with suppress(FileNotFoundError):
                            os.unlink(os.path.join(root, path))
                        emptied.add(path.rpartition("/")[0])
        for folder in emptied:
            _remove_empty(root, folder)
        os.sync()
        os.unlink(journal)


@contextmanager
def _without_readers(root: str) -> Iterator[None]:
    """Wait for readers that hold our folder by a shared lock, and keep others out meanwhile: they
    see the tables before a commit, or after it. Where folders have no locks, nobody can hold one.
    """
    descriptor = os.open(os.path.join(root, OURS), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _move(root: str, source: str, target: str) -> None:
    make_folders(root, target.rpartition("/")[0])
    try:
        os.replace(os.path.join(root, source), os.path.join(root, target))
    except FileNotFoundError:
        if not os.path.exists(os.path.join(root, target)):
            raise KraftoolError(
                f"{root}: a file of an interrupted run is gone: {source}",
                hint="the tables can no longer be trusted; write them again to another folder",
            ) from None


def _remove_empty(root: str, folder: str) -> None:
    """Remove a partition's folder and those above it, up to the table's, if nothing is in them."""
    while "/" in folder:
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:
            return
        folder = folder.rpartition("/")[0]


@contextmanager
def held(out: str, kept: SharedOptions, roots: Iterable[str], depth: int) -> Iterator[TableStore]:
    """Hold a folder of tables, made if need be. An interrupted run is finished or forgotten first.

    Raises TablesRefusedError where that cannot be.
    """
    root = _checked(out)
    with _locked(root):
        try:
            with _told(root):
                if os.path.exists(os.path.join(root, _JOURNAL)):
                    finish(root)
                shutil.rmtree(os.path.join(root, _STAGING), ignore_errors=True)
                store = TableStore(root, _marker(root, kept, tuple(roots), depth))
            yield store
        finally:
            if not os.path.exists(os.path.join(root, _JOURNAL)):
                shutil.rmtree(os.path.join(root, _STAGING), ignore_errors=True)


@contextmanager
def _told(root: str) -> Iterator[None]:
    """A failure of the file system, as a sentence. What was begun the next run finishes."""
    try:
        yield
    except OSError as error:
        raise KraftoolError(f"{root} cannot be written: {error.strerror or error}") from error


def _checked(out: str) -> str:
    """Look at the folder before anything is written, and make it if it is not there."""
    if is_url(out):
        raise UnusableError(
            "tables are written to a folder only, not to a URL",
            hint="a run has to rename files at once; copy the folder afterwards",
        )
    root = os.path.abspath(out)
    there = own_folder(Path(root))
    # A first run that was killed early leaves no marker, and no table either.
    if there - {OURS} and not os.path.exists(os.path.join(root, MARKER)):
        raise TablesRefusedError(
            f"{out} contains something other than tables of kraftool",
            hint="name an empty or a new folder",
        )
    return root


@contextmanager
def _locked(root: str) -> Iterator[None]:
    try:
        make_folders(root, OURS)
        path = os.path.join(root, _LOCK)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
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


def _marker(root: str, kept: SharedOptions, roots: tuple[str, ...], depth: int) -> Marker:
    """Read the marker, or make the folder ours."""
    path = os.path.join(root, MARKER)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        fresh = Marker(kept=kept, roots=roots, depth=depth)
        passing = f"{path}.{os.urandom(4).hex()}"
        make_file(passing, fresh.to_json())
        os.replace(passing, path)
        return fresh
    try:
        value: dict[str, Any] = orjson.loads(data)
        layout = value["layout"]
        if layout == LAYOUT:
            marker = Marker(
                kept=SharedOptions(show_secrets=value["showSecrets"], snapshots=value["snapshots"]),
                roots=tuple(value["roots"]),
                depth=value["depth"],
                run=value["run"],
                totals={
                    name: Totals(rows=rows, files=files, size=size)
                    for name, (rows, files, size) in value["tables"].items()
                },
            )
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError, AttributeError):
        raise TablesRefusedError(
            f"{path} cannot be read", hint="write the tables again to another folder"
        ) from None
    if layout != LAYOUT:
        other = "a newer" if isinstance(layout, int) and layout > LAYOUT else "another"
        raise TablesRefusedError(
            f"{root} was written by {other} kraftool (layout {layout}; this one writes {LAYOUT})",
            hint="use that one, or write the tables again to another folder",
        )
    for option, before, now in (
        ("--show-secrets", marker.kept.show_secrets, kept.show_secrets),
        ("--snapshots", marker.kept.snapshots, kept.snapshots),
    ):
        if before != now:
            raise TablesRefusedError(
                f"{root} was written {'with' if before else 'without'} {option}, and tables are"
                " not mixed",
                hint=f"{'give' if before else 'leave out'} {option}, or name another folder",
            )
    missing = [each for each in marker.roots if each not in roots]
    if missing:
        raise TablesRefusedError(
            f"{root} also has the tables of {missing[0]}, which this run would not read",
            hint=f"name all ROOTs again ({', '.join(marker.roots)}), or another folder",
        )
    if depth < marker.depth:
        raise TablesRefusedError(
            f"{root} was written with --depth {marker.depth}; with {depth} deeper directories"
            " would count as removed",
            hint=f"give --depth {marker.depth}, or name another folder",
        )
    for name, total in marker.totals.items():
        if total.files and not os.path.isdir(os.path.join(root, name)):
            raise TablesRefusedError(
                f"{root} has lost its table {name}, with {total.rows} rows, and they are not"
                " read again",
                hint="put it back, or write the tables again to another folder",
            )
    return replace(marker, roots=roots, depth=depth)
