"""Writes pictures of the dashboard as SVG: those of the documents, and each view for the site.

    python -m tools.pictures    # write docs/leader-killed.svg and docs/watch-quorum.svg

Owns the way from screens to one small file that needs no script and no font of a server. What does
not change from one screen to the next is drawn once; CSS shows and hides the rest. The screens are
those of the real dashboard: it is given what a quorum answered while its leader was killed
(fixtures/watch), or the directories of the quorum that `kraftool demo` unpacks.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kraftool.tui.views import VIEWS
from tests.tui.dashboards import Still, app_of, dashboard, settled
from tests.tui.recording import Replayed, pictures

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SIZE = (110, 24)
TITLE = "kraftool watch"
FRAME_S = 0.9
"""Seconds for which a screen is shown: the answers were 0.5 s apart, too fast to read."""
LAST_S = 4.0
NODES = ("node-1", "node-2", "node-3")
_STYLE = re.compile(r"^\s*\.terminal-\d+-(r\d+) \{ (.*?);? \}$", re.MULTILINE)
_RECT = re.compile(
    r'<rect fill="([^"]+)" x="([^"]+)" y="([^"]+)" width="([^"]+)" height="([^"]+)" shape-'
)
_TEXT = re.compile(
    r'<text class="terminal-\d+-(r\d+)" x="([^"]+)" y="([^"]+)" textLength="([^"]+)"[^>]*>([^<]*)<'
)
_BOX = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')

STILL = "@media(prefers-reduced-motion:reduce){g{animation:none!important}}"
_PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<title>{title}</title>
<style>
text{{font:20px ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace}}
text{{white-space:pre}}rect{{shape-rendering:crispEdges}}
{rules}
</style>
<rect fill="#14171d" stroke="#3a404c" x="1" y="1" width="{right}" height="{bottom}" rx="8"/>
<g transform="translate(26,22)"><circle r="7" fill="#ff5f57"/>
<circle cx="22" r="7" fill="#febc2e"/><circle cx="44" r="7" fill="#28c840"/></g>
<text x="{middle}" y="27" fill="#c5c8c6" text-anchor="middle">{title}</text>
<g transform="translate(9,41)">
{body}
</g>
</svg>
"""


class ScreenPart(NamedTuple):
    """A rectangle or a text of a screen, as SVG, without its colour, and with it."""

    svg: str
    style: str

    @property
    def is_text(self) -> bool:
        return self.svg.startswith("<text")


def parts(screen: str) -> Iterator[ScreenPart]:
    """Yield what a screen shows, rectangles first. `screen` is what Textual exports."""
    row: list[float] = []
    fill = ""
    for found in _RECT.finditer(screen):
        colour, *numbers = found.groups()
        x, y, width, height = map(float, numbers)
        if row and colour == fill and y == row[1] and abs(row[0] + row[2] - x) < 0.2:
            row[2] += width
            continue
        if row:
            yield _rectangle(row, fill)
        row, fill = [x, y, width, height], colour
    if row:
        yield _rectangle(row, fill)
    styles = dict(_STYLE.findall(screen))
    for name, x, y, length, words in _TEXT.findall(screen):
        shown = words.replace("&#160;", "\N{NO-BREAK SPACE}").rstrip("\n")
        text = shown.lstrip("\N{NO-BREAK SPACE}")
        indent = len(shown) - len(text)
        text = text.rstrip("\N{NO-BREAK SPACE}")
        if text:
            cell = float(length) / len(_unescaped(shown))
            left, width = float(x) + indent * cell, len(_unescaped(text)) * cell
            yield ScreenPart(
                f'<text x="{left:.5g}" y="{float(y):.5g}" textLength="{width:.5g}">{text}</text>',
                styles[name],
            )


def _unescaped(words: str) -> str:
    return re.sub(r"&[^;]+;", "x", words)


def _rectangle(row: Sequence[float], fill: str) -> ScreenPart:
    x, y, width, height = (f"{number:.5g}" for number in row)
    return ScreenPart(f'<rect x="{x}" y="{y}" width="{width}" height="{height}"/>', f"fill: {fill}")


def picture(screens: Sequence[str], title: str = TITLE) -> str:
    """Return screens as one SVG, shown one after another. One screen stands still.

    If the reader's system asks for less motion, the last screen is shown.
    """
    shown: dict[ScreenPart, set[int]] = {}
    for number, screen in enumerate(screens):
        for part in parts(screen):
            shown.setdefault(part, set()).add(number)
    found = _BOX.search(screens[0])
    assert found, "a screen has a size"
    width, height = (float(number) for number in found.groups())
    groups: dict[frozenset[int], list[ScreenPart]] = {}
    for part, numbers in shown.items():
        groups.setdefault(frozenset(numbers), []).append(part)
    styles = {style: f"s{n}" for n, style in enumerate(dict.fromkeys(p.style for p in shown))}
    rules = [f".{name}{{{style}}}" for style, name in styles.items()]
    bodies: dict[bool, list[str]] = {False: [], True: []}
    for number, (frames, members) in enumerate(groups.items()):
        mark = ""
        if len(frames) < len(screens):
            rules += _moves(f"f{number}", frames, len(screens))
            mark = f' class="f{number}"'
        for is_text, body in bodies.items():
            drawn = "".join(
                part.svg.replace(" ", f' class="{styles[part.style]}" ', 1)
                for part in members
                if part.is_text is is_text
            )
            if drawn:
                body.append(f"<g{mark}>{drawn}</g>")
    return _PICTURE.format(
        width=f"{width:.5g}",
        height=f"{height:.5g}",
        title=title,
        rules="\n".join([*rules, *([STILL] if len(screens) > 1 else [])]),
        right=f"{width - 2:.5g}",
        bottom=f"{height - 2:.5g}",
        middle=f"{width / 2:.5g}",
        body="\n".join([*bodies[False], *bodies[True]]),
    )


def _moves(name: str, frames: frozenset[int], count: int) -> Iterator[str]:
    """Yield the CSS that shows something in these screens only."""
    whole = (count - 1) * FRAME_S + LAST_S
    steps = []
    for number in range(count):
        if number == 0 or (number in frames) is not (number - 1 in frames):
            seen = "visible" if number in frames else "hidden"
            steps.append(f"{100 * number * FRAME_S / whole:.4g}%{{visibility:{seen}}}")
    yield f"@keyframes {name}{{{''.join(steps)}}}"
    hidden = "" if count - 1 in frames else "visibility:hidden;"
    yield f".{name}{{{hidden}animation:{name} {whole:.4g}s step-end infinite}}"


def words(svg: str) -> list[str]:
    """Return all words of a picture, each once."""
    return sorted(set(re.findall(r">([^<>{}]+)</t", svg)))


async def _replayed(name: str) -> list[str]:
    """The screens of a recording."""
    given = pictures(name)
    watcher, screens = Replayed(given), []
    async with dashboard(watcher, "quorum", SIZE) as pilot:
        for _ in given:
            screens.append(app_of(pilot).export_screenshot())
            watcher.next()
            await pilot.pause(0)
            await settled(pilot)
    return screens


def of_documents() -> dict[str, str]:
    """Return the pictures of the documents by their names: how a leader is killed, and the end."""
    screens = asyncio.run(_replayed("leader-killed"))
    return {"leader-killed.svg": picture(screens), "watch-quorum.svg": picture(screens[-1:])}


async def _view(name: str, quorum: Path) -> str:
    watcher = Still(*(quorum / node / "data" for node in NODES))
    async with dashboard(watcher, name, SIZE) as pilot:
        return app_of(pilot).export_screenshot()


def views(quorum: Path) -> dict[str, str]:
    """Return a picture of each view that reads directories, here those that `demo` unpacks.

    The first view is of nodes that answer: docs/watch-quorum.svg shows it.
    """
    return {
        view.name: picture([asyncio.run(_view(view.name, quorum))])
        for view in VIEWS
        if view.name != "quorum"
    }


if __name__ == "__main__":
    for name, svg in of_documents().items():
        (DOCS / name).write_text(svg, encoding="utf-8")
