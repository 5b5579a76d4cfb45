"""Rendering a large log file by several processes, or threads.

Owns which of them, the splitting of the file at batch borders, and the processes. The pieces come
back in order, so the output is the same bytes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD, RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.segment import LARGEST_BATCH, ReadAt
from kraftool.decoders.walk import BEGINNING, Walk, WalkState
from kraftool.reports.logs.native_renderer import native_renderer
from kraftool.reports.logs.processes import start_worker
from kraftool.reports.logs.render import Rendered, RenderPlan, render
from kraftool.storage.source import FileSource

if TYPE_CHECKING:
    from concurrent.futures import Future

SLICE = 2 << 20
"""Bytes of log that one task renders: some ten megabytes of text at the most."""
_MOST_PROCESSES = 8


def slices(
    read_at: ReadAt, size: int, start: WalkState = BEGINNING
) -> Iterator[tuple[WalkState, int | None]]:
    """Cut a file at batch borders. Where the batches stop adding up the rest is one slice.

    A border counts only behind a batch whose CRC is right: a damaged length may lead anywhere. The
    state says where a slice begins, and with which batch it follows on.
    """
    position = start.position
    while True:
        head = read_at(position, 17)
        length = int.from_bytes(head[8:12], "big", signed=True) if len(head) == 17 else -1
        whole = HEADER_SIZE - LOG_OVERHEAD <= length <= LARGEST_BATCH and head[16] == 2
        if not whole or position + LOG_OVERHEAD + length > size:
            yield start, None
            return
        begun, position = position, position + LOG_OVERHEAD + length
        if position - start.position >= SLICE:
            before = Walk(read_at, WalkState.at(begun), stop=position)
            if isinstance(next(iter(before)), RecordBatch):
                yield start, position
                start = before.state


def processes(asked: int) -> int:
    """Return how many processes to use: as asked, or as there are processors; a few at most."""
    if not hasattr(os, "fork"):
        return 1  # only a forked process has the file open that we have
    return min(asked or len(os.sched_getaffinity(0)), _MOST_PROCESSES)


def render_in_parallel(
    plan: RenderPlan, file: str, source: FileSource, size: int, jobs: int, start: WalkState
) -> Iterator[Rendered]:
    """Render an open file by threads, as far as it can be read natively, and else by processes."""
    if native_renderer(plan, file) is not None:
        from kraftool.reports.logs.threads import render_in_threads

        state = yield from render_in_threads(plan, file, source.read_at, jobs, start)
        if state is None:
            return
        start = state
    yield from _render_in_processes(plan, file, source, size, jobs, start)


def _render_in_processes(
    plan: RenderPlan, file: str, source: FileSource, size: int, jobs: int, start: WalkState
) -> Iterator[Rendered]:
    """Render an open file by several processes, which inherit it; pieces come in order."""
    # Threads, which are the rule, do not wait for these.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    context = get_context("fork")
    jobs = min(jobs, size // SLICE + 1)
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=start_worker) as pool:
        waiting: deque[Future[Rendered]] = deque()
        try:
            for begin, stop in slices(source.read_at, size, start):
                task = (plan, file, source.fileno(), begin, stop)
                waiting.append(pool.submit(_render_slice, *task))
                if len(waiting) > 2 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise KraftoolError(
                f"{file}: a helper process was killed, so the output is incomplete",
                hint="give it more memory, or use --jobs 1",
            ) from None


def _render_slice(
    plan: RenderPlan, file: str, descriptor: int, start: WalkState, stop: int | None
) -> Rendered:
    def read_at(position: int, size: int) -> bytes:
        return os.pread(descriptor, size, position)

    pieces = list(render(plan, file, read_at, start, stop))
    problems = [problem for piece in pieces for problem in piece.problems]
    return Rendered(b"".join(piece.data for piece in pieces), problems, pieces[-1].state)
