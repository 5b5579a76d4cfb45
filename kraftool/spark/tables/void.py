"""Rows of a log that was truncated since they were written, taken out of the tables.

Owns the rewriting of files without them. The committed files stay as they are until the driver
replaces them. Which files may have such rows the driver knows by their statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftool.arrow.untyped import Array, ArrowBatch, pa, pc
from kraftool.spark.tables.layout import arrow_schema
from kraftool.spark.tables.memory import Stored
from kraftool.spark.tables.place import TablePlace
from kraftool.spark.tables.sink import Sink

if TYPE_CHECKING:  # workers need no delta-rs
    from kraftool.spark.tables.delta import ActiveFile

pq: Any = import_module("pyarrow.parquet")

Place = tuple[str, str, int]
"""A folder, a segment in it, and the position there from which on rows are void."""
_ROWS = 50_000


class VoidFile(NamedTuple):
    """A file that may have void rows."""

    table: str
    path: str
    day: str | None
    rows: int
    size: int


def may_have(file: ActiveFile, places: Sequence[Place]) -> bool:
    """True if any row can be of a file that is concerned, by the least and greatest name."""
    least, greatest = file.least.get("file"), file.greatest.get("file")
    if least is None or greatest is None:
        return True
    # Names behind the last segment's own that are in the same folder.
    return any(
        greatest >= f"{folder}/{segment}" and least < f"{folder}/~" for folder, segment, _ in places
    )


def rewrite(
    place: TablePlace,
    cluster_id: str | None,
    files: Sequence[VoidFile],
    places: Sequence[Place],
    sink: Sink,
) -> list[Stored]:
    """Give the sink the rows that stay of all files that have others; return those files."""
    removed = []
    for void_file in files:
        with place.open(void_file.path) as opened:
            file = pq.ParquetFile(opened)
            if not any(pc.any(_void(batch, places)).as_py() for batch in _batches(file, _NEEDED)):
                continue
            for batch in _batches(file, arrow_schema(void_file.table).names):
                kept = batch.filter(pc.invert(_void(batch, places)))
                sink.write(void_file.table, cluster_id, void_file.day, kept)
            removed.append(Stored(void_file.path, void_file.rows, void_file.size))
    return removed


_NEEDED = ["file", "position"]


def _batches(file: Any, columns: list[str]) -> Iterator[ArrowBatch]:
    yield from file.iter_batches(batch_size=_ROWS, columns=columns)


def _void(batch: ArrowBatch, places: Sequence[Place]) -> Array:
    names, positions = batch["file"], pc.fill_null(batch["position"], 0)
    mask = pa.repeat(pa.scalar(False), batch.num_rows)
    for folder, segment, start in places:
        first = f"{folder}/{segment}"
        same = pc.and_(pc.equal(names, first), pc.greater_equal(positions, start))
        later = pc.and_(
            pc.and_(pc.starts_with(names, f"{folder}/"), pc.greater(names, first)),
            pc.ends_with(names, ".log"),
        )
        mask = pc.or_(mask, pc.or_(same, later))
    return mask
