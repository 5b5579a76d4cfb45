"""The report of a run of `pipeline tables`, for people."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import NAME, QUIET, WARN, text
from kraftool.commands.output import Output
from kraftool.commands.text_flow import Flow
from kraftool.reports.text.words import many, size
from kraftool.spark.tables.run import TablesReport

_CHANGES = {
    "TRUNCATED": "truncated: its rows from there on were removed",
    "CLEANED": "cleaned before it was read",
    "GONE": "gone: its rows stay",
}


def write_report(to: Output, report: TablesReport) -> None:
    """A line of what was read, and a table of what was written."""
    line = text(report.out, NAME)
    line.append(f": {many(report.clusters, 'cluster')}, ")
    line.append(many(report.directories, "directory"))
    if report.is_new:
        line.append(f"; {report.changed_clusters} changed, ")
        line.append(f"{size(report.bytes_read)} of {many(report.read_logs, 'log')} read")
    else:
        line.append("; nothing is new")
    if report.is_optimized:
        line.append("; small files were put together")
    to.rich(Flow(line, again="  "))
    if report.is_new or report.is_optimized:
        to.line()
        to.rich(_table(report))
    for name, count in report.log_changes.items():
        to.rich(Text(f"{many(count, 'log')} {_CHANGES.get(name, name)}", style=WARN))


def _table(report: TablesReport) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style=QUIET)
    table.add_column("table", no_wrap=True)
    for name in ("rows", "new", "removed", "files", "size"):
        table.add_column(name, justify="right")
    for table_report in report.tables:
        table.add_row(
            text(
                table_report.name,
                NAME if table_report.added_rows or table_report.removed_rows else QUIET,
            ),
            f"{table_report.after.rows:,}",
            f"{table_report.added_rows:,}" if table_report.added_rows else "",
            f"{table_report.removed_rows:,}" if table_report.removed_rows else "",
            f"{table_report.after.files:,}",
            size(table_report.after.size),
        )
    return table
