"""The lines of a timeline: when, at which offset, of which nodes, and what happened.

Owns the columns; the phrases are `reports/timeline/event_phrases.py`'s.
"""

from __future__ import annotations

from rich.text import Text

from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.printable import printable
from kraftool.reports.text.times import iso
from kraftool.reports.timeline import event_phrases
from kraftool.reports.timeline.events import Event, Timeline, Visibility
from kraftool.tui.palette import Palette

_DATE_FROM = 110
_NODES = 12
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
            nodes = event_phrases.nodes(self.timeline, event)
            words = printable(nodes.text)
            shown = words if len(words) <= _NODES else words[: _NODES - 1] + "…"
            line.append_text(palette.text(f"{shown:{self._nodes_width}} ", nodes.meaning))
        what = event_phrases.what(event)
        line.append_text(palette.text(f"{_SIGNS[event.severity]} {what.text}", what.meaning))
        return line.append_text(palette.text(*event_phrases.details(event)))


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
