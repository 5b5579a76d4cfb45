"""The end of a process that is told to end: in order, and without its temporary files."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def handled(
    numbers: Sequence[int], take: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    """Handle signals for a while. One that is ignored, as a SIGHUP by nohup, stays so. Outside of
    the main thread there are none."""
    is_main = threading.current_thread() is threading.main_thread()
    kept = {number: signal.getsignal(number) for number in numbers if is_main}
    for number, before in kept.items():
        if before is not signal.SIG_IGN:
            signal.signal(number, take)
    try:
        yield
    finally:
        for number, before in kept.items():
            signal.signal(number, before)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let a SIGTERM or SIGHUP end the process as an error does, which removes temporary files.

    That is not cut short by a second one.
    """

    def end(number: int, frame: FrameType | None) -> NoReturn:
        for each in ENDS:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    with handled(ENDS, end):
        yield
