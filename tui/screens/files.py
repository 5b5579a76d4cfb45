"""The files of each directory, and what verifying them finds.

Owns what is said of them. Reading and verifying are `watching/files.py` and
`watching/verification.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Static

from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.status import overall_status
from kraftool.reports.text.words import many, size
from kraftool.tui.details import Details, Working
from kraftool.tui.findings import MEANINGS, SIGNS, finding_rows, joined, place, shortened, tail
from kraftool.tui.table import ReportTable, Row
from kraftool.tui.tasks import TaskView
from kraftool.watching.child_process import apart
from kraftool.watching.files import DirectoryFiles, FileReading, WatchedFiles
from kraftool.watching.files_document import FilesView, WatchedDirectory
from kraftool.watching.number_words import age
from kraftool.watching.picture import Picture
from kraftool.watching.result import Failed, attempt
from kraftool.watching.staleness import currencies
from kraftool.watching.task import Task
from kraftool.watching.verification import DirectoryVerification, verify

_COLUMNS = (("file", False), ("verified", False), ("size", True), ("age", True), ("holds", False))
_NARROW = 100


class FilesScreen(TaskView):
    """A table of files below their directories, and the findings of the one under the cursor."""

    TITLE = "Files"
    ABOUT = (
        "Every file of each directory. v verifies the directory under the cursor, as verify-log and"
        " verify-snapshot do. It reads every byte and writes nothing. The findings are below."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "verify", "Verify"),
        Binding("x", "stop", "Stop"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._files = WatchedFiles()
        self._directories: tuple[DirectoryFiles, ...] = ()
        self._listing: Task | None = None
        self._verified: dict[str, DirectoryVerification] = {}
        self._stamp: object = None
        self._at_ms = 0
        self._stale: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        yield ReportTable(*_COLUMNS, id="files-table")
        yield Working(id="files-working")
        yield Static(id="files-title")
        yield ReportTable(("", False), ("code", False), ("place", False), ("finding", False),
                          id="files-findings")  # fmt: skip
        yield Details(id="files-details")

    # --- what there is ------------------------------------------------------------------------

    def show(self, picture: Picture) -> None:
        self._at_ms = picture.at_ms
        pairs = zip(picture.directories, currencies(picture), strict=True)
        self._stale = {reading.path: current.stale for reading, current in pairs}
        if picture.stamp != self._stamp:
            self._stamp = picture.stamp
            self._list()
        self._draw()

    def _list(self) -> None:
        """List the files, unless that is in progress. The first time it shows how far it is."""
        if self._listing is not None:
            return
        paths, task = self.sources.directories, Task()
        self._listing = task
        if not self._directories and paths:
            task.begin("listing files")
            task.take_partial = partial(self.call_later, self._take_partly, task)
            self.opening(task)
        self.work("list", lambda: (attempt(lambda: self._files.read(paths, task)),), self._take)

    def _take_partly(self, task: Task, directories: tuple[DirectoryFiles, ...]) -> None:
        if self._listing is task:
            self._directories = directories
            self._draw()

    def _take(self, result: tuple[tuple[DirectoryFiles, ...] | Failed]) -> None:
        self._listing = None
        self.opening(None)
        if isinstance(result[0], Failed):
            self.watch_app.tell(result[0].reason, is_bad=True)
            return
        self._directories = result[0]
        self._draw()

    def on_unmount(self) -> None:
        if self._listing is not None:
            self._listing.stop()
        super().on_unmount()

    def _draw(self) -> None:
        if not self.sources.directories:
            self._tell_title(
                self.text("no directory is watched: kraftool watch DIR… looks at files", "quiet")
            )
        self.query_one("#files-table", ReportTable).fill(
            [row for directory in self._directories for row in self._rows(directory)]
        )
        self._draw_below()
        findings = (
            one for directory in self._directories for one in self._findings_of(directory, None)
        )
        self.watch_app.overview.tell("files", findings)
        self.watch_app.show_verdict()

    def _rows(self, root: DirectoryFiles) -> Iterator[Row]:
        verification = self._verified.get(root.path)
        verdict = Text("") if verification is None else self._verdict(verification.findings)
        words = self._holds(root)
        room = self.columns // 2 - 8
        yield root.path, (
            self.text(tail(root.path, room), "name"), verdict, self.text(size(root.size), "quiet"),
            Text(""), self.text(words, "warn" if self._stale.get(root.path) else "quiet"),
        )  # fmt: skip
        for number, problem in enumerate(root.problems):
            text = self.text(f"  {SIGNS[Severity.ERROR]} {problem}", "bad")
            yield f"{root.path}\0{number}", (text, *[Text("")] * 4)
        for file in root.files:
            yield (
                file.name,
                (
                    self.text(f"  {self._label(file)}"),
                    self._file_verdict(root, file),
                    self.text(size(file.size)),
                    self.text(age(self._at_ms - file.modified), "quiet"),
                    self.text(file.holds, "quiet"),
                ),
            )

    def _holds(self, root: DirectoryFiles) -> str:
        """Return the facts about a directory, or only that it is stale."""
        stale = self._stale.get(root.path)
        return f"▲ stale: {stale}" if stale else ", ".join(root.words())

    def _label(self, file: FileReading) -> str:
        """Without the folder that all are in; of long numbers the end, where there is no room."""
        name = file.path.rpartition("/")[2]
        return shortened(name) if self.columns < _NARROW else name

    def _file_verdict(self, of: DirectoryFiles, file: FileReading) -> Text:
        verification = self._verified.get(of.path)
        findings = self._findings_of(of, file)
        if findings or verification is None:
            return self._verdict(findings) if findings else Text("")
        if file.modified > verification.began:
            return self.text("changed since", "quiet")
        return self._verdict(())

    def _verdict(self, findings: Sequence[Finding]) -> Text:
        loud = [finding for finding in findings if finding.severity is not Severity.INFO]
        status = overall_status((finding.severity for finding in findings), is_complete=True)
        words = many(len(loud), "finding")
        if not loud:
            words = "fine" if not findings else f"fine, {len(findings)} info"
        return self.text(f"{status.mark} {words}", status.meaning)

    # --- what is under the cursor -------------------------------------------------------------

    def _findings_of(self, of: DirectoryFiles, file: FileReading | None) -> tuple[Finding, ...]:
        """Of a file, or of the whole directory; before it was verified, those of small files."""
        verification = self._verified.get(of.path)
        if verification is None:
            files = of.files if file is None else (file,)
            return tuple(finding for one in files for finding in one.findings)
        return verification.findings if file is None else verification.of(file.name)

    def _under_cursor(self) -> tuple[DirectoryFiles, FileReading | None] | None:
        key = self.query_one("#files-table", ReportTable).cursor_key
        for directory in self._directories:
            if key is not None and key.partition("\0")[0] == directory.path:
                return directory, None
            for file in directory.files:
                if file.name == key:
                    return directory, file
        return None

    def _draw_below(self) -> None:
        selection = self._under_cursor()
        table = self.query_one("#files-findings", ReportTable)
        if selection is None:
            table.display = False
            self.query_one(Details).tell(())
            return
        directory, file = selection
        findings = self._findings_of(directory, file)
        self._tell_title(self._title(directory, file, findings))
        below = directory.path if file is None else file.name
        table.fill(finding_rows(self.palette, findings, below))
        table.display = bool(findings)
        self._draw_details()

    def _title(
        self, directory: DirectoryFiles, file: FileReading | None, findings: Sequence[Finding]
    ) -> Text:
        name = directory.path if file is None else file.path
        verification = self._verified.get(directory.path)
        parts = [self.text(name, "name")]
        holds = Text()
        if self.columns < _NARROW and (file is not None or self._stale.get(directory.path)):
            # The table has no room for all of it.
            words = self._holds(directory) if file is None else file.holds
            holds = self.text(f"  {words}" if words else "")
        if verification is None:
            return joined(*parts, self.text("  not verified: press v", "quiet"), holds)
        parts += [Text("  "), self._verdict(findings)]
        if file is None:
            parts.append(self.text(f"  {verification.what_was_checked}", "quiet"))
        state = verification.state_hashes.get(file.name) if file is not None else None
        parts += [self.text(f"  state {state}", "quiet")] if state else []
        return joined(*parts, holds)

    def _tell_title(self, line: Text) -> None:
        self.query_one("#files-title", Static).update(line)

    def _draw_details(self) -> None:
        """The finding under the cursor of the lower table, in full."""
        selection = self._under_cursor()
        details = self.query_one(Details)
        key = self.query_one("#files-findings", ReportTable).cursor_key
        findings = self._findings_of(*selection) if selection is not None else ()
        chosen = [finding for number, finding in enumerate(findings) if str(number) == key]
        if not chosen:
            details.tell(())
            return
        chosen_finding = chosen[0]
        meaning = "bad" if chosen_finding.severity is Severity.ERROR else ""
        rows = [
            ("finding", self.text(chosen_finding.sentence(), meaning)),
            ("place", self.text(place(chosen_finding))),
        ]
        if chosen_finding.advice:
            rows.append(
                ("next", self.text(chosen_finding.advice, MEANINGS[chosen_finding.severity]))
            )
        details.tell(rows)

    def on_data_table_row_highlighted(self, message: DataTable.RowHighlighted) -> None:
        if message.data_table.id == "files-table":
            self._draw_below()
        else:
            self._draw_details()

    # --- verifying ----------------------------------------------------------------------------

    def action_verify(self) -> None:
        """Verify the directory under the cursor."""
        selection = self._under_cursor()
        if selection is None:
            self.watch_app.tell("no directory is watched")
            return
        path, at_ms = selection[0].path, self._at_ms

        def run(task: Task) -> DirectoryVerification:
            return apart(verify, path, at_ms, task=task)

        self.begin(f"verifying {path}", run, self._take_verification)

    def _take_verification(self, verification: DirectoryVerification) -> None:
        self._verified[verification.path] = verification
        self.watch_app.tell(f"{verification.verdict()}: {verification.what_was_checked}")
        self._draw()

    # --- ways out -----------------------------------------------------------------------------

    @property
    def document(self) -> FilesView:
        return FilesView(
            directories=tuple(
                WatchedDirectory(files=directory, verification=self._verified.get(directory.path))
                for directory in self._directories
            )
        )
