"""A box of lines with a title in its upper border. It scrolls if there is no room.

Owns the comparison that saves a layout if the content is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static


class Panel(VerticalScroll):
    """Rows of texts: all but the last of a row keep their width, and the last one wraps."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G", "scroll_end", show=False),
    ]
    DEFAULT_CSS = """
    Panel { height: auto; padding: 0 1; border-top: solid $panel; border-title-color: $foreground;
            border-title-style: bold; scrollbar-size-vertical: 1; }
    Panel:focus { border-top: solid $primary; }
    """

    def __init__(self, title: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = title
        self._rows: tuple[tuple[Text, ...], ...] = ()

    def compose(self) -> ComposeResult:
        yield Static()

    def show_rows(self, rows: Sequence[Sequence[Text]]) -> None:
        """Show these rows from now on."""
        wanted = tuple(map(tuple, rows))
        if _same(wanted, self._rows):
            return
        self._rows = wanted
        grid = Table.grid(padding=(0, 1))
        for _ in range(max(map(len, wanted), default=1) - 1):
            grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold", ratio=1)
        for row in wanted:
            grid.add_row(*row)
        self.query_one(Static).update(grid)

    @property
    def text(self) -> str:
        """Return the rows as text, for the clipboard and the search."""
        return "\n".join(" ".join(cell.plain for cell in row) for row in self._rows)


def _same(ours: Sequence[Sequence[Text]], theirs: Sequence[Sequence[Text]]) -> bool:
    """True if texts and styles are the same: Text compares its own style by neither."""
    return len(ours) == len(theirs) and all(
        len(one) == len(other)
        and all(
            left == right and left.style == right.style
            for left, right in zip(one, other, strict=True)
        )
        for one, other in zip(ours, theirs, strict=True)
    )
