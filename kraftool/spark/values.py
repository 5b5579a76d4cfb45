"""Work in DataFrames: values of Python that travel to the workers and back, as Arrow.

Owns the way of such values: one column of pickles, which only our own code on the workers reads.
It stands in for RDDs, which Spark Connect and serverless platforms do not have.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kraftool.arrow.untyped import ArrowBatch, pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
U = TypeVar("U")

_SCHEMA = "held BINARY"
_ROWS = 1_000
_BYTES = 8 << 20
"""After so many rows or bytes a batch of results is handed on."""


class DistributedValues(Generic[T]):
    """Values on the workers, made when they are asked for."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    @classmethod
    def of(cls, spark: SparkSession, items: Sequence[T]) -> DistributedValues[T]:
        """The items, a task each."""
        held = pa.array([pickle.dumps(item) for item in items], pa.binary())
        numbers = pa.array(range(len(items)), pa.int32())
        frame = spark.createDataFrame(pa.table({"number": numbers, "held": held}))
        return cls(frame.repartitionById(max(len(items), 1), "number").select("held"))

    def flat_map(self, task: Callable[[T], Iterable[U]]) -> DistributedValues[U]:
        """All that a task makes of each value."""
        return DistributedValues(self._frame.mapInArrow(partial(_each, task), _SCHEMA))

    def collect(self) -> list[T]:
        """All values, on the driver."""
        table = self._frame.toArrow()
        return [pickle.loads(held) for held in table.column("held").to_pylist()]


def _each(task: Callable[[Any], Iterable[Any]], batches: Iterator[ArrowBatch]) -> Iterator[Any]:
    values = (pickle.loads(held) for batch in batches for held in batch.column("held").to_pylist())
    return _batches(result for value in values for result in task(value))


def _batches(values: Iterable[Any]) -> Iterator[ArrowBatch]:
    """Values as batches of their pickles."""
    held: list[bytes] = []
    size = 0
    for value in values:
        held.append(pickle.dumps(value))
        size += len(held[-1])
        if len(held) >= _ROWS or size >= _BYTES:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def _batch(held: Sequence[bytes]) -> ArrowBatch:
    return pa.RecordBatch.from_pydict({"held": pa.array(held, pa.binary())})


def parallelism(spark: SparkSession) -> int:
    """Return about how many tasks Spark runs at a time."""
    if not is_connect(spark):
        return int(spark.sparkContext.defaultParallelism)
    from pyspark.sql.functions import spark_partition_id

    return spark.range(1 << 16).select(spark_partition_id()).distinct().count()


def is_connect(spark: SparkSession) -> bool:
    """True if the session is one of Spark Connect, which has no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")
