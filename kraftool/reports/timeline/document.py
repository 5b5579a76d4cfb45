"""A timeline in machine formats: one JSON document, JSON lines, rows of CSV.

Owns the member names. Times are epoch milliseconds; docs/schemas/timeline.json says the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kraftool.reports.plain_json import finding_object, plain
from kraftool.reports.timeline.events import Event, NodeView, Statistics, Timeline

CSV_COLUMNS = (
    "timestamp", "offset", "epoch", "nodes", "category", "type", "severity", "visibility",
    "disputed", "text",
)  # fmt: skip


def document(timeline: Timeline) -> dict[str, Any]:
    """The whole as `-o json` has it."""
    return {
        "schemaVersion": 1,
        "nodes": [node_object(each) for each in timeline.nodes],
        "events": [event_object(each, timeline) for each in timeline.events],
        "statistics": statistics_object(timeline.statistics),
        "findings": [finding_object(each) for each in timeline.findings],
    }


def lines(timeline: Timeline) -> Iterator[dict[str, Any]]:
    """The same as lines: nodes, events, findings, statistics."""
    for node in timeline.nodes:
        yield {"kind": "node", **node_object(node)}
    for event in timeline.events:
        yield {"kind": "event", **event_object(event, timeline)}
    for finding in timeline.findings:
        yield {"kind": "finding", **finding_object(finding)}
    yield {"kind": "statistics", **statistics_object(timeline.statistics)}


def node_object(node: NodeView) -> dict[str, Any]:
    state = node.quorum_state
    return {
        "label": plain(node.label),
        "path": plain(node.path),
        "nodeId": node.node_id,
        "directoryId": plain(node.directory_id),
        "clusterId": plain(node.cluster_id),
        "startOffset": node.start_offset,
        "endOffset": node.end_offset,
        "lastEpoch": node.last_epoch,
        "lastTimestamp": node.last_timestamp,
        "leaderEpoch": state.leader_epoch if state is not None else None,
        "leaderId": state.leader_id if state is not None else None,
        "votedId": state.voted_id if state is not None else None,
    }


def event_object(event: Event, timeline: Timeline) -> dict[str, Any]:
    return {
        "timestamp": event.timestamp,
        "offset": event.offset,
        "epoch": event.epoch,
        "nodes": [plain(each) for each in timeline.labels(event.nodes)],
        "category": event.category.value,
        "type": event.type,
        "severity": event.severity.value,
        "visibility": event.visibility.value,
        "disputed": event.disputed,
        "text": plain(event.text),
        "data": _data(event.data),
    }


def _data(value: Any) -> Any:
    """Details of an event, whose keys are JSON's already."""
    if isinstance(value, list | tuple):
        return [_data(each) for each in value]
    if hasattr(value, "items"):
        return {key: _data(each) for key, each in value.items()}
    return plain(value)


def statistics_object(told: Statistics) -> dict[str, Any]:
    longest = told.longest
    return {
        "counts": {category.value: count for category, count in told.counts.items()},
        "elections": told.elections,
        "electionsWon": {str(id): count for id, count in sorted(told.leaders.items())},
        "millisecondsLed": {str(id): led for id, led in sorted(told.led.items())},
        "longestReign": {
            "leader": longest.leader,
            "epoch": longest.epoch,
            "offset": longest.offset,
            "milliseconds": longest.milliseconds,
            "last": longest.last,
        }
        if longest is not None
        else None,
        "mostElectionsInAnHour": told.most_in_an_hour,
        "electionsPerHour": told.per_hour,
        "worrying": told.is_worrying,
        "epochsSkipped": told.epochs_skipped,
        "milliseconds": told.milliseconds,
        "topicsCreated": told.topics_created,
        "topicsDeleted": told.topics_deleted,
        "partitionsCreated": told.partitions_created,
    }


def csv_row(event: Event, timeline: Timeline) -> tuple[object, ...]:
    """An event in the order of CSV_COLUMNS."""
    return (
        event.timestamp,
        event.offset,
        event.epoch,
        " ".join(timeline.labels(event.nodes)),
        event.category.value,
        event.type,
        event.severity.value,
        event.visibility.value,
        event.disputed,
        event.text,
    )
