"""Rendering a log dump in its machine formats, in one process or in several.

Owns which renderer serves which format, and the splitting of a large file at batch borders so that
several processes share it; the pieces come back in order, so the output is the same bytes.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_all_start_methods, get_context

from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD, RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.segment import LARGEST_BATCH, DamageKind, ReadAt
from kraftool.reports import log_text
from kraftool.reports.log_dump import BatchEntry, Entry, LogDump, Problem, Selection, TopicNames
from kraftool.reports.transactions import Transactions

SLICE = 2 << 20
"""Bytes of log that one task renders: some ten megabytes of text at the most."""
WORTH_SPLITTING = 8 << 20
_MOST_PROCESSES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderPlan:
    """What to render and how; small and picklable, since it travels to the worker processes."""

    format: str
    selection: Selection = field(default_factory=Selection)
    show_secrets: bool = False
    batches_only: bool = False
    skip_record_metadata: bool = False
    marks: Transactions | None = None

    def dump(self, topics: TopicNames | None = None) -> LogDump:
        """The dump of this plan; with `topics` it learns and uses their names."""
        return LogDump(
            self.selection,
            show_secrets=self.show_secrets,
            batches_only=self.batches_only,
            topics=topics,
        )

    def renderer(self) -> Callable[[Entry], bytes]:
        match self.format:
            case "kafka":
                return self._kafka
            case "csv" if self.batches_only:
                return _csv_batch
            case "csv":
                return lambda entry: log_text.csv_entry(entry).encode("utf-8", "replace")
        mark = self.marks.outcome if self.marks is not None else None
        secrets = self.show_secrets
        return lambda entry: log_text.jsonl_entry(entry, show_secrets=secrets, mark=mark)

    def _kafka(self, entry: Entry) -> bytes:
        if isinstance(entry, Problem):
            torn = entry.kind is DamageKind.TORN_TAIL
            return (
                log_text.kafka_closing(entry.file, entry).encode("utf-8", "surrogateescape")
                if torn
                else b""
            )
        text = log_text.kafka_entry(entry, skip_record_metadata=self.skip_record_metadata)
        return text.encode("utf-8", "replace")


def _csv_batch(entry: Entry) -> bytes:
    row = log_text.csv_batch(entry) if isinstance(entry, BatchEntry) else log_text.csv_entry(entry)
    return row.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A piece of output, what was wrong in it, and the position it reaches."""

    data: bytes
    problems: list[Problem]
    position: int


def render(
    plan: RenderPlan, file: str, read_at: ReadAt, start: int = 0, stop: int | None = None
) -> Iterator[Rendered]:
    """Render a file, or a slice of it, piece by piece."""
    write = plan.renderer()
    pieces: list[bytes] = []
    problems: list[Problem] = []
    size, position = 0, start
    for entry in plan.dump().entries(file, read_at, start, stop):
        if isinstance(entry, Problem):
            problems.append(entry)
        else:
            position = entry.batch.position + entry.batch.size
        piece = write(entry)
        pieces.append(piece)
        size += len(piece)
        if size > 1 << 18 or len(problems) > 100:
            yield Rendered(b"".join(pieces), problems, position)
            pieces, problems, size = [], [], 0
    yield Rendered(b"".join(pieces), problems, position)


def slices(read_at: ReadAt, size: int) -> Iterator[tuple[int, int | None]]:
    """Cut a file at batch borders. Where the batches stop adding up the rest is one slice.

    A border counts only behind a batch whose CRC holds: a damaged length may lead anywhere.
    """
    start = position = 0
    while True:
        head = read_at(position, 17)
        length = int.from_bytes(head[8:12], "big", signed=True) if len(head) == 17 else -1
        whole = HEADER_SIZE - LOG_OVERHEAD <= length <= LARGEST_BATCH and head[16] == 2
        if not whole or position + LOG_OVERHEAD + length > size:
            yield start, None
            return
        begun, position = position, position + LOG_OVERHEAD + length
        if position - start >= SLICE:
            batch = RecordBatch.read(read_at(begun, position - begun))
            if batch.is_valid:
                yield start, position
                start = position


def processes(asked: int) -> int:
    """How many processes to use: as asked, or as there are processors; a few at most."""
    if "fork" not in get_all_start_methods():
        return 1  # only a forked process has the file open that we have
    return min(asked or len(os.sched_getaffinity(0)), _MOST_PROCESSES)


def render_in_parallel(
    plan: RenderPlan, file: str, descriptor: int, read_at: ReadAt, size: int, jobs: int
) -> Iterator[Rendered]:
    """Render an open file by several processes, which inherit it; pieces come in order."""
    context = get_context("fork")
    jobs = min(jobs, size // SLICE + 1)
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker) as pool:
        waiting: deque[Future[Rendered]] = deque()
        try:
            for start, stop in slices(read_at, size):
                task = (plan, file, descriptor, start, stop)
                waiting.append(pool.submit(_render_slice, *task))
                if len(waiting) > 2 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise KraftoolError(
                f"{file}: a helper process was killed; the output is not whole",
                hint="give it more memory, or use --jobs 1",
            ) from None


def _start_worker() -> None:
    """Set up a worker process: quick, and gone when its parent is."""
    quicken()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends the pool
    with suppress(OSError, AttributeError):
        # PR_SET_PDEATHSIG, on Linux: a parent that is killed cannot end its workers itself.
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def quicken() -> None:
    """Stop looking for reference cycles: decoding makes many objects and no cycles."""
    gc.disable()


def _render_slice(
    plan: RenderPlan, file: str, descriptor: int, start: int, stop: int | None
) -> Rendered:
    def read_at(position: int, size: int) -> bytes:
        return os.pread(descriptor, size, position)

    pieces = list(render(plan, file, read_at, start, stop))
    problems = [problem for piece in pieces for problem in piece.problems]
    return Rendered(b"".join(piece.data for piece in pieces), problems, pieces[-1].position)
