"""Dice of a run: the numbers of `Random.randrange`, without its checks, and a record of them.

Owns nothing but the drawing.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random


class Dice:
    """Random numbers, of which the last one can be drawn again."""

    __slots__ = ("_bits", "_next", "drawn", "number", "stop")

    def __init__(self, random: Random) -> None:
        self._bits = random.getrandbits
        self.drawn = 0
        """Count of the numbers that were drawn."""
        self.stop = self.number = 0
        """The last of them, and what it is below."""
        self._next: int | None = None

    def randrange(self, stop: int, /) -> int:
        """Return a number from 0 on, below `stop`, which is at least 1."""
        number = self._next
        if number is None:
            width = stop.bit_length()
            number = self._bits(width)
            while number >= stop:
                number = self._bits(width)
        else:
            self._next = None
        self.drawn += 1
        self.stop, self.number = stop, number
        return number

    def give_back(self) -> None:
        """Let the next draw be the last one again. It has to be below the same number."""
        self.drawn -= 1
        self._next = self.number


def endless(random: Random, stop: int) -> Iterator[int]:
    """Yield the numbers of `Random.randrange(stop)`, one after the other."""
    bits, width = random.getrandbits, stop.bit_length()
    while True:
        number = bits(width)
        if number < stop:
            yield number
