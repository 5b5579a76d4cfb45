"""Locks of data directories, as running nodes hold them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kraftool.storage.lock_taking import DirectoryLock

_HOLDER = (
    "import fcntl, sys; file = open(sys.argv[1], 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX);"
    "print('locked', flush=True); sys.stdin.read()"
)


def run_on(locks: ExitStack, *directories: Path) -> None:
    """Hold the locks until the stack is left. It is this process that has them."""
    for directory in directories:
        locks.callback(DirectoryLock(str(directory)).release)


@contextmanager
def held_by_another_process(lock: Path) -> Iterator[int]:
    """Have another process hold a lock's file; yields its process id."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        try:
            yield holder.pid
        finally:
            holder.stdin.close()
