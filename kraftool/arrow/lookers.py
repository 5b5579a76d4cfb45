"""Threads that look into the folders of a store, where each look is a round trip.

Owns how many look at the same time, and that the first failure is raised. A look may add others.
It refuses to know what is looked for: see `fleet.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from types import TracebackType
from typing import TypeVar

THREADS = 16

_Given = TypeVar("_Given")
_Seen = TypeVar("_Seen")


class Lookers:
    """A pool of threads, begun with the first look."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._looks: list[Future[None]] = []

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="listing")
        return self._pool

    def add(self, look: Callable[[], None]) -> None:
        """Look as soon as a thread is free."""
        self._looks.append(self._threads().submit(look))

    def map(self, function: Callable[[_Given], _Seen], given: Iterable[_Given]) -> Iterator[_Seen]:
        """Ask for many things at the same time; the answers in order."""
        return self._threads().map(function, given)

    def finish(self) -> None:
        """Wait for all looks. Those that a look adds are there before it is over."""
        while self._looks:
            self._looks.pop().result()

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


class TakenNames:
    """Everything that was taken already, be it under another name, by any part of a search."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._real: set[str] = set()
        self._lock = Lock()
        self.has_files = False

    def is_taken(self, shown: str, real: str) -> bool:
        """Take a folder; True if it was taken before."""
        with self._lock:
            known = shown in self._seen or real in self._real
            self._real.add(real)
            self._seen.add(shown)
        return known

    def is_seen(self, name: str) -> bool:
        """Take a file; True if it was taken before."""
        with self._lock:
            known = name in self._seen
            self._seen.add(name)
            self.has_files = True
        return known
