"""A place between two ends, drawn on one line; a click chooses another.

Owns the drawing. What the places mean is for the view.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from kraftool.tui.frame import frame_of


class Slider(Widget):
    """First and last value at the ends, marks between them, and where one is."""

    DEFAULT_CSS = "Slider { height: 1; padding: 0 1; }"

    class Chosen(Message):
        """Somebody clicked at a value."""

        def __init__(self, value: int) -> None:
            super().__init__()
            self.value = value

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.first, self.last, self.value = 0, 0, 0
        self.marks: tuple[int, ...] = ()
        self.compared: int | None = None

    def tell(
        self, first: int, last: int, value: int, marks: Sequence[int], compared: int | None
    ) -> None:
        """Show these."""
        self.first, self.last, self.value = first, last, value
        self.marks, self.compared = tuple(marks), compared
        self.refresh()

    def _bar(self) -> tuple[int, int]:
        """Return where the bar begins, and its length."""
        start = len(str(self.first)) + 1
        return start, max(self.size.width - start - len(str(self.last)) - 1, 2)

    def _column(self, value: int) -> int:
        _, width = self._bar()
        span = max(self.last - self.first, 1)
        return min(max(round((value - self.first) / span * (width - 1)), 0), width - 1)

    def render(self) -> Text:
        palette = frame_of(self).palette
        _, width = self._bar()
        line = Text(f"{self.first} ", palette.quiet, no_wrap=True, end="")
        cells = ["─"] * width
        for mark in self.marks:
            cells[self._column(mark)] = "┴"
        styles = {self._column(self.value): ("●", palette.key)}
        if self.compared is not None:
            styles.setdefault(self._column(self.compared), ("◆", palette.warn))
        for number, cell in enumerate(cells):
            sign, style = styles.get(number, (cell, palette.line))
            line.append(sign, style)
        return line.append(f" {self.last}", palette.quiet)

    def on_click(self, event: events.Click) -> None:
        start, width = self._bar()
        at = min(max(event.x - 1 - start, 0), width - 1)
        self.post_message(
            self.Chosen(self.first + round(at / (width - 1) * (self.last - self.first)))
        )
