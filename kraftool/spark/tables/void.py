"""Rows of a log that was truncated since they were written, taken out of the tables.

Owns finding the files that have such rows, by the statistics that Parquet keeps, and their
rewriting without them. The committed files stay as they are until the driver replaces them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from kraftool.arrow.untyped import Array, ArrowBatch, pa, pc
from kraftool.spark.tables.layout import CLUSTER, DATE, NO_VALUE, TABLES, partition
from kraftool.spark.tables.memory import Stored
from kraftool.spark.tables.sink import Sink

pq: Any = import_module("pyarrow.parquet")

Place = tuple[str, str, int]
_ROWS = 50_000


def rewrite(
    root: str,
    cluster_id: str | None,
    places: Sequence[Place],
    passed: frozenset[str],
    sink: Sink,
) -> list[Stored]:
    """Give the sink the rows that stay of all files that have others; return those files."""
    removed = []
    for table, day, path in _files(root, cluster_id):
        if path in passed:
            continue
        whole = os.path.join(root, path)
        with pq.ParquetFile(whole) as file:
            if not _may_have(file.metadata, places):
                continue
            if not any(pc.any(_void(batch, places)).as_py() for batch in _batches(file, _NEEDED)):
                continue
            for batch in _batches(file, None):
                kept = batch.filter(pc.invert(_void(batch, places)))
                sink.write(table, cluster_id, day, kept)
            removed.append(Stored(path, file.metadata.num_rows, os.path.getsize(whole)))
    return removed


_NEEDED = ["file", "position"]


def _batches(file: Any, columns: list[str] | None) -> Iterator[ArrowBatch]:
    yield from file.iter_batches(batch_size=_ROWS, columns=columns)


def _files(root: str, cluster_id: str | None) -> Iterator[tuple[str, str | None, str]]:
    """The committed files of a cluster's tables that are appended to by day."""
    for table in TABLES.values():
        if not table.dated:
            continue
        below = f"{table.name}/{partition(CLUSTER, cluster_id)}"
        for folder in _listed(os.path.join(root, below)):
            value = folder.removeprefix(f"{DATE}=")
            for name in _listed(os.path.join(root, below, folder)):
                day = None if value == NO_VALUE else value
                yield table.name, day, f"{below}/{folder}/{name}"


def _listed(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return []


def _may_have(metadata: Any, places: Sequence[Place]) -> bool:
    """True if any row can be of a file that is concerned, by the least and greatest name."""
    column = metadata.schema.to_arrow_schema().get_field_index("file")
    for number in range(metadata.num_row_groups):
        statistics = metadata.row_group(number).column(column).statistics
        if statistics is None or not statistics.has_min_max:
            return True
        for folder, segment, _ in places:
            # Names behind the last segment's own that are in the same folder.
            if statistics.max >= f"{folder}/{segment}" and statistics.min < f"{folder}/~":
                return True
    return False


def _void(batch: ArrowBatch, places: Sequence[Place]) -> Array:
    names, positions = batch["file"], pc.fill_null(batch["position"], 0)
    found = pa.repeat(pa.scalar(False), batch.num_rows)
    for folder, segment, start in places:
        first = f"{folder}/{segment}"
        same = pc.and_(pc.equal(names, first), pc.greater_equal(positions, start))
        later = pc.and_(
            pc.and_(pc.starts_with(names, f"{folder}/"), pc.greater(names, first)),
            pc.ends_with(names, ".log"),
        )
        found = pc.or_(found, pc.or_(same, later))
    return found
