"""The batches of a fleet as one DataFrame, and where those of one cluster differ.

Owns the two passes: Spark groups all batches by offset, so that clusters whose logs are alike cost
no more than that; only for the others the ranges are located, by `divergence.py`. The rows are
those of `kraft.batches`. It refuses to collect batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import orjson
from pyspark.sql.functions import broadcast, expr

from kraftool.arrow.columns import BATCHES
from kraftool.reports.fleet.model import Divergence
from kraftool.reports.text.printable import file_text
from kraftool.spark.audit.divergence import BatchAt, divergences
from kraftool.spark.source import add_sources

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, Row, SparkSession

_COLUMNS = (
    "directory", "file", "position", "base_offset", "last_offset", "epoch", "crc", "valid",
)  # fmt: skip
_HOMES = "directory STRING, cluster STRING"
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
) -> RDD[Divergence]:
    """All divergences in clusters, each given with the names of its directories."""
    several = {name: found for name, found in clusters.items() if len(found) > 1}
    differing = _differing(_frame(spark, sources, several)) if several else set()
    if not differing:
        return _none(spark)
    found = _frame(spark, sources, {each: several[each] for each in sorted(differing)})
    ordered = found.repartition("cluster").sortWithinPartitions("cluster", "base_offset")
    return ordered.rdd.mapPartitions(_located)


def _none(spark: SparkSession) -> RDD[Divergence]:
    return spark.sparkContext.parallelize([], 1)


def _differing(batches: DataFrame) -> set[str]:
    """The clusters in which any offset has two batches."""
    told = batches.selectExpr("cluster", "base_offset", "last_offset", f"{_WHAT} AS what")
    ends = told.groupBy("cluster", "base_offset").agg(
        expr("min(what) < max(what) OR min(last_offset) < max(last_offset)").alias("differs")
    )
    found = ends.where("differs").select("cluster").distinct()
    return {row["cluster"] for row in found.collect()}


def _frame(
    spark: SparkSession, sources: BatchRoots, clusters: Mapping[str, Sequence[str]]
) -> DataFrame:
    """Every batch whose CRC holds, with the cluster that it belongs to."""
    add_sources(spark)
    reader = spark.read.format(BATCHES).option("columns", ",".join(_COLUMNS))
    reader = reader.option("depth", str(sources.depth)).option("kind", "batch")
    if sources.storage:
        reader = reader.option("storageOptions", orjson.dumps(dict(sources.storage)).decode())
    homes = [
        (file_text(directory), name) for name, found in clusters.items() for directory in found
    ]
    if len(homes) <= _MOST_NAMED:
        names = [directory for directory, _ in homes]
        reader = reader.option("directory", orjson.dumps(names).decode())
    read = reader.load(list(sources.roots)).where("valid")
    return read.join(broadcast(spark.createDataFrame(homes, _HOMES)), "directory")


def _located(rows: Iterable[Row]) -> Iterator[Divergence]:
    """The divergences of clusters, whose batches come one cluster after another, in order."""
    for cluster, some in groupby(rows, key=lambda row: row["cluster"]):
        yield from divergences(cluster, map(_batch, some))


def _batch(row: Row) -> BatchAt:
    return BatchAt(
        base_offset=row["base_offset"],
        directory=row["directory"],
        last_offset=row["last_offset"],
        epoch=row["epoch"],
        crc=row["crc"],
        file=row["file"],
        position=row["position"],
    )
