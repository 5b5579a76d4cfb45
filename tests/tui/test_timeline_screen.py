"""The Timeline view as a person uses it, over the nodes of a real quorum."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from kraftool.reports.timeline.events import Event
from kraftool.tui.app import WatchApp
from kraftool.tui.screens.timeline import TimelineScreen
from kraftool.tui.widgets.axis import AxisView
from kraftool.tui.widgets.lines import Lines
from kraftool.watching.child_process import apart
from kraftool.watching.picture import ObservedElection, WatchHistory
from kraftool.watching.task import Task
from kraftool.watching.timelines import TimelineReading, read_timeline
from tests.tui.dashboards import (
    DAMAGED,
    PATIENCE_S,
    QUORUM,
    Still,
    app_of,
    look_at,
    press,
    settled,
    until_shown,
    write,
)
from tests.tui.screens import assert_snapshot, screen

pytestmark = [pytest.mark.tui, pytest.mark.usefixtures("at_the_root"), pytest.mark.slow]
NODES = tuple(QUORUM / f"node-{number}/data" for number in (1, 2, 3))
Body = Callable[[Pilot[None], TimelineScreen], Awaitable[None]]


def run(
    body: Body, *paths: str | Path, size: tuple[int, int] = (80, 24), theme: str = "", **facts: Any
) -> None:
    look_at(TimelineScreen, body, Still(*paths, **facts), size, theme)


def events(view: TimelineScreen) -> Lines[Event]:
    return view.query_one("#timeline-events", Lines)


def here(view: TimelineScreen) -> Event:
    row = events(view).row
    assert row is not None
    return row


def test_it_shows_the_events_that_the_command_tells_merged_over_nodes() -> None:
    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        wanted = read_timeline([str(node) for node in NODES], Task()).timeline
        assert tuple(events(view).rows) == wanted.events
        assert events(view).is_at_end
        shown = screen(app_of(pilot))
        for lane in ("elections", "voters", "features", "brokers", "others"):
            assert lane in shown
        assert "▲ 2 elections within an hour" in shown

    run(body, *NODES)


def test_elections_that_are_known_are_shown_while_the_logs_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goes_on = threading.Event()

    def waiting(*arguments: Any) -> TimelineReading:
        goes_on.wait(PATIENCE_S)
        return read_timeline(*arguments)

    monkeypatch.setattr("kraftool.tui.screens.timeline.read_timeline", waiting)
    known = ObservedElection(epoch=3, leader_id=2, timestamp=1_795_234_200_000, is_recorded=True)
    watcher = Still(NODES[0], history=WatchHistory(elections=(known,)))

    async def inner() -> None:
        app = WatchApp(watcher, view="timeline", environment={})
        async with app.run_test(size=(80, 24)) as pilot:
            await until_shown(pilot, "1 event  so far: the logs are being read")
            assert "2 elected leader of epoch 3" in screen(app)
            goes_on.set()
            await settled(pilot)
            assert "so far" not in screen(app)
            assert len(app.query_one(TimelineScreen)._shown) > 1

    asyncio.run(inner())


def test_large_logs_are_read_by_another_process_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def apart_(
        function: Callable[..., TimelineReading], *arguments: Any, task: Task
    ) -> TimelineReading:
        asked.append(function)
        return apart(function, *arguments, task=task)

    monkeypatch.setattr("kraftool.tui.screens.timeline._LARGE", -1)
    monkeypatch.setattr("kraftool.tui.screens.timeline.apart", apart_)

    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        wanted = read_timeline([str(node) for node in NODES], Task()).timeline
        assert asked == [read_timeline]
        assert tuple(events(view).rows) == wanted.events

    run(body, *NODES)


def test_zooming_goes_to_the_cursor_and_all_of_it_comes_back() -> None:
    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        axis = view.query_one(AxisView)
        whole = axis.span
        await press(pilot, "plus", "plus")
        assert axis.span.width == whole.width // 4
        assert axis.span.last == whole.last
        assert "seen" in screen(app_of(pilot))
        await press(pilot, "less_than_sign")
        assert axis.span.last < whole.last
        assert axis.time is not None
        assert axis.span.first <= axis.time <= axis.span.last
        await press(pilot, "greater_than_sign")
        assert axis.span.last == whole.last
        await press(pilot, "minus", "minus", "minus")
        assert axis.span == whole
        await press(pilot, "plus", "0")
        assert axis.span == whole
        await press(pilot, "plus", "plus", "g")
        assert axis.span.first == whole.first

    run(body, *NODES)


def test_a_click_on_the_axis_goes_to_what_happened_then() -> None:
    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        await pilot.click(AxisView, offset=(15, 0))
        await settled(pilot)
        first = here(view)
        assert first.offset == 0
        await pilot.click(AxisView, offset=(40, 0))
        await settled(pilot)
        assert here(view).offset > first.offset

    run(body, *NODES)


def test_f_lets_kinds_and_words_through_and_slash_finds() -> None:
    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        await press(pilot, "f")
        await write(pilot, "elections brokers")
        kinds = {row.category.value for row in events(view).rows}
        assert kinds == {"elections", "brokers"}
        await press(pilot, "f")
        await write(pilot, " fenced")
        assert events(view).rows
        assert all("fenced" in row.text for row in events(view).rows)
        await press(pilot, "g", "slash")
        await write(pilot, "broker 11")
        assert "broker 11" in here(view).text
        assert view.as_json()["events"][0]["category"] == "brokers"
        assert len([*view.as_rows()]) == len(events(view).rows) + 1

    run(body, *NODES)


def test_enter_opens_an_event_and_y_copies_it() -> None:
    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        await press(pilot, "k", "k", "k", "enter")
        shown = screen(app_of(pilot))
        assert "in the logs of 2, 3" in shown
        await press(pilot, "y", "escape")
        assert pilot.app.clipboard.split("\t")[1] == str(here(view).offset)
        assert not view.query_one("#timeline-detail").display

    run(body, *NODES)


def test_directories_of_two_clusters_are_refused_in_words() -> None:
    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        assert "belong to different clusters" in screen(app_of(pilot))
        await press(pilot, "plus", "less_than_sign", "enter", "g", "u")

    run(body, NODES[1], Path("fixtures/kafka-4.3.0/static-single/node-1/data"), size=(200, 30))


def test_of_a_live_quorum_alone_the_elections_are_told_that_were_seen() -> None:
    elections = (
        ObservedElection(epoch=4, leader_id=2, timestamp=1_795_234_000_000, is_recorded=True),
        ObservedElection(epoch=5, leader_id=None, timestamp=1_795_234_100_000, is_recorded=False),
    )

    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        shown = screen(app_of(pilot))
        assert "2 elected leader of epoch 4" in shown
        assert "epoch 5 began, leader unknown; when it was noticed" in shown
        await press(pilot, "enter", "k")

    run(body, size=(100, 24), history=WatchHistory(elections=elections, elections_seen=1))


def test_without_anything_it_says_so() -> None:
    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        assert "no node has answered yet" in str(view.query_one("#timeline-title", Static).content)
        await press(pilot, "plus", "minus", "greater_than_sign", "0", "enter", "y", "u", "x")

    run(body)


@pytest.mark.parametrize("path", DAMAGED, ids=str)
def test_damaged_directories_are_events_and_no_error(path: Path) -> None:
    async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
        await press(pilot, "g", "enter")
        assert view.as_json()["findings"]

    run(body, path)


def test_the_screen_looks_as_it_did() -> None:
    def looks(name: str, *keys: str) -> Body:
        async def body(pilot: Pilot[None], view: TimelineScreen) -> None:
            await press(pilot, *keys)
            assert_snapshot(app_of(pilot), name)

        return body

    run(looks("timeline-dark", "k", "k", "k"), *NODES, size=(120, 36))
    run(looks("timeline-light", "k", "k", "k"), *NODES, size=(120, 36), theme="kraftool-light")
    run(looks("timeline-narrow"), *NODES)
    run(looks("timeline-zoomed", "g", "plus", "plus", "enter"), *NODES, size=(100, 34))
