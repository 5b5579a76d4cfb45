"""The batches of clusters as one DataFrame, and where those of one cluster differ.

Owns that the batches of a cluster come to one task in the order of their offsets; `divergence.py`
locates the ranges. The rows are those of `kraft.batches`.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from kraftool.arrow.columns import BATCHES, arrow_schema
from kraftool.arrow.fleet import Fleet, with_batches
from kraftool.arrow.narrowing import Narrowing
from kraftool.arrow.reading import rows_of_batches
from kraftool.arrow.settings import SourceOptions
from kraftool.arrow.splits import Split, plan
from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.spark.audit.divergence import BatchAt, divergences
from kraftool.spark.audit.examined import key_bytes, key_text
from kraftool.spark.audit.roots import FoundDirectory
from kraftool.spark.values import batches_of, rows_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS = (
    "key BINARY, base_offset BIGINT, directory STRING, last_offset BIGINT, epoch INT, crc BIGINT,"
    " file STRING, position BIGINT"
)
_READ = SourceOptions(paths=(), narrowing=Narrowing(kinds=frozenset({"batch"})))


def diverged(spark: SparkSession, clusters: Mapping[str, Sequence[FoundDirectory]]) -> DataFrame:
    """All divergences in clusters, each given with its directories: the bytes of the cluster's name
    as `key`, and the divergence."""
    tasks = [
        (key_bytes(name), splits)
        for name, directories in clusters.items()
        for files in [tuple(file for directory in directories for file in directory)]
        for splits in plan(with_batches(Fleet(files=files)), files)
    ]
    frame = batches_of(spark, tasks, _sound, _ROWS)
    ordered = frame.repartition("key").sortWithinPartitions("key", "base_offset")
    return ordered.mapInArrow(_located, "key BINARY, divergence BINARY")


def _sound(task: tuple[bytes, Sequence[Split]]) -> Iterator[ArrowBatch]:
    """Every batch whose CRC holds, with the cluster that it belongs to."""
    key, splits = task
    arrow = arrow_schema(BATCHES, (*BatchAt._fields, "valid"))
    for batch in rows_of_batches(BATCHES, arrow, _READ, splits):
        sound = batch.filter(batch["valid"])
        columns = [sound[name] for name in BatchAt._fields]
        keys = pa.array([key] * sound.num_rows, pa.binary())
        yield pa.RecordBatch.from_arrays([keys, *columns], ["key", *BatchAt._fields])


def _located(batches: Iterable[ArrowBatch]) -> Iterator[ArrowBatch]:
    """The divergences of clusters, whose batches come one cluster after another, in order."""
    for cluster, some in groupby(rows_in(batches), key=itemgetter(0)):
        ranges = list(divergences(key_text(cluster), (BatchAt(*row[1:]) for row in some)))
        keys = pa.array([cluster] * len(ranges), pa.binary())
        held = pa.array(map(pickle.dumps, ranges), pa.binary())
        yield pa.RecordBatch.from_pydict({"key": keys, "divergence": held})
