"""Blocks of a report on a terminal: `reports/text/blocks.py` with rich.

Owns the look of tables without lines: a title, column heads, rows. Data goes through `printable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import KEY, MEANING_STYLES, NAME, QUIET, TYPE, text
from kraftool.directory.log_summary import TypeCount
from kraftool.reports.files.file_words import by_label
from kraftool.reports.text.blocks import NEW_LINE, Cell, Fact, TableBlock, phrases

_BETWEEN = 2
"""Blanks between columns."""


def heading(words: str) -> Text:
    return Text(words, style=NAME)


def cell_text(cell: Cell) -> Text:
    """A cell in its colours."""
    line = Text()
    for phrase in phrases(cell):
        if phrase is NEW_LINE:
            line.append("\n")
        else:
            line.append_text(text(phrase.text, MEANING_STYLES[phrase.meaning]))
    return line


def table(whole: TableBlock, width: int) -> Table:
    """A table of a report, at a width."""
    block = whole.stacked_within(width)
    shown = plain_table(block.title)
    shown.show_header = any(column.heading for column in block.columns)
    for column in block.columns:
        _add_column(shown, column.heading, is_right=column.is_right, is_whole=column.is_whole)
    for row in block.rows:
        shown.add_row(*map(cell_text, row.cells))
    return shown


def natural_width(block: TableBlock) -> int:
    """The columns of characters with which no cell is broken."""
    widths = [
        max(
            len(column.heading),
            *(line.cell_len for row in block.rows for line in cell_text(row.cells[at]).split()),
        )
        for at, column in enumerate(block.columns)
    ]
    return sum(widths) + _BETWEEN * (len(widths) - 1)


def fact_table(facts: Iterable[Fact]) -> Table:
    """Labels, and what belongs to each in as many lines as it takes."""
    shown = Table.grid(padding=(0, 2))
    shown.add_column(no_wrap=True, style=QUIET)
    shown.add_column(overflow="fold")
    for fact in facts:
        shown.add_row(Text(fact.label), Text("  ").join(map(cell_text, fact.parts)))
    return shown


_LABEL_WIDTH = 16


class LabelledRows:
    """The rows of a summary: labels, and what wraps below itself."""

    def __init__(self, width: int = 0) -> None:
        self.table = Table.grid(padding=(0, _BETWEEN))
        self.table.add_column(style=KEY, no_wrap=True, width=_LABEL_WIDTH)
        self.table.add_column(overflow="fold")
        self.room = width - _LABEL_WIDTH - _BETWEEN
        """Columns beside a label, if the width is known."""

    def add(self, label: str, *parts: str | Text) -> None:
        self.table.add_row(label, Text.assemble(*parts))


def plain_table(title: str, *columns: str, right: Sequence[str] = ()) -> Table:
    """A table without lines: a title, column heads, rows."""
    shown = Table(
        title=heading(title) if title else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style=QUIET,
        padding=(0, _BETWEEN, 0, 0),
    )
    for column in columns:
        _add_column(shown, column, is_right=column in right)
    return shown


def _add_column(shown: Table, name: str, *, is_right: bool, is_whole: bool = False) -> None:
    shown.add_column(
        name, justify="right" if is_right else "left", overflow="fold", no_wrap=is_whole
    )


def type_table(title: str, types: Sequence[TypeCount], width: int) -> Table:
    """Counts by record type, side by side as the width allows."""
    counts = by_label(types)
    label_width = max(len(label) for label, _ in counts)
    count_width = max(len(str(count)) for _, count in counts)
    groups = max(1, min(3, (width + 3) // (label_width + count_width + 5)))
    rows = -(-len(counts) // groups)
    shown = Table(
        title=heading(title), title_justify="left", box=None, pad_edge=False, show_header=False,
        padding=(0, 1),
    )  # fmt: skip
    for _ in range(groups):
        shown.add_column(justify="right", min_width=count_width)
        shown.add_column(style=TYPE, min_width=label_width + 1)
    for row in range(rows):
        cells: list[Text] = []
        for label, count in counts[row::rows]:
            cells += [text(count), text(label)]
        shown.add_row(*cells)
    return shown
