"""All that a PATH holds, read once: the report behind `kraftool dump`.

Owns the order of work: every file is read as it comes, so that a tar stream is passed once, then
each directory is put together and judged. It refuses to render.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field, replace

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.log_record import LogRecord
from kraftool.decoders.names import METADATA_FOLDER, segment_offset
from kraftool.raft.names import NO_VOTERS
from kraftool.reports.directory.findings import between_directories, judge
from kraftool.reports.directory.log_dirs import findings_of_log_dirs
from kraftool.reports.directory.repairs import Repairs, repairs_in
from kraftool.reports.files.directory_summary import summarize_directory
from kraftool.reports.files.file_report import (
    FileReport,
    FileView,
    ReadOptions,
    read_file,
    read_with,
)
from kraftool.reports.files.locations import unopened
from kraftool.reports.files.metadata_summary import NodeIds
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.logs.file_names import misnamed
from kraftool.reports.voters.history import Events, history_of
from kraftool.reports.voters.model import NO_HISTORY, QuorumSettings, VoterHistory
from kraftool.reports.voters.node_directory import NodeDirectory
from kraftool.reports.voters.settings import settings_of
from kraftool.storage.entry import (
    Entry,
    EntryPlace,
    EntryProblem,
    FolderCounts,
    partition_order,
    root_order,
)
from kraftool.storage.lock import Lock, LockState, lock_holder
from kraftool.storage.paths import Location, LocationKind


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpReport:
    """The content of a PATH: directories, or files by themselves, and problems of the whole."""

    path: str
    kind: LocationKind
    directories: tuple[NodeDirectory, ...] = ()
    files: tuple[FileReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    """Those that belong to no directory: of the PATH as a whole, and of single files."""
    history: VoterHistory = NO_HISTORY
    """Of the single files, taken together."""

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return (*self.findings, *(finding for one in self.directories for finding in one.findings))


@dataclass(slots=True)
class _Found:
    """The files that have been read so far, by directory."""

    files: dict[str, list[FileReport]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)
    """The names of what could not be read whole."""
    events: Events = field(default_factory=Events)
    is_compared: bool = False
    """True if the caller asks the rules about voters of several directories together."""

    def take(self, report: FileReport) -> None:
        self.files.setdefault(report.directory, []).append(report)

    def has_files_of(self, other: _Found) -> bool:
        """True if the report is the same: those of all files are the same objects."""
        if self.is_compared != other.is_compared:
            return False
        return self.files.keys() == other.files.keys() and all(
            mine is its
            for path, files in self.files.items()
            for mine, its in zip(files, other.files[path], strict=True)
        )

    def problem(self, problem: EntryProblem) -> None:
        self.cut.add(problem.name)
        kind = (
            dir_kinds.UNREADABLE if problem.severity is not Severity.INFO else dir_kinds.PASSED_OVER
        )
        self.findings.append(
            kind.at(
                problem.name,
                problem.reason,
                position=problem.position,
                severity=problem.severity,
                advice=problem.hint,
            )
        )


_DEFAULT = ReadOptions()


def read_location(
    location: Location,
    options: ReadOptions = _DEFAULT,
    *,
    progress: Callable[[str, int], None] = lambda name, position: None,
    entries: Iterable[Entry | EntryProblem] | None = None,
    read: Callable[[Entry, ReadOptions], FileReport] = read_file,
    is_compared: bool = False,
) -> DumpReport:
    """Read all of a PATH. What cannot be read is among the findings; nothing is raised for it.

    `entries` are those of the location in another order; `read` may look at more than a dump does.
    `is_compared`: the caller asks the rules about voters of several directories together.
    """
    reading = _Found(is_compared=is_compared)
    options = replace(options, on_control=_also(options, reading.events))
    if location.kind is LocationKind.FILE:
        options = replace(options, leftovers=True)
    for entry in location.entries() if entries is None else entries:
        if isinstance(entry, EntryProblem):
            reading.problem(entry)
        else:
            reading.take(_read(entry, options, progress, read))
    if location.kind is LocationKind.FILE:
        files = tuple(file for files in reading.files.values() for file in files)
        own = tuple(finding for file in files for finding in file.findings)
        return DumpReport(
            path=location.path,
            kind=location.kind,
            files=files,
            findings=in_order((*reading.findings, *own)),
            history=history_of(files, summarize_directory(files), reading.events),
        )
    return _report(location, reading)


def read_together(
    location: Location,
    views: Sequence[Callable[[Entry], FileView]],
    *,
    is_compared: Sequence[bool],
    progress: Callable[[str, int], None],
    entries: Iterable[Entry | EntryProblem],
) -> list[DumpReport]:
    """Read the files of a directory once for several reports, each of which has one of the `views`,
    and says if its voters are compared.

    `entries` are in an order that suits all reports. Each report also has the findings of the
    reports before it. If it adds none, it is the same object as the report before it.
    """
    readings = [_Found(is_compared=one) for one in is_compared]
    events = readings[0].events
    options = replace(_DEFAULT, on_control=_also(_DEFAULT, events))
    for reading in readings:
        reading.events = events
    for entry in entries:
        if isinstance(entry, EntryProblem):
            for reading in readings:
                reading.problem(entry)
            continue
        parts = [view(entry) for view in views]
        seen = FileView(tuple(observer for part in parts for observer in part.observers))

        def read(entry: Entry, options: ReadOptions, seen: FileView = seen) -> FileReport:
            return read_with(entry, options, seen)

        report = _read(entry, options, progress, read)
        for reading, part in zip(readings, parts, strict=True):
            report = part.end(report)
            reading.take(report)
    reports: list[tuple[_Found, DumpReport]] = []
    for reading in readings:
        same = (report for other, report in reports if other.has_files_of(reading))
        reports.append((reading, next(same, None) or _report(location, reading)))
    return [report for _, report in reports]


def with_comparison(report: DumpReport) -> DumpReport:
    """The report with what is odd about its directories together."""
    between = between_directories(report.directories)
    return replace(report, findings=in_order((*report.findings, *between)))


def unopened_report(path: str, error: KraftoolError) -> DumpReport:
    """The report of a PATH that could not be opened: that alone."""
    kind = LocationKind.DATA_DIRECTORY if os.path.isdir(path) else LocationKind.FILE
    return DumpReport(path=path, kind=kind, findings=(unopened(path, error),))


def _also(options: ReadOptions, events: Events) -> Callable[[str, RecordBatch, LogRecord], None]:
    """Control records are for the history of voters, and for whoever asked for them."""

    def take(name: str, batch: RecordBatch, item: LogRecord) -> None:
        events.take(name, batch, item)
        options.on_control(name, batch, item)

    return take


def _read(
    entry: Entry,
    options: ReadOptions,
    progress: Callable[[str, int], None],
    read: Callable[[Entry, ReadOptions], FileReport],
) -> FileReport:
    def report_position(position: int) -> None:
        progress(entry.name, position)

    return read(entry, replace(options, progress=report_position))


def _report(location: Location, reading: _Found) -> DumpReport:
    server = location.server
    settings = settings_of(location.path, server) if server is not None else None
    directories: list[NodeDirectory] = []
    loose: list[FileReport] = []
    for path, files in sorted(reading.files.items()):
        if (
            all(file_report.place is EntryPlace.LOOSE for file_report in files)
            and location.is_stream
        ):
            loose += files
            continue
        directories.append(_directory(location, path, files, settings, reading))
    findings = [*reading.findings, *(finding for file in loose for finding in file.findings)]
    if settings is not None:
        home = directories[0].summary.node if directories else NodeIds()
        beside = findings_of_log_dirs(location, home, settings.node_id)
        if directories:
            of_node = in_order((*directories[0].findings, *beside))
            directories[0] = replace(directories[0], findings=of_node)
        else:
            findings += beside
    if not reading.files and all(finding.severity is Severity.INFO for finding in reading.findings):
        findings.append(dir_kinds.NOTHING.at(location.path, "no Kafka file was found here"))
    return DumpReport(
        path=location.path,
        kind=location.kind,
        directories=tuple(directories),
        files=tuple(loose),
        findings=in_order(findings),
        history=history_of(loose, summarize_directory(loose), reading.events),
    )


def _directory(
    location: Location,
    path: str,
    files: list[FileReport],
    settings: QuorumSettings | None,
    reading: _Found,
) -> NodeDirectory:
    ordered = tuple(sorted(map(_by_its_name, files), key=_order))
    is_on_disk = location.is_on_disk
    repairs = repairs_in(location) if is_on_disk else Repairs()
    summary = summarize_directory(ordered, settings.static_voters if settings else NO_VOTERS)
    directory = NodeDirectory(
        path=path,
        name=path,
        kind=location.kind.value,
        real_path=os.path.realpath(path) if is_on_disk else "",
        files=ordered,
        summary=summary,
        history=history_of(ordered, summary, reading.events),
        folders=location.folders.get(path, FolderCounts()),
        lock=lock_holder(location.data_directory) if is_on_disk else Lock(LockState.UNKNOWN),
        settings=settings,
        is_live=location.kind is LocationKind.LIVE,
        high_watermark=location.high_watermark,
        is_whole=location.kind in (LocationKind.DATA_DIRECTORY, LocationKind.PROPERTIES)
        or any(file.place is EntryPlace.ROOT for file in ordered),
        is_unlisted=_is_unlisted(path, reading.cut - {file.name for file in ordered}),
        cut=frozenset(file.name for file in ordered if file.name in reading.cut),
        planned=frozenset(repairs.planned),
        was_repaired=bool(repairs.findings),
    )
    return replace(
        directory,
        findings=in_order((*judge(directory, is_compared=reading.is_compared), *repairs.findings)),
    )


def _is_unlisted(path: str, unread: Collection[str]) -> bool:
    """True if the metadata partition or one of its segments could not be opened, as where a link
    leads nowhere."""
    partition = os.path.join(path, METADATA_FOLDER)
    return partition in unread or any(
        segment_offset(os.path.basename(name)) is not None
        and os.path.dirname(name) in (path, partition)
        for name in unread
    )


def _by_its_name(file: FileReport) -> FileReport:
    """A file of a directory is what its name says to Kafka, whatever it looks like."""
    if file.place is EntryPlace.ROOT:
        return file
    finding = misnamed(file.name)
    is_log = file.kind is FileKind.LOG and file.is_live
    if finding is None and is_log and segment_offset(file.basename) is None:
        finding = dir_kinds.UNKNOWN_FILE.at(file.name, "it holds batches, as a segment does")
    if finding is None:
        return file
    return replace(file, kind=FileKind.UNKNOWN, content=None, findings=(finding,))


def _order(file: FileReport) -> tuple[int, tuple[int | str, ...]]:
    if file.place is EntryPlace.PARTITION:
        return 1, partition_order(file.basename)
    return 0, root_order(file.basename)
