"""Private temporary folders, and the end of those that a killed process left behind.

Owns their names and the lock by which a living owner is known. A folder of somebody else, one in
use, and one that was made a moment ago are left alone.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_YOUNG_S = 60.0
"""Between its making and its lock a folder looks like one that was left behind."""


@contextmanager
def private_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder that only its owner may read; it is removed in the end.

    Folders with the same prefix whose process was killed are removed first.
    """
    # Some reports show paths with links resolved.
    room = os.path.realpath(tempfile.gettempdir())
    sweep(room, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=room))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep(room: str, prefix: str) -> None:
    """Remove the folders of this user that no living process has."""
    try:
        with os.scandir(room) as dir_entries:
            left = [entry.path for entry in dir_entries if entry.name.startswith(prefix)]
    except OSError:
        return
    for path in left:
        with suppress(OSError):
            _remove_unused(path)


def _remove_unused(path: str) -> None:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(lock)
        if status.st_uid != os.getuid() or time.time() - status.st_mtime < _YOUNG_S:
            return
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
