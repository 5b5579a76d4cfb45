"""The options that the pipelines share, and the Spark session that they ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from typer import Argument, Option

from kraftool.commands.exit_code import FailedError, RefusedError, UsageError
from kraftool.commands.options import ScreenOptions
from kraftool.commands.output import Output
from kraftool.storage.bundle_names import bundle_place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kraftool.spark.job_progress import StagedProgress

DEPTH = 6
"""As `kraftool.arrow.search` has it, which is not imported for a help text."""


_WORKS_IN_PYTHON = ("audit", "tables")
"""Pipelines whose JVM only hands work to Python. A stream's runs for days."""


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """The options for Spark's master, memory and log."""

    master: Annotated[
        str,
        Option(
            "--master",
            metavar="MASTER",
            help="Spark master, such as spark://HOST:7077 or local[4]. By default Spark uses all"
            " cores of this machine, or what spark-submit sets.",
        ),
    ] = ""
    conf: Annotated[
        list[str],
        Option("--conf", metavar="KEY=VALUE", help="Spark setting. Repeat it for more settings."),
    ] = field(default_factory=list, repr=False)
    """As given; values may be secrets."""
    spark_log: Annotated[
        str,
        Option("--spark-log", metavar="FILE", help="File for the log of Spark's JVM."),
    ] = ""


@dataclass(frozen=True, kw_only=True)
class PipelineOptions(EngineOptions):
    """The options that all pipelines share: inputs, Spark, and the terminal."""

    roots: Annotated[
        list[str],
        Argument(
            metavar="ROOT",
            help="Data directories, folders that contain many, patterns, server.properties, URLs.",
        ),
    ] = field(repr=False)
    depth: Annotated[
        int,
        Option("--depth", metavar="N", min=0, help="Maximum search depth below a ROOT."),
    ] = DEPTH
    storage_options: Annotated[
        str,
        Option(
            "--storage-options",
            metavar="FILE",
            help="File with a JSON object for fsspec, such as the endpoint and credentials for"
            " URLs.",
        ),
    ] = ""
    printing: ScreenOptions


def spark_session(
    engine: EngineOptions, app: str, classic_only: bool = True
) -> AbstractContextManager[SparkSession]:
    """A Spark session without narration."""
    from kraftool.spark.engine import session
    from kraftool.spark.jvm import DEFAULT_JAVA_OPTIONS, QUICK_JAVA

    settings = dict(map(_setting, engine.conf))
    if app in _WORKS_IN_PYTHON:
        settings.setdefault(DEFAULT_JAVA_OPTIONS, QUICK_JAVA)
    log = Path(engine.spark_log) if engine.spark_log else None
    return session(engine.master, settings, f"kraftool {app}", log=log, classic_only=classic_only)


@contextmanager
def turned_down() -> Iterator[None]:
    """One rule for all pipelines: what cannot be done whatever is there is usage (2), what would
    be lost or mixed up is refused (5)."""
    from kraftool.spark.errors import OccupiedError, UnusableError

    try:
        yield
    except UnusableError as error:
        raise UsageError(error.message, hint=error.hint) from error
    except OccupiedError as error:
        raise RefusedError(error.message, hint=error.hint) from error


def check_files(**files: str) -> None:
    """Refuse files, by their options, of which two are one or one lies in a data directory."""
    from kraftool.spark.outputs import refuse_inside

    taken: dict[str, str] = {}
    for option, path in files.items():
        name = f"--{option.replace('_', '-')}"
        if not path:
            continue
        other = taken.setdefault(os.path.realpath(path), name)
        if other != name:
            raise UsageError(f"{other} and {name} name the same file", hint="name two files")
        refuse_inside(path)


@contextmanager
def spark_run(
    to: Output, engine: EngineOptions, app: str, stages: StagedProgress | None = None
) -> Iterator[SparkSession]:
    """A Spark session with a bar of the tasks of all jobs that run in it; signals end it. With
    `stages` the bar has the stage of the pipeline and its directories."""
    from kraftool.spark.ending import ended_by_signals
    from kraftool.spark.job_progress import JobProgress, watched
    from kraftool.spark.values import is_connect

    unit = "tasks" if stages is None else "directories"
    with (
        ended_by_signals() as ending,
        to.task_progress("starting Spark", lines=True, unit=unit) as progress,
        spark_session(engine, app, False) as spark,
    ):
        if stages is not None:
            stages.report = lambda stage, done, total: progress(f"{app}: {stage}", done, total)

        def tell(now: JobProgress) -> None:
            if stages is not None:
                stages(now)
            else:
                progress(app, now.tasks_done, now.tasks)

        if is_connect(spark):

            def interrupt() -> None:
                spark.interruptAll()

            with ending.working(interrupt):
                yield spark
        else:
            with (
                watched(spark, tell) as tell_now,
                ending.working(spark.sparkContext.cancelAllJobs),
            ):
                if stages is not None:
                    stages.refresh = tell_now
                yield spark
        progress("stopping Spark", 0, 0)


_Result = TypeVar("_Result")


def with_one_retry(to: Output, attempt: Callable[[], _Result]) -> _Result:
    """Run a whole pipeline, and once more if Spark could not start its workers the first time."""
    from kraftool.spark.errors import WorkerStartError

    for is_last in (False, True):
        try:
            return attempt()
        except WorkerStartError as error:
            if is_last or to.has_written:
                raise FailedError(error.message, hint=error.hint) from error
            to.note(f"{error.message}; trying once more")
    raise AssertionError("the last try returns or raises")


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        # What stands there may be a secret, so that it is not repeated.
        raise UsageError("--conf requires KEY=VALUE", hint="--conf spark.driver.memory=4g")
    return key.strip(), value


def absolute(roots: Sequence[str]) -> tuple[str, ...]:
    """ROOTs as they are named from anywhere: by workers, and by a later run in another folder."""
    if not all(roots):
        raise UsageError("a ROOT has an empty name", hint="a variable of the shell may be empty")
    if bundle := next((root for root in roots if bundle_place(root) is not None), ""):
        raise UsageError(
            f"{bundle} is a bundle", hint=f"pipelines read directories: kraftool doctor {bundle}"
        )
    return tuple(
        root if "://" in root else os.path.abspath(os.path.expanduser(root)) for root in roots
    )


def storage_options(path: str, option: str = "--storage-options") -> dict[str, object]:
    """The JSON object that a file holds for a library; none without a file."""
    if not path:
        return {}
    import orjson

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror}") from error
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{option} {path} does not contain a JSON object")
    return value
