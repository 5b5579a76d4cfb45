"""The files that each table gets and loses in a run, small in memory until they are committed.

Owns the form in which the driver keeps them: a small cluster alone adds about 36 files, each with
statistics. It refuses to choose files, and to commit them: see `settle.py` and `commit.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from kraftool.spark.tables.delta import Added, Removed
from kraftool.spark.tables.layout import TABLES
from kraftool.spark.tables.settle import Settled
from kraftool.spark.tables.state import TableChange, Totals

_TOGETHER = 500
"""Rows that are packed together."""


class PackedFiles:
    """Files of one table, compressed: the table's log has much the same line for each of them."""

    def __init__(self) -> None:
        self.totals = Totals()
        self._packed: list[bytes] = []
        self._waiting: list[tuple[Any, ...]] = []

    def add(self, rows: int, size: int, action: tuple[Any, ...]) -> None:
        """Add a file, with the values of its action in the log of the table."""
        was = self.totals
        self.totals = Totals(rows=was.rows + rows, files=was.files + 1, size=was.size + size)
        self._waiting.append(action)
        if len(self._waiting) == _TOGETHER:
            self._packed.append(zlib.compress(orjson.dumps(self._waiting), 1))
            self._waiting = []

    def actions(self) -> Iterator[tuple[Any, ...]]:
        for packed in self._packed:
            yield from orjson.loads(zlib.decompress(packed))
        yield from self._waiting


_NO_FILES = PackedFiles()


class RunChanges:
    """The changes of all tables. Only one table's files are unpacked at a time."""

    def __init__(self) -> None:
        self._added: dict[str, PackedFiles] = {}
        self._removed: dict[str, PackedFiles] = {}

    def take(self, settled: Settled) -> None:
        """Add the changes of some clusters."""
        for staged in settled.staged:
            files = self._added.setdefault(staged.table, PackedFiles())
            path = staged.path.partition("/")[2]
            files.add(staged.rows, staged.size, (path, staged.size, staged.stats))
        for stored in settled.removed:
            files = self._removed.setdefault(stored.table, PackedFiles())
            files.add(stored.rows, stored.size, (stored.path.partition("/")[2], stored.size))

    @property
    def tables(self) -> list[str]:
        return [name for name in TABLES if name in self._added or name in self._removed]

    def totals(self, table: str) -> tuple[Totals, Totals]:
        """Return the totals of the files that a table gets, and of those that it loses."""
        added = self._added.get(table, _NO_FILES)
        return added.totals, self._removed.get(table, _NO_FILES).totals

    def of(self, table: str) -> TableChange:
        """Return the change of one table."""
        added = self._added.get(table, _NO_FILES).actions()
        removed = self._removed.get(table, _NO_FILES).actions()
        return TableChange([Added(*row) for row in added], [Removed(*row) for row in removed])

    def changes(self) -> Iterator[tuple[str, TableChange]]:
        """Yield the change of each table."""
        return ((name, self.of(name)) for name in self.tables)

    def after(self, before: Mapping[str, Totals]) -> dict[str, Totals]:
        """Return how much each table holds after the run."""
        totals = dict(before)
        for name in self.tables:
            was, (added, removed) = before.get(name, Totals()), self.totals(name)
            totals[name] = Totals(
                rows=was.rows + added.rows - removed.rows,
                files=was.files + added.files - removed.files,
                size=was.size + added.size - removed.size,
            )
        return {name: total for name, total in totals.items() if total.files}
