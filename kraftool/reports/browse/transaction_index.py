"""Metadata transactions (KIP-868) around the rows of a log that is read from the middle.

Owns the search for a transaction's begin and end near a row. It is bounded: of a transaction that
begins or ends far away it can only be said that the row is inside of one, or nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.reports.browse.blocks import Block, LogBlocks
from kraftool.reports.logs.transactions import marks

INSIDE = "inside"
"""In a transaction whose end is too far away to have been looked for."""
_FAR = 4
"""Blocks that are looked through, each way."""
_MARK = re.compile(rb"\x01[\x17\x18\x19][\x00-\x7f]")
_KEPT = 512

Mark = tuple[int, str]
"""An offset, and begin, committed or aborted."""


class Marks:
    """The begins and ends of transactions, by block."""

    def __init__(self, blocks: LogBlocks) -> None:
        self._blocks = blocks
        self._kept: OrderedDict[tuple[int, int, int], tuple[Mark, ...]] = OrderedDict()
        self._earlier: OrderedDict[tuple[int, int], Mark | None] = OrderedDict()
        """The last mark before a block, by its segment and start. All rows of the block ask for it,
        and the blocks before it may be too large to be kept."""

    def forget(self) -> None:
        self._kept.clear()
        self._earlier.clear()

    def outcome(self, block: Block, offset: int) -> str:
        """Return how the transaction around a record ended; empty where there is none."""
        before = self._before(block, offset)
        if before is None:
            return ""
        at, word = before
        if word != "begin":
            return word if at == offset else ""
        return self._after(block, offset)

    def _before(self, block: Block, offset: int) -> Mark | None:
        marks_of_block = self._of(block)
        upto = bisect_right(marks_of_block, offset, key=lambda mark: mark[0])
        if upto:
            return marks_of_block[upto - 1]
        key = block.segment, block.start
        if key not in self._earlier:
            self._earlier[key] = self._last_before(block)
            _at_most(_KEPT, self._earlier)
        return self._earlier[key]

    def _last_before(self, block: Block) -> Mark | None:
        for _ in range(_FAR - 1):
            earlier = self._blocks.before(block.segment, block.start)
            if earlier is None:
                return None
            block = earlier
            if own_marks := self._of(block):
                return own_marks[-1]
        return None

    def _after(self, block: Block, offset: int) -> str:
        for _ in range(_FAR):
            for at, word in self._of(block):
                if at > offset:
                    return "open" if word == "begin" else word
            later = self._blocks.behind(block.segment, block.end)
            if later is None:
                return "open"
            block = later
        return INSIDE

    def _of(self, block: Block) -> tuple[Mark, ...]:
        key = block.segment, block.start, block.end
        own_marks = self._kept.get(key)
        if own_marks is None:
            own_marks = self._kept[key] = tuple(_marks(block))
            _at_most(_KEPT, self._kept)
        return own_marks


def _at_most(count: int, kept: OrderedDict[Any, Any]) -> None:
    """Drop what was kept first."""
    while len(kept) > count:
        kept.popitem(last=False)


def _marks(block: Block) -> Iterator[Mark]:
    for item in block.items:
        if isinstance(item, RecordBatch) and _may_have_one(item):
            yield from marks(item)


def _may_have_one(batch: RecordBatch) -> bool:
    return batch.compression != "none" or _MARK.search(batch.data) is not None
