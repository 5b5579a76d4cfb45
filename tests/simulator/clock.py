"""A node's own clock, which runs faster or slower than the world's, and may jump forwards."""

from __future__ import annotations

PER_MILLE = 1000


class Clock:
    """Maps the world's time to the node's and back, in whole milliseconds."""

    __slots__ = ("_from", "_offset", "_rate")

    def __init__(self, offset_ms: int = 0, rate: int = PER_MILLE) -> None:
        self._from, self._offset, self._rate = 0, offset_ms, rate

    def local(self, now_ms: int) -> int:
        return self._offset + (now_ms - self._from) * self._rate // PER_MILLE

    def world(self, local_ms: int) -> int:
        """The first moment of the world at which this clock shows a time."""
        return self._from - (self._offset - local_ms) * PER_MILLE // self._rate

    def change(self, now_ms: int, *, rate: int, jump_ms: int = 0) -> None:
        """Run at another rate from now on. It never goes backwards."""
        self._offset, self._from = self.local(now_ms) + jump_ms, now_ms
        self._rate = rate
