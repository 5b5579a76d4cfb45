"""PATHs read for `doctor`: each file once for what a dump, diff-voters and the rules want of it.

Owns the order of work and what becomes of a PATH that cannot be read: a finding. The state is made
as the files pass. A stream's come in any order, so its log and snapshots are kept in memory for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.directory.file_report import FileReport
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.reading import settings_alone
from kraftool.reports.directory.findings import is_topic
from kraftool.reports.directory.report import DumpReport
from kraftool.reports.directory.states import StatePasses, read_with_states
from kraftool.reports.directory.voter_sources import add_once, sources_of
from kraftool.reports.doctor.log_statistics import LogStatistics
from kraftool.reports.doctor.model import Examination, ExaminedDirectory
from kraftool.reports.files.file_findings import FileView
from kraftool.reports.files.locations import missing_directory, open_paths
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.state.files import MOST_STREAMED
from kraftool.reports.state.load import LoadedState
from kraftool.reports.voters.diff import diff_voters
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.entry import Entry, FolderKind, folder_kind
from kraftool.storage.paths import Location, LocationKind

Progress = Callable[[str, int], None]

_REMOTE_CACHE = "remote-log-index-cache"
"""Tiered storage's own folder, which Kafka passes over."""
_MOST_FOLDERS = 10


@dataclass(slots=True)
class _Read:
    """The directories that have been read so far."""

    directories: list[ExaminedDirectory] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    files: list[FileReport] = field(default_factory=list)
    sources: list[JudgedDirectory] = field(default_factory=list)


def locations_of(paths: Sequence[str]) -> tuple[tuple[Location, ...], tuple[Finding, ...]]:
    """Return what the PATHs name; one that leads nowhere is a finding."""
    locations, findings = open_paths(paths, settings_alone=True)
    return tuple(locations), tuple(findings)


def examine(
    locations: Sequence[Location],
    findings: Sequence[Finding] = (),
    progress: Progress = lambda name, position: None,
    nodes: Sequence[JudgedDirectory] = (),
    partly: Callable[[Examination], None] | None = None,
) -> Examination:
    """Read everything that the rules look at. Nothing is raised for what is wrong in it.

    `nodes`: what running nodes say; one whose log is among the locations has its name.
    `partly` takes each directory by itself, before the next one is read.
    """
    read = _Read(findings=list(findings))
    without_data: list[str] = []
    for number, location in enumerate(locations):
        if partly is not None and number:
            partly(together(read.directories[-1:]))
        if location.kind is LocationKind.PROPERTIES and not location.directory:
            _settings_alone(read, location)
            without_data.append(location.path)
        elif not _location(read, location, progress):
            without_data.append(location.path)
    for node in nodes:
        _add_words(read, node)
    examination = together(read.directories, read.sources)
    return replace(
        examination,
        paths=tuple(
            location.path for location in locations if location.kind is not LocationKind.LIVE
        ),
        without_data=tuple(without_data),
        findings=tuple(read.findings),
        files=tuple(read.files),
    )


def _add_words(read: _Read, node: JudgedDirectory) -> None:
    """Add what a running node reports: with its log, or by itself."""
    for number, examined in enumerate(read.directories):
        if examined.source.is_live and examined.source.name == node.name:
            source = examined.source.with_words_of(node.directory)
            read.directories[number] = examined.with_source(source)
            return
    for number, judged in enumerate(read.sources):
        if judged.directory.is_live and judged.name == node.name:
            directory = judged.directory.with_words_of(node.directory)
            read.sources[number] = replace(judged, directory=directory)
            return
    read.sources.append(node)


def together(
    directories: Sequence[ExaminedDirectory],
    sources: Sequence[JudgedDirectory] = (),
    differing: tuple[tuple[str, str, int, int], ...] | None = None,
) -> Examination:
    """Directories that were read before, wherever that was, with their voters compared."""
    own = [directory.judged for directory in directories if not _is_second(directory, directories)]
    return Examination(
        directories=tuple(directories),
        voters=diff_voters([*own, *sources]),
        paths=tuple(directory.path for directory in directories),
        differing=differing,
    )


def _is_second(examined: ExaminedDirectory, directories: Sequence[ExaminedDirectory]) -> bool:
    """True if this is another of a node's log directories, beside the one with the metadata."""
    node = examined.summary.node
    return (
        examined.is_read
        and not examined.source.has_metadata
        and node.directory_id is not None
        and any(
            other.source.has_metadata
            and (other.node_id, other.summary.node.cluster_id) == (node.node_id, node.cluster_id)
            and other.summary.node.directory_id != node.directory_id
            for other in directories
        )
    )


def _settings_alone(read: _Read, location: Location) -> None:
    read.findings += missing_directory(location)
    read.directories.append(
        ExaminedDirectory(
            path=location.path,
            judged=JudgedDirectory(directory=settings_alone(location)),
            server=location.server,
            settings_file=location.path,
            statistics=LogStatistics(),
        )
    )


class ExaminationPasses(StatePasses):
    """The states and the statistics of one location, made while its files are read."""

    def __init__(
        self, location: Location, files: Sequence[Entry], *, is_newest_first: bool = True
    ) -> None:
        super().__init__(location, files, is_newest_first=is_newest_first)
        self.statistics: dict[str, LogStatistics] = {}
        """By directory."""

    def view(self, entry: Entry) -> FileView:
        """Return the observers that the examination adds to the reading of the next file."""
        of_state = super().view(entry)
        own = self.statistics.setdefault(entry.directory, LogStatistics()).observer(entry)
        return of_state if own is None else FileView((*of_state.observers, own), of_state.end)


def examine_read(report: DumpReport, passes: ExaminationPasses, progress: Progress) -> Examination:
    """Examine a directory whose files the `passes` saw."""
    read = _Read()
    location = passes.location
    has_data = _add_location(read, report, passes, progress)
    return replace(
        together(read.directories, read.sources),
        paths=(location.path,),
        without_data=() if has_data else (location.path,),
        findings=tuple(read.findings),
        files=tuple(read.files),
    )


def _location(read: _Read, location: Location, progress: Progress) -> bool:
    """Read a location. True if it has a data directory with files."""
    report, passes = read_with_states(location, ExaminationPasses, progress)
    return _add_location(read, report, passes, progress)


def _add_location(
    read: _Read, report: DumpReport, passes: ExaminationPasses, progress: Progress
) -> bool:
    """Add what the report of a location has. True if it has a data directory with files."""
    location, server = passes.location, passes.location.server
    sources = list(sources_of(location, report))
    read.findings += report.findings
    read.files += report.files
    read.sources += sources[len(report.directories) :]
    for judged, source in zip(report.directories, sources, strict=False):
        directory = judged.directory
        names = (file.basename for file in directory.files)
        if location.kind is LocationKind.PARTITION and is_topic(directory.path, names):
            read.findings += judged.findings
            continue
        examined = ExaminedDirectory(
            path=directory.path if not location.is_stream else source.name,
            judged=source,
            server=server,
            settings_file=location.path if server is not None else "",
            state=_state(read, directory, passes, progress),
            odd_folders=_odd_folders(location, directory),
            statistics=passes.statistics.get(directory.path, LogStatistics()),
            is_stream=location.is_stream,
        )
        _add(read, examined)
    return any(judged.directory.files for judged in report.directories)


def _add(read: _Read, examined: ExaminedDirectory) -> None:
    """Add a directory, once. Of a running node whose own directory was given only the log counts:
    all else is in that."""
    if examined.source.is_live and any(
        _is_of(directory, examined) for directory in read.directories
    ):
        read.sources.append(examined.judged)
    else:
        add_once(read.directories, examined, lambda known: known.source)


def _is_of(directory: ExaminedDirectory, node: ExaminedDirectory) -> bool:
    """True if a directory is the one that a running node has."""
    mine, its = directory.source.node, node.source.node
    return (
        directory.source.has_metadata
        and its.directory_id is not None
        and ((mine.node_id, mine.directory_id) == (its.node_id, its.directory_id))
    )


def _state(
    read: _Read, directory: NodeDirectory, passes: ExaminationPasses, progress: Progress
) -> LoadedState | None:
    if not _has_state(directory):
        return None
    if passes.is_too_large(directory):
        text = f"the state was not read: the stream has more than {MOST_STREAMED >> 30} GiB"
        advice = "unpack the archive and name the directory"
        read.findings.append(kinds.PASSED_OVER.at(directory.path, text, advice=advice))
        return None
    try:
        return passes.state(directory, progress)
    except KraftoolError:
        return None  # what is wrong with its files is told already


def _odd_folders(location: Location, directory: NodeDirectory) -> tuple[str, ...]:
    """The names that the report only counts."""
    of_disk = location.kind in (LocationKind.DATA_DIRECTORY, LocationKind.PROPERTIES)
    if not of_disk or not directory.folders.others:
        return ()
    try:
        with os.scandir(directory.path) as items:
            names = sorted(item.name for item in items if item.is_dir())
    except OSError:
        return ()  # the report has it among its findings
    odd = (name for name in names if folder_kind(name) is FolderKind.OTHER)
    return tuple(name for name in odd if name != _REMOTE_CACHE)[:_MOST_FOLDERS]


def _has_state(directory: NodeDirectory) -> bool:
    log = directory.summary.log
    logs = [file.log for file in directory.files if file.log is not None]
    return (
        bool(logs)
        and all(log_summary.is_metadata for log_summary in logs)
        and ((log is not None and log.batches > 0) or directory.summary.newest_snapshot is not None)
    )
