"""Spark's errors, as a sentence with a way out.

Owns the recognition of the failures that a user can mend. PySpark's own exceptions cannot be
printed once their JVM is gone, so none of them leaves a session: what is not recognized keeps
Spark's first line, and all of its words as a note for tracebacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import UnusableError, WorkerStartError
from kraftool.spark.shipping import ON_WORKERS

_NO_NEWS = re.compile(
    r"An error occurred while calling|An exception was thrown from|Job aborted due to stage failure"
    r"|\s|Traceback|JVM stacktrace|Driver stacktrace"
)

_CONDITION = re.compile(r"^\[KRAFT_[A-Z_]+\] ")


@contextmanager
def explained() -> Iterator[None]:
    """Turn the failures of Spark into KraftoolErrors; to be used while the JVM is running."""
    try:
        yield
    except Exception as error:
        kraftool_error = explain(error)
        if kraftool_error is None:
            raise
        raise kraftool_error from None


def explain(error: Exception) -> KraftoolError | None:
    """The same failure for people; None where it is not Spark that failed."""
    if type(error).__module__.partition(".")[0] not in {"pyspark", "py4j"}:
        return None
    text = str(error)
    matches = ((re.search(pattern, text), tell) for pattern, tell in _KNOWN)
    kraftool_error = next((tell(match) for match, tell in matches if match), None)
    kraftool_error = kraftool_error or KraftoolError(f"Spark failed: {_first_news(text)}")
    kraftool_error.add_note(text)
    return kraftool_error


def _first_news(text: str) -> str:
    traceback, python_error = "Traceback (most recent call last):", r"^[A-Za-z_][\w.]*: .+"
    raised = re.search(python_error, text.partition(traceback)[2], re.MULTILINE)
    if raised is not None:
        return raised[0]
    lines = [line.removeprefix(": ") for line in text.splitlines() if line.strip()]
    return next((line for line in lines if not _NO_NEWS.match(line)), lines[0] if lines else "")


def _no_module(match: re.Match[str]) -> KraftoolError:
    package = match[1].partition(".")[0]
    if package == "kraftool":
        return KraftoolError(
            "a Spark worker cannot import kraftool",
            hint="send it there: kraftool.spark.engine.session does that. In your own session use"
            " kraftool.spark.shipping.ship; spark-submit has --py-files",
        )
    needed = " ".join(sorted({*ON_WORKERS, package}))
    return KraftoolError(
        f"the Python of a Spark worker has no {package}",
        hint=f"on every worker: python -m pip install {needed}. Or name a Python that has it:"
        " --conf spark.pyspark.python=/path/to/python",
    )


def _no_package(match: re.Match[str]) -> KraftoolError:
    return KraftoolError(
        f"Spark needs {match[1]} {match[2]} or newer for this, here or on a worker",
        hint=f"here and on every worker: python -m pip install --upgrade {match[1].lower()}",
    )


def _other_python(match: re.Match[str]) -> KraftoolError:
    return KraftoolError(
        f"a Spark worker runs Python {match[1]}, kraftool runs {match[2]}; Spark requires the same",
        hint=f"--conf spark.pyspark.python=/path/to/python{match[2]} names one on the workers",
    )


def _no_python(match: re.Match[str]) -> KraftoolError:
    return KraftoolError(
        f"{match[1]} cannot be started on a Spark worker: {match[2]}",
        hint="--conf spark.pyspark.python=/path/to/python names the Python of the workers",
    )


def _no_master(match: re.Match[str]) -> KraftoolError:
    return KraftoolError(
        "the Spark master does not answer, or has stopped the application",
        hint="is its address right, and does it have the same Spark version as pyspark here?",
    )


def _wrong_master(match: re.Match[str]) -> KraftoolError:
    return UnusableError(
        f"{match[1]} is not a Spark master",
        hint="spark://HOST:7077 names a standalone cluster, local[4] four cores here",
    )


def _wrong_setting(match: re.Match[str]) -> KraftoolError:
    return UnusableError(
        f"Spark refuses a setting: {match[1]}", hint="give another value with --conf KEY=VALUE"
    )


def _no_memory(match: re.Match[str]) -> KraftoolError:
    return KraftoolError(
        f"Spark ran out of memory ({match[1]})",
        hint="--conf spark.driver.memory=4g (local), --conf spark.executor.memory=4g (cluster)",
    )


def _no_worker(match: re.Match[str]) -> KraftoolError:
    return WorkerStartError(
        "Spark started a Python worker that did not answer within its time limit",
        hint="the machine may be overloaded: --master 'local[1]' starts one worker; or something "
        "keeps processes from connecting to 127.0.0.1",
    )


def _our_own(match: re.Match[str]) -> KraftoolError:
    return KraftoolError(_CONDITION.sub("", match[1]))


_KNOWN: tuple[tuple[str, Callable[[re.Match[str]], KraftoolError]], ...] = (
    (r"Python worker failed to connect back", _no_worker),
    (r"ModuleNotFoundError: No module named '([\w.]+)'", _no_module),
    (r"(?:PACKAGE_NOT_INSTALLED|UNSUPPORTED_PACKAGE_VERSION)\] (\w+) >= ([\d.]+)", _no_package),
    (r"PYTHON_VERSION_MISMATCH\]\D*([\d.]+)\D*([\d.]+),", _other_python),
    (r'Cannot run program "([^"]+)"[^\n]*?: (?:error=\d+, )?([^\n]+)', _no_python),
    (r"All masters are unresponsive|methods on a stopped SparkContext", _no_master),
    (r"Could not parse Master URL: '([^'\n]*)'", _wrong_master),
    (r"\[INVALID_CONF_VALUE[^\]\n]*\] ([^\n]+)", _wrong_setting),
    (r"\b(spark\.[\w.]+ should be [^\n]+)", _wrong_setting),
    (r"java\.lang\.OutOfMemoryError: ([^\n]+)", _no_memory),
    (r"kraftool\.[\w.]+\.\w+Error: ([^\n]+)", _our_own),
)
