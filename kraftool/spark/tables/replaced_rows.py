"""The rows that a run takes out of the tables, because their units have changed.

Owns how such rows are recognized, in a file by its statistics and in a batch by its columns, and
the rewriting of files that have other rows as well. A table's files may be arranged in any way: by
runs, or by an OPTIMIZE over all clusters. The driver replaces the files later, in its commit.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftool.arrow.untyped import Array, ArrowBatch, pa, pc
from kraftool.reports.text.printable import file_text
from kraftool.spark.tables.layout import CLUSTER, TABLES, file_schema
from kraftool.spark.tables.memory import ClusterKey
from kraftool.spark.tables.place import TablePlace
from kraftool.spark.tables.sink import ROW_GROUP, StagedFile, TableFile, explained

if TYPE_CHECKING:  # workers need no delta-rs
    from kraftool.spark.tables.delta import ActiveFile

pq: Any = import_module("pyarrow.parquet")

_ROWS = 50_000


class TableFileName(NamedTuple):
    """A file of a table, and its bytes."""

    table: str
    path: str
    size: int


class Rewritten(NamedTuple):
    """A file of which rows go, and the file of those that stay; None if no row stays."""

    before: TableFileName
    after: StagedFile | None


@dataclass
class ReplacedRows:
    """Rows by what they are of, with names as the columns have them."""

    clusters: set[str] = field(default_factory=set)
    """Clusters whose rows go from the tables that are replaced as a whole."""
    directories: set[str] = field(default_factory=set)
    """The same for directories that do not say which cluster they are of."""
    files: set[str] = field(default_factory=set)
    """Checkpoints whose records go."""
    logs: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Folders of logs, with the segment and the position from which on records go."""

    def add_key(self, key: ClusterKey) -> None:
        names = self.directories if key.cluster_id is None else self.clusters
        names.add(file_text(key.name))

    def add_file(self, name: str) -> None:
        self.files.add(file_text(name))

    def add_log(self, folder: str, segment: str, position: int) -> None:
        name = file_text(folder)
        self.logs[name] = min((segment, position), self.logs.get(name, (segment, position)))

    def concerns(self, table: str) -> bool:
        """True if rows of a table may go."""
        if TABLES[table].replaced:
            return bool(self.clusters or self.directories)
        return TABLES[table].dated and bool(self.files or self.logs)

    def share(self, table: str, file: ActiveFile) -> bool | None:
        """True if all rows of a file go, False if none does, None if only its rows can say so."""
        if not TABLES[table].replaced:
            names = _Span(file, "file")
            if names.meets(self._sorted_files):
                return True if names.is_one else None
            return None if any(map(names.has_log, self.logs.items())) else False
        clusters = _Span(file, CLUSTER)
        if clusters.nulls == 0 and clusters.is_one:
            return clusters.least in self.clusters
        if clusters.nulls == file.rows and self.directories:
            directories = _Span(file, "directory")
            if not directories.meets(self._sorted_directories):
                return False
            return True if directories.is_one else None
        may_be_null = clusters.nulls != 0 and bool(self.directories)
        if clusters.nulls == file.rows:
            return False
        return None if may_be_null or clusters.meets(self._sorted_clusters) else False

    @cached_property
    def _sorted_files(self) -> list[str]:
        return sorted(self.files)

    @cached_property
    def _sorted_clusters(self) -> list[str]:
        return sorted(self.clusters)

    @cached_property
    def _sorted_directories(self) -> list[str]:
        return sorted(self.directories)

    def needed(self, table: str) -> list[str]:
        """Return the columns by which the rows are recognized."""
        if not TABLES[table].replaced:
            return ["file", "position"]
        name = "directory" if "directory" in TABLES[table].columns else "data_directories"
        return [CLUSTER, name]

    def rows(self, table: str, batch: ArrowBatch) -> Array:
        """Return for each row whether it goes."""
        first, second = self.needed(table)
        names, others = batch[first], batch[second]
        if TABLES[table].replaced:
            mask = _is_in(names, self.clusters)
            if self.directories:
                if second == "data_directories":  # of an event: the one that has it comes first
                    others = pa.array([next(iter(of), None) for of in others.to_pylist()])
                unknown = pc.and_(pc.is_null(names), _is_in(others, self.directories))
                mask = pc.or_(mask, unknown)
            return mask
        mask, positions = _is_in(names, self.files), pc.fill_null(others, 0)
        for folder, (segment, start) in self.logs.items():
            first = f"{folder}/{segment}"
            same = pc.and_(pc.equal(names, first), pc.greater_equal(positions, start))
            later = pc.and_(
                pc.and_(pc.starts_with(names, f"{folder}/"), pc.greater(names, first)),
                pc.ends_with(names, ".log"),
            )
            mask = pc.or_(mask, pc.or_(same, later))
        return mask


class _Span:
    """The least and the greatest value of a column, as far as a file's statistics say them."""

    def __init__(self, file: ActiveFile, column: str) -> None:
        self.least, self.greatest = file.least.get(column), file.greatest.get(column)
        self.nulls = file.nulls.get(column)

    @property
    def is_one(self) -> bool:
        return self.least is not None and self.least == self.greatest and self.nulls == 0

    def meets(self, names: Sequence[str]) -> bool:
        """True if the file may have one of some sorted names."""
        if self.least is None or self.greatest is None:
            return bool(names)
        at = bisect_left(names, self.least)
        return at < len(names) and names[at] <= self.greatest

    def has_log(self, log: tuple[str, tuple[str, int]]) -> bool:
        """True if the file may have a segment of a folder, or one behind it."""
        folder, (segment, _) = log
        if self.least is None or self.greatest is None:
            return True
        return bool(self.greatest >= f"{folder}/{segment}" and self.least < f"{folder}/~")


def _is_in(names: Array, wanted: set[str]) -> Array:
    return pc.is_in(names, pa.array(sorted(wanted), pa.string()))


def rewritten(
    place: TablePlace, run_id: str, replaced: ReplacedRows, files: Sequence[TableFileName]
) -> Iterator[Rewritten]:
    """Write files again without the rows that go. A file without such rows is left out."""
    attempt = os.urandom(6).hex()
    for number, before in enumerate(files):
        with explained(place), place.open(f"{before.table}/{before.path}") as opened:
            file = pq.ParquetFile(opened)
            needed = replaced.needed(before.table)
            masks = (replaced.rows(before.table, batch) for batch in _batches(file, needed))
            going = sum(pc.sum(mask).as_py() or 0 for mask in masks)
            if not going:
                continue
            after = None
            if going < file.metadata.num_rows:
                path = f"{run_id}/{attempt}-{number:06d}-rest.parquet"
                after = _rest(file, replaced, TableFile(place, before.table, path))
        yield Rewritten(before, after)


def _rest(file: Any, replaced: ReplacedRows, to: TableFile) -> StagedFile:
    schema = file_schema(to.table)
    waiting: list[ArrowBatch] = []
    for batch in _batches(file, schema.names):
        kept = pa.Table.from_batches([batch.filter(pc.invert(replaced.rows(to.table, batch)))])
        # Other programs call the items of lists by other names.
        waiting += kept.select(schema.names).cast(schema).to_batches()
        if sum(part.nbytes for part in waiting) >= ROW_GROUP:
            to.write(waiting)
            waiting = []
    if waiting:
        to.write(waiting)
    return to.close()


def _batches(file: Any, columns: Sequence[str]) -> Iterator[ArrowBatch]:
    yield from file.iter_batches(batch_size=_ROWS, columns=list(columns))
