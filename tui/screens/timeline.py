"""Past events: elections, voters, features, fencings, snapshots, merged over nodes.

Owns what is said and which keys do it. Events come from `watching/timelines.py`, in a thread.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from kraftool.reports.browse.time_axis import TimeAxis, TimeSpan
from kraftool.reports.text.printable import printable
from kraftool.reports.text.times import iso
from kraftool.reports.text.words import many
from kraftool.reports.timeline.document import TimelineDocument, timeline_document
from kraftool.reports.timeline.event_words import duration
from kraftool.reports.timeline.events import Category, Event, Statistics, Timeline, Visibility
from kraftool.tui.details import Working
from kraftool.tui.tasks import TaskView
from kraftool.tui.widgets.axis import AxisView
from kraftool.tui.widgets.detail_lines import DetailLines
from kraftool.tui.widgets.event_lines import EventPainter, event_text
from kraftool.tui.widgets.lines import Lines
from kraftool.tui.widgets.prompt import Prompt
from kraftool.watching.backoff import PATIENCE
from kraftool.watching.child_process import apart
from kraftool.watching.picture import NO_HISTORY, Picture
from kraftool.watching.result import Failed, attempt
from kraftool.watching.task import Task
from kraftool.watching.timelines import TimelineReading, read_timeline, seen_timeline

_AGAIN_S = 3.0
_LARGE = 8 << 20
"""Logs above so many bytes are read by another process, as keys would be answered late."""


_ZOOM = Binding.Group("Zoom", compact=True)
_SCROLL = Binding.Group("Scroll", compact=True)


class TimelineScreen(TaskView):
    """Events on an axis, and below it as a list."""

    TITLE = "Timeline"
    ABOUT = (
        "The events of all directories and of the live leader's log, merged. A number on the axis"
        " counts the events at that time. ▲ is a warning, ✗ an error, ≠ a place where logs differ."
        " Without a leader, the timeline has the elections that kraftool saw."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus,equals_sign", "zoom(1)", "Zoom in", key_display="+", group=_ZOOM),
        Binding("minus", "zoom(-1)", "Zoom out", key_display="-", group=_ZOOM),
        Binding("less_than_sign", "scroll(-1)", "Earlier", key_display="<", group=_SCROLL),
        Binding("greater_than_sign", "scroll(1)", "Later", key_display=">", group=_SCROLL),
        Binding("0", "whole", "All", show=False),
        Binding("f", "filter", "Filter"),
        Binding("enter", "open", "Open", show=False),
        Binding("u", "read", "Read again", show=False),
        Binding("x", "stop", "Stop", show=False),
        Binding("escape", "close", "Close", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._look: TimelineReading | None = None
        self._shown: tuple[Event, ...] = ()
        self._axis: TimeAxis | None = None
        self._span = TimeSpan(0, 1)
        self._is_whole = True
        self._filter = ""
        self._stamp: object = None
        self._read_at = 0.0
        self._problem = ""

    def compose(self) -> ComposeResult:
        yield Static(id="timeline-title")
        yield AxisView(id="timeline-axis")
        yield Working(id="timeline-working")
        yield Prompt(id="timeline-prompt")
        yield Lines[Event](self._paint, id="timeline-events")
        yield DetailLines(id="timeline-detail")

    def first_focus(self) -> None:
        self._events.focus()

    @property
    def _events(self) -> Lines[Event]:
        return self.query_one("#timeline-events", Lines)

    @property
    def _detail(self) -> DetailLines:
        return self.query_one(DetailLines)

    def _paint(self, event: Event, width: int) -> Text:
        timeline = self._look.timeline if self._look is not None else None
        return EventPainter(self.palette, timeline).paint(event, width)

    # --- reading ------------------------------------------------------------------------------

    def show(self, picture: Picture) -> None:
        samples = picture.history.samples
        stamp = (picture.stamp, samples[-1].leader_end if samples else None)
        live = self.sources.target is not None and picture.view is not None
        if not self.sources.directories and not live:
            seen = seen_timeline(picture.history)
            if self._look is None or self._look.timeline.events != seen.events:
                self._take(TimelineReading(timeline=seen, missing="no node has answered yet"))
        elif stamp != self._stamp and not self.is_working and self._is_time():
            self._stamp = stamp
            if self._look is None and picture.history.elections:
                # What is known without the logs, until they are read.
                self._take(TimelineReading(timeline=seen_timeline(picture.history), is_whole=False))
            self.action_read()
        self._draw()

    def _is_time(self) -> bool:
        took = self._look.took_s if self._look is not None else 0.0
        wait_s = max(took * PATIENCE, _AGAIN_S if self._problem else 0.0)
        return time.monotonic() - self._read_at > wait_s

    def action_read(self) -> None:
        """Read all logs, once more if need be."""
        sources, picture = self.sources, self.picture
        view = picture.view if picture is not None else None
        history = picture.history if picture is not None else NO_HISTORY
        self._read_at = time.monotonic()

        size = (
            sum(directory.size for directory in picture.directories) if picture is not None else 0
        )
        is_apart = size > _LARGE and sources.target is None

        def reading(task: Task) -> TimelineReading:
            if is_apart:
                return apart(read_timeline, sources.directories, task=task)
            return read_timeline(sources.directories, task, sources, view)

        def read(task: Task) -> TimelineReading | Failed:
            look = attempt(lambda: reading(task))
            if isinstance(look, Failed) and not sources.directories:
                # Without a leader nobody tells a log; what was seen of elections is known still.
                return TimelineReading(timeline=seen_timeline(history), missing=look.reason)
            return look

        self.begin("timeline", read, self._take)

    def _take(self, look: TimelineReading | Failed) -> None:
        self._read_at = time.monotonic()
        if isinstance(look, Failed):
            self._problem = look.reason
        else:
            self._problem, self._look = "", look
            self._select()
        self._draw()

    def _select(self) -> None:
        """The events that the filter lets through, and the axis for them."""
        if self._look is None:
            return
        before, lines = self._events.row, self._events
        follows = lines.is_at_end
        self._shown = tuple(
            event for event in self._look.timeline.events if _passes(event, self._filter)
        )
        self._axis = TimeAxis(self._shown)
        if self._is_whole:
            self._span = self._axis.whole
        cursor = len(self._shown) - 1
        if before is not None and not follows:
            key = (before.offset, before.type, before.what)
            same = (
                number
                for number, event in enumerate(self._shown)
                if (event.offset, event.type, event.what) == key
            )
            cursor = next(same, cursor)
        lines.set_rows(self._shown, cursor)

    # --- axis ---------------------------------------------------------------------------------

    @property
    def _time(self) -> int | None:
        """When what is under the cursor happened."""
        if self._axis is None or not self._axis.times:
            return None
        return self._axis.times[min(self._events.cursor, len(self._axis.times) - 1)]

    def _see(self, span: TimeSpan) -> None:
        self._span = span
        self._is_whole = self._axis is not None and span == self._axis.whole
        self._draw()

    def action_zoom(self, step: int) -> None:
        if self._axis is not None and self._time is not None:
            self._see(self._axis.zoomed(self._span, self._time, step))

    def action_scroll(self, step: int) -> None:
        """A quarter of what is seen; the cursor goes with it where there is an event to go to."""
        if self._axis is None or not self._shown:
            return
        span = self._axis.moved(self._span, step / 4)
        self._see(span)
        here = self._time
        seen = [at for at in self._axis.times if span.first <= at <= span.last]
        if seen and here is not None and not span.first <= here <= span.last:
            self._to_time(min(seen) if step > 0 else max(seen))

    def action_whole(self) -> None:
        if self._axis is not None:
            self._see(self._axis.whole)

    def on_axis_view_clicked(self, message: AxisView.Clicked) -> None:
        self._to_time(message.moment)

    def _to_time(self, wanted: int) -> None:
        """Put the cursor on the event nearest to a time."""
        if self._axis is not None and self._axis.times:
            times = self._axis.times
            self._events.move_to(min(range(len(times)), key=lambda at: abs(times[at] - wanted)))

    def on_lines_moved(self, message: Lines.Moved) -> None:
        if message.lines is self._events:
            if self._axis is not None and self._time is not None:
                self._see(self._axis.showing(self._span, self._time))
            if self._detail.display:
                self._open()

    # --- filter, search, detail ---------------------------------------------------------------

    def action_filter(self) -> None:
        kinds = " ".join(category.value for category in Category)
        self.query_one(Prompt).ask("filter", f"words, or of {kinds}", self._filter)

    def on_prompt_answered(self, message: Prompt.Answered) -> None:
        self.first_focus()
        if message.words is not None:
            self._filter = message.words.strip()
            self._is_whole = True
            self._select()
            self._draw()

    def search(self, text: str, step: int = 1) -> bool:
        return self._events.find(text, step, lambda event: f"{event.offset} {event.text}")

    def on_lines_chosen(self, message: Lines.Chosen) -> None:
        if message.lines is self._events:
            self.action_open()

    def action_open(self) -> None:
        self._detail.display = not self._detail.display
        if self._detail.display:
            self._open()

    def _open(self) -> None:
        event, look = self._events.row, self._look
        if event is None or look is None:
            return
        self._detail.show_words(event_text(event, look.timeline), self.size)

    def action_close(self) -> None:
        self._detail.display = False
        self.first_focus()

    # --- what is said -------------------------------------------------------------------------

    def _draw(self) -> None:
        title = self.query_one("#timeline-title", Static)
        title.update(self._title())
        title.set_class(not self._shown, "-problem")
        axis = self._axis if self._shown else None
        self.query_one(AxisView).tell(axis, self._span, self._time)

    def _title(self) -> Text:
        if self._problem:
            return self.palette.wrapped(self._problem, "bad")
        look = self._look
        if look is None:
            return self.text("reading …", "quiet")
        if not self._shown and not self._filter:
            if unread := self._unread():
                return self.palette.wrapped(f"✖ no events: {unread}", "bad")
            return self.text(look.missing or "no events yet", "quiet")
        line = self.text(many(len(self._shown), "event"), "name")
        # What is wrong comes first: a narrow terminal cuts the rest.
        damage = [event for event in self._shown if event.category is Category.DAMAGE]
        if damage:
            line.append(f"  ✖ {many(len(damage), 'damaged place')}", self.palette.bad)
        if look.timeline.disagreements:
            line.append("  ≠ the logs differ", self.palette.bad)
        if not look.is_whole:
            line.append("  so far: the logs are being read", self.palette.key)
        if self._filter:
            line.append_text(self.text(f"  filter {self._filter}", "key"))
        if self._axis is not None and self._shown:
            seen = self._axis.seen(self._span)
            if not self._is_whole:
                line.append(f"  {seen} in the {duration(self._span.width)} seen", self.palette.key)
            else:
                line.append(f"  over {duration(self._span.width)}", self.palette.quiet)
        statistics = look.timeline.statistics
        if statistics.elections:
            line.append(f"  {many(statistics.elections, 'election')}", self.palette.quiet)
        if statistics.is_worrying:
            rate = f"  ▲ {statistics.most_elections_in_an_hour} elections within an hour"
            line.append(rate, self.palette.warn)
        if look.missing:
            line.append_text(self.text(f"  without a leader's log: {look.missing}", "warn"))
        if look.lacking:
            line.append_text(self.text(f"  {look.lacking}", "warn"))
        return line

    def _unread(self) -> str:
        """Return why directories could not be read."""
        directories = self.picture.directories if self.picture is not None else ()
        return "; ".join(
            f"{directory.path}: {directory.problem}"
            for directory in directories
            if not directory.is_readable
        )

    # --- ways out -----------------------------------------------------------------------------

    def copied(self) -> str:
        event = self._events.row
        if event is None:
            return ""
        at = "" if event.timestamp is None else iso(event.timestamp)
        return f"{at}\t{event.offset}\t{printable(event.text)}"

    @property
    def document(self) -> TimelineDocument:
        """The events that are shown; nothing before the logs were read."""
        if self._look is None:
            return timeline_document(
                Timeline(nodes=(), events=(), statistics=Statistics(event_counts={}))
            )
        return timeline_document(replace(self._look.timeline, events=tuple(self._shown)))


def _passes(event: Event, text: str) -> bool:
    """True if each word is in its text, and its kind is one of the kinds asked for."""
    words = text.casefold().split()
    kinds = {category.value for category in Category} & set(words)
    if kinds and event.category.value not in kinds:
        return False
    haystack = event.text.casefold()
    if event.visibility is not Visibility.VISIBLE:
        haystack += f" {event.visibility.value}"
    return all(word in haystack for word in words if word not in kinds)
