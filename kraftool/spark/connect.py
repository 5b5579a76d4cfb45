"""A session on a server of Spark Connect, and what every kind of session has around it.

Owns the way of kraftool's code to such a server: an artifact of the session, which its workers
import. No JVM is started here.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kraftool.arrow.private_folder import private_folder
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.failures import explained
from kraftool.spark.jvm import environment
from kraftool.spark.shipping import write_package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MODE = "SPARK_CONNECT_MODE_ENABLED"
"""By this PySpark knows which functions and which columns to make."""


@contextmanager
def connected(remote: str, settings: Mapping[str, str], app: str) -> Iterator[SparkSession]:
    """Yields a new session on a server whose workers get kraftool's code."""
    if importlib.util.find_spec("grpc") is None:
        raise KraftoolError(
            "Spark Connect needs packages that are not installed",
            hint="pip install 'pyspark[connect]'",
        )
    from pyspark.sql import SparkSession

    with (
        private_spark_folder() as folder,
        query_contexts_muted(),
        environment(**{_MODE: "1"}),
        explained(),
    ):
        builder = SparkSession.builder.remote(remote).appName(app)
        for name, value in {"spark.sql.session.timeZone": "UTC", **settings}.items():
            builder = builder.config(name, value)
        spark = builder.create()
        try:
            spark.addArtifacts(str(write_package(folder)), pyfile=True)
            yield spark
        finally:
            spark.stop()


@contextmanager
def private_spark_folder() -> Iterator[Path]:
    with private_folder("kraftool-spark-") as folder:
        try:
            yield folder
        finally:
            # PySpark adds what was shipped to our own path too.
            sys.path[:] = [path for path in sys.path if not path.startswith(f"{folder}{os.sep}")]


@contextmanager
def query_contexts_muted() -> Iterator[None]:
    """PySpark logs each error of a query as a line of JSON as well, with its whole stack."""
    from pyspark.logger import PySparkLogger

    names = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    loggers = [PySparkLogger.getLogger(name) for name in names]
    kept = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was_disabled in zip(loggers, kept, strict=True):
            logger.disabled = was_disabled
