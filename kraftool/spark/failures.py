"""Spark's errors, as a sentence with a way out.

Owns the recognition of the failures that a user can mend. PySpark's own exceptions cannot be
printed once their JVM is gone, so none of them leaves a session: what is not recognized keeps
Spark's first line, and all of its words as a note for tracebacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import UnusableError, WorkerStartError
from kraftool.spark.shipping import ON_WORKERS

_NO_NEWS = re.compile(
    r"An error occurred while calling|An exception was thrown from|Job aborted due to stage failure"
    r"|\s|Traceback|JVM stacktrace|Driver stacktrace"
)


_PYTHON = "--conf spark.pyspark.python=/path/to/python"


class _Known(NamedTuple):
    """A failure that a user can mend. Message and hint have the groups of the pattern."""

    pattern: str
    message: str
    hint: str = ""
    kind: type[KraftoolError] = KraftoolError

    def told(self, match: re.Match[str]) -> KraftoolError:
        return self.kind(match.expand(self.message), hint=match.expand(self.hint))


_KNOWN = (
    _Known(
        r"Python worker failed to connect back",
        "Spark started a Python worker that did not answer within its time limit",
        "the machine may be overloaded: --master 'local[1]' starts one worker; or something"
        " keeps processes from connecting to 127.0.0.1",
        WorkerStartError,
    ),
    _Known(
        r"ModuleNotFoundError: No module named 'kraftool[\w.]*'",
        "a Spark worker cannot import kraftool",
        "send it there: kraftool.spark.engine.session does that. In your own session use"
        " kraftool.spark.shipping.ship; spark-submit has --py-files",
    ),
    _Known(
        r"ModuleNotFoundError: No module named '(\w+)[\w.]*'",
        r"the Python of a Spark worker has no \1",
        rf"on every worker: python -m pip install \1. kraftool requires {', '.join(ON_WORKERS)}"
        f" there. Or name a Python that has it: {_PYTHON}",
    ),
    _Known(
        r"(?:PACKAGE_NOT_INSTALLED|UNSUPPORTED_PACKAGE_VERSION)\] (\w+) >= ([\d.]+)",
        r"Spark needs \1 \2 or newer for this, here or on a worker",
        r"here and on every worker: python -m pip install --upgrade \1",
    ),
    _Known(
        r"PYTHON_VERSION_MISMATCH\]\D*([\d.]+)\D*([\d.]+),",
        r"a Spark worker runs Python \1, kraftool runs \2; Spark requires the same",
        rf"{_PYTHON}\2 names one on the workers",
    ),
    _Known(
        r'Cannot run program "([^"]+)"[^\n]*?: (?:error=\d+, )?([^\n]+)',
        r"\1 cannot be started on a Spark worker: \2",
        f"{_PYTHON} names the Python of the workers",
    ),
    _Known(
        r"All masters are unresponsive|methods on a stopped SparkContext",
        "the Spark master does not answer, or has stopped the application",
        "is its address right, and does it have the same Spark version as pyspark here?",
    ),
    _Known(
        r"Could not parse Master URL: '([^'\n]*)'",
        r"\1 is not a Spark master",
        "spark://HOST:7077 names a standalone cluster, local[4] four cores here",
        UnusableError,
    ),
    _Known(
        r"\[INVALID_CONF_VALUE[^\]\n]*\] ([^\n]+)|\b(spark\.[\w.]+ should be [^\n]+)",
        r"Spark refuses a setting: \1\2",
        "give another value with --conf KEY=VALUE",
        UnusableError,
    ),
    _Known(
        r"java\.lang\.OutOfMemoryError: ([^\n]+)",
        r"Spark ran out of memory (\1)",
        "--conf spark.driver.memory=4g (local), --conf spark.executor.memory=4g (cluster)",
    ),
    _Known(r"kraftool\.[\w.]+\.\w+Error: (?:\[KRAFT_[A-Z_]+\] )?([^\n]+)", r"\1"),
)


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
    kraftool_error = known_failure(text) or KraftoolError(f"Spark failed: {_first_news(text)}")
    kraftool_error.add_note(text)
    return kraftool_error


def known_failure(text: str) -> KraftoolError | None:
    """The failure that Spark's words are about, if a user can mend it."""
    matches = ((known, re.search(known.pattern, text)) for known in _KNOWN)
    return next((known.told(match) for known, match in matches if match), None)


def _first_news(text: str) -> str:
    traceback, python_error = "Traceback (most recent call last):", r"^[A-Za-z_][\w.]*: .+"
    raised = re.search(python_error, text.partition(traceback)[2], re.MULTILINE)
    if raised is not None:
        return raised[0]
    lines = [line.removeprefix(": ") for line in text.splitlines() if line.strip()]
    return next((line for line in lines if not _NO_NEWS.match(line)), lines[0] if lines else "")
