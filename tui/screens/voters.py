"""The view of voters by every source: side by side, and as one history.

Owns the layout. What differs is found by `reports/voters/`, as for diff-voters.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Static

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import Status, overall_status, worst_status
from kraftool.reports.text.blocks import TableBlock
from kraftool.reports.text.words import many
from kraftool.reports.voters import matrix
from kraftool.reports.voters.diff import VoterDiff
from kraftool.tui.blocks import fill
from kraftool.tui.details import Details, Working
from kraftool.tui.findings import MEANINGS, SIGNS, joined, place, shortened
from kraftool.tui.table import ReportTable
from kraftool.tui.tasks import TaskView
from kraftool.watching.picture import Picture
from kraftool.watching.staleness import currencies
from kraftool.watching.task import Task
from kraftool.watching.voter_board import VoterBoard, changes, compare, compare_told


class VotersScreen(TaskView):
    """Sources by letters, voters, their history, and what differs in words."""

    TITLE = "Voters"
    ABOUT = (
        "The voters by each directory and each live node, compared as diff-voters does. = is the"
        " same voter, ≠ another one, - no voter, · no report. The history comes from the leader's"
        " log. v reads everything again."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "compare", "Read again"),
        Binding("x", "stop", "Stop"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._board: VoterBoard | None = None
        self._told: VoterDiff | None = None
        self._changes: object = None
        self._at_ms = 0
        self._stale: set[str] = set()

    def compose(self) -> ComposeResult:
        yield Static(id="voters-summary")
        yield ReportTable(id="voters-sources")
        yield ReportTable(id="voters-table")
        yield ReportTable(id="voters-history")
        yield Working(id="voters-working")
        yield Details(id="voters-details")

    # --- reading ------------------------------------------------------------------------------

    def show(self, picture: Picture) -> None:
        self._at_ms = picture.at_ms
        pairs = zip(picture.directories, currencies(picture), strict=True)
        self._stale = {reading.path for reading, current in pairs if current.stale}
        new_changes = changes(picture)
        if new_changes != self._changes and not self.is_working:
            if self._board is None and picture.view is not None:
                self._told = compare_told(picture.view)
            if self._board is None or self._board.is_due(picture.at_ms):
                self._changes = new_changes
                self.action_compare()
        self._draw()

    def action_compare(self) -> None:
        """Read every source now."""
        sources, at_ms, began = self.sources, self._at_ms, time.monotonic()
        if sources.target is None and not sources.directories:
            return  # there is only what was told

        def run(task: Task) -> VoterBoard:
            diff, unobserved = compare(sources, task)
            took_ms = int((time.monotonic() - began) * 1000)
            return VoterBoard(diff=diff, at_ms=at_ms, took_ms=took_ms, unobserved=unobserved)

        def then(board: VoterBoard) -> None:
            self._board = board
            self._draw()

        self.begin("voters", run, then)

    @property
    def _diff(self) -> VoterDiff | None:
        return self._board.diff if self._board is not None else self._told

    # --- what is seen -------------------------------------------------------------------------

    def _draw(self) -> None:
        diff = self._diff
        self.query_one("#voters-summary", Static).update(self._summary(diff))
        if diff is None:
            return
        rows = [] if diff.voters is None else [*matrix.voter_rows(diff, diff.voters)]
        self._fill("voters-sources", matrix.source_table(diff, self._stale))
        self._fill("voters-table", matrix.voter_table(diff, rows, ""))
        # What is new comes first.
        self._fill("voters-history", matrix.history_table(diff, matrix.history_rows(diff)[::-1]))
        self._draw_details()

    def _fill(self, id: str, table: TableBlock) -> None:
        shown = self.query_one(f"#{id}", ReportTable)
        fill(shown, self.palette, table.within(self.columns))
        shown.display = bool(table.rows)

    def _summary(self, diff: VoterDiff | None) -> Text:
        if diff is None:
            return self.text("nothing is read yet", "quiet")
        report = self.watch_app.overview.report
        statuses = [overall_status((finding.severity for finding in diff.findings),
                                   is_complete=self._is_whole())]  # fmt: skip
        telling = sum(source.voter_set is not None for source in diff.sources)
        count = len(diff.sources)
        words = "all sources have the same voters" if count > 1 else "1 source reports the voters"
        if telling < count:
            words = f"{telling} of {many(count, 'source')} {_report(telling)} voters"
            words += ", and they are the same" if telling > 1 else ""
        if diff.voters is None:
            statuses.append(Status.WARN)
            words = "voters unknown: no source reports them"
        elif diff.has_differences:
            statuses.append(Status.BAD)
            words = "voters differ"
        is_pending = report is not None and report.is_live and report.voters.is_uncommitted
        if is_pending and report is not None:
            statuses.append(Status.WARN)
            before = ", ".join(str(key.id) for key in sorted(report.voters.before)) or "?"
            words += f"; not committed yet (committed: {before})"
        loud = [one for one in diff.findings if one.severity is not Severity.INFO]
        if loud:
            words += f"; {many(len(loud), 'finding')} below"
        status = worst_status(statuses)
        parts = [self.text(f"{status.mark} {words}", status.meaning)]
        if diff.voters is not None:
            words = matrix.title(diff, diff.voters).removeprefix("Voters: ")
            parts.append(self.text(f"   {words}"))
        if self._board is not None:
            seconds = max(self._at_ms - self._board.at_ms, 0) // 1000
            parts.append(self.text(f"   read {seconds} s ago", "quiet"))
        return joined(*parts)

    def _is_whole(self) -> bool:
        """True if every source could be read, the leader's log too."""
        board = self._board
        return board is not None and not board.unobserved

    # --- in words -----------------------------------------------------------------------------

    def _draw_details(self) -> None:
        diff = self._diff
        if diff is None:
            return
        self.watch_app.overview.tell("voters", diff.findings)
        self.watch_app.show_verdict()
        rows = [*self._about_cursor(diff)]
        differences = [
            difference
            for row in (matrix.voter_rows(diff, diff.voters) if diff.voters is not None else ())
            for difference in row.differences
        ]
        for number, words in enumerate(differences):
            rows.append(("" if number else "differs", self.text(words, "bad")))
        if self._board is not None and self._board.unobserved:
            rows.append(("no log", self.text(self._board.unobserved, "warn")))
        for finding in diff.findings:
            subject = f"{shortened(place(finding))}: " if place(finding) else ""
            words = f"{SIGNS[finding.severity]} {subject}{finding.sentence()}"
            rows.append(("finding", self.text(words, MEANINGS[finding.severity])))
            if finding.advice and finding.severity is not Severity.INFO:
                rows.append(("next", self.text(finding.advice)))
        self.query_one(Details).tell(rows)

    def _about_cursor(self, diff: VoterDiff) -> Iterator[tuple[str, Text]]:
        """The row under the cursor of the table that has the focus, in words."""
        history = self.query_one("#voters-history", ReportTable)
        sources = self.query_one("#voters-sources", ReportTable)
        if history.has_focus:
            for row in matrix.history_rows(diff):
                if row.key == history.cursor_key:
                    entry = row.entry
                    words = ": ".join(filter(None, (entry.commitment.value, entry.reason)))
                    yield "change", self.text(matrix.change(entry))
                    yield "commit", self.text(words, matrix.commitment_phrase(entry).meaning)
                    yield "place", self.text(f"{entry.file} position {entry.position}", "quiet")
        elif sources.has_focus:
            for source in diff.sources:
                if (sources.cursor_key or "").partition("\0")[2] == source.source:
                    yield "source", self.text(source.source, "name")
                    for words in source.differences:
                        yield "", self.text(words, "bad")

    def on_data_table_row_highlighted(self, message: DataTable.RowHighlighted) -> None:
        self._draw_details()

    def on_descendant_focus(self) -> None:
        self._draw_details()

    # --- ways out -----------------------------------------------------------------------------

    @property
    def document(self) -> VoterDiff | None:
        return self._diff


def _report(count: int) -> str:
    return "reports" if count == 1 else "report"
