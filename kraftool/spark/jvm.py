"""The JVM in which Spark's driver runs: started, listened to, and ended with us.

Owns the process, what it is told at its start, and what it writes. It refuses to pass settings on
its command line, where every user of the machine could read a password, and to survive us.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import UnusableError
from kraftool.spark.failures import known_failure
from kraftool.spark.java import Java, find_java
from kraftool.spark.outputs import write_whole

if TYPE_CHECKING:
    from pyspark import SparkContext

DEFAULT_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"
QUICK_JAVA = "-XX:TieredStopAtLevel=1"
"""For a session whose work is in Python: Java code that runs for seconds is compiled quickly."""
_ENDING_S = 15
_ENDED_S = 0.2
"""Time for a JVM to be gone that is the reason of a failure."""
_LOOK_S = 0.05
_TAIL_BYTES = 8192
_CHATTER = re.compile(r"\s|\d\d/\d\d/\d\d |Using Spark's|Setting default|To adjust|WARNING: ")


@contextmanager
def running(
    folder: Path, conf: Mapping[str, str], log: Path, python_path: str = ""
) -> Iterator[Any]:
    """Start a JVM for PySpark; yields py4j's gateway to it. It has ended when this returns.

    `python_path` is where the Python processes that it starts find modules.

    It reads our end of a pipe, so that it also ends where this process is killed.
    """
    from pyspark import SparkContext

    gateway = _started(folder, conf, log, python_path)
    try:
        yield gateway
    except Exception:
        with suppress(subprocess.TimeoutExpired):
            gateway.proc.wait(_ENDED_S)
            raise _ended_by_itself(log) from None
        raise
    finally:
        _forget(SparkContext)
        _shut(gateway)


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


def _started(folder: Path, conf: Mapping[str, str], log: Path, python_path: str) -> Any:
    with _appending(log) as output:
        java = find_java(folder)
        process, path = _launched(folder, java, conf, output, python_path)
    try:
        return _gateway(process, path, java, log)
    except BaseException as error:
        process.kill()
        _end(process)
        given = [name for name in conf if name not in (DEFAULT_JAVA_OPTIONS, "spark.master")]
        if isinstance(error, KraftoolError) and given:
            hint = f"check the settings {', '.join(given)}. {error.hint}"
            raise UnusableError(error.message, hint=hint) from None
        raise


def _launched(
    folder: Path, java: Java, conf: Mapping[str, str], output: IO[bytes], python_path: str
) -> tuple[subprocess.Popen[bytes], Path]:
    """Spark's launcher, which becomes the JVM, and the file in which that will tell of itself."""
    import pyspark

    properties, path = folder / "spark.properties", folder / "gateway"
    settings = _at_start(folder, conf).items()
    lines = "".join(f"{_escaped(key)}={_escaped(value)}\n" for key, value in settings)
    write_whole(properties, properties.with_suffix(".new"), lines.encode())
    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    variables = {
        "JAVA_HOME": str(java.home),
        "SPARK_HOME": home,
        "SPARK_CONNECT_MODE": "0",
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONSAFEPATH": "1",  # else a module in the working directory would be imported first
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(path),
    }
    if python_path:
        variables["PYTHONPATH"] = python_path
    command = [
        os.path.join(home, "bin", "spark-submit"),
        # The user's spark-defaults.conf counts too; without the second option it would not be read.
        *("--properties-file", str(properties), "--load-spark-defaults"),
        *shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")),
    ]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=os.environ | variables,
            preexec_fn=_without_our_signals,
        )
    except OSError as error:
        raise _not_started(java, str(error)) from error
    return process, path


def _appending(log: Path) -> IO[bytes]:
    try:
        return log.open("ab")
    except OSError as error:
        raise UnusableError(f"{log} cannot be written: {error.strerror}") from error


def _without_our_signals() -> None:
    """Keep signals from the JVM: a terminal, timeout(1) and systemd send their signals to
    the JVM as well, which would be gone before the work is."""
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, signal.SIG_IGN)


def _gateway(process: subprocess.Popen[bytes], path: Path, java: Java, log: Path) -> Any:
    """Connect to the JVM, once it has told where it listens and what it wants to hear."""
    from pyspark.java_gateway import launch_gateway

    while not path.exists():
        if process.poll() is not None:
            raise _not_started(java, _last_words(log) or "its JVM has ended")
        time.sleep(_LOOK_S)
    connection_info = path.read_bytes()  # the port, then the secret with its length before it
    port, secret = int.from_bytes(connection_info[:4]), connection_info[8:].decode()
    path.unlink()
    connect: Callable[[], Any] = launch_gateway
    with environment(PYSPARK_GATEWAY_PORT=str(port), PYSPARK_GATEWAY_SECRET=secret):
        gateway = connect()
    gateway.proc = process
    return gateway


def _not_started(java: Java, reason: str) -> KraftoolError:
    return KraftoolError(
        f"Spark did not start: {reason}",
        hint=f"Java {java.version} was used, from {java.source}: {java.home}",
    )


def _at_start(folder: Path, conf: Mapping[str, str]) -> dict[str, str]:
    """Return what counts only while the JVM starts, and the settings of the user."""
    temporary = folder / "jvm"
    temporary.mkdir(mode=0o700, exist_ok=True)
    # A thread that finds no memory ends, and the others would wait for it for ever.
    options = f'"-Djava.io.tmpdir={temporary}" -XX:+ExitOnOutOfMemoryError'
    options = f"{options} {conf.get(DEFAULT_JAVA_OPTIONS, '')}"
    return {
        "spark.ui.showConsoleProgress": "false",
        **conf,
        DEFAULT_JAVA_OPTIONS: options.strip(),
    }


def _escaped(text: str) -> str:
    """Text as java.util.Properties reads it, whatever it has in it."""
    plain = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/,")
    units = text.encode("utf-16-be", "surrogatepass")
    numbers = (int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2))
    return "".join(
        chr(number) if chr(number) in plain else f"\\u{number:04x}" for number in numbers
    )


def _ended_by_itself(log: Path) -> KraftoolError:
    """Why there is no JVM any more, amid the work."""
    hint = "the kernel may have killed it for its memory"
    words = _last_words(log)
    return known_failure(_tail(log)) or KraftoolError(
        f"the JVM of Spark has ended: {words}" if words else "the JVM of Spark has ended", hint=hint
    )


def _tail(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        return file.read().decode("utf-8", "replace")


def _last_words(log: Path) -> str:
    """The last lines that a JVM wrote which say something."""
    lines = _tail(log).splitlines()
    telling = [line for line in lines if line.strip() and not _CHATTER.match(line)]
    return re.sub(r'Exception in thread "main" [\w.$]+: ', "", "; ".join(telling[-2:]))


def _forget(context: type[SparkContext]) -> None:
    """Let PySpark start another JVM the next time."""
    context._gateway = None
    context._jvm = None


def _shut(gateway: Any) -> None:
    with suppress(Exception):  # whatever is wrong with the connection, the process ends below
        gateway.shutdown()
    _end(gateway.proc)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the JVM, which does so by itself when nobody holds the other end of its stdin."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
    process.wait()
