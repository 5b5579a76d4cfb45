"""A list of any length, of which only the lines that are seen are painted.

Owns the cursor, vi keys, the mouse and scrolling. What a line says is for whoever gives the rows:
they are values of any kind, and `paint` makes a Text of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

Row = TypeVar("Row")
_SHIFT = 8


class Lines(ScrollView, Generic[Row], can_focus=True):
    """Rows, a line each, and a cursor."""

    DEFAULT_CSS = """
    Lines { height: 1fr; scrollbar-size-horizontal: 0; scrollbar-size-vertical: 1; }
    Lines > .lines--cursor { background: $primary 20%; }
    Lines > .lines--cursor-away { background: $panel; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor", "lines--cursor-away"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("ctrl+d", "half(1)", "Half a page down", show=False),
        Binding("ctrl+u", "half(-1)", "Half a page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("pageup,b", "page(-1)", "Page up", show=False),
        Binding("home,g", "top", "Top", show=False),
        Binding("end,G", "bottom", "Bottom", show=False),
        Binding("left,h", "shift(-1)", "Left", show=False),
        Binding("right,l", "shift(1)", "Right", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    class Told(Message):
        """Something of these lines."""

        def __init__(self, lines: Lines[Any]) -> None:
            super().__init__()
            self.lines = lines

        @property
        def control(self) -> Lines[Any]:
            return self.lines

    class Moved(Told):
        """The cursor is on another row, or the rows are others."""

    class Chosen(Told):
        """A row was opened: Enter, or a click on the row that the cursor was on."""

    def __init__(self, paint: Callable[[Row, int], Text], *, id: str | None = None) -> None:
        """`paint`: makes the line of a row, for so many columns."""
        super().__init__(id=id)
        self.rows: Sequence[Row] = ()
        self.cursor = 0
        self.left = 0
        """Columns that lie left of what is seen."""
        self._paint = paint

    # --- rows -------------------------------------------------------------------------------------

    def set_rows(self, rows: Sequence[Row], cursor: int) -> None:
        """Show these rows. The row under the cursor stays where it is on the screen."""
        moved = cursor - self.cursor
        was = int(self.scroll_offset.y)
        self.rows = rows
        self.virtual_size = Size(0, len(rows))
        self.cursor = max(min(cursor, len(rows) - 1), 0)
        if moved:
            self.scroll_to(y=max(was + moved, 0), animate=False, force=True, immediate=True)
        self._seen()
        self.refresh()
        self.call_after_refresh(self._place_bar)
        self.post_message(self.Moved(self))

    def _place_bar(self) -> None:
        """The scrollbar comes to be after the scrolling where there was none before."""
        self.vertical_scrollbar.position = self.scroll_y

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    @property
    def is_at_end(self) -> bool:
        return self.cursor >= len(self.rows) - 1

    def move_to(self, cursor: int) -> None:
        """Put the cursor on a row, and have it seen."""
        cursor = max(min(cursor, len(self.rows) - 1), 0)
        if cursor != self.cursor:
            before, self.cursor = self.cursor, cursor
            self.refresh_line(before - int(self.scroll_offset.y))
            self.refresh_line(cursor - int(self.scroll_offset.y))
            self._seen()
            self.post_message(self.Moved(self))

    def _seen(self) -> None:
        """Scroll so far that the cursor is seen."""
        height = max(self.scrollable_content_region.height, 1)
        top = int(self.scroll_offset.y)
        if self.cursor < top:
            top = self.cursor
        elif self.cursor >= top + height:
            top = self.cursor - height + 1
        if top != int(self.scroll_offset.y):
            self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        self._seen()

    # --- painting ---------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = int(self.scroll_offset.y) + y
        base = self.rich_style
        if number >= len(self.rows):
            return Strip.blank(width, base)
        line = self._paint(self.rows[number], width + self.left)
        if number == self.cursor:
            name = "lines--cursor" if self.has_focus else "lines--cursor-away"
            base = base + Style(bgcolor=self.get_component_rich_style(name).bgcolor)
        segments = [
            Segment(
                segment.text,
                base + (segment.style if isinstance(segment.style, Style) else Style()),
            )
            for segment in line.render(self.app.console)
            if segment.text and segment.text != "\n"
        ]
        strip = Strip(segments)
        if self.left:
            strip = strip.crop(self.left)
        return strip.adjust_cell_length(width, base)

    # --- keys and mouse ---------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        self.move_to(self.cursor + step)

    def action_page(self, step: int) -> None:
        self.move_to(self.cursor + step * max(self.size.height - 1, 1))

    def action_half(self, step: int) -> None:
        self.move_to(self.cursor + step * max(self.size.height // 2, 1))

    def action_top(self) -> None:
        self.move_to(0)

    def action_bottom(self) -> None:
        self.move_to(len(self.rows) - 1)

    def action_shift(self, step: int) -> None:
        self.left = max(self.left + step * _SHIFT, 0)
        self.refresh()

    def action_choose(self) -> None:
        if self.rows:
            self.post_message(self.Chosen(self))

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is None:
            return  # the border
        number = int(self.scroll_offset.y) + place.y
        if not 0 <= number < len(self.rows):
            return
        if number == self.cursor:
            self.action_choose()
        else:
            self.move_to(number)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.action_move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.action_move(-3)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        event.stop()
        event.prevent_default()
        self.action_shift(1)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        event.stop()
        event.prevent_default()
        self.action_shift(-1)

    def find(self, text: str, step: int, plain: Callable[[Row], str]) -> bool:
        """Go to the next row (step -1: the one before) that has the text; whether there is one."""
        wanted = text.casefold()
        number = self.cursor + step
        while 0 <= number < len(self.rows):
            if wanted in plain(self.rows[number]).casefold():
                self.move_to(number)
                return True
            number += step
        return False
