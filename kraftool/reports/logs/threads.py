"""Rendering a large log file natively by several threads.

Owns the order: one walk finds the spans and whatever is wrong between them, threads render the
spans, and the pieces come back in the order of the file. What the native renderer leaves to Python
is rendered in the same thread. A log that it leaves mostly to Python is one for processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

from kraftool.decoders.errors import Fault
from kraftool.decoders.segment import BatchSpan, ReadAt
from kraftool.decoders.walk import Walk, WalkState
from kraftool.reports.logs.render import Bytes, Pieces, Rendered, RenderPlan

_TRIED = 4
"""Spans that are rendered before the threads start, to see what they are made of."""
_GROWTH = 12
"""Bytes of text that a byte of log becomes, about: what a thread has room for at first."""


class _Slot:
    """A renderer with room for all that a span becomes. One thread uses it at a time."""

    def __init__(self, plan: RenderPlan, file: str) -> None:
        self.pieces = Pieces(plan, file)
        self._room = bytearray()

    def span(self, span: BatchSpan) -> tuple[Bytes, list[Fault]]:
        """Render a span; what comes of it holds until the slot is used again."""
        if not self._room:
            self._room = bytearray(_GROWTH * span.size)
        problems: list[Fault] = []
        filled = 0
        for data, new_problems in self._outputs(span):
            problems += new_problems
            stop = filled + len(data)
            if stop > len(self._room):
                self._room = self._room[:filled] + bytes(stop)
            self._room[filled:stop] = data
            filled = stop
        return memoryview(self._room)[:filled], problems

    def _outputs(self, span: BatchSpan) -> Iterator[tuple[Bytes, list[Fault]]]:
        yield from self.pieces.span(span)
        yield self.pieces.rest()


def render_in_threads(
    plan: RenderPlan, file: str, read_at: ReadAt, jobs: int, start: WalkState
) -> Generator[Rendered, None, WalkState | None]:
    """Render a file; each piece holds only until the next one is asked for.

    Where most of the log is for Python it ends early, and returns the state in which processes go
    on; None if all is rendered.
    """
    walk = Walk(read_at, start)
    items = walk.spans()
    pieces = Pieces(plan, file)
    for item in islice(items, _TRIED):
        for data, problems in pieces.any(item):
            yield Rendered(data, problems, walk.state)
    yield Rendered(*pieces.rest(), walk.state)
    if pieces.python_bytes > pieces.native_bytes:
        return walk.state
    free = [_Slot(plan, file) for _ in range(jobs + 2)]
    waiting: deque[tuple[_Slot, Future[tuple[Bytes, list[Fault]]], WalkState]] = deque()

    def finished() -> Iterator[Rendered]:
        """Yield what was begun first; then its slot is free."""
        slot, future, state = waiting.popleft()
        yield Rendered(*future.result(), state)
        free.append(slot)

    with ThreadPoolExecutor(jobs) as pool:
        for item in items:
            if isinstance(item, BatchSpan):
                if not free:
                    yield from finished()
                slot = free.pop()
                waiting.append((slot, pool.submit(slot.span, item), walk.state))
                continue
            while waiting:
                yield from finished()
            for data, problems in pieces.any(item):
                yield Rendered(data, problems, walk.state)
            yield Rendered(*pieces.rest(), walk.state)
        while waiting:
            yield from finished()
    return None
