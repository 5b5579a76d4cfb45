"""A process's requests to its system: to be quick, and to stop when its parent has stopped.

Owns these settings alone; what a process does is in whoever starts it.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PR_SET_PDEATHSIG = 1


def quicken() -> None:
    """Stop looking for reference cycles: decoding makes many objects and no cycles."""
    gc.disable()


@contextmanager
def quickly() -> Iterator[None]:
    """The same for a while, in a process that goes on. What is made meanwhile is kept: the search
    for cycles passes it over from then on."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def start_worker() -> None:
    """Set up a forked worker process: quick, and gone when its parent is."""
    quicken()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends the workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ends_with_parent(signal.SIGTERM)()


def ends_with_parent(number: int) -> Callable[[], None]:
    """Return what a child calls so that it gets this signal once its parent is gone, however that
    ended.

    A parent that is killed cannot end its children itself. To be made before a fork: what comes
    between that and an exec must not import. Linux alone can do it; elsewhere nothing happens.
    """
    if sys.platform != "linux":
        return lambda: None
    import ctypes

    library = ctypes.CDLL(None)

    def ask() -> None:
        library.prctl(_PR_SET_PDEATHSIG, number)

    return ask
