"""Looks again and again, and hands over a picture each time.

Owns the rhythm. A node that is slow, and a directory that is large, never hold up a picture: what
is known by then is in it. Directories are looked at in a thread, so that whoever shows pictures
can go on meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from kraftool.client.model import QuorumView
from kraftool.client.second_poll import second_poll
from kraftool.client.thresholds import POLLS_APART_S
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import Remembering
from kraftool.watching.pool import PATIENCE_S, Pool
from kraftool.watching.sources import Sources

Shown = Callable[[Picture], None]
"""Takes a picture, on the loop that runs the watcher."""
_POLL_S = 0.8
"""How long a picture waits for directories."""


class Watcher:
    """Watches the sources. One run at a time."""

    def __init__(
        self, sources: Sources, *, interval_s: float = 1.0, patience_s: float | None = PATIENCE_S
    ) -> None:
        """`patience_s`: how long a picture waits for a node; None for as long as its timeout."""
        self.sources = sources
        self.interval_s = interval_s
        self._pool = Pool(patience_s=patience_s)
        self._shown_s: float | None = None
        """When the last picture was made."""
        self._directories = [DirectoryWatch(directory) for directory in sources.directories]
        self._readings = [
            DirectoryReading(path=directory, at_ms=0, is_complete=False)
            for directory in sources.directories
        ]
        self._reading: asyncio.Task[None] | None = None
        self._remembering = Remembering()
        self._wake = asyncio.Event()

    async def run(self, show: Shown) -> None:
        """Hand over a picture every interval, until cancelled."""
        measuring = asyncio.create_task(self._pool.lateness.measure())
        try:
            while True:
                self._wake.clear()
                began = time.monotonic()
                show(await self.poll())
                rest = self.interval_s - (time.monotonic() - began)
                with suppress(TimeoutError):
                    async with asyncio.timeout(max(rest, 0.0)):
                        await self._wake.wait()
        finally:
            measuring.cancel()
            await self.close()

    def poll_now(self) -> None:
        """Do not wait for the next turn."""
        self._wake.set()

    async def poll(self) -> Picture:
        """One picture."""
        view, _ = await asyncio.gather(self._survey(), self._read_directories())
        return self._picture(view)

    def _picture(self, view: QuorumView | None) -> Picture:
        at_ms = int(time.time() * 1000)
        readings = tuple(self._readings)
        now_s, last_s = time.monotonic(), self._shown_s
        self._shown_s = now_s
        late_s = 0.0 if last_s is None else self._pool.lateness.since(last_s)
        late_ms = round(late_s * 1000)
        return Picture(
            at_ms=at_ms,
            view=view,
            directories=readings,
            history=self._remembering.take(at_ms, view, readings, late_ms=late_ms),
            late_ms=late_ms,
        )

    async def whole(self, timeout_s: float) -> Picture:
        """A picture for which everyone was waited for, for whoever takes only one. Live nodes are
        asked twice, as `quorum health` does."""
        self._pool.patience_s = None
        ends = time.monotonic() + timeout_s
        before, _ = await asyncio.gather(self._survey(), self._read_directories())
        pause = asyncio.create_task(asyncio.sleep(POLLS_APART_S))
        while time.monotonic() < ends and not all(
            reading.is_complete for reading in self._readings
        ):
            await self._read_directories()
        if before is None or not before.reached:
            pause.cancel()
            return self._picture(before)
        await pause
        picture = self._picture(await second_poll(self, before))
        return replace(picture, history=replace(picture.history, before=before))

    async def survey(self) -> QuorumView:
        """Ask the live nodes once more."""
        view = await self._survey()
        assert view is not None, "the caller has asked live nodes before"
        return view

    async def _survey(self) -> QuorumView | None:
        target = self.sources.target
        if target is None:
            return None
        return await target.survey(self._pool.ask)

    async def _read_directories(self) -> None:
        """Look at directories; a poll that takes long goes on, and counts in a later picture."""
        if not self._directories:
            return
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_all())
        await asyncio.wait((self._reading,), timeout=_POLL_S)
        if self._reading.done():
            self._reading.result()
            self._reading = None

    async def _read_all(self) -> None:
        for number, directory in enumerate(self._directories):
            self._readings[number] = await asyncio.to_thread(directory.read)

    async def close(self) -> None:
        """End connections and whatever is still under way."""
        await self._pool.close()
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
            self._reading = None
