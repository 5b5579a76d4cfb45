"""Rendering a log dump in its machine formats, in one process or in several.

Owns which renderer serves which format, and the splitting of a large file at batch borders so that
several processes share it; the pieces come back in order, so the output is the same bytes.
"""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_all_start_methods, get_context

from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD
from kraftool.decoders.segment import LARGEST_BATCH, DamageKind, ReadAt
from kraftool.reports import log_text
from kraftool.reports.log_dump import Entry, LogDump, Problem, Selection
from kraftool.reports.transactions import Transactions

SLICE = 2 << 20
"""Bytes of log that one task renders: some ten megabytes of text at the most."""
WORTH_SPLITTING = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderPlan:
    """What to render and how; small and picklable, since it travels to the worker processes."""

    format: str
    selection: Selection = field(default_factory=Selection)
    show_secrets: bool = False
    batches_only: bool = False
    skip_record_metadata: bool = False
    marks: Transactions | None = None

    def dump(self) -> LogDump:
        return LogDump(
            self.selection, show_secrets=self.show_secrets, batches_only=self.batches_only
        )

    def renderer(self) -> Callable[[Entry], bytes]:
        match self.format:
            case "kafka":
                return self._kafka
            case "csv":
                return lambda entry: log_text.csv_entry(entry).encode("utf-8", "replace")
        mark = self.marks.outcome if self.marks is not None else None
        secrets = self.show_secrets
        return lambda entry: log_text.jsonl_entry(entry, show_secrets=secrets, mark=mark)

    def _kafka(self, entry: Entry) -> bytes:
        if isinstance(entry, Problem):
            torn = entry.kind is DamageKind.TORN_TAIL
            return log_text.kafka_closing(entry.file, entry).encode() if torn else b""
        text = log_text.kafka_entry(entry, skip_record_metadata=self.skip_record_metadata)
        return text.encode("utf-8", "replace")


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
    """Cut a file at batch borders. Where the batches stop adding up the rest is one slice."""
    start = position = 0
    while True:
        head = read_at(position, 17)
        length = int.from_bytes(head[8:12], "big", signed=True) if len(head) == 17 else -1
        whole = HEADER_SIZE - LOG_OVERHEAD <= length <= LARGEST_BATCH and head[16] == 2
        if not whole or position + LOG_OVERHEAD + length > size:
            yield start, None
            return
        position += LOG_OVERHEAD + length
        if position - start >= SLICE:
            yield start, position
            start = position


def render_in_parallel(
    plan: RenderPlan, file: str, path: str, read_at: ReadAt, size: int, jobs: int
) -> Iterator[Rendered]:
    """Render a file by several processes that open `path` themselves; pieces come in order."""
    method = "fork" if "fork" in get_all_start_methods() else None
    with ProcessPoolExecutor(jobs, mp_context=get_context(method), initializer=quicken) as pool:
        waiting: deque[Future[Rendered]] = deque()
        for start, stop in slices(read_at, size):
            waiting.append(pool.submit(_render_slice, plan, file, path, start, stop))
            if len(waiting) > 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def quicken() -> None:
    """Stop looking for reference cycles: decoding makes many objects and no cycles."""
    gc.disable()


def _render_slice(plan: RenderPlan, file: str, path: str, start: int, stop: int | None) -> Rendered:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        pieces = list(
            render(plan, file, lambda at, size: os.pread(descriptor, size, at), start, stop)
        )
    finally:
        os.close(descriptor)
    problems = [problem for piece in pieces for problem in piece.problems]
    return Rendered(b"".join(piece.data for piece in pieces), problems, pieces[-1].position)
