"""Every text of every view can be read: WCAG's contrast of what is painted, in each theme.

Unlike the test of the palette this takes the background that a text really has: of the row under
the cursor, of the footer, of a dialog. Lines and bars that only draw are left out.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.geometry import Region
from textual.widgets import Input

from kraftool.tui.app import WatchApp
from kraftool.tui.palette import COLOUR_BLIND, DARK, HIGH_CONTRAST, LIGHT
from kraftool.tui.views import VIEWS
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.picture import Picture
from kraftool.watching.sources import Sources
from tests.tui.copied_directories import copied, damaged
from tests.tui.dashboards import AT_MS, app_of, dashboard, press
from tests.tui.recording import Replayed

pytestmark = [pytest.mark.tui, pytest.mark.slow]
_DRAWINGS = re.compile(r"[\s─│┌┐└┘╭╮╰╯━┃▀-▟●·┴]*")
_LINE_INPUTS = {"log": "f", "state": "o", "timeline": "f", "what_if": "c"}


def _luminance(rgb: tuple[int, int, int]) -> float:
    parts = [part / 255 for part in rgb]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(segment: Segment) -> float | None:
    """The contrast of a text with its own background; None if there is nothing to read."""
    style = segment.style
    if style is None or _DRAWINGS.fullmatch(segment.text) or None in (style.color, style.bgcolor):
        return None
    assert style.color is not None
    assert style.bgcolor is not None
    first, second = (_luminance(colour.get_truecolor()) for colour in (style.color, style.bgcolor))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def _faint(app: WatchApp, least: float, where: str, region: Region | None = None) -> list[str]:
    """The texts below this contrast."""
    region = region or app.screen.region
    strips = app.screen._compositor.render_strips()
    return [
        f"{where}: {segment.text.strip()!r} {contrast:.1f}"
        for strip in strips[region.y : region.bottom]
        for segment in strip.crop(region.x, region.right)
        if (contrast := _contrast(segment)) is not None and contrast < least
    ]


def test_what_is_open_is_painted_anew_in_the_next_theme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = copied(tmp_path, 1, 3)
    looks = tuple(DirectoryWatch(path).read(60) for path in paths)
    watcher = Replayed([Picture(at_ms=AT_MS, directories=looks)], Sources(directories=tuple(paths)))

    async def run() -> list[str]:
        faint: list[str] = []
        async with dashboard(watcher, "quorum", (120, 40), DARK) as pilot:
            app = app_of(pilot)
            for number, view in enumerate(VIEWS, 1):
                await press(pilot, str(number), "j", "enter", "t")
                assert app.theme == LIGHT
                faint += _faint(app, 4.5, view.name)
                app.theme = DARK
                await press(pilot, "escape")
        return faint

    assert asyncio.run(run()) == []


@pytest.mark.parametrize(
    ("theme", "least"), [(DARK, 4.5), (LIGHT, 4.5), (COLOUR_BLIND, 4.5), (HIGH_CONTRAST, 7.0)]
)
def test_every_painted_text_has_the_contrast_that_wcag_asks_for(
    theme: str, least: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [damaged(tmp_path), *copied(tmp_path, 1, 3)]
    looks = tuple(DirectoryWatch(path).read(60) for path in paths)
    watcher = Replayed([Picture(at_ms=AT_MS, directories=looks)], Sources(directories=tuple(paths)))

    async def run() -> list[str]:
        faint: list[str] = []
        async with dashboard(watcher, "quorum", (120, 40), theme) as pilot:
            app = app_of(pilot)
            for number, view in enumerate(VIEWS, 1):
                await press(pilot, str(number))
                faint += _faint(app, least, view.name)
                await press(pilot, "j", "enter")
                faint += _faint(app, least, f"{view.name}, opened")
                await press(pilot, "escape", "tab")
                faint += _faint(app, least, f"{view.name}, another part")
                await press(pilot, _LINE_INPUTS.get(view.name, "slash"))
                assert isinstance(app.focused, Input)
                faint += _faint(app, least, f"{view.name}, a line to write in")
                await press(pilot, "escape")
            for key, dialog in (("question_mark", "#help"), ("e", "#export")):
                await press(pilot, key)
                faint += _faint(app, least, dialog, app.screen.query_one(dialog).region)
                await press(pilot, "escape")
            app.tell("a sentence")
            app.tell("an error", is_bad=True)
            await pilot.pause()
            faint += _faint(app, least, "told")
        return faint

    assert asyncio.run(run()) == []
