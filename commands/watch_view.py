"""The dashboard's first view as text, for scripts and tickets.

Owns layout and colour; the words are `watching/summary.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from kraftool.client.cluster_health import cluster_words
from kraftool.commands.finding_view import (
    BAD,
    GOOD,
    KEY,
    NAME,
    QUIET,
    WARN,
    style_of,
    text,
    write_findings,
)
from kraftool.commands.output import Output
from kraftool.commands.plain_tables import plain_table
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.status import overall_status
from kraftool.watching import summary
from kraftool.watching.checkup import MetadataHealth
from kraftool.watching.quorum import QuorumReport
from kraftool.watching.summary import StyledText

_STYLES = {"": "", "name": NAME, "quiet": QUIET, "good": GOOD, "warn": WARN, "bad": BAD,
           "key": KEY, "line": KEY}  # fmt: skip


def write_watched(
    output: Output,
    report: QuorumReport,
    metadata: MetadataHealth | None = None,
    findings: Sequence[Finding] = (),
) -> None:
    """Write one look at a quorum, with brokers and partitions if they were looked at."""
    title = Text("Quorum", style=NAME)
    if report.cluster_ids:
        title.append(" of cluster ", style="").append_text(
            text(", ".join(report.cluster_ids), NAME)
        )
    output.rich(title)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for line in summary.lines(report):
        grid.add_row(Text(line.name, style=QUIET), Text("  ").join(map(_part, line.parts)))
    if metadata is not None:
        grid.add_row(Text("Cluster", style=QUIET), _cluster(metadata, findings))
    output.rich(grid)
    if report.replicas:
        output.line()
        output.rich(_replicas(report, output.width))
    if report.statements:
        output.line()
    for statement in report.statements:
        row = _part(summary.sign(statement.severity))
        for part in summary.finding(statement):
            row.append(" ", style="").append_text(_part(part))
        output.rich(row)
    write_findings(output, findings, "", explain=True)


def _cluster(metadata: MetadataHealth, findings: Sequence[Finding]) -> Text:
    if metadata.cluster is None:
        return text("? brokers and partitions unknown, see below", WARN)
    status = overall_status([finding.severity for finding in findings], is_complete=True)
    words = text(cluster_words(metadata.cluster))
    return Text(f"{status.mark} ", style=style_of(status)).append_text(words)


def _part(part: StyledText) -> Text:
    return text(part.text, _STYLES[part.meaning])


def _replicas(report: QuorumReport, width: int) -> Table:
    # One look has no trend.
    names = [column for column in summary.columns(report, width) if column != summary.TREND]
    table = plain_table("Replicas", *names, right=[*summary.RIGHT])
    for replica in report.replicas:
        cells = summary.cells(report, replica)
        table.add_row(*(_part(cells[name]) for name in names))
    return table
