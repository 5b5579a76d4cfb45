"""The clusters that somebody has to act on now, one line each.

Owns which ones these are: those with an error, in the order of the audit. The causes over the whole
fleet follow in `page_overview.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.findings.finding import Severity
from kraftool.reports.fleet.model import ClusterSummary, FleetFinding
from kraftool.reports.fleet.page_parts import PageContext, cut, section, severities
from kraftool.reports.fleet.page_text import clipped, command, counted, data

MOST = 12
_LONGEST = 400


def now(view: PageContext) -> Iterator[str]:
    """The worst clusters, each with its most urgent finding and what to do; nothing without any."""
    urgent = [cluster for cluster in view.audit.clusters if cluster.finding_counts.error]
    if not urgent:
        return
    first: dict[str, FleetFinding] = {}
    for finding in view.audit.findings:
        if finding.finding.severity is Severity.ERROR:
            first.setdefault(finding.cluster, finding)
    yield from section("now", "Act on these clusters now", "Clusters with errors, the worst first.")
    yield '<ol class="now">'
    for cluster in urgent[:MOST]:
        yield from _cluster(view, cluster, first.get(cluster.name))
    yield "</ol>\n"
    rest = view.audit.counts.clusters_with.error - len(urgent[:MOST])
    if rest > 0:
        yield cut(f'{counted(rest, "more cluster")} with errors <a href="#clusters">below</a>.')
    yield "</section>\n"


def _cluster(
    view: PageContext, cluster: ClusterSummary, finding: FleetFinding | None
) -> Iterator[str]:
    yield f'<li class="card"><div class="head">{view.cluster(cluster.name)}'
    yield f"{severities(cluster.finding_counts)}"
    yield f'<span class="where">{counted(cluster.directories, "directory", "directories")}</span>'
    yield "</div>"
    if finding is None:
        yield '<p>Its findings are not listed on this page: <a href="#findings">see below</a>.</p>'
    else:
        plain_finding = finding.finding
        yield f'<p><span class="code">{data(plain_finding.code)}</span> '
        yield f"{clipped(plain_finding.sentence(), _LONGEST)}</p>"
        if plain_finding.advice:
            yield f'<p class="do"><b>Do:</b> {clipped(plain_finding.advice, _LONGEST)}</p>'
        if finding.commands:
            yield f"<pre>{command(finding.commands[0])}</pre>"
    yield "</li>\n"
