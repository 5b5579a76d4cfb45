"""The end of a stream: by SIGTERM after its micro-batch, by SIGINT at once.

Owns the two signals while a stream runs. Before it runs, and when somebody is impatient, they end
the run by an exception, which takes the JVM and the temporary files with it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from kraftool.spark.ending import EndingSignal
from kraftool.storage.ending import handled

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopping:
    """The requests to stop so far."""

    def __init__(self) -> None:
        self.is_streaming = False
        self.interrupted = False
        self.terminated = False

    @property
    def asked(self) -> bool:
        return self.interrupted or self.terminated

    def take(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal; only a flag is set while a stream runs, since the main thread may be
        amid an answer of the JVM's."""
        if number == signal.SIGINT:
            again, self.interrupted = self.interrupted, True
            if again or not self.is_streaming:
                raise KeyboardInterrupt
        else:
            again, self.terminated = self.asked, True
            if not again and not self.is_streaming:
                raise EndingSignal


@contextmanager
def stopping() -> Iterator[Stopping]:
    """Handle the signals that end a stream."""
    asked = Stopping()
    with handled(_ENDING, asked.take):
        yield asked
