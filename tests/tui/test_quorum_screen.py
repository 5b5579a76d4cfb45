"""The Quorum view over what real quorums answered: how it looks, and what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from kraftool.client.model import QuorumView
from kraftool.raft.names import ReplicaKey
from kraftool.tui.app import WatchApp
from kraftool.tui.headline import headline
from kraftool.tui.palette import COLOUR_BLIND, DARK, LIGHT, NO_COLOUR
from kraftool.tui.table import ReportTable
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import Remembering
from tests.client.views import without_controller
from tests.tui.dashboards import press, settled
from tests.tui.recording import Replayed, pictures, views
from tests.tui.screens import assert_snapshot, screen

pytestmark = [pytest.mark.tui, pytest.mark.slow]

LOOKS = [
    ("healthy", DARK, (80, 24)),
    ("healthy", LIGHT, (120, 30)),
    ("leader-killed", LIGHT, (80, 24)),
    ("leader-killed", DARK, (164, 40)),
    ("no-leader", COLOUR_BLIND, (100, 30)),
    ("no-leader", DARK, (80, 24)),
    ("uncommitted-voter", NO_COLOUR, (120, 30)),
    ("uncommitted-voter", DARK, (80, 24)),
]


def _over(
    given: list[Picture],
    steps: Callable[[WatchApp, Pilot[None]], Awaitable[None]],
    *,
    theme: str = DARK,
    size: tuple[int, int] = (80, 24),
) -> None:
    async def run() -> None:
        app = WatchApp(Replayed(given), theme=theme, environment={})
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await steps(app, pilot)

    asyncio.run(run())


@pytest.mark.parametrize(("name", "theme", "size"), LOOKS)
def test_it_looks_as_it_did(name: str, theme: str, size: tuple[int, int]) -> None:
    async def steps(app: WatchApp, _: Pilot[None]) -> None:
        short = theme.removeprefix("kraftool-")
        assert_snapshot(app, f"quorum-{name}-{short}-{size[0]}x{size[1]}")

    _over([pictures(name)[-1]], steps, theme=theme, size=size)


def test_directories_look_as_they_did(fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fixtures_dir)
    looks = tuple(
        replace(DirectoryWatch(f"kafka-4.3.0/dynamic-quorum/node-{number}/data").read(), at_ms=0)
        for number in (1, 2, 3, 4)
    )
    at_ms = max(reading.last_timestamp or 0 for reading in looks)
    history = Remembering().take(at_ms, None, looks)
    picture = Picture(at_ms=at_ms, directories=looks, history=history)

    async def steps(app: WatchApp, _: Pilot[None]) -> None:
        assert_snapshot(app, "quorum-directories-dark-100x24")

    _over([picture], steps, size=(100, 24))


def test_the_row_under_the_cursor_is_told_at_length() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "j")
        shown = screen(app)
        assert "leader 2  directory iywXxXdXTqGRKgNUsOmpaA  127.0.0.1:52521" in shown
        assert "it leads: another node will be elected; restart it last" in shown
        await press(pilot, "d")
        assert "restart it last" not in screen(app)
        await press(pilot, "d", "G")
        assert "not asked: known from the leader only" in screen(app)

    _over([pictures("healthy")[-1]], steps)


def test_the_cursor_stays_on_its_node_when_others_come_and_go() -> None:
    given = [*pictures("leader-killed")]
    app_watcher = Replayed(given)

    async def run() -> None:
        app = WatchApp(app_watcher, environment={})
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            await press(pilot, "G")
            table = app.query_one(ReportTable)
            assert table.cursor_key == "11/"
            seen = []
            for _ in given:
                app_watcher.next()
                await settled(pilot)
                seen.append(table.cursor_key)
            # The new leader has not heard of broker 11 at first.
            assert {*seen} == {"11/", "4/"}
            assert seen[-1] == "11/"
            assert "node 3 leads epoch 2" in screen(app)

    asyncio.run(run())


def test_names_from_nodes_are_never_markup_and_never_act() -> None:
    """A hostile node gives as its reason what a terminal would obey."""
    at_ms, view = views("healthy")[-1]
    bad = "[bold red]no[/] \x1b[2J \u202e ]8;;http://x"
    nodes = tuple(
        replace(node, problem=bad, is_reached=False, cluster_id=f"[link=x]{bad}")
        if node.node_id == 1
        else node
        for node in view.nodes
    )
    hostile = QuorumView(nodes=nodes)
    history = Remembering().take(at_ms, hostile, ())

    async def steps(app: WatchApp, _: Pilot[None]) -> None:
        shown = screen(app)
        assert "[bold red]no[/] \\u001b[2J \\u202e" in shown
        assert "\x1b" not in shown

    _over([Picture(at_ms=at_ms, view=hostile, history=history)], steps, size=(160, 30))


def test_a_hundred_observers_are_rows_like_any() -> None:
    at_ms, view = views("healthy")[-1]
    leader = view.leader
    assert leader is not None
    assert leader.quorum is not None
    some = leader.quorum.observers[0]
    many = tuple(
        replace(some, replica=ReplicaKey(100 + number, some.replica.directory_id))
        for number in range(100)
    )
    quorum = replace(leader.quorum, observers=many)
    nodes = tuple(replace(node, quorum=quorum) if node is leader else node for node in view.nodes)
    crowded = QuorumView(nodes=nodes)
    history = Remembering().take(at_ms, crowded, ())

    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        assert app.query_one(ReportTable).row_count == 104
        await press(pilot, "G")
        assert "observer 199" in screen(app)

    _over([Picture(at_ms=at_ms, view=crowded, history=history)], steps)


def test_the_title_is_red_while_the_leader_runs_no_controller() -> None:
    picture = Picture(at_ms=0, view=without_controller())

    async def steps(app: WatchApp, _: Pilot[None]) -> None:
        title, _right = headline(app.picture, app.overview, app.palette, is_paused=False)
        assert "✖ node 3 leads epoch 5 · no controller" in title.plain
        styles = [span.style for span in title.spans]
        assert app.palette.bad in styles
        assert app.palette.good not in styles
        shown = screen(app)
        assert "◌ leader" in shown
        assert "✖ Node 3 (ctl-3:9093): it leads" in shown

    _over([picture], steps, size=(100, 30))
