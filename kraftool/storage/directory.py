"""A data directory or partition directory on disk: one look at its names, files listed in order.

Owns what is listed and what is only counted: topic folders, and files beyond some that Kafka does
not know, are counted by name and never opened, so that a directory with thousands of them costs one
scandir.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kraftool.storage.entry import (
    METADATA_PARTITION,
    ROOT_FILES,
    Entry,
    EntryPlace,
    EntryProblem,
    FolderCounts,
    FolderKind,
    Severity,
    folder_kind,
    is_metadata_copy,
    is_partition_file,
    is_used_name,
    partition_order,
    root_order,
)
from kraftool.storage.lock_taking import is_held_here
from kraftool.storage.source import ByteSource, BytesSource, FileSource, describe_type
from kraftool.storage.unknown_files import UnknownFiles


@dataclass(frozen=True, slots=True)
class Listing:
    """The content of one directory."""

    entries: tuple[Entry, ...]
    problems: tuple[EntryProblem, ...] = ()
    folders: FolderCounts = field(default_factory=FolderCounts)


def looks_like_data_directory(path: str) -> bool:
    """True if a folder has what only a data directory has; meta.properties may be what is lost."""
    if os.path.isdir(os.path.join(path, METADATA_PARTITION)):
        return True
    # Any program may have a .lock.
    telling = (name for name in ROOT_FILES if name != ".lock")
    return any(os.path.isfile(os.path.join(path, name)) for name in telling)


def is_metadata_partition(path: str) -> bool:
    """True if a folder has the name of the metadata partition."""
    return os.path.basename(os.path.abspath(path)) == METADATA_PARTITION


def looks_like_partition(path: str) -> bool:
    """True if a folder is some partition's: by its name, or by the files in it."""
    if is_metadata_partition(path):
        return True
    try:
        with os.scandir(path) as items:
            return any(is_partition_file(item.name) for item in items)
    except OSError:
        return False


def list_data_directory(path: str) -> Listing:
    """List a data directory: its own files, then those of the metadata partition."""
    files, folders, problems = _scan(path, lambda name: name in ROOT_FILES, _is_folders_name)
    counted: dict[FolderKind, int] = {}
    entries = [
        _entry(path, item.name, os.path.join(path, item.name), EntryPlace.ROOT, status)
        for item, status in sorted(files, key=lambda file: root_order(file[0].name))
    ]
    if any(item.name == METADATA_PARTITION for item, _ in files):
        full = os.path.join(path, METADATA_PARTITION)
        problems.append(EntryProblem(name=full, reason="it is a file, not a directory"))
    for name in folders:
        kind = folder_kind(name)
        counted[kind] = counted.get(kind, 0) + 1
    if METADATA_PARTITION in folders:
        below = list_partition(os.path.join(path, METADATA_PARTITION), directory=path)
        entries += below.entries
        problems += below.problems
    return Listing(
        tuple(entries),
        tuple(problems),
        FolderCounts(
            topics=counted.get(FolderKind.TOPIC, 0),
            deleted=counted.get(FolderKind.DELETED, 0),
            stray=counted.get(FolderKind.STRAY, 0),
            future=counted.get(FolderKind.FUTURE, 0),
            others=counted.get(FolderKind.OTHER, 0),
            metadata_copies=tuple(sorted(filter(is_metadata_copy, folders))),
        ),
    )


def list_partition(path: str, *, directory: str = "") -> Listing:
    """List a partition's folder; its entries belong to `directory`, or to the folder itself."""
    files, _, problems = _scan(path, is_partition_file)
    prefix = f"{os.path.basename(path)}/" if directory else ""
    entries = [
        _entry(
            directory or path,
            prefix + item.name,
            os.path.join(path, item.name),
            EntryPlace.PARTITION,
            status,
        )
        for item, status in sorted(files, key=lambda file: partition_order(file[0].name))
    ]
    return Listing(tuple(entries), tuple(problems))


def file_entry(path: str) -> Entry:
    """One file by itself. Raises KraftoolError for what is no regular file."""
    with FileSource(path):
        pass
    place = EntryPlace.PARTITION if is_partition_file(os.path.basename(path)) else EntryPlace.LOOSE
    return _entry(os.path.dirname(path), os.path.basename(path), path, place, os.stat(path))


def _is_folders_name(name: str) -> bool:
    return folder_kind(name) is not FolderKind.OTHER


def _scan(
    path: str,
    is_files_name: Callable[[str], bool],
    is_folders_name: Callable[[str], bool] = lambda _: False,
) -> tuple[list[tuple[os.DirEntry[str], os.stat_result]], list[str], list[EntryProblem]]:
    """The files and folders; a folder that has the name of a file that Kafka keeps is a problem.

    A link that leads nowhere, a pipe and the like are a note if Kafka does not know the name.
    """
    files: list[tuple[os.DirEntry[str], os.stat_result]] = []
    folders: list[str] = []
    problems: list[EntryProblem] = []
    unknown = UnknownFiles(path)

    def look(item: os.DirEntry[str]) -> None:
        full = os.path.join(path, item.name)
        try:
            status = item.stat()
        except OSError as error:
            reason = _broken_link(full, error)
            if not reason:
                problems.append(EntryProblem(name=full, reason=_words(error)))
                return
        else:
            if stat.S_ISREG(status.st_mode):
                files.append((item, status))
                return
            reason = f"it is {describe_type(status.st_mode)}, not a file"
        is_known = is_files_name(item.name) or is_folders_name(item.name)
        severity = Severity.ERROR if is_known else Severity.INFO
        problems.append(EntryProblem(name=full, reason=reason, severity=severity))

    try:
        with os.scandir(path) as items:
            for item in items:
                if not is_files_name(item.name) and _is_folder(item):
                    folders.append(item.name)
                elif is_used_name(item.name) or is_folders_name(item.name):
                    look(item)
                else:
                    unknown.add(item)
    except OSError as error:
        hint = "run as the user that Kafka runs as" if error.errno == errno.EACCES else ""
        problems.append(EntryProblem(name=path, reason=_words(error), hint=hint))
    for item in unknown.listed():
        look(item)
    problems += unknown.problems()
    return files, folders, problems


def _is_folder(item: os.DirEntry[str]) -> bool:
    """True also for a link to a folder; one that cannot be followed is looked at as a file."""
    try:
        return item.is_dir()
    except OSError:
        return False


def _broken_link(path: str, error: OSError) -> str:
    """Return the problem of a symbolic link, or "" if the link is not broken."""
    if error.errno == errno.ELOOP:
        return "it is a symbolic link that leads back to itself"
    try:
        target = os.readlink(path)
    except OSError:
        return ""
    return f"it is a symbolic link to {target}: {error.strerror or error}"


def _words(error: OSError) -> str:
    return f"it cannot be read: {error.strerror or error}"


def _entry(
    directory: str, relative: str, path: str, place: EntryPlace, status: os.stat_result
) -> Entry:
    return Entry(
        directory=directory,
        path=relative,
        name=path,
        place=place,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        opener=_opener(path),
    )


def _opener(path: str) -> Callable[[], ByteSource]:
    return lambda: _opened(path)


def _opened(path: str) -> ByteSource:
    """Open a file. A `.lock` that this process holds is not opened, since closing it again would
    give the lock back; there is nothing in it."""
    return BytesSource(path, b"") if is_held_here(path) else FileSource(path)


def likely_directories(path: str) -> Iterator[str]:
    """Data directories directly below a folder, for a hint to who named the folder above."""
    try:
        with os.scandir(path) as items:
            names = sorted(item.name for item in items if item.is_dir())
    except OSError:
        return
    for name in names[:1000]:
        if looks_like_data_directory(os.path.join(path, name)):
            yield os.path.join(path, name)


_DEEPEST = 3
_MOST_FOLDERS = 5_000
_MOST_FOUND = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoriesBelow:
    """The data directories below a folder, and where there may be more."""

    directories: tuple[str, ...]
    is_whole: bool
    """False if a folder could not be read, or if there are too many."""
    links: tuple[str, ...]
    """Links to folders elsewhere. The search did not follow them."""


def data_directories_below(path: str) -> DirectoriesBelow:
    """Return the data directories below a folder, each once.

    It looks three folders deep, at a bounded number of folders, and into no data directory. It
    takes a link to a data directory, and follows no other link.
    """
    paths: list[str] = []
    links: list[str] = []
    level, left, is_whole = [path], _MOST_FOLDERS, True
    for _ in range(_DEEPEST):
        below: list[str] = []
        for folder in level:
            children = _folders_in(folder)
            is_whole = is_whole and children is not None and len(children) <= left
            for child in (children or ())[:left]:
                left -= 1
                if looks_like_data_directory(child):
                    paths.append(child)
                else:
                    (links if os.path.islink(child) else below).append(child)
        level = below
    directories = _each_once(paths)
    return DirectoriesBelow(
        directories=directories[:_MOST_FOUND],
        is_whole=is_whole and len(directories) <= _MOST_FOUND,
        links=tuple(link for link in links if _leads_away(link, path)),
    )


def _folders_in(path: str) -> list[str] | None:
    try:
        with os.scandir(path) as items:
            return sorted(item.path for item in items if os.path.isdir(item.path))
    except OSError:
        return None


def _each_once(paths: list[str]) -> tuple[str, ...]:
    """Return one path for each folder: a link only if it is the only one."""
    by_folder: dict[str, str] = {}
    for path in sorted(paths, key=os.path.islink):
        by_folder.setdefault(os.path.realpath(path), path)
    return tuple(by_folder.values())


def _leads_away(link: str, folder: str) -> bool:
    """True if a link leads neither into the folder nor to one above it."""
    inside, target = os.path.realpath(folder), os.path.realpath(link)
    return os.path.commonpath((inside, target)) not in (inside, target)
