"""Screens as SVG, compared with the ones that somebody has looked at.

Owns the comparing. `KRAFTOOL_SNAPSHOTS=write` takes what is there now for right; look at it then:
every browser shows SVG.
"""

from __future__ import annotations

import os
import re
from difflib import ndiff
from html import unescape
from pathlib import Path

from kraftool.tui.app import WatchApp

FOLDER = Path(__file__).parent / "snapshots"
_NAMES = re.compile(r"terminal-\d+")
_PIECE = re.compile(r'<text[^>]* x="([0-9.]+)" y="([0-9.]+)"[^>]*clip-path[^>]*>([^<]*)</text>')
_COLUMN = 12.2
"""How wide rich draws a character."""


def _normal(svg: str) -> str:
    """Without the number in the names of styles, which is a sum of all the rest."""
    return _NAMES.sub("terminal", svg).replace("><", ">\n<")


def words_of(svg: str) -> str:
    """The text of a screen, a line a row."""
    rows: dict[float, str] = {}
    for x, y, text in _PIECE.findall(svg):
        before = rows.get(float(y), "")
        rows[float(y)] = before.ljust(round(float(x) / _COLUMN)) + unescape(text).replace(
            "\xa0", " "
        )
    return "\n".join(rows[y].rstrip() for y in sorted(rows))


def screen(app: WatchApp) -> str:
    """What the app shows now, as text."""
    return words_of(app.export_screenshot())


def assert_snapshot(app: WatchApp, name: str) -> None:
    """The app looks as it did when NAME.svg was taken."""
    picture = _normal(app.export_screenshot(title="kraftool watch"))
    path = FOLDER / f"{name}.svg"
    if os.environ.get("KRAFTOOL_SNAPSHOTS") == "write":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(picture)
        return
    assert path.exists(), f"{path} is missing: KRAFTOOL_SNAPSHOTS=write takes it"
    expected = path.read_text()
    was, now = words_of(expected).splitlines(), words_of(picture).splitlines()
    assert was == now, f"{name}: other words:\n" + "\n".join(ndiff(was, now))
    assert picture == expected, f"{name}: the same words, another look"
