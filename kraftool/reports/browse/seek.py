"""The search of a place in a log by halving: an offset, a time, an epoch.

Owns the search over batch headers. Offsets and epochs only ever rise in a log; times nearly do, as
a new leader may have another clock, so that a time is found as closely as its neighbours allow.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftool.decoders.batch import RecordBatch
from kraftool.reports.browse.blocks import BLOCK, LogBlocks, RowPlace

Key = Callable[[RecordBatch], int]


def by_offset(batch: RecordBatch) -> int:
    return batch.last_offset


def by_epoch(batch: RecordBatch) -> int:
    return batch.epoch


def by_time(batch: RecordBatch) -> int:
    return batch.header.max_timestamp


def seek(blocks: LogBlocks, key: Key, wanted: int) -> RowPlace | None:
    """The first batch whose key is at least what is wanted; None where there is none."""
    start: int | None = _segment(blocks, key, wanted)
    while start is not None:
        position = _position(blocks, start, key, wanted)
        if position is not None:
            return RowPlace(start, position)
        start = blocks.following(start)
    return None


def _segment(blocks: LogBlocks, key: Key, wanted: int) -> int | None:
    """The last segment that begins below what is wanted, or the first one."""
    bases = blocks.bases
    low, high = 0, len(bases)
    while high - low > 1:
        middle = (low + high) // 2
        first = blocks.first_whole(bases[middle], 0, blocks.size(bases[middle]))
        if first is None or key(first) >= wanted:
            high = middle
        else:
            low = middle
    return bases[low] if bases else None


def _position(blocks: LogBlocks, segment: int, key: Key, wanted: int) -> int | None:
    low, high = 0, blocks.size(segment)
    # All batches before `low` are too early, and the first one from `high` on is late enough.
    while high - low > BLOCK:
        middle = (low + high) // 2
        batch = blocks.first_whole(segment, middle, high)
        if batch is None or key(batch) >= wanted:
            high = middle
        else:
            low = batch.position + batch.size
    while True:
        block = blocks.forward(segment, low)
        for item in block.items:
            if isinstance(item, RecordBatch) and key(item) >= wanted:
                return item.position
        if not block.items:
            return None
        low = block.end
