"""Tables without lines, as every command shows them: a title, column heads, rows.

Owns how they look. Which columns there are is up to each view.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import NAME, QUIET, TYPE, text
from kraftool.directory.log_summary import TypeCount
from kraftool.reports.files.file_words import by_label


def heading(words: str) -> Text:
    return Text(words, style=NAME)


def plain_table(title: str, *columns: str, right: Sequence[str] = ()) -> Table:
    """A table without lines: a title, column heads, rows."""
    table = Table(
        title=heading(title),
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style=QUIET,
        padding=(0, 2, 0, 0),
    )
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def type_table(title: str, types: Sequence[TypeCount], width: int) -> Table:
    """Counts by record type, side by side as the width allows."""
    counts = by_label(types)
    label_width = max(len(label) for label, _ in counts)
    count_width = max(len(str(count)) for _, count in counts)
    groups = max(1, min(3, (width + 3) // (label_width + count_width + 5)))
    rows = -(-len(counts) // groups)
    table = Table(
        title=heading(title), title_justify="left", box=None, pad_edge=False, show_header=False,
        padding=(0, 1),
    )  # fmt: skip
    for _ in range(groups):
        table.add_column(justify="right", min_width=count_width)
        table.add_column(style=TYPE, min_width=label_width + 1)
    for row in range(rows):
        cells: list[Text] = []
        for label, count in counts[row::rows]:
            cells += [text(count), text(label)]
        table.add_row(*cells)
    return table
