"""DataFrames and views of data directories by one typed call.

Owns the calls. What they read is chosen by the options of the sources, as keywords of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from kraftool.arrow.choices import Choices, Path, option_texts, path_text
from kraftool.spark.source import RecordsSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read(
    spark: SparkSession,
    path: Path | Sequence[Path],
    rows: str = "records",
    **choices: Unpack[Choices],
) -> DataFrame:
    """The rows of data directories, as `kraftool.arrow.read` names and chooses them."""
    spark.dataSource.register(RecordsSource)
    options = {"rows": rows, **option_texts(choices)}
    return spark.read.format(RecordsSource.name()).options(**options).load(path_text(path))


def create_view(
    spark: SparkSession,
    name: str,
    path: Path | Sequence[Path],
    rows: str = "records",
    **choices: Unpack[Choices],
) -> DataFrame:
    """Make or replace a temporary view of such rows, for SQL, and return it."""
    frame = read(spark, path, rows, **choices)
    frame.createOrReplaceTempView(name)
    return frame
