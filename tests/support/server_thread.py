"""A server of asyncio in a thread of its own, for commands that a test runs meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")
_PATIENCE_S = 20


@contextmanager
def in_thread(
    begin: Callable[[], Coroutine[Any, Any, _T]],
    end: Callable[[_T], Coroutine[Any, Any, None]] | None = None,
) -> Iterator[_T]:
    """Run `begin` in a loop, which runs on until the block is left; yields what it returned."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        begun = asyncio.run_coroutine_threadsafe(begin(), loop).result(_PATIENCE_S)
        try:
            yield begun
        finally:
            if end is not None:
                asyncio.run_coroutine_threadsafe(end(begun), loop).result(_PATIENCE_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_PATIENCE_S)
