"""The blocks of a report, and how a terminal and the dashboard lay them out."""

from __future__ import annotations

from kraftool.commands import block_view
from kraftool.reports.text.blocks import Column, Phrase, TableBlock, TableRow, stacked
from kraftool.tui import blocks
from kraftool.tui.palette import DARK, PALETTES

TABLE = TableBlock(
    title="Nodes",
    columns=(
        Column("node", is_right=True),
        Column("written", from_width=110),
        Column("path"),
        Column("holds", below_until=80),
    ),
    rows=[TableRow("1", (Phrase("1"), Phrase("today"), Phrase("a"), Phrase("two files", "quiet")))],
)


def headings(table: TableBlock) -> list[str]:
    return [column.heading for column in table.columns]


def plain(table: TableBlock) -> list[str]:
    return [block_view.cell_text(cell).plain for cell in table.rows[0].cells]


def test_a_column_is_shown_where_there_is_room_for_it() -> None:
    assert headings(TABLE.within(110)) == ["node", "written", "path", "holds"]
    narrow = TABLE.within(109)
    assert headings(narrow) == ["node", "path", "holds"]
    assert plain(narrow) == ["1", "a", "two files"]


def test_some_columns_are_taken_with_their_cells_in_the_order_of_the_table() -> None:
    assert plain(TABLE.only(("path", "node"))) == ["1", "a"]
    assert plain(TABLE.without("written", "holds")) == ["1", "a"]


def test_a_narrow_terminal_has_a_column_below_the_one_before() -> None:
    assert plain(TABLE.stacked_within(80)) == ["1", "a", "two files"]
    narrow = TABLE.stacked_within(79)
    assert headings(narrow) == ["node", "path"]
    assert plain(narrow) == ["1", "a\ntwo files"]


def test_the_natural_width_breaks_no_cell() -> None:
    assert block_view.natural_width(TABLE.within(80)) == len("node  path  two files")
    assert block_view.natural_width(TABLE.stacked_within(79)) == len("node  two files")


def test_a_line_of_a_cell_is_a_line_and_one_of_data_is_data() -> None:
    cell = stacked([Phrase("first"), (Phrase("a\nb"), Phrase("!", "bad"))])
    assert block_view.cell_text(cell).plain == "first\na\\u000ab!"
    shown = blocks.cell_text(PALETTES[DARK], cell)
    assert shown.plain == "first a\\u000ab!", "a row of the dashboard is one line"
    assert shown.spans[-1].style == PALETTES[DARK].bad
