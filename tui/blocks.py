"""Blocks of a report in the dashboard: `reports/text/blocks.py` with Textual.

Owns that a cell is one line: what is stacked in a terminal's table stands side by side here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from rich.text import Text

from kraftool.reports.text.blocks import NEW_LINE, Cell, Phrase, TableBlock
from kraftool.tui.palette import Palette
from kraftool.tui.table import ReportTable


@lru_cache(maxsize=10_000)
def phrase_text(palette: Palette, phrase: Phrase) -> Text:
    """A phrase in the colours of a theme. Most stay from look to look, and keep their Text."""
    return palette.text(phrase.text, phrase.meaning)


def cell_text(palette: Palette, cell: Cell) -> Text:
    """A cell in the colours of a theme."""
    if isinstance(cell, Phrase):
        return phrase_text(palette, cell)
    line = Text(no_wrap=True, end="")
    for phrase in cell:
        line.append_text(Text(" ") if phrase is NEW_LINE else phrase_text(palette, phrase))
    return line


def wrapped(palette: Palette, parts: Iterable[Cell], between: str = " ") -> Text:
    """Cells in a text of as many lines as it takes."""
    words = Text(between).join(cell_text(palette, part) for part in parts)
    words.no_wrap = False
    return words


def fill(shown: ReportTable, palette: Palette, block: TableBlock) -> None:
    """Show a table of a report."""
    shown.set_columns([(column.heading, column.is_right) for column in block.columns])
    shown.fill([(row.key, [cell_text(palette, cell) for cell in row.cells]) for row in block.rows])
