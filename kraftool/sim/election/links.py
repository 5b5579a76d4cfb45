"""Connections that are refused, and when they are tried again.

Owns Kafka's reconnect backoff between controllers: a node whose listener is not open yet is asked
again later and later, and requests fail at once until then. It refuses to know what is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

_FIRST_MS, _LONGEST_MS = 50, 500
"""Kafka's raft client does not read these from its configuration."""
_JITTER_PERCENT = 20


class Links:
    """The connections of all nodes; each direction has its own."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._refused: dict[tuple[int, int], tuple[int, int]] = {}
        """(asker, asked): how often in a row, and when it is tried again."""

    def is_tried(self, asker: int, asked: int, now_ms: int) -> bool:
        """True if the asker connects now; False while it waits after a refusal."""
        refused = self._refused.get((asker, asked))
        return refused is None or now_ms >= refused[1]

    def refused(self, asker: int, asked: int, now_ms: int) -> None:
        """A connection was tried, and nobody listened."""
        times = self._refused.get((asker, asked), (0, 0))[0]
        pause = min(_FIRST_MS << min(times, 10), _LONGEST_MS)
        pause += pause * self._random.randint(-_JITTER_PERCENT, _JITTER_PERCENT) // 100
        self._refused[asker, asked] = (times + 1, now_ms + pause)

    def connected(self, asker: int, asked: int) -> None:
        self._refused.pop((asker, asked), None)

    def next_try_ms(self, asker: int, others: Iterable[int], now_ms: int) -> int:
        """Return when the asker connects to any of the others again."""
        pairs = (self._refused.get((asker, each), (0, now_ms))[1] for each in others)
        return max(min(pairs, default=now_ms), now_ms)
