"""An audit for people: which clusters are in trouble, what is wrong, and how often. The most urgent
is first (`reports/findings/urgency.py`).

Owns how much of it a terminal shows. Everything that comes from data goes through `printable` into
Text, which knows no markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import (
    BAD,
    NAME,
    QUIET,
    SEVERITY_STYLES,
    WARN,
    advice_line,
    style_of,
    text,
    write_muted,
)
from kraftool.commands.output import Output
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import overall_status, status_of
from kraftool.reports.fleet.model import (
    AUDIT,
    ClusterSummary,
    FleetAudit,
    FleetCounts,
    FleetFinding,
    SinceRun,
    VersionCount,
)
from kraftool.reports.text.json_forms import FindingCounts
from kraftool.reports.text.times import utc
from kraftool.reports.text.words import many, size

_MOST_CLUSTERS = 20
_MOST_FINDINGS = 40
_MOST_ALIKE = 3
"""So many findings of one code in one cluster are told in full."""


def write_audit(to: Output, audit: FleetAudit, *, show_muted: bool = False) -> None:
    """The whole audit."""
    _headline(to, audit)
    if audit.since is not None:
        _changes(to, audit.since)
    else:
        _clusters(to, audit)
        _findings(to, audit)
        _codes(to, audit)
    to.line()
    to.rich(_verdict(audit.counts))
    write_muted(to, audit.counts.muted_findings, is_listed=show_muted)


def _changes(to: Output, since: SinceRun) -> None:
    """Lists the new findings and those that are gone. The table and -o json have all."""
    began = f" of {utc(since.started_at)}" if since.started_at is not None else ""
    earlier = (
        f"since run {since.earlier_run}{began}"
        if since.earlier_run
        else "in the first run of the table"
    )
    for title, counts, findings in (
        ("New", since.new_counts, since.new_findings),
        ("Gone", since.gone_counts, since.gone_findings),
    ):
        weighty = [one for one in findings if one.finding.severity is not Severity.INFO]
        to.line()
        to.rich(text(f"{title} {earlier}: {_counted(counts)}", NAME))
        _listed(to, weighty[:_MOST_FINDINGS])
        left = counts.error + counts.warning - len(weighty[:_MOST_FINDINGS])
        if left:
            to.rich(text(f"… and {left} more errors and warnings; -o json has more", QUIET))
    to.line()
    to.rich(text(f"{many(since.same, 'finding')} as before", QUIET))


def _counted(counts: FindingCounts) -> str:
    numbers = ((counts.error, "error"), (counts.warning, "warning"), (counts.info, "note"))
    return ", ".join(many(number, noun) for number, noun in numbers if number) or "nothing"


def _headline(to: Output, audit: FleetAudit) -> None:
    counts, run = audit.counts, audit.run
    line = Text()
    for number, root in enumerate(run.roots[:3]):
        line.append(" " if number else "").append_text(text(root, NAME))
    if len(run.roots) > 3:
        line.append(f" and {len(run.roots) - 3} more ROOTs")
    to.rich(line, unbroken=True)
    live = f", {counts.live} of them of running nodes" if counts.live else ""
    directories = many(counts.directories, "directory")
    to.rich(text(f"{many(counts.clusters, 'cluster')}, {directories}{live}", QUIET))
    held = (
        f"{many(counts.batches, 'batch')}, {many(counts.records, 'record')};"
        f" {many(counts.topics, 'topic')}, {many(counts.partitions, 'partition')},"
        f" {many(counts.brokers, 'broker')}"
    )
    to.rich(text(f"{size(counts.size)} in {many(counts.files, 'file')}: {held}", QUIET))
    for name, versions in (
        ("metadata.version", audit.metadata_versions),
        ("kraft.version", audit.kraft_versions),
    ):
        if versions:
            to.rich(text(f"{name} {_spread(versions)}", QUIET))


def _spread(versions: Sequence[VersionCount]) -> str:
    counts = [f"{version.name} in {version.clusters}" for version in versions[:5]]
    more = f" and {len(versions) - 5} others" if len(versions) > 5 else ""
    return f"{', '.join(counts)}{more} {'cluster' if versions[-1].clusters == 1 else 'clusters'}"


def _clusters(to: Output, audit: FleetAudit) -> None:
    """Those with something from warning up, a line each."""
    weighty = (Severity.ERROR, Severity.WARNING)
    listed = [cluster for cluster in audit.clusters if cluster.finding_counts.worst in weighty]
    if not listed:
        return
    to.line()
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style=QUIET)
    table.add_column("cluster", overflow="fold", max_width=24)
    for name in ("errors", "warnings", "nodes", "lag", "epoch"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("metadata.version", overflow="fold")
    for summary in listed[:_MOST_CLUSTERS]:
        table.add_row(
            text(summary.name, NAME),
            _number(summary.finding_counts.error, BAD),
            _number(summary.finding_counts.warning, WARN),
            text(_nodes(summary)),
            text("-" if summary.lag is None else summary.lag),
            text("-" if summary.epoch is None else summary.epoch),
            text(", ".join(summary.metadata_versions) or "-"),
        )
    to.rich(table)
    troubled = audit.counts.clusters_with.error + audit.counts.clusters_with.warning
    if troubled > _MOST_CLUSTERS:
        to.rich(text(f"… and {troubled - _MOST_CLUSTERS} more clusters with findings", QUIET))
    fine = audit.counts.clusters - troubled
    if fine:
        words = "is 1 cluster" if fine == 1 else f"are {fine} clusters"
        to.rich(text(f"Besides there {words} without errors and warnings.", QUIET))


def _number(count: int, style: str) -> Text:
    return Text(str(count), style=style) if count else Text("-", style=QUIET)


def _nodes(cluster: ClusterSummary) -> str:
    """Return how many directories there are, and of how many nodes where that is another number."""
    nodes = len(cluster.node_ids)
    return str(nodes) if nodes == cluster.directories else f"{nodes}/{cluster.directories}"


def _findings(to: Output, audit: FleetAudit) -> None:
    """The worst, cluster by cluster; what is only info is counted."""
    weighty = [
        finding for finding in audit.findings if finding.finding.severity is not Severity.INFO
    ]
    shown: list[FleetFinding] = []
    alike: dict[tuple[str, str], int] = {}
    for finding in weighty:
        key = finding.finding.code, finding.cluster
        alike[key] = alike.get(key, 0) + 1
        if alike[key] <= _MOST_ALIKE and len(shown) < _MOST_FINDINGS:
            shown.append(finding)
    _listed(to, shown)
    left = audit.counts.finding_counts.error + audit.counts.finding_counts.warning - len(shown)
    if left:
        to.line()
        words = f"… and {left} more errors and warnings, of the codes below; -o json has all"
        to.rich(text(words, QUIET))


def _listed(to: Output, findings: Iterable[FleetFinding]) -> None:
    """Findings in full, cluster by cluster."""
    for cluster, group in _by_cluster(findings):
        to.line()
        to.rich(text(f"cluster {cluster}" if cluster else "The fleet as a whole", NAME))
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, width=7)
        table.add_column(overflow="fold")
        explained: set[tuple[str, str]] = set()
        for finding in group:
            severity = finding.finding.severity
            table.add_row(
                Text(severity.value, style=SEVERITY_STYLES[severity]), _body(finding, explained)
            )
        to.rich(table)


def _by_cluster(
    findings: Iterable[FleetFinding],
) -> list[tuple[str, list[FleetFinding]]]:
    findings_by_cluster: dict[str, list[FleetFinding]] = {}
    for finding in findings:
        findings_by_cluster.setdefault(finding.cluster, []).append(finding)
    return list(findings_by_cluster.items())


def _body(fleet_finding: FleetFinding, explained: set[tuple[str, str]]) -> Text:
    finding = fleet_finding.finding
    body = Text(finding.code, style=NAME)
    if fleet_finding.by != (AUDIT,):
        body.append(f"  {', '.join(fleet_finding.by)}", style=QUIET)
    if where := finding.where():
        body.append("\n").append_text(text(where, "cyan"))
    body.append("\n").append_text(text(finding.sentence()))
    body_text = f"{finding.where()} {finding.sentence()}"
    others = [one for one in fleet_finding.paths if one not in body_text]
    if others:
        body.append("\n").append_text(text(f"about {', '.join(others)}", QUIET))
    # One cluster's advice is no other's: it is left out only where it was just given.
    if finding.advice and (finding.code, finding.advice) not in explained:
        explained.add((finding.code, finding.advice))
        body.append("\n").append_text(advice_line(finding.advice, status_of(finding.severity)))
    return body


def _codes(to: Output, audit: FleetAudit) -> None:
    """Show how often each code was found."""
    if not audit.codes:
        return
    to.line()
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style=QUIET)
    table.add_column("code", no_wrap=True)
    table.add_column("severity", no_wrap=True)
    for name in ("findings", "clusters", "directories"):
        table.add_column(name, justify="right", no_wrap=True)
    for code in audit.codes:
        table.add_row(
            Text(code.code, style=NAME),
            Text(code.severity.value, style=SEVERITY_STYLES[code.severity]),
            str(code.findings),
            str(code.clusters),
            str(code.directories),
        )
    to.rich(table)
    to.rich(text("kraftool doctor --explain CODE says what a code means", QUIET))


def _verdict(counts: FleetCounts) -> Text:
    line = Text()
    severity_counts = _told(counts.finding_counts)
    for number, (words, style) in enumerate(severity_counts):
        line.append(" and " if number else "").append(words, style=style)
    if not severity_counts:
        fine = "no problems found" if counts.directories else "no directory was examined"
        is_complete = bool(counts.directories) and not (
            counts.undecoded or counts.ignored or counts.muted
        )
        notes = [Severity.INFO] * counts.finding_counts.info
        line.append(fine, style=style_of(overall_status(notes, is_complete=is_complete)))
    directories = many(counts.directories, "directory")
    line.append(f": {directories} of {many(counts.clusters, 'cluster')} audited")
    if counts.undecoded:
        line.append(f", {many(counts.undecoded, 'place')} could not be read", style=BAD)
    if counts.ignored:
        line.append(f", {many(counts.ignored, 'finding')} ignored", style=QUIET)
    return line


def _told(counts: FindingCounts) -> list[tuple[str, str]]:
    both = ((counts.error, Severity.ERROR), (counts.warning, Severity.WARNING))
    return [
        (many(count, severity.value), SEVERITY_STYLES[severity])
        for count, severity in both
        if count
    ]
