"""The options that the pipelines share, and the Spark session that they ask for."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kraftool.commands.output import Output, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Roots = Annotated[
    list[str],
    typer.Argument(
        metavar="ROOT...",
        help="Data directories, folders that hold many, patterns, server.properties, URLs.",
    ),
]
Master = Annotated[
    str,
    typer.Option(
        "--master",
        metavar="MASTER",
        help="A Spark master, such as spark://HOST:7077 or local[4]. Without it all cores of this"
        " machine are used, or what spark-submit says.",
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark's; may be repeated."),
]
SparkLog = Annotated[
    str,
    typer.Option("--spark-log", metavar="FILE", help="Keep what Spark's JVM writes in a file."),
]
StorageOptions = Annotated[
    str,
    typer.Option(
        "--storage-options",
        metavar="FILE",
        help="A file with a JSON object for fsspec: endpoint, credentials and the like of URLs.",
    ),
]
Depth = Annotated[
    int,
    typer.Option("--depth", min=0, help="Look so many folders deep below a ROOT."),
]
DEPTH = 6
"""As `kraftool.spark.fleet` has it, which is not imported for a help text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Where and how Spark runs."""

    master: str = ""
    conf: Sequence[str] = field(default=(), repr=False)
    """As given; values may be secrets."""
    log: str = ""


def spark_session(engine: EngineOptions, app: str) -> AbstractContextManager[SparkSession]:
    """A Spark session without narration."""
    from kraftool.spark.engine import session

    settings = dict(map(_setting, engine.conf))
    log = Path(engine.log) if engine.log else None
    return session(engine.master, settings, f"kraftool {app}", log=log)


@contextmanager
def spark_run(to: Output, engine: EngineOptions, app: str) -> Iterator[SparkSession]:
    """A Spark session with a bar of the tasks of all jobs that run in it."""
    from kraftool.spark.job_progress import JobProgress, watched

    with (
        _cleaned_up_on_sigterm(),
        to.task_progress("starting Spark") as told,
        spark_session(engine, app) as spark,
    ):

        def tell(now: JobProgress) -> None:
            told(app, now.tasks_done, now.tasks)

        with watched(spark, tell):
            yield spark
        told("stopping Spark", 0, 0)


@contextmanager
def _cleaned_up_on_sigterm() -> Iterator[None]:
    """Let a SIGTERM end the run as an exception does, so that no JVM and no file stays behind."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, kept)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        # What stands there may be a secret, so that it is not repeated.
        raise UsageError("--conf wants KEY=VALUE", hint="--conf spark.driver.memory=4g")
    return key.strip(), value


def absolute(roots: Sequence[str]) -> tuple[str, ...]:
    """ROOTs as they are named from anywhere: by workers, and by a later run in another folder."""
    return tuple(
        each if "://" in each else os.path.abspath(os.path.expanduser(each)) for each in roots
    )


def storage_options(path: str) -> dict[str, object]:
    """The JSON object that a file holds for fsspec; none without a file."""
    if not path:
        return {}
    import orjson

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"--storage-options {path}: {error.strerror}") from error
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"--storage-options {path} holds no JSON object")
    return value
