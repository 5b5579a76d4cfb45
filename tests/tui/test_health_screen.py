"""The Health view: doctor on directories of real controllers, and recorded live quorums."""

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

from kraftool.tui import app as app_module
from kraftool.tui.app import WatchApp
from kraftool.tui.screens import health as health_module
from kraftool.tui.screens.health import HealthScreen
from kraftool.watching.checkup import Doctored, examine_directories
from kraftool.watching.task import Task
from tests.tui.copied_directories import LOG, copied, damaged, here
from tests.tui.dashboards import (
    PATIENCE_S,
    Still,
    app_of,
    look_at,
    press,
    settled,
    shown,
    until_shown,
)
from tests.tui.recording import Replayed, pictures
from tests.tui.screens import assert_snapshot

pytestmark = pytest.mark.tui
Body = Callable[[Pilot[None], HealthScreen], Awaitable[None]]


@pytest.fixture(autouse=True)
def reads_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_module, "apart", here)


run = partial(look_at, HealthScreen)


def snapshot(name: str) -> Body:
    async def body(pilot: Pilot[None], _: HealthScreen) -> None:
        assert_snapshot(app_of(pilot), name)

    return body


@pytest.mark.parametrize(
    ("theme", "size"), [("dark", (80, 24)), ("light", (120, 34)), ("colour-blind", (100, 30))]
)
def test_directories_look_as_they_did(folder: Path, theme: str, size: tuple[int, int]) -> None:
    watcher = Still(*copied(folder, 2, 3, 4))
    run(snapshot(f"health-{theme}-{size[0]}x{size[1]}"), watcher, size, f"kraftool-{theme}")


@pytest.mark.parametrize("name", ["no-leader", "healthy"])
def test_a_live_quorum_looks_as_it_did(name: str) -> None:
    run(snapshot(f"health-live-{name}-80x24"), Replayed(pictures(name)[-1:]))


def test_all_that_doctor_finds_is_there_with_the_command_to_run(folder: Path) -> None:
    paths = copied(folder, 2, 3, 4)
    expected = examine_directories(paths, Task())

    async def body(pilot: Pilot[None], view: HealthScreen) -> None:
        document = view.as_json()
        codes = [complaint["code"] for complaint in document["complaints"]]
        assert sorted(codes) == sorted(complaint.finding.code for complaint in expected.complaints)
        assert len([*view.as_rows()]) == 1 + len(codes)
        assert "✖ 2 errors" in shown(pilot)
        first = view.as_json()["complaints"][0]
        assert first["code"].removeprefix("KT-") in shown(pilot)
        await press(pilot, "y")
        assert pilot.app.clipboard == "\n".join(first["commands"])

    run(body, Still(*paths), size=(164, 40))


def test_i_leaves_out_what_is_no_reason_to_worry(folder: Path) -> None:
    async def body(pilot: Pilot[None], _: HealthScreen) -> None:
        assert "· info" in shown(pilot)
        await press(pilot, "i")
        assert "· info" not in shown(pilot)
        assert "info left out" in shown(pilot)
        assert "✖ error" in shown(pilot)
        await press(pilot, "i")
        assert "· info" in shown(pilot)

    run(body, Still(*copied(folder, 2, 3, 4)))


def test_a_directory_that_breaks_is_noticed_and_v_does_not_wait(folder: Path) -> None:
    """At once only by v: an examination that has just been made is good for some seconds."""
    (path,) = copied(folder, 3)

    async def body(pilot: Pilot[None], view: HealthScreen) -> None:
        before = {complaint["code"] for complaint in view.as_json()["complaints"]}
        assert "KT-LOG-CRC" not in before
        log = folder / path / LOG
        data = bytearray(log.read_bytes())
        data[9000] ^= 4
        log.write_bytes(data)
        await press(pilot, "r")
        assert {complaint["code"] for complaint in view.as_json()["complaints"]} == before
        await press(pilot, "v")
        assert "KT-LOG-CRC" in {complaint["code"] for complaint in view.as_json()["complaints"]}
        assert "LOG-CRC" in shown(pilot)

    run(body, Still(path), size=(164, 40))


def test_damage_is_told_with_its_place(folder: Path) -> None:
    async def body(pilot: Pilot[None], view: HealthScreen) -> None:
        for _ in view.as_json()["complaints"]:
            if "position 8955" in shown(pilot):
                break
            await press(pilot, "j")
        assert "position 8955" in shown(pilot)

    run(body, Still(damaged(folder)), size=(120, 40))


def test_x_stops_an_examination(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = threading.Event()

    def slow(function: Any, *arguments: object, task: Task) -> None:
        began.set()
        while True:
            task.set("examining directories", 1, None)
            time.sleep(0.001)  # the interpreter is the screen's too

    monkeypatch.setattr(health_module, "apart", slow)

    async def inner() -> None:
        app = WatchApp(Still(*copied(folder, 2)), view="health", environment={})
        async with app.run_test(size=(80, 24)) as pilot:
            await asyncio.to_thread(began.wait)
            await until_shown(pilot, "examining directories")
            await press(pilot, "x")
            assert "stopped" in shown(pilot)
            assert "not examined yet" in shown(pilot)

    asyncio.run(inner())


def test_doctor_runs_from_the_start_whichever_view_is_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first screen called directories fine that Health had errors for."""
    monkeypatch.setattr(app_module, "_EXAMINE_AFTER_S", 0.01)
    goes_on = threading.Event()
    paths = copied(folder, 2, 3)
    whole = examine_directories(paths, Task())

    def slow(function: Any, *arguments: object, task: Task) -> Doctored:
        assert goes_on.wait(60)
        return whole

    monkeypatch.setattr(health_module, "apart", slow)

    async def inner() -> None:
        app = WatchApp(Still(*paths), environment={})
        async with app.run_test(size=(80, 24)) as pilot:
            await until_shown(pilot, "doctor examines the directories")
            assert "no problems found" not in shown(pilot)
            goes_on.set()
            async with asyncio.timeout(PATIENCE_S):
                while app.overview.examined is None:
                    await pilot.pause(0.01)
            await settled(pilot)
            assert app.seen is not None
            assert app.seen.id == "quorum"
            await until_shown(pilot, whole.complaints[0].finding.sentence()[:30])
            assert "not examined yet" not in shown(pilot)

    asyncio.run(inner())


def test_what_is_known_of_the_first_directory_is_shown_while_others_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()
    paths = copied(folder, 2, 3)
    first, whole = examine_directories(paths[:1], Task()), examine_directories(paths, Task())

    def slow(function: Any, *arguments: object, task: Task) -> Doctored:
        task.begin("examining directories")
        task.partial(first)
        assert goes_on.wait(60)
        return whole

    monkeypatch.setattr(health_module, "apart", slow)

    async def inner() -> None:
        app = WatchApp(Still(*paths), view="health", environment={})
        async with app.run_test(size=(100, 40)) as pilot:
            await until_shown(pilot, "not looked at yet: the other directories")
            await until_shown(pilot, "examining directories")
            assert first.complaints[0].finding.sentence()[:30] in shown(pilot)
            assert "not examined yet" in shown(pilot), "the title is not green"
            goes_on.set()
            await settled(pilot)
            assert "not looked at yet" not in shown(pilot)

    asyncio.run(inner())


def test_a_recorded_election_is_told_when_it_is_seen() -> None:
    """Picture by picture, as they came when a leader was killed."""
    given = Replayed(pictures("leader-killed"))

    async def body(pilot: Pilot[None], view: HealthScreen) -> None:
        seen: set[str] = set()
        for _ in given.given:
            seen |= {complaint["code"] for complaint in view.as_json()["complaints"]}
            given.next()
            await settled(pilot)
        assert {"KT-LIVE-ELECTION", "KT-LIVE-UNREACHED", "KT-LIVE-NO-SPARE"} <= seen
        assert "2 of 3 voters ready" in shown(pilot)

    run(body, given, size=(120, 30))
