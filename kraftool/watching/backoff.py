"""The pauses between readings that take long: the longer a reading, the longer its pause.

Owns how much more seldom, for directories that are examined and for the log of a live leader.
"""

from __future__ import annotations

PATIENCE = 20
"""What took a second to read is read again after so many."""
_SHORTEST_MS = 10_000


def is_due(at_ms: int, took_ms: int, now_ms: int) -> bool:
    """True if changes are worth another reading by now; the last one began at `at_ms`."""
    return now_ms - at_ms - took_ms >= max(_SHORTEST_MS, PATIENCE * took_ms)
