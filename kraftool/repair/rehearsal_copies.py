"""Copies of data directories, on which a plan is rehearsed.

Owns that the originals are only read: no lock is taken there, nothing is linked (what a copy shares
with its original could be changed through it), and nothing is followed that is a link. Of a
directory that is copied which a plan can name, and what an earlier plan left; topics are not. The
copies hold what the originals do, secrets too, so that they can be read by their owner only.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import BOOTSTRAP_CHECKPOINT, META_PROPERTIES, METADATA_FOLDER
from kraftool.repair.backup import FOLDER
from kraftool.repair.disk import DataDirectory, RepairRefused, reading
from kraftool.repair.hosts import host_for
from kraftool.repair.plan import DirectoryIdentity, HostPlan, Plan
from kraftool.storage.files import Files
from kraftool.storage.lock import LockState, lock_holder

Progress = Callable[[str, int, int], None]
_CHUNK = 8 << 20
_ROOM = 64 << 20
"""For what nodes write that run on the copies."""
_IN_PLACE_OF_A_COPY = frozenset({errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
"""The kernel does not copy between these two files itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """A directory that takes part."""

    name: str
    """Of the host in the plan; of the node, where the plan only says that it stays off."""
    path: str
    """The original's."""
    identity: DirectoryIdentity
    host: HostPlan | None = None
    """The plan's part for it."""
    is_quarantined: bool = False
    is_running: bool = False
    """True if a process held its lock: the copy is then of a moment, and not of a directory."""
    copy: str = ""

    @property
    def node_id(self) -> int | None:
        return self.identity.node_id


def named_directory(path: str) -> tuple[str, str]:
    """The host and the directory of `HOST=DIR`; an empty host for `DIR`."""
    name, mark, rest = path.partition("=")
    is_named = bool(mark and name) and "/" not in name and not os.path.exists(path)
    return (name, rest) if is_named else ("", path)


def find_rehearsed(plan: Plan, paths: Sequence[str]) -> tuple[Rehearsed, ...]:
    """Return which part of the plan each directory is: `DIR`, or `HOST=DIR` where its files do not
    tell.

    Raises RepairRefused for one that is neither a host's of the plan nor of its quarantine.
    """
    by_name: dict[str, Rehearsed] = {}
    for path in paths:
        name, directory = named_directory(path)
        part = _rehearsed(plan, directory, name)
        if part.name in by_name:
            raise RepairRefused(
                f"{part.path} and {by_name[part.name].path} are both {part.name} of the plan",
                hint="give only one of them",
            )
        by_name[part.name] = part
    return tuple(by_name.values())


def _rehearsed(plan: Plan, path: str, name: str) -> Rehearsed:
    directory = DataDirectory(Files(), path)
    with reading(path):
        identity = directory.identity()
        running = lock_holder(directory.path).state is LockState.HELD
        old = any(
            node.node_id == identity.node_id and node.directory_id in ("", identity.directory_id)
            for node in plan.quarantine
        )
        try:
            host = host_for(plan, directory, name)
        except RepairRefused:
            if not old or name:
                raise
            return Rehearsed(
                name=f"old-node-{identity.node_id}",
                path=path,
                identity=identity,
                is_quarantined=True,
                is_running=running,
            )
    return Rehearsed(
        name=host.name,
        path=path,
        identity=identity,
        host=host,
        is_quarantined=old,
        is_running=running,
    )


# --- where ------------------------------------------------------------------------------------


@contextmanager
def workplace(keep: str, originals: Sequence[str]) -> Iterator[str]:
    """A folder for the copies: a temporary one that is gone afterwards, or one that stays."""
    if not keep:
        folder = tempfile.mkdtemp(prefix="kraftool-rehearse-")
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    place = os.path.realpath(keep)
    for original in originals:
        if os.path.commonpath([place, os.path.realpath(original)]) == os.path.realpath(original):
            raise RepairRefused(f"{keep} is in {original}, and nothing is written there")
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
        if os.listdir(place):
            raise RepairRefused(f"{keep} is not empty", hint="name a new folder")
        os.chmod(place, 0o700)
    except OSError as error:
        raise KraftoolError(f"{keep}: {error.strerror}") from error
    yield place


# --- copying ----------------------------------------------------------------------------------


def copy_all(
    rehearsed: Sequence[Rehearsed], folder: str, progress: Progress = lambda *_: None
) -> tuple[Rehearsed, ...]:
    """Copy every directory into the folder. Raises KraftoolError where there is too little room."""
    wanted = []
    for directory in rehearsed:
        with reading(directory.path):
            wanted.append(list(_files(DataDirectory(Files(), directory.path))))
    sizes = [sum(size for _, size in files) for files in wanted]
    changed = [size for directory, size in zip(rehearsed, sizes, strict=True)
               if directory.host is not None and directory.host.edits]  # fmt: skip
    needed = sum(sizes) + 2 * sum(changed) + _ROOM
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if free < needed:
        raise KraftoolError(
            f"{folder} has {free} bytes free, but {needed} are needed for the copies",
            hint="name a folder with more space with --keep, or set TMPDIR",
        )
    done, total, copied = 0, sum(sizes), []
    for directory, files in zip(rehearsed, wanted, strict=True):
        target = os.path.join(folder, directory.name)
        source = os.path.realpath(directory.path)
        with _writing(folder):
            os.makedirs(os.path.join(target, METADATA_FOLDER), mode=0o700)
        for name, size in files:
            progress(f"copying {directory.name}", done, total)
            with reading(directory.path):
                descriptor = _opened(os.path.join(source, name))
            try:
                _copy(descriptor, os.path.join(target, name), folder)
            finally:
                os.close(descriptor)
            done += size
        copied.append(replace(directory, copy=target))
    progress("copied", total, total)
    return tuple(copied)


def _files(directory: DataDirectory) -> Iterator[tuple[str, int]]:
    """Yield what is copied, below the directory, with sizes."""
    for name in (META_PROPERTIES, BOOTSTRAP_CHECKPOINT):
        if os.path.lexists(os.path.join(directory.path, name)):
            yield name, _size(os.path.join(directory.path, name))
    if not os.path.isdir(directory.partition):
        return
    for entry in sorted(os.scandir(directory.partition), key=lambda entry: entry.name):
        if not entry.is_dir(follow_symlinks=False):
            yield os.path.join(METADATA_FOLDER, entry.name), _size(entry.path)
    for place, folders, names in os.walk(os.path.join(directory.partition, FOLDER)):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            yield os.path.relpath(path, directory.path), _size(path)


def _size(path: str) -> int:
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "not a regular file"
        raise RepairRefused(f"{path} is {kind}: kraftool neither reads nor copies it")
    return status.st_size


def _opened(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)


def _copy(source: int, target: str, folder: str) -> None:
    """The bytes that there were in the beginning; a file system that can shares them."""
    left, in_kernel = os.fstat(source).st_size, hasattr(os, "copy_file_range")
    with _writing(folder):
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with open(target, "xb", buffering=0, opener=_private) as file:
            while left > 0:
                try:
                    if in_kernel:
                        size = os.copy_file_range(source, file.fileno(), min(left, _CHUNK))
                    else:
                        size = file.write(os.read(source, min(left, 1 << 20)))
                except OSError as error:
                    if not in_kernel or error.errno not in _IN_PLACE_OF_A_COPY:
                        raise
                    in_kernel = False
                    continue
                if not size:
                    break  # it became shorter meanwhile
                left -= size


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


@contextmanager
def _writing(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise KraftoolError(f"{error.filename or folder}: {error.strerror or error}") from error
