"""The files behind a PATH of the command line.

Owns the forms: a data directory, a partition's folder, one file, a Kafka server.properties, a tar
stream, a backup, a node of a bundle. It refuses to decode anything but the properties file that
leads to a directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from kraftool.decoders import properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect
from kraftool.storage.backup_names import is_backup
from kraftool.storage.bundle_names import bundle_place
from kraftool.storage.directory import (
    file_entry,
    likely_directories,
    list_data_directory,
    list_partition,
    looks_like_data_directory,
    looks_like_partition,
)
from kraftool.storage.entry import METADATA_PARTITION, Entry, EntryProblem, FolderCounts, Severity
from kraftool.storage.inflate import GZIP_MAGIC, is_shell_pipe, opened_feed
from kraftool.storage.source import FileSource
from kraftool.storage.tarheader import BLOCK, is_header
from kraftool.storage.tarstream import TarStream

if TYPE_CHECKING:
    from kraftool.storage.backup_files import BackupFiles

DEFAULT_LOG_DIR = "/tmp/kafka-logs"
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz")
_SERVER_KEYS = (
    "process.roles",
    "log.dirs",
    "log.dir",
    "metadata.log.dir",
    "controller.quorum.voters",
)


class LocationKind(StrEnum):
    """The form of a PATH."""

    DATA_DIRECTORY = "data directory"
    PARTITION = "partition"
    FILE = "file"
    PROPERTIES = "server.properties"
    TAR = "tar stream"
    LIVE = "live controller"
    """No PATH: what a running node was asked for, in the form of files."""


@dataclass(slots=True, kw_only=True)
class Location:
    """The place to which a PATH leads.

    `entries()` gives the files and what could not be read, in an order that is useful for a
    directory and is the archive's own for a tar, whose entries are read one before the next.
    `folders` counts the folders that are not looked into, by data directory, once all is listed.
    """

    path: str
    kind: LocationKind
    directory: str = ""
    expected_directory: str = ""
    """Where Kafka looks for the metadata by a server.properties, if only another directory of
    log.dirs has them: `directory` is that one."""
    log_dirs: tuple[str, ...] = ()
    server: properties.Properties | None = None
    notes: tuple[EntryProblem, ...] = ()
    missing: str = ""
    """The directory that a server.properties names, if it is not there and the settings do."""
    folders: dict[str, FolderCounts] = field(default_factory=dict)
    held: tuple[Entry, ...] = ()
    """The files of what lies at no path."""
    high_watermark: int | None = None
    """Of a running leader, whose log that is."""

    @property
    def is_on_disk(self) -> bool:
        """True if its files can be found by their names."""
        return self.kind not in (LocationKind.TAR, LocationKind.LIVE) and not self.held

    @property
    def is_stream(self) -> bool:
        return self.kind is LocationKind.TAR

    @property
    def data_directory(self) -> str:
        """The directory, or the one that a partition lies in, whose `.lock` is for both."""
        if self.kind is LocationKind.PARTITION:  # which may be called `.`
            return os.path.dirname(os.path.abspath(self.directory))
        return self.directory

    def entries(self) -> Iterator[Entry | EntryProblem]:
        yield from self.notes
        match self.kind:
            case LocationKind.FILE:
                yield from self.held or (file_entry(self.path),)
            case LocationKind.PARTITION:
                listing = list_partition(self.directory)
                yield from listing.problems
                yield from listing.entries
            case LocationKind.LIVE:
                yield from self.held
            case LocationKind.TAR:
                with opened_feed(self.path) as feed:
                    stream = TarStream(feed, self.path)
                    yield from stream.entries()
                    self.folders.update(stream.folders)
            case LocationKind.PROPERTIES if not self.directory:
                return
            case _:
                listing = list_data_directory(self.directory)
                self.folders[self.directory] = listing.folders
                yield from listing.problems
                yield from listing.entries


def open_path(path: str, *, settings_alone: bool = False) -> Location:
    """Find out what a PATH is. Raises KraftoolError where it leads nowhere.

    With `settings_alone` a server.properties is taken also where its directory is not there; the
    location then has no directory.
    """
    if path == "-" or is_shell_pipe(path):
        return Location(path=path, kind=LocationKind.TAR)
    if is_backup(path):
        return _backup(path)
    if bundle_place(path) is not None:
        return open_path(path_here(path), settings_alone=settings_alone)
    if os.path.isdir(path):
        return _directory(path)
    with FileSource(path) as source:
        head, size = source.read_at(0, HEAD_SIZE), source.size()
    if path.endswith(_TAR_SUFFIXES) or head.startswith(GZIP_MAGIC) or is_header(head[:BLOCK]):
        return Location(path=path, kind=LocationKind.TAR)
    if detect(os.path.basename(path), head, size).kind is FileKind.PROPERTIES:
        location = _server_properties(path, settings_alone=settings_alone)
        if location is not None:
            return location
    return Location(path=path, kind=LocationKind.FILE, directory=os.path.dirname(path))


def path_here(path: str) -> str:
    """The path itself; where it leads into a bundle, that of the copy."""
    if (place := bundle_place(path)) is None:
        return path
    from kraftool.storage.bundle_files import here

    return here(*place, directories_of)


def refuse_folder_above(path: str) -> None:
    """Raise KraftoolError where PATH is a folder that only has data directories below it."""
    if os.path.isdir(path) and any(likely_directories(path)):
        _directory(path)


def directories_of(path: str) -> tuple[str, ...]:
    """The directories to which a PATH leads."""
    location = open_path(path)
    return location.directory, *location.log_dirs


def _backup(path: str) -> Location:
    """A backup is read as its checkpoint."""
    from kraftool.storage.backup_files import split

    files, name = split(path)
    return backup_location(files, files.checkpoint_of(files.manifest(name), name))


def backup_location(files: BackupFiles, checkpoint: str) -> Location:
    """The location of a backup's checkpoint. Raises KraftoolError where it cannot be read."""
    here = files.path_here(checkpoint)
    held = [] if here else [files.copied(checkpoint)]
    path = here or held[0].name
    directory = os.path.dirname(path)
    return Location(path=path, kind=LocationKind.FILE, directory=directory, held=tuple(held))


def _directory(path: str) -> Location:
    if looks_like_data_directory(path):
        return Location(path=path, kind=LocationKind.DATA_DIRECTORY, directory=path)
    if looks_like_partition(path):
        return Location(path=path, kind=LocationKind.PARTITION, directory=path)
    below = list(likely_directories(path))
    hint = "name the directory that holds meta.properties and __cluster_metadata-0"
    if below:
        hint = f"did you mean {', '.join(below[:3])}?"
    elif not os.access(path, os.R_OK | os.X_OK):
        hint = "run kraftool as the user that Kafka runs as"
        raise KraftoolError(f"{path} cannot be listed: permission denied", hint=hint)
    raise KraftoolError(f"{path} is not a Kafka data directory", hint=hint)


def _server_properties(path: str, *, settings_alone: bool) -> Location | None:
    """The directory that a server.properties leads to: metadata.log.dir, else the first log dir."""
    with FileSource(path) as source:
        loaded, findings = properties.decode(source.read_at(0, properties.MAX_BYTES + 1))
    if not any(loaded.get(key) is not None for key in _SERVER_KEYS):
        return None
    notes = [
        EntryProblem(
            name=path, reason=finding.reason, position=finding.position, severity=Severity.WARNING
        )
        for finding in findings
    ]
    listed = loaded.get("log.dirs") or loaded.get("log.dir") or DEFAULT_LOG_DIR
    log_dirs = [part.strip() for part in listed.split(",") if part.strip()] or [DEFAULT_LOG_DIR]
    wanted = (loaded.get("metadata.log.dir") or "").strip() or log_dirs[0]
    if "${" in wanted:
        if settings_alone:
            return _settings_alone(path, loaded, notes, f"{wanted} is filled in elsewhere")
        raise KraftoolError(
            f"{path}: {wanted} is filled in by a config provider, which kraftool does not run",
            hint="name the data directory itself",
        )
    directory = _resolved(wanted, path)
    if directory != wanted:
        notes.append(
            EntryProblem(
                name=path,
                reason=f"{wanted} is relative to Kafka's working directory; taken as {directory}",
                severity=Severity.INFO,
            )
        )
    notes += [
        EntryProblem(
            name=path,
            reason=f"{log_dir} is filled in by a config provider; not looked at",
            severity=Severity.INFO,
        )
        for log_dir in log_dirs
        if "${" in log_dir
    ]
    log_dirs = [_resolved(log_dir, path) for log_dir in log_dirs]
    if not os.path.isdir(directory):
        if settings_alone:
            location = _settings_alone(path, loaded, notes, f"{directory} is not there")
            return replace(location, missing=directory)
        raise KraftoolError(
            f"{path} leads to {directory}, which is not there",
            hint="name the data directory itself if it was moved",
        )
    has_metadata = _with_metadata(directory, log_dirs)
    return Location(
        path=path,
        kind=LocationKind.PROPERTIES,
        directory=has_metadata,
        expected_directory=directory if has_metadata != directory else "",
        log_dirs=tuple(log_dirs),
        server=loaded,
        notes=tuple(notes),
    )


def _settings_alone(
    path: str, loaded: properties.Properties, notes: list[EntryProblem], why: str
) -> Location:
    reason = f"only its settings are read: {why}"
    notes = [*notes, EntryProblem(name=path, reason=reason, severity=Severity.INFO)]
    return Location(path=path, kind=LocationKind.PROPERTIES, server=loaded, notes=tuple(notes))


def _resolved(directory: str, path: str) -> str:
    """A configured directory as it is from here.

    Kafka resolves a relative one against its working directory; failing that, beside the file is
    the next best guess. A folder that only has the name is no guess where the other one has data.
    """
    if os.path.isabs(directory):
        return directory
    beside = os.path.join(os.path.dirname(path), directory)
    there = [candidate for candidate in (directory, beside) if os.path.isdir(candidate)]
    return next(
        (candidate for candidate in there if looks_like_data_directory(candidate)),
        (*there, directory)[0],
    )


def _with_metadata(directory: str, log_dirs: list[str]) -> str:
    """Return the directory that has the metadata partition: another one of log.dirs if that alone
    has it, as after mounts in each other's place."""
    having = [
        log_dir
        for log_dir in dict.fromkeys((directory, *log_dirs))
        if os.path.isdir(os.path.join(log_dir, METADATA_PARTITION))
    ]
    return having[0] if len(having) == 1 else directory
