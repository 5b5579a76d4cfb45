"""Kafka's `.lock` file, looked at and never taken.

Kafka holds a POSIX record lock on it while it runs. A reader that took the lock, even for a
moment, could stop a Kafka that is starting, so F_GETLK only asks who holds it. A lock that another
host holds on a shared file system may not show.

A process that holds the lock itself (`lock_taking.py`) does not ask the system: POSIX drops all of
a process's locks on a file when it closes any descriptor of that file, and F_GETLK does not tell a
process its own locks.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import sys
from dataclasses import dataclass
from enum import StrEnum

from kraftool.storage.lock_taking import LOCK, is_held_here

_LONGEST_COMMAND = 1 << 20
"""A class path is long; the main class comes after it."""


class LockState(StrEnum):
    """The evidence of the lock about a running Kafka."""

    HELD = "held"
    FREE = "free"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Lock:
    """Kafka's .lock; it is held while a Kafka runs on the directory."""

    state: LockState
    pid: int | None = None
    """None where it is not held, or not known by whom: a process of another container or host."""

    @property
    def holder(self) -> str:
        """Return who it is, as far as the process tells: `Kafka as process 17`."""
        words = program_of(self.pid) or "Kafka or kraftool"
        return f"{words} as process {self.pid}" if self.pid else words


def program_of(pid: int | None) -> str:
    """`Kafka`, `kraftool`, or nothing where the command line of the process says neither."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(_LONGEST_COMMAND).split(b"\0")
    except OSError:
        return ""
    if any(word in (b"kafka.Kafka", b"kafka.docker.KafkaDockerWrapper") for word in words):
        return "Kafka"
    # `kraftool` itself, or `python -m kraftool`.
    is_ours = any(os.path.basename(word) == b"kraftool" for word in words[:4])
    return "kraftool" if is_ours else ""


def lock_holder(directory: str) -> Lock:
    """Ask who holds a data directory's lock."""
    path = os.path.join(directory, LOCK)
    if is_held_here(path):
        return Lock(LockState.HELD, os.getpid())
    try:
        # NONBLOCK: a pipe of that name must not make us wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return Lock(LockState.MISSING)
    except OSError:
        return Lock(LockState.UNKNOWN)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return Lock(LockState.UNKNOWN)
        return _ask(descriptor)
    except OSError:
        return Lock(LockState.UNKNOWN)
    finally:
        os.close(descriptor)


def _ask(descriptor: int) -> Lock:
    """Ask "could I write-lock all of it?", which the lock that stands in the way answers."""
    # `struct flock` with 64-bit offsets, as Python is built to use; its order is the system's.
    if sys.platform == "linux":
        flock = struct.Struct("@hhqqi0q")
        asked = flock.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = flock.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    elif sys.platform == "darwin":
        flock = struct.Struct("@qqihh")
        asked = flock.pack(0, 0, 0, fcntl.F_WRLCK, os.SEEK_SET)
        _, _, pid, kind, _ = flock.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    else:
        return Lock(LockState.UNKNOWN)
    if kind == fcntl.F_UNLCK:
        return Lock(LockState.FREE)
    return Lock(LockState.HELD, pid if pid > 0 else None)
