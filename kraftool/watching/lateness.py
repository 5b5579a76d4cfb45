"""The delays of this process itself: on a busy machine, or while it was stopped.

Owns the measurement. Whatever seems late of a node is only known while this process is on time.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field

_EVERY_S = 0.1
LATE_S = 0.5
"""A turn of the loop that is this late delays a poll noticeably."""
_MOST = 100


@dataclass(slots=True)
class Lateness:
    """The delays of the event loop."""

    _delays: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_MOST))
    """When each delay ended, and how long it was."""

    async def measure(self) -> None:
        """Note each delay, until cancelled."""
        while True:
            due = now() + _EVERY_S
            await asyncio.sleep(_EVERY_S)
            self.note(now() - due)

    def note(self, delay_s: float) -> None:
        """Note a delay that ends now, if it is one."""
        if delay_s >= LATE_S:
            self._delays.append((now(), delay_s))

    def since(self, moment_s: float) -> float:
        """Return the seconds that this process was late since a moment of `now`."""
        return sum(delay_s for ended_s, delay_s in self._delays if ended_s > moment_s)


def now() -> float:
    return time.monotonic()
