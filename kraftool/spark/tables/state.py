"""The memory of all runs, as a Delta table of its own: `_kraftool/state`.

Owns its rows, a cluster each, and the summary of the latest whole run in the metadata of its
commits. It is written last: a run counts from then on. The summary names the version of each table
that the run left, so that what a killed run has committed beyond it is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import orjson

from kraftool.arrow.untyped import pa
from kraftool.decoders.json_marks import Count
from kraftool.spark.errors import OccupiedError
from kraftool.spark.tables import delta
from kraftool.spark.tables.delta import ActiveFile
from kraftool.spark.tables.layout import OURS
from kraftool.spark.tables.place import TablePlace
from kraftool.spark.tables.sink import StagedFile

if TYPE_CHECKING:
    from deltalake import DeltaTable

STATE = f"{OURS}/state"
LAYOUT = 4
"""Grows when an older kraftool no longer understands what is at a place."""

_SCHEMA = pa.schema([("key", pa.string()), ("value", pa.binary())])
_SUMMARY = "kraftool.state"
_ROWS = 200
"""Clusters in a row group: a part of the state is in memory at a time."""


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

    @classmethod
    def of(cls, files: Iterable[StagedFile | ActiveFile]) -> Totals:
        totals = cls()
        for file in files:
            totals += cls(rows=file.rows, files=1, size=file.size)
        return totals

    def __add__(self, other: Totals) -> Totals:
        rows, files = self.rows + other.rows, self.files + other.files
        return Totals(rows=rows, files=files, size=self.size + other.size)

    def __sub__(self, other: Totals) -> Totals:
        rows, files = self.rows - other.rows, self.files - other.files
        return Totals(rows=rows, files=files, size=self.size - other.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """A table as a run left it."""

    version: int
    totals: Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The tables after the latest whole run."""

    kept: SharedOptions
    roots: tuple[str, ...] = ()
    """The ROOTs, as they are shown. What a run does not look at it could take for gone."""
    depth: int = 0
    """How deep below them runs have searched, for the same reason."""
    run: int = 0
    swept: int = 0
    """When files that no version needs were removed, in seconds."""
    tables: Mapping[str, TableState] = field(default_factory=dict)

    def to_json(self) -> str:
        return orjson.dumps(
            {
                "layout": LAYOUT,
                "run": self.run,
                "swept": self.swept,
                "showSecrets": self.kept.show_secrets,
                "snapshots": self.kept.snapshots,
                "roots": list(self.roots),
                "depth": self.depth,
                "tables": {
                    name: {"version": table.version, **asdict(table.totals)}
                    for name, table in self.tables.items()
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
            swept=value["swept"],
            tables={
                name: TableState(version=table.pop("version"), totals=Totals(**table))
                for name, table in value["tables"].items()
            },
        )


class TablesRefusedError(OccupiedError):
    """A place that is not to be written to, or not now."""


class State:
    """The state table at one version."""

    def __init__(self, place: TablePlace, table: DeltaTable, summary: RunSummary) -> None:
        self.place, self.summary, self._table = place, summary, table
        self._files = list(delta.active_files(place, table))

    @classmethod
    def read(cls, place: TablePlace) -> State | None:
        """Return the latest version; None if nothing was written to this place. Raise
        TablesRefusedError for a state that cannot be understood."""
        table = delta.opened(place, STATE)
        if table is None:
            return None
        summary = delta.latest_metadata(place, table, _SUMMARY)
        try:
            value = json.loads(summary or "")
            if value["layout"] == LAYOUT:
                return cls(place, table, RunSummary.from_json(value))
            reason = f"it has layout {value['layout']}; this kraftool writes {LAYOUT}"
        except (LookupError, TypeError, ValueError, AttributeError):
            reason = "it is damaged"
        raise TablesRefusedError(
            f"{place.path(STATE)} cannot be read: {reason}",
            hint="write the tables again to another place",
        )

    @classmethod
    def make(cls, place: TablePlace, summary: RunSummary) -> State:
        """Make a place ours."""
        with suppress(delta.ConflictError):  # another first run was faster
            delta.commit(place, STATE, None, _SCHEMA, [], [], 0, {_SUMMARY: summary.to_json()})
        made = cls.read(place)
        assert made is not None
        return made

    def memories(self) -> Iterator[tuple[str, bytes]]:
        """Yield what is remembered of each cluster, by its key."""
        for state_file in self._files:
            with self.place.open(f"{STATE}/{state_file.path}") as opened, self.place.explained():
                file = import_module("pyarrow.parquet").ParquetFile(opened)
                for number in range(file.num_row_groups):
                    rows = file.read_row_group(number)
                    yield from zip(*(column.to_pylist() for column in rows.columns), strict=True)

    def commit(self, summary: RunSummary, memories: Mapping[str, bytes | None]) -> State:
        """Commit a run, with what is remembered from now on of some clusters; None for what is
        forgotten. Raise ConflictError if another run was committed since this version."""
        name = f"{summary.run:06d}-{os.urandom(4).hex()}.parquet"
        others = ((key, value) for key, value in self.memories() if key not in memories)
        every = chain(others, memories.items())
        rows = ((key, value) for key, value in every if value is not None)
        with self.place.create(f"{STATE}/{name}") as opened, self.place.explained():
            writer = import_module("pyarrow.parquet").ParquetWriter
            with writer(opened, _SCHEMA, compression="zstd") as file:
                while some := list(islice(rows, _ROWS)):
                    keys, values = zip(*some, strict=True)
                    file.write_table(pa.table([keys, values], schema=_SCHEMA))
        added = StagedFile(STATE, name, 0, self.place.size(f"{STATE}/{name}"), "{}")
        self.place.synchronized()
        metadata = {_SUMMARY: summary.to_json()}
        try:
            delta.commit(
                self.place, STATE, self._table, _SCHEMA, [added], self._files, summary.run, metadata
            )
        except delta.ConflictError:
            self.place.delete(f"{STATE}/{name}")
            raise
        self.place.synchronized()
        state = State.read(self.place)
        assert state is not None
        return state
