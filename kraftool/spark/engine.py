"""A Spark session with kraftool in it: on this machine, or on a cluster.

Owns the session from its start to its end: Java, settings, kraftool's code on the workers, private
temporary files. It refuses to leave anything running or lying about.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kraftool.decoders.errors import KraftoolError
from kraftool.installing import install_hint
from kraftool.spark.connect import connected, private_spark_folder, query_contexts_muted
from kraftool.spark.errors import UnusableError
from kraftool.spark.failures import explained
from kraftool.spark.jvm import environment, running
from kraftool.spark.shipping import link_package, python_path, send, show, write_package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
TRIES = "4"
"""How often a task is tried, as on a cluster; on one machine Spark would give up at once."""

_OLDEST = {"pyspark": (4, 1), "pyarrow": (18, 0), "pandas": (2, 2)}
_MASTERS = re.compile(r"local$|local\[|local-cluster\[|spark://|yarn$|k8s://|sc://")
_ONE_TRY = re.compile(r"local(?:\[\s*(\*|\d+)\s*\])?$")
_ONE_MACHINE = re.compile(r"local(?:\[[^]]*\])?$")
"""A master whose workers are started here, by the JVM that we have started."""


@contextmanager
def session(
    master: str = "",
    conf: Mapping[str, str] | None = None,
    app: str = "kraftool",
    *,
    log: Path | None = None,
    classic_only: bool = False,
) -> Iterator[SparkSession]:
    """Yields a Spark session whose workers have kraftool's code.

    Without a master it is the one that spark-submit or spark-defaults.conf name, or else all cores
    of this machine. `conf` has Spark's own settings. What the JVM writes goes to `log`, or else to
    a temporary file, of which the last lines are told if it does not start.

    A master sc://HOST:15002 is a server of Spark Connect, which `classic_only` refuses.
    Failures that a user can mend are raised as KraftoolError.
    """
    _check_packages()
    settings = dict(conf or {})
    if master:
        settings["spark.master"] = master
    master = settings.get("spark.master", "")
    _check_master(master, classic_only=classic_only)
    if master.startswith("sc://"):
        del settings["spark.master"]
        with connected(master, settings, app) as spark:
            yield spark
        return
    with ExitStack() as ending:
        folder = ending.enter_context(private_spark_folder())
        ending.enter_context(_py4j_muted())
        ending.enter_context(query_contexts_muted())
        here, gateway = None, None
        if "PYSPARK_GATEWAY_PORT" not in os.environ:  # else spark-submit has started JVM and us
            where, here = log or folder / "jvm.log", link_package(folder)
            path = python_path(here, os.environ.get("PYTHONPATH"))
            gateway = ending.enter_context(running(folder, settings, where, path))
        ending.enter_context(explained())
        yield ending.enter_context(_connected(gateway, folder, here, settings, app))


@contextmanager
def _connected(
    gateway: Any, folder: Path, here: Path | None, settings: Mapping[str, str], app: str
) -> Iterator[SparkSession]:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    SparkContext._ensure_initialized(gateway=gateway)
    conf = SparkConf(_jvm=SparkContext._jvm)
    for key, value in settings.items():
        conf.set(key, value)
    if "spark.app.name" not in settings:
        conf.setAppName(app)
    tries = conf.get("spark.task.maxFailures") or TRIES
    where = with_tries(conf.get("spark.master", LOCAL) or LOCAL, tries)
    conf.setMaster(where)
    for key, value in _defaults(folder, is_local=where.startswith("local")).items():
        conf.setIfMissing(key, value)
    python = _worker_python(conf, is_local=where.startswith("local"))
    with environment(PYSPARK_PYTHON=python), _interrupts_kept():
        context = SparkContext(conf=conf)
    if (server := context._accumulatorServer) is not None:
        # It would print a traceback where the JVM ends amid the work, which is told in words.
        vars(server)["handle_error"] = lambda *_: None
    stop: Callable[[], None] = context.stop
    try:
        if here is not None and _ONE_MACHINE.match(where):
            show(context, here)
        else:
            send(context, write_package(folder))
        spark = SparkSession(context)
        stop = spark.stop
        yield spark
    except BaseException:
        # Amid an answer of the JVM's nothing more may be had from it. It ends soon in any case.
        with suppress(Exception):
            stop()
        raise
    stop()


def with_tries(master: str, tries: str) -> str:
    """The master by which tasks of this machine are tried again, where it does not say.

    Spark heeds spark.task.maxFailures on clusters only: without this a worker that the kernel
    killed for its memory would end the job.
    """
    one_try = _ONE_TRY.match(master)
    return f"local[{one_try[1] or 1},{tries}]" if one_try else master


def _defaults(folder: Path, *, is_local: bool) -> dict[str, str]:
    """Settings that count where the user has none."""
    here = {
        # Nobody else has to reach a driver that has no workers elsewhere.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        # Spark's own 200 are for clusters: each costs, however little there is in it.
        "spark.sql.shuffle.partitions": "32",
    }
    return {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        # Python would import from the working directory first, which may hold anything.
        "spark.executorEnv.PYTHONSAFEPATH": "1",
        **(here if is_local else {}),
    }


def _worker_python(conf: Any, *, is_local: bool) -> str:
    """The Python that the workers run: ours on this machine, one of the same version elsewhere."""
    named: str | None = conf.get("spark.pyspark.python")
    if named:
        return named
    if is_local:
        return sys.executable
    return os.environ.get("PYSPARK_PYTHON") or f"python3.{sys.version_info.minor}"


def _check_packages() -> None:
    for package, oldest in _OLDEST.items():
        if importlib.util.find_spec(package) is None:
            raise UnusableError(
                f"this needs the package {package}, which is not installed",
                hint=install_hint("spark"),
            )
        # Spark's own distribution brings pyspark as a folder, of which no version is known here.
        with suppress(importlib.metadata.PackageNotFoundError):
            version = importlib.metadata.version(package)
            if tuple(map(int, re.findall(r"\d+", version)[:2])) < oldest:
                wanted = ".".join(map(str, oldest))
                raise UnusableError(
                    f"this needs {package} {wanted} or newer, but {version} is installed",
                    hint=install_hint("spark"),
                )


def _check_master(master: str, *, classic_only: bool) -> None:
    from pyspark import SparkContext

    if master and not _MASTERS.match(master):
        raise UnusableError(
            f"{master} is not a Spark master",
            hint="spark://HOST:7077 names a standalone cluster, local[4] four cores here",
        )
    if master.startswith("sc://"):
        if classic_only:
            raise UnusableError(
                "Spark Connect cannot be used for this: the driver has to run here",
                hint="--master spark://HOST:7077 names a standalone cluster; audit, tables and the "
                'data sources can use Spark Connect, and spark.readStream.format("kraft.live") too',
            )
        return
    if SparkContext._active_spark_context is not None:
        raise KraftoolError(
            "this process already has a Spark session",
            hint="kraftool.spark.shipping.ship() sends kraftool's code to its workers",
        )


@contextmanager
def _py4j_muted() -> Iterator[None]:
    """py4j logs what it raises as well, a Ctrl-C among it, and by way of the root logger too."""

    def is_ours(record: logging.LogRecord) -> bool:
        return f"{os.sep}py4j{os.sep}" not in record.pathname

    root, own, silence = logging.getLogger(), logging.getLogger("py4j"), logging.NullHandler()
    kept, own.propagate = own.propagate, False
    root.addFilter(is_ours)
    own.addHandler(silence)  # without any, what is not handed on would go to stderr
    try:
        yield
    finally:
        own.removeHandler(silence)
        root.removeFilter(is_ours)
        own.propagate = kept


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Keep whoever handles Ctrl-C. PySpark's own handler asks the JVM amid an unread answer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, kept)
