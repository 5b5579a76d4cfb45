"""The blocks that a report is shown in, without colours: phrases, cells and tables.

A table is made here once. `commands/block_view.py` lays it out for a terminal, `tui/blocks.py` for
the dashboard: they know styles, and no report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple


class Phrase(NamedTuple):
    """Some words, and what they mean: a name of a style, empty for plain text."""

    text: str
    meaning: str = ""


NEW_LINE = Phrase("\n")
"""Begins a line of a cell: this very value, as a line feed in data is data."""

Cell = Phrase | Sequence[Phrase]
"""A cell, of several phrases where its parts mean different things."""


def phrases(cell: Cell) -> Sequence[Phrase]:
    """The phrases of a cell."""
    return (cell,) if isinstance(cell, Phrase) else cell


def stacked(lines: Iterable[Cell]) -> Cell:
    """A cell of several lines."""
    parts: list[Phrase] = []
    for line in lines:
        parts += (NEW_LINE, *phrases(line)) if parts else phrases(line)
    return parts


class Column(NamedTuple):
    """A column's heading, and how its cells stand."""

    heading: str
    is_right: bool = False
    """True for numbers, which stand right."""
    is_whole: bool = False
    """True if no cell is broken over two lines."""
    from_width: int = 0
    """It is shown where a line has so many characters."""
    below_until: int = 0
    """Up to this width a terminal shows its cells below those of the column before."""


class TableRow(NamedTuple):
    """A row, by a key that stays the same when the report is made again."""

    key: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBlock:
    """Rows under headings."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[TableRow]

    def within(self, width: int) -> TableBlock:
        """The table with the columns that are shown at a width."""
        return self.only(column.heading for column in self.columns if column.from_width <= width)

    def only(self, headings: Iterable[str]) -> TableBlock:
        """The table with some of its columns, in their order."""
        wanted = frozenset(headings)
        places = [at for at, column in enumerate(self.columns) if column.heading in wanted]
        return replace(
            self,
            columns=[self.columns[at] for at in places],
            rows=[TableRow(row.key, [row.cells[at] for at in places]) for row in self.rows],
        )

    def without(self, *headings: str) -> TableBlock:
        """The table without some of its columns."""
        return self.only(
            column.heading for column in self.columns if column.heading not in headings
        )

    def stacked_within(self, width: int) -> TableBlock:
        """The table at a width, with columns below others where it is narrow."""
        shown = self.within(width)
        below = [column.below_until > width for column in shown.columns]
        if not any(below):
            return shown
        return replace(
            shown,
            columns=[column for column, is_below in zip(shown.columns, below, strict=True)
                     if not is_below],
            rows=[TableRow(row.key, _stacked_cells(row.cells, below)) for row in shown.rows],
        )  # fmt: skip


def _stacked_cells(cells: Sequence[Cell], below: Sequence[bool]) -> list[Cell]:
    shown: list[Cell] = []
    for cell, is_below in zip(cells, below, strict=True):
        if is_below:
            shown[-1] = stacked((shown[-1], cell))
        else:
            shown.append(cell)
    return shown


class Fact(NamedTuple):
    """A label, and what is known by it; an empty label goes on with the one before."""

    label: str
    parts: Sequence[Phrase]
