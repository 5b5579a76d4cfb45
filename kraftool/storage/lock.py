"""Kafka's `.lock` file, looked at and never taken.

Kafka holds a POSIX record lock on it while it runs. A reader that took the lock, even for a
moment, could stop a Kafka that is starting, so F_GETLK only asks who holds it. A lock that another
host holds on a shared file system may not show.
"""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders.errors import KraftoolError

_FLOCK = "hhqqi4x" if struct.calcsize("P") == 8 else "hhlli"


class LockState(StrEnum):
    """What the lock says about a running Kafka."""

    HELD = "held"
    FREE = "free"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Lock:
    """The state of a directory's lock, and who holds it where that is known."""

    state: LockState
    pid: int | None = None


def lock_holder(directory: str) -> Lock:
    """Ask who holds a data directory's lock."""
    path = os.path.join(directory, ".lock")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return Lock(LockState.MISSING)
    except OSError:
        return Lock(LockState.UNKNOWN)
    try:
        # "Could I write-lock all of it?" answers with the lock that stands in the way.
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    except (OSError, KraftoolError):
        return Lock(LockState.UNKNOWN)
    finally:
        os.close(descriptor)
    return Lock(LockState.FREE) if kind == fcntl.F_UNLCK else Lock(LockState.HELD, pid or None)
