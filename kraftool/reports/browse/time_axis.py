"""Events on a time axis: lanes of columns, each with how much happened in it, for any zoom.

Owns where an event falls and which part of the whole is seen. An event without a time of its own
(where a log begins, say) stands at that of the one before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kraftool.reports.findings.finding import Severity
from kraftool.reports.timeline.events import Category, Event

SHORTEST_MS = 100
_ZOOM = 2
_ORDER = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}

LANES = (
    Category.ELECTIONS,
    Category.VOTERS,
    Category.FEATURES,
    Category.BROKERS,
    Category.CONTROLLERS,
    Category.PARTITIONS,
    Category.TOPICS,
    Category.CONFIGS,
    Category.QUOTAS,
    Category.ACLS,
    Category.USERS,
    Category.TOKENS,
    Category.TRANSACTIONS,
    Category.SNAPSHOTS,
    Category.GAPS,
    Category.NODES,
    Category.DAMAGE,
)
"""In this order, and only those that have an event."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The events in a column of a lane."""

    count: int
    severity: Severity
    good: bool
    """True if all of it is the end of something bad."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The part of the time that is seen, in milliseconds, both ends included."""

    first: int
    last: int

    @property
    def width(self) -> int:
        return self.last - self.first


class TimeAxis:
    """Events in the order of a timeline, with a time for each."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.times = _times(events)
        self._sorted = sorted(self.times)
        first, last = (self._sorted[0], self._sorted[-1]) if self._sorted else (0, 0)
        self.whole = TimeSpan(first, max(last, first + SHORTEST_MS))

    @property
    def lanes(self) -> tuple[Category, ...]:
        """Those that have an event."""
        categories = {event.category for event in self.events}
        return tuple(lane for lane in LANES if lane in categories)

    def column(self, time: int, span: TimeSpan, width: int) -> int | None:
        """Return where a time falls on so many columns; None outside of what is seen."""
        if not span.first <= time <= span.last:
            return None
        return min((time - span.first) * width // max(span.width, 1), width - 1)

    def cells(self, span: TimeSpan, width: int) -> dict[Category, dict[int, Cell]]:
        """Return what is to be drawn: by lane and column."""
        drawn: dict[Category, dict[int, Cell]] = {}
        for event, time in zip(self.events, self.times, strict=True):
            column = self.column(time, span, width)
            if column is None:
                continue
            lane = drawn.setdefault(event.category, {})
            cell = lane.get(column)
            if cell is None:
                lane[column] = Cell(1, event.severity, event.good)
            else:
                worst = max(cell.severity, event.severity, key=_ORDER.__getitem__)
                lane[column] = Cell(cell.count + 1, worst, cell.good and event.good)
        return drawn

    def seen(self, span: TimeSpan) -> int:
        """Return how many events are in a span."""
        return bisect_right(self._sorted, span.last) - bisect_left(self._sorted, span.first)

    def zoomed(self, span: TimeSpan, time: int, step: int) -> TimeSpan:
        """Twice as near to a time (step 1), or twice as far (-1)."""
        width = span.width // _ZOOM if step > 0 else span.width * _ZOOM
        width = min(max(width, SHORTEST_MS), self.whole.width)
        part = (time - span.first) / max(span.width, 1)
        first = round(time - part * width)
        return self._within(TimeSpan(first, first + width))

    def moved(self, span: TimeSpan, part: float) -> TimeSpan:
        """Further on by a part of what is seen; back, if it is negative."""
        by = round(span.width * part)
        return self._within(TimeSpan(span.first + by, span.last + by))

    def showing(self, span: TimeSpan, time: int) -> TimeSpan:
        """The same width, with a time in it."""
        if span.first <= time <= span.last:
            return span
        half = span.width // 2
        return self._within(TimeSpan(time - half, time - half + span.width))

    def _within(self, span: TimeSpan) -> TimeSpan:
        """Nothing is seen from before the first event or behind the last."""
        whole = self.whole
        if span.width >= whole.width:
            return whole
        if span.first < whole.first:
            return TimeSpan(whole.first, whole.first + span.width)
        if span.last > whole.last:
            return replace(span, first=whole.last - span.width, last=whole.last)
        return span


def _times(events: Sequence[Event]) -> list[int]:
    known = next((event.timestamp for event in events if event.timestamp is not None), 0)
    times = []
    for event in events:
        known = event.timestamp if event.timestamp is not None else known
        times.append(known)
    return times
