"""Where the logs of several directories part, without the course of events.

Owns which directories are compared: those of one cluster. It asks the timeline's own comparison, so
that a divergence is told in the same words wherever it is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.reports.findings import Finding
from kraftool.reports.timeline.line import Line
from kraftool.reports.timeline.merge import Merge
from kraftool.reports.timeline.report import parted_findings
from kraftool.reports.timeline.sources import NodeLog, Progress, open_nodes
from kraftool.storage.paths import Location

_NO_GAPS = 1 << 62


def diverged(
    locations: Sequence[Location], progress: Progress = lambda name, position: None
) -> Iterator[Finding]:
    """Read the logs side by side; streams, which can be read once only, are not for this."""
    nodes, _ = open_nodes(locations, progress)
    for members in _clusters(nodes):
        if len(members) < 2:
            continue
        merge = Merge(members, lambda batch: Line(gaps_ms=_NO_GAPS), progress)
        for _ in merge.events():
            pass
        yield from parted_findings(merge.merged, members)


def _clusters(nodes: Sequence[NodeLog]) -> list[list[NodeLog]]:
    """The nodes by cluster; those that name none go with the first that does."""
    found: dict[str, list[NodeLog]] = {}
    first = next((each.cluster_id for each in nodes if each.cluster_id), None) or ""
    for each in nodes:
        found.setdefault(each.cluster_id or first, []).append(each)
    return list(found.values())
