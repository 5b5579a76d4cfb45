"""All that a PATH holds, read once and judged: the report behind `kraftool dump`.

Owns which findings belong to a directory, which to the PATH, and those of recovery plans.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Count, Hidden, Moment, in_json
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import FileState
from kraftool.directory.directory_summary import summarize_directory
from kraftool.directory.file_report import FileReport, ReadOptions, read_file
from kraftool.directory.metadata_summary import LogExtent, NodeIds
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.reading import Progress, ReadFile, Reading, settings_in
from kraftool.directory.repairs import RepairTrace
from kraftool.directory.voter_history import NO_HISTORY, VoterHistory
from kraftool.directory.voter_records import history_of
from kraftool.reports.directory.findings import between_directories, judge
from kraftool.reports.directory.log_dirs import findings_of_log_dirs
from kraftool.reports.files.file_findings import FileView, file_findings
from kraftool.reports.files.locations import problem_finding, unopened
from kraftool.reports.files.snapshot_advice import DAMAGES
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import repair as kinds
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.entry import Entry, EntryProblem
from kraftool.storage.paths import Location, LocationKind
from kraftool.storage.repair_journal import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTotals:
    """All segments together."""

    segments: Count
    size: int
    batches: Count
    records: Count
    start_offset: int
    end_offset: int
    """One beyond the last offset."""
    intact_end_offset: int
    """The offset at which Kafka would cut the log if it started on it."""
    first_epoch: int | None
    last_epoch: int | None
    epochs: Count
    first_timestamp: Moment | None
    last_timestamp: Moment | None
    leader_changes: Count


@form
def log_totals(log: LogExtent) -> LogTotals:
    return LogTotals(
        segments=log.segments,
        size=log.size,
        batches=log.batches,
        records=log.records,
        start_offset=log.start,
        end_offset=log.end,
        intact_end_offset=log.intact_end,
        first_epoch=log.first_epoch,
        last_epoch=log.last_epoch,
        epochs=len({entry.epoch for entry in log.epochs}),
        first_timestamp=log.first_timestamp,
        last_timestamp=log.last_timestamp,
        leader_changes=log.leader_changes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file in CSV."""

    file: str
    path: str
    kind: FileKind
    state: FileState
    is_known_by_name: bool
    size: int
    findings: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpReport:
    """The content of a PATH: a summary for each data directory, every file, and the findings.
    Offsets are places in the log, positions are bytes in a file."""

    path: str
    path_kind: LocationKind
    directories: tuple[JudgedDirectory, ...] = ()
    files: tuple[FileReport, ...] = ()
    """Files that belong to no directory; the one that was asked for."""
    findings: tuple[Finding, ...] = ()
    """Those of no directory."""
    problems: Hidden[tuple[EntryProblem, ...]] = ()
    """What could not be read or was passed over."""
    history: Hidden[VoterHistory] = NO_HISTORY
    """Of the single files, taken together."""

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.all_findings)

    @property
    def rows(self) -> tuple[FileRow, ...]:
        """Every file."""
        of_directories = (file for one in self.directories for file in one.directory.files)
        return tuple(
            FileRow(
                file=file.file,
                path=file.path,
                kind=file.kind,
                state=file.state,
                is_known_by_name=file.known_by_name,
                size=file.size,
                findings=len(file_findings(file)),
            )
            for file in (*self.files, *of_directories)
        )

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return (*self.findings, *(finding for one in self.directories for finding in one.findings))


_More = dict[str, Sequence[Finding]]
"""Findings of a report in addition to those of the file, by its name."""
_DEFAULT = ReadOptions()
_NO_VIEW = FileView()


def read_location(
    location: Location,
    options: ReadOptions = _DEFAULT,
    *,
    progress: Progress = lambda name, position: None,
    entries: Iterable[Entry | EntryProblem] | None = None,
    read: ReadFile = read_file,
    view: Callable[[Entry], FileView] = lambda entry: _NO_VIEW,
    is_compared: bool = False,
) -> DumpReport:
    """Read all of a PATH. What cannot be read is among the findings; nothing is raised for it.

    `entries` are those of the location in another order; `view` looks at more than a dump does.
    `is_compared`: the caller asks the rules about voters of several directories together.
    """
    reading = Reading()
    more: _More = {}
    if location.kind is LocationKind.FILE:
        options = replace(options, leftovers=True)
    for entry in location.entries() if entries is None else entries:
        if isinstance(entry, EntryProblem):
            reading.problems.append(entry)
            continue
        seen = view(entry)
        file = reading.read(entry, options, seen.observers, progress, read)
        more[file.file] = seen.end(file)
    return _report(location, reading, more, is_compared=is_compared)


def read_together(
    location: Location,
    views: Sequence[Callable[[Entry], FileView]],
    *,
    is_compared: Sequence[bool],
    progress: Progress,
    entries: Iterable[Entry | EntryProblem],
) -> list[DumpReport]:
    """Read the files of a directory once for several reports, each of which has one of the `views`,
    and says if its voters are compared.

    `entries` are in an order that suits all reports. Each report also has the findings of the
    reports before it. If it adds none, it is the same object as the report before it.
    """
    reading = Reading()
    found: list[_More] = [{} for _ in views]
    for entry in entries:
        if isinstance(entry, EntryProblem):
            reading.problems.append(entry)
            continue
        parts = [view(entry) for view in views]
        observers = chain.from_iterable(part.observers for part in parts)
        file = reading.read(entry, _DEFAULT, observers, progress)
        earlier: Sequence[Finding] = ()
        for part, more in zip(parts, found, strict=True):
            more[file.file] = earlier = (*earlier, *part.end(file))
    reports: list[DumpReport] = []
    before: tuple[_More, bool] | None = None
    for asked in zip(found, is_compared, strict=True):
        if asked != before:
            report = _report(location, reading, asked[0], is_compared=asked[1])
        reports.append(report)
        before = asked
    return reports


def with_comparison(report: DumpReport) -> DumpReport:
    """The report with what is odd about its directories together."""
    between = between_directories([one.directory for one in report.directories])
    return replace(report, findings=in_order((*report.findings, *between)))


def unopened_report(path: str, error: KraftoolError) -> DumpReport:
    """The report of a PATH that could not be opened: that alone."""
    kind = LocationKind.DATA_DIRECTORY if os.path.isdir(path) else LocationKind.FILE
    return DumpReport(path=path, path_kind=kind, findings=(unopened(path, error),))


def _report(location: Location, reading: Reading, more: _More, *, is_compared: bool) -> DumpReport:
    failed = {
        name for name, found in more.items() if any(finding.code in DAMAGES for finding in found)
    }
    if failed:
        reading = reading.with_failed(failed)
    is_alone = location.kind is LocationKind.FILE

    def of_file(file: FileReport) -> Sequence[Finding]:
        own = file_findings(file, is_alone=is_alone)
        return own if file.is_misplaced else (*own, *more.get(file.file, ()))

    directories = [
        _judged(directory, of_file, is_compared=is_compared)
        for directory in reading.directories(location)
    ]
    loose = reading.loose(location)
    findings = list(map(problem_finding, reading.problems))
    findings += chain.from_iterable(map(of_file, loose))
    settings = settings_in(location)
    if settings is not None:
        home = directories[0].directory.node if directories else NodeIds()
        others = findings_of_log_dirs(location, home, settings.node_id)
        if directories:
            of_node = in_order((*directories[0].findings, *others))
            directories[0] = replace(directories[0], findings=of_node)
        else:
            findings += others
    notes = (problem.severity is Severity.INFO for problem in reading.problems)
    if not reading.files and all(notes):
        findings.append(dir_kinds.NOTHING.at(location.path, "no Kafka file was found here"))
    return DumpReport(
        path=location.path,
        path_kind=location.kind,
        directories=tuple(directories),
        files=loose,
        findings=in_order(findings),
        problems=tuple(reading.problems),
        history=history_of(loose, summarize_directory(loose), reading.events),
    )


def _judged(
    directory: NodeDirectory,
    of_file: Callable[[FileReport], Sequence[Finding]],
    *,
    is_compared: bool,
) -> JudgedDirectory:
    findings = judge(directory, of_file, is_compared=is_compared)
    of_repairs = map(_repair_finding, directory.repairs)
    return JudgedDirectory(directory=directory, findings=in_order((*findings, *of_repairs)))


def _repair_finding(repair: RepairTrace) -> Finding:
    """Return what is told of a plan in a directory."""
    if repair.unread is not None:
        problem = repair.unread
        if repair.is_damaged:
            return dir_kinds.UNREADABLE.at(
                problem.name, problem.reason, advice=problem.hint or None
            )
        return kinds.KEPT.at(problem.name, problem.reason)
    assert repair.stage is not None, "a journal that was read has a stage"
    text = f"recovery plan {os.path.basename(repair.folder)} is {repair.stage.value} here"
    if repair.stage not in (Stage.CHANGING, Stage.UNDOING):
        return kinds.KEPT.at(repair.folder, text)
    advice = how_to_finish(repair.folder, repair.stage, repair.directory)
    return kinds.HALF.at(repair.folder, text, advice=advice)


def how_to_finish(folder: str, stage: Stage, directory: str) -> str:
    """The command for a plan that is half done; its folder has the plan."""
    verb = "apply" if stage is Stage.CHANGING else "undo"
    plan, where = shlex.quote(os.path.join(folder, "plan.yaml")), shlex.quote(directory)
    command = f"kraftool recover {verb} {plan} --dir {where}"
    back = ", or undo it with recover undo" if stage is Stage.CHANGING else ""
    return f"do not start the node. Finish the plan with {command}{back}"
