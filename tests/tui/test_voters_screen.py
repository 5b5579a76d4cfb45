"""The Voters view: who votes by directories of real controllers, and by recorded live nodes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.text.csv_text import csv_rows
from kraftool.reports.text.json_document import json_object
from kraftool.reports.voters.diff import diff_voters
from kraftool.tui.screens import voters as voters_module
from kraftool.tui.screens.voters import VotersScreen
from kraftool.watching import voter_board
from kraftool.watching.sources import Sources
from kraftool.watching.task import Task
from kraftool.watching.voter_board import compare
from tests.tui.copied_directories import copied, damaged, here
from tests.tui.dashboards import Still, app_of, look_at, press, shown, until_shown
from tests.tui.recording import Replayed, pictures
from tests.tui.screens import assert_snapshot

pytestmark = pytest.mark.tui
Body = Callable[[Pilot[None], VotersScreen], Awaitable[None]]


@pytest.fixture(autouse=True)
def reads_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voter_board, "apart", here)


run = partial(look_at, VotersScreen)


@pytest.mark.parametrize(
    ("theme", "size"), [("dark", (80, 24)), ("light", (120, 34)), ("no-colour", (100, 30))]
)
def test_it_looks_as_it_did(folder: Path, theme: str, size: tuple[int, int]) -> None:
    """With the second entry of the history in words."""

    async def body(pilot: Pilot[None], _: VotersScreen) -> None:
        await press(pilot, "tab", "tab", "j")
        assert_snapshot(app_of(pilot), f"voters-{theme}-{size[0]}x{size[1]}")

    run(body, Still(*copied(folder, 1, 2, 3, 4)), size, f"kraftool-{theme}")


def test_a_live_quorum_looks_as_it_did() -> None:
    async def body(pilot: Pilot[None], _: VotersScreen) -> None:
        assert_snapshot(app_of(pilot), "voters-live-uncommitted-voter-80x24")

    run(body, Replayed(pictures("uncommitted-voter")[-1:]))


def test_it_says_what_diff_voters_says(folder: Path) -> None:
    paths = copied(folder, 1, 2, 3)

    async def body(pilot: Pilot[None], view: VotersScreen) -> None:
        expected = diff_voters(read_sources(paths))
        assert view.as_json() == json_object(expected)
        text = shown(pilot)
        assert "· all sources have the same voters" in text, "the removed voter is a note"
        assert "voter 1 removed" in text
        assert [*view.as_rows()] == [*csv_rows(expected)], "as diff-voters -o csv"

    run(body, Still(*paths))


def test_other_voters_are_told_in_words(folder: Path) -> None:
    """A directory whose log ends before a change is behind; one of another cluster is set aside."""
    paths = copied(folder, 2, 3)
    meta = folder / paths[1] / "meta.properties"
    lines = ["cluster.id=AAAAAAAAAAAAAAAAAAAAAQ" if line.startswith("cluster.id") else line
             for line in meta.read_text().splitlines()]  # fmt: skip
    meta.write_text("\n".join(lines) + "\n")

    async def body(pilot: Pilot[None], view: VotersScreen) -> None:
        assert "belongs to another cluster: not compared" in shown(pilot)
        assert "✖" in shown(pilot)
        document = view.as_json()
        assert [source["isOfOtherCluster"] for source in document["sources"]] == [False, True]

    run(body, Still(*paths), size=(120, 34))


def test_damage_that_may_hide_a_change_is_told(folder: Path) -> None:
    async def body(pilot: Pilot[None], view: VotersScreen) -> None:
        codes = {finding["code"] for finding in view.as_json()["findings"]}
        assert {"KT-LOG-CRC", "KT-DIR-QUORUM-STATE"} <= codes
        assert "not JSON" in shown(pilot)

    run(body, Still(damaged(folder)), size=(120, 40))


def test_v_reads_again_and_x_stops(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = copied(folder, 2)
    asked: list[Sources] = []
    began = threading.Event()

    def counted(sources: Sources, task: Task) -> Any:
        asked.append(sources)
        if len(asked) < 3:
            return compare(sources, task)
        began.set()
        while True:
            task.set("reading directories", 1, 4)
            time.sleep(0.001)  # the interpreter is the screen's too

    monkeypatch.setattr(voters_module, "compare", counted)

    async def body(pilot: Pilot[None], _: VotersScreen) -> None:
        assert len(asked) == 1
        await press(pilot, "r")
        assert len(asked) == 1, "it was read just now"
        await press(pilot, "v")
        assert len(asked) == 2
        await pilot.press("v")
        await asyncio.to_thread(began.wait)
        await until_shown(pilot, "voters: reading directories")
        await press(pilot, "x")
        assert "stopped" in shown(pilot)
        assert "voter 1 removed" in shown(pilot), "what was read before stays"

    run(body, Still(*paths))


def test_live_nodes_are_compared_before_a_log_was_read() -> None:
    picture = pictures("healthy")[-1]
    assert picture.view is not None
    nodes = len(picture.view.nodes)

    async def body(pilot: Pilot[None], view: VotersScreen) -> None:
        document = view.as_json()
        assert len(document["sources"]) == nodes
        assert document["newest"]["voterSet"]["source"] == "the running leader"
        await press(pilot, "v")
        assert view.as_json() == document

    run(body, Replayed([picture]))
