"""The beginnings of the logs of a timeline, as events, and questions about the time before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.directory.log_summary import FIRST_OFFSET
from kraftool.reports.findings.finding import Finding
from kraftool.reports.logs.log_starts import AskedRange, LogBeginning
from kraftool.reports.timeline.event_words import ids
from kraftool.reports.timeline.events import Category, Event, Rank
from kraftool.reports.timeline.merge import Merged
from kraftool.reports.timeline.sources import NodeLog


def log_starts(nodes: Sequence[NodeLog]) -> Iterator[Event]:
    starts: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        if node.start_offset and node.start_offset > FIRST_OFFSET:
            starts.setdefault(node.start_offset, []).append(index)
    for offset, members in sorted(starts.items()):
        whose = "the log" if len(nodes) == 1 else f"the log of {_names(nodes, members)}"
        yield Event(
            category=Category.SNAPSHOTS,
            type="log-start",
            offset=offset,
            rank=Rank.LOG_START,
            what=f"{whose} begins here",
            details=("older records are only in a snapshot, without their times",),
            data={"nodes": [nodes[index].label for index in members]},
            nodes=tuple(members),
        )


def begins_later(nodes: Sequence[NodeLog], merged: Merged, asked: AskedRange) -> Iterator[Finding]:
    """Yield that no log reaches back to what was asked for."""
    first = min(
        (node for node in nodes if node.start_offset is not None),
        key=lambda node: node.start_offset or 0,
        default=None,
    )
    if first is None:
        return
    times = (
        line.known.first_timestamp
        for line in merged.lines
        if line.known.first_offset == first.start_offset
    )
    beginning = LogBeginning(
        path=first.path, offset=first.start_offset or 0, timestamp=next(times, None)
    )
    if beginning.lacks(asked):
        yield beginning.finding("timeline")


def _names(nodes: Sequence[NodeLog], members: Sequence[int]) -> str:
    return ids(nodes[index].label for index in members)
