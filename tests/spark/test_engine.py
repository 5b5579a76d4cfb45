"""A session on this machine: its settings, kraftool on its workers, its failures.

tests/spark/test_extra.py has its Java and its end.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from kraftool.commands.pipeline_options import EngineOptions, spark_session
from kraftool.decoders import segment
from kraftool.decoders.errors import KraftoolError
from kraftool.installing import install_hint
from kraftool.spark import jvm
from kraftool.spark.engine import session
from kraftool.spark.failures import explain, explained
from kraftool.spark.job_progress import JobProgress, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_the_workers_run_our_python_on_our_modules(spark: "SparkSession") -> None:
    """From files, of which Python keeps bytecode; test_cluster.py has those of other machines."""

    def probe(_: Iterable[int]) -> Iterator[tuple[str, str]]:
        from kraftool.decoders import segment as seen_there

        yield sys.executable, seen_there.__file__

    seen = spark.sparkContext.parallelize(range(2), 2).mapPartitions(probe).collect()
    assert {executable for executable, _ in seen} == {sys.executable}
    for _, file in seen:
        assert "/kraftool-" in file
        assert file.endswith("/packages/kraftool/decoders/segment.py")
        assert Path(file).samefile(segment.__file__)


def test_a_session_is_private_quiet_and_in_utc(spark: "SparkSession") -> None:
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.driver.host") == "127.0.0.1"
    assert conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.sparkContext.uiWebUrl is None
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.python.filterPushdown.enabled") == "false"
    assert conf.get("spark.app.name") == "kraftool"
    assert conf.get("spark.driver.memory") == "1g"
    folder = Path(conf.get("spark.sql.warehouse.dir", "").removeprefix("file:")).parent
    assert folder.stat().st_mode & 0o077 == 0
    jvm: Any = spark.sparkContext._jvm
    assert jvm.java.lang.System.getProperty("java.io.tmpdir") == str(folder / "jvm")


def test_settings_are_on_no_command_line(spark: "SparkSession") -> None:
    jvm: Any = spark.sparkContext._jvm
    command = jvm.java.lang.ProcessHandle.current().info().commandLine().get()
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert "SparkSubmit" in command
    assert "shuffle.partitions" not in command


def test_a_second_session_in_one_process_is_refused(spark: "SparkSession") -> None:
    with pytest.raises(KraftoolError, match="already has a Spark session"), session():
        pass


def test_progress_counts_the_tasks_of_all_jobs(spark: "SparkSession") -> None:
    progress: list[JobProgress] = []
    context = spark.sparkContext
    context.parallelize(range(2), 2).count()
    with watched(spark, progress.append, interval_s=0.01):
        pairs = context.parallelize(range(8), 4).map(lambda number: (number % 2, number))
        sums = pairs.reduceByKey(lambda one, other: one + other, 3)
        assert len(sums.collect()) == 2
        # The first stage is skipped now, as its shuffle files are there.
        assert sums.count() == 2
    assert progress[-1] == JobProgress(tasks=4 + 3 + 3, tasks_done=4 + 3 + 3)


@pytest.mark.parametrize(
    ("module", "message", "hint"),
    [
        ("kraftool.decoders", "a Spark worker cannot import kraftool", "shipping.ship"),
        ("crc32c", "the Python of a Spark worker has no crc32c", "pip install crc32c"),
        ("lz4.frame", "the Python of a Spark worker has no lz4", "pip install lz4"),
    ],
)
def test_a_worker_that_lacks_a_module_is_explained(
    module: str, message: str, hint: str, spark: "SparkSession"
) -> None:
    def lacking(_: int) -> int:
        raise ModuleNotFoundError(f"No module named {module!r}")  # as the import system says it

    with pytest.raises(KraftoolError) as raised, explained():
        spark.sparkContext.parallelize([1], 1).map(lacking).count()
    assert str(raised.value) == message
    assert hint in raised.value.hint


def test_a_worker_without_python_is_explained(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/nowhere/python")
    with pytest.raises(KraftoolError) as raised, explained():
        spark.sparkContext.parallelize([1], 1).map(str).count()
    assert str(raised.value).startswith("/nowhere/python cannot be started on a Spark worker: No s")
    assert "spark.pyspark.python" in raised.value.hint


# What Spark 4.3 said when it was tried; the first took a minute, the others need other machines.
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
            "the Spark master does not answer, or has stopped the application",
        ),
        (
            (
                "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that "
                "in driver: 3.12, PySpark cannot run with different minor versions."
            ),
            "a Spark worker runs Python 3.9, kraftool runs 3.12; Spark requires the same",
        ),
        (
            "[PACKAGE_NOT_INSTALLED] PyArrow >= 18.0.0 must be installed; however, it was not ...",
            "Spark needs PyArrow 18.0.0 or newer for this, here or on a worker",
        ),
        (
            "java.lang.OutOfMemoryError: Java heap space\n\tat java.base/java.util.Arrays",
            "Spark ran out of memory (Java heap space)",
        ),
    ],
)
def test_what_spark_says_is_told_with_a_way_out(message: str, expected: str) -> None:
    from pyspark.errors import PySparkRuntimeError

    error = explain(PySparkRuntimeError(message))
    assert error is not None
    assert str(error) == expected
    assert error.hint


def test_a_jvm_without_memory_ends_and_so_does_the_run(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise one thread would end, and the others would wait for it for ever."""
    gateway: Any = spark._jvm
    beans = gateway.java.lang.management.ManagementFactory
    arguments = list(beans.getRuntimeMXBean().getInputArguments())
    assert "-XX:+ExitOnOutOfMemoryError" in arguments

    log, process = tmp_path / "jvm.log", subprocess.Popen(["true"])
    log.write_text("Terminating due to java.lang.OutOfMemoryError: Java heap space\n")
    monkeypatch.setattr(jvm, "_started", lambda *_: SimpleNamespace(proc=process))
    monkeypatch.setattr(jvm, "_forget", lambda _: None)
    monkeypatch.setattr(jvm, "_shut", lambda _: None)
    with (
        pytest.raises(KraftoolError, match=r"Spark ran out of memory \(Java heap space\)"),
        jvm.running(tmp_path, {}, log),
    ):
        raise EOFError


def test_an_error_of_ours_on_a_worker_is_told_as_it_was_raised(spark: "SparkSession") -> None:
    def refuse(_: int) -> int:
        raise KraftoolError("this cannot be read")

    with pytest.raises(KraftoolError) as raised, explained():
        spark.sparkContext.parallelize([1], 1).map(refuse).count()
    assert str(raised.value) == "this cannot be read"


def test_an_unknown_failure_of_spark_is_one_line_with_its_words_as_a_note(
    spark: "SparkSession",
) -> None:
    with pytest.raises(KraftoolError) as raised, explained():
        spark.sql("SELECT nothing FROM nowhere")
    assert str(raised.value).startswith("Spark failed: [TABLE_OR_VIEW_NOT_FOUND]")
    assert "\n" not in str(raised.value)
    assert "nowhere" in raised.value.__notes__[0]


def test_a_failure_that_is_not_sparks_stays_what_it_is() -> None:
    with pytest.raises(ValueError, match="mine"), explained():
        raise ValueError("mine")


@pytest.mark.parametrize(
    ("master", "message"),
    [
        ("sc://host:15002", "Spark Connect cannot be used"),
        ("host:7077", "host:7077 is not a Spark master"),
        ("mesos://host", "mesos://host is not a Spark master"),
    ],
)
def test_a_master_that_cannot_be_used_is_refused_before_a_jvm_starts(
    master: str, message: str
) -> None:
    with pytest.raises(KraftoolError, match=message), session(master, classic_only=True):
        pass


@pytest.mark.parametrize("package", ["pyspark", "pyarrow", "pandas"])
def test_a_missing_package_is_named_with_the_way_to_get_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(KraftoolError, match=f"{package}, which is not installed") as raised:
        session().__enter__()
    assert raised.value.hint == install_hint("spark")


def test_a_package_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "3.5.8")
    with pytest.raises(KraftoolError, match=r"pyspark 4\.1 or newer, but 3\.5\.8 is installed"):
        session().__enter__()


@pytest.mark.parametrize(
    ("app", "conf", "java_options"),
    [
        ("audit", [], "-XX:TieredStopAtLevel=1"),
        ("tables", [], "-XX:TieredStopAtLevel=1"),
        ("stream", [], None),
        ("tables", ["spark.driver.defaultJavaOptions=-XX:+UseZGC"], "-XX:+UseZGC"),
    ],
)
def test_the_java_of_a_pipeline_that_works_in_python_compiles_quickly(
    app: str, conf: list[str], java_options: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, str]] = []
    monkeypatch.setattr(
        "kraftool.spark.engine.session", lambda _, settings, *__, **___: given.append(settings)
    )
    spark_session(EngineOptions(conf=conf), app)
    assert [settings.get("spark.driver.defaultJavaOptions") for settings in given] == [java_options]
