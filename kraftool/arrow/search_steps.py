"""The steps of a search, each at one place of a fleet: a PATH, a match of a pattern, a folder.

Owns what a step recognizes, and the steps below it that it asks for. A step remembers nothing of
the others, so that threads and tasks of Spark can take any of them. It reads names, sizes and
meta.properties; no log is opened. It refuses to go on to the steps below: see `search.py`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from kraftool.arrow.fleet import Empty, FleetDirectory, FleetFile, Unread, files_of
from kraftool.arrow.local_folders import Files, missing
from kraftool.decoders import meta_properties, properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import META_PROPERTIES, parse_folder_name
from kraftool.storage.entry import (
    METADATA_PARTITION,
    ROOT_FILES,
    EntryPlace,
    is_partition_file,
    partition_order,
    root_order,
)
from kraftool.storage.paths import LocationKind, open_path
from kraftool.storage.remote import RemoteItem, is_url, shown_url

_PATTERN = re.compile(r"[*?\[]")
# Any program may have a .lock.
_TELLING = frozenset(ROOT_FILES) - {".lock"}
_LOST = "lost+found"

ListedFile = tuple[str, EntryPlace, int, int, str]
"""The relative name of a file, its place, size, time of change and etag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A data directory, or a partition's folder, as it was listed."""

    directory: FleetDirectory
    root: str = field(repr=False)
    path: str
    options: str = field(repr=False)
    names: tuple[str, str]
    """Its name as it is shown, and the one without links: it is the same folder under both."""
    listed: tuple[ListedFile, ...]
    unread: Unread | None = None
    """The partition's folder in it, if that could not be listed."""

    def files(self) -> Iterator[FleetFile]:
        """Its files, in order."""
        shown = files_of(self.root, self.options).shown
        for relative, place, size, mtime_ns, etag in self.listed:
            path = f"{self.path}/{relative}" if self.path else relative
            yield FleetFile(
                directory=self.directory,
                root=self.root,
                path=path,
                name=shown(path),
                relative=sys.intern(relative),
                place=place,
                size=size,
                mtime_ns=mtime_ns,
                etag=etag,
                options=self.options,
            )


@dataclass(slots=True, kw_only=True)
class SearchResult:
    """The result of a step. `below` are the results of the steps that it asked for, in order."""

    home: Home | None = None
    file: FleetFile | None = None
    empty: Empty | None = None
    """The folder, if nothing is found in it."""
    unread: Unread | None = None
    error: KraftoolError | None = None
    """Why a PATH leads nowhere; with `unread`, only if nothing else was found before."""
    is_gone: bool = False
    """True if nothing is there any more."""
    pattern: str = ""
    """The PATH as it is shown, if it is a pattern."""
    next_steps: Sequence[SearchStep] = ()
    below: list[SearchResult] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """The step of a PATH: a pattern, a file, a directory, or a folder that holds some."""

    path: str = field(repr=False)
    depth: int
    options: str = field(repr=False)
    in_thread: ClassVar[bool] = True

    def found(self) -> SearchResult:
        try:
            return self._found()
        except KraftoolError as error:
            return SearchResult(error=error)

    def _found(self) -> SearchResult:
        if not (is_url(self.path) and has_pattern(self.path)):
            match = self._match(self.path, "")
            item = files_of(self.path, self.options).item()
            if item is not None:
                return match.of(item)
        if has_pattern(self.path):
            root, pattern = fixed_part(self.path)
            names = files_of(root, self.options).glob(pattern)
            if names:
                matches = [self._match(root, name) for name in names]
                return SearchResult(next_steps=matches, pattern=shown_url(self.path))
        raise missing(shown_url(self.path))

    def _match(self, root: str, path: str) -> MatchStep:
        return MatchStep(root=root, path=path, depth=self.depth, options=self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _BelowRoot:
    """The step of a place below a root."""

    root: str = field(repr=False)
    path: str
    depth: int
    """How many folders below this one may be looked into."""
    options: str = field(repr=False)

    @property
    def in_thread(self) -> bool:
        """True if several threads may look below the root at the same time."""
        try:
            return files_of(self.root, self.options).takes_threads
        except KraftoolError:
            return False  # the step itself says why


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchStep(_BelowRoot):
    """The step of what a PATH names, or one of those that its pattern matches."""

    def found(self) -> SearchResult:
        files = files_of(self.root, self.options)
        try:
            item = files.item(self.path)
        except KraftoolError as error:
            return SearchResult(unread=_unread(files.shown(self.path), error), error=error)
        try:
            return SearchResult(is_gone=True) if item is None else self.of(item)
        except KraftoolError as error:
            return SearchResult(error=error)

    def of(self, item: RemoteItem) -> SearchResult:
        """The result for a file or folder that is there. Raises KraftoolError for a file that
        cannot be read as one of a fleet."""
        if item.is_folder:
            return FolderStep(
                root=self.root,
                path=item.path,
                depth=self.depth,
                options=self.options,
                is_named=True,
            ).found()
        return self._one_file(item)

    def _one_file(self, item: RemoteItem) -> SearchResult:
        shown = files_of(self.root, self.options).shown(item.path)
        if not is_url(self.root):
            location = open_path(shown)
            if location.kind is LocationKind.PROPERTIES:
                return PathStep(
                    path=location.directory, depth=self.depth, options=self.options
                ).found()
            if location.kind is LocationKind.TAR:
                raise KraftoolError(
                    f"{shown}: Spark reads no tar archives",
                    hint="unpack it; kraftool dump reads it",
                )
        above, _, basename = shown.rpartition("/")
        home = above.rpartition("/")[0] if above.endswith(METADATA_PARTITION) else above
        file = FleetFile(
            directory=_identity_beside(self.root, item.path, self.options, home or above),
            root=self.root,
            path=item.path,
            name=shown,
            relative=basename,
            place=EntryPlace.PARTITION if is_partition_file(basename) else EntryPlace.LOOSE,
            size=item.size,
            mtime_ns=item.mtime_ns,
            etag=item.identity,
            is_named=True,
            options=self.options,
        )
        return SearchResult(file=file)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderStep(_BelowRoot):
    """The step into a folder: at a data directory, a partition's folder, or for folders below."""

    is_named: bool = False

    def found(self) -> SearchResult:
        files = files_of(self.root, self.options)
        shown = files.shown(self.path)
        try:
            items = files.listed(self.path)
        except KraftoolError as error:
            return SearchResult(
                unread=_unread(shown, error), error=error if self.is_named else None
            )
        names = {item.name for item in items}
        folders = [item for item in items if item.is_folder]
        is_data = names & _TELLING or any(folder.name == METADATA_PARTITION for folder in folders)
        basename = shown.rstrip("/").rpartition("/")[2]
        # Of a topic's folder only what was named itself is taken.
        is_partition = basename == METADATA_PARTITION or (
            (self.is_named or parse_folder_name(basename) is None)
            and any(is_partition_file(name) for name in names)
        )
        home: Home | None = None
        if is_partition and not (is_data and basename != METADATA_PARTITION):
            # The data directory around it says whose it is, if it can be read.
            inside = f"{self.path}/x" if self.path else "x"
            directory = _identity_beside(self.root, inside, self.options, shown)
            home = self._home(shown, directory, _partition(items, ""))
        elif is_data:
            home = self._data_directory(files, shown, items)
        if home is not None:
            is_empty = not home.listed and home.unread is None
            return SearchResult(
                home=home, empty=self._empty(shown, is_data=True) if is_empty else None
            )
        return SearchResult(
            # What an almost empty folder leads to decides whether it is told of.
            empty=self._empty(shown) if names <= {_LOST} and basename != _LOST else None,
            next_steps=self._below(files, shown, folders) if self.depth > 0 else (),
        )

    def _empty(self, shown: str, *, is_data: bool = False) -> Empty:
        return Empty(name=shown, is_data=is_data, is_named=self.is_named)

    def _home(
        self,
        shown: str,
        directory: FleetDirectory,
        listed: Iterable[ListedFile],
        unread: Unread | None = None,
    ) -> Home:
        return Home(
            directory=directory,
            root=self.root,
            path=self.path,
            options=self.options,
            names=(shown, shown if is_url(self.root) else os.path.realpath(shown)),
            listed=tuple(listed),
            unread=unread,
        )

    def _data_directory(self, files: Files, shown: str, items: list[RemoteItem]) -> Home:
        meta = next((item for item in items if item.name == META_PROPERTIES), None)
        directory = _identity(files, meta, shown)
        here = sorted(items, key=lambda item: root_order(item.name))
        listed = [_listed(item, item.name, EntryPlace.ROOT) for item in here if not item.is_folder]
        unread: Unread | None = None
        for item in items:
            if item.is_folder and item.name == METADATA_PARTITION:
                try:
                    listed += _partition(files.listed(item.path), f"{METADATA_PARTITION}/")
                except KraftoolError as error:
                    unread = _unread(files.shown(item.path), error, directory)
        return self._home(shown, directory, listed, unread)

    def _below(self, files: Files, shown: str, folders: list[RemoteItem]) -> list[SearchStep]:
        """The steps into the folders below: into those that lie here before links, and into no
        link that leads back up, which would find everything again under longer and longer names."""
        if not is_url(self.root):
            here = os.path.realpath(shown)
            links = [folder for folder in folders if os.path.islink(files.shown(folder.path))]
            away = [
                link
                for link in links
                if not f"{here}/".startswith(f"{os.path.realpath(files.shown(link.path))}/")
            ]
            folders = [*(folder for folder in folders if folder not in links), *away]
        below = partial(FolderStep, root=self.root, depth=self.depth - 1, options=self.options)
        return [below(path=folder.path) for folder in folders]


SearchStep = PathStep | MatchStep | FolderStep


def _unread(name: str, error: KraftoolError, directory: FleetDirectory | None = None) -> Unread:
    return Unread(name=name, reason=error.message, hint=error.hint, directory=directory)


def _partition(items: Iterable[RemoteItem], prefix: str) -> list[ListedFile]:
    return [
        _listed(item, prefix + item.name, EntryPlace.PARTITION)
        for item in sorted(items, key=lambda item: partition_order(item.name))
        if not item.is_folder
    ]


def _listed(item: RemoteItem, relative: str, place: EntryPlace) -> ListedFile:
    # Directories have files of the same names.
    return sys.intern(relative), place, item.size, item.mtime_ns, item.identity


def _identity_beside(root: str, path: str, options: str, shown: str) -> FleetDirectory:
    """The directory of a file that was named by itself, if it is one."""
    whole = root if not path else f"{root.rstrip('/')}/{path}"
    for _ in range(2):
        whole = whole.rpartition("/")[0] if "/" in whole else "."
        if whole.endswith((":/", "/")) or not whole:
            break
        try:
            files = files_of(whole, options)
            item = files.item(META_PROPERTIES)
            if item is not None:
                return _identity(files, item, shown)
        except KraftoolError:
            break
    return FleetDirectory(name=shown)


def _identity(files: Files, meta: RemoteItem | None, shown: str) -> FleetDirectory:
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


def has_pattern(path: str) -> bool:
    """True if a PATH may stand for several."""
    return _PATTERN.search(shown_url(path).rpartition("://")[2]) is not None


def fixed_part(path: str) -> tuple[str, str]:
    """Split a pattern into the folder before it and the rest."""
    start = path.find("://") + 3 if is_url(path) else 0
    match = _PATTERN.search(path, start)
    at = path.rfind("/", start, match.start() if match else len(path))
    if at < 0:
        return (path[:start], path[start:]) if start else ("", path)
    return path[:at] or "/", path[at + 1 :]
