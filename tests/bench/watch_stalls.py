"""Measures how long the dashboard's loop stalls while a user works with large data.

    python tests/bench/watch_stalls.py --log DIRECTORY --state DIRECTORY

Searches and filters a large log, opens, finds and searches a large state, and asks What if of 5
controllers and 100 observers. A stall is the time that the loop's own thread computed between two
turns: what other threads and programs take meanwhile does not count. 100 ms is the limit that a
user does not notice. It also prints the time by the clock until a view names its phase.
Owns the actions; it refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from textual.pilot import Pilot
from textual.widgets import Static

from kraftool.tui.app import WatchApp
from kraftool.tui.details import Working
from kraftool.tui.frame import PictureSource
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import Remembering
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Shown, Watcher
from tests.bench.watch import COLUMNS, LINES, live_view

_ACTION_S = 60.0
"""An action that takes longer is stopped with the key x."""
_CALM_S = 2.0
"""Seconds without a worker after which an action is over: one worker may begin another."""


@dataclass(slots=True)
class Stalls:
    """The longest stall of one action, and its times."""

    action: str
    longest_ms: float = 0.0
    phase_after_ms: float | None = None
    """None if no phase was shown: the result came first."""
    took_s: float = 0.0


class _OnePicture:
    """A live quorum of 105 nodes that stands still."""

    sources = Sources()

    def poll_now(self) -> None:
        pass

    async def run(self, show: Shown) -> None:
        view = live_view(1_000_000)
        show(Picture(at_ms=0, view=view, history=Remembering().take(0, view, ())))
        await asyncio.Event().wait()


async def _measured(pilot: Pilot[None], action: str, keys: Sequence[str]) -> Stalls:
    """Press the keys one after the other, and watch the loop until no work is left."""
    app, stalls = pilot.app, Stalls(action)
    assert isinstance(app, WatchApp)
    began, pending = time.monotonic(), list(keys)
    busy_at = began
    while time.monotonic() - busy_at < _CALM_S and time.monotonic() - began < _ACTION_S:
        if pending:
            app.simulate_key(pending.pop(0))
        before = time.thread_time()
        await asyncio.sleep(0.001)
        stalls.longest_ms = max(stalls.longest_ms, (time.thread_time() - before) * 1000)
        lines = [line for line in app.query(Working).results() if line.display]
        if lines and stalls.phase_after_ms is None and not pending:
            stalls.phase_after_ms = (time.monotonic() - began) * 1000
        workers = [worker for worker in app.workers if worker.name != "watcher"]
        is_opening = app.seen is None or "opening" in str(app.query_one("#told", Static).content)
        if pending or is_opening or not all(worker.is_finished for worker in workers):
            busy_at = time.monotonic()
    stalls.took_s = busy_at - began
    app.simulate_key("x")
    await pilot.pause(0.2)
    return stalls


def _run(watcher: PictureSource, actions: Sequence[tuple[str, Sequence[str]]]) -> list[Stalls]:
    measured: list[Stalls] = []

    async def run() -> None:
        app = WatchApp(watcher, environment={})
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            while app.picture is None:
                await pilot.pause(0.05)
            for action, keys in actions:
                measured.append(await _measured(pilot, action, keys))

    asyncio.run(run())
    return measured


def _typed(words: str) -> list[str]:
    names = {"-": "minus", ":": "colon"}
    return [names.get(letter, letter) for letter in words]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--log", help="a data directory with a large log")
    parser.add_argument("--state", help="a data directory with a large state")
    asked = parser.parse_args()
    measured: list[Stalls] = []
    if asked.log:
        measured += _run(
            Watcher(Sources(directories=(asked.log,))),
            [
                ("Log", ["2"]),
                ("Log, search", ["g", "slash", *_typed("nowhere"), "enter"]),
                ("Log, filter", ["f", *_typed("nowhere"), "enter"]),
            ],
        )
    if asked.state:
        measured += _run(
            Watcher(Sources(directories=(asked.state,))),
            [
                ("State", ["3"]),
                ("State, find", ["f", *_typed("topic-99"), "enter"]),
                ("State, search", ["escape", "slash", *_typed("nowhere"), "enter"]),
            ],
        )
    measured += _run(
        _OnePicture(),
        [("What if of 105 nodes", ["8"]), ("What if, lose a node", ["space"])],
    )
    for stalls in measured:
        phase = (
            "result first" if stalls.phase_after_ms is None else f"{stalls.phase_after_ms:.0f} ms"
        )
        print(
            f"{stalls.action}: the loop computed at most {stalls.longest_ms:.0f} ms (100) without"
            f" turning; phase after {phase}; took {stalls.took_s:.1f} s"
        )


if __name__ == "__main__":
    main()
