"""The document of `timeline -o json`, its parts as lines of `-o jsonl`, and the rows of CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kraftool.decoders.json_marks import Moment
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.text.json_document import json_line
from kraftool.reports.timeline.events import (
    Category,
    Event,
    NodeView,
    Statistics,
    Timeline,
    Visibility,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventObject:
    """Something that happened, at an offset."""

    timestamp: Moment | None
    """Of the record; of a snapshot, that of its header; of a gap, its beginning."""
    offset: int
    epoch: int | None
    labels: tuple[str, ...]
    """Of the nodes whose logs have it."""
    category: Category
    type: str
    severity: Severity
    visibility: Visibility
    """The visibility to readers of the metadata: an event is hidden if its transaction was aborted,
    or is open at the log's end."""
    is_disputed: bool
    """True if other nodes have other records here, or after an offset where the logs diverge."""
    what: str
    """The event, in words."""
    data: Mapping[str, Any]
    """Details by the type of event."""


def event_object(event: Event, timeline: Timeline) -> EventObject:
    return EventObject(
        timestamp=event.timestamp,
        offset=event.offset,
        epoch=event.epoch,
        labels=timeline.labels(event.nodes),
        category=event.category,
        type=event.type,
        severity=event.severity,
        visibility=event.visibility,
        is_disputed=event.disputed,
        what=event.text,
        data=event.data,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineDocument:
    """The events, by offset. A line of -o jsonl is one of its parts, with its kind."""

    nodes: tuple[NodeView, ...]
    events: tuple[EventObject, ...]
    statistics: Statistics
    findings: tuple[Finding, ...]

    @property
    def rows(self) -> tuple[EventObject, ...]:
        return self.events


def timeline_document(timeline: Timeline) -> TimelineDocument:
    return TimelineDocument(
        nodes=timeline.nodes,
        events=tuple(event_object(event, timeline) for event in timeline.events),
        statistics=timeline.statistics,
        findings=timeline.findings,
    )


def lines(timeline: Timeline) -> Iterator[bytes]:
    """The same as lines: nodes, events, findings, statistics."""
    for node in timeline.nodes:
        yield json_line(node, kind="node")
    for event in timeline.events:
        yield json_line(event_object(event, timeline), kind="event")
    for finding in timeline.findings:
        yield json_line(finding, kind="finding")
    yield json_line(timeline.statistics, kind="statistics")
