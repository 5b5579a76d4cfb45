"""A live quorum for doctor's rules: its nodes beside directories, its leader's log among them.

Owns which words of nodes become findings of the examination. What doctor's rules say themselves,
of the leader's state as of any other, is not said twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kraftool.client.cluster_health import cluster_health
from kraftool.client.health import health
from kraftool.client.live import LiveQuorum
from kraftool.client.live_sources import node_sources
from kraftool.reports.doctor.model import Examination
from kraftool.reports.doctor.read import examine
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.storage.paths import Location


def examine_live(
    live: LiveQuorum,
    options: Sequence[str],
    locations: Sequence[Location],
    findings: Sequence[Finding],
    progress: Callable[[str, int], None],
) -> Examination:
    """Read everything that the rules look at, a live quorum's part too.

    `options` are those that lead to it, for the commands that are told.
    """
    captured = live.captured
    where = [*locations, *([] if captured is None else [captured.location])]
    examination = examine(where, findings, progress, node_sources(live.before))
    cluster = None
    if captured is not None and captured.observation is not None:
        cluster = cluster_health(captured.observation, live.now, live.before)
    judged = health(live.before, live.now, cluster, live.unobserved).findings
    live_findings = [
        finding for finding in judged if not finding.code.startswith(SIGNATURES.prefix)
    ]
    return replace(
        examination, live=tuple(options), findings=(*examination.findings, *live_findings)
    )
