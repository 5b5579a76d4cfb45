"""The files that a log dump reads: PATHs resolved to segments, checkpoints and the files next to
them.

Owns the choice and the order: a directory's checkpoints (where asked for), then its segments by
base offset. What cannot be read is told and passed over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.kinds import FileKind, detect
from kraftool.decoders.names import METADATA_TOPIC, FileState, parse_folder_name
from kraftool.decoders.walk import Walk
from kraftool.storage.entry import Entry, EntryPlace, EntryProblem, Severity
from kraftool.storage.paths import Location, LocationKind, open_path
from kraftool.storage.source import ByteSource, FileSource

if TYPE_CHECKING:
    from kraftool.reports.findings.finding import Finding

_WITH_BATCHES = (FileKind.LOG, FileKind.CHECKPOINT, FileKind.BOOTSTRAP_CHECKPOINT)
_SIDE_FILES = (
    FileKind.OFFSET_INDEX,
    FileKind.TIME_INDEX,
    FileKind.TXN_INDEX,
    FileKind.PRODUCER_STATE,
)


@dataclass(frozen=True, slots=True, eq=False)
class LogFile:
    """One file to dump."""

    entry: Entry
    kind: FileKind
    location: Location
    is_topic: bool = False
    """True if this is the log of a topic, whose records are no metadata."""

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def size(self) -> int:
        return self.entry.size

    @property
    def path(self) -> str:
        """Return where it lies on disk; empty for what does not."""
        return self.entry.name if self.location.is_on_disk else ""

    @property
    def is_stream(self) -> bool:
        return self.location.is_stream

    @property
    def is_log(self) -> bool:
        return self.kind is FileKind.LOG

    @property
    def has_batches(self) -> bool:
        return self.kind in _WITH_BATCHES

    def open(self) -> ByteSource:
        return self.entry.open()

    @property
    def is_named(self) -> bool:
        """True if the PATH named this very file, and not a directory around it."""
        return named_itself(self.location)

    def beside(self, path: str) -> LogFile:
        """The file at `path`, which lies in the same folder, under the name the user would use."""
        if path == self.path:
            return self
        folder = os.path.dirname(self.name)
        name = os.path.join(folder, os.path.basename(path))
        entry = replace(self.entry, path=name, name=name, opener=lambda: FileSource(path))
        return LogFile(entry, self.kind, self.location, self.is_topic)

    def is_live(self) -> bool:
        """True if a running process holds the lock of the directory that the file lies in."""
        if not self.location.is_on_disk:
            return False
        directory = self.entry.directory or "."
        whole = self.location.kind in (LocationKind.DATA_DIRECTORY, LocationKind.PROPERTIES)
        if not whole and self.entry.place is EntryPlace.PARTITION:
            directory = os.path.join(directory, "..")
        from kraftool.storage.lock import LockState, lock_holder

        return lock_holder(directory).state is LockState.HELD


def is_reread(path: str) -> bool:
    """True if the files of a PATH can be read twice, False for a stream."""
    try:
        return not open_path(path).is_stream
    except KraftoolError:  # reading it reports why
        return False


def log_files(
    paths: Sequence[str | Location],
    unreadable: Callable[[str], None],
    *,
    snapshots: bool = False,
    side_files: bool = False,
    passed: Callable[[LogFile], None] = lambda file: None,
    stray: Callable[[Finding], None] = lambda finding: None,
) -> Iterator[LogFile]:
    """The files that PATHs name, one path after the other.

    `snapshots` adds a directory's checkpoints; `side_files` allows to name an index or producer
    snapshot, which only Kafka's own format has a text for. `passed` is told of checkpoints that
    come before the segments and are not dumped; `stray` of files in a partition's folder whose
    names are no names of Kafka's, so that they are no part of the log.
    """
    named = _WITH_BATCHES + _SIDE_FILES if side_files else _WITH_BATCHES
    for path in paths:
        try:
            location = open_path(path) if isinstance(path, str) else path
            file_count = 0
            for item in location.entries():
                if isinstance(item, EntryProblem):
                    if item.severity is not Severity.INFO:
                        unreadable(_sentence(item))
                    continue
                if not named_itself(location) and item.place is EntryPlace.PARTITION:
                    from kraftool.reports.logs.file_names import misnamed

                    wrong = misnamed(item.name)
                    if wrong is not None:
                        stray(wrong)
                        continue
                kind = _kind(item, location, named)
                if kind is FileKind.CHECKPOINT and not snapshots and not named_itself(location):
                    passed(LogFile(item, kind, location))
                elif kind is not None:
                    file_count += 1
                    topic = kind is FileKind.LOG and _is_topic(item, location)
                    yield LogFile(item, kind, location, topic)
            if not file_count:
                unreadable(f"{location.path}: no log segment in it")
        except KraftoolError as error:
            unreadable(f"{error.message}{f' ({error.hint})' if error.hint else ''}")


def _sentence(problem: EntryProblem) -> str:
    at = f" position {problem.position}:" if problem.position is not None else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{problem.name}:{at} {problem.reason}{hint}"


def _is_topic(entry: Entry, location: Location) -> bool:
    """True if an entry lies in a topic's folder and begins with what is no metadata.

    Only where the folder or file itself was named: of a whole directory topics are not read.
    """
    if location.kind not in (LocationKind.FILE, LocationKind.PARTITION):
        return False
    folder = os.path.basename(os.path.dirname(os.path.abspath(entry.name)))
    parsed = parse_folder_name(folder)
    if parsed is None or parsed.topic == METADATA_TOPIC:
        return False
    with entry.open() as source:
        batches = (batch for batch in Walk(source.read_at) if isinstance(batch, RecordBatch))
        first = next(batches, None)
    if first is None or first.is_control:
        return False
    if first.compression != "none":
        return True  # metadata never is
    from kraftool.decoders.log_record import decode_batch

    try:
        return all(record.api_key is None for record in islice(decode_batch(first), 10))
    except DecodeError:
        return False


def named_itself(location: Location) -> bool:
    """True if a PATH names one file, and not what lies in a directory or archive."""
    return location.kind is LocationKind.FILE


def _kind(entry: Entry, location: Location, named: tuple[FileKind, ...]) -> FileKind | None:
    """Return what to dump an entry as; None for what this command passes over."""
    if location.kind is LocationKind.FILE:
        with entry.open() as source:
            kind = detect(entry.basename, source.read_at(0, 4096), entry.size).kind
        if kind not in named:
            raise KraftoolError(
                f"{entry.name} is neither a segment nor a checkpoint: {kind.value}",
                hint="kraftool dump shows every kind of file",
            )
        return kind
    return _kind_by_name(entry)


def kind_of(entry: Entry, location: Location) -> FileKind | None:
    """Return the kind of a segment or checkpoint of a directory's log; None for other entries."""
    if named_itself(location) or entry.place is not EntryPlace.PARTITION:
        return None
    from kraftool.reports.logs.file_names import misnamed

    return None if misnamed(entry.name) else _kind_by_name(entry)


def _kind_by_name(entry: Entry) -> FileKind | None:
    if entry.place is not EntryPlace.PARTITION:
        return None
    detection = detect(entry.basename, b"", entry.size)
    if detection.state is not FileState.LIVE:
        return None
    return detection.kind if detection.kind in (FileKind.LOG, FileKind.CHECKPOINT) else None
