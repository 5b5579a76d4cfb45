"""A log that is still being written: where it grew, rolled, or was truncated under us.

Owns telling these apart. A new leader truncates a follower's log and other records take the place,
so size alone says little: the headers of the last batches are compared at each look. It refuses to
wait; whoever follows decides when to look again.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field

from kraftool.decoders.batch import HEADER_SIZE
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import segment_offset
from kraftool.storage.source import ByteSource, FileSource, cannot_open

_REMEMBERED = 1000
"""Batches that can be recognised after a truncation; one that goes deeper starts the file again."""


@dataclass(frozen=True, slots=True)
class SeenBatch:
    """A batch that was read, to be recognised at the next look."""

    position: int
    size: int
    header: bytes

    @classmethod
    def of(cls, position: int, data: bytes) -> SeenBatch:
        return cls(position, len(data), data[:HEADER_SIZE])

    @property
    def end(self) -> int:
        return self.position + self.size

    def is_in(self, source: ByteSource, size: int) -> bool:
        """True if it is still there, whole. A size says little: other records may be there now."""
        return self.end <= size and source.read_at(self.position, HEADER_SIZE) == self.header


@dataclass(frozen=True, slots=True)
class Grown:
    """A segment has bytes from `position` on that were not looked at yet."""

    path: str
    position: int


@dataclass(frozen=True, slots=True)
class Truncated:
    """What was seen from `position` on is no longer in the log."""

    path: str
    position: int


@dataclass(slots=True)
class _Seen:
    """What was seen of one segment: how far, and by which headers it is recognised."""

    position: int = 0
    looked: tuple[int, int, int] | None = None
    """Size and times of the file when it held nothing but what was seen."""
    batches: deque[SeenBatch] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class SegmentFollower:
    """Follows the segments of one folder, or one segment by itself."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: dict[str, _Seen] = {}

    def saw(self, path: str, position: int, data: bytes) -> None:
        """Take note of a batch that was shown: it begins at `position`."""
        seen = self._seen.setdefault(path, _Seen())
        seen.batches.append(SeenBatch.of(position, data))
        seen.position = seen.batches[-1].end

    def poll(self) -> list[Grown | Truncated]:
        """Look once; say what changed, in the order of the log."""
        changes: list[Grown | Truncated] = []
        present = self.segments()
        for path in [path for path in self._seen if path not in present]:
            # Segments go when they are cleaned (the oldest) or truncated away (the newest).
            is_newer = not present or path > present[-1]
            if is_newer and self._seen[path].position:
                changes.append(Truncated(path, 0))
            del self._seen[path]
        oldest = min(self._seen, default="")
        # Sizes are asked for after the listing: Kafka no longer appends to a segment once there is
        # a next one, so whoever reads up to the next one has all of this one.
        for path in present:
            if path < oldest:
                continue
            seen = self._seen.setdefault(path, _Seen())
            try:
                stamp = _stamp(path)
                # Old segments hardly change; the newest is looked into each time, as two writes
                # within one tick of the file system's clock leave the same times.
                if path != present[-1] and stamp == seen.looked:
                    continue
                with FileSource(path) as source:
                    found = self._look(path, source, seen)
            except FileNotFoundError:
                continue  # it went between the listing and now; the next look tells
            except OSError as error:
                raise cannot_open(path, error) from error
            except KraftoolError:
                if os.path.exists(path):
                    raise
                continue
            seen.looked = None if found else stamp
            changes += found
        return changes

    def _look(self, path: str, source: FileSource, seen: _Seen) -> list[Grown | Truncated]:
        changes: list[Grown | Truncated] = []
        size, kept = source.size(), seen.position
        while seen.batches:
            if seen.position <= size and seen.batches[-1].is_in(source, size):
                break
            last = seen.batches.pop()
            seen.position = last.position if seen.batches else 0
        if seen.position < kept:
            changes.append(Truncated(path, seen.position))
        if size > seen.position:
            changes.append(Grown(path, seen.position))
        return changes

    def segments(self) -> list[str]:
        """The segments that there are now, in the order of the log."""
        if not os.path.isdir(self._path):
            return [self._path] if os.path.exists(self._path) else []
        try:
            names = os.listdir(self._path)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise cannot_open(self._path, error) from error
        segments = (each for each in names if segment_offset(each) is not None)
        return sorted(os.path.join(self._path, each) for each in segments)


def _stamp(path: str) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
