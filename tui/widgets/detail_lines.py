"""The details of a row, below its list or next to it, with a link that closes them.

Owns the link and the height of the details. The view decides what to show and how to close it: a
click on the link does what Escape does.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text
from textual.geometry import Size

from kraftool.tui.frame import frame_of
from kraftool.tui.widgets.lines import Lines
from kraftool.tui.widgets.state_lines import wrapped


class DetailLines(Lines[Text]):
    """Hidden until a row is opened."""

    DEFAULT_CSS = """
    DetailLines { display: none; border-top: solid $primary; border-title-align: right;
                  border-title-color: $foreground; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(lambda line, _: line, id=id)
        self.border_title = "[@click=app.press('escape')]✕ Close (Esc)[/]"

    def show_words(self, paragraphs: Iterable[str], view: Size) -> None:
        """Show paragraphs, wrapped to the view's width. They take at most half of its height."""
        palette, width = frame_of(self).palette, max(view.width - 2, 10)
        lines = [line for paragraph in paragraphs for line in wrapped(paragraph, width)]
        self.display = bool(lines)
        self.set_rows([*map(palette.text, lines)], 0)
        self.styles.height = min(len(lines) + 1, max(view.height // 2, 3))
