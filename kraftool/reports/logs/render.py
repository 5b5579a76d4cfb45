"""Rendering a log dump in its machine formats, piece by piece.

Owns which renderer serves which format. `parallel.py` has several processes do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.errors import Fault
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.segment import ReadAt
from kraftool.decoders.walk import BEGINNING, Walk, WalkState
from kraftool.reports.logs import text as log_text
from kraftool.reports.logs.dump import BatchEntry, Entry, LogDump, Selection, TopicNames
from kraftool.reports.logs.transactions import Transactions


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
        if isinstance(entry, Fault):
            if not isinstance(entry, LogFault) or entry.kind is not FaultKind.TORN_TAIL:
                return b""
            return log_text.kafka_closing(entry.file, entry).encode("utf-8", "surrogateescape")
        text = log_text.kafka_entry(entry, skip_record_metadata=self.skip_record_metadata)
        return text.encode("utf-8", "replace")


def _csv_batch(entry: Entry) -> bytes:
    row = log_text.csv_batch(entry) if isinstance(entry, BatchEntry) else log_text.csv_entry(entry)
    return row.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A piece of output, what was wrong in it, and the state of the walk behind it."""

    data: bytes
    problems: list[Fault]
    state: WalkState


def render(
    plan: RenderPlan,
    file: str,
    read_at: ReadAt,
    state: WalkState = BEGINNING,
    stop: int | None = None,
) -> Iterator[Rendered]:
    """Render a file, or a slice of it, piece by piece."""
    write, dump = plan.renderer(), plan.dump()
    pieces: list[bytes] = []
    problems: list[Fault] = []
    size = 0
    walk = Walk(read_at, state, stop=stop)
    for item in walk:
        for entry in dump.item(file, item):
            if isinstance(entry, Fault):
                problems.append(entry)
            piece = write(entry)
            pieces.append(piece)
            size += len(piece)
            if size > 1 << 18 or len(problems) > 100:
                yield Rendered(b"".join(pieces), problems, walk.state)
                pieces, problems, size = [], [], 0
    yield Rendered(b"".join(pieces), problems, walk.state)
