"""The timeline of what is watched: by the logs of directories and of a live leader, else by what
was seen.

Owns reading it as a task that can be stopped. What an event is, and how logs are merged, is
`reports/timeline`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kraftool.client.model import QuorumView
from kraftool.client.observing import UnobservableError
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.files.locations import open_paths
from kraftool.reports.findings.finding import Finding
from kraftool.reports.timeline.events import Category, Event, Statistics, Timeline
from kraftool.reports.timeline.report import TimelineOptions, build, other_clusters
from kraftool.reports.timeline.sources import clusters, open_nodes
from kraftool.storage.paths import Location
from kraftool.watching.picture import WatchHistory
from kraftool.watching.sources import Sources
from kraftool.watching.task import Task
from kraftool.watching.watched_sources import leaders_log


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineReading:
    """A timeline, and how long it took to read."""

    timeline: Timeline
    took_s: float = 0.0
    is_whole: bool = True
    """False while logs are still being read."""
    missing: str = ""
    """Why there is no log of a live leader in it, if there should be one."""
    lacking: str = ""
    """What is missing of the leader's log, in words."""


def read_timeline(
    paths: Sequence[str], task: Task, sources: Sources | None = None, view: QuorumView | None = None
) -> TimelineReading:
    """Read all logs and snapshots of the directories, and the log of a live leader, if one of the
    sources is a quorum whose nodes have answered. Raises KraftoolError."""
    began = time.monotonic()
    locations, unopened = open_paths(paths)
    if sources is None or sources.target is None or view is None:
        return _read(locations, unopened, began, task)
    task.begin("reading the leader's log")
    try:
        log = leaders_log(sources, view, task.counted)
    except UnobservableError as error:
        if not locations:
            raise
        return replace(_read(locations, unopened, began, task), missing=error.message)
    try:
        reading = _read([*locations, log.location], unopened, began, task)
        return replace(reading, lacking=log.lacking)
    finally:
        log.close()


def _read(
    locations: Sequence[Location], unopened: Sequence[Finding], began: float, task: Task
) -> TimelineReading:
    task.begin("reading logs and snapshots")
    nodes, findings = open_nodes(locations, task.passed)
    total = sum(segment.size for node in nodes for segment in node.segments)
    task.begin("reading logs", total or None)
    different = other_clusters(clusters(nodes))
    if different is not None:
        raise KraftoolError(
            f"{different.sentence()}: {different.file} is of another cluster than the rest"
        )
    options = TimelineOptions(list_topics=True)
    timeline = build(nodes, [*unopened, *findings], options, task.passed)
    return TimelineReading(timeline=timeline, took_s=time.monotonic() - began)


def seen_timeline(history: WatchHistory) -> Timeline:
    """Return the elections that were seen while watching, or that the ends of logs record."""
    events = tuple(
        Event(
            category=Category.ELECTIONS,
            type="leader-elected" if election.leader_id is not None else "epoch",
            offset=-1,
            epoch=election.epoch,
            timestamp=election.timestamp,
            what=f"{election.leader_id} elected leader of epoch {election.epoch}"
            if election.leader_id is not None
            else f"epoch {election.epoch} began, leader unknown",
            details=() if election.is_recorded else ("when it was noticed",),
        )
        for election in history.elections
    )
    counts = {Category.ELECTIONS: len(events)} if events else {}
    return Timeline(nodes=(), events=events, statistics=Statistics(event_counts=counts))
