"""A table that takes whole reports and changes only the cells that differ.

Owns the cursor across refreshes, vi keys, and searching and copying rows. It refuses strings: cells
are Text, as a string would be read as markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate
from textual.widgets import DataTable

Row = tuple[str, Sequence[Text]]
"""A key that stays the same over refreshes, and the cells."""


@lru_cache(maxsize=10_000)
def _place(row: int, column: int) -> Style:
    """By this the mouse knows which cell it is on."""
    return Style.from_meta({"row": row, "column": column})


class ReportTable(DataTable[Text]):
    """Rows by key. Call `fill` with all of them as often as there is news."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Down", show=False),
        Binding("k", "cursor_up", "Up", show=False),
        Binding("h", "scroll_left", "Left", show=False),
        Binding("l", "scroll_right", "Right", show=False),
        Binding("g", "scroll_top", "Top", show=False),
        Binding("G", "scroll_bottom", "Bottom", show=False),
        Binding("ctrl+d", "half(1)", "Half a page down", show=False),
        Binding("ctrl+u", "half(-1)", "Half a page up", show=False),
    ]

    def __init__(self, *columns: tuple[str, bool], id: str | None = None) -> None:
        """`columns`: each a heading, and whether its numbers stand right."""
        super().__init__(id=id, cursor_type="row", cursor_foreground_priority="renderable")
        self._headings = columns
        self._rows: dict[str, tuple[Text, ...]] = {}
        self._keys: list[str] = []
        """Of the rows, by their number."""
        self._lost: tuple[str, str] | None = None
        """The key of the cursor's row that is gone, and of the one where it waits."""
        self._painted: dict[tuple[int, int], tuple[Text, tuple[object, ...], list[list[Segment]]]]
        self._painted = {}
        """By place: a cell, all else that its look depends on, and how it was painted."""
        self.cell_padding = 1

    def on_mount(self) -> None:
        self._head()

    def _head(self) -> None:
        for name, right in self._headings:
            self.add_column(Text(name, justify="right" if right else "left"), key=name)

    def set_columns(self, columns: Sequence[tuple[str, bool]]) -> None:
        """Other columns, as where the terminal became wider. The rows have to be filled again."""
        if tuple(columns) != self._headings:
            self._headings = tuple(columns)
            self._rows, self._keys = {}, []
            self.clear(columns=True)
            self._head()

    def fill(self, rows: Sequence[Row]) -> None:
        """Show these rows, in this order; the cursor stays on its key."""
        wanted = {key: tuple(cells) for key, cells in rows}
        if [*wanted] == self._keys:
            before, self._rows = self._rows, wanted
            self._show_changes(before)
            return
        row, offset = self.cursor_row, self.scroll_offset
        here = self.cursor_key
        if self._lost is not None and self._lost[1] == here:
            here = self._lost[0]
        self.clear()
        # Here, and not when the table is idle: what is painted before is kept as it was painted.
        for number, column in enumerate(self.ordered_columns):
            widths = (cells[number].cell_len for cells in wanted.values())
            column.content_width = max(column.label.cell_len, *widths, 0)
        self._rows = wanted
        self._keys = keys = [*wanted]
        for key, cells in wanted.items():
            self.add_row(*cells, key=key)
        # The table learns its height when it is idle; one that was hidden until now has none yet.
        self.call_after_refresh(self.refresh, layout=True)
        if not wanted:
            return
        # Where the cursor's row is gone for now, the cursor waits for it in its place.
        place = keys.index(here) if here in wanted else min(row, len(keys) - 1)
        self._lost = (here, keys[place]) if here is not None and here not in wanted else None
        self.move_cursor(row=place, animate=False, scroll=False)
        self.scroll_to(offset.x, offset.y, animate=False)

    def _show_changes(self, before: dict[str, tuple[Text, ...]]) -> None:
        """Paint again if a cell differs; the widget is told of those only that need more room, or
        that it paints itself: to tell it of each cell costs more than to paint all that are seen.
        """
        last: tuple[str, int] | None = None
        widths = [ordered_column.content_width for ordered_column in self.ordered_columns]
        for key, cells in self._rows.items():
            for number, (old, new) in enumerate(zip(before[key], cells, strict=True)):
                if old is new or (old == new and old.style == new.style):
                    continue
                last = key, number
                if new.cell_len > widths[number]:
                    # Here, as in `fill`: what is painted before the table is idle is not cut.
                    self.ordered_columns[number].content_width = new.cell_len
                    widths[number] = new.cell_len
                    self.update_cell(key, self._headings[number][0], new, update_width=True)
                elif new.spans:
                    self.update_cell(key, self._headings[number][0], new, update_width=True)
        if last is not None:
            key, number = last
            self.update_cell(key, self._headings[number][0], self._rows[key][number])
            # Lines painted before are never asked for again, and would be kept by the thousand.
            self._row_render_cache.clear()
            self._line_cache.clear()
            self.refresh()

    def _clear_caches(self) -> None:
        self._painted.clear()
        super()._clear_caches()

    def _render_cell(
        self,
        row_index: int,
        column_index: int,
        base_style: Style,
        width: int,
        cursor: bool = False,
        hover: bool = False,
    ) -> list[list[Segment]]:
        """A cell of one style as three segments; rich's way to them takes twenty times as long,
        and a refresh paints hundreds. What is the same as at the last refresh is kept."""
        is_heading = row_index < 0
        if column_index < 0 or row_index >= len(self._keys):
            return super()._render_cell(row_index, column_index, base_style, width, cursor, hover)
        if is_heading:
            cell = self.ordered_columns[column_index].label
        else:
            cell = self._rows[self._keys[row_index]][column_index]
        if cell.spans:
            return super()._render_cell(row_index, column_index, base_style, width, cursor, hover)
        state = (cursor, hover, self._show_hover_cursor, self._pseudo_class_state)
        looks = (base_style, width, *state)
        kept = self._painted.get((row_index, column_index))
        if kept is not None and kept[0] is cell and kept[1] == looks:
            return kept[2]
        component, post = self._get_styles_to_render_cell(
            is_heading, False, False, hover, cursor, self.show_cursor, self._show_hover_cursor,
            self.cursor_foreground_priority == "css", self.cursor_background_priority == "css",
        )  # fmt: skip
        around = base_style + _place(row_index, column_index) + component
        style = cell.style if isinstance(cell.style, Style) else Style.parse(cell.style)
        room = max(width - 2 * self.cell_padding, 0)
        plain = set_cell_size(cell.plain, min(cell.cell_len, room))
        free, padding = " " * (room - cell_len(plain)), " " * self.cell_padding
        right = self._headings[column_index][1]
        lines = [
            [
                Segment(padding + free if right else padding, around + post),
                Segment(plain, around + style + post),
                Segment(padding if right else free + padding, around + post),
            ]
        ]
        self._painted[row_index, column_index] = cell, looks, lines
        return lines

    @property
    def cursor_key(self) -> str | None:
        """The key of the row that the cursor is on."""
        if not self._rows or not self.is_valid_coordinate(Coordinate(self.cursor_row, 0)):
            return None
        return self.coordinate_to_cell_key(Coordinate(self.cursor_row, 0)).row_key.value

    def action_half(self, step: int) -> None:
        rows = self.scrollable_content_region.height - self.header_height
        self.move_cursor(row=self.cursor_row + step * max(rows // 2, 1), animate=False)

    def row_text(self) -> str:
        """The cells of the cursor's row, by tabs, for the clipboard."""
        key = self.cursor_key
        return "" if key is None else "\t".join(cell.plain for cell in self._rows[key])

    def find(self, text: str, step: int = 1) -> bool:
        """Go to the next row (step -1: the one before) that has the text; whether there is one."""
        keys, wanted = [*self._rows], text.casefold()
        for distance in range(1, len(keys) + 1):
            number = (self.cursor_row + step * distance) % len(keys)
            plain = "\t".join(cell.plain for cell in self._rows[keys[number]])
            if wanted in plain.casefold():
                self.move_cursor(row=number, animate=False)
                return True
        return False
