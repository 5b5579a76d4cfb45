"""One segment on the disk: the log file that grows, and the two indexes that grow with it.

Owns where batches lie in the file and what the indexes say of them, entry for entry as Kafka's
LogSegment does; that the indexes are not preallocated is the one difference, and Kafka's own are
cut to the same when it closes them. It refuses to judge batches: who appends has done so.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from struct import Struct

from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD
from kraftool.decoders.indexes import OFFSET_ENTRY_SIZE, TIME_ENTRY_SIZE
from kraftool.decoders.java_text import INT32_MAX
from kraftool.decoders.names import SEGMENT_SUFFIXES, write_segment_name
from kraftool.storage.files import Files, OpenFile

LOG, INDEX, TIME_INDEX = ".log", ".index", ".timeindex"

_OFFSET_ENTRY = Struct(">ii")
_TIME_ENTRY = Struct(">qi")
_HEAD = Struct(">qi11xi")
"""Base offset, length and, in the fields that follow, the delta of the last offset."""


@dataclass(frozen=True, slots=True)
class BatchPlace:
    """A batch in a segment."""

    base_offset: int
    last_offset: int
    position: int
    size: int


@dataclass(slots=True)
class IndexEntries:
    """The content of both indexes of a segment, and what decides about the next entry."""

    offsets: array[int] = field(default_factory=lambda: array("q"))
    positions: array[int] = field(default_factory=lambda: array("q"))
    timestamps: array[int] = field(default_factory=lambda: array("q"))
    time_offsets: array[int] = field(default_factory=lambda: array("q"))
    largest_timestamp: int = -1
    largest_at: int = -1
    """The last offset of the batch with the largest timestamp."""
    since_entry: int = 0
    """Bytes since the batch that the last entry names began."""

    def add(
        self, last_offset: int, timestamp: int, position: int, size: int, interval: int
    ) -> None:
        """Take note of a batch; entries come when more than an interval of bytes went by."""
        if timestamp > self.largest_timestamp:
            self.largest_timestamp, self.largest_at = timestamp, last_offset
        if self.since_entry > interval:
            self.offsets.append(last_offset)
            self.positions.append(position)
            self.add_time()
            self.since_entry = 0
        self.since_entry += size

    def add_time(self) -> None:
        """Note the largest timestamp, unless it stands there."""
        last = self.timestamps[-1] if self.timestamps else -1
        if self.largest_timestamp > last:
            self.timestamps.append(self.largest_timestamp)
            self.time_offsets.append(self.largest_at)

    def position_before(self, offset: int) -> int:
        """A position at which a batch begins, at or before the one that contains an offset."""
        at = bisect_right(self.offsets, offset)
        return self.positions[at - 1] if at else 0

    def truncate(self, offset: int) -> None:
        """Drop the entries for an offset and what follows."""
        kept = bisect_left(self.offsets, offset)
        del self.offsets[kept:], self.positions[kept:]
        kept = bisect_left(self.time_offsets, offset)
        del self.timestamps[kept:], self.time_offsets[kept:]

    def encoded_offsets(self, base_offset: int, first: int = 0) -> bytes:
        pairs = zip(self.offsets[first:], self.positions[first:], strict=True)
        return b"".join(_OFFSET_ENTRY.pack(offset - base_offset, at) for offset, at in pairs)

    def encoded_times(self, base_offset: int, first: int = 0) -> bytes:
        pairs = zip(self.timestamps[first:], self.time_offsets[first:], strict=True)
        return b"".join(
            _TIME_ENTRY.pack(timestamp, offset - base_offset) for timestamp, offset in pairs
        )


class Segment:
    """A segment whose files are open."""

    def __init__(
        self, files: Files, folder: str, base_offset: int, log: OpenFile, interval: int
    ) -> None:
        self.files, self.folder, self.base_offset = files, folder, base_offset
        self.log = log
        self.interval = interval
        self.size = 0
        self.next_offset = base_offset
        self.entries = IndexEntries()
        self.first_timestamp: int | None = None
        self.is_flushed = True
        self._indexes: tuple[OpenFile, OpenFile] | None = None
        self._written = (0, 0)
        """How many entries of either index are on the disk."""

    @classmethod
    def create(cls, files: Files, folder: str, base_offset: int, interval: int) -> Segment:
        """Begin an empty one, whose name is durable. Files of that name are emptied."""
        log = files.create(_path(folder, base_offset, LOG))
        segment = cls(files, folder, base_offset, log, interval)
        segment.write_indexes()
        files.sync_folder(folder)
        return segment

    def path(self, suffix: str = LOG) -> str:
        return _path(self.folder, self.base_offset, suffix)

    # Growing

    def note(self, last_offset: int, timestamp: int, size: int) -> None:
        """Take a batch into account that lies at the end of the file, or will."""
        if self.first_timestamp is None:
            self.first_timestamp = timestamp
        self.entries.add(last_offset, timestamp, self.size, size, self.interval)
        self.size += size
        self.next_offset = last_offset + 1

    def write(self, position: int, data: bytes) -> None:
        """Write batches that were noted, and the entries that they brought."""
        self.is_flushed = False
        self.log.write_at(position, data)
        entries, (offsets, times) = self.entries, self._written
        if len(entries.offsets) > offsets or len(entries.timestamps) > times:
            index, time_index = self._opened_indexes()
            new = entries.encoded_offsets(self.base_offset, offsets)
            index.write_at(offsets * OFFSET_ENTRY_SIZE, new)
            new = entries.encoded_times(self.base_offset, times)
            if new:
                time_index.write_at(times * TIME_ENTRY_SIZE, new)
            self._written = (len(entries.offsets), len(entries.timestamps))

    def wants_roll(
        self,
        size: int,
        last_offset: int,
        timestamp: int,
        *,
        segment_bytes: int,
        segment_ms: int,
        index_bytes: int,
    ) -> bool:
        """True if a batch belongs into the next segment. A first one never does."""
        if not self.size:
            return False
        assert self.first_timestamp is not None, "a segment with a batch has a first one"
        waited = timestamp - self.first_timestamp if self.first_timestamp >= 0 else 0
        return (
            self.size > segment_bytes - size
            or waited > segment_ms
            or len(self.entries.offsets) >= index_bytes // OFFSET_ENTRY_SIZE
            or len(self.entries.timestamps) >= index_bytes // TIME_ENTRY_SIZE - 1
            or last_offset - self.base_offset > INT32_MAX
        )

    def flush(self) -> None:
        """Make the batches durable. The indexes are made anew from them at every start."""
        if not self.is_flushed:
            self.log.sync()
            self.is_flushed = True

    # Reading

    def find(self, offset: int) -> BatchPlace | None:
        """The batch that contains an offset; None where the segment ends before it."""
        position = self.entries.position_before(offset)
        while position < self.size:
            chunk = self.log.read_at(position, min(self.size - position, self.interval + 4096))
            at = 0
            while at + HEADER_SIZE <= len(chunk):
                base_offset, length, delta = _HEAD.unpack_from(chunk, at)
                if base_offset + delta >= offset:
                    size = LOG_OVERHEAD + length
                    return BatchPlace(base_offset, base_offset + delta, position + at, size)
                at += LOG_OVERHEAD + length
            if not at:
                break
            position += at
        return None

    def read(self, offset: int, max_bytes: int, below: int | None) -> bytes:
        """Whole batches from the one that contains an offset on; the first however large it is."""
        first = self.find(offset)
        if first is None or (below is not None and first.last_offset >= below):
            return b""
        wanted = min(max(max_bytes, first.size), self.size - first.position)
        data = self.log.read_at(first.position, wanted)
        end = first.size
        while end + HEADER_SIZE <= len(data):
            base_offset, length, delta = _HEAD.unpack_from(data, end)
            following = end + LOG_OVERHEAD + length
            if following > len(data) or (below is not None and base_offset + delta >= below):
                break
            end = following
        return data[:end]

    # Shrinking, ending

    def truncate(self, place: BatchPlace) -> None:
        """Drop a batch and all that follows, durably: what is written next must not be followed by
        what was there before, should the power fail."""
        self.log.truncate(place.position)
        self.log.sync()
        self.is_flushed = True
        entries = self.entries
        entries.truncate(place.base_offset)
        self.size, self.next_offset = place.position, place.base_offset
        self.find_largest_timestamp()
        self.write_indexes()

    def find_largest_timestamp(self) -> None:
        """Look again at what lies behind the last entries."""
        entries = self.entries
        entries.since_entry = self.size - (entries.positions[-1] if entries.positions else 0)
        entries.largest_timestamp = entries.largest_at = -1
        if not self.size:
            self.first_timestamp = None
            return
        if entries.timestamps:
            entries.largest_timestamp = entries.timestamps[-1]
            entries.largest_at = entries.time_offsets[-1]
        position = entries.position_before(entries.largest_at)
        while position < self.size:
            head = self.log.read_at(position, HEADER_SIZE)
            base_offset, length, delta = _HEAD.unpack_from(head)
            timestamp = int.from_bytes(head[35:43], "big", signed=True)
            if timestamp > entries.largest_timestamp:
                entries.largest_timestamp, entries.largest_at = timestamp, base_offset + delta
            position += LOG_OVERHEAD + length

    def write_indexes(self) -> bool:
        """Have both indexes on the disk as they are in memory; say if one was otherwise."""
        changed = False
        entries = self.entries
        for file, data in zip(
            self._opened_indexes(),
            (entries.encoded_offsets(self.base_offset), entries.encoded_times(self.base_offset)),
            strict=True,
        ):
            if file.read_at(0, len(data) + 1) != data:
                file.truncate(len(data))
                file.write_at(0, data)
                changed = True
        self._written = (len(entries.offsets), len(entries.timestamps))
        return changed

    def end(self) -> None:
        """Nothing is appended any more: the largest timestamp gets its entry, as in Kafka."""
        self.entries.add_time()
        self.write_indexes()

    def close(self) -> None:
        for file in (self.log, *(self._indexes or ())):
            file.close()
        self._indexes = None

    def remove(self) -> None:
        """Unlink it, durably; the log first, since without it the rest is nothing."""
        self.close()
        for suffix in SEGMENT_SUFFIXES:
            self.files.unlink(self.path(suffix))
        self.files.sync_folder(self.folder)

    def mark_deleted(self) -> list[str]:
        """Rename it to what Kafka no longer reads, durably; the names that are left to unlink."""
        self.close()
        marked = []
        for suffix in SEGMENT_SUFFIXES:
            path = self.path(suffix)
            if self.files.exists(path):
                self.files.rename(path, path + ".deleted")
                marked.append(path + ".deleted")
        self.files.sync_folder(self.folder)
        return marked

    def _opened_indexes(self) -> tuple[OpenFile, OpenFile]:
        if self._indexes is None:
            index, time_index = (
                self.files.open(path) if self.files.exists(path) else self.files.create(path)
                for path in (self.path(INDEX), self.path(TIME_INDEX))
            )
            self._indexes = (index, time_index)
        return self._indexes


def _path(folder: str, base_offset: int, suffix: str) -> str:
    return os.path.join(folder, write_segment_name(base_offset, suffix))
