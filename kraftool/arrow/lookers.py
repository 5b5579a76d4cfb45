"""Threads that look at places on other machines, where each look is a round trip.

Owns how many look at the same time. It refuses to know what is looked for: see `looks.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

THREADS = 16

_Seen = TypeVar("_Seen")


class Lookers:
    """A pool of threads, begun with the first look."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def begin(self, look: Callable[[], _Seen]) -> Future[_Seen]:
        """Look as soon as a thread is free."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="listing")
        return self._pool.submit(look)

    def __enter__(self) -> Lookers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
