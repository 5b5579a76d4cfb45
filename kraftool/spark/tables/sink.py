"""The Parquet files of a task's rows, in the tables' folders. The driver commits them later.

Owns how many files are open and how much waits in memory, however many tables, clusters and days
come. A file gets few large row groups. It refuses to touch what is committed: its files have names
of one attempt of one task, and no table knows them until the driver has seen that attempt succeed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from kraftool.arrow.rows import ArrowRows
from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.text.printable import file_text
from kraftool.spark.tables.file_stats import file_stats
from kraftool.spark.tables.layout import CLUSTER, DATE, TABLES, arrow_schema, file_schema
from kraftool.spark.tables.place import CannotWriteError, TablePlace

pq: Any = import_module("pyarrow.parquet")

HELD = 64 << 20
"""Bytes of Arrow that wait at the most, over all files."""
ROW_GROUP = 32 << 20
"""Bytes of Arrow after which a file gets a row group."""
_ENOUGH = 1_000
"""Rows of a batch that does not wait for others."""
_MOST_FEW = 4_000
"""Batches of fewer rows that wait at the most, over all files."""
MOST_OPEN = 48
"""Files that are open at the most. One that was closed for others goes on in another one."""

_DISTINCT = frozenset({"offset", "position"})
"""Columns in which rows of one log rarely have the same value, but each is a little more than the
one before. Files have the differences."""

NOTHING_SAME: Mapping[str, Any] = MappingProxyType({})

_Key = tuple[str, str | None, str | None]


class SinkError(KraftoolError):
    """The tables cannot be written, which ends the job; what is read never does."""


class StagedFile(NamedTuple):
    """A file that a task wrote. `path` is relative to the table's folder."""

    table: str
    path: str
    rows: int
    size: int
    stats: str


@cache
def _repeating(table: str) -> list[str]:
    """The columns, by their paths in the file, of which values may occur twice: in others a
    dictionary is larger than the values."""
    empty = pa.BufferOutputStream()
    pq.ParquetWriter(empty, file_schema(table)).close()
    schema = pq.read_metadata(pa.BufferReader(empty.getvalue())).schema
    columns = [schema.column(index) for index in range(len(schema))]
    return [column.path for column in columns if column.path not in _DISTINCT]


class Waiting:
    """Rows of one file that are not written yet."""

    __slots__ = ("_few", "_rows", "batches", "size")

    def __init__(self) -> None:
        self.batches: list[ArrowBatch] = []
        self.size = self._rows = 0
        self._few: list[ArrowBatch] = []

    def add(self, batch: ArrowBatch) -> None:
        """Take rows. A few wait for more."""
        self._few.append(batch)
        self._rows += batch.num_rows
        self.size += batch.nbytes
        if self._rows >= _ENOUGH:
            self.join()

    def join(self) -> None:
        """Put what are a few rows each together: every batch takes room, too."""
        if len(self._few) > 1:
            self._few = pa.Table.from_batches(self._few).combine_chunks().to_batches()
        self.batches += self._few
        self._few, self._rows = [], 0


class TableFile:
    """A file that is being written."""

    def __init__(self, place: TablePlace, table: str, path: str) -> None:
        self.table, self.path, self.rows = table, path, 0
        self._place, self._schema = place, file_schema(table)
        self._metadata: list[Any] = []
        self.file = place.create(f"{table}/{path}")
        self.writer = pq.ParquetWriter(
            self.file,
            self._schema,
            compression="zstd",
            use_dictionary=_repeating(table),
            column_encoding=dict.fromkeys(_DISTINCT & {*self._schema.names}, "DELTA_BINARY_PACKED"),
            metadata_collector=self._metadata,
        )

    def write(self, batches: list[ArrowBatch], same: Mapping[str, Any] = NOTHING_SAME) -> None:
        """Add a row group. `same` has the columns of one value, which the batches lack."""
        table = pa.Table.from_batches(batches)
        count = table.num_rows
        columns = [
            pa.repeat(pa.scalar(same[field.name], field.type), count)
            if field.name in same
            else table.column(field.name)
            for field in self._schema
        ]
        table = pa.Table.from_arrays(columns, schema=self._schema)
        self.writer.write_table(table, row_group_size=max(count, 1))
        self.rows += count

    def close(self) -> StagedFile:
        """Finish the file."""
        try:
            self.writer.close()
        finally:
            self.file.close()
        size = self._place.size(f"{self.table}/{self.path}")
        return StagedFile(self.table, self.path, self.rows, size, file_stats(self._metadata[0]))


class Sink:
    """Takes the rows of one unit of work. `folder` is the folder of the run in each table; `name`
    begins the names of its files, and is that of one attempt of one unit."""

    def __init__(
        self,
        place: TablePlace,
        folder: str,
        name: str,
        *,
        held: int = HELD,
        most_open: int = MOST_OPEN,
    ) -> None:
        self._place, self._folder, self._name = place, folder, name
        self._held, self._most_open = held, most_open
        self._waiting: dict[_Key, Waiting] = {}
        self._size = self._few = 0
        self._open: OrderedDict[_Key, TableFile] = OrderedDict()
        self._done: list[StagedFile] = []
        self._count = 0

    def write(self, table: str, cluster_id: str | None, day: str | None, batch: ArrowBatch) -> None:
        """Take rows with the columns of `arrow_schema(table)`. `day` is YYYY-MM-DD, or None."""
        if not batch.num_rows:
            return
        key = (table, cluster_id, day)
        waiting = self._waiting.setdefault(key, Waiting())
        waiting.add(batch)
        self._size += batch.nbytes
        self._few += batch.num_rows < _ENOUGH
        if self._few > _MOST_FEW:
            self._few = 0
            for waiting in self._waiting.values():
                waiting.join()
        if self._waiting[key].size >= ROW_GROUP:
            self._flush(key)
        while self._size > self._held:
            self._flush(max(self._waiting, key=lambda file_key: self._waiting[file_key].size))

    def _flush(self, key: _Key) -> None:
        """Give a file what waits for it, as a row group."""
        waiting = self._waiting.pop(key)
        waiting.join()
        self._size -= waiting.size
        table, cluster_id, day = key
        same: dict[str, Any] = {CLUSTER: file_text(cluster_id) if cluster_id else None}
        if TABLES[table].dated:
            same[DATE] = date.fromisoformat(day) if day else None
        with self._explained():
            self._opened(key).write(waiting.batches, same)

    def _opened(self, key: _Key) -> TableFile:
        open_file = self._open.get(key)
        if open_file is not None:
            self._open.move_to_end(key)
            return open_file
        if len(self._open) >= self._most_open:
            self._close(next(iter(self._open)))
        path = f"{self._folder}/{self._name}-{self._count}.parquet"
        self._count += 1
        self._open[key] = made = TableFile(self._place, key[0], path)
        return made

    def _close(self, key: _Key) -> None:
        self._done.append(self._open.pop(key).close())

    def close(self) -> list[StagedFile]:
        """Write what waits; the files that there are now."""
        with self._explained():
            for key in list(self._waiting):
                self._flush(key)
                if len(self._open) > 1:
                    self._close(key)
            for key in list(self._open):
                self._close(key)
        return self._done

    def discard(self) -> None:
        """Forget all that was written."""
        with self._explained():
            for open_file in self._open.values():
                open_file.close()
            files: list[TableFile | StagedFile] = [*self._open.values(), *self._done]
            for file in files:
                self._place.delete(f"{file.table}/{file.path}")
        self._open.clear()
        self._waiting.clear()
        self._done, self._size = [], 0

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self._place)


@contextmanager
def explained(place: TablePlace) -> Iterator[None]:
    """Raise SinkError where a worker cannot write."""
    try:
        with place.explained():
            yield
    except CannotWriteError as error:
        raise SinkError(
            f"{place.root} cannot be written by a Spark worker: {error.reason}"
        ) from None


class RowWriter(ArrowRows):
    """Rows of one table of a cluster that has no days, which come one by one."""

    def __init__(self, sink: Sink, table: str, cluster_id: str | None) -> None:
        super().__init__(arrow_schema(table))
        self._sink, self._name, self._cluster = sink, table, cluster_id

    def add(self, values: Mapping[str, Any]) -> None:
        super().add(values)
        if self.is_full:
            self.finish()

    def finish(self) -> None:
        """Hand on what there is."""
        if self:
            self._sink.write(self._name, self._cluster, None, self.take())
