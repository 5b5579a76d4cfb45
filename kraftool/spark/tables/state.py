"""The memory of all runs, as a Delta table of its own: `_kraftool/state`.

Owns its rows, and the summary of the latest run in the metadata of its commits. A commit of this
table is the one moment in which a run counts: it also has the list of what the other tables get,
so that a run that is killed after it is finished by the next one. Its files are one for each run,
where the newest row of a cluster counts, until they are put together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, NamedTuple

import orjson

from kraftool.arrow.untyped import pa
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Count
from kraftool.spark.tables import delta
from kraftool.spark.tables.delta import Added, Removed
from kraftool.spark.tables.layout import OURS
from kraftool.spark.tables.place import TablePlace

STATE = f"{OURS}/state"
LAYOUT = 2
"""Grows when an older kraftool no longer understands what is at a place. 1 was Parquet without
Delta."""

_SCHEMA = pa.schema([("kind", pa.string()), ("key", pa.string()), ("value", pa.binary())])
_CLUSTER, _TABLE = "cluster", "table"
_SUMMARY = "kraftool.state"
_PENDING = "-pending.parquet"
_MOST_FILES = 8
"""Files after which they are put together."""
_ROWS, _BYTES = 1_000, 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOptions:
    """The options that all runs over a place share."""

    show_secrets: bool = False
    snapshots: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The size of a table."""

    rows: Count = 0
    files: Count = 0
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The tables after the latest run that was committed."""

    kept: SharedOptions
    roots: tuple[str, ...] = ()
    """The ROOTs, as they are shown. What a run does not look at it could take for gone."""
    depth: int = 0
    """How deep below them runs have looked, for the same reason."""
    run: int = 0
    run_id: str = ""
    swept: int = 0
    """When files that no version needs were removed, in seconds."""
    statistics_named: bool = True
    """True if each table has the property that names the columns of its statistics. An earlier
    kraftool made tables without it."""
    totals: Mapping[str, Totals] = field(default_factory=dict)

    def to_json(self) -> str:
        return orjson.dumps(
            {
                "layout": LAYOUT,
                "run": self.run,
                "runId": self.run_id,
                "swept": self.swept,
                "statisticsNamed": self.statistics_named,
                "showSecrets": self.kept.show_secrets,
                "snapshots": self.kept.snapshots,
                "roots": list(self.roots),
                "depth": self.depth,
                "tables": {
                    name: [total.rows, total.files, total.size]
                    for name, total in self.totals.items()
                },
            }
        ).decode()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RunSummary:
        return cls(
            kept=SharedOptions(show_secrets=value["showSecrets"], snapshots=value["snapshots"]),
            roots=tuple(value["roots"]),
            depth=value["depth"],
            run=int(value["run"]),
            run_id=value["runId"],
            swept=value["swept"],
            statistics_named=value.get("statisticsNamed", False),
            totals={
                name: Totals(rows=rows, files=files, size=size)
                for name, (rows, files, size) in value["tables"].items()
            },
        )


class TableChange(NamedTuple):
    """The change of a table by a run."""

    added: Sequence[Added]
    removed: Sequence[Removed]


class UnreadableStateError(KraftoolError):
    """The state is there, and cannot be understood."""


class OtherLayoutError(KraftoolError):
    """The state is another kraftool's."""

    def __init__(self, layout: object) -> None:
        super().__init__(f"layout {layout}")
        self.layout = layout


class State:
    """The state table at one version."""

    def __init__(self, place: TablePlace, table: Any, summary: RunSummary) -> None:
        self.place, self.summary, self._table = place, summary, table
        names = [file.path for file in delta.active_files(place, table)]
        self._pending = [name for name in names if name.endswith(_PENDING)]
        self._files = sorted(set(names) - set(self._pending), key=_run_number, reverse=True)

    @classmethod
    def read(cls, place: TablePlace) -> State | None:
        """Return the latest version; None if nothing was written to this place."""
        table = delta.opened(place, STATE)
        if table is None:
            return None
        summary = delta.latest_metadata(place, table, _SUMMARY)
        try:
            value = json.loads(summary or "")
            layout = value["layout"]
            if layout == LAYOUT:
                return cls(place, table, RunSummary.from_json(value))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableStateError(f"{place.path(STATE)} cannot be read") from error
        raise OtherLayoutError(layout)

    @classmethod
    def make(cls, place: TablePlace, summary: RunSummary) -> State:
        """Make a place ours."""
        with suppress(delta.ConflictError):  # another first run was faster
            delta.commit(place, STATE, None, _SCHEMA, [], [], 0, {_SUMMARY: summary.to_json()})
        made = cls.read(place)
        assert made is not None
        return made

    @property
    def is_pending(self) -> bool:
        """True if tables may lack what the latest run has for them."""
        return bool(self._pending)

    def pending(self) -> Iterator[tuple[str, TableChange]]:
        """Yield what the latest run has for each table."""
        for name in self._pending:
            for kind, key, value in self._rows(name):
                if kind == _TABLE and value is not None:
                    change = orjson.loads(value)
                    yield (
                        key,
                        TableChange(
                            [Added(*row) for row in change["added"]],
                            [Removed(*row) for row in change["removed"]],
                        ),
                    )

    def memories(self) -> Iterator[tuple[str, bytes]]:
        """Yield what is remembered of each cluster, by its key."""
        seen: set[str] = set()
        for name in self._files:
            for kind, key, value in self._rows(name):
                if kind == _CLUSTER and key not in seen:
                    seen.add(key)
                    if value is not None:
                        yield key, value

    def _rows(self, name: str) -> Iterator[tuple[str, str, bytes | None]]:
        path = f"{STATE}/{name}"
        with self.place.open(path) as opened, self.place.explained():
            file = import_module("pyarrow.parquet").ParquetFile(opened)
            for number in range(file.num_row_groups):  # StateFile keeps them small
                rows = file.read_row_group(number)
                yield from zip(*(column.to_pylist() for column in rows.columns), strict=True)

    def commit(
        self,
        summary: RunSummary,
        memories: StateFile,
        changes: Iterable[tuple[str, TableChange]],
    ) -> State:
        """Commit a run. Raise ConflictError if another one was committed since this version."""
        removed = list[str]()
        if len(self._files) >= _MOST_FILES:
            for key, value in self.memories():
                memories.add_if_new(key, value)
            removed = self._files
        pending = StateFile(self.place, f"{summary.run_id}{_PENDING}")
        for name, change in changes:
            pending.add(_TABLE, name, json.dumps(change._asdict()).encode())
        added = [file for file in (memories.close(), pending.close()) if file is not None]
        self.place.synchronized()  # what workers of this machine wrote; others have closed theirs
        return self._next(summary, added, [*removed, *self._pending])

    def with_statistics_named(self) -> State:
        """Commit that each table has the property that names the columns of its statistics."""
        return self._next(replace(self.summary, statistics_named=True), [], [])

    def finished(self) -> State:
        """Commit that all tables have what the latest run has for them."""
        return self._next(self.summary, [], self._pending)

    def _next(self, summary: RunSummary, added: list[Added], removed: list[str]) -> State:
        gone = [Removed(name, self.place.size(f"{STATE}/{name}")) for name in removed]
        metadata = {_SUMMARY: summary.to_json()}
        try:
            delta.commit(
                self.place, STATE, self._table, _SCHEMA, added, gone, summary.run, metadata
            )
        except delta.ConflictError:
            # An answer that was lost looks like somebody else's commit.
            state = State.read(self.place)
            if state is None or state.summary != summary or state.is_pending != bool(added):
                raise
            return state
        self.place.synchronized()
        state = State.read(self.place)
        assert state is not None
        return state


def _run_number(name: str) -> int:
    return int(name.partition("-")[0])


class StateFile:
    """A file of the state that is being written; no file without rows."""

    def __init__(self, place: TablePlace, name: str) -> None:
        self._place, self._name = place, name
        self._keys: set[str] = set()
        self._rows: list[tuple[str, str, bytes | None]] = []
        self._size = 0
        self._file: Any = None
        self._writer: Any = None

    def remember(self, key: str, value: bytes | None) -> None:
        """Add what is remembered of a cluster from now on; None if it is forgotten."""
        self._keys.add(key)
        self.add(_CLUSTER, key, value)

    def add_if_new(self, key: str, value: bytes) -> None:
        if key not in self._keys:
            self.add(_CLUSTER, key, value)

    def add(self, kind: str, key: str, value: bytes | None) -> None:
        self._rows.append((kind, key, value))
        self._size += len(value or b"")
        if len(self._rows) >= _ROWS or self._size >= _BYTES:
            self._flush()

    @property
    def is_empty(self) -> bool:
        return self._file is None and not self._rows

    def _flush(self) -> None:
        if self._file is None:
            self._file = self._place.create(f"{STATE}/{self._name}")
            writer = import_module("pyarrow.parquet").ParquetWriter
            self._writer = writer(self._file, _SCHEMA, compression="zstd")
        rows = [dict(zip(_SCHEMA.names, row, strict=True)) for row in self._rows]
        with self._place.explained():
            self._writer.write_table(pa.Table.from_pylist(rows, schema=_SCHEMA))
        self._rows, self._size = [], 0

    def close(self) -> Added | None:
        if self._rows:
            self._flush()
        if self._file is None:
            return None
        with self._place.explained():
            self._writer.close()
            self._file.close()
        return Added(self._name, self._place.size(f"{STATE}/{self._name}"), "{}")
