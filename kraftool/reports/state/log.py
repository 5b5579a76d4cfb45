"""The log as far as it can be replayed: up to what is wanted, or to the first damage.

Owns where replaying a log ends. Kafka validates every batch when it starts, and cuts the log at the
first that is not whole; so a log ends here at the first damage too. What lies in a segment below
the offset to begin at is passed over, but has to be whole for the same reason. At a gap in the
offsets Kafka goes on, without noticing; here the log ends, since what follows lacks its ground.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.fault import FaultKind, LogFault, gap_fault
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item, Walk, WalkState
from kraftool.raft.names import OffsetAndEpoch
from kraftool.reports.files.log_findings import log_finding
from kraftool.reports.files.severity_in_context import weighed
from kraftool.reports.findings.finding import Finding
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.replay import Progress, Replay


@dataclass(frozen=True, slots=True)
class Wanted:
    """Up to where: below an offset, or up to a time (of the batches' append); all if neither."""

    below: int | None = None
    until_ms: int | None = None


@dataclass(slots=True)
class LogReplay:
    """The log as far as it was replayed. `is_over` once nothing after it counts any more."""

    replay: Replay
    wanted: Wanted
    progress: Progress
    end: int | None = None
    """The offset that comes next; None before the first batch of a log by itself."""
    start: int | None = None
    """The base offset of the first batch seen."""
    last: OffsetAndEpoch | None = None
    """The epoch of the last batch seen, and the offset after it."""
    divided: tuple[int, int] | None = None
    """The first and the last offset of the batch that `below` is inside of."""
    is_over: bool = False
    is_enough: bool = False
    """True if it is over because all that was wanted is there."""
    _replayed: bool = False

    def segment(self, file: LogFile, *, is_last: bool = True, position: int = 0) -> None:
        """Replay a segment. It ends at the first damage, since Kafka cuts the log there.

        `is_last`: no other follows, so that what is torn off is the log's tail. `position`: what
        lies before this batch is known to be whole, and to be replayed.
        """
        with file.open() as source:
            for walk_item in Walk(source.read_at, WalkState.at(position)).spans():
                if isinstance(walk_item, BatchSpan):
                    at = walk_item.at
                    while at < walk_item.end and not self.is_over:
                        at = self._next(file, walk_item, at, walk_item.end)
                        if not self.is_over:
                            self.progress(file.name, walk_item.data_position + at)
                else:
                    self.take(file, walk_item, is_last=is_last)
                if self.is_over:
                    return
                self.progress(file.name, walk_item.position + walk_item.size)

    def take(self, file: LogFile, item: Item, *, is_last: bool) -> None:
        """Replay an item of a walk, if nothing before it ended the log."""
        if self.is_over:
            return
        if isinstance(item, Faulty):
            self._faulty(file, item.fault, is_last=is_last)
        else:
            self._batch(file, item)

    def take_span(self, file: LogFile, span: BatchSpan, at: int, end: int) -> None:
        """Replay the batches of a span from one place to another, if nothing ended the log."""
        while at < end and not self.is_over:
            at = self._next(file, span, at, end)

    def _next(self, file: LogFile, span: BatchSpan, at: int, end: int) -> int:
        """Replay at least one batch of a span; return where the next one begins."""
        if end == span.end and self._is_before(span):
            self.start = span.base_offset_at(at) if self.start is None else self.start
            self.last = OffsetAndEpoch(span.last_offset + 1, span.epoch)
            return end
        if not self._follows(span, at):
            batch = span.batch(at)
            self._batch(file, batch)
            return at + batch.size
        self._replayed = True
        at, self.end = self.replay.span(file.name, span, at, end)
        self.last = OffsetAndEpoch(self.end, span.epoch)
        return at

    def _is_before(self, span: BatchSpan) -> bool:
        """True if all batches of a span are before the offset to begin at."""
        is_all_wanted = self.wanted.below is None and self.wanted.until_ms is None
        is_before = self.end is not None and span.last_offset < self.end
        return is_all_wanted and is_before and not self._replayed

    def _follows(self, span: BatchSpan, at: int) -> bool:
        """True if the batch at a place comes next, and what is wanted ends behind this span."""
        below, until = self.wanted.below, self.wanted.until_ms
        is_before = until is None and (below is None or span.last_offset < below)
        return is_before and self.end is not None and span.base_offset_at(at) == self.end

    def _batch(self, file: LogFile, batch: RecordBatch) -> None:
        if self.start is None:
            self.start = batch.base_offset
        if self._is_beyond(batch):
            self.is_over = self.is_enough = True
        elif self._is_out_of_place(batch):
            assert self.end is not None, "only what has an end can have a gap"
            fault = gap_fault(batch.position, batch.base_offset, self.end)
            self._cut(log_finding(file.name, fault))
        else:
            self.last = OffsetAndEpoch(batch.last_offset + 1, batch.epoch)
            if self.end is None or batch.last_offset >= self.end:
                self._replayed = True
                if batch.base_offset < (self.wanted.below or 0) <= batch.last_offset:
                    self.divided = batch.base_offset, batch.last_offset
                self.end = self.replay.batch(
                    file.name, batch, start=self.end or 0, below=self.wanted.below
                )

    def _faulty(self, file: LogFile, fault: LogFault, *, is_last: bool) -> None:
        """Damage ends the log. Kafka goes on over an epoch that goes back; gaps are `_batch`'s."""
        finding = log_finding(file.name, fault)
        if fault.cuts and self.wanted.below is not None and (self.end or 0) >= self.wanted.below:
            self.is_over = self.is_enough = True
        elif fault.cuts:
            is_live = fault.kind is FaultKind.TORN_TAIL and file.is_live()
            self._cut(weighed(finding, is_last=is_last, is_live=is_live))
        elif fault.kind is FaultKind.EPOCH_BACK and (fault.offset or 0) >= (self.end or 0):
            self.replay.add_finding(finding)

    def _is_out_of_place(self, batch: RecordBatch) -> bool:
        """Below the offset to begin at, batches may lie anywhere; from then on they follow."""
        if self.end is None:
            return False
        return batch.base_offset > self.end or (self._replayed and batch.base_offset < self.end)

    def _is_beyond(self, batch: RecordBatch) -> bool:
        below, until = self.wanted.below, self.wanted.until_ms
        reached = max(batch.base_offset, self.end or 0)
        if below is not None:
            return reached >= below
        counts = self.end is None or batch.last_offset >= self.end
        return until is not None and counts and batch.header.base_timestamp > until

    def _cut(self, finding: Finding) -> None:
        self.replay.add_finding(finding)
        self.is_over = True
