"""A log as batches: found by offset, cut at the end, dropped at the start.

Owns that list, for a node's memory, for its disk and for what is known to be committed. Batches are
shared between nodes, never copied: the same records are the same object.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from kraftool.raft.records import Batch


class Batches:
    """Batches in the order of their offsets, without a gap."""

    __slots__ = ("bases", "end", "items", "start")

    def __init__(self, items: Iterable[Batch] = (), start: int = 0) -> None:
        self.items = list(items)
        self.bases = [item.base_offset for item in self.items]
        self.start = start
        self.end = self.items[-1].last_offset + 1 if self.items else start

    def append(self, batch: Batch) -> None:
        self.items.append(batch)
        self.bases.append(batch.base_offset)
        self.end = batch.last_offset + 1

    def truncate(self, offset: int) -> list[Batch]:
        """Drop the batches that reach beyond an offset, and give them."""
        at = bisect_left(self.bases, offset)
        if at and self.items[at - 1].last_offset >= offset:
            at -= 1
        dropped = self.items[at:]
        del self.items[at:], self.bases[at:]
        self.end = self.items[-1].last_offset + 1 if self.items else self.start
        return dropped

    def clean(self, offset: int) -> None:
        """Drop the batches that lie wholly below an offset."""
        at = bisect_left(self.bases, offset)
        del self.items[:at], self.bases[:at]
        self.start = offset
        self.end = max(self.end, offset)

    def holding(self, offset: int) -> Batch | None:
        """The batch that has an offset."""
        at = bisect_right(self.bases, offset) - 1
        batch = self.items[at] if at >= 0 else None
        return batch if batch is not None and batch.last_offset >= offset else None

    def between(self, start: int, end: int) -> list[Batch]:
        """The batches from the one that has an offset, or begins next, to those before another."""
        at = bisect_right(self.bases, start) - 1
        if at < 0 or self.items[at].last_offset < start:
            at += 1
        return self.items[at : bisect_left(self.bases, end)]
