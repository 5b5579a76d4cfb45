"""A timeline for people: one line an event, the day above its events, then what it sums up to.

Owns columns, colours and the closing summary.
"""

from __future__ import annotations

import textwrap
from datetime import UTC, tzinfo

from kraftool.commands.finding_view import write_findings
from kraftool.commands.output import Output, printable
from kraftool.commands.times import iso
from kraftool.reports.text.blocks import Phrase
from kraftool.reports.text.words import many
from kraftool.reports.timeline import event_phrases
from kraftool.reports.timeline.event_words import duration
from kraftool.reports.timeline.events import Category, Event, Timeline
from kraftool.reports.timeline.report import TimelineOptions

_SMALLEST_ROOM = 24
_WIDEST_NODES = 16


def write_timeline(
    output: Output, timeline: Timeline, zone: tzinfo, options: TimelineOptions
) -> None:
    """Write all of it."""
    _Table(output, timeline, zone).write()
    _summary(output, timeline, options)
    write_findings(output, timeline.findings, "")


class _Table:
    """The events, in columns as wide as they need to be."""

    def __init__(self, output: Output, timeline: Timeline, zone: tzinfo) -> None:
        self.output, self.timeline, self.zone = output, timeline, zone
        events = timeline.events
        self.clock = 13 if zone is UTC else 18
        self.offset = max((len(str(event.offset)) for event in events), default=0)
        self.offset = max(self.offset, len("offset"))
        self.epoch = max((len(str(event.epoch)) for event in events if event.epoch), default=0)
        self.epoch = max(self.epoch, len("epoch"))
        several = len(timeline.nodes) > 1
        names = [len(self._nodes(event)) for event in events] if several else []
        self.nodes = min(max([5, *names]), _WIDEST_NODES) if several else 0
        self.indent = self.clock + self.offset + self.epoch + 6 + (self.nodes + 2 if several else 0)
        self.room = max(output.width - self.indent, _SMALLEST_ROOM)

    def _nodes(self, event: Event) -> str:
        return printable(event_phrases.nodes(self.timeline, event).text)

    def write(self) -> None:
        style, line = self.output.style, self.output.line
        head = f"{'time':{self.clock}}  {'offset':>{self.offset}}  {'epoch':>{self.epoch}}  "
        if self.nodes:
            head += f"{'nodes':{self.nodes}}  "
        line(style(head + "what", "quiet"))
        day = ""
        for event in self.timeline.events:
            date = clock = ""
            if event.timestamp is not None:
                date, _, clock = iso(event.timestamp, self.zone).partition("T")
                if not clock:
                    date, clock = day, date
            if date and date != day:
                day = date
                line(style(day, "quiet"))
            self._event(event, clock)

    def _event(self, event: Event, clock: str) -> None:
        style = self.output.style
        epoch = "" if event.epoch is None else event.epoch
        fixed = f"{clock:{self.clock}}  {event.offset:{self.offset}}  {epoch:>{self.epoch}}  "
        nodes = self._nodes(event) if self.nodes else ""
        what, details = event_phrases.what(event), event_phrases.details(event)
        body = printable(what.text + details.text)
        texts = textwrap.wrap(body, self.room, break_on_hyphens=False, break_long_words=False)
        texts = texts or [""]
        node_lines = _broken(nodes, self.nodes) if self.nodes else []
        first = len(printable(what.text))
        left = fixed
        while texts or node_lines:
            text = texts.pop(0) if texts else ""
            colored = self._colored(what, text, first)
            first -= len(text) + 1
            if left is not fixed and len(text) > self.room:
                # A word that is longer than its column begins further left, on a line by itself.
                self.output.line(" " * max(self.output.width - len(text), 0) + colored)
                continue
            between = ""
            if self.nodes:
                shown = node_lines.pop(0) if node_lines else ""
                padded = f"{shown:{self.nodes}}"
                between = style(padded, "bad" if event.disputed else "quiet") + "  "
            self.output.line((style(left, "key") + between + colored).rstrip())
            left = " " * len(fixed)

    def _colored(self, what: Phrase, text: str, first: int) -> str:
        """The part of a line that says what happened in colour, the details plain."""
        head, rest = text[: max(first, 0)], text[max(first, 0) :]
        return (self.output.style(head, what.meaning) if what.meaning else head) + rest


def _broken(nodes: str, width: int) -> list[str]:
    """A list of nodes over as many lines as it takes."""
    lines, line = [], ""
    for part in nodes.split(","):
        if line and len(line) + 1 + len(part) > width:
            lines.append(line + ",")
            line = ""
        line = f"{line},{part}" if line else part
        while len(line) > width:
            lines.append(line[:width])
            line = line[width:]
    return [*lines, line] if line or not lines else lines


def _summary(output: Output, timeline: Timeline, options: TimelineOptions) -> None:
    """Show the totals."""
    statistics, style = timeline.statistics, output.style
    output.line()
    if not timeline.events:
        output.line("no event" + (" of what was asked for" if options != TimelineOptions() else ""))
    shown = [_counted(count, category) for category, count in statistics.event_counts.items()]
    rows: list[tuple[str, str]] = []
    if statistics.span_ms is not None:
        rows.append(("log", f"spans {duration(statistics.span_ms)}"))
    if shown:
        rows.append(("events", ", ".join(shown)))
    if statistics.elections:
        rows += _elections(timeline)
    counted = (
        statistics.created_topics or statistics.deleted_topics or statistics.created_partitions
    )
    if counted and (not options.only or Category.TOPICS in options.only):
        words = f"{statistics.created_topics} created, {statistics.deleted_topics} deleted"
        words += f"; {many(statistics.created_partitions, 'partition')} created"
        bounds = (options.first_offset, options.last_offset, options.since, options.until)
        whole = bool(options.topic) or any(bound is not None for bound in bounds)
        rows.append(("topics", words + (", in the whole log" if whole else "")))
    for label, value in rows:
        lines = textwrap.wrap(value, max(output.width - 12, _SMALLEST_ROOM)) or [""]
        worrying = label == "rate" and statistics.is_worrying
        for number, text in enumerate(lines):
            name = f"{label if number == 0 else '':10}"
            output.line(style(name, "key") + "  " + (style(text, "warn") if worrying else text))


def _counted(count: int, category: Category) -> str:
    """`1 election`, `2 elections`, `2 cases of damage`."""
    if category is Category.DAMAGE:
        return f"{many(count, 'case')} of damage"
    return f"{count} {category.value.removesuffix('s') if count == 1 else category.value}"


def _elections(timeline: Timeline) -> list[tuple[str, str]]:
    statistics = timeline.statistics
    led = statistics.led_ms_by_leader
    won = ", ".join(
        f"node {leader} won {count}"
        + (f" and led {duration(led[leader])}" if leader in led else "")
        for leader, count in statistics.elections_won_by_leader.items()
    )
    rows = [("elections", f"{statistics.elections}: {won}")]
    if statistics.longest_reign is not None:
        reign = statistics.longest_reign
        last = ", the log's last" if reign.is_last else ""
        words = f"{duration(reign.led_ms)}, by node {reign.leader_id} in epoch {reign.epoch}{last}"
        rows.append(("longest", words))
    if statistics.skipped_epochs:
        rows.append(("skipped", f"{many(statistics.skipped_epochs, 'epoch')} left no record"))
    most = statistics.most_elections_in_an_hour
    if not most:
        return rows
    rate = f"at most {many(most, 'election')} within an hour after the first"
    if statistics.elections_per_hour is not None:
        rate += f", {statistics.elections_per_hour:.2g} an hour over the log"
    if statistics.is_worrying:
        rate += "; more than one an hour is worrying"
    rows.append(("rate", rate))
    return rows
