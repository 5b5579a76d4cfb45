"""The long tables of the page: clusters, directories, findings.

Owns their columns, and how many rows the page has at most. What it leaves out is counted, together
with what the model had left out already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from kraftool.reports.fleet.model import ClusterSummary, DirectorySummary, FleetFinding
from kraftool.reports.fleet.page_parts import (
    PageContext,
    badge,
    cell,
    cut,
    section,
    severities,
    table,
)
from kraftool.reports.fleet.page_text import (
    NOTHING,
    clipped,
    command,
    count,
    counted,
    dash,
    data,
    path,
    size,
    time,
)

MOST_CLUSTERS = 2_000
MOST_DIRECTORIES = 4_000
MOST_FINDINGS = 500
_MOST_COMMANDS = 3
_LONGEST = 800

CLUSTER_COLUMNS = (
    ("Cluster", ""),
    ("Findings", ""),
    ("Nodes", ""),
    ("Leader, epoch", ""),
    ("Voters", ""),
    ("End offset", "d"),
    ("Lag", "d"),
    ("metadata.version", ""),
    ("Size", "d"),
    ("Last record (UTC)", ""),
    ("Elections", "d"),
    ("Records", "d"),
    ("Topics", "d"),
    ("Brokers", "d"),
)
DIRECTORY_COLUMNS = (
    ("Cluster", ""),
    ("Node", "d"),
    ("Directory", ""),
    ("Findings", ""),
    ("quorum-state", ""),
    ("Offsets", "d"),
    ("Epoch", "d"),
    ("Size", "d"),
    ("Newest snapshot", "d"),
    ("metadata.version", ""),
    ("Last record (UTC)", ""),
)
FINDING_COLUMNS = (("Finding", ""), ("Where", ""), ("What, and what to do", ""))


def clusters(view: PageContext, all_of_it: str) -> Iterator[str]:
    """A row for each cluster."""
    audit = view.audit
    yield from section("clusters", "Clusters", "The worst first.")
    shown = audit.clusters[:MOST_CLUSTERS]
    rows = (_cluster(view, summary) for summary in shown)
    yield from table("Clusters", CLUSTER_COLUMNS, rows, "clusters")
    yield from _left_out(audit.counts.clusters - len(shown), "cluster", "", all_of_it)
    yield "</section>\n"


def _cluster(view: PageContext, summary: ClusterSummary) -> str:
    nodes = ", ".join(map(str, summary.node_ids)) or NOTHING
    if summary.directories != len(summary.node_ids):
        nodes += (
            f' <span class="q">({counted(summary.directories, "directory", "directories")})</span>'
        )
    leader = f"{count(summary.leader_id)}, {count(summary.epoch)}"
    versions = ", ".join(map(data, summary.metadata_versions)) or NOTHING
    mixed = ' <span class="n warning">▲ mixed</span>' if len(summary.metadata_versions) > 1 else ""
    return "".join(
        (
            f'<tr id="{view.cluster_at[summary.name]}">',
            f'<th scope="row"><code>{data(summary.name)}</code>{view.folder(summary.name)}</th>',
            cell(severities(summary.finding_counts)),
            cell(nodes),
            cell(leader),
            cell(", ".join(str(voter.id) for voter in summary.voters) or NOTHING),
            cell(count(summary.end_offset)),
            cell(count(summary.lag)),
            cell(versions + mixed),
            cell(size(summary.size)),
            cell(time(summary.last_timestamp)),
            cell(count(summary.elections)),
            cell(count(summary.records)),
            cell(count(summary.topics)),
            cell(count(summary.brokers)),
            "</tr>\n",
        )
    )


def directories(view: PageContext, all_of_it: str) -> Iterator[str]:
    """A row for each data directory."""
    audit = view.audit
    yield from section("directories", "Directories", "Cluster after cluster, by node id.")
    shown = audit.directories[:MOST_DIRECTORIES]
    rows = (
        row
        for name, group in groupby(shown, key=lambda directory: directory.cluster)
        for row in _directories(view, name, tuple(group))
    )
    yield from table("Directories", DIRECTORY_COLUMNS, rows, "directories")
    left = audit.counts.directories - len(shown)
    yield from _left_out(left, "directory", "directories", all_of_it)
    yield "</section>\n"


def _directories(
    view: PageContext, cluster: str, mine: Sequence[DirectorySummary]
) -> Iterator[str]:
    """The rows of one cluster, which is named once, beside them all."""
    head = f'<th scope="rowgroup" rowspan="{len(mine)}">{view.cluster(cluster)}</th>'
    for summary in mine:
        yield _directory(view, summary, head)
        head = ""


def _directory(view: PageContext, summary: DirectorySummary, head: str) -> str:
    offsets = NOTHING
    if summary.end_offset is not None:
        offsets = f"{count(summary.start_offset)} .. {count(summary.end_offset)}"
    if summary.intact_end_offset is not None and summary.intact_end_offset != summary.end_offset:
        offsets += (
            f'<br><span class="n error">✕ intact to {count(summary.intact_end_offset)}</span>'
        )
    voted = f"epoch {count(summary.quorum_epoch)}" if summary.quorum_epoch is not None else NOTHING
    voted += f", leader {summary.leader_id}" if summary.leader_id is not None else ""
    voted += f", voted {summary.voted_id}" if summary.voted_id is not None else ""
    live = ' <span class="b info">in use</span>' if summary.is_live else ""
    return "".join(
        (
            f'<tr id="{view.directory_at[summary.name]}">{head}',
            cell(count(summary.node_id)),
            cell(f"<code>{path(summary.name)}</code>{live}"),
            cell(severities(summary.finding_counts)),
            cell(voted),
            cell(offsets),
            cell(count(summary.epoch)),
            cell(size(summary.size)),
            cell(count(summary.newest_snapshot_offset)),
            cell(dash(summary.metadata_release or summary.metadata_version)),
            cell(time(summary.last_timestamp)),
            "</tr>\n",
        )
    )


def findings(view: PageContext, all_of_it: str) -> Iterator[str]:
    """All findings, up to a limit."""
    audit = view.audit
    total = audit.counts.finding_counts.total
    shown = audit.findings[:MOST_FINDINGS]
    lead = "The worst first."
    if total > len(shown):
        lead = f"The first {count(len(shown))} of {count(total)}, the worst first."
    yield from section("findings", "Findings", lead if total else "")
    if shown:
        yield from table("Findings", FINDING_COLUMNS, finding_rows(view, shown))
    elif not total:
        yield '<p class="card fine">None.</p>\n'
    yield from _left_out(total - len(shown), "finding", "", all_of_it)
    yield "</section>\n"


def finding_rows(view: PageContext, fleet_findings: Iterable[FleetFinding]) -> Iterator[str]:
    for finding in fleet_findings:
        one = finding.finding
        where = [view.cluster(finding.cluster)] if finding.cluster else []
        if finding.directory:
            where.append(view.directory(finding.directory))
        where += [view.directory(name) for name in finding.paths if name != finding.directory]
        place = one.where()
        place = place.removeprefix(finding.directory).lstrip("/: ") if finding.directory else place
        if place:
            where.append(f'<code class="q">{path(place)}</code>')
        yield "".join(
            (
                f"<tr><td>{badge(one.severity)}<br><code>{data(one.code)}</code>",
                f'<br><span class="q">{data(", ".join(finding.by))}</span></td>'
                if finding.by
                else "</td>",
                cell("<br>".join(where) or NOTHING, "w"),
                cell("".join(_body(finding)), "t"),
                "</tr>\n",
            )
        )


def _body(finding: FleetFinding) -> Iterator[str]:
    places = f" ({counted(finding.finding.count, 'place')})" if finding.finding.count > 1 else ""
    yield f"<p>{clipped(finding.finding.sentence(), _LONGEST)}{places}</p>"
    for evidence in finding.evidence[:_MOST_COMMANDS]:
        evidence_text = (
            f"{evidence.where()}: {evidence.found}" if evidence.where() else evidence.found
        )
        yield f'<p class="q">{clipped(evidence_text, _LONGEST)}</p>'
    if finding.finding.advice:
        yield f"<p>→ {clipped(finding.finding.advice, _LONGEST)}</p>"
    if finding.commands:
        yield f"<pre>{chr(10).join(map(command, finding.commands[:_MOST_COMMANDS]))}</pre>"


def _left_out(many: int, singular: str, plural: str, all_of_it: str) -> Iterator[str]:
    if many > 0:
        yield cut(
            f"{counted(many, f'more {singular}', f'more {plural or singular + chr(115)}')}"
            f" left out of this page. {all_of_it}"
        )
