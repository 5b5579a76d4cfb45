"""Connections that are refused, and when they are tried again.

Owns Kafka's reconnect backoff between controllers: a node whose listener is not open yet is asked
again later and later, and requests fail at once until then.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from kraftool.raft.roles import NEVER

_FIRST_MS, _LONGEST_MS = 50, 500
"""Kafka's raft client does not read these from its configuration."""
_JITTER_PERCENT = 20


class Links:
    """The connections of all nodes; each direction has its own."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._refused: dict[tuple[int, int], tuple[int, int]] = {}
        """(asker, asked): how often in a row, and when it is tried again."""

    def connects(self, asker: int, asked: int, now_ms: int, *, is_listening: bool) -> bool:
        """Try to connect, unless it was refused a moment ago. Return whether it succeeds."""
        refused = self._refused.get((asker, asked))
        if refused is not None and now_ms < refused[1]:
            return False
        if is_listening:
            if refused is not None:
                del self._refused[asker, asked]
            return True
        times = 0 if refused is None else refused[0]
        pause = min(_FIRST_MS << min(times, 10), _LONGEST_MS)
        pause += pause * self._random.randint(-_JITTER_PERCENT, _JITTER_PERCENT) // 100
        self._refused[asker, asked] = (times + 1, now_ms + pause)
        return False

    def next_try_ms(self, asker: int, others: Iterable[int], now_ms: int) -> int:
        """Return when the asker connects to any of the others again."""
        soonest = NEVER
        for other in others:
            refused = self._refused.get((asker, other))
            if refused is None or refused[1] <= now_ms:
                return now_ms
            soonest = min(soonest, refused[1])
        return soonest
