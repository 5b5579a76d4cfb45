"""The dashboard's first view as text, for scripts and tickets.

Owns layout and colour; the words are `watching/summary.py`'s.
"""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import BAD, GOOD, KEY, NAME, QUIET, WARN, text
from kraftool.commands.output import Output
from kraftool.commands.plain_tables import plain_table
from kraftool.watching import summary
from kraftool.watching.quorum import QuorumReport
from kraftool.watching.summary import StyledText

_STYLES = {"": "", "name": NAME, "quiet": QUIET, "good": GOOD, "warn": WARN, "bad": BAD,
           "key": KEY, "line": KEY}  # fmt: skip


def write_watched(output: Output, report: QuorumReport) -> None:
    """Write one look at a quorum."""
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
