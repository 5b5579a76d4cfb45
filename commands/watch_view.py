"""The dashboard's first view as text, for scripts and tickets.

Owns layout and colour; the words are `watching/summary.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from kraftool.client.cluster_health import cluster_words
from kraftool.commands.block_view import cell_text, fact_table, table
from kraftool.commands.finding_view import NAME, text, write_findings
from kraftool.commands.output import Output
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.status import overall_status
from kraftool.reports.text.blocks import Fact, Phrase
from kraftool.watching import summary
from kraftool.watching.quorum import QuorumReport
from kraftool.watching.safety import MetadataHealth


def write_watched(
    output: Output,
    report: QuorumReport,
    metadata: MetadataHealth | None = None,
    findings: Sequence[Finding] = (),
) -> None:
    """Write one poll of a quorum, with brokers and partitions if they were looked at."""
    title = Text("Quorum", style=NAME)
    if report.cluster_ids:
        title.append(" of cluster ", style="").append_text(
            text(", ".join(report.cluster_ids), NAME)
        )
    output.rich(title)
    output.rich(fact_table([*summary.lines(report), *_cluster(metadata, findings)]))
    if report.replicas:
        output.line()
        replicas = summary.replica_table(report, output.width, has_trend=False)
        output.rich(table(replicas, output.width))
    if report.statements:
        output.line()
    for statement in report.statements:
        code = Phrase(statement.code, "quiet")
        parts = summary.sign(statement.severity), *summary.finding(statement), code
        output.rich(Text(" ").join(map(cell_text, parts)))
    write_findings(output, findings, "", explain=True)


def _cluster(metadata: MetadataHealth | None, findings: Sequence[Finding]) -> Iterator[Fact]:
    if metadata is None:
        return
    if metadata.cluster is None:
        yield Fact("Cluster", (Phrase("? brokers and partitions unknown, see below", "warn"),))
    else:
        status = overall_status([finding.severity for finding in findings], is_complete=True)
        words = f"{status.mark} {cluster_words(metadata.cluster)}"
        yield Fact("Cluster", (Phrase(words, status.meaning),))
