"""Rendering a log dump in its machine formats, piece by piece.

Owns which renderer serves which format, and that the native one takes what it can. `parallel.py`
has several processes or threads do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from kraftool.decoders.errors import Fault
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.segment import BatchSpan, ReadAt
from kraftool.decoders.walk import BEGINNING, Item, Walk, WalkState
from kraftool.reports.logs.dump import BatchEntry, Entry, LogDump, TopicNames
from kraftool.reports.logs.native_renderer import native_renderer
from kraftool.reports.logs.plan import OutputPlan

if TYPE_CHECKING:
    from kraftool.reports.logs.native_sieve import Sifter

Bytes = bytes | memoryview


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderPlan(OutputPlan):
    """A plan with the functions that carry it out."""

    def dump(self, topics: TopicNames | None = None) -> LogDump:
        """The dump of this plan; with `topics` it learns and uses their names."""
        return LogDump(
            self.selection,
            show_secrets=self.show_secrets,
            batches_only=self.batches_only,
            topics=topics,
        )

    def renderer(self) -> Callable[[Entry], bytes]:
        """Return what writes an entry. A log that is read natively has no use for it."""
        from kraftool.reports.logs import text as log_text

        match self.format:
            case "kafka":
                return partial(_kafka, skip_record_metadata=self.skip_record_metadata)
            case "csv" if self.batches_only:
                return _csv_batch
            case "csv":
                return lambda entry: log_text.csv_entry(entry).encode("utf-8", "replace")
        mark = self.marks.outcome if self.marks is not None else None
        secrets = self.show_secrets
        return lambda entry: log_text.jsonl_entry(entry, show_secrets=secrets, mark=mark)


def _kafka(entry: Entry, *, skip_record_metadata: bool) -> bytes:
    from kraftool.reports.logs import text as log_text

    if isinstance(entry, Fault):
        if not isinstance(entry, LogFault) or entry.kind is not FaultKind.TORN_TAIL:
            return b""
        return log_text.kafka_closing(entry.file, entry).encode("utf-8", "surrogateescape")
    text = log_text.kafka_entry(entry, skip_record_metadata=skip_record_metadata)
    return text.encode("utf-8", "replace")


def _csv_batch(entry: Entry) -> bytes:
    from kraftool.reports.logs import text as log_text

    row = log_text.csv_batch(entry) if isinstance(entry, BatchEntry) else log_text.csv_entry(entry)
    return row.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A piece of output, what was wrong in it, and the state of the walk behind it."""

    data: Bytes
    problems: list[Fault]
    state: WalkState


class Pieces:
    """Renders item after item, and gives the output in pieces that are worth writing."""

    def __init__(self, plan: RenderPlan, file: str) -> None:
        self._plan, self._file, self._dump = plan, file, plan.dump()
        self._native = native_renderer(plan, file)
        self._sieve: Sifter | None = None
        if self._native is None:
            from kraftool.reports.logs.native_sieve import sieve_of

            self._sieve = sieve_of(self._dump)
        self._parts: list[bytes] = []
        self._problems: list[Fault] = []
        self._size = 0
        self.native_bytes = self.python_bytes = 0
        """Of the spans, so many were rendered natively, and so many by Python."""

    @cached_property
    def _write(self) -> Callable[[Entry], bytes]:
        return self._plan.renderer()

    @property
    def is_native(self) -> bool:
        """True if there is a native renderer for the plan."""
        return self._native is not None

    def any(self, item: Item | BatchSpan) -> Iterator[Output]:
        """The pieces that are full once an item or a span is rendered."""
        return self.span(item) if isinstance(item, BatchSpan) else self.item(item)

    def item(self, item: Item) -> Iterator[Output]:
        """The pieces that are full once Python has rendered an item."""
        for entry in self._dump.item(self._file, item):
            if isinstance(entry, Fault):
                self._problems.append(entry)
            self._add(self._write(entry))
            if self._size > _PIECE or len(self._problems) > _MOST_PROBLEMS:
                yield self.rest()

    def span(self, span: BatchSpan) -> Iterator[Output]:
        """The pieces of a span: what the native renderer does not take is for Python."""
        if self._sieve is not None:
            for batch in self._sieve.left(span):
                yield from self.item(batch)
            return
        at, native = span.at, self._native
        for_python = 1
        while at < span.end:
            if native is not None:
                before = at
                data, at, is_stuck = native.render(span, at)
                self.native_bytes += at - before
                if len(data) > _WORTH_A_PIECE:
                    if self._parts or self._problems:
                        yield self.rest()
                    yield data, []
                else:
                    self._add(bytes(data))
                if not is_stuck:
                    continue
                # Of a log that is not plain, Python takes more and more at a time.
                for_python = 1 if data else min(2 * for_python, _MOST_FOR_PYTHON)
            for _ in range(for_python):
                if at < span.end:
                    batch = span.batch(at)
                    at += batch.size
                    self.python_bytes += batch.size
                    yield from self.item(batch)

    def rest(self) -> Output:
        """Return what is left, also if that is nothing."""
        output = b"".join(self._parts), self._problems
        self._parts, self._problems, self._size = [], [], 0
        return output

    def _add(self, piece: bytes) -> None:
        self._parts.append(piece)
        self._size += len(piece)


Output = tuple[Bytes, list[Fault]]
_PIECE = 1 << 18
_WORTH_A_PIECE = 1 << 15
_MOST_PROBLEMS = 100
_MOST_FOR_PYTHON = 64


def render(
    plan: RenderPlan,
    file: str,
    read_at: ReadAt,
    state: WalkState = BEGINNING,
    stop: int | None = None,
) -> Iterator[Rendered]:
    """Render a file, or a slice of it, piece by piece."""
    walk = Walk(read_at, state, stop=stop)
    pieces = Pieces(plan, file)
    for item in walk.spans():
        for data, problems in pieces.any(item):
            yield Rendered(data, problems, walk.state)
    yield Rendered(*pieces.rest(), walk.state)
