"""Work in DataFrames: values of Python that travel to the workers and back, as Arrow.

Owns the way of such values: one column of pickles, which only our own code on the workers reads.
It stands in for RDDs, which Spark Connect and serverless platforms do not have.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from kraftool.arrow.untyped import ArrowBatch, ArrowSchema, ArrowTable, pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
U = TypeVar("U")

Row = tuple[Any, ...]
"""A row: the values of its columns, in order."""

_HELD = pa.schema([("held", pa.binary())])
_ROWS = 1_000
_BYTES = 8 << 20
"""After so many rows or bytes a batch of results is handed on."""


def batches_of(
    spark: SparkSession, items: Sequence[T], task: Callable[[T], Iterable[ArrowBatch]], schema: str
) -> DataFrame:
    """All Arrow batches that a task makes of the items, a task of Spark's each."""
    return _dealt(spark, items).mapInArrow(partial(_batches_of_each, task), schema)


def rows_of(
    spark: SparkSession, items: Sequence[T], task: Callable[[T], Iterable[Row]], schema: str
) -> DataFrame:
    """All rows that a task makes of the items, a task of Spark's each."""
    return batches_of(spark, items, partial(_rows_of, task, arrow_of(schema)), schema)


def results_of(
    spark: SparkSession, items: Sequence[T], task: Callable[[T], Iterable[U]]
) -> list[U]:
    """All values that a task makes of the items, on the driver."""
    if not items:
        return []
    each = partial(_rows_of, partial(_pickled, task), _HELD)
    return collected(batches_of(spark, items, each, "held BINARY"), "held")


def _dealt(spark: SparkSession, items: Sequence[Any]) -> DataFrame:
    held = pa.array([pickle.dumps(item) for item in items], pa.binary())
    numbers = pa.array(range(len(items)), pa.int32())
    frame = spark.createDataFrame(pa.table({"number": numbers, "held": held}))
    return frame.repartitionById(max(len(items), 1), "number").select("held")


def _pickled(task: Callable[[Any], Iterable[Any]], value: Any) -> Iterator[Row]:
    for result in task(value):
        yield (pickle.dumps(result),)


def collected(frame: DataFrame, column: str) -> list[Any]:
    """The values of a column of pickles, on the driver."""
    table = frame.select(column).toArrow()
    return [pickle.loads(held) for held in table.column(column).to_pylist()]


def map_groups(
    frame: DataFrame,
    key: str,
    task: Callable[[Any, list[Row]], Iterable[Row]],
    schema: str,
    parts: int,
) -> DataFrame:
    """All rows that a task makes of the rows with one key. A key and its rows come as Arrow has
    them, the key first; they are in the memory of one worker. The keys are dealt out to `parts`
    tasks: each job that reads the result has as many, with or without rows."""
    others = [name for name in frame.columns if name != key]
    ordered = frame.select(key, *others).repartition(parts, key).sortWithinPartitions(key)
    return ordered.mapInArrow(partial(_rows_of_groups, task, arrow_of(schema)), schema)


def arrow_of(schema: str) -> ArrowSchema:
    """The Arrow form of a schema of Spark's, as workers need it."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    schema_type = StructType.fromDDL(schema)
    assert isinstance(schema_type, StructType), "a list of columns is one"
    return to_arrow_schema(schema_type)


def _batches_of_each(
    task: Callable[[Any], Iterable[ArrowBatch]], batches: Iterator[ArrowBatch]
) -> Iterator[ArrowBatch]:
    for batch in batches:
        for held in batch.column("held").to_pylist():
            yield from task(pickle.loads(held))


def _rows_of(
    task: Callable[[Any], Iterable[Row]], schema: ArrowSchema, value: Any
) -> Iterator[ArrowBatch]:
    return _tables(task(value), schema)


def _rows_of_groups(
    task: Callable[[Any, list[Row]], Iterable[Row]],
    schema: ArrowSchema,
    batches: Iterator[ArrowBatch],
) -> Iterator[ArrowBatch]:
    groups = groupby(rows_in(batches), key=itemgetter(0))
    return _tables((row for key, some in groups for row in task(key, list(some))), schema)


def rows_table(rows: Iterable[Row], schema: str) -> ArrowTable:
    """Rows of the driver's as a table."""
    arrow = arrow_of(schema)
    return pa.Table.from_batches(_tables(rows, arrow), schema=arrow)


def rows_in(batches: Iterable[ArrowBatch]) -> Iterator[Row]:
    """The rows of Arrow batches, one after another."""
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _tables(rows: Iterable[Row], schema: ArrowSchema) -> Iterator[ArrowBatch]:
    """Rows as batches of so many rows or bytes."""
    held: list[Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += sum(len(value) for value in row if isinstance(value, bytes))
        if len(held) >= _ROWS or size >= _BYTES:
            yield _table(held, schema)
            held, size = [], 0
    if held:
        yield _table(held, schema)


def _table(rows: Sequence[Row], schema: ArrowSchema) -> ArrowBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def parallelism(spark: SparkSession) -> int:
    """Return about how many tasks Spark runs at a time."""
    if not is_connect(spark):
        return int(spark.sparkContext.defaultParallelism)
    from pyspark.sql.functions import spark_partition_id

    return spark.range(1 << 16).select(spark_partition_id()).distinct().count()


def is_connect(spark: SparkSession) -> bool:
    """True if the session is one of Spark Connect, which has no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")
