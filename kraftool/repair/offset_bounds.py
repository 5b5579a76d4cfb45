"""The bounds of the offsets behind a break in a log.

Owns which batches are believed. A batch's offset and epoch lie outside of its CRC: a flipped bit in
one leaves a batch that is whole, and far from where it belongs. What comes next tells; and as no
record is smaller than a byte, no segment goes further than its size. It refuses to say too little:
a new quorum begins beyond all of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class OffsetBounds:
    """One beyond the last offset that there was, batch by batch in the order of the files."""

    line: int
    """Where the next batch begins, if all is well."""
    end: int = 0
    _doubted: tuple[int, int] | None = None
    """Where the last batch ends by what it says, and by its place; None where both agree."""

    def take(self, first: int, last: int, *, farthest: int, is_valid: bool) -> None:
        """A batch; `farthest` is where its segment can end."""
        if self._doubted is not None:
            nearest, most = min(self._doubted), max(self._doubted)
            is_between = self.line < first < most
            self._settle(first if first == nearest or is_between else most)
        count = max(last - first, 0) + 1
        by_place = min(self.line + count, farthest)
        claimed_end = first + count
        if not 0 <= claimed_end <= farthest:
            claimed_end = by_place
        if claimed_end == by_place and is_valid:
            self._settle(claimed_end)
        else:
            self._doubted = (claimed_end, by_place)

    def can_take_all(self, first: int, last: int, *, farthest: int) -> bool:
        """True if valid batches that follow on each other leave no doubt."""
        return self._doubted is None and first == self.line and last < farthest

    def take_all(self, last: int) -> None:
        """Take batches that `can_take_all` allows, up to an offset."""
        self._settle(last + 1)

    def lost(self) -> None:
        """Bytes that are no batch: there was a record in them at least."""
        self.ended()
        self._settle(self.line + 1)

    def ended(self) -> None:
        """Nothing more comes that could tell."""
        if self._doubted is not None:
            self._settle(max(self._doubted))

    def _settle(self, end: int) -> None:
        self._doubted = None
        self.line = end
        self.end = max(self.end, end)
