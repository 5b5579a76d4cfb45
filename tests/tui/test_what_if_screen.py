"""The What if view: nodes lost by a key, on directories and on recorded live quorums."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from kraftool.reports.text.json_document import json_object
from kraftool.sim.document import simulate_election_document
from kraftool.sim.report import Report, without_runs
from kraftool.tui.app import WatchApp
from kraftool.tui.screens import what_if as what_if_module
from kraftool.tui.screens.what_if import WhatIfScreen
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.outage import OutageQuestion, answer, case_of_directories
from kraftool.watching.sources import Sources
from kraftool.watching.task import Task
from tests.tui.copied_directories import copied, here
from tests.tui.dashboards import (
    PATIENCE_S,
    Still,
    app_of,
    look_at,
    press,
    shown,
    until_shown,
    write,
)
from tests.tui.recording import Replayed, pictures
from tests.tui.screens import assert_snapshot

pytestmark = [pytest.mark.tui, pytest.mark.slow]
_RUNS = 3
Body = Callable[[Pilot[None], WhatIfScreen], Awaitable[None]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """And few runs, in this process, so that a test of keys does not take the time of a hundred."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(what_if_module, "RUNS", _RUNS)
    monkeypatch.setattr(what_if_module, "apart", here)
    return tmp_path


run = partial(look_at, WhatIfScreen)


def _current(view: WhatIfScreen) -> Report:
    report = view._current()
    assert report is not None
    return report


@pytest.mark.parametrize(
    ("theme", "size", "keys"),
    [
        ("dark", (80, 24), ()),
        ("light", (120, 30), ("space",)),
        ("colour-blind", (100, 30), ("space", "j", "space")),
    ],
)
def test_it_looks_as_it_did(
    folder: Path, theme: str, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    async def body(pilot: Pilot[None], _: WhatIfScreen) -> None:
        await press(pilot, *keys)
        assert_snapshot(app_of(pilot), f"what-if-{theme}-{size[0]}x{size[1]}")

    run(body, Still(*copied(folder, 2, 3, 4)), size, f"kraftool-{theme}")


def test_a_live_quorum_looks_as_it_did() -> None:
    async def body(pilot: Pilot[None], _: WhatIfScreen) -> None:
        await until_shown(pilot, "possible")
        assert_snapshot(app_of(pilot), "what-if-live-leader-killed-100x30")

    run(body, Replayed([pictures("leader-killed")[-1]]), (100, 30))


def test_space_loses_nodes_and_the_answer_is_simulate_elections(folder: Path) -> None:
    paths = copied(folder, 2, 3, 4)
    case = case_of_directories(paths, Task())

    def expected(*down: int) -> dict[str, Any]:
        question = OutageQuestion(down=frozenset(down), runs=_RUNS)
        return json_object(simulate_election_document(answer(case, question, Task())))

    async def body(pilot: Pilot[None], view: WhatIfScreen) -> None:
        assert view.as_json() == expected()
        assert "What if all nodes started?" in shown(pilot)
        await press(pilot, "space")
        assert view.as_json() == expected(2)
        assert "What if 2 was lost?" in shown(pilot)
        await press(pilot, "j", "space")
        assert view.as_json() == expected(2, 3)
        assert "✖ No leader is possible" in shown(pilot)
        headings, *rows = ([*row] for row in view.as_rows())
        assert [row[headings.index("isUp")] for row in rows] == [False, False, True]
        await press(pilot, "space")
        assert view.as_json() == expected(2)
        await press(pilot, "a")
        assert view.as_json() == expected()

    run(body, Still(*paths))


def test_a_voter_without_a_directory_counts_as_lost(folder: Path) -> None:
    async def body(pilot: Pilot[None], view: WhatIfScreen) -> None:
        assert "nothing is known of it" in shown(pilot)
        await press(pilot, "G", "space")
        assert "nothing is known of this node" in shown(pilot)
        assert view.as_json()["notGivenIds"] == [4]

    run(body, Still(*copied(folder, 2, 3)))


def test_c_cuts_the_network_and_escape_leaves_it(folder: Path) -> None:
    async def body(pilot: Pilot[None], view: WhatIfScreen) -> None:
        await press(pilot, "c")
        await write(pilot, "2|3,4")
        assert "the network was cut at 2|3,4" in shown(pilot)
        cut = view.as_json()["conditions"]["cut"]
        assert [(link["fromId"], link["toId"]) for link in cut] == [(2, 3), (2, 4), (3, 2), (4, 2)]
        assert 2 not in view.as_json()["leaderIds"]
        await press(pilot, "c", "escape")
        assert "2|3,4" in shown(pilot), "nothing has changed"
        await press(pilot, "c", *["backspace"] * 5)
        await write(pilot, "2|2")
        assert "a node is on both sides" in shown(pilot)
        await press(pilot, "c", *["backspace"] * 3, "enter")
        assert "What if all nodes started?" in shown(pilot)
        assert view.as_json()["conditions"]["cut"] == []

    run(body, Still(*copied(folder, 2, 3, 4)))


def test_s_takes_other_chance_and_says_which(folder: Path) -> None:
    async def body(pilot: Pilot[None], view: WhatIfScreen) -> None:
        assert view.as_json()["seed"] == 0
        first = view.as_json()["timeToLeader"]["allMs"]
        await press(pilot, "s")
        assert view.as_json()["seed"] == _RUNS, "the runs before had the seeds up to it"
        assert f"seed {_RUNS}" in shown(pilot)
        assert view.as_json()["timeToLeader"]["allMs"] != first

    run(body, Still(*copied(folder, 2, 3, 4)), size=(120, 30))


def test_d_goes_from_live_nodes_to_directories(folder: Path) -> None:
    paths = tuple(copied(folder, 2, 3, 4))
    looks = tuple(DirectoryReading(path=path, at_ms=0) for path in paths)
    picture = replace(pictures("healthy")[-1], directories=looks)
    watcher = Replayed([picture], Sources(directories=paths))

    async def body(pilot: Pilot[None], view: WhatIfScreen) -> None:
        assert "by live nodes" in shown(pilot)
        live = {node["id"] for node in view.as_json()["nodes"]}
        await press(pilot, "d")
        assert "by the disks" in shown(pilot)
        assert {node["id"] for node in view.as_json()["nodes"]} == {2, 3, 4} != live
        await press(pilot, "d")
        assert {node["id"] for node in view.as_json()["nodes"]} == live

    run(body, watcher, size=(120, 30))


def test_nodes_that_are_gone_are_lost_from_the_beginning() -> None:
    async def body(pilot: Pilot[None], view: WhatIfScreen) -> None:
        text = shown(pilot)
        assert "What if 2 was lost?" in text
        assert "✖ down" in text
        assert view.as_json()["isElected"]
        await press(pilot, "d")
        assert "only one of live nodes and directories" in shown(pilot)

    run(body, Replayed([pictures("leader-killed")[-1]]))


def test_without_any_leader_it_says_what_is_missing_and_answers_when_there_is_one() -> None:
    last = pictures("no-leader")[-1]
    bare = replace(last, history=replace(last.history, samples=()))
    watcher = Replayed([bare, pictures("healthy")[-1]])

    async def body(pilot: Pilot[None], view: WhatIfScreen) -> None:
        assert "no leader was seen" in shown(pilot)
        assert view.as_json() == {"schemaVersion": 3}
        watcher.next()
        await press(pilot, "v")
        assert view.as_json()["nodes"]

    run(body, watcher)


def test_who_can_lead_is_there_before_the_runs_and_x_keeps_what_was_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runs so far are shown as such, never in green, and stay when they are stopped."""
    goes_on = threading.Event()

    def slow(
        function: Any, paths: Sequence[str], question: OutageQuestion, *, task: Task
    ) -> Report:
        case = case_of_directories(paths, task)
        report = without_runs(case, question.conditions(case), seed=question.seed)
        task.partial(report)
        goes_on.wait(PATIENCE_S)
        task.partial(replace(report, runs=7, wins={3: 7}))
        while True:
            task.set("runs", 7, 10)
            time.sleep(0.001)  # the interpreter is the screen's too

    monkeypatch.setattr(what_if_module, "apart", slow)

    async def inner() -> None:
        app = WatchApp(Still(*copied(folder, 2, 3, 4)), view="what_if", environment={})
        async with app.run_test(size=(80, 24)) as pilot:
            await until_shown(pilot, f"0 of {_RUNS} runs so far")
            view = app.query_one(WhatIfScreen)
            assert "? A leader can be elected: 2, 3 or 4." in shown(pilot)
            assert app.palette.good not in [
                span.style for _, words in view._verdict(_current(view)) for span in words.spans
            ]
            assert view.as_json()["nodes"]
            goes_on.set()
            await until_shown(pilot, "what if: runs")
            await until_shown(pilot, "70%")
            await until_shown(pilot, f"7 of {_RUNS} runs so far")
            await press(pilot, "x")
            assert "stopped" in shown(pilot)
            await until_shown(pilot, f"7 of {_RUNS} runs before it was stopped")

    asyncio.run(inner())
