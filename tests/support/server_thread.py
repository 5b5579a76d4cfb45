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
        asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result(_PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_PATIENCE_S)
        loop.close()


async def _cancel_others() -> None:
    """Have each task end what it began: the transport of a process cannot be closed later."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
