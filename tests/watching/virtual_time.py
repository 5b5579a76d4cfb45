"""An event loop whose time passes at once, and nodes that answer in it after a delay.

Owns the clock of such a test. Minutes of a dashboard run in a second, and the same each time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from kraftool.client.asking import Access
from kraftool.client.model import NodeAnswer
from kraftool.client.target import Target
from kraftool.net.errors import ConnectError, Failure, RequestTimeoutError
from kraftool.raft.names import Endpoint
from kraftool.watching import lateness as lateness_module
from kraftool.watching import pool as pool_module
from kraftool.watching import watcher as watcher_module
from kraftool.watching.picture import Picture
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Watcher
from tests.client.views import described, endpoint, node, replica

T = TypeVar("T")
BEGAN_MS = 1_700_000_000_000
REFUSES, SILENT = "refuses", "silent"


class _Jumping(selectors.DefaultSelector):
    """Goes on to the next timer at once, if nothing else is to be done."""

    moment_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout if timeout is None else 0)
        if not ready and timeout:
            self.moment_s += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop with the time of its selector."""

    def __init__(self) -> None:
        self._clock = _Jumping()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.moment_s

    def jump(self, seconds: float) -> None:
        """Let time pass while nothing runs, as while a process is stopped."""
        self._clock.moment_s += seconds


@dataclass(slots=True)
class SlowQuorum:
    """Three voters; node 1 leads epoch 5 and commits. Each has a round trip of its own."""

    round_trip_s: Callable[[int, float], float | str]
    """Of a node at a moment; or REFUSES or SILENT."""
    loop: VirtualLoop = field(default_factory=VirtualLoop)
    leader: int = 1
    epoch: int = 5

    @property
    def now_ms(self) -> int:
        return BEGAN_MS + int(self.loop.time() * 1000)

    async def passes(self, number: int, timeout_s: float, trips: int = 1) -> None:
        """Wait for an answer of a node, or raise what a connection raises."""
        wait = self.round_trip_s(number, self.loop.time())
        where = endpoint(number)
        if wait == REFUSES:
            raise ConnectError(f"{where}: connection refused", failure=Failure.REFUSED)
        if wait == SILENT:
            await asyncio.sleep(timeout_s)
            raise RequestTimeoutError(
                f"{where}: no answer within {timeout_s:g} s", failure=Failure.TIMED_OUT
            )
        assert isinstance(wait, float)
        await asyncio.sleep(trips * wait)

    def answer(self, number: int, answer: NodeAnswer) -> NodeAnswer:
        clock = self.now_ms
        end = 100 + int(self.loop.time())
        voters = [
            replica(
                n,
                end=end,
                fetched=clock - 100
                if isinstance(self.round_trip_s(n, self.loop.time()), float) or n == self.leader
                else -1,
            )
            for n in (1, 2, 3)
        ]
        voters[self.leader - 1] = replace(voters[self.leader - 1], last_fetch_timestamp=clock)
        quorum = described(voters, mark=end, epoch=self.epoch, leader=self.leader)
        said = node(
            number,
            leader=self.leader,
            epoch=self.epoch,
            quorum=quorum if number == self.leader else None,
            runs_controller=True,
        )
        return replace(said, endpoint=answer.endpoint, asked_ms=answer.asked_ms)

    def pictures(self, seconds: float, monkeypatch: pytest.MonkeyPatch) -> list[Picture]:
        """Return every picture of a dashboard that runs for so long."""
        loop = self.loop
        clock = SimpleNamespace(monotonic=loop.time, time=lambda: self.now_ms / 1000)
        for module in (pool_module, watcher_module, lateness_module):
            monkeypatch.setattr(module, "time", clock)
        monkeypatch.setattr(pool_module, "connect", self._connect)
        monkeypatch.setattr(pool_module, "answered", self._answered)
        target = Target(bootstrap=(endpoint(1),), access=Access(timeout_s=5))
        seen: list[Picture] = []

        async def watch() -> None:
            watcher = Watcher(Sources(target=target))
            running = asyncio.create_task(watcher.run(seen.append))
            await asyncio.sleep(seconds)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

        _run(loop, watch())
        return seen

    async def _connect(
        self, where: Endpoint, *_: object, timeout_s: float, **__: object
    ) -> SimpleNamespace:
        number = int(where.host.removeprefix("ctl-"))
        await self.passes(number, timeout_s, trips=2)

        async def agree() -> None:
            await self.passes(number, timeout_s)

        async def close() -> None:
            pass

        return SimpleNamespace(
            endpoint=where,
            is_open=True,
            offered=node(number, runs_controller=True).offered,
            agree=agree,
            close=close,
            number=number,
        )

    async def _answered(self, connection: Any, answer: NodeAnswer, timeout_s: float) -> NodeAnswer:
        try:
            await self.passes(connection.number, timeout_s)
        except Exception:
            connection.is_open = False
            raise
        return self.answer(connection.number, answer)


def _run(loop: VirtualLoop, main: Coroutine[Any, Any, T]) -> T:
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main)
    finally:
        asyncio.set_event_loop(None)
        loop.close()
