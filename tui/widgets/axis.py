"""Lanes of events over a time scale.

Owns the drawing: a sign where one thing happened, a number where several did, and the column of the
cursor. No more lanes are drawn than there is room for; the last one stands for those left over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from kraftool.reports.browse.time_axis import Cell, TimeAxis, TimeSpan
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.times import iso
from kraftool.reports.timeline.events import Category
from kraftool.tui.frame import frame_of

if TYPE_CHECKING:
    from kraftool.tui.palette import Palette

LABEL = 13
_FEWEST = 4
_SIGNS = {Severity.INFO: "●", Severity.WARNING: "▲", Severity.ERROR: "✗"}


class AxisView(Widget):
    """A time axis, as much of it as is seen."""

    DEFAULT_CSS = "AxisView { height: auto; padding: 0 1; }"

    class Clicked(Message):
        """Somebody clicked at a time."""

        def __init__(self, moment: int) -> None:
            super().__init__()
            self.moment = moment

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.axis: TimeAxis | None = None
        self.span = TimeSpan(0, 1)
        self.time: int | None = None

    def tell(self, axis: TimeAxis | None, span: TimeSpan, time: int | None) -> None:
        """Show this part, with the cursor at a time."""
        self.axis, self.span, self.time = axis, span, time
        self.styles.height = len(self._lanes()) + 1 if axis is not None else 0
        self.refresh()

    @property
    def _width(self) -> int:
        return max(self.size.width - LABEL, 10)

    def _lanes(self) -> list[tuple[str, tuple[Category, ...]]]:
        """The lanes to draw, each by its label and what falls into it."""
        if self.axis is None:
            return []
        lanes = self.axis.lanes
        room = max((self.app.size.height - 4) // 3, _FEWEST)
        if len(lanes) <= room:
            return [(lane.value, (lane,)) for lane in lanes]
        shown = [(lane.value, (lane,)) for lane in lanes[: room - 1]]
        return [*shown, ("others", lanes[room - 1 :])]

    def render(self) -> Text:
        text = Text(no_wrap=True, end="")
        if self.axis is None:
            return text
        palette: Palette = frame_of(self).palette
        width = self._width
        here = None if self.time is None else self.axis.column(self.time, self.span, width)
        drawn = self.axis.cells(self.span, width)
        for label, categories in self._lanes():
            lane = _united([drawn.get(category, {}) for category in categories])
            text.append(f"{label:{LABEL}}", palette.quiet)
            for column in range(width):
                sign, style = _drawn(lane.get(column), palette)
                text.append(sign, style + palette.mark if column == here else style)
            text.append("\n")
        return text.append_text(self._scale(palette, width, here))

    def _scale(self, palette: Palette, width: int, here: int | None) -> Text:
        """The times of both ends, and of the cursor between them."""
        first, last = _clock(self.span.first, self.span), _clock(self.span.last, self.span)
        cells = list(first.ljust(width - len(last)) + last)[:width]
        if here is not None and self.time is not None:
            marker = f"▲ {_clock(self.time, self.span)}"
            start = here if here + len(marker) <= width else here - len(marker) + 1
            marker = marker if start == here else marker[2:] + " ▲"
            before, after = "".join(cells[:start]), "".join(cells[start + len(marker) :])
            # What is in the way of the cursor's time is left out.
            before = before if not before.strip() or before.endswith("  ") else " " * len(before)
            after = after if not after.strip() or after.startswith("  ") else " " * len(after)
            line = Text(before, palette.quiet).append(marker, palette.key)
            line.append(after, palette.quiet)
        else:
            line = Text("".join(cells), palette.quiet)
        return Text(" " * LABEL).append_text(line)

    def on_click(self, event: events.Click) -> None:
        column = event.x - 1 - LABEL
        if self.axis is not None and 0 <= column < self._width:
            part = column / self._width
            self.post_message(self.Clicked(self.span.first + round(part * self.span.width)))


def _drawn(cell: Cell | None, palette: Palette) -> tuple[str, Style]:
    if cell is None:
        return "·", palette.quiet
    style = {Severity.INFO: palette.key, Severity.WARNING: palette.warn}.get(
        cell.severity, palette.bad
    )
    if cell.good:
        style = palette.good
    if cell.count == 1:
        return _SIGNS[cell.severity], style
    return str(cell.count) if cell.count < 10 else "+", style


def _united(lanes: list[dict[int, Cell]]) -> dict[int, Cell]:
    if len(lanes) == 1:
        return lanes[0]
    cells: dict[int, Cell] = {}
    order = list(_SIGNS)
    for lane in lanes:
        for column, cell in lane.items():
            old = cells.get(column)
            if old is not None:
                worst = max(old.severity, cell.severity, key=order.index)
                cell = Cell(old.count + cell.count, worst, old.good and cell.good)
            cells[column] = cell
    return cells


def _clock(time: int, span: TimeSpan) -> str:
    """As much of a time as tells it apart in the span."""
    day, _, clock = iso(time).partition("T")
    if not clock:
        return day
    if span.width < 120_000:
        return clock
    return f"{day} {clock[:8]}" if span.width > 43_200_000 else f"{clock[:8]}Z"
