"""The data directories and files to which the PATHs of a source lead, and their clusters.

Owns the search (a directory, a folder that holds many, a pattern, one file, a URL) and the
identity that meta.properties gives. It reads nothing else: no log is opened here. What it hands on
is small and picklable, since it travels to the workers; where a URL has something to log in, that
travels too, but is never shown.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import orjson

from kraftool.arrow.lookers import Lookers, TakenNames
from kraftool.arrow.places import Files, files_at, missing
from kraftool.decoders import meta_properties, properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect
from kraftool.decoders.names import METADATA_TOPIC, FileState, parse_folder_name
from kraftool.storage.entry import (
    METADATA_PARTITION,
    ROOT_FILES,
    Entry,
    EntryPlace,
    is_partition_file,
    partition_order,
    root_order,
)
from kraftool.storage.paths import LocationKind, open_path
from kraftool.storage.remote import RemoteItem, is_url, shown_url
from kraftool.storage.source import ByteSource

DEPTH = 6
"""How many folders below a root a data directory is looked for."""
_META = "meta.properties"
_PATTERN = re.compile(r"[*?\[]")
# Any program may have a .lock.
_TELLING = frozenset(ROOT_FILES) - {".lock"}
_LOCAL = re.compile(r"^file:/(?!/)")
_LOST = "lost+found"


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
        return _files(self.root, self.options).open(self.path, name=self.name)

    def is_there(self) -> bool:
        """True if it is there still; live directories change under their readers."""
        try:
            return _files(self.root, self.options).item(self.path) is not None
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
            mode=0,
            mtime_ns=self.mtime_ns,
            uid=0,
            gid=0,
            opener=self.open,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A file or folder that could not be listed on the way."""

    name: str
    reason: str
    hint: str = ""


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
def _files(root: str, options: str) -> Files:
    return files_at(root, orjson.loads(options) if options else {})


def _text_of(options: Mapping[str, Any] | None) -> str:
    return orjson.dumps(options).decode() if options else ""


def find_fleet(
    paths: list[str], *, depth: int = DEPTH, options: Mapping[str, Any] | None = None
) -> Fleet:
    """Find all files that the PATHs lead to. Raises KraftoolError for a PATH that leads nowhere."""
    with Lookers() as lookers:
        search = _Search(depth, _text_of(options), lookers, TakenNames())
        for path in paths:
            search.part().path(path)
            lookers.finish()
    return Fleet(
        files=tuple(file for part in search.parts() for file in part.files),
        problems=tuple(problem for part in search.parts() for problem in part.problems),
        empty=tuple(empty for part in search.parts() for empty in part.empty),
    )


def require(paths: list[str], *, options: Mapping[str, Any] | None = None) -> None:
    """Raise KraftoolError for a PATH that leads nowhere, looking no further than that."""
    chosen = _text_of(options)
    for path in paths:
        if not _leads_somewhere(path, chosen):
            raise missing(shown_url(path))


def _leads_somewhere(path: str, options: str) -> bool:
    if not has_pattern(path):
        return _files(path, options).item() is not None
    if not is_url(path) and _files(path, options).item() is not None:
        return True
    root, pattern = _fixed_part(path)
    return bool(_files(root, options).glob(pattern))


def has_pattern(path: str) -> bool:
    """True if a PATH may stand for several."""
    return _PATTERN.search(shown_url(path).rpartition("://")[2]) is not None


class _Search:
    """The files that a PATH leads to.

    Threads look into the folders of a store, each as a part of its own: the order is of the names.
    """

    def __init__(
        self, depth: int, options: str, lookers: Lookers, known: TakenNames, *, raises: bool = True
    ) -> None:
        self._depth, self._options, self._lookers = depth, options, lookers
        self.files: list[FleetFile] = []
        self.problems: list[Unread] = []
        self.empty: list[Empty] = []
        self._parts: list[_Search] = []
        self._known, self._raises = known, raises

    def parts(self) -> Iterator[_Search]:
        """Yield this search, and those that it began, in the order of the names."""
        yield self
        for part in self._parts:
            yield from part.parts()

    def part(self, *, raises: bool = True) -> _Search:
        """Begin a search of its own."""
        part = _Search(self._depth, self._options, self._lookers, self._known, raises=raises)
        self._parts.append(part)
        return part

    def path(self, path: str) -> None:
        """Take one PATH: a pattern, a file, a directory, or a folder that holds some."""
        if not (is_url(path) and has_pattern(path)):
            files = _files(path, self._options)
            item = files.item()
            if item is not None:
                self._item(path, files, item)
                return
        if not has_pattern(path):
            raise missing(shown_url(path))
        root, pattern = _fixed_part(path)
        files, item_count = _files(root, self._options), 0
        # Of what ** finds, some is below the rest.
        apart = files.takes_threads and "**" not in pattern
        names = files.glob(pattern)
        for item in self._lookers.map(files.item, names) if apart else map(files.item, names):
            if item is None:
                continue
            item_count += 1
            part = self.part(raises=not apart)
            if apart:
                self._lookers.add(partial(part._item, root, files, item))
            else:
                part._item(root, files, item)
        if not item_count:
            raise missing(shown_url(path))

    def _item(self, root: str, files: Files, item: RemoteItem) -> None:
        if item.is_folder:
            self._folder(root, files, item.path, self._depth, named=True)
        else:
            self._one_file(root, files, item)

    def _one_file(self, root: str, files: Files, item: RemoteItem) -> None:
        shown = files.shown(item.path)
        if not is_url(root):
            location = open_path(shown)
            if location.kind is LocationKind.PROPERTIES:
                self.path(location.directory)
                return
            if location.kind is LocationKind.TAR:
                raise KraftoolError(
                    f"{shown}: Spark reads no tar archives",
                    hint="unpack it; kraftool dump reads it",
                )
        above, _, basename = shown.rpartition("/")
        home = above.rpartition("/")[0] if above.endswith(METADATA_PARTITION) else above
        directory = self._identity_beside(root, item.path, home or above)
        place = EntryPlace.PARTITION if is_partition_file(basename) else EntryPlace.LOOSE
        self._take(root, files, item, directory, basename, place, named=True)

    def _identity_beside(self, root: str, path: str, shown: str) -> FleetDirectory:
        """The directory of a file that was named by itself, if it is one."""
        whole = root if not path else f"{root.rstrip('/')}/{path}"
        for _ in range(2):
            whole = whole.rpartition("/")[0] if "/" in whole else "."
            if whole.endswith((":/", "/")) or not whole:
                break
            try:
                files = _files(whole, self._options)
                item = files.item(_META)
                if item is not None:
                    return self._identity(files, item, shown)
            except KraftoolError:
                break
        return FleetDirectory(name=shown)

    def _folder(self, root: str, files: Files, path: str, depth: int, *, named: bool) -> None:
        shown = files.shown(path)
        try:
            items = files.listed(path)
        except KraftoolError as error:
            if named and self._raises and not self._known.has_files:
                raise
            self.problems.append(Unread(name=shown, reason=error.message, hint=error.hint))
            return
        names = {item.name for item in items}
        folders = [item for item in items if item.is_folder]
        is_data = names & _TELLING or any(folder.name == METADATA_PARTITION for folder in folders)
        basename = shown.rstrip("/").rpartition("/")[2]
        # Of a topic's folder only what was named itself is taken.
        is_partition = basename == METADATA_PARTITION or (
            (named or parse_folder_name(basename) is None)
            and any(is_partition_file(name) for name in names)
        )
        if (is_partition or is_data) and self._known.is_taken(
            shown, shown if is_url(root) else os.path.realpath(shown)
        ):
            return
        before = len(self.files) + len(self.problems)
        if is_partition and not (is_data and basename != METADATA_PARTITION):
            # The data directory around it says whose it is, if it can be read.
            directory = self._identity_beside(root, f"{path}/x" if path else "x", shown)
            self._partition(root, files, items, directory, "")
        elif is_data:
            self._data_directory(root, files, path, items)
        elif depth > 0:
            # What an almost empty folder leads to decides whether it is told of.
            apart = files.takes_threads and not names <= {_LOST}
            for item in self._to_descend(root, files, shown, folders):
                if apart:
                    part = self.part()
                    look = partial(part._folder, root, files, item.path, depth - 1, named=False)
                    self._lookers.add(look)
                else:
                    self._folder(root, files, item.path, depth - 1, named=False)
        is_kafkas = is_partition or bool(is_data)
        nothing = len(self.files) + len(self.problems) == before
        if nothing and (is_kafkas or (names <= {_LOST} and basename != _LOST)):
            self.empty.append(Empty(name=shown, is_data=is_kafkas, is_named=named))

    def _to_descend(
        self, root: str, files: Files, shown: str, folders: list[RemoteItem]
    ) -> list[RemoteItem]:
        """The folders to look into: those that lie here before links, and no link that leads back
        up, which would find everything again under longer and longer names."""
        if is_url(root):
            return folders
        here = os.path.realpath(shown)
        links = [folder for folder in folders if os.path.islink(files.shown(folder.path))]
        away = [
            link
            for link in links
            if not f"{here}/".startswith(f"{os.path.realpath(files.shown(link.path))}/")
        ]
        return [*(folder for folder in folders if folder not in links), *away]

    def _data_directory(self, root: str, files: Files, path: str, items: list[RemoteItem]) -> None:
        meta = next((item for item in items if item.name == _META), None)
        directory = self._identity(files, meta, files.shown(path))
        for remote_item in sorted(items, key=lambda item: root_order(item.name)):
            if not remote_item.is_folder:
                self._take(root, files, remote_item, directory, remote_item.name, EntryPlace.ROOT)
        for remote_item in items:
            if remote_item.is_folder and remote_item.name == METADATA_PARTITION:
                try:
                    below = files.listed(remote_item.path)
                except KraftoolError as error:
                    name = files.shown(remote_item.path)
                    self.problems.append(Unread(name=name, reason=error.message, hint=error.hint))
                else:
                    self._partition(root, files, below, directory, f"{METADATA_PARTITION}/")

    def _partition(
        self,
        root: str,
        files: Files,
        items: list[RemoteItem],
        directory: FleetDirectory,
        prefix: str,
    ) -> None:
        for remote_item in sorted(items, key=lambda item: partition_order(item.name)):
            if not remote_item.is_folder:
                self._take(
                    root,
                    files,
                    remote_item,
                    directory,
                    prefix + remote_item.name,
                    EntryPlace.PARTITION,
                )

    def _take(
        self,
        root: str,
        files: Files,
        item: RemoteItem,
        directory: FleetDirectory,
        relative: str,
        place: EntryPlace,
        *,
        named: bool = False,
    ) -> None:
        name = files.shown(item.path)
        if self._known.is_seen(name):
            return
        self.files.append(
            FleetFile(
                directory=directory,
                root=root,
                path=item.path,
                name=name,
                relative=sys.intern(relative),
                place=place,
                size=item.size,
                mtime_ns=item.mtime_ns,
                etag=item.identity,
                is_named=named,
                options=self._options,
            )
        )

    def _identity(self, files: Files, meta: RemoteItem | None, shown: str) -> FleetDirectory:
        if meta is None:
            return FleetDirectory(name=shown)
        try:
            with files.open_listed(meta) as source:
                data = source.read_at(0, properties.MAX_BYTES)
        except KraftoolError:
            # That it cannot be read is a finding of the file's own.
            return FleetDirectory(name=shown)
        known, _ = meta_properties.decode(data)
        return FleetDirectory(
            name=shown,
            cluster_id=known.cluster_id,
            node_id=known.node_id,
            directory_id=known.directory_id,
        )


def _fixed_part(path: str) -> tuple[str, str]:
    """Split a pattern into the folder before it and the rest."""
    start = path.find("://") + 3 if is_url(path) else 0
    match = _PATTERN.search(path, start)
    at = path.rfind("/", start, match.start() if match else len(path))
    if at < 0:
        return (path[:start], path[start:]) if start else ("", path)
    return path[:at] or "/", path[at + 1 :]


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
