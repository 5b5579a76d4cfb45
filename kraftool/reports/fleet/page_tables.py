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


def _cluster(view: PageContext, each: ClusterSummary) -> str:
    nodes = ", ".join(map(str, each.node_ids)) or NOTHING
    if each.directories != len(each.node_ids):
        nodes += (
            f' <span class="q">({counted(each.directories, "directory", "directories")})</span>'
        )
    leader = f"{count(each.leader_id)}, {count(each.epoch)}"
    versions = ", ".join(map(data, each.metadata_versions)) or NOTHING
    mixed = ' <span class="n warning">▲ mixed</span>' if len(each.metadata_versions) > 1 else ""
    return "".join(
        (
            f'<tr id="{view.cluster_at[each.name]}">',
            f'<th scope="row"><code>{data(each.name)}</code>{view.folder(each.name)}</th>',
            cell(severities(each.finding_counts)),
            cell(nodes),
            cell(leader),
            cell(", ".join(str(voter.id) for voter in each.voters) or NOTHING),
            cell(count(each.end_offset)),
            cell(count(each.lag)),
            cell(versions + mixed),
            cell(size(each.size)),
            cell(time(each.last_timestamp)),
            cell(count(each.elections)),
            cell(count(each.records)),
            cell(count(each.topics)),
            cell(count(each.brokers)),
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
        for name, group in groupby(shown, key=lambda each: each.cluster)
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


def _directory(view: PageContext, each: DirectorySummary, head: str) -> str:
    offsets = NOTHING
    if each.end_offset is not None:
        offsets = f"{count(each.start_offset)} .. {count(each.end_offset)}"
    if each.intact_end_offset is not None and each.intact_end_offset != each.end_offset:
        offsets += f'<br><span class="n error">✕ intact to {count(each.intact_end_offset)}</span>'
    voted = f"epoch {count(each.quorum_epoch)}" if each.quorum_epoch is not None else NOTHING
    voted += f", leader {each.leader_id}" if each.leader_id is not None else ""
    voted += f", voted {each.voted_id}" if each.voted_id is not None else ""
    live = ' <span class="b info">in use</span>' if each.is_live else ""
    return "".join(
        (
            f'<tr id="{view.directory_at[each.name]}">{head}',
            cell(count(each.node_id)),
            cell(f"<code>{path(each.name)}</code>{live}"),
            cell(severities(each.finding_counts)),
            cell(voted),
            cell(offsets),
            cell(count(each.epoch)),
            cell(size(each.size)),
            cell(count(each.newest_snapshot_offset)),
            cell(dash(each.metadata_release or each.metadata_version)),
            cell(time(each.last_timestamp)),
            "</tr>\n",
        )
    )


def findings(view: PageContext, all_of_it: str) -> Iterator[str]:
    """All findings, up to a limit."""
    audit = view.audit
    found = audit.counts.finding_counts.total
    shown = audit.findings[:MOST_FINDINGS]
    lead = "The worst first."
    if found > len(shown):
        lead = f"The first {count(len(shown))} of {count(found)}, the worst first."
    yield from section("findings", "Findings", lead if found else "")
    if shown:
        yield from table("Findings", FINDING_COLUMNS, finding_rows(view, shown))
    elif not found:
        yield '<p class="card fine">None.</p>\n'
    yield from _left_out(found - len(shown), "finding", "", all_of_it)
    yield "</section>\n"


def finding_rows(view: PageContext, found: Iterable[FleetFinding]) -> Iterator[str]:
    for finding in found:
        one = finding.finding
        where = [view.cluster(finding.cluster)] if finding.cluster else []
        if finding.directory:
            where.append(view.directory(finding.directory))
        where += [view.directory(name) for name in finding.directories if name != finding.directory]
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


def _body(each: FleetFinding) -> Iterator[str]:
    places = f" ({counted(each.finding.count, 'place')})" if each.finding.count > 1 else ""
    yield f"<p>{clipped(each.finding.sentence(), _LONGEST)}{places}</p>"
    for evidence in each.evidence[:_MOST_COMMANDS]:
        told = f"{evidence.where()}: {evidence.found}" if evidence.where() else evidence.found
        yield f'<p class="q">{clipped(told, _LONGEST)}</p>'
    if each.finding.advice:
        yield f"<p>→ {clipped(each.finding.advice, _LONGEST)}</p>"
    if each.commands:
        yield f"<pre>{chr(10).join(map(command, each.commands[:_MOST_COMMANDS]))}</pre>"


def _left_out(many: int, singular: str, plural: str, all_of_it: str) -> Iterator[str]:
    if many > 0:
        yield cut(
            f"{counted(many, f'more {singular}', f'more {plural or singular + chr(115)}')}"
            f" left out of this page. {all_of_it}"
        )
