"""The one walk over a log: its batches in order, and what is wrong between and inside them.

Owns what follows from the headers and the CRCs alone: which bytes are a sound batch, whether
offsets and epochs follow on, and where Kafka would cut. What a batch with a wrong CRC says is
evidence of nothing. The next sound batch is compared with the last sound one. Across damage inside
a segment only offsets that go back are a gap: those that are missing are what the damage took.

    for item in Walk(source.read_at):
        if isinstance(item, Faulty):
            report(item.fault)
        else:
            use(item)  # a sound batch

Several observers share a pass: the caller hands each item on. `runs()` hands over sound batches in
lists, `spans()` as pieces of memory if the native module is there. After any item, `state` is where
another walk goes on, in this file or, by `next_segment()`, in the one that follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftool.decoders import fast_path
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.fault import (
    FaultKind,
    LogFault,
    crc_fault,
    damage_fault,
    epoch_back_fault,
    gap_fault,
)
from kraftool.decoders.segment import NOTHING_SPENT, BatchSpan, Damage, ReadAt, ResyncBudget, Scan


class Faulty(NamedTuple):
    """Bytes that are no sound batch; none, where only the order of two sound batches is wrong."""

    position: int
    size: int
    fault: LogFault
    batch: RecordBatch | None = None
    """The batch whose CRC is wrong, to be shown. It is evidence of nothing."""


Item = RecordBatch | Faulty


def batch_of(item: Item) -> RecordBatch | None:
    """The batch to show, whose CRC may be wrong; None for what is none."""
    return item.batch if isinstance(item, Faulty) else item


class FirstBatch(NamedTuple):
    """The first sound batch of a segment."""

    position: int
    base_offset: int
    epoch: int

    @classmethod
    def of(cls, batch: RecordBatch | BatchSpan) -> FirstBatch:
        return cls(batch.position, batch.base_offset, batch.epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkState:
    """The position of a walk, and the values with which it compares the next batch."""

    position: int = 0
    next_offset: int | None = None
    """One beyond the last sound batch."""
    epoch: int = -1
    """The last sound batch's."""
    is_torn: bool = False
    """True if something is damaged between the last sound batch and here."""
    end_offset: int | None = None
    """One beyond the last offset, counting damaged batches that follow on and whose numbers agree:
    what a cut may take away. No judgement is based on it."""
    intact_end_offset: int | None = None
    """Where Kafka would cut the log: the end of the last batch before anything that it refuses."""
    is_cut: bool = False
    """True behind the first place where Kafka cuts."""
    start: FirstBatch | None = None
    """The first sound batch of this segment."""
    budget: ResyncBudget = NOTHING_SPENT

    @classmethod
    def at(cls, position: int) -> WalkState:
        """The state of a walk that begins at a batch border, with nothing before it."""
        return cls(position=position, budget=ResyncBudget(position))

    def next_segment(self) -> WalkState:
        """The state in which the next segment begins."""
        return replace(self, position=0, start=None, budget=NOTHING_SPENT)

    def joined(self, after: WalkState) -> WalkState:
        """The state behind a segment that was walked over separately."""
        if after.start is None:
            return replace(self, is_torn=self.is_torn or after.is_torn)
        return after


BEGINNING = WalkState()
"""The state before a log."""


def sequence_faults(before: WalkState, start: FirstBatch, file: str = "") -> Iterator[LogFault]:
    """Yield what is wrong with the order of a sound batch and what came before it."""
    expected = before.next_offset
    if expected is not None and start.base_offset != expected and not _is_taken(before, start):
        yield gap_fault(start.position, start.base_offset, expected, file)
    if start.epoch < before.epoch:
        yield epoch_back_fault(*start, before.epoch, file)


def _is_taken(before: WalkState, start: FirstBatch) -> bool:
    """True if damage explains why offsets are missing: it took them.

    Before the first byte of a segment only damaged batches that follow on can explain it.
    """
    if not before.is_torn or before.next_offset is None or start.base_offset < before.next_offset:
        return False
    return start.position > 0 or start.base_offset == before.end_offset


def seam_faults(before: WalkState, after: WalkState) -> Iterator[LogFault]:
    """The same of two segments that were walked over separately: how the second one begins."""
    if after.start is not None:
        is_torn = before.is_torn or after.start.position > 0
        yield from sequence_faults(replace(before, is_torn=is_torn), after.start)


class Walk:
    """Walks over one file from where a state says, up to `stop`, where no item begins any more."""

    def __init__(
        self,
        read_at: ReadAt,
        state: WalkState = BEGINNING,
        *,
        stop: int | None = None,
        file: str = "",
    ) -> None:
        self._scan = Scan(read_at, state.position, stop, state.budget)
        self._state, self._file = state, file
        self._last: RecordBatch | BatchSpan | None = None
        """The sound batch, or span of them, that was handed over last, while the state lacks it."""

    @property
    def state(self) -> WalkState:
        """Return where the walk is: behind the item that was handed over last."""
        if self._last is not None:
            self._state, self._last = after(self._state, self._last), None
        return self._state

    def __iter__(self) -> Iterator[Item]:
        for run in self._runs():
            if isinstance(run, Faulty):
                yield run
                continue
            for batch in run:
                self._last = batch
                yield batch

    def runs(self) -> Iterator[list[RecordBatch] | Faulty]:
        """The same with sound batches in lists, of which none is empty."""
        for run in self._runs():
            if not isinstance(run, Faulty):
                self._last = run[-1]
            yield run

    def spans(self) -> Iterator[BatchSpan | RecordBatch | Faulty]:
        """The same with sound batches in spans as far as the native module finds them. The state is
        behind a whole span."""
        if not fast_path.is_native():
            yield from self
            return
        scan = self._scan
        while True:
            item: BatchSpan | RecordBatch | Faulty | None = scan.span() or self._closer()
            if item is None:
                return
            if not isinstance(item, Faulty):
                yield from self._in_order(item)
                self._last = item
            yield item

    def _runs(self) -> Iterator[list[RecordBatch] | Faulty]:
        """Runs of sound batches that follow on each other in one epoch, and what is between."""
        while True:
            run = self._scan.run()
            if not run:
                item = self._closer()
                if item is None:
                    return
                if isinstance(item, Faulty):
                    yield item
                    continue
                run = [item]
            yield from self._in_order(run[0])
            yield run

    def _closer(self) -> RecordBatch | Faulty | None:
        """The next item by a closer look at it; None at the end."""
        item = self._scan.item()
        if isinstance(item, Damage):
            fault = damage_fault(item, self.state.end_offset, self._file)
            return self._damaged(Faulty(item.position, item.size, fault))
        if item is not None and not item.is_valid:
            fault = crc_fault(item, self.state.end_offset, self._file)
            return self._damaged(Faulty(item.position, item.size, fault, item))
        return item

    def _in_order(self, batch: RecordBatch | BatchSpan) -> Iterator[Faulty]:
        """Yield what is wrong with the place of a sound batch, or of the first one of a span. A
        walk that goes on after it is silent."""
        state = self.state
        start = FirstBatch.of(batch)
        if state.start is None:
            self._state = replace(state, start=start)
        for fault in sequence_faults(state, start, self._file):
            self._state = replace(
                self._state,
                is_torn=False,
                next_offset=start.base_offset,
                epoch=self._state.epoch if fault.kind is FaultKind.GAP else start.epoch,
            )
            yield Faulty(batch.position, 0, fault)

    def _damaged(self, item: Faulty) -> Faulty:
        self._state = replace(after(self.state, item), budget=self._scan.budget)
        return item


def after(state: WalkState, item: Item | BatchSpan) -> WalkState:
    """The state behind a sound batch, a span of them, or damage."""
    if isinstance(item, Faulty):
        end, batch = state.end_offset, item.batch
        if batch is not None and end in (None, batch.base_offset) and _agrees(batch):
            end = batch.last_offset + 1
        position = item.position + item.size
        return replace(state, position=position, is_torn=True, is_cut=True, end_offset=end)
    end = item.last_offset + 1
    return replace(
        state,
        position=item.position + item.size,
        next_offset=end,
        epoch=item.epoch,
        is_torn=False,
        end_offset=end,
        intact_end_offset=state.intact_end_offset if state.is_cut else end,
    )


def _agrees(batch: RecordBatch) -> bool:
    """True if a damaged batch's numbers of offsets and of records are the same."""
    return 0 <= batch.header.last_offset_delta == batch.header.record_count - 1
