"""The end of a process that has temporary files: in order, also where it is told to end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let a SIGTERM or SIGHUP end the process as an error does, which removes temporary files.

    That is not cut short by a second one. A SIGHUP that is ignored, as by nohup, stays so.
    """

    def end(number: int, frame: object) -> NoReturn:
        for signals in kept:
            signal.signal(signals, signal.SIG_IGN)
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for signals, before in kept.items():
        if before is not signal.SIG_IGN:
            signal.signal(signals, end)
    try:
        yield
    finally:
        for signals, before in kept.items():
            signal.signal(signals, before)
