"""The waits of the core: for the thread that runs it, for the interpreter, for the disk.

Owns the probe. It lets an empty turn be due, again and again, and sees when the core takes it.
Whatever holds the loop, or the event before, holds this turn as it would hold a fetch.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from kraftool.node.metrics import OWN_PREFIX, MetricSample
from kraftool.node.runner import Runner

EVERY_S = 0.1


class RaftWait:
    """Probes a runner until it is closed."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._probing: asyncio.Task[None] | None = None
        self.longest_ms = 0.0

    def start(self) -> None:
        self._probing = asyncio.get_running_loop().create_task(self._probe_for_ever())

    async def close(self) -> None:
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)

    def samples(self) -> Iterator[MetricSample]:
        yield MetricSample(
            OWN_PREFIX + "raft_wait_ms_max", "gauge",
            "The longest time that something due waited for the core, in milliseconds",
            round(self.longest_ms, 1),
        )  # fmt: skip

    async def _probe_for_ever(self) -> None:
        while True:
            due = time.monotonic() + EVERY_S
            await asyncio.sleep(EVERY_S)
            await self._runner.reached()
            self.longest_ms = max(self.longest_ms, (time.monotonic() - due) * 1000)
