"""Colours by meaning, in five themes: dark, light, high contrast, colour-blind, without colour.

Owns the themes and the styles of text. A screen says what a text means (`bad`), never a colour; and
no meaning is told by colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style
from rich.text import Text
from textual.theme import Theme

from kraftool.reports.text.printable import printable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Palette:
    """A style for each meaning. A theme has one, which equals itself only."""

    name: Style
    """What a thing is called; headings."""
    quiet: Style
    good: Style
    warn: Style
    bad: Style
    key: Style
    """What tells things apart: keys of the keyboard, types, links."""
    mark: Style
    """Found by a search, or the place where something is."""
    line: Style
    """Sparklines and other drawings."""

    def text(self, value: object, meaning: str = "") -> Text:
        """Text from data: never markup, and nothing in it acts on the terminal."""
        style = getattr(self, meaning) if meaning else ""
        return Text(printable(str(value)), style=style, no_wrap=True, end="")

    def wrapped(self, value: object, meaning: str = "") -> Text:
        """Return the styled text, wrapped to as many lines as it needs."""
        line = self.text(value, meaning)
        line.no_wrap = False
        return line


def _palette(
    *, quiet: str, good: str, warn: str, bad: str, key: str, mark: str, line: str
) -> Palette:
    return Palette(
        name=Style(bold=True),
        quiet=Style.parse(quiet),
        good=Style.parse(good),
        warn=Style.parse(warn),
        bad=Style.parse(bad),
        key=Style.parse(key),
        mark=Style.parse(mark),
        line=Style.parse(line),
    )


DARK, LIGHT, HIGH_CONTRAST, COLOUR_BLIND, NO_COLOUR = (
    "kraftool-dark",
    "kraftool-light",
    "kraftool-high-contrast",
    "kraftool-colour-blind",
    "kraftool-no-colour",
)
NAMES = (DARK, LIGHT, HIGH_CONTRAST, COLOUR_BLIND, NO_COLOUR)

PALETTES = {
    DARK: _palette(
        quiet="#969fb0", good="#7ec699", warn="#e5c07b", bad="bold #ff7b86", key="#6cb6ff",
        mark="bold #1b1f27 on #e5c07b", line="#6cb6ff",
    ),
    LIGHT: _palette(
        quiet="#555b66", good="#166a2f", warn="#7d5200", bad="bold #b01824", key="#0550ae",
        mark="bold #1f2328 on #ffdf80", line="#0550ae",
    ),
    HIGH_CONTRAST: _palette(  # each at least 7:1 on black
        quiet="#c8c8c8", good="bold #5cff5c", warn="bold #ffd700", bad="bold #ff9a9a",
        key="#7fdfff", mark="bold #000000 on #ffff00", line="#7fdfff",
    ),
    COLOUR_BLIND: _palette(  # Okabe and Ito's colours; blue for good, orange and vermilion for bad
        quiet="#9aa4b2", good="#56b4e9", warn="#e69f00", bad="bold #ff8c42", key="#f0e442",
        mark="bold #101418 on #f0e442", line="#56b4e9",
    ),
    NO_COLOUR: _palette(
        quiet="dim", good="none", warn="bold", bad="bold reverse", key="underline",
        mark="reverse", line="none",
    ),
}  # fmt: skip

THEMES = (
    Theme(
        name=DARK, primary="#6cb6ff", secondary="#7ec699", accent="#6cb6ff", success="#7ec699",
        warning="#e5c07b", error="#ff7b86", foreground="#dfe3ea", background="#14171d",
        surface="#1b1f27", panel="#252b36", dark=True,
    ),
    Theme(
        name=LIGHT, primary="#0550ae", secondary="#166a2f", accent="#0550ae", success="#166a2f",
        warning="#7d5200", error="#b01824", foreground="#1f2328", background="#fbfbfa",
        surface="#f1f2f4", panel="#e2e5ea", dark=False,
    ),
    Theme(
        name=HIGH_CONTRAST, primary="#7fdfff", secondary="#5cff5c", accent="#7fdfff",
        success="#5cff5c", warning="#ffd700", error="#ff9a9a", foreground="#ffffff",
        background="#000000", surface="#000000", panel="#282828", dark=True,
    ),
    Theme(
        name=COLOUR_BLIND, primary="#56b4e9", secondary="#f0e442", accent="#56b4e9",
        success="#56b4e9", warning="#e69f00", error="#d55e00", foreground="#e8ebef",
        background="#101418", surface="#181d23", panel="#242b34", dark=True,
    ),
    Theme(
        name=NO_COLOUR, primary="#ffffff", secondary="#c8c8c8", accent="#ffffff",
        success="#ffffff", warning="#ffffff", error="#ffffff", foreground="#e0e0e0",
        background="#000000", surface="#0a0a0a", panel="#2a2a2a", dark=True,
    ),
)  # fmt: skip
