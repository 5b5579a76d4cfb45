"""Rendering a large log file natively by several threads.

Owns the order: one walk finds the spans and whatever is wrong between them, threads render the
spans, and the pieces come back in the order of the file. What the native renderer leaves to Python
is rendered in the same thread. A log that it leaves mostly to Python is one for processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from kraftool.decoders.segment import BatchSpan, ReadAt
from kraftool.decoders.walk import Walk, WalkState
from kraftool.reports.logs.render import Output, Pieces, Rendered, RenderPlan

_TRIED = 4
"""Spans that are rendered before the threads start, to see what they are made of."""
_AHEAD = 2
"""Spans for each thread that are read before they are rendered, or rendered and not yet written."""


class _Task:
    """A span to render, and what became of it."""

    def __init__(self, span: BatchSpan, state: WalkState) -> None:
        self.span, self.state = span, state
        self._outputs: list[Output] = []
        self._error: BaseException | None = None
        self._working = Lock()
        self._working.acquire()

    def run(self, pieces: Pieces) -> None:
        try:
            self._outputs = [*pieces.span(self.span), pieces.rest()]
        except BaseException as error:  # it is raised where the outputs are waited for
            self._error = error
        finally:
            self._working.release()

    @property
    def is_done(self) -> bool:
        return not self._working.locked()

    def outputs(self) -> list[Output]:
        """Wait for the outputs."""
        with self._working:
            if self._error is not None:
                raise self._error
            return self._outputs


class _Pool:
    """Threads that render spans, each with its own renderer. The thread that waits for a span is
    one of the `jobs`: it renders another span meanwhile.

    `concurrent.futures` takes longer to import than a thread takes to start.
    """

    def __init__(self, plan: RenderPlan, file: str, jobs: int, own: Pieces) -> None:
        """`own`: the renderer of the thread that waits."""
        self._own = own
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads = [
            Thread(target=self._work, args=(Pieces(plan, file),)) for _ in range(jobs - 1)
        ]

    def _work(self, pieces: Pieces) -> None:
        while (task := self._tasks.get()) is not None:
            task.run(pieces)

    def begin(self, task: _Task) -> None:
        self._tasks.put(task)

    def outputs(self, task: _Task) -> list[Output]:
        """Wait for the outputs of a task that was begun, and render others meanwhile."""
        with suppress(Empty):
            while not task.is_done:
                other = self._tasks.get_nowait()
                assert other is not None, "threads end when all is written"
                other.run(self._own)
        return task.outputs()

    def __enter__(self) -> _Pool:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the threads, each after the task that it has; the others are forgotten."""
        with suppress(Empty):
            while True:
                self._tasks.get_nowait()
        for _thread in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()


def render_in_threads(
    plan: RenderPlan, file: str, read_at: ReadAt, jobs: int, start: WalkState
) -> Generator[Rendered, None, WalkState | None]:
    """Render a file.

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
    waiting: deque[_Task] = deque()

    def finished() -> Iterator[Rendered]:
        """Yield what was begun first."""
        task = waiting.popleft()
        for data, problems in pool.outputs(task):
            yield Rendered(data, problems, task.state)

    with _Pool(plan, file, jobs, pieces) as pool:
        for item in items:
            if isinstance(item, BatchSpan):
                if len(waiting) >= _AHEAD * jobs:
                    yield from finished()
                waiting.append(_Task(item, walk.state))
                pool.begin(waiting[-1])
                continue
            while waiting:
                yield from finished()
            for data, problems in pieces.any(item):
                yield Rendered(data, problems, walk.state)
            yield Rendered(*pieces.rest(), walk.state)
        while waiting:
            yield from finished()
    return None
