"""A search in the Log view: what it says while it goes on, and when it is stopped."""

from __future__ import annotations

import re
import threading

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from kraftool.reports.browse import feed as feed_module
from kraftool.tui.screens.log import LogScreen
from tests.tui.dashboards import (
    PATIENCE_S,
    QUORUM,
    Still,
    look_at,
    press,
    settled,
    shown,
    told,
    until_shown,
)

pytestmark = [pytest.mark.tui, pytest.mark.usefixtures("at_the_root")]


def test_a_search_says_at_once_what_it_does_and_x_stops_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_go_on = threading.Event()

    def find(feed: object, text: str, place: object, step: int) -> tuple[None, object]:
        may_go_on.wait(PATIENCE_S)
        return None, place  # nothing in this part of the log

    monkeypatch.setattr(feed_module.LogFeed, "find", find)

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        monkeypatch.setattr(view.lines, "find", lambda *_: False)
        await press(pilot, "g", "slash")
        view.watch_app.query_one("#search", Input).value = "nowhere"
        await pilot.press("enter")
        await until_shown(pilot, "looking for 'nowhere'")
        line = next(row for row in shown(pilot).splitlines() if "looking for 'nowhere'" in row)
        assert re.search(r"\d\.\d s   x stops it", line), "how long it has run, before any result"
        await pilot.press("x")
        may_go_on.set()
        await settled(pilot)
        assert told(pilot) == "stopped: 'nowhere' was not found so far"
        assert "looking for" not in shown(pilot)

    look_at(LogScreen, body, Still(QUORUM / "node-2/data"))
