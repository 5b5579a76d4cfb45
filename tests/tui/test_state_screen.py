"""The State view as a person uses it, on directories of real Kafka."""

import asyncio
import shutil
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from kraftool.reports.browse.history import StateHistory
from kraftool.reports.state.load import LoadedState
from kraftool.tui.app import WatchApp
from kraftool.tui.screens import state as state_module
from kraftool.tui.screens.state import StateScreen
from kraftool.tui.widgets.lines import Lines
from kraftool.tui.widgets.slider import Slider
from kraftool.tui.widgets.state_lines import TreeLines
from kraftool.watching.state_reading import ReachedState, reach_state
from kraftool.watching.task import Task
from tests.tui.dashboards import (
    DAMAGED,
    QUORUM,
    ROOT,
    Still,
    app_of,
    dashboard,
    look_at,
    press,
    settled,
    told,
    until_shown,
    write,
)
from tests.tui.screens import assert_snapshot, screen

pytestmark = [pytest.mark.tui, pytest.mark.usefixtures("at_the_root"), pytest.mark.slow]
NODE = QUORUM / "node-2/data"
Body = Callable[[Pilot[None], StateScreen], Awaitable[None]]


def run(body: Body, *paths: str | Path, size: tuple[int, int] = (80, 24), theme: str = "") -> None:
    look_at(StateScreen, body, Still(*paths), size, theme)


def tree(view: StateScreen) -> TreeLines:
    return view.query_one("#state-tree", TreeLines)


def here(view: StateScreen) -> str:
    row = tree(view).row
    return "" if row is None else "/".join(row.path)


def state(view: StateScreen) -> LoadedState:
    loaded = view._state
    assert loaded is not None
    return loaded


def test_branches_open_and_close_under_the_cursor() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        assert here(view) == "acls"
        await press(pilot, "j", "j", "enter", "j", "l", "j")
        assert here(view) == "cluster/brokers/11"
        assert "BrokerRegistration(id=11" in screen(app_of(pilot))
        await press(pilot, "h")
        assert here(view) == "cluster/brokers"
        await press(pilot, "left")
        assert here(view) == "cluster/brokers"
        assert "BrokerRegistration(id=11" not in screen(app_of(pilot))
        await press(pilot, "h", "h")
        assert here(view) == "cluster"
        assert "brokers" not in screen(app_of(pilot))
        await press(pilot, "G")
        assert here(view) == "topics"
        await press(pilot, "g")
        assert here(view) == "acls"

    run(body, NODE)


def test_a_leaf_opens_in_full_and_is_copied() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "j", "j", "enter", "j", "enter", "j", "enter")
        shown = screen(app_of(pilot))
        assert "supportedFeatures" in shown
        await press(pilot, "y")
        assert pilot.app.clipboard.startswith("cluster/brokers/11\tBrokerRegistration(id=11")
        await press(pilot, "escape")
        assert not view.query_one("#state-detail").display

    run(body, NODE)


def test_offsets_are_gone_through_by_keys_clicks_and_words() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        assert state(view).end_offset == 224
        await press(pilot, "comma", "comma")
        assert state(view).end_offset == 222
        await press(pilot, "full_stop")
        assert state(view).end_offset == 223
        await press(pilot, "less_than_sign")
        assert state(view).end_offset == 223 - 224 // 20
        await press(pilot, "greater_than_sign", "greater_than_sign")
        assert state(view).end_offset == 224
        await press(pilot, "o")
        await write(pilot, "85")
        assert state(view).end_offset == 85
        assert "at offset 85" in screen(app_of(pilot))
        await press(pilot, "o")
        await write(pilot, "epoch 2")
        assert state(view).end_offset == 43
        await press(pilot, "o")
        await write(pilot, "nowhere")
        assert "is not a time" in told(pilot)
        await pilot.click(Slider, offset=(3, 0))
        await settled(pilot)
        assert state(view).end_offset == 0
        assert tree(view).has_focus

    run(body, NODE)


def test_what_is_open_stays_open_at_another_offset() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "G", "enter", "j", "j", "enter")
        assert here(view) == "topics/byName"
        newest = {row.path for row in tree(view).rows}
        assert ("topics", "byName", "orders-b") in newest
        await press(pilot, "o")
        await write(pilot, "100")
        older = {row.path for row in tree(view).rows}
        assert ("topics", "byName", "orders-a") in older
        assert ("topics", "byName", "orders-b") not in older
        assert here(view) == "topics/byName"

    run(body, NODE)


def test_two_offsets_are_compared_and_the_tree_comes_back() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "o")
        await write(pilot, "186")
        await press(pilot, "m")
        assert "offset 186 is marked" in told(pilot)
        await press(pilot, "o")
        await write(pilot, "190")
        await press(pilot, "c")
        changes = view.query_one("#state-changes", Lines)
        assert changes.has_focus
        assert next(row.name for row in changes.rows if row.sign == "+") == "orders-b"
        assert "from offset 186 to 190" in screen(app_of(pilot))
        await press(pilot, "full_stop")
        assert "from offset 186 to 191" in screen(app_of(pilot))
        document = view.as_json()
        assert (document["oldOffset"], document["newOffset"]) == (186, 191)
        assert document["counts"]["topic"]["added"] == 2
        await press(pilot, "slash")
        await write(pilot, "payments-b")
        assert changes.row is not None
        assert changes.row.name == "payments-b"
        await press(pilot, "y")
        assert pilot.app.clipboard.startswith("+ payments-b")
        await press(pilot, "c")
        assert tree(view).has_focus
        assert view.as_json()["view"] == "state"

    run(body, NODE)


def test_a_search_goes_through_the_whole_tree_and_opens_what_it_finds() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "slash")
        await write(pilot, "odd.Names")
        first = here(view)
        assert "odd.Names" in first or "odd.Names" in (tree(view).row or tree(view).rows[0]).text()
        await press(pilot, "n")
        second = here(view)
        assert second != first
        await press(pilot, "N")
        assert here(view) == first
        await press(pilot, "slash")
        await write(pilot, "nobody has this")
        assert "no further place" in told(pilot)
        assert here(view) == first

    run(body, NODE)


def test_a_long_reading_is_stopped_by_x(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = StateHistory.at
    app: WatchApp

    def slow(self: StateHistory, offset: int | None, progress: Any, partly: Any) -> LoadedState:
        app.call_from_thread(app.query_one(StateScreen).action_stop)
        return whole(self, offset, progress, partly)

    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        nonlocal app
        app = app_of(pilot)
        monkeypatch.setattr(StateHistory, "at", slow)
        await press(pilot, "less_than_sign")
        assert "stopped" in told(pilot)
        assert state(view).end_offset == 224

    run(body, NODE)


def test_a_first_reading_that_is_stopped_is_not_called_an_opening(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def steps() -> None:
        async with dashboard(Still(NODE), "quorum") as pilot:
            app, whole = app_of(pilot), StateHistory.at

            def slow(*arguments: Any) -> LoadedState:
                app.call_from_thread(app.query_one(StateScreen).action_stop)
                return whole(*arguments)

            monkeypatch.setattr(StateHistory, "at", slow)
            await press(pilot, "3")
            await pilot.resize_terminal(100, 24)  # the next picture draws it, too
            await settled(pilot)
            title = screen(app).splitlines()[2].strip()
            assert title == "stopped before a state was read; press o to go to an offset"

    asyncio.run(steps())


def test_a_directory_that_grows_is_followed_at_its_newest_state_only(tmp_path: Path) -> None:
    shutil.copytree(ROOT / NODE, tmp_path / "data")
    log = tmp_path / "data/__cluster_metadata-0" / f"{0:020}.log"
    data = log.read_bytes()
    log.write_bytes(data[:20796])  # the last batch begins there

    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        assert state(view).end_offset == 223
        log.write_bytes(data)
        app_of(pilot).watcher.poll_now()
        await settled(pilot)
        assert state(view).end_offset == 224
        await press(pilot, "comma")
        app_of(pilot).watcher.poll_now()
        await settled(pilot)
        assert state(view).end_offset == 223

    run(body, tmp_path / "data")


def test_d_shows_the_state_of_the_next_directory() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "d")
        assert view.as_json()["path"] == str(QUORUM / "node-3/data")

    run(body, NODE, QUORUM / "node-3/data")


@pytest.mark.parametrize("path", DAMAGED, ids=str)
def test_whatever_is_damaged_is_shown_or_told(path: Path) -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "less_than_sign", "j", "enter", "c", "comma")
        view.as_json()
        assert [*view.as_rows()]
        assert "opening" not in screen(app_of(pilot))

    run(body, path)


def test_no_secret_is_shown_or_exported() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        shown_tree = view._tree
        assert shown_tree is not None
        for path in shown_tree.find(""):
            if path is not None:
                shown_tree.reveal((*path, ""))
        view._fill()
        text = str(view.as_json()) + str([*view.as_rows()])
        assert "password" in text
        assert "CANARY" not in text
        await press(pilot, "g", "m", "o")
        await write(pilot, "0")
        await press(pilot, "c")
        assert "CANARY" not in str(view.as_json()) + str([*view.as_rows()])

    run(body, NODE)


def test_comparing_without_a_mark_takes_the_oldest_snapshot_and_says_so() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "c")
        assert view._history is not None
        oldest = min(view._history.bounds.snapshots)
        assert oldest > 0
        assert view._marked == oldest
        assert f"compared with the oldest snapshot, {oldest}" in told(pilot)

    run(body, NODE)


def test_without_anything_it_says_so() -> None:
    async def body(pilot: Pilot[None], view: StateScreen) -> None:
        assert "no directory or live quorum is watched" in screen(app_of(pilot))
        await press(pilot, "comma", "less_than_sign", "m", "d", "x", "enter", "l")

    run(body)


def test_the_screen_looks_as_it_did() -> None:
    def tree_looks(name: str) -> Body:
        async def body(pilot: Pilot[None], view: StateScreen) -> None:
            await press(pilot, "j", "j", "enter", "j", "enter", "j", "enter")
            assert_snapshot(app_of(pilot), name)

        return body

    async def compared(pilot: Pilot[None], view: StateScreen) -> None:
        await press(pilot, "less_than_sign", "m", "greater_than_sign", "c")
        assert_snapshot(app_of(pilot), "state-compared")

    run(tree_looks("state-dark"), NODE, size=(120, 36))
    run(tree_looks("state-light"), NODE, size=(120, 36), theme="kraftool-light")
    run(tree_looks("state-narrow"), NODE)
    run(compared, NODE, size=(100, 30))


def test_a_state_on_the_way_is_shown_and_says_that_it_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goes_on = threading.Event()

    def slow(history: StateHistory, offset: int | None, marked: int | None, task: Task) -> Any:
        task.begin("reading snapshot and log")
        task.partial(ReachedState(history.at(203), is_partial=True))
        assert goes_on.wait(60)
        return reach_state(history, offset, marked, task)

    monkeypatch.setattr(state_module, "reach_state", slow)

    async def inner() -> None:
        app = WatchApp(Still(NODE), view="state", environment={})
        async with app.run_test(size=(120, 30)) as pilot:
            await until_shown(pilot, "at offset 203  ? not yet the state at 224")
            await until_shown(pilot, "reading snapshot and log")
            assert "cluster" in screen(app)
            goes_on.set()
            await until_shown(pilot, "at offset 224, the newest")
            assert "not yet" not in screen(app)

    asyncio.run(inner())
