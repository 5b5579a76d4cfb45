"""Kafka's `.lock` file, taken: as long as we run on a directory, no Kafka starts on it.

Owns the POSIX record lock that Kafka takes, on the same file in the same way. POSIX drops all of a
process's locks on a file when it closes any descriptor of it: nothing else in a process that holds
one may open the file (`lock.py`, which asks for others, looks here first).
"""

from __future__ import annotations

import errno
import fcntl
import os
from types import TracebackType
from typing import Self

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.files import give_to_owner

LOCK = ".lock"
_held: set[tuple[int, int]] = set()
"""Device and inode of what this process has locked; the system would grant it again."""


class DirectoryInUse(KraftoolError):
    """A directory that another process runs on."""


class DirectoryLock:
    """The lock of one data directory, from construction until `release`."""

    def __init__(self, directory: str) -> None:
        """Take it. Raises KraftoolError where another process has it, or this one."""
        self.path = os.path.join(directory, LOCK)
        self._descriptor = -1
        # In a process that has the lock, opening the file and closing it again would drop it.
        if is_held_here(self.path):
            raise KraftoolError(f"{directory} is in use: this process has its lock already")
        is_new = not os.path.exists(self.path)
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise KraftoolError(
                f"{self.path} cannot be opened: {error.strerror or error}"
            ) from error
        try:
            if is_new:
                give_to_owner(directory, descriptor)
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno not in (errno.EACCES, errno.EAGAIN):
                raise KraftoolError(
                    f"{self.path} cannot be locked: {error.strerror or error}"
                ) from error
            raise DirectoryInUse(
                f"{directory} is in use: another process holds its lock",
                hint="a Kafka or a kraftool node runs on it; stop that first",
            ) from error
        self._descriptor = descriptor
        self._identity = _identity(os.fstat(descriptor))
        _held.add(self._identity)

    @property
    def is_held(self) -> bool:
        return self._descriptor >= 0

    def release(self) -> None:
        """Give it back. The file stays, as Kafka leaves it."""
        if self._descriptor >= 0:
            _held.discard(self._identity)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def is_held_here(path: str) -> bool:
    """True if this process holds the lock on a file; the file is not opened for it."""
    try:
        return _identity(os.stat(path)) in _held
    except OSError:
        return False
