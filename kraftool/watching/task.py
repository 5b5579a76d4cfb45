"""A long reading or computation, seen from outside: its progress, and if it is still wanted.

Owns what passes between the worker and the view. Nothing in it waits: the worker reports progress,
and an error ends its work if the view has stopped it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event
from typing import Any

from kraftool.decoders.errors import KraftoolError


class StoppedError(KraftoolError):
    """The task was stopped."""


class Task:
    """Progress from the worker, and the wish to stop from the view."""

    def __init__(self) -> None:
        self._stop = Event()
        self._began_s = time.monotonic()
        self.label = ""
        """What is done just now."""
        self.done = 0
        self.total: int | None = None
        self._furthest: dict[str, int] = {}
        self.take_partial: Callable[[Any], object] | None = None
        """Takes each partial result, in the worker's thread."""

    def begin(self, label: str, total: int | None = None) -> None:
        """Begin the next part of the work, with new progress."""
        self._furthest = {}
        self.set(label, 0, total)

    def passed(self, name: str, position: int) -> None:
        """Take a position in a file. Of a file that is read again, only the first time counts."""
        grown = max(position - self._furthest.get(name, 0), 0)
        if grown:
            self._furthest[name] = position
        self.set(self.label, self.done + grown, self.total)

    def counted(self, label: str, done: int, total: int) -> None:
        """Set the progress as a count and its total."""
        self.set(label, done, total)

    def set(self, label: str, done: int, total: int | None) -> None:
        """Set how far it is. Raises StoppedError if the task was stopped."""
        if self._stop.is_set():
            raise StoppedError("stopped")
        self.label, self.done, self.total = label, done, total

    def partial(self, result: Any) -> None:
        """Hand over a partial result. Raises StoppedError if the task was stopped."""
        if self._stop.is_set():
            raise StoppedError("stopped")
        if self.take_partial is not None:
            self.take_partial(result)

    def stop(self) -> None:
        """End it at its next step."""
        self._stop.set()

    @property
    def is_stopped(self) -> bool:
        return self._stop.is_set()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self._began_s

    @property
    def share(self) -> float | None:
        """Return the part that is done, from 0 to 1; None if that is unknown."""
        if not self.total:
            return None
        return min(self.done / self.total, 1.0)
