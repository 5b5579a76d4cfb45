"""The files of watched directories: what each is, what it holds, how large and how old it is.

Owns a listing that costs the same for large logs as for small ones: small files are read, once for
each time that they change; of segments and snapshots the names tell the offsets. Whether they are
whole is `verification.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Hidden, Moment
from kraftool.decoders.kinds import FileKind, detect
from kraftool.decoders.names import FileState, parse_checkpoint_name, parse_segment_name
from kraftool.directory.file_report import FileReport, read_file
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.files.file_words import holds
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.text.words import many
from kraftool.storage.entry import Entry, EntryProblem, FolderCounts
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.paths import open_path
from kraftool.watching.task import Task

MOST_READ = 1 << 20
"""Larger files are not read for a listing. An index of this size is of a segment of 500 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """One file."""

    path: str
    """Below its directory."""
    name: Hidden[str]
    """As the user would write it; findings name it so."""
    kind: FileKind
    state: FileState
    size: int
    modified: Moment
    first_offset: int | None = None
    """Of a segment, or of the snapshot's end."""
    next_offset: int | None = None
    """Of the segment that follows; None for the newest."""
    epoch: int | None = None
    """Of a snapshot."""
    holds: str = ""
    """What is in it, in a phrase."""
    findings: tuple[Finding, ...] = ()
    """Of a small file, which was read."""


_NO_FOLDERS = FolderCounts()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryFiles:
    """The files of a watched PATH."""

    path: str
    """As it was given."""
    files: tuple[FileReading, ...] = ()
    folders: FolderCounts = _NO_FOLDERS
    """What lies beside, counted and not read."""
    problems: tuple[str, ...] = ()
    """What could not be read, a sentence each."""
    lock: LockState = LockState.UNKNOWN

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def words(self) -> Iterator[str]:
        """Yield the words on the directory as a whole."""
        yield many(len(self.files), "file")
        if self.lock is LockState.HELD:
            yield "a node runs on it"
        if self.folders.total:
            yield f"{many(self.folders.total, 'folder')} beside"


class WatchedFiles:
    """Looks at PATHs again and again; what did not change is not read again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], FileReport]] = {}

    def read(self, paths: Sequence[str], task: Task | None = None) -> tuple[DirectoryFiles, ...]:
        """Return the files of all PATHs; partial results are those of the first PATHs.

        A PATH that cannot be read says why.
        """
        task = task or Task()
        directories: tuple[DirectoryFiles, ...] = ()
        for number, path in enumerate(paths):
            task.counted(f"listing the files of {path}", number, len(paths))
            directories = (*directories, self._directory(path, task))
            task.partial(directories)
        there = {file.name for directory_files in directories for file in directory_files.files}
        self._known = {name: known for name, known in self._known.items() if name in there}
        return directories

    def _directory(self, path: str, task: Task) -> DirectoryFiles:
        try:
            location = open_path(path)
        except KraftoolError as error:
            hint = f"; {error.hint}" if error.hint else ""
            return DirectoryFiles(path=path, problems=(f"{error.message}{hint}",))
        if location.is_stream:
            return DirectoryFiles(path=path, problems=("an archive is not watched: unpack it",))
        files: list[FileReading] = []
        problems: list[str] = []
        for entry in location.entries():
            if isinstance(entry, EntryProblem):
                if entry.severity is not Severity.INFO:
                    problems.append(f"{entry.name}: {entry.reason}")
            else:
                task.set(task.label, task.done, task.total)
                files.append(self._file(entry))
        return DirectoryFiles(
            path=path,
            files=tuple(_with_ends(files)),
            folders=location.folders.get(location.directory, FolderCounts()),
            problems=tuple(problems),
            lock=lock_holder(location.data_directory).state,
        )

    def _file(self, entry: Entry) -> FileReading:
        detected = detect(entry.basename, b"", entry.size)
        reading = FileReading(
            path=entry.path,
            name=entry.name,
            kind=detected.kind,
            state=detected.state,
            size=entry.size,
            modified=entry.mtime_ns // 1_000_000,
        )
        snapshot = parse_checkpoint_name(entry.basename)
        if snapshot is not None:
            return replace(
                reading,
                first_offset=snapshot.offset,
                epoch=snapshot.epoch,
                holds=f"{_state(snapshot.offset)}{_left(snapshot.state)}",
            )
        segment = parse_segment_name(entry.basename)
        if segment is not None and segment.suffix == ".log":
            return replace(
                reading, first_offset=segment.base_offset, holds=_left(segment.state)[2:]
            )
        if entry.size > MOST_READ:
            return replace(reading, holds="large: not read for this list")
        if detected.kind is FileKind.UNKNOWN:
            return replace(reading, holds="not Kafka's")
        report = self._read(entry)
        return replace(
            reading,
            kind=report.kind,
            state=report.state,
            holds=holds(report),
            findings=file_findings(report),
            first_offset=segment.base_offset if segment is not None else None,
        )

    def _read(self, entry: Entry) -> FileReport:
        stamp = entry.size, entry.mtime_ns
        known = self._known.get(entry.name)
        if known is not None and known[0] == stamp:
            return known[1]
        report = read_file(entry)
        self._known[entry.name] = stamp, report
        return report


_LEFT = {
    FileState.PART: ", never finished",
    FileState.DELETED: ", waits for its deletion",
    FileState.CLEANED: ", left by a cleaning",
    FileState.SWAP: ", left by a cleaning",
    FileState.TEMPORARY: ", left by a write",
}


def _state(offset: int) -> str:
    """A snapshot's offset is the first that it does not contain."""
    return (
        f"the state before offset {offset}" if offset else "what the directory was formatted with"
    )


def _left(state: FileState) -> str:
    return _LEFT.get(state, "")


def _with_ends(files: Sequence[FileReading]) -> Iterator[FileReading]:
    """Each live segment ends where the next one begins."""
    segments = sorted(
        (file for file in files if _is_live_segment(file)), key=lambda file: file.first_offset or 0
    )
    ends = {here.name: after.first_offset for here, after in pairwise(segments)}
    for file in files:
        if not _is_live_segment(file):
            yield file
            continue
        end = ends.get(file.name)
        start = file.first_offset or 0
        words = f"from offset {start} on" if end is None else f"offsets {start} to {end - 1}"
        yield replace(file, next_offset=end, holds=words if file.size else "empty")


def _is_live_segment(file: FileReading) -> bool:
    return (
        file.kind is FileKind.LOG and file.state is FileState.LIVE and file.first_offset is not None
    )
