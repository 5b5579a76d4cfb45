"""DataFrames and views of data directories by one typed call.

Owns the calls. What they read is chosen by the options of the sources, as keywords of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from kraftool.arrow.choices import Choices, Path, chosen_source, option_texts, path_text
from kraftool.arrow.columns import RECORDS, arrow_schema
from kraftool.arrow.settings import read_settings
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
    source = chosen_source(options, RECORDS)
    # What is wrong is said here as it is. Spark would say it after a sentence of its own.
    settings = read_settings({**options, "path": path_text(path)}, source)
    arrow_schema(source, settings.columns)
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
