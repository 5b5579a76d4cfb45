"""java.util.Random and Collections.shuffle, so that both controllers draw the same."""

from __future__ import annotations

from typing import TypeVar

_T = TypeVar("_T")
_MASK = (1 << 48) - 1
_FACTOR = 0x5DEECE66D


class JavaRandom:
    """java.util.Random, as far as the placement of replicas uses it."""

    def __init__(self, seed: int) -> None:
        self._seed = (seed ^ _FACTOR) & _MASK

    def _next_31_bits(self) -> int:
        self._seed = (self._seed * _FACTOR + 0xB) & _MASK
        return self._seed >> 17

    def below(self, bound: int) -> int:
        if bound & (bound - 1) == 0:
            return bound * self._next_31_bits() >> 31
        while True:
            bits = self._next_31_bits()
            value = bits % bound
            if bits - value + bound - 1 < 1 << 31:
                return value

    def shuffle(self, items: list[_T]) -> None:
        for count in range(len(items), 1, -1):
            at = self.below(count)
            items[count - 1], items[at] = items[at], items[count - 1]
