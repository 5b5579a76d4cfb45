"""The early end of a run that would end by itself: by SIGTERM and SIGHUP.

Owns the order of failures and signals. What failed before a signal came stays the failure; after
it nothing looks like success. It refuses to raise while the run is cleaned up, since whatever that
leaves out would stay behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.ending import ENDS, handled


class EndingSignal(KeyboardInterrupt):
    """A signal came that ends the run. After an interrupt, and no other exception, py4j closes the
    connection on which half of an answer may wait; with another one the next call to the JVM, in
    one of PySpark's own `finally`, would wait for the job that runs."""


class Termination:
    """The signals that came so far."""

    def __init__(self) -> None:
        self.number = 0
        self.is_raised = False
        self._is_over = False
        self._cancel: Callable[[], None] | None = None

    @contextmanager
    def working(self, cancel: Callable[[], None]) -> Iterator[None]:
        """While the work is done; a signal cancels its jobs, and after it nothing is raised."""
        self._cancel = cancel
        try:
            yield
        finally:
            self._is_over = True

    def take(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        self.number = self.number or number
        if self.is_raised or self._is_over:
            return
        self.is_raised = True
        if self._cancel is not None:
            # Python drops what is raised inside a __del__: the work then fails by its jobs.
            threading.Thread(target=_quietly, args=(self._cancel,), daemon=True).start()
        raise EndingSignal


def _quietly(cancel: Callable[[], None]) -> None:
    with suppress(Exception):  # the JVM may be gone
        cancel()


def failed_before(error: BaseException) -> KraftoolError | None:
    """The failure that was on its way already when a signal came, and stays the one to be told."""
    before = error.__context__ if isinstance(error, EndingSignal) else None
    return before if isinstance(before, KraftoolError) else None


@contextmanager
def ended_by_signals() -> Iterator[Termination]:
    """Let SIGTERM and SIGHUP end a run as an exception does, so that no JVM and no file stays
    behind, and then the process with 128 and their number."""
    ending = Termination()
    try:
        with handled(ENDS, ending.take):
            yield ending
    except (EndingSignal, Exception) as error:
        if (failure := failed_before(error)) is not None:
            raise failure from None
        if not ending.is_raised:
            raise
        # Whatever the work complains of that is torn down, it was told to end.
        raise SystemExit(128 + ending.number) from None
    else:
        if ending.number:
            raise SystemExit(128 + ending.number)
