"""The Files view as a person uses it: files of real directories, verified by a key."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Static

from kraftool.tui.app import WatchApp
from kraftool.tui.screens import files as files_module
from kraftool.tui.screens.files import FilesScreen
from kraftool.watching.files import DirectoryFiles, WatchedFiles
from kraftool.watching.task import Task
from kraftool.watching.verification import verify
from tests.tui.copied_directories import LOG, copied, damaged, stand_still
from tests.tui.dashboards import (
    AT_MS,
    Still,
    dashboard,
    look_at,
    press,
    settled,
    shown,
    until_shown,
)
from tests.tui.screens import assert_snapshot

pytestmark = [pytest.mark.tui, pytest.mark.usefixtures("folder"), pytest.mark.slow]
Body = Callable[[Pilot[None], FilesScreen], Awaitable[None]]


def run(
    body: Body, *paths: str, size: tuple[int, int] = (80, 24), theme: str = "kraftool-dark"
) -> Still:
    watcher = Still(*paths)
    look_at(FilesScreen, body, watcher, size, theme)
    return watcher


def test_names_are_whole_if_they_were_read_before_the_first_layout(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small directories can be listed before the view has a size."""
    copied(folder, 1)

    async def body(pilot: Pilot[None], screen: FilesScreen) -> None:
        await until_shown(pilot, LOG.rpartition("/")[2])

    with monkeypatch.context() as patched:
        patched.setattr(FilesScreen, "size", property(lambda _: Size(0, 0)))
        run(body, "node-1", size=(120, 30))


@pytest.mark.parametrize(
    ("theme", "size"), [("dark", (80, 24)), ("light", (120, 30)), ("no-colour", (164, 40))]
)
def test_it_looks_as_it_did(folder: Path, theme: str, size: tuple[int, int]) -> None:
    """A damaged directory that was verified, with a finding in full, and one that was not."""

    async def body(pilot: Pilot[None], _: FilesScreen) -> None:
        await press(pilot, "v", "tab", "j")
        assert isinstance(pilot.app, WatchApp)
        pilot.app.tell("")
        await settled(pilot)
        assert_snapshot(pilot.app, f"files-{theme}-{size[0]}x{size[1]}")

    paths = [damaged(folder), *copied(folder, 3)]
    run(body, *paths, size=size, theme=f"kraftool-{theme}")


def test_all_files_are_listed_and_nothing_is_verified_unasked(folder: Path) -> None:
    async def body(pilot: Pilot[None], view: FilesScreen) -> None:
        text = shown(pilot)
        for expected in ("meta.properties", "epoch 3, leader 2", "…0085-…0003.checkpoint", "1.0 h"):
            assert expected in text
        assert "not verified: press v" in text
        assert "✓" not in text
        assert view.as_json()["directories"][0]["verification"] is None

    run(body, *copied(folder, 2))


def test_v_verifies_and_the_findings_stand_below(folder: Path) -> None:
    path = damaged(folder)

    async def body(pilot: Pilot[None], view: FilesScreen) -> None:
        assert "✖ 1 finding" in shown(pilot), "a small file is judged at once"
        await press(pilot, "v")
        assert "✖ 2 findings" in shown(pilot), "the wrong CRC is one finding and causes no other"
        assert "2 errors: 13 files" in shown(pilot)
        await press(pilot, "tab", "j")
        assert "LOG-CRC" in shown(pilot)
        assert "position 8" in shown(pilot)
        await press(pilot, "shift+tab", "G", "k", "k", "k")
        assert "0000.log" in str(pilot.app.query_one("#files-title", Static).render())
        directory = view.as_json()["directories"][0]
        expected = verify(path, AT_MS, Task())
        assert directory["verification"]["findingCounts"]["error"] == 2
        assert len(directory["verification"]["findings"]) == len(expected.findings)
        rows = [*view.as_rows()]
        assert len(rows) == 1 + len(directory["files"])
        headings = [*rows[0]]
        path_at, problems_at = headings.index("path"), headings.index("problems")
        by_file = {str(row[path_at]): str(row[problems_at]) for row in rows[1:]}
        assert "CRC" in by_file[LOG]
        assert by_file["meta.properties"] == ""

    run(body, path, size=(100, 30))


def test_a_file_that_changed_after_it_was_verified_is_marked(folder: Path) -> None:
    (path,) = copied(folder, 2)
    watcher = Still(path)

    async def inner() -> None:
        async with dashboard(watcher, "files") as pilot:
            await press(pilot, "v")
            assert "changed since" not in shown(pilot)
            later = (AT_MS + 1000) * 1_000_000  # than it was verified, whatever the clock says
            os.utime(folder / path / "meta.properties", ns=(later, later))
            watcher.poll_now()
            await settled(pilot)
            assert "changed since" in shown(pilot)

    asyncio.run(inner())


def test_a_slow_listing_says_what_it_does_and_shows_what_it_has(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()
    first, second = copied(folder, 2, 3)
    listed = WatchedFiles._directory

    def slow(self: WatchedFiles, path: str, task: Task) -> DirectoryFiles:
        assert path == first or goes_on.wait(60)
        return listed(self, path, task)

    monkeypatch.setattr(WatchedFiles, "_directory", slow)

    async def inner() -> None:
        app = WatchApp(Still(first, second), view="files", environment={})
        async with app.run_test(size=(100, 60)) as pilot:
            await until_shown(pilot, "quorum-state")
            await until_shown(pilot, f"listing the files of {second}")
            assert " s" in str(pilot.app.query_one("#files-working", Static).content)
            assert shown(pilot).count("quorum-state") == 1
            goes_on.set()
            await settled(pilot)
            assert shown(pilot).count("quorum-state") == 2
            assert "listing" not in shown(pilot)

    asyncio.run(inner())


def test_x_stops_a_verification(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told how far it is until then; afterwards nothing is verified, and v begins anew."""
    began = threading.Event()

    def slow(function: Any, *arguments: object, task: Task) -> None:
        task.set("reading log and files", 43, 100)
        began.set()
        while True:
            task.set("reading log and files", 43, 100)
            time.sleep(0.001)  # the interpreter is the screen's too

    monkeypatch.setattr(files_module, "apart", slow)

    async def body(pilot: Pilot[None], view: FilesScreen) -> None:
        await pilot.press("v")
        await asyncio.to_thread(began.wait)
        assert view.is_working
        await until_shown(pilot, "reading log and files")
        await until_shown(pilot, "43%  ")
        await press(pilot, "x")
        assert not view.is_working
        assert "stopped" in shown(pilot)
        assert "not verified" in shown(pilot)
        await press(pilot, "x")
        assert "this view has no work to stop" in shown(pilot)

    run(body, *copied(folder, 2))


def test_leaving_ends_a_verification(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program must not wait for a gigabyte to be read."""
    began, ended = threading.Event(), threading.Event()

    def slow(function: Any, *arguments: object, task: Task) -> None:
        began.set()
        try:
            while True:
                task.set("", 0, None)
                time.sleep(0.001)  # the interpreter is the screen's too
        finally:
            ended.set()

    monkeypatch.setattr(files_module, "apart", slow)

    async def body(pilot: Pilot[None], view: FilesScreen) -> None:
        await pilot.press("v")
        await asyncio.to_thread(began.wait)

    run(body, *copied(folder, 2))
    assert ended.wait(60)


def test_search_copy_and_export(folder: Path) -> None:
    paths = copied(folder, 2)

    async def body(pilot: Pilot[None], view: FilesScreen) -> None:
        await press(pilot, "slash", *"quorum", "enter")
        assert "quorum-state" in str(pilot.app.query_one("#files-title", Static).render())
        await press(pilot, "y")
        assert "quorum-state\t" in pilot.app.clipboard
        for ending in ("json", "csv"):
            assert isinstance(pilot.app, WatchApp)
            await pilot.app._export(f"files.{ending}")

    run(body, *paths)
    document = json.loads(Path("files.json").read_text())
    assert document["schemaVersion"] == 3
    assert document["directories"][0]["path"] == "node-2"
    rows = [*csv.DictReader(Path("files.csv").read_text().splitlines())]
    assert {row["path"] for row in rows} == {
        file["path"] for file in document["directories"][0]["files"]
    }


def test_a_directory_that_is_not_there_and_none_at_all(folder: Path) -> None:
    async def gone(pilot: Pilot[None], _: FilesScreen) -> None:
        assert "✖ nowhere: no such file or directory" in shown(pilot)
        await press(pilot, "v")
        assert "1 error" in shown(pilot)

    async def none(pilot: Pilot[None], _: FilesScreen) -> None:
        assert "no directory is watched" in shown(pilot)
        await press(pilot, "v")
        assert "no directory is watched" in shown(pilot)

    run(gone, "nowhere", size=(120, 30))
    run(none)


def test_names_of_files_are_never_markup(folder: Path) -> None:
    (path,) = copied(folder, 2)
    (folder / path / "[red]evil\x1b[2J[").write_text("")
    stand_still(folder)

    async def body(pilot: Pilot[None], _: FilesScreen) -> None:
        assert "[red]evil\\u001b[2J[" in shown(pilot)

    run(body, path, size=(120, 30))
