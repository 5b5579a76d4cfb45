"""The values that describe a fleet: its directories and files, and what could not be listed.

Owns how a file is opened again, and which files have batches. The values are small and picklable,
since they travel to the workers; where a URL has something to log in, that travels too, but is
never shown. It refuses to search: see `search.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache

import orjson

from kraftool.arrow.local_folders import Files, files_at
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect
from kraftool.decoders.names import METADATA_TOPIC, FileState, parse_folder_name, parse_segment_name
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.remote import is_url
from kraftool.storage.source import ByteSource
from kraftool.storage.tail import ListedSegment

_LOCAL = re.compile(r"^file:/(?!/)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetDirectory:
    """A data directory (or a partition's folder without one) and what its meta.properties says."""

    name: str
    cluster_id: str | None = None
    node_id: int | None = None
    directory_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFile:
    """One file of a fleet. `root` and `path` open it, `name` is how it is shown."""

    directory: FleetDirectory
    root: str = field(repr=False)
    path: str
    name: str
    relative: str
    """Below the data directory, with `/`."""
    place: EntryPlace
    size: int
    mtime_ns: int = 0
    etag: str = ""
    is_named: bool = False
    """True if a PATH named this very file."""
    options: str = field(default="", repr=False)
    """fsspec's storage options, as JSON."""

    @property
    def basename(self) -> str:
        return self.relative.rpartition("/")[2]

    @property
    def is_remote(self) -> bool:
        return is_url(self.root)

    @property
    def in_topic(self) -> bool:
        """True if it lies in the folder of a topic, whose records are no metadata."""
        folder = parse_folder_name(self.name.rpartition("/")[0].rpartition("/")[2])
        return folder is not None and folder.topic != METADATA_TOPIC

    def open(self) -> ByteSource:
        return files_of(self.root, self.options).open(self.path, name=self.name)

    def segment(self, opened: ExitStack) -> ListedSegment:
        """The file as a segment of a log, open as long as `opened`."""
        source = opened.enter_context(self.open())
        parsed = parse_segment_name(self.basename)
        return ListedSegment(
            name=self.basename,
            base_offset=parsed.base_offset if parsed is not None else 0,
            size=source.size() or 0,
            read_at=source.read_at,
        )

    def is_there(self) -> bool:
        """True if it is there still; live directories change under their readers."""
        try:
            return files_of(self.root, self.options).item(self.path) is not None
        except KraftoolError:
            return True  # there may be any reason

    def entry(self) -> Entry:
        """The file as the reports take it."""
        return Entry(
            directory=self.directory.name,
            path=self.relative,
            name=self.name,
            place=self.place,
            size=self.size,
            mtime_ns=self.mtime_ns,
            opener=self.open,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A file or folder that could not be listed on the way."""

    name: str
    reason: str
    hint: str = ""
    directory: FleetDirectory | None = None
    """The data directory around it, if that could be listed."""

    @property
    def owner(self) -> FleetDirectory:
        return self.directory or FleetDirectory(name=self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """A folder without a file."""

    name: str
    is_data: bool = False
    """True if it looks like a data directory all the same."""
    is_named: bool = False
    """True if a PATH leads to this very folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """All files that the PATHs lead to, directory after directory."""

    files: tuple[FleetFile, ...]
    problems: tuple[Unread, ...] = ()
    empty: tuple[Empty, ...] = ()


@lru_cache(maxsize=64)
def files_of(root: str, options: str) -> Files:
    """The files below a root; `options` are fsspec's storage options, as JSON."""
    return files_at(root, orjson.loads(options) if options else {})


def with_batches(fleet: Fleet, *, snapshots: bool = False) -> Iterator[FleetFile]:
    """The files that hold batches and are to be read: what dump-log would take of them."""
    for file in fleet.files:
        if file.is_named:
            if _kind_of(file) is not None:
                yield file
            continue
        if file.place is not EntryPlace.PARTITION:
            continue
        detection = detect(file.basename, b"", file.size)
        wanted = (FileKind.LOG, FileKind.CHECKPOINT) if snapshots else (FileKind.LOG,)
        if detection.state is FileState.LIVE and detection.kind in wanted:
            yield file


def _kind_of(file: FleetFile) -> FileKind | None:
    """Return what a file that was named by itself holds batches as."""
    try:
        with file.open() as source:
            kind = detect(file.basename, source.read_at(0, HEAD_SIZE), file.size).kind
    except KraftoolError:
        return FileKind.LOG  # its reader tells why it cannot be read
    return (
        kind if kind in (FileKind.LOG, FileKind.CHECKPOINT, FileKind.BOOTSTRAP_CHECKPOINT) else None
    )


def split_paths(text: str) -> list[str]:
    """The PATHs of an option: a JSON list as Spark hands on several, or one."""
    if text.startswith("["):
        try:
            listed = orjson.loads(text)
        except orjson.JSONDecodeError:
            listed = None
        if isinstance(listed, list) and all(isinstance(path, str) for path in listed):
            return [_path(path) for path in listed]
    return [_path(text)]


def _path(text: str) -> str:
    """A PATH as it is meant: `~` is a home, and Spark's catalog writes file:/archive."""
    local = _LOCAL.sub("/", text, count=1)
    return os.path.expanduser(local)
