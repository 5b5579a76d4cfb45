"""The JVM in which Spark's driver runs: started, listened to, and ended with us.

Owns the process, what it is told at its start, and what it writes. It refuses to pass settings on
its command line, where every user of the machine could read a password, and to survive us.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.java import Java, find_java

if TYPE_CHECKING:
    from pyspark import SparkContext

_ENDING_S = 15
_KILLING_S = 5
_TAIL_BYTES = 8192
_CHATTER = re.compile(r"\s|\d\d/\d\d/\d\d |Using Spark's|Setting default|To adjust|WARNING: ")


@contextmanager
def running(folder: Path, conf: Mapping[str, str], log: Path) -> Iterator[Any]:
    """Start a JVM for PySpark; yields py4j's gateway to it. It has ended when this returns.

    It reads our end of a pipe, so that it also ends where this process is killed.
    """
    from pyspark import SparkContext

    java = find_java(folder)
    gateway = _started(folder, java, conf, log)
    try:
        yield gateway
    finally:
        _forget(SparkContext)
        _end(gateway)


@contextmanager
def environment(**wanted: str) -> Iterator[None]:
    """Set environment variables for a while; PySpark takes much of what it needs from them."""
    kept = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _started(folder: Path, java: Java, conf: Mapping[str, str], log: Path) -> Any:
    import pyspark
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    properties = folder / "spark.properties"
    _write_privately(properties, _as_properties(_at_start(folder, conf)))
    # The user's spark-defaults.conf counts too; without the second option it would not be read.
    arguments = f"--properties-file {shlex.quote(str(properties))} --load-spark-defaults"
    variables = {
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONSAFEPATH": "1",  # else a module in the working directory would be imported first
        "PYSPARK_SUBMIT_ARGS": f"{arguments} "
        + os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"),
    }
    launch: Callable[..., Any] = launch_gateway
    with log.open("ab") as output, environment(**variables):
        try:
            return launch(popen_kwargs={"stdout": output, "stderr": output})
        except (PySparkRuntimeError, OSError) as error:
            raise KraftoolError(
                f"Spark did not start: {_last_words(log) or error}",
                hint=f"Java {java.version} was used, from {java.source}: {java.home}",
            ) from error


def _at_start(folder: Path, conf: Mapping[str, str]) -> dict[str, str]:
    """What counts only while the JVM starts, and the settings of the user."""
    temporary = folder / "jvm"
    temporary.mkdir(mode=0o700, exist_ok=True)
    return {
        "spark.driver.defaultJavaOptions": f'"-Djava.io.tmpdir={temporary}"',
        "spark.ui.showConsoleProgress": "false",
        **conf,
    }


def _write_privately(path: Path, text: str) -> None:
    with open(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as (file):
        file.write(text)


def _as_properties(settings: Mapping[str, str]) -> str:
    return "".join(f"{_escaped(key)}={_escaped(value)}\n" for key, value in settings.items())


def _escaped(text: str) -> str:
    """Text as java.util.Properties reads it, whatever it has in it."""
    plain = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/,")
    units = text.encode("utf-16-be", "surrogatepass")
    numbers = (int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2))
    return "".join(chr(each) if chr(each) in plain else f"\\u{each:04x}" for each in numbers)


def _last_words(log: Path) -> str:
    """The last lines that a JVM wrote which say something."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    telling = [line for line in lines if line.strip() and not _CHATTER.match(line)]
    return re.sub(r'Exception in thread "main" [\w.$]+: ', "", "; ".join(telling[-2:]))


def _forget(context: type[SparkContext]) -> None:
    """Let PySpark start another JVM the next time."""
    context._gateway = None
    context._jvm = None


def _end(gateway: Any) -> None:
    process: subprocess.Popen[bytes] = gateway.proc
    with suppress(Exception):  # whatever is wrong with the connection, the process ends below
        gateway.shutdown()
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    for end, patience_s in ((process.terminate, _ENDING_S), (process.kill, _KILLING_S)):
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            end()
    process.wait()
