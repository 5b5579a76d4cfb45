"""Progress as a line now and then, for stderr that no terminal shows.

Owns how often a line comes, and its words. A short run has none.
"""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY_S = 60.0


class ProgressLines:
    """Takes the same reports as a bar; `say` gets a line a minute at most."""

    def __init__(
        self,
        say: Callable[[str], None],
        unit: str = "tasks",
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say, self._unit, self._clock = say, unit, clock
        self._began = self._said = clock()

    def __call__(self, label: str, done: int, total: int) -> None:
        now = self._clock()
        if now - self._said < EVERY_S:
            return
        self._said = now
        minutes = int(now - self._began) // 60
        of_all = f"{done} of {total} {self._unit} done, " if total else ""
        self._say(f"{label}: {of_all}{minutes} min so far")
