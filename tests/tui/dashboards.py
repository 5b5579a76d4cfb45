"""The dashboard over directories of real Kafka, with one picture that stands still.

Owns waiting until all that was asked is answered. The picture says nothing of its own about the
directories: views that read them do so themselves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from textual.pilot import Pilot
from textual.widgets import Input, Static

from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.tui.app import WatchApp
from kraftool.tui.frame import PictureSource
from kraftool.tui.view import View
from kraftool.tui.views import VIEWS
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import NO_HISTORY, Picture, WatchHistory
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Shown
from tests.support.places import FIXTURES
from tests.tui.screens import screen

ROOT = FIXTURES.parent
QUORUM = Path("fixtures/kafka-4.3.0/dynamic-quorum")
"""Below ROOT, since screens show paths as they were given."""
DAMAGED = tuple(
    Path("fixtures/damaged") / name
    for name in (
        "absurd-record-length",
        "broken-quorum-state",
        "empty-files",
        "flipped-bit-in-record",
        "garbage-log",
        "torn-tail",
        "truncated-snapshot",
        "wrong-cluster-id",
    )
)
"""One of each kind; a log is looked at with every one of them."""
AT_MS = 1_795_234_400_000
PATIENCE_S = 120
"""For processes that begin on a machine that is busy."""


Seen = TypeVar("Seen", bound=View)


class Still:
    """A watcher whose picture changes when the test says so."""

    def __init__(
        self, *paths: str | Path, history: WatchHistory = NO_HISTORY, target: Target | None = None
    ) -> None:
        self.sources = Sources(target=target, directories=tuple(map(str, paths)))
        self.history = history
        self.view = None if target is None else QuorumView(nodes=())
        self.number = 0
        self._show: Shown | None = None

    def _picture(self) -> Picture:
        looks = tuple(
            DirectoryReading(path=directory, at_ms=AT_MS, stamp=(self.number,))
            for directory in self.sources.directories
        )
        return Picture(
            at_ms=AT_MS,
            view=self.view,
            directories=looks,
            history=self.history,
        )

    async def run(self, show: Shown) -> None:
        self._show = show
        show(self._picture())
        await asyncio.Event().wait()

    def poll_now(self) -> None:
        """A file has changed."""
        self.number += 1
        if self._show is not None:
            self._show(self._picture())


def app_of(pilot: Pilot[None]) -> WatchApp:
    assert isinstance(pilot.app, WatchApp)
    return pilot.app


def shown(pilot: Pilot[None]) -> str:
    """The screen as text."""
    return screen(app_of(pilot))


def told(pilot: Pilot[None]) -> str:
    """What is said at the bottom, however wide the screen is."""
    return str(pilot.app.query_one("#told", Static).content)


async def settled(pilot: Pilot[None]) -> None:
    """Wait until there is a picture, nothing is being read any more, and all of it is shown."""
    app, calm = app_of(pilot), 0
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        # All messages are handled then. Not to wait for an idle processor: that takes real time,
        # and what is asked for is known here.
        await pilot.pause(0)
        busy = [worker for worker in app.workers if worker.name != "watcher"]
        is_calm = app.picture is not None and all(worker.is_finished for worker in busy)
        calm = calm + 1 if is_calm else 0
        if calm == 3:
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"still working: {[worker.name for worker in app.workers]}")


async def until_shown(pilot: Pilot[None], words: str) -> None:
    """Wait for words on the screen while something is still being done."""
    deadline = time.monotonic() + PATIENCE_S
    while words not in shown(pilot):
        assert time.monotonic() < deadline, f"waited for {words!r} in vain:\n{shown(pilot)}"
        await pilot.pause(0.01)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each when what the one before it asked for is there."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def write(pilot: Pilot[None], words: str) -> None:
    """Write into what asks, the last letter as a key, and hand it over."""
    asking = pilot.app.focused
    assert isinstance(asking, Input), f"{asking} asks for nothing"
    asking.value += words[:-1]
    asking.cursor_position = len(asking.value)
    await pilot.press(words[-1])
    await press(pilot, "enter")


@asynccontextmanager
async def dashboard(
    watcher: PictureSource, view: str, size: tuple[int, int] = (80, 24), theme: str = ""
) -> AsyncIterator[Pilot[None]]:
    """The app with a view that has read what it shows."""
    app = WatchApp(watcher, view=view, theme=theme, environment={})
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


def look_at(
    screen: type[Seen],
    body: Callable[[Pilot[None], Seen], Awaitable[None]],
    watcher: PictureSource,
    size: tuple[int, int] = (80, 24),
    theme: str = "",
) -> None:
    """Do something with a view that has read what it shows."""
    name = next(view.name for view in VIEWS if view.cls == screen.__name__)

    async def inner() -> None:
        async with dashboard(watcher, name, size, theme) as pilot:
            await body(pilot, pilot.app.query_one(screen))

    asyncio.run(inner())
