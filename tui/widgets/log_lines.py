"""The lines of a log: offset, time, epoch, batch border, type, what it says.

Owns the columns and their marks. A batch is drawn at the left as dump-log draws it; behind it
stands one sign: `!` a wrong CRC, `t` in a transaction, `✗` in an aborted one, `?` in an open one,
`~` beyond the high watermark.
"""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message

from kraftool.reports.browse.rows import Border, LogRow, RowKind
from kraftool.reports.text.printable import printable
from kraftool.reports.text.times import iso
from kraftool.tui.palette import Palette
from kraftool.tui.widgets.lines import Lines

LEGEND = "! wrong CRC  t in a transaction  ✗ aborted  ? open  ~ beyond the high watermark"
_BORDERS = {
    Border.ONLY: "─",
    Border.FIRST: "┌",
    Border.MIDDLE: "│",
    Border.LAST: "└",
    Border.NONE: " ",
}
_OUTCOMES = {"committed": "t", "aborted": "✗", "open": "?", "inside": "t"}
_DATE_FROM = 100


class LogPainter:
    """Makes the line of a row."""

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self.high_watermark: int | None = None
        self.offset_width = 9

    def paint(self, row: LogRow, width: int) -> Text:
        palette = self.palette
        line = Text(no_wrap=True, end="")
        if row.kind is RowKind.NOTE:
            return line.append(f"{'':>{self.offset_width}} ▸ {printable(row.text)}", palette.warn)
        if row.kind is not RowKind.RECORD:
            at = "" if row.offset is None else str(row.offset)
            line.append(f"{at:>{self.offset_width}} ", palette.quiet)
            return line.append(f"✗ {row.label}: {printable(row.text)}", palette.bad)
        quiet = palette.quiet if row.is_idle else palette.key
        offset = str(row.offset)
        line.append(" " * (self.offset_width - len(offset))).append(offset, quiet)
        line.append(f" {_clock(row, width)} {row.epoch:>4} ", palette.quiet)
        sign, style = self._sign(row)
        if row.count > 1:
            return line.append(f" {sign} ", style).append(printable(row.text), palette.quiet)
        line.append(_BORDERS[row.border], palette.line)
        line.append(sign, style).append(" ")
        name = palette.bad if not row.is_decoded else palette.quiet if row.is_idle else palette.name
        line.append(printable(row.label), name)
        return line.append("  " + printable(row.text) if row.text else "")

    def _sign(self, row: LogRow) -> tuple[str, Style]:
        if not row.is_valid:
            return "!", self.palette.bad
        if row.transaction:
            style = self.palette.bad if row.transaction == "aborted" else self.palette.warn
            return _OUTCOMES.get(row.transaction, " "), style
        if self.is_beyond(row):
            return "~", self.palette.warn
        return " ", self.palette.quiet

    def is_beyond(self, row: LogRow) -> bool:
        """True if a row is known not to be committed."""
        mark = self.high_watermark
        return mark is not None and row.end_offset is not None and row.end_offset >= mark


def _clock(row: LogRow, width: int) -> str:
    day, _, clock = iso(row.timestamp if row.timestamp is not None else -1).partition("T")
    if not clock:
        return f"{day:12}"
    return f"{day} {clock[:12]}" if width >= _DATE_FROM else clock[:12]


class LogLines(Lines[LogRow]):
    """The log's own list: its top and bottom are those of the log, and not of what is at hand."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home,g", "edge(-1)", "Start of the log", show=False),
        Binding("end,G", "edge(1)", "End of the log", show=False),
    ]

    class Edge(Message):
        """Somebody wants to see the start (-1) or the end (1) of the log."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def action_edge(self, step: int) -> None:
        self.post_message(self.Edge(step))
