"""A metadata log as rows, read where somebody looks: both ways, filtered, with a live tail.

Owns going from any place onwards or back, and where offsets, times and epochs are. One call reads
a bounded number of bytes and says where to go on, so that a search through a large log can be
shown while it runs, and called off. Calls come from one thread at a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.walk import BEGINNING, Faulty, Item, Walk, WalkState, after
from kraftool.reports.browse.blocks import BEFORE, Block, LogBlocks, RowPlace
from kraftool.reports.browse.rows import Border, LogRow, RowKind, RowMaker, fold, joins
from kraftool.reports.browse.seek import by_epoch, by_offset, by_time, seek
from kraftool.reports.browse.sifted_blocks import SiftedBlocks
from kraftool.reports.browse.transaction_index import Marks
from kraftool.reports.logs.dump import Selection
from kraftool.reports.state.files import StateFiles, open_state
from kraftool.storage.paths import Location

_BREATH, _LARGE = 32, 4096
AT_ONCE = 1 << 20
"""Bytes of the log that one call looks through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some rows, in the order of the log, and where to go on."""

    rows: tuple[LogRow, ...]
    resume: RowPlace | None
    """What comes next in the direction that was asked for; None at the end of the log."""
    reached: RowPlace
    """Where reading stopped. Of a page that ends with the log, what is written next begins here."""


class LogWindow:
    """One log, opened. Nothing is read of it until rows are asked for."""

    def __init__(self, where: str | Location) -> None:
        """Find the files of a PATH. Raises KraftoolError where there is no log in it."""
        files = open_state(where)
        self.path = files.path
        self.files: StateFiles = files
        # A checkpoint that was named itself is read as a log is.
        self.blocks = LogBlocks(files.segments or files.snapshots[:1])
        self.maker = RowMaker()
        self.sifted = SiftedBlocks()
        self.marks = Marks(self.blocks)
        self.is_checkpoint = files.is_snapshot
        self._learned: set[tuple[int, int, int]] = set()

    def close(self) -> None:
        self.blocks.close()

    # --- places -----------------------------------------------------------------------------------

    @property
    def start(self) -> RowPlace:
        bases = self.blocks.bases
        return RowPlace(bases[0] if bases else 0, 0)

    @property
    def end(self) -> RowPlace:
        """Behind the last row."""
        if not self.blocks.bases:
            return self.start
        last = self.blocks.bases[-1]
        return RowPlace(last, self.blocks.size(last))

    def fraction(self, place: RowPlace) -> float:
        """Return how far into the log a place is, from 0 to 1, by bytes."""
        before = total = 0
        for base in self.blocks.bases:
            size = self.blocks.size(base)
            total += size
            if base < place.segment:
                before += size
            elif base == place.segment:
                before += min(place.position, size)
        return before / total if total else 1.0

    def size(self) -> int:
        return sum(self.blocks.size(base) for base in self.blocks.bases)

    def end_offset(self) -> int:
        """One beyond the last offset of a whole batch."""
        for base in reversed(self.blocks.bases):
            for item in reversed(self.blocks.backward(base, self.blocks.size(base)).items):
                if isinstance(item, RecordBatch):
                    return item.last_offset + 1
        return self.blocks.bases[-1] if self.blocks.bases else 0

    def seek_offset(self, offset: int) -> RowPlace:
        """The record at an offset, or the first one behind it; the end where there is none."""
        place = seek(self.blocks, by_offset, offset)
        return self.end if place is None else self._within(place, offset)

    def seek_epoch(self, epoch: int) -> RowPlace:
        """Return where an epoch begins, or the first one behind it."""
        return seek(self.blocks, by_epoch, epoch) or self.end

    def seek_time(self, timestamp: int) -> RowPlace:
        """The first batch that was written at a time or later."""
        return seek(self.blocks, by_time, timestamp) or self.end

    def _within(self, place: RowPlace, offset: int) -> RowPlace:
        """The row of an offset in the batch that has it."""
        block = self.blocks.forward(place.segment, place.position)
        for row in self._item_rows(block, 0, None):
            if row.kind is RowKind.RECORD and row.offset is not None and row.offset >= offset:
                return row.place
        return place

    # --- rows -------------------------------------------------------------------------------------

    def forward(
        self,
        place: RowPlace,
        count: int,
        selection: Selection | None = None,
        at_most: int = AT_ONCE,
        *,
        folds: bool = False,
    ) -> Page:
        """Rows from a place onwards, itself included; `folds`: runs of no-ops are a row each."""
        rows: list[LogRow] = []
        scanned = 0
        segment: int | None = place.segment
        position, index = place.position, place.index
        reached = place
        while segment is not None:
            block = self.blocks.forward(segment, position)
            self._learn(block)
            numbers = self.sifted.numbers(block, selection)
            for number, item in enumerate(block.items):
                for row in self._item_rows(block, number, selection) if number in numbers else ():
                    if row.place.index < index:
                        continue
                    if folds and rows and joins(rows[-1], row):
                        rows[-1] = fold(rows[-1], row)
                        continue
                    if len(rows) == count:
                        return _page(rows, row.place)
                    rows.append(row)
                index = BEFORE
                scanned += item.size
                position = item.position + item.size
                _breathe(number, item)
                if scanned >= at_most:
                    return _page(rows, RowPlace(segment, position))
            if not block.items:
                reached = RowPlace(segment, position)
                segment, position, index = self.blocks.following(segment), 0, BEFORE
        return Page(rows=tuple(rows), resume=None, reached=reached)

    def backward(
        self,
        place: RowPlace,
        count: int,
        selection: Selection | None = None,
        at_most: int = AT_ONCE,
        *,
        folds: bool = False,
    ) -> Page:
        """Rows before a place, the nearest ones, in the order of the log."""
        rows: list[LogRow] = []  # the nearest first
        scanned = 0
        for block, number, below in self._items_before(place):
            item = block.items[number]
            numbers = self.sifted.numbers(block, selection)
            log_rows = [
                item_row
                for item_row in (
                    self._item_rows(block, number, selection) if number in numbers else ()
                )
                if below is None or item_row.place.index < below
            ]
            scanned += item.size
            _breathe(number, item)
            for row in reversed(log_rows):
                if folds and rows and joins(row, rows[-1]):
                    rows[-1] = fold(row, rows[-1])
                elif len(rows) == count:
                    # The rest of this batch is what comes next.
                    return _page(rows[::-1], row.place.after())
                else:
                    rows.append(row)
            if len(rows) == count or scanned >= at_most:
                return _page(rows[::-1], RowPlace(block.segment, item.position))
        return Page(rows=tuple(rows[::-1]), resume=None, reached=self.start)

    def _items_before(self, place: RowPlace) -> Iterator[tuple[Block, int, int | None]]:
        """Batches back from a place: block, number in it, and below which row it counts."""
        if place.index > BEFORE and place.segment in self.blocks.bases:
            block = self.blocks.forward(place.segment, place.position)
            if block.items:
                yield block, 0, place.index
        segment: int | None = place.segment
        position = place.position
        while segment is not None:
            if segment in self.blocks.bases:
                block = self.blocks.backward(segment, position)
                self._learn(block)
                for number in range(len(block.items) - 1, -1, -1):
                    yield block, number, None
                position = block.start
                if block.items:
                    continue
            segment = self.blocks.preceding(segment)
            position = self.blocks.size(segment) if segment is not None else 0

    def _learn(self, block: Block) -> None:
        """A topic is created before it is changed: its name may stand earlier in the block."""
        key = block.segment, block.start, block.end
        if key in self._learned:
            return
        self._learned.add(key)
        for item in block.items:
            if isinstance(item, RecordBatch):
                self.maker.learn(item)

    def names_in_snapshot(self) -> dict[str, str]:
        """The names of topics by id, from the newest snapshot, which is read whole."""
        maker = RowMaker()
        for file in self.files.snapshots[-1:]:
            with file.open() as source:
                for item in Walk(source.read_at):
                    if isinstance(item, RecordBatch):
                        maker.learn(item)
        return maker.topics.by_id

    def _item_rows(
        self, block: Block, number: int, selection: Selection | None
    ) -> Iterator[LogRow]:
        item = block.items[number]
        file = self.blocks.file(block.segment).name
        if not isinstance(item, Faulty):
            yield from self.maker.order(file, block.segment, item, self._before(block, number))
        for row in self.maker.rows(file, block.segment, item, selection):
            if row.kind is RowKind.RECORD and not row.is_control and row.offset is not None:
                outcome = self.marks.outcome(block, row.offset)
                yield replace(row, transaction=outcome) if outcome else row
            else:
                yield row

    def _before(self, block: Block, number: int) -> WalkState:
        """The walk's state before an item: from the last sound batch on, wherever that is."""
        damaged: list[Item] = []
        for item in self._items_back(block, number):
            damaged.append(item)
            if not isinstance(item, Faulty):
                break
        state = BEGINNING
        for item in reversed(damaged):
            state = after(state, item)
        return state

    def _items_back(self, block: Block, number: int) -> Iterator[Item]:
        yield from reversed(block.items[:number])
        position = block.items[0].position
        while (earlier := self.blocks.before(block.segment, position)) is not None:
            yield from reversed(earlier.items)
            block, position = earlier, earlier.start


def _breathe(number: int, item: Item) -> None:
    """Let another thread go on: one that looks through a log must not hold up one that shows it."""
    if number % _BREATH == 0 or item.size > _LARGE:
        time.sleep(0)


def _page(rows: list[LogRow], resume: RowPlace) -> Page:
    return Page(rows=tuple(rows), resume=resume, reached=resume)


def note(text: str, place: RowPlace, offset: int | None = None) -> LogRow:
    """A row that says something about the log itself."""
    return LogRow(
        place=place,
        kind=RowKind.NOTE,
        file="",
        position=place.position,
        offset=offset,
        border=Border.NONE,
        text=text,
    )
