"""The sums of a timeline: elections above all.

Owns the sums. The rate counts what came after the first election of a log that begins at 0, since
a quorum has to elect once to come into being.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.reports.timeline.events import Category, Event, Reign, Statistics
from kraftool.reports.timeline.line import LogBranch

HOUR_MS = 3_600_000


def summed_up(
    shown: Sequence[Event], all_events: Sequence[Event], lines: Sequence[LogBranch]
) -> Statistics:
    """Sum up the events that are shown; how long a leader led is seen from all of them."""
    counts: dict[Category, int] = {}
    for event in shown:
        counts[event.category] = counts.get(event.category, 0) + 1
    longest_line = max(lines, key=lambda line: line.known.last_offset, default=None)
    elections = _elections(shown)
    reigns = _reigns(elections, _elections(all_events), longest_line)
    leaders: dict[int, int] = {}
    led: dict[int, int] = {}
    for election in elections:
        leader = election.data["leader"]
        leaders[leader] = leaders.get(leader, 0) + 1
    for reign in reigns:
        led[reign.leader_id] = led.get(reign.leader_id, 0) + reign.led_ms
    span = _span(longest_line)
    later = [election for election in elections if election.data["previousEpoch"] is not None]
    metadata = longest_line.known.metadata if longest_line is not None else None
    return Statistics(
        event_counts=counts,
        elections=len(elections),
        elections_won_by_leader=dict(sorted(leaders.items())),
        led_ms_by_leader=dict(sorted(led.items())),
        longest_reign=max(reigns, key=lambda reign: reign.led_ms, default=None),
        most_elections_in_an_hour=_most_in_an_hour(later),
        elections_per_hour=None if span is None or span < HOUR_MS else len(later) * HOUR_MS / span,
        skipped_epochs=sum(election.data["epochsSkipped"] or 0 for election in elections),
        span_ms=span,
        created_topics=metadata.topics_created if metadata is not None else 0,
        deleted_topics=metadata.topics_deleted if metadata is not None else 0,
        created_partitions=metadata.partitions_created if metadata is not None else 0,
    )


def _elections(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.type == "leader-elected"]


def _reigns(
    shown: Sequence[Event], elections: Sequence[Event], line: LogBranch | None
) -> list[Reign]:
    """Return how long each leader led: to the last record of its epoch, as the next election
    tells.
    """
    ends = {
        election.data["previousEpoch"]: election.data["previousLedMs"]
        for election in elections
        if election.data["previousLedMs"] is not None
    }
    reigns = []
    for event in shown:
        epoch, led = event.data["epoch"], ends.get(event.data["epoch"])
        last = led is None
        if led is None and line is not None and epoch == line.known.last_epoch:
            end = line.known.last_timestamp
            led = end - event.timestamp if end is not None and event.timestamp is not None else None
        if led is not None:
            reigns.append(
                Reign(
                    leader_id=event.data["leader"],
                    epoch=epoch,
                    offset=event.offset,
                    led_ms=max(led, 0),
                    is_last=last,
                )
            )
    return reigns


def _most_in_an_hour(elections: Sequence[Event]) -> int:
    times = sorted(election.timestamp for election in elections if election.timestamp is not None)
    most = start = 0
    for index, time in enumerate(times):
        while time - times[start] >= HOUR_MS:
            start += 1
        most = max(most, index - start + 1)
    return most


def _span(line: LogBranch | None) -> int | None:
    if line is None or line.known.first_timestamp is None or line.known.last_timestamp is None:
        return None
    return max(line.known.last_timestamp - line.known.first_timestamp, 0)
