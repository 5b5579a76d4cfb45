"""All problems: a live quorum against its thresholds, and doctor on the directories.

Owns their order and words on the screen; the causes and the commands come with the findings.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Static

from kraftool.client.health import Health
from kraftool.client.model import QuorumView
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import Status, overall_status
from kraftool.reports.text.words import many
from kraftool.tui.details import Details, Working
from kraftool.tui.findings import MEANINGS, joined, place, severity, shortened, tail
from kraftool.tui.table import ReportTable, Row
from kraftool.tui.tasks import TaskView
from kraftool.watching.checkup import (
    CheckupView,
    Complaint,
    DoctorCheckup,
    Doctored,
    MetadataWatch,
    checkup_view,
    complaints,
    counted,
    examine_directories,
    limits,
)
from kraftool.watching.child_process import apart
from kraftool.watching.picture import Picture
from kraftool.watching.result import Failed, attempt
from kraftool.watching.safety import MetadataHealth
from kraftool.watching.task import Task

_COLUMNS = (("", False), ("of", False), ("finding", False))
_WIDE_COLUMNS = (("", False), ("of", False), ("code", False), ("finding", False))
_WIDE = 120


class HealthScreen(TaskView):
    """Complaints, the worst first, and the one under the cursor in full."""

    TITLE = "Health"
    ABOUT = (
        "All known problems. kraftool judges live nodes at each poll. It runs all rules of doctor"
        " on the directories at the start, and again when they change. Below the list are the"
        " cause, the evidence, and the next command. y copies that command."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "stop", "Stop", show=False),
        Binding("v", "examine", "Examine"),
        Binding("i", "toggle_info", "Info"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._live: Health | None = None
        self._watch: MetadataWatch | None = None
        self._metadata: MetadataHealth | None = None
        self._reading: Task | None = None
        self._examined: DoctorCheckup | None = None
        self._partly: DoctorCheckup | None = None
        """What the first examination says so far."""
        self._stamp: object = None
        self._at_ms = 0
        self._with_info = True
        self._found: tuple[Complaint, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="health-summary")
        yield ReportTable(*_COLUMNS, id="health-table")
        yield Working(id="health-working")
        yield Details(id="health-details")

    def show(self, picture: Picture) -> None:
        self._at_ms = picture.at_ms
        if picture.view is not None:
            self._live = self.watch_app.overview.live
            self._look_at_metadata(picture.view)
        self.follow(picture)
        self._draw()

    def follow(self, picture: Picture) -> None:
        """Examine the directories if they have changed, also while another view is seen."""
        if self.sources.directories and not self.is_working and picture.stamp != self._stamp:
            examined = self._examined
            if examined is None or examined.is_due(picture.at_ms):
                self.action_examine()

    def _look_at_metadata(self, view: QuorumView) -> None:
        """Read on in what the leader has committed, from time to time."""
        target, known = self.sources.target, self._metadata
        if target is None or self._reading is not None:
            return
        if known is not None and not known.is_due(self._at_ms):
            return
        watch = self._watch = self._watch or MetadataWatch(target)
        task = self._reading = Task()
        task.begin("reading the leader's metadata")
        if known is None:
            self.opening(task)

        def then(result: tuple[MetadataHealth | Failed]) -> None:
            self._reading = None
            self.opening(None)
            health = result[0]
            if isinstance(health, Failed):
                self.watch_app.tell(health.reason, is_bad=True)
            else:
                self._metadata = self.watch_app.overview.metadata = health

        self.work("metadata", lambda: (attempt(lambda: watch.read(view, task)),), then)

    def on_unmount(self) -> None:
        if self._reading is not None:
            self._reading.stop()
        super().on_unmount()

    def action_examine(self) -> None:
        """Examine the directories now."""
        paths = self.sources.directories
        if not paths or self.picture is None:
            self.watch_app.tell("no directory is watched")
            return
        stamp, at_ms, began = self.picture.stamp, self.picture.at_ms, time.monotonic()

        def run(task: Task) -> DoctorCheckup:
            doctored = apart(examine_directories, paths, task=task)
            took_ms = int((time.monotonic() - began) * 1000)
            return DoctorCheckup(doctored=doctored, at_ms=at_ms, took_ms=took_ms)

        def then(examined: DoctorCheckup) -> None:
            self._examined = self.watch_app.overview.examined = examined
            self._partly = None
            self._draw()
            self.watch_app.show_again()

        def partly(so_far: Doctored) -> None:
            # Later ones would take away what an examination of all directories has found.
            if self._examined is None:
                self._partly = DoctorCheckup(doctored=so_far, at_ms=at_ms, took_ms=0)
                self._draw()

        self._stamp = stamp
        self.begin("doctor", run, then, partly)

    def action_toggle_info(self) -> None:
        """Leave out what is no reason to worry, or show it again."""
        self._with_info = not self._with_info
        self._draw()

    # --- what is seen -------------------------------------------------------------------------

    def _draw(self) -> None:
        self._found = complaints(self._live, self._examined or self._partly)
        self.watch_app.overview.tell("health", (complaint.finding for complaint in self._found))
        self.watch_app.show_verdict()
        self.query_one("#health-summary", Static).update(self._summary())
        seen = [complaint for complaint in self._found if self._is_seen(complaint)]
        table = self.query_one(ReportTable)
        table.set_columns(_WIDE_COLUMNS if self.columns >= _WIDE else _COLUMNS)
        table.fill([*map(self._row, seen)])
        self._draw_details()

    def _is_seen(self, complaint: Complaint) -> bool:
        return self._with_info or complaint.finding.severity is not Severity.INFO

    def _summary(self) -> Text:
        severities = [complaint.finding.severity for complaint in self._found]
        missing = [*self._not_looked_at()]
        status = overall_status(severities, is_complete=not missing)
        if status in (Status.BAD, Status.WARN):
            words = counted(self._found)
        else:
            words = ", ".join(filter(None, ("no problems found", counted(self._found))))
        if missing:
            words += f"; not looked at yet: {', '.join(missing)}"
        parts = [self.text(f"{status.mark} {words}", status.meaning)]
        parts += (self.text(f"   {words}", "quiet") for words in self._about())
        return joined(*parts)

    def _not_looked_at(self) -> Iterable[str]:
        if self._live is not None and self._live.cluster_health is None:
            yield "brokers and partitions"
        if self._examined is None and self.sources.directories:
            yield "directories" if self._partly is None else "the other directories"

    def _about(self) -> Iterable[str]:
        live, examined = self._live, self._examined
        if live is not None and live.view.quorum is not None:
            yield f"{len(live.judgement.ready)} of {many(len(live.view.voters), 'voter')} ready"
            if live.commits_per_second is not None:
                yield f"{live.commits_per_second:.1f} records/s"
        if live is not None and live.cluster_health is not None:
            cluster = live.cluster_health
            brokers = many(len(cluster.registered_brokers), "broker")
            yield f"{brokers}, {many(cluster.partitions, 'partition')}"
        if examined is not None:
            yield f"directories {max(self._at_ms - examined.at_ms, 0) // 1000} s ago"
        if not self._with_info:
            yield "info left out"

    def _row(self, complaint: Complaint) -> Row:
        finding = complaint.finding
        cells = [
            severity(self.palette, finding.severity),
            self.text(tail(complaint.who, max(self.columns // 4, 14)), "quiet"),
            self.text(finding.sentence()),
        ]
        if self.columns >= _WIDE:
            cells.insert(2, self.text(finding.code.removeprefix("KT-"), "key"))
        return complaint.key, cells

    def _chosen(self) -> Complaint | None:
        key = self.query_one(ReportTable).cursor_key
        return next((complaint for complaint in self._found if complaint.key == key), None)

    def _draw_details(self) -> None:
        complaint = self._chosen()
        details = self.query_one(Details)
        if complaint is None:
            details.tell(self._checked())
            return
        finding = complaint.finding
        rows = [
            (
                "cause",
                self.text(
                    complaint.finding.sentence(), MEANINGS[finding.severity].replace("quiet", "")
                ),
            )
        ]
        where = place(finding)
        is_in_file = finding.position is not None or finding.offset is not None
        if is_in_file:
            # Some causes do not name the file, and the advice may fill the rest of the room.
            rows.append(("place", self.text(shortened(where))))
        if finding.advice:
            rows.append(("next", self.text(finding.advice)))
        for number, command in enumerate(complaint.commands):
            rows.append(("" if number or finding.advice else "next", self.text(command, "key")))
        for number, one in enumerate(complaint.evidence):
            words = ": ".join(part for part in (shortened(one.where()), one.found) if part)
            rows.append(("" if number else "evidence", self.text(words)))
        if where and where != complaint.who and not is_in_file:
            rows.append(("place", self.text(where)))
        rows.append(("meaning", self.text(complaint.meaning(), "quiet")))
        rows.append(("code", self.text(finding.code, "quiet")))
        details.tell(rows)

    def _checked(self) -> list[tuple[str, Text]]:
        """Return what was looked for, to show if there is no complaint."""
        rows = []
        if self._live is not None:
            rows.append(("live", self.text(f"looked for {limits()}", "quiet")))
        if self._examined is not None:
            rules = many(self._examined.doctored.rules, "rule")
            rows.append(
                ("doctor", self.text(f"{rules}, and what dump and diff-voters find", "quiet"))
            )
        return rows

    def on_data_table_row_highlighted(self, message: DataTable.RowHighlighted) -> None:
        self._draw_details()

    # --- ways out -----------------------------------------------------------------------------

    def copied(self) -> str:
        """The commands to run next, or the complaint where there are none."""
        complaint = self._chosen()
        if complaint is None:
            return ""
        return "\n".join(complaint.commands) or super().copied()

    @property
    def document(self) -> CheckupView:
        return checkup_view(self._live, self._examined, self._found)
