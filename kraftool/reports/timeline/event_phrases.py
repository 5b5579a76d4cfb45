"""The phrases of an event in a list: what happened, in the logs of which nodes, and its meaning.

timeline and the dashboard show these; each lays them out in its own columns.
"""

from __future__ import annotations

from collections.abc import Mapping

from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.blocks import Phrase
from kraftool.reports.timeline.events import Category, Event, Timeline, Visibility

_MEANINGS: Mapping[Category, str] = {
    Category.ELECTIONS: "key",
    Category.VOTERS: "key",
    Category.FEATURES: "key",
    Category.NODES: "key",
    Category.BROKERS: "name",
    Category.CONTROLLERS: "name",
    Category.TRANSACTIONS: "quiet",
    Category.SNAPSHOTS: "quiet",
    Category.GAPS: "warn",
    Category.DAMAGE: "warn",
}
_MARKS = {Visibility.ABORTED: "[aborted] ", Visibility.OPEN: "[not visible] "}


def what(event: Event) -> Phrase:
    """Return what happened.

    `≠` is where other logs have something else, brackets are around what no reader sees.
    """
    mark = "≠ " if event.disputed and event.type != "diverged" else ""
    return Phrase(f"{mark}{_MARKS.get(event.visibility, '')}{event.what}", _meaning(event))


def details(event: Event) -> Phrase:
    """The rest of what is known of it."""
    return Phrase("".join(f"; {detail}" for detail in event.details), "quiet")


def nodes(timeline: Timeline, event: Event) -> Phrase:
    """Return the nodes whose logs have it."""
    all_of_them = len(event.nodes) == len(timeline.nodes)
    words = "all" if all_of_them else ",".join(timeline.labels(event.nodes))
    return Phrase(words, "bad" if event.disputed else "quiet")


def _meaning(event: Event) -> str:
    if event.visibility is not Visibility.VISIBLE:
        return "quiet"
    if event.severity is Severity.ERROR:
        return "bad"
    if event.severity is Severity.WARNING:
        return "warn"
    return "good" if event.good else _MEANINGS.get(event.category, "")
