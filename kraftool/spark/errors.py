"""The ways in which a pipeline turns down what it was asked for, and Spark's own failures.

What cannot be read is neither: it is a finding, or a plain KraftoolError where it was all.
"""

from __future__ import annotations

from kraftool.decoders.errors import KraftoolError


class UnusableError(KraftoolError):
    """An error: the request cannot be done whatever is there: no such master, no place to write
    to."""


class WorkerStartError(KraftoolError):
    """A Python worker did not start in time, which may be otherwise a moment later."""


class OccupiedError(KraftoolError):
    """A place that is not to be written to, or not in this way: it holds what could be lost."""
