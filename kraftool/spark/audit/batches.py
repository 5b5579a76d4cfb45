"""The batches of a fleet as one DataFrame, and where those of one cluster differ.

Owns the two passes: Spark groups all batches by offset, so that clusters whose logs are alike cost
no more than that; only for the others the ranges are located, by `divergence.py`. The rows are
those of `kraft.batches`. It refuses to collect batches.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import orjson
from pyspark.sql.functions import broadcast, expr

from kraftool.arrow.columns import BATCHES
from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.reports.text.printable import file_text
from kraftool.spark.audit.divergence import BatchAt, divergences
from kraftool.spark.audit.examined import key_bytes, key_text
from kraftool.spark.source import add_sources
from kraftool.spark.values import rows_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COLUMNS = (
    "directory", "file", "position", "base_offset", "last_offset", "epoch", "crc", "valid",
)  # fmt: skip
DIVERGENCES = "key BINARY, divergence BINARY"
_MOST_NAMED = 1000
"""So many directories are named to the source, which opens no others."""
_WHAT = "shiftleft(CAST(epoch AS BIGINT), 32) | crc"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRoots:
    """The roots from which the batches are read, as `kraft.batches` takes them."""

    roots: tuple[str, ...] = field(repr=False)
    depth: int
    storage: Mapping[str, Any] = field(repr=False)


def diverged(
    spark: SparkSession, sources: BatchRoots, clusters: Mapping[str, Sequence[str]]
) -> DataFrame | None:
    """All divergences in clusters, each given with the names of its directories: the bytes of the
    cluster's name as `key`, and the divergence. None if there is no divergence."""
    differing = _differing(_frame(spark, sources, clusters))
    if not differing:
        return None
    frame = _frame(spark, sources, {name: clusters[name] for name in sorted(differing)})
    ordered = frame.repartition("cluster").sortWithinPartitions("cluster", "base_offset")
    columns = ordered.select("cluster", *BatchAt._fields)
    return columns.mapInArrow(_located, DIVERGENCES)


def _differing(batches: DataFrame) -> set[str]:
    """The clusters in which any offset has two batches."""
    frame = batches.selectExpr("cluster", "base_offset", "last_offset", f"{_WHAT} AS what")
    ends = frame.groupBy("cluster", "base_offset").agg(
        expr("min(what) < max(what) OR min(last_offset) < max(last_offset)").alias("differs")
    )
    differing = ends.where("differs").select("cluster").distinct().toArrow()
    return set(map(key_text, differing.column("cluster").to_pylist()))


def _frame(
    spark: SparkSession, sources: BatchRoots, clusters: Mapping[str, Sequence[str]]
) -> DataFrame:
    """Every batch whose CRC holds, with the cluster that it belongs to."""
    add_sources(spark)
    reader = spark.read.format(BATCHES).option("columns", ",".join(_COLUMNS))
    reader = reader.option("depth", str(sources.depth)).option("kind", "batch")
    if sources.storage:
        reader = reader.option("storageOptions", orjson.dumps(dict(sources.storage)).decode())
    names = [file_text(directory) for directories in clusters.values() for directory in directories]
    keys = [key_bytes(name) for name, directories in clusters.items() for _ in directories]
    if len(names) <= _MOST_NAMED:
        reader = reader.option("directory", orjson.dumps(names).decode())
    read = reader.load(list(sources.roots)).where("valid")
    homes = pa.table({"directory": names, "cluster": pa.array(keys, pa.binary())})
    return read.join(broadcast(spark.createDataFrame(homes)), "directory")


def _located(batches: Iterable[ArrowBatch]) -> Iterator[ArrowBatch]:
    """The divergences of clusters, whose batches come one cluster after another, in order."""
    for cluster, some in groupby(rows_in(batches), key=itemgetter(0)):
        ranges = list(divergences(key_text(cluster), (BatchAt(*row[1:]) for row in some)))
        keys = pa.array([cluster] * len(ranges), pa.binary())
        held = pa.array(map(pickle.dumps, ranges), pa.binary())
        yield pa.RecordBatch.from_pydict({"key": keys, "divergence": held})
