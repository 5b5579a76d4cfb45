"""The frame of the dashboard as a person uses it: every key, the mouse, themes, what it leaves."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.events import AppBlur
from textual.pilot import Pilot
from textual.widgets import Input
from textual.widgets._footer import FooterKey

from kraftool.tui.app import WatchApp
from kraftool.tui.dialogs import Export, Help
from kraftool.tui.frame import PictureSource
from kraftool.tui.palette import (
    COLOUR_BLIND,
    DARK,
    HIGH_CONTRAST,
    LIGHT,
    NAMES,
    NO_COLOUR,
    PALETTES,
    THEMES,
)
from kraftool.tui.table import ReportTable
from kraftool.tui.views import VIEWS
from kraftool.watching.export import Memory
from kraftool.watching.sources import Sources
from tests.tui.dashboards import press, settled, told
from tests.tui.recording import Replayed, pictures
from tests.tui.screens import assert_snapshot, screen

pytestmark = [pytest.mark.tui, pytest.mark.slow]
Steps = Callable[[WatchApp, Pilot[None]], Awaitable[None]]


def _run(
    steps: Steps,
    *,
    size: tuple[int, int] = (80, 24),
    watcher: PictureSource | None = None,
    **options: Any,
) -> WatchApp:
    """The dashboard over a recorded quorum, while the steps are taken."""
    app = WatchApp(watcher or Replayed(pictures("healthy")[-1:]), **{"environment": {}, **options})

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await steps(app, pilot)

    asyncio.run(run())
    return app


def test_each_digit_goes_to_its_view_and_brackets_to_the_next(fixtures_dir: Path) -> None:
    directory = str(fixtures_dir / "kafka-4.3.0/static-single/node-1/data")
    watcher = Replayed(pictures("healthy")[-1:], Sources(directories=(directory,)))

    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        for number, view in enumerate(VIEWS, 1):
            await press(pilot, str(number))
            assert app.seen is not None
            assert app.seen.id == view.name
        await press(pilot, "1", "right_square_bracket")
        assert app.seen is not None
        assert app.seen.id == VIEWS[1 % len(VIEWS)].name
        await press(pilot, "left_square_bracket", "left_square_bracket")
        assert app.seen.id == VIEWS[-1].name, "they go round"

    _run(steps, watcher=watcher)


def test_a_click_on_a_tab_goes_to_its_view() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await pilot.click("ViewTabs", offset=(12, 0))
        await settled(pilot)
        assert app.seen is not None
        assert app.seen.id == VIEWS[1].name
        await pilot.click("ViewTabs", offset=(2, 0))
        await settled(pilot)
        assert app.seen.id == VIEWS[0].name

    _run(steps)


def test_vi_keys_move_as_arrows_do() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        table = app.query_one(ReportTable)
        assert table.has_focus
        for key, row in (("j", 1), ("down", 2), ("k", 1), ("up", 0), ("G", 4), ("g", 0),
                         ("ctrl+d", 2), ("ctrl+d", 4), ("ctrl+u", 2)):  # fmt: skip
            await press(pilot, key)
            assert table.cursor_row == row, key

    _run(steps)


def test_half_a_page_is_half_of_the_rows_that_are_seen() -> None:
    class Long(App[None]):
        def compose(self) -> ComposeResult:
            yield ReportTable(("number", False))

        def on_mount(self) -> None:
            table = self.query_one(ReportTable)
            table.fill([(str(number), [Text(str(number))]) for number in range(100)])

    async def run() -> None:
        app = Long()
        async with app.run_test(size=(40, 21)) as pilot:
            table = app.query_one(ReportTable)
            for key, row in (("ctrl+d", 10), ("ctrl+d", 20), ("ctrl+u", 10), ("pagedown", 30)):
                await pilot.press(key)
                await pilot.pause()
                assert abs(table.cursor_row - row) <= 1, key

    asyncio.run(run())


def test_search_goes_from_row_to_row_and_round() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        table = app.query_one(ReportTable)
        await press(pilot, "slash")
        assert app.query_one("#search", Input).has_focus
        await press(pilot, *"OBSERVER", "enter")
        assert table.has_focus
        assert table.cursor_row == 3
        await press(pilot, "n")
        assert table.cursor_row == 4
        await press(pilot, "n")
        assert table.cursor_row == 3
        await press(pilot, "N")
        assert table.cursor_row == 4
        await press(pilot, "slash", "escape")
        assert table.has_focus, "escape leaves the search"
        await press(pilot, "slash", *"x", "enter")
        assert "nothing here has" in screen(app)

    _run(steps)


def test_the_search_takes_keys_that_mean_something_elsewhere() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "slash", *"q1pt?")
        assert app.query_one("#search", Input).value == "q1pt?"
        assert app.is_running

    _run(steps)


def test_help_tells_of_the_view_and_of_every_key() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "question_mark")
        assert isinstance(app.screen, Help)
        assert_snapshot(app, "help-dark-100x44")
        shown = screen(app)
        for words in ("Quorum", "command palette", "export this view", "the next theme"):
            assert words in shown, words
        await press(pilot, "j", "k", "question_mark")
        assert not isinstance(app.screen, Help)
        await press(pilot, "question_mark", "q")
        assert app.is_running, "q closes the help first"

    _run(steps, size=(100, 44))


def test_news_comes_while_a_dialog_is_open() -> None:
    watcher = Replayed(pictures("leader-killed"))

    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "question_mark")
        watcher.last()
        await settled(pilot)
        await press(pilot, "escape")
        assert "node 3 leads epoch 2" in screen(app)

    _run(steps, watcher=watcher)


def test_pause_keeps_the_picture_and_goes_on_with_the_newest() -> None:
    watcher = Replayed(pictures("leader-killed"))

    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "p")
        assert "paused" in screen(app)
        watcher.last()
        await settled(pilot)
        assert "node 2 leads epoch 1" in screen(app)
        await press(pilot, "p")
        watcher.next()
        await settled(pilot)
        assert "paused" not in screen(app)
        assert "node 3 leads epoch 2" in screen(app)

    _run(steps, watcher=watcher)


def test_r_looks_without_waiting() -> None:
    watcher = Replayed(pictures("healthy")[-1:])

    async def steps(_: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "r")
        assert watcher.looks == 1

    _run(steps, watcher=watcher)


def test_y_copies_the_row_for_the_terminals_clipboard() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "j", "y")
        assert app.clipboard.split("\t")[:3] == ["2", "● leader", "41"]

    _run(steps)


def test_themes_go_round_and_only_the_view_is_remembered(tmp_path: Path) -> None:
    memory = Memory("watch", tmp_path)

    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        assert app.theme == DARK
        seen = []
        for _ in NAMES:
            await press(pilot, "t")
            seen.append(app.theme)
            assert app.palette is PALETTES[app.theme]
        assert seen == [LIGHT, HIGH_CONTRAST, COLOUR_BLIND, NO_COLOUR, DARK]
        await press(pilot, "t")
        assert told(pilot) == "theme light; --theme light starts with it"
        await press(pilot, "2")

    _run(steps, memory=memory)
    assert json.loads((tmp_path / "watch.json").read_text()) == {"view": VIEWS[1].name}

    async def again(app: WatchApp, _: Pilot[None]) -> None:
        assert app.theme == DARK, "a theme is kept by --theme alone"
        assert app.seen is not None
        assert app.seen.id == VIEWS[1].name

    _run(again, memory=memory)


def test_what_was_remembered_may_be_damaged(tmp_path: Path) -> None:
    for text in ("", "[]", "{", '{"view": 3, "theme": "no such"}', "\xff"):
        (tmp_path / "watch.json").write_text(text, encoding="latin-1")

        async def steps(app: WatchApp, _: Pilot[None]) -> None:
            assert app.theme == DARK

        _run(steps, memory=Memory("watch", tmp_path))


def test_no_color_takes_the_colours_away() -> None:
    async def steps(app: WatchApp, _: Pilot[None]) -> None:
        assert app.theme == NO_COLOUR

    _run(steps, environment={"NO_COLOR": "1"}, theme=LIGHT)


def _luminance(colour: str) -> float:
    """As WCAG 2.1 has it, from 0 to 1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in parts]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("name", "least"),
    [(DARK, 4.5), (LIGHT, 4.5), (COLOUR_BLIND, 4.5), (HIGH_CONTRAST, 7.0)],
)
def test_every_colour_can_be_read_on_its_background(name: str, least: float) -> None:
    """WCAG 2.1 asks for 4.5:1, and for 7:1 where it asks for more contrast."""
    theme = next(theme for theme in THEMES if theme.name == name)
    palette = PALETTES[name]
    back = _luminance(theme.background or "")
    for meaning in ("quiet", "good", "warn", "bad", "key", "line"):
        colour = getattr(palette, meaning).color
        one = _luminance(colour.get_truecolor().hex)
        contrast = (max(one, back) + 0.05) / (min(one, back) + 0.05)
        assert contrast >= least, f"{meaning}: {contrast:.1f}"


def test_the_whole_footer_is_seen_on_80_columns_in_every_view(fixtures_dir: Path) -> None:
    directory = str(fixtures_dir / "kafka-4.3.0/static-single/node-1/data")
    watcher = Replayed(pictures("healthy")[-1:], Sources(directories=(directory,)))

    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        for number, view in enumerate(VIEWS, 1):
            await press(pilot, str(number))
            keys = [*app.query(FooterKey).results()]
            assert keys[-1].description == "Export"
            ends = max(key.region.right for key in keys)
            assert ends <= 80, f"{view.name}: {ends}"

    _run(steps, watcher=watcher)


def test_a_click_on_a_line_of_the_help_does_what_its_key_does() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "question_mark")
        line = next(
            n for n, words in enumerate(screen(app).splitlines()) if "the next theme" in words
        )
        await pilot.click(offset=(30, line))
        await settled(pilot)
        assert not isinstance(app.screen, Help)
        assert app.theme == LIGHT

    _run(steps, size=(100, 44))


@pytest.mark.parametrize("ending", ["json", "csv", "svg"])
def test_export_writes_a_new_file_for_its_owner(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"view.{ending}"

    async def export(pilot: Pilot[None]) -> None:
        await press(pilot, "e")
        pilot.app.screen.query_one("#path", Input).value = path.name
        await press(pilot, "enter")
        while not pilot.app.query_one("#told").display:
            await pilot.pause(0.01)

    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await export(pilot)
        assert told(pilot) == f"wrote {path}"
        before = path.read_bytes()
        app.tell("")
        await export(pilot)
        assert told(pilot) == f"{path} is there already"
        assert path.read_bytes() == before

    _run(steps)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    if ending == "json":
        document = json.loads(text)
        assert document["schemaVersion"] == 3
        assert document["leaderId"] == 2
    elif ending == "csv":
        rows = [*csv.DictReader(io.StringIO(text))]
        assert [row["id"] for row in rows] == ["1", "2", "3", "4", "11"]
        assert {row["restartIsSafe"] for row in rows} == {"true"}
    else:
        assert text.startswith("<svg")


def test_an_export_names_a_format() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "e")
        assert isinstance(app.screen, Export)
        path = app.screen.query_one("#path", Input)
        assert path.value == "kraftool-quorum-20261121T163442Z.json"
        path.value = "view.txt"
        await press(pilot, "enter")
        assert isinstance(app.screen, Export)
        await press(pilot, "escape")
        assert not isinstance(app.screen, Export)

    _run(steps)


def test_a_served_dashboard_writes_nothing(tmp_path: Path) -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        keys = [key.description for key in app.query(FooterKey).results()]
        assert keys == ["Details", "Quit", "Help", "Search", "Pause", "Copy"]
        await press(pilot, "e", "t")
        assert not isinstance(app.screen, Export)

    _run(steps, is_served=True, memory=Memory("watch", tmp_path / "state"))
    assert not (tmp_path / "state").exists()


def test_the_command_palette_has_views_and_actions() -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await press(pilot, "ctrl+p")
        offered = [system_command.title for system_command in app.get_system_commands(app.screen)]
        assert [view.title for view in VIEWS] == offered[: len(VIEWS)]
        assert {"Help", "Theme", "Export", "Copy", "Pause", "Quit"} <= {*offered}
        assert app.theme == DARK
        await press(pilot, *"theme", "enter")
        assert app.theme == LIGHT

    _run(steps)


def test_before_the_first_picture_it_says_that_it_asks() -> None:
    class Silent(Replayed):
        async def run(self, show: object) -> None:
            await asyncio.Event().wait()

    async def run() -> None:
        app = WatchApp(Silent(()), environment={})
        async with app.run_test(size=(80, 24)) as pilot:
            while "asking" not in screen(app):
                await pilot.pause(0.01)
            for key in ("y", "e", "n", "t", "question_mark", "escape", "1"):
                await pilot.press(key)
            assert app.is_running

    asyncio.run(run())


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (20, 5), (300, 90)])
def test_it_can_be_of_any_size_and_change_it(size: tuple[int, int]) -> None:
    async def steps(app: WatchApp, pilot: Pilot[None]) -> None:
        await pilot.resize_terminal(*size)
        await settled(pilot)
        assert "node" in screen(app)
        title, *_ = screen(app).splitlines()
        assert ("kraftool" in title) == (size[0] > 80), "the name only where it fits"
        await pilot.resize_terminal(100, 30)
        await settled(pilot)
        assert "127.0.0.1:48903" in screen(app), "wide enough for endpoints"

    _run(steps)


@pytest.mark.parametrize("gone", ["#views", "Headline, ViewTabs", "#told"])
def test_a_picture_that_comes_while_the_program_ends_is_dropped(gone: str) -> None:
    async def steps(app: WatchApp, _: Pilot[None]) -> None:
        await app.query(gone).remove()
        app.take(pictures("healthy")[-1])
        app.tell("too late")

    assert _run(steps).return_code != 1


def test_q_ends_it() -> None:
    async def steps(_: WatchApp, pilot: Pilot[None]) -> None:
        await pilot.press("q")

    assert _run(steps).return_code == 0


def test_the_footer_has_every_key_while_another_window_has_the_focus() -> None:
    async def steps(_: WatchApp, pilot: Pilot[None]) -> None:
        keys = [key.description for key in pilot.app.query(FooterKey)]
        assert {"Details", "Quit", "Help", "Search", "Pause", "Copy"} <= {*keys}
        pilot.app.post_message(AppBlur())
        await press(pilot, "2")
        await press(pilot, "1")
        pilot.app.post_message(AppBlur())
        await settled(pilot)
        assert [key.description for key in pilot.app.query(FooterKey)] == keys

    _run(steps)
