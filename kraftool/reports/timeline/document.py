"""The document of `timeline -o json`, its parts as lines of `-o jsonl`, and the rows of CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kraftool.decoders.json_marks import Count, Moment
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.text.json_document import json_line
from kraftool.reports.text.json_form import form
from kraftool.reports.timeline.events import (
    Category,
    Event,
    NodeView,
    Reign,
    Statistics,
    Timeline,
    Visibility,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeViewObject:
    """A node as its directory shows it."""

    label: str
    """The name of the node in events: its node.id, or its path if that is unknown or not unique."""
    path: str
    node_id: int | None
    directory_id: str | None
    cluster_id: str | None
    start_offset: int | None
    """The first offset of the log; null where there is none."""
    end_offset: int | None
    """One beyond the last offset."""
    last_epoch: int | None
    last_timestamp: Moment | None
    leader_epoch: int | None
    """Of quorum-state, as are leaderId and votedId."""
    leader_id: int | None
    """-1 for none."""
    voted_id: int | None
    """-1 for none."""


@form
def node_view_object(node: NodeView) -> NodeViewObject:
    state = node.quorum_state
    return NodeViewObject(
        label=node.label,
        path=node.path,
        node_id=node.node_id,
        directory_id=node.directory_id,
        cluster_id=node.cluster_id,
        start_offset=node.start_offset,
        end_offset=node.end_offset,
        last_epoch=node.last_epoch,
        last_timestamp=node.last_timestamp,
        leader_epoch=state.leader_epoch if state is not None else None,
        leader_id=state.leader_id if state is not None else None,
        voted_id=state.voted_id if state is not None else None,
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
class ReignObject:
    """The time for which one leader led in one epoch, as far as the log shows."""

    leader_id: int
    epoch: int
    offset: int
    led_ms: int
    is_last: bool
    """True if it is the log's last: it may have continued."""


@form
def reign_object(reign: Reign) -> ReignObject:
    return ReignObject(
        leader_id=reign.leader,
        epoch=reign.epoch,
        offset=reign.offset,
        led_ms=reign.milliseconds,
        is_last=reign.last,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsObject:
    """The totals of the events."""

    event_counts: Mapping[Category, int]
    elections: Count
    elections_won_by_leader: Mapping[str, int]
    """By the leader's id."""
    led_ms_by_leader: Mapping[str, int]
    """By the leader's id, as far as the log shows."""
    longest_reign: Reign | None
    most_elections_in_an_hour: int
    """Without the election that formed the quorum."""
    elections_per_hour: float | None
    """null where the log spans less than an hour."""
    is_worrying: bool
    """More than one election within an hour."""
    skipped_epochs: Count
    """Epochs that left no record."""
    span_ms: int | None
    """From the first record to the last."""
    created_topics: Count
    deleted_topics: Count
    created_partitions: Count


@form
def statistics_object(statistics: Statistics) -> StatisticsObject:
    return StatisticsObject(
        event_counts=statistics.counts,
        elections=statistics.elections,
        elections_won_by_leader={
            str(id): count for id, count in sorted(statistics.leaders.items())
        },
        led_ms_by_leader={str(id): led for id, led in sorted(statistics.led.items())},
        longest_reign=statistics.longest,
        most_elections_in_an_hour=statistics.most_in_an_hour,
        elections_per_hour=statistics.per_hour,
        is_worrying=statistics.is_worrying,
        skipped_epochs=statistics.epochs_skipped,
        span_ms=statistics.milliseconds,
        created_topics=statistics.topics_created,
        deleted_topics=statistics.topics_deleted,
        created_partitions=statistics.partitions_created,
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
