"""The lines of a timeline: when, at which offset, of which nodes, and what happened.

Owns the columns and the signs: `≠` where other logs have something else, brackets around what no
reader of the metadata sees.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style
from rich.text import Text

from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.printable import printable
from kraftool.reports.text.times import iso
from kraftool.reports.timeline.events import Category, Event, Timeline, Visibility
from kraftool.tui.palette import Palette

_DATE_FROM = 110
_NODES = 12
_STYLES: Mapping[Category, str] = {
    Category.ELECTIONS: "key",
    Category.VOTERS: "key",
    Category.FEATURES: "key",
    Category.BROKERS: "name",
    Category.CONTROLLERS: "name",
    Category.TRANSACTIONS: "quiet",
    Category.SNAPSHOTS: "quiet",
}
_MARKS = {Visibility.ABORTED: "[aborted] ", Visibility.OPEN: "[not visible] "}
_SIGNS = {Severity.INFO: " ", Severity.WARNING: "▲", Severity.ERROR: "✗"}


class EventPainter:
    """Makes the line of an event."""

    def __init__(self, palette: Palette, timeline: Timeline | None) -> None:
        self.palette = palette
        self.timeline = timeline
        labels = [node.label for node in timeline.nodes] if timeline is not None else []
        self._nodes_width = min(max(len(",".join(labels)), len("all")), _NODES)

    def paint(self, event: Event, width: int) -> Text:
        palette = self.palette
        line = Text(no_wrap=True, end="")
        line.append(f"{_clock(event, width)} ", palette.quiet)
        offset = str(event.offset) if event.offset >= 0 else ""
        line.append(" " * (8 - len(offset))).append(offset, palette.key).append(" ")
        line.append(f"{'' if event.epoch is None else event.epoch:>4} ", palette.quiet)
        if self.timeline is not None and len(self.timeline.nodes) > 1:
            nodes = self._nodes(event)
            shown = nodes if len(nodes) <= _NODES else nodes[: _NODES - 1] + "…"
            line.append(
                f"{shown:{self._nodes_width}} ", palette.bad if event.disputed else palette.quiet
            )
        style = self._style(event)
        line.append(_SIGNS[event.severity], style).append(" ")
        mark = "≠ " if event.disputed and event.type != "diverged" else ""
        mark += _MARKS.get(event.visibility, "")
        line.append(printable(mark + event.what), style)
        if event.details:
            line.append("; " + printable("; ".join(event.details)), palette.quiet)
        return line

    def _nodes(self, event: Event) -> str:
        assert self.timeline is not None, "asked for several nodes only"
        if len(event.nodes) == len(self.timeline.nodes):
            return "all"
        return ",".join(printable(label) for label in self.timeline.labels(event.nodes))

    def _style(self, event: Event) -> Style:
        palette = self.palette
        if event.visibility is not Visibility.VISIBLE:
            return palette.quiet
        if event.severity is Severity.ERROR:
            return palette.bad
        if event.severity is Severity.WARNING:
            return palette.warn
        if event.good:
            return palette.good
        style: Style = getattr(palette, _STYLES.get(event.category, "name"))
        return style


def _clock(event: Event, width: int) -> str:
    if event.timestamp is None:
        return " " * (23 if width >= _DATE_FROM else 12)
    day, _, clock = iso(event.timestamp).partition("T")
    if not clock:
        return f"{day:12}"
    return f"{day} {clock[:12]}" if width >= _DATE_FROM else clock[:12]


def event_text(event: Event, timeline: Timeline) -> list[str]:
    """All of an event, a line for each thing that is known of it."""
    lines = [event.what, *(f"  {detail}" for detail in event.details)]
    at = "" if event.timestamp is None else f"at {iso(event.timestamp)}, "
    epoch = "" if event.epoch is None else f", epoch {event.epoch}"
    lines.append(f"{at}offset {event.offset}{epoch}" if event.offset >= 0 else at.rstrip(", "))
    if timeline.nodes:
        names = ", ".join(timeline.labels(event.nodes))
        lines.append(f"in the logs of {names}" if names else "in no log")
    if event.visibility is not Visibility.VISIBLE:
        lines.append("in a transaction that was aborted, or has no end: nobody sees it")
    if event.disputed:
        lines.append("other nodes have something else at this offset, or parted before it")
    return lines
