"""Rendering a log dump in its machine formats, piece by piece.

Owns which renderer serves which format. `log_parallel.py` has several processes do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kraftool.decoders.segment import DamageKind, ReadAt
from kraftool.reports import log_text
from kraftool.reports.log_dump import BatchEntry, Entry, LogDump, Problem, Selection, TopicNames
from kraftool.reports.transactions import Transactions


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
