"""The finder of the State view as a person uses it: words, a topic, and its place in the tree."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from kraftool.tui.screens.state import StateScreen
from kraftool.tui.widgets.prompt import Prompt
from kraftool.tui.widgets.state_finder import StateFinder
from tests.tui.dashboards import QUORUM, Still, app_of, look_at, press, settled, write
from tests.tui.screens import assert_snapshot, screen

pytestmark = [pytest.mark.tui, pytest.mark.usefixtures("at_the_root"), pytest.mark.slow]
NODE = QUORUM / "node-2/data"
Body = Callable[[Pilot[None], StateScreen], Awaitable[None]]


def run(body: Body, *paths: str | Path, size: tuple[int, int] = (80, 24)) -> None:
    look_at(StateScreen, body, Still(*paths), size)


def _names(view: StateScreen) -> list[str]:
    return [row.name for row in view.query_one(StateFinder).rows]


def _here(view: StateScreen) -> str:
    row = view._tree_lines.row
    return "" if row is None else "/".join(row.path)


def test_f_finds_a_topic_while_one_writes_and_enter_shows_its_partitions() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "f")
        assert len(_names(view)) > 10, "everything, before a word is written"
        await press(pilot, *"orders-")
        assert _names(view)[:2] == ["orders-a", "orders-b"]
        assert_snapshot(app_of(pilot), "state-found-80x24")
        await press(pilot, "enter", "j", "enter")
        assert_snapshot(app_of(pilot), "state-topic-80x24")
        assert "orders-b-4" in screen(app_of(pilot))
        await press(pilot, "j", "j", "y")
        assert app_of(pilot).clipboard.startswith("orders-b-0\t")
        await press(pilot, "enter")
        assert _here(view) == "topics/byName/orders-b/0"
        assert view._tree_lines.has_focus

    run(body, NODE)


def test_escape_goes_back_from_a_topic_to_what_was_found_and_to_the_tree() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "f")
        await write(pilot, "orders-a")
        await press(pilot, "enter")
        assert "orders-a-0" in _names(view)
        await press(pilot, "escape")
        assert _names(view)[0] == "orders-a"
        await press(pilot, "escape")
        assert view._tree_lines.display
        assert not view.query_one(StateFinder).display

    run(body, NODE)


def test_the_mouse_opens_what_was_found() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "f")
        await write(pilot, "broker 11")
        finder = view.query_one(StateFinder)
        at = next(n for n, row in enumerate(finder.rows) if row.name == "11")
        for _ in range(1 + (at != finder.cursor)):
            await pilot.click(finder, offset=(4, at))
            await settled(pilot)
        assert _here(view) == "cluster/brokers/11"

    run(body, NODE)


def test_nothing_that_is_found_is_said_and_leaving_the_prompt_goes_back() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "f")
        await press(pilot, *"zzz")
        assert "nothing has this in its name" in screen(app_of(pilot))
        await press(pilot, "escape")
        assert view._tree_lines.display
        assert not view.query_one(Prompt).display

    run(body, NODE)


def test_another_offset_is_searched_for_the_same_words() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "f")
        await write(pilot, "orders-b")
        assert "orders-b" in _names(view)
        await press(pilot, "o")
        await write(pilot, "5")
        assert _names(view) == [""]
        assert "nothing has this in its name" in screen(app_of(pilot))

    run(body, NODE)


def test_the_card_says_what_is_wrong_at_a_glance() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        shown = screen(app_of(pilot))
        assert "✖ 1 broker, all fenced" in shown
        assert "✖ 18 offline" in shown
        await press(pilot, "c")
        assert "all fenced" not in screen(app_of(pilot)), "a comparison needs the room"

    run(body, NODE, size=(100, 30))
