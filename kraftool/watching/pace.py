"""How often what takes long is read again: the more seldom, the longer it takes.

Owns the rule for directories that are examined, and for what is read of a live leader.
"""

from __future__ import annotations

_SHARE = 20
"""Reading may take one part in so many of the time."""
_SHORTEST_MS = 10_000


def is_due(at_ms: int, took_ms: int, now_ms: int) -> bool:
    """Whether what changed is worth another reading yet; the last one began at `at_ms`."""
    return now_ms - at_ms - took_ms >= max(_SHORTEST_MS, _SHARE * took_ms)
