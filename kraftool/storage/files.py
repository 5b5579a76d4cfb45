"""Every change that a running node makes on its disk goes through here.

Owns the few operations there are: write into a file, cut it, make it or a folder's names durable,
rename, unlink. A layer that records them can play back what a loss of power leaves. Reading goes by
the same descriptors, with pread and never by mapping.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys


class OpenFile:
    """One open file. Positions are the caller's business; nothing is appended by itself."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read_at(self, position: int, size: int) -> bytes:
        """Read `size` bytes at a position; fewer only where the file ends."""
        data = os.pread(self._descriptor, size, position)
        if len(data) == size or not data:
            return data
        pieces, have = [data], len(data)
        while have < size:
            data = os.pread(self._descriptor, size - have, position + have)
            if not data:
                break
            pieces.append(data)
            have += len(data)
        return b"".join(pieces)

    def write_at(self, position: int, data: bytes) -> None:
        """Write all of it, or raise OSError with some of it written."""
        done = os.pwrite(self._descriptor, data, position)
        while done < len(data):
            done += os.pwrite(self._descriptor, memoryview(data)[done:], position + done)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def sync(self) -> None:
        """Make the content durable. The name of a new file is its folder's to keep."""
        _sync(self._descriptor)

    def make_read_only(self) -> None:
        os.fchmod(self._descriptor, 0o400)

    def give(self, uid: int, gid: int, mode: int) -> None:
        """Make it somebody's, with these permissions."""
        status = os.fstat(self._descriptor)
        if (status.st_uid, status.st_gid) != (uid, gid):
            os.fchown(self._descriptor, uid, gid)
        if stat.S_IMODE(status.st_mode) != mode:
            os.fchmod(self._descriptor, mode)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class Files:
    """A disk."""

    def open(self, path: str) -> OpenFile:
        """Open a file that is there, to read and write."""
        return self.opened(path, os.open(path, os.O_RDWR | os.O_CLOEXEC))

    def open_to_read(self, path: str) -> OpenFile:
        return self.opened(path, os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def open_itself(self, path: str) -> OpenFile:
        """Open a file to read; OSError where the name is a link's, and no wait for a pipe's end."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        return self.opened(path, os.open(path, flags))

    def create(self, path: str, mode: int = 0o644) -> OpenFile:
        """Begin a file; whatever had this name is empty first. A link is not followed."""
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, mode)
        give_to_owner(os.path.dirname(path), descriptor)
        return self.opened(path, descriptor)

    def opened(self, path: str, descriptor: int) -> OpenFile:
        """Return what a descriptor is handed out as."""
        return OpenFile(path, descriptor)

    def make_folder(self, path: str, mode: int = 0o777) -> None:
        """Make one folder, durably, unless it is there."""
        try:
            os.mkdir(path, mode)
        except FileExistsError:
            return
        above = os.path.dirname(os.path.abspath(path))
        give_to_owner(above, path)
        self.sync_folder(above)

    def rename(self, source: str, target: str) -> None:
        """Give a file another name; whatever had that is gone."""
        os.rename(source, target)

    def unlink(self, path: str) -> None:
        """Remove a file, if it is there."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder, if it is there."""
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return

    def sync_folder(self, path: str) -> None:
        """Make the names in a folder durable: created, renamed and removed ones."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def names(self, folder: str) -> list[str]:
        """The regular files in a folder, in order."""
        with os.scandir(folder) as items:
            return sorted(item.name for item in items if item.is_file())

    def exists(self, path: str) -> bool:
        return os.path.exists(path)


def replace(files: Files, path: str, data: bytes) -> None:
    """Write a small file anew: after a crash at any moment it is the old one or the new one.

    When this returns it is durably the new one. The passing name is the one that Kafka uses.
    """
    passing = path + ".tmp"
    file = files.create(passing)
    try:
        file.write_at(0, data)
        file.sync()
    finally:
        file.close()
    files.rename(passing, path)
    files.sync_folder(os.path.dirname(path))


def read_whole(files: Files, path: str, limit: int) -> bytes | None:
    """The content of a small file, at most so much of it; None if there is none."""
    try:
        file = files.open_to_read(path)
    except FileNotFoundError:
        return None
    try:
        return file.read_at(0, limit)
    finally:
        file.close()


def give_to_owner(folder: str, created: int | str) -> None:
    """Give what root creates to the owner of the folder that it is in, or a Kafka that runs as
    somebody else could not go on with it."""
    if os.geteuid() == 0:
        owner = os.stat(folder or ".")
        os.chown(created, owner.st_uid, owner.st_gid)


def _sync(descriptor: int) -> None:
    if sys.platform == "darwin":  # fsync leaves the data in the drive's cache there
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)
