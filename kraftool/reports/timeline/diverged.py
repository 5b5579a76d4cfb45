"""The places where the logs of several directories diverge, without the course of events.

Owns which directories are compared: those of one cluster. It asks the timeline's own comparison, so
that a divergence is told in the same words wherever it is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.reports.files.home_cluster import by_cluster
from kraftool.reports.findings.finding import Finding
from kraftool.reports.timeline.line import LogBranch
from kraftool.reports.timeline.merge import Merge
from kraftool.reports.timeline.report import parted_findings
from kraftool.reports.timeline.sources import Progress, open_nodes
from kraftool.storage.paths import Location

_NO_GAPS = 1 << 62


def diverged(
    locations: Sequence[Location], progress: Progress = lambda name, position: None
) -> Iterator[Finding]:
    """Read the logs side by side; streams, which can be read once only, are not for this."""
    nodes, _ = open_nodes(locations, progress)
    for members in by_cluster(nodes, lambda log: log.node.cluster_id):
        if len(members) < 2:
            continue
        merge = Merge(members, lambda batch: LogBranch(gaps_ms=_NO_GAPS), progress)
        for _ in merge.events():
            pass
        yield from parted_findings(merge.merged, members)
