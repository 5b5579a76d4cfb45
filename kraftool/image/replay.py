"""The way from a record to its replayer, and the error for a record that cannot be applied.

Owns the decorator and the error. A controller stops at a record that it cannot apply; here it is a
ReplayError, and the state stays as it was before the record.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from kraftool.decoders.errors import KraftoolError

RecordValue = dict[str, Any]
WrittenRecord = tuple[str, int, RecordValue]
"""A record to be written: its name, its version and its value."""

Replayer = Callable[[RecordValue], None]
"""Applies a record of one type."""

Lost = Callable[[str], None]
"""Told of state that the records of a metadata.version cannot hold."""

_ATTRIBUTE = "_replays"
_Method = TypeVar("_Method", bound=Callable[..., None])


class ReplayError(KraftoolError):
    """A record that does not fit the state that it is applied to."""


def replays(*names: str) -> Callable[[_Method], _Method]:
    """Mark a method of a delta as the replayer of the records of these names."""

    def mark(method: _Method) -> _Method:
        setattr(method, _ATTRIBUTE, names)
        return method

    return mark


@cache
def replayers(kind: type) -> tuple[tuple[str, str], ...]:
    """The records that a class of deltas replays, with the name of the method for each."""
    return tuple(
        (name, attribute)
        for attribute in dir(kind)
        for name in getattr(getattr(kind, attribute), _ATTRIBUTE, ())
    )
