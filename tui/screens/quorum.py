"""The first view: who leads, who votes, how far everyone is, and what one should know of it.

Owns its layout: some lines on the whole, a row for each replica, and the row under the cursor at
length, as a narrow terminal has no room for all columns. Its words are `watching/summary.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Static

from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.csv_text import csv_rows
from kraftool.reports.text.json_document import json_object
from kraftool.tui.palette import Palette
from kraftool.tui.table import ReportTable, Row
from kraftool.tui.view import View
from kraftool.watching import summary
from kraftool.watching.document import watch_document
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import QuorumReport, quorum_report
from kraftool.watching.summary import StyledText

_NARROW = 110


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
        "Who leads and who votes, by the words of every node itself. Lags are the leader's words; "
        "'behind' is a lag in time, 'restart' whether the node can be restarted now. 'says' is "
        "whom a node itself takes for the leader of which epoch; '~' is the last that a leader "
        "knew, '+' a voter whose record is not committed."
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "details", "Details")]
    DEFAULT_CSS = """
    #quorum-summary { height: auto; padding: 1 1 0 1; }
    #quorum-words { height: auto; max-height: 7; padding: 0 1; }
    #quorum-statements { height: auto; }
    #quorum-replicas { height: 1fr; min-height: 4; margin: 1 0 0 0; }
    #quorum-detail { height: auto; padding: 0 1; background: $surface; }
    """

    report: QuorumReport | None = None

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._cells: dict[StyledText, Text] = {}
        """Of the last look."""
        self._cells_palette: Palette | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="quorum-summary")
        with VerticalScroll(id="quorum-words", can_focus=False):
            yield Static(id="quorum-statements")
        yield ReportTable(id="quorum-replicas")
        yield Static(id="quorum-detail")

    def show(self, picture: Picture) -> None:
        self.report = report = self.watch_app.overview.report or quorum_report(picture)
        _put(self.query_one("#quorum-summary", Static), self._summary(report))
        self.query_one("#quorum-words").display = bool(report.statements)
        _put(self.query_one("#quorum-statements", Static), self._statements(report))
        names = summary.columns(report, self.size.width)
        table = self.query_one(ReportTable)
        table.set_columns([(name, name in summary.RIGHT) for name in names])
        table.fill(self._rows(report, names))
        self._detail()

    def _part(self, part: StyledText) -> Text:
        return self.text(part.text, part.meaning)

    def _summary(self, report: QuorumReport) -> Table:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, min_width=9)
        grid.add_column(overflow="fold")
        for line in summary.lines(report, self.size.width):
            # What does not fit goes on in the next line: some of it is what one has to know.
            words = Text("  ").join(map(self._part, line.parts))
            grid.add_row(self.text(line.name, "quiet"), words)
        return grid

    def _statements(self, report: QuorumReport) -> Table:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for statement in report.statements:
            words = self.text(
                statement.reason, "bad" if statement.severity is Severity.ERROR else ""
            )
            words.no_wrap = False
            grid.add_row(self._part(summary.sign(statement.severity)), words)
        return grid

    def _rows(self, report: QuorumReport, names: Sequence[str]) -> list[Row]:
        before = self._cells if self._cells_palette is self.palette else {}
        self._cells_palette, self._cells = self.palette, {}
        trend = 8 if self.size.width < _NARROW else 20
        rows: dict[str, list[Text]] = {}
        for replica in report.replicas:
            told = summary.cells(report, replica, trend)
            key = replica.key if replica.key not in rows else f"{replica.key}#{len(rows)}"
            rows[key] = [self._cell(told[name], before) for name in names]
        return [*rows.items()]

    def _cell(self, part: StyledText, before: dict[StyledText, Text]) -> Text:
        """A cell's text; the same one for the same words, as most stay from look to look."""
        found = self._cells.get(part)
        if found is None:
            found = self._cells[part] = before.get(part) or self._part(part)
        return found

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
                told = summary.details(report, replica)
                lines = [Text("  ").join(map(self._part, parts)) for parts in told]
        _put(self.query_one("#quorum-detail", Static), Text("\n").join(lines))

    # --- ways out -----------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        return json_object(None if self.report is None else watch_document(self.report))

    def as_rows(self) -> Iterable[Sequence[object]]:
        return csv_rows(watch_document(self.report)) if self.report is not None else ()
