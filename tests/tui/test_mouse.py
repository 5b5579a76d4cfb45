"""The mouse does what the keys do: each footer key, the help, dialogs, prompts and tasks."""

from __future__ import annotations

import asyncio

import pytest
from textual.events import MouseScrollLeft, MouseScrollRight
from textual.pilot import Pilot
from textual.widgets import Input
from textual.widgets._footer import FooterKey

from kraftool.tui.details import Working
from kraftool.tui.dialogs import Export, Help
from kraftool.tui.views import VIEWS
from kraftool.tui.widgets.detail_lines import DetailLines
from kraftool.tui.widgets.lines import Lines
from kraftool.watching.task import Task
from tests.tui.dashboards import QUORUM, Still, app_of, dashboard, press, settled, shown

pytestmark = [pytest.mark.usefixtures("at_the_root"), pytest.mark.slow]

_ASKING = {
    "log": ("Filter", "Go to"),
    "state": ("Find", "Go to"),
    "timeline": ("Filter",),
    "what_if": ("Cut",),
}
"""The keys of the footer that open a line to write in."""


async def _click(pilot: Pilot[None], description: str) -> None:
    """Click a key of the footer that is seen."""
    keys = [*pilot.app.screen.query(FooterKey).results()]
    key = next(key for key in keys if key.description == description)
    assert key.region.right <= pilot.app.size.width, f"{description} is cut off"
    await pilot.click(offset=key.region.offset)
    await settled(pilot)


def _offered(pilot: Pilot[None]) -> list[str]:
    return [key.description for key in pilot.app.screen.query(FooterKey).results()]


@pytest.mark.parametrize("view", [view.name for view in VIEWS])
def test_lines_and_dialogs_of_a_view_open_and_close_by_click(view: str) -> None:
    async def steps() -> None:
        async with dashboard(Still(QUORUM / "node-2/data"), view) as pilot:
            app = app_of(pilot)
            for name in ("Search", *_ASKING.get(view, ())):
                await _click(pilot, name)
                assert isinstance(app.focused, Input), name
                assert _offered(pilot) == ["Accept", "Cancel"], "no letters are typed by a click"
                await _click(pilot, "Cancel")
                assert not isinstance(app.focused, Input), name
            await _click(pilot, "Search")
            await pilot.press("z")
            await _click(pilot, "Accept")
            assert not isinstance(app.focused, Input)
            await _click(pilot, "Help")
            assert isinstance(app.screen, Help)
            await _click(pilot, "Close")
            await _click(pilot, "Export")
            assert isinstance(app.screen, Export)
            await _click(pilot, "Cancel")
            await _click(pilot, "Pause")
            assert app.is_paused

    asyncio.run(steps())


def test_a_click_on_a_running_task_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps() -> None:
        async with dashboard(Still(QUORUM / "node-2/data"), "log") as pilot:
            pressed: list[str] = []
            monkeypatch.setattr(pilot.app, "simulate_key", pressed.append)
            working = pilot.app.query_one(Working)
            for can_stop in (False, True):
                working.follow(Task(), "reading", can_stop=can_stop)
                await pilot.pause()
                await pilot.click(Working)
                assert pressed == (["x"] if can_stop else [])

    asyncio.run(steps())


def test_a_wheel_moves_rows_sideways() -> None:
    async def steps() -> None:
        async with dashboard(Still(QUORUM / "node-2/data"), "log") as pilot:
            lines = pilot.app.query_one(Lines)
            for event, moved in ((MouseScrollRight, True), (MouseScrollLeft, False)):
                lines.post_message(event(lines, 1, 1, 0, 0, 0, False, False, False))
                await settled(pilot)
                assert bool(lines.left) is moved

    asyncio.run(steps())


@pytest.mark.parametrize("size", [(80, 24), (164, 40)])
@pytest.mark.parametrize("view", ["log", "state", "timeline"])
def test_a_click_on_its_border_closes_the_details(view: str, size: tuple[int, int]) -> None:
    async def steps() -> None:
        async with dashboard(Still(QUORUM / "node-2/data"), view, size) as pilot:
            detail = pilot.app.query_one(DetailLines)
            if view == "state":
                await press(pilot, *"jjjjjjj")  # a leaf of the tree
            await press(pilot, "enter")
            assert detail.display
            line = next(line for line in shown(pilot).splitlines() if "✕ Close (Esc)" in line)
            await pilot.click(offset=(line.index("✕"), detail.region.y))
            await settled(pilot)
            assert not detail.display
            assert isinstance(pilot.app.focused, Lines), "keys go to the list again"

    asyncio.run(steps())


def test_a_click_on_a_line_of_the_details_goes_to_that_line() -> None:
    async def steps() -> None:
        async with dashboard(Still(QUORUM / "node-2/data"), "log") as pilot:
            await press(pilot, "enter")
            detail = pilot.app.query_one(DetailLines)
            await pilot.click(DetailLines, offset=(1, 3))  # the border is line 0
            await settled(pilot)
            assert detail.cursor == 2

    asyncio.run(steps())
