"""A log in blocks of neighbouring batches, read forwards and backwards from anywhere.

Owns finding batch borders without reading a segment from its start: a batch has no pointer to the
one before it, so that going back means to begin somewhere earlier and to look for a batch whose CRC
holds. Indexes are not needed for it, and are not trusted.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from dataclasses import dataclass

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import ReadAt
from kraftool.decoders.walk import Item, Walk, WalkState
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.files import base_offset
from kraftool.storage.source import ByteSource

BLOCK = 1 << 18
_KEPT_BYTES = 32 << 20
_KEPT_BLOCKS = 96
_OPEN_FILES = 8

BEFORE = -2
"""Before the rows of a batch, of which up to two say that it does not follow on."""


@dataclass(frozen=True, slots=True, order=True)
class RowPlace:
    """The place of a row: segment by base offset, byte position of its batch, its number in the
    batch."""

    segment: int
    position: int
    index: int = BEFORE

    def after(self) -> RowPlace:
        """The place behind this row."""
        return RowPlace(self.segment, self.position, self.index + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Batches and damage that follow each other without a gap, from `start` up to `end`."""

    segment: int
    start: int
    end: int
    items: tuple[Item, ...]


def _block(segment: int, start: int, items: list[Item]) -> Block:
    end = items[-1].position + items[-1].size if items else start
    return Block(segment, start, end, tuple(items))


class LogBlocks:
    """The segments of one log. Blocks that were read are kept, up to a bound."""

    def __init__(self, files: tuple[LogFile, ...]) -> None:
        self._files = {base_offset(file): file for file in files}
        self._sources: OrderedDict[int, ByteSource] = OrderedDict()
        self._blocks: OrderedDict[tuple[int, int, bool], Block] = OrderedDict()
        self._kept = 0
        self.bases: list[int] = sorted(self._files)
        self.unsettled: int | None = None
        """Where the newest segment has bytes that may be half a batch: they are not shown."""

    # --- segments ---------------------------------------------------------------------------------

    @property
    def files(self) -> list[LogFile]:
        return [self._files[base] for base in self.bases]

    def file(self, segment: int) -> LogFile:
        return self._files[segment]

    def replace_files(self, files: tuple[LogFile, ...]) -> None:
        """Take note of segments that came or went."""
        files_by_base = {base_offset(file): file for file in files}
        for gone in [file for file in self._files if file not in files_by_base]:
            self.forget(gone)
            source = self._sources.pop(gone, None)
            if source is not None:
                source.close()
        self._files = files_by_base
        self.bases = sorted(files_by_base)

    def close(self) -> None:
        """Close every file."""
        while self._sources:
            self._sources.popitem()[1].close()
        self._blocks.clear()

    def source(self, segment: int) -> ByteSource:
        source = self._sources.get(segment)
        if source is None:
            source = self._sources[segment] = self._files[segment].open()
            while len(self._sources) > _OPEN_FILES:
                self._sources.popitem(last=False)[1].close()
        self._sources.move_to_end(segment)
        return source

    def size(self, segment: int) -> int:
        return self.source(segment).size() or 0

    def is_replaced(self, segment: int) -> bool:
        """True if another file has the name of the one that is open."""
        source = self._sources.get(segment)
        identity = getattr(source, "identity", None)
        if identity is None:
            return False
        try:
            status = os.stat(self._files[segment].path)
        except OSError:
            return False
        return bool(identity() != (status.st_dev, status.st_ino))

    def forget(self, segment: int, position: int = 0) -> None:
        """Read again what lies at a position or behind it."""
        for key, block in list(self._blocks.items()):
            if block.segment == segment and block.end > position:
                self._drop(key)
        if self.is_replaced(segment):
            self._sources.pop(segment).close()

    # --- neighbours -------------------------------------------------------------------------------

    def following(self, segment: int) -> int | None:
        """The segment behind this one."""
        at = bisect_right(self.bases, segment)
        return self.bases[at] if at < len(self.bases) else None

    def preceding(self, segment: int) -> int | None:
        at = bisect_left(self.bases, segment)
        return self.bases[at - 1] if at > 0 else None

    # --- blocks -----------------------------------------------------------------------------------

    def forward(self, segment: int, position: int) -> Block:
        """Return what begins at a batch border. Empty at the end of the segment."""
        key = (segment, position, True)
        block = self._cached(key)
        if block is None:
            read_at = self.source(segment).read_at
            items = self._settled(segment, _items(read_at, position, position + BLOCK))
            block = self._keep(key, _block(segment, position, items))
        return block

    def backward(self, segment: int, position: int) -> Block:
        """Return what ends at a batch border. Empty at the start of the segment."""
        key = (segment, position, False)
        block = self._cached(key)
        if block is None:
            block = self._keep(key, self._back(segment, position))
        return block

    def behind(self, segment: int, position: int) -> Block | None:
        """Return what comes next, in this segment or a later one; None at the end of the log."""
        later: int | None = segment
        while later is not None:
            block = self.forward(later, position)
            if block.items:
                return block
            later, position = self.following(later), 0
        return None

    def before(self, segment: int, position: int) -> Block | None:
        """Return what comes before it, in this segment or an earlier one; None at the log's
        start.
        """
        earlier: int | None = segment
        while earlier is not None:
            block = self.backward(earlier, position)
            if block.items:
                return block
            earlier = self.preceding(earlier)
            position = 0 if earlier is None else self.size(earlier)
        return None

    def _back(self, segment: int, position: int) -> Block:
        read_at = self.source(segment).read_at
        size = BLOCK
        while True:
            start = max(position - size, 0)
            items = _items(read_at, start, position)
            if start > 0:
                # Whatever was met before the first whole batch was seen from somewhere in it.
                whole = (
                    number for number, item in enumerate(items) if isinstance(item, RecordBatch)
                )
                items = items[next(whole, len(items)) :]
            if items or start == 0:
                items = self._settled(segment, items)
                return _block(segment, items[0].position if items else start, items)
            size *= 4

    def _settled(self, segment: int, items: list[Item]) -> list[Item]:
        """Without what a running Kafka may be about to complete."""
        if self.unsettled is None or segment != self.bases[-1]:
            return items
        return [item for item in items if item.position < self.unsettled]

    def first_whole(self, segment: int, position: int, end: int) -> RecordBatch | None:
        """The first batch whose CRC holds that begins from `position` on and before `end`."""
        for item in Walk(self.source(segment).read_at, WalkState.at(position), stop=end):
            if isinstance(item, RecordBatch):
                return item
        return None

    def _cached(self, key: tuple[int, int, bool]) -> Block | None:
        block = self._blocks.get(key)
        if block is not None:
            self._blocks.move_to_end(key)
        return block

    def _keep(self, key: tuple[int, int, bool], block: Block) -> Block:
        if not block.items:
            return block  # the end, which may move
        self._blocks[key] = block
        self._kept += block.end - block.start
        while len(self._blocks) > 1 and (
            len(self._blocks) > _KEPT_BLOCKS or self._kept > _KEPT_BYTES
        ):
            self._drop(next(iter(self._blocks)))
        return block

    def _drop(self, key: tuple[int, int, bool]) -> None:
        block = self._blocks.pop(key)
        self._kept -= block.end - block.start


def _items(read_at: ReadAt, start: int, stop: int) -> list[Item]:
    """Return what has bytes: the order of batches is judged by what comes before, wherever that
    is.
    """
    return [item for item in Walk(read_at, WalkState.at(start), stop=stop) if item.size]
