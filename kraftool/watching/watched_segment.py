"""One segment that may be gigabytes and grow: its newest end at once, its control records in time.

Owns where reading goes on. The end is found from the segment's offset index; what lies before is
looked through for control records in slices. A segment that was truncated meanwhile is begun again:
the header of the last batch that was seen is compared at each poll.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.indexes import decode_offset_index
from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.storage.entry import Entry
from kraftool.storage.source import ByteSource, read_whole
from kraftool.storage.tail import BatchMark

_TAIL = 1 << 20
"""A segment with less than this before its end is read from its beginning."""
_LARGEST_INDEX = 32 << 20
_SLICE = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSeen:
    """A control record, as far as watching needs it."""

    offset: int
    epoch: int
    timestamp: int
    type: str
    data: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class WatchedSegment:
    """The known part of one segment."""

    base_offset: int
    end_offset: int | None = None
    last_epoch: int | None = None
    last_timestamp: int | None = None
    controls: dict[int, ControlSeen] = field(default_factory=dict)
    _seen: tuple[int, int] | None = None
    """Size and time of the file at the last poll."""
    _last: BatchMark | None = None
    """The last batch that was read."""
    _position: int = 0
    """Up to where the end was read."""
    _before: tuple[int, int] = (0, 0)
    """What lies before and is not read yet: from, to."""
    _damage: int | None = None
    """The position of the damage at which reading the end stopped."""
    _is_settled: bool = True
    """False at the first poll that sees this damage while a node runs: it may be half a batch."""
    _damage_before: int | None = None
    """The position of the first damage in the part before."""

    @property
    def damaged_at(self) -> int | None:
        """The position of the first known damage, where Kafka would cut."""
        if self._damage_before is not None:
            return self._damage_before
        return self._damage if self._is_settled else None

    @property
    def is_complete(self) -> bool:
        return self._before[0] >= self._before[1]

    def read_more(self, entry: Entry, index: Entry | None, until: float, *, is_live: bool) -> None:
        """Read what is new, and of what is old as much as there is time for (a monotonic clock).

        `is_live` is whether a node runs on the directory. Raises KraftoolError where the file
        cannot be read.
        """
        stamp = (entry.size, entry.mtime_ns)
        is_first, before = self._seen is None, self._damage
        if stamp == self._seen and self.is_complete:
            self._is_settled = True
            return
        with entry.open() as source:
            if stamp != self._seen:
                if self._last is None or not self._last.is_in(source.read_at, entry.size):
                    self._begin(source, entry.size, index)
                self._read(source)
                self._seen = stamp
            self._is_settled = not is_live or is_first or self._damage == before
            while not self.is_complete and time.monotonic() < until:
                began, ended = self._before
                stop = min(began + _SLICE, ended)
                self._before = (max(self._read_before(source, began, stop), stop), ended)

    def _begin(self, source: ByteSource, size: int, index: Entry | None) -> None:
        self.controls.clear()
        self.end_offset = self.last_epoch = self.last_timestamp = None
        self._last = self._damage_before = None
        self._position = self._near_the_end(source, size, index)
        self._before = (0, self._position)

    def _near_the_end(self, source: ByteSource, size: int, index: Entry | None) -> int:
        """Return where a batch begins near the end, by the index; 0 if the index does not say."""
        if size <= _TAIL or index is None or index.size > _LARGEST_INDEX:
            return 0
        with index.open() as opened:
            offset_index, _ = decode_offset_index(read_whole(opened, limit=_LARGEST_INDEX), 0)
        if not len(offset_index):
            return 0
        position = offset_index.entry(len(offset_index) - 1).position
        if not 0 < position < size:
            return 0
        # An index may be wrong: only a sound batch at its position is evidence.
        first = next(iter(Walk(source.read_at, WalkState.at(position), stop=position + 1)), None)
        return position if isinstance(first, RecordBatch) else 0

    def _read(self, source: ByteSource) -> None:
        self._damage = None
        for run in Walk(source.read_at, WalkState.at(self._position)).runs():
            if isinstance(run, Faulty):
                if not run.fault.cuts:
                    continue
                # The next poll reads it again.
                self._damage = run.position
                return
            for batch in run:
                self._take(batch)
            last = run[-1]
            self._last = BatchMark.of("", last)
            self._position = last.position + last.size
            self.end_offset = last.last_offset + 1
            self.last_epoch = last.epoch
            self.last_timestamp = last.header.max_timestamp

    def _read_before(self, source: ByteSource, position: int, stop: int) -> int:
        walk = Walk(source.read_at, WalkState.at(position), stop=stop)
        for run in walk.runs():
            if not isinstance(run, Faulty):
                for batch in run:
                    self._take(batch)
            elif run.fault.cuts and self._damage_before is None:
                self._damage_before = run.position
        return walk.state.position

    def _take(self, batch: RecordBatch) -> None:
        if not batch.is_control:
            return
        try:
            for record in decode_batch(batch):
                if record.data is not None and record.error is None:
                    self.controls[record.record.offset] = ControlSeen(
                        offset=record.record.offset,
                        epoch=batch.epoch,
                        timestamp=record.record.timestamp,
                        type=record.type,
                        data=record.data,
                    )
        except DecodeError:
            return
