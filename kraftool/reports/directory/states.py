"""A PATH read once: its report, and the last state of each directory in it.

Owns the order in which files suit both. A stream's come in any order, so its log and snapshots are
kept in memory for the state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from kraftool.decoders.errors import KraftoolError
from kraftool.directory.file_report import FileReport, ReadOptions, read_file
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.directory.stream_buffer import KeptFiles
from kraftool.reports.files.file_findings import FileView
from kraftool.reports.findings.finding import Finding
from kraftool.reports.logs.source import LogFile, kind_of
from kraftool.reports.state.files import MOST_STREAMED, files_of
from kraftool.reports.state.load import LoadedState, load_from
from kraftool.reports.state.one_pass import StatePass, ordered
from kraftool.storage.entry import Entry, EntryProblem
from kraftool.storage.paths import Location

Progress = Callable[[str, int], None]


class StatePasses:
    """The states of the directories of one location, made while its files are read."""

    def __init__(
        self, location: Location, files: Sequence[Entry], *, is_newest_first: bool = True
    ) -> None:
        """Without `is_newest_first`, snapshots come in any order."""
        self.location = location
        self._kept = KeptFiles(location)
        logs: dict[str, list[LogFile]] = {}
        for entry in files:
            kind = kind_of(entry, location)
            if kind is not None:
                logs.setdefault(entry.directory, []).append(LogFile(entry, kind, location))
        self._passes = {
            path: StatePass(files_of(path, log_files), is_newest_first)
            for path, log_files in logs.items()
        }

    def kept(self, entry: Entry) -> Entry:
        """The entry as it has to be read: a stream's is kept for the state."""
        return self._kept.keep(entry) if self.location.is_stream else entry

    def view(self, entry: Entry) -> FileView:
        """Return what the state adds to the reading of the next file."""
        passing = self._passes.get(entry.directory)
        observer = passing.observer(entry.name) if passing is not None else None
        if passing is None or observer is None:
            return FileView()

        def end(file: FileReport, passing: StatePass = passing) -> tuple[Finding, ...]:
            passing.passed(is_read=file.log is not None)
            return ()

        return FileView((observer,), end)

    def is_too_large(self, directory: NodeDirectory) -> bool:
        """True if a stream has more of a directory than is kept for its state."""
        return self._kept.is_too_large(directory.path)

    def state(self, directory: NodeDirectory, progress: Progress) -> LoadedState:
        """The state of a directory that was read. Raises KraftoolError if there is none."""
        if self.is_too_large(directory):
            raise KraftoolError(
                f"{directory.name}: the stream has more than {MOST_STREAMED >> 30} GiB of logs and"
                " snapshots",
                hint="unpack the archive and name the directory",
            )
        if self.location.is_stream:
            return load_from(self._kept.state_files(directory.path), progress=progress)
        passing = self._passes.get(directory.path)
        if passing is None:
            raise KraftoolError(
                f"{directory.name}: no log and no snapshot in it",
                hint="name a data directory, a checkpoint or a segment",
            )
        state = None if passing.is_spoiled else passing.state()
        return state if state is not None else load_from(passing.files, progress=progress)


_Passes = TypeVar("_Passes", bound=StatePasses)


def read_with_states(
    location: Location,
    passes_of: Callable[[Location, Sequence[Entry]], _Passes],
    progress: Progress,
) -> tuple[DumpReport, _Passes]:
    """Read a location for its report and for the passes that `passes_of` makes of its files."""
    listed = None if location.is_stream else list(location.entries())
    files = [entry for entry in listed or () if isinstance(entry, Entry)]
    passes = passes_of(location, files)

    def read(entry: Entry, options: ReadOptions) -> FileReport:
        return read_file(passes.kept(entry), options)

    entries: list[Entry | EntryProblem] | None = None
    if listed is not None:
        problems = (problem for problem in listed if isinstance(problem, EntryProblem))
        entries = [*problems, *ordered(files)]
    report = read_location(
        location,
        progress=progress,
        entries=entries,
        read=read,
        view=passes.view,
        is_compared=True,
    )
    return report, passes
