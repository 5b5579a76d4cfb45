"""The first view: who leads, who votes, how far every replica is, what happened, what is wrong.

Owns its layout: some lines on the whole, a row for each replica, events and findings, and the row
under the cursor at length, as a narrow terminal has no room for all columns. Its words are
`watching/summary.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import DataTable, Static

from kraftool.reports.findings.finding import SEVERITY_RANK, Severity
from kraftool.reports.text.blocks import Phrase
from kraftool.tui.blocks import cell_text, fill, wrapped
from kraftool.tui.table import ReportTable
from kraftool.tui.view import View
from kraftool.tui.widgets.panel import Panel
from kraftool.watching import summary
from kraftool.watching.document import WatchDocument, watch_document
from kraftool.watching.number_words import clock
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import QuorumReport, quorum_report

_BESIDE = 96
"""From this width on, events and findings are side by side."""


def _put(where: Static, content: Table | Text) -> None:
    """Show this there. To lay out the screen again costs much: only where the height differs."""
    where.update(content, layout=False)
    room = where.content_size
    if where.get_content_height(room, where.app.size, room.width) != room.height:
        where.refresh(layout=True)


class QuorumScreen(View):
    """Replicas, as the leader knows them and as each says itself."""

    TITLE = "Quorum"
    ABOUT = (
        "The leader and the voters. kraftool asks every node, and the leader reports the lags. "
        "'behind' is the lag in time. 'restart?' is the answer of quorum may-stop. 'says' is the "
        "leader and epoch that a node itself reports. '~' is the last log end that a leader "
        "reported, '+' a voter whose record is not committed, '…' a node whose answer is overdue, "
        "and 'x' a time when a node was down."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "details", "Details")]
    DEFAULT_CSS = """
    #quorum-summary { height: auto; padding: 0 1; }
    #quorum-replicas { height: auto; min-height: 4; max-height: 60%; }
    #quorum-panels { height: 1fr; min-height: 4; layout: vertical; }
    #quorum-findings { max-height: 60%; }
    #quorum-events { height: 1fr; min-height: 2; }
    #quorum-panels.-beside { layout: horizontal; }
    .-beside #quorum-findings { width: 1fr; height: 1fr; max-height: 100%; }
    .-beside #quorum-events { width: 1fr; }
    #quorum-detail { height: auto; padding: 0 1; background: $surface; }
    """

    report: QuorumReport | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="quorum-summary")
        yield ReportTable(id="quorum-replicas")
        with Container(id="quorum-panels"):
            yield Panel("Findings, worst first", id="quorum-findings")
            yield Panel("Events", id="quorum-events")
        yield Static(id="quorum-detail")

    def show(self, picture: Picture) -> None:
        self.report = report = self.watch_app.overview.report or quorum_report(picture)
        _put(self.query_one("#quorum-summary", Static), self._summary(report))
        table = summary.replica_table(report, self.columns)
        fill(self.query_one(ReportTable), self.palette, table)
        self._panels(report)
        self._detail()

    def first_focus(self) -> None:
        self.query_one(ReportTable).focus()

    def _panels(self, report: QuorumReport) -> None:
        self.query_one("#quorum-panels").set_class(self.columns >= _BESIDE, "-beside")
        self.query_one("#quorum-findings", Panel).show_rows(self._findings(report))
        rows = [
            [*map(self._part, parts[:-1]), self._wrapped(parts[-1:])]
            for parts in (summary.event(event, report.at_ms) for event in report.events)
        ]
        since = clock(report.since_ms or report.at_ms, report.at_ms)
        panel = self.query_one("#quorum-events", Panel)
        panel.border_title = f"Events, watching since {since}"
        panel.show_rows(rows or [[self.text("nothing happened yet", "quiet")]])

    def _findings(self, report: QuorumReport) -> list[list[Text]]:
        """Return a row for each finding: a sign, and what is wrong with what to do."""
        ranked_rows: list[tuple[int, list[Text]]] = []
        for statement in report.statements:
            words = self._wrapped(summary.finding(statement))
            sign = self._part(summary.sign(statement.severity))
            ranked_rows.append((SEVERITY_RANK[statement.severity], [sign, words]))
        for complaint in self.watch_app.overview.further:
            severity = complaint.finding.severity
            is_bad = severity is Severity.ERROR
            words = self._wrapped(
                (
                    Phrase(
                        f"{complaint.who}: {complaint.finding.sentence()}",
                        "bad" if is_bad else "quiet" if severity is Severity.INFO else "",
                    ),
                    Phrase("→ Health (6)", "quiet"),
                )
            )
            ranked_rows.append(
                (SEVERITY_RANK[severity], [self._part(summary.sign(severity)), words])
            )
        rows = [row for _, row in sorted(ranked_rows, key=itemgetter(0))]
        *signs, verdict = summary.verdict(report)
        return rows or [[*map(self._part, signs), self._wrapped([verdict])]]

    def _wrapped(self, parts: Iterable[Phrase]) -> Text:
        return wrapped(self.palette, parts)

    def _part(self, part: Phrase) -> Text:
        return cell_text(self.palette, part)

    def _summary(self, report: QuorumReport) -> Table:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, min_width=9)
        grid.add_column(overflow="fold")
        for line in summary.lines(report, has_events=True):
            # What does not fit goes on in the next line: some of it is what one has to know.
            words = Text("  ").join(map(self._part, line.parts))
            grid.add_row(self.text(line.label, "quiet"), words)
        return grid

    # --- the row under the cursor -------------------------------------------------------------

    def on_data_table_row_highlighted(self, _: DataTable.RowHighlighted) -> None:
        self._detail()

    def action_details(self) -> None:
        """Show or hide the row under the cursor at length."""
        detail = self.query_one("#quorum-detail", Static)
        detail.display = not detail.display

    def _detail(self) -> None:
        report, key = self.report, self.query_one(ReportTable).cursor_key
        lines: list[Text] = []
        for replica in report.replicas if report is not None else ():
            if report is not None and replica.key == key and not lines:
                details = summary.details(report, replica)
                lines = [Text("  ").join(map(self._part, parts)) for parts in details]
        _put(self.query_one("#quorum-detail", Static), Text("\n").join(lines))

    # --- ways out -----------------------------------------------------------------------------

    @property
    def document(self) -> WatchDocument | None:
        return None if self.report is None else watch_document(self.report)
