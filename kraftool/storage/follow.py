"""A log on this machine's disk, followed by a process that stays: its folder, read again and again.

Owns listing the segments and opening them; `tail.py` judges what is new in them. It refuses to
wait; the caller decides when to read again.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from functools import cache

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import segment_offset
from kraftool.decoders.segment import ReadAt
from kraftool.storage.source import FileSource, cannot_open
from kraftool.storage.tail import BatchMark, ListedSegment, TailRead, TailState, read_tail, thinned

_LATEST = 1000
"""Batches that are all recognised after a truncation: a process has room for them."""


class SegmentFollower:
    """Follows the segments of one folder, or one segment by itself."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._state = TailState()
        self._marks: list[BatchMark] = []
        """Of batches that were read before the first read."""

    def saw(self, path: str, batch: RecordBatch) -> None:
        """Take note of a sound batch that was read: a read begins behind the last one."""
        number = self._marks[-1].number + 1 if self._marks else 0
        self._marks.append(BatchMark.of(os.path.basename(path), batch, number))
        if len(self._marks) > 2 * _LATEST:
            self._marks = thinned(self._marks, _LATEST)

    def poll(self) -> TailRead:
        """Read once."""
        if self._marks:
            last = self._marks[-1]
            self._state = replace(
                self._state,
                segment=last.segment,
                position=last.end,
                offset=last.next_offset,
                epoch=last.header.partition_leader_epoch,
                marks=tuple(thinned(self._marks, _LATEST)),
            )
            self._marks = []
        paths = self.segments()
        with ExitStack() as opened:
            # Sizes are asked for after the listing: Kafka no longer appends to a segment once there
            # is a next one, so whoever reads up to the next one has all of this one.
            try:
                new_read = read_tail(
                    self._state, [_listed(path, opened) for path in paths], latest=_LATEST
                )
            except (OSError, KraftoolError) as error:
                if not all(map(os.path.exists, paths)):
                    return TailRead(
                        self._state
                    )  # one went since the listing; the next read shows it
                if isinstance(error, OSError):
                    raise cannot_open(self._path, error) from error
                raise
        self._state = new_read.state
        return new_read

    def path_of(self, segment: str) -> str:
        """Return where a segment lies."""
        if os.path.basename(self._path) == segment:
            return self._path
        return os.path.join(self._path, segment)

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
        segments = (name for name in names if segment_offset(name) is not None)
        return sorted(os.path.join(self._path, segment) for segment in segments)


def _listed(path: str, opened: ExitStack) -> ListedSegment:
    """A segment that is opened once it is read."""

    @cache
    def source() -> FileSource:
        return opened.enter_context(FileSource(path))

    def read_at(position: int, size: int) -> bytes:
        return source().read_at(position, size)

    reader: ReadAt = read_at
    name = os.path.basename(path)
    return ListedSegment(
        name=name,
        base_offset=segment_offset(name) or 0,
        size=os.stat(path).st_size,
        read_at=reader,
    )
