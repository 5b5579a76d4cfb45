"""A PATH read once: each file as it comes, and then every data directory as one value.

Owns which file belongs to which directory, and what its name makes of it. A tar stream is passed
once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.log_record import LogRecord
from kraftool.decoders.names import METADATA_FOLDER, is_usable_name, segment_offset
from kraftool.directory.directory_summary import summarize_directory
from kraftool.directory.file_report import FileReport, ReadOptions, read_file
from kraftool.directory.log_reader import Observe
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.quorum_settings import settings_of
from kraftool.directory.repairs import repairs_in
from kraftool.directory.voter_history import QuorumSettings
from kraftool.directory.voter_records import Events, history_of
from kraftool.raft.names import NO_VOTERS
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

Progress = Callable[[str, int], None]
ReadFile = Callable[[Entry, ReadOptions], FileReport]


@dataclass(slots=True)
class Reading:
    """The files of a PATH that have been read so far."""

    files: dict[str, list[FileReport]] = field(default_factory=dict)
    """By directory."""
    problems: list[EntryProblem] = field(default_factory=list)
    events: Events = field(default_factory=Events)

    def read(
        self,
        entry: Entry,
        options: ReadOptions,
        observers: Iterable[Observe],
        progress: Progress,
        read: ReadFile = read_file,
    ) -> FileReport:
        """Read the next file. Its control records are for the history of voters, too."""

        def on_control(name: str, batch: RecordBatch, item: LogRecord) -> None:
            self.events.take(name, batch, item)
            options.on_control(name, batch, item)

        file = read(
            entry,
            replace(
                options,
                on_control=on_control,
                observers=(*options.observers, *observers),
                progress=lambda position: progress(entry.name, position),
            ),
        )
        self.files.setdefault(file.directory, []).append(file)
        return file

    def with_failed(self, names: Collection[str]) -> Reading:
        """Return the same with files in which a closer look found the form of a snapshot wrong."""
        files = {
            path: [replace(file, fails_check=file.file in names) for file in files]
            for path, files in self.files.items()
        }
        return replace(self, files=files)

    def directories(self, location: Location) -> tuple[NodeDirectory, ...]:
        """Return the data directories of the files, once all were read."""
        return tuple(
            self._directory(location, path, files)
            for path, files in sorted(self.files.items())
            if not _is_loose(location, files)
        )

    def loose(self, location: Location) -> tuple[FileReport, ...]:
        """Return the files that belong to no directory."""
        return tuple(
            file
            for _, files in sorted(self.files.items())
            if _is_loose(location, files)
            for file in files
        )

    def _directory(
        self, location: Location, path: str, files: Sequence[FileReport]
    ) -> NodeDirectory:
        ordered = tuple(sorted(map(_by_its_name, files), key=_order))
        is_on_disk = location.is_on_disk
        settings = settings_in(location)
        summary = summarize_directory(ordered, settings.static_voters if settings else NO_VOTERS)
        unread = {problem.name for problem in self.problems}
        return NodeDirectory(
            path=path,
            name=path,
            kind=location.kind.value,
            real_path=os.path.realpath(path) if is_on_disk else "",
            files=ordered,
            summary=summary,
            history=history_of(ordered, summary, self.events),
            folders=location.folders.get(path, FolderCounts()),
            lock=lock_holder(location.data_directory) if is_on_disk else Lock(LockState.UNKNOWN),
            settings=settings,
            is_live=location.kind is LocationKind.LIVE,
            high_watermark=location.high_watermark,
            is_whole=location.kind in (LocationKind.DATA_DIRECTORY, LocationKind.PROPERTIES)
            or any(file.place is EntryPlace.ROOT for file in ordered),
            is_unlisted=_is_unlisted(path, unread - {file.file for file in ordered}),
            cut=frozenset(file.file for file in ordered if file.file in unread),
            repairs=repairs_in(location) if is_on_disk else (),
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


def settings_in(location: Location) -> QuorumSettings | None:
    """Return the settings of the quorum that a PATH names; None if it is no properties file."""
    server = location.server
    return settings_of(location.path, server) if server is not None else None


def settings_alone(location: Location) -> NodeDirectory:
    """Return a server.properties without its directory."""
    settings = settings_in(location)
    assert settings is not None, "a location of settings has them"
    summary = summarize_directory((), settings.static_voters)
    return NodeDirectory(name=location.path, kind="settings", settings=settings, summary=summary)


def _is_loose(location: Location, files: Sequence[FileReport]) -> bool:
    if location.kind is LocationKind.FILE:
        return True
    return location.is_stream and all(file.place is EntryPlace.LOOSE for file in files)


def _by_its_name(file: FileReport) -> FileReport:
    """A file of a directory is what its name says to Kafka, whatever it looks like."""
    if file.place is EntryPlace.ROOT:
        return file
    is_log = file.kind is FileKind.LOG and file.is_live
    if is_usable_name(file.basename) and not (is_log and segment_offset(file.basename) is None):
        return file
    return replace(file, kind=FileKind.UNKNOWN, content=None, is_misplaced=True)


def _order(file: FileReport) -> tuple[int, tuple[int | str, ...]]:
    if file.place is EntryPlace.PARTITION:
        return 1, partition_order(file.basename)
    return 0, root_order(file.basename)
