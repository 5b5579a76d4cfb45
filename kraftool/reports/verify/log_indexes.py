"""A segment's indexes against its batches, while these pass.

Owns the rules: where an entry may point, and which offset and time it may name. It refuses entries
that are wrong by themselves, which the decoder tells, and anything behind the first damage of the
segment. Entries are taken one by one, so that memory is the index's own size.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator

from kraftool.decoders.indexes import (
    OFFSET_ENTRY_SIZE,
    OffsetIndex,
    OffsetPosition,
    TimeIndex,
    TimestampOffset,
)
from kraftool.reports.files.finding_limits import FileFindings
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import log as log_kinds

MOST_TRACED = 500_000
"""Batches of a stream that are kept for indexes which come behind their segments, in all."""


class _Fitting:
    """The entries of an index that fit, and those that do not.

    Kafka cuts an index by its count of entries and leaves their bytes; when it closes, the file is
    cut to the count. So what a truncation left behind stands behind all that fits, and the file has
    its preallocated space, unless a copy of it was cut.
    """

    def __init__(self, *, is_preallocated: bool) -> None:
        self.is_preallocated = is_preallocated
        self._first_wrong: int | None = None
        self._last_right = -1

    def right(self, offset: int) -> None:
        self._last_right = max(self._last_right, offset)

    def wrong(self, offset: int) -> None:
        if self._first_wrong is None or offset < self._first_wrong:
            self._first_wrong = offset

    @property
    def may_be_left(self) -> bool:
        """True if all that is wrong can be what a truncation left."""
        wrong = self._first_wrong
        return wrong is not None and wrong > self._last_right


_GAP = 16 << 10
"""Kafka 4 writes an entry with the first batch that begins more than 4 KiB after the one before. A
start and a truncation let it count from 0 again."""
_COPIED_APART = 1 << 20


class _Gap:
    """The longest part of a segment without an entry; the batch of an entry counts with none."""

    def __init__(self) -> None:
        self.size, self.offset, self.entry = 0, 0, 0
        self._start: tuple[int, int] | None = None
        self._is_first = True

    def batch(self, position: int, base: int, entry: int, *, has_entry: bool) -> None:
        if has_entry or self._is_first:
            self._start, self._is_first = None, False
            return
        if self._start is None:
            self._start = (position, base)
        start, offset = self._start
        if position - start > self.size:
            self.size, self.offset, self.entry = position - start, offset, entry


class OffsetIndexCheck:
    """`.index`: a batch begins at each position, and one from there on ends with the offset.

    The two need not be of one batch: before Kafka 4 a follower's append of several batches made an
    entry of the first one's position and the last one's offset.
    """

    def __init__(self, name: str, index: OffsetIndex) -> None:
        self.findings = FileFindings(name)
        self.fitting = _Fitting(is_preallocated=index.zero_tail > 0)
        self._entries: Iterator[OffsetPosition] = index.entries()
        self._next = next(self._entries, None)
        self._open: deque[OffsetPosition] = deque()
        self._last = -1
        self._taken = 0
        self._gap = _Gap()

    def batch(self, position: int, base: int, last: int, timestamp: int) -> None:
        entry = self._next
        while entry is not None and entry.position <= position:
            if entry.position <= self._last:
                pass
            elif entry.position < position:
                self._wrong(entry, "the entry points into the middle of a batch", position)
            elif entry.offset < base:
                self._wrong(entry, f"the batch there begins at offset {base}", position)
            else:
                self._open.append(entry)
            self._last = max(self._last, entry.position)
            self._taken += 1
            entry = self._next = next(self._entries, None)
        self._gap.batch(position, base, self._taken, has_entry=self._last == position)
        opened = self._open
        while opened and opened[0].offset <= last:
            offset_position = opened.popleft()
            if offset_position.offset != last:
                self._wrong(
                    offset_position, f"no batch ends with that offset, one ends with {last}"
                )
            else:
                self.fitting.right(last)

    def end(self, *, whole: bool) -> None:
        """The segment ends; with damage in it, what is left cannot be judged."""
        if not whole:
            return
        for entry in self._open:
            self._wrong(entry, "no batch of the segment reaches that offset")

    def short(self) -> Finding | None:
        """Return that entries are missing, for an index whose entries are all right.

        A file that is preallocated belongs to a running Kafka, or is a copy of its file, which may
        be older than the copy of the log.
        """
        gap = self._gap
        most = _COPIED_APART if self.fitting.is_preallocated else _GAP
        if gap.size <= most or self.findings.all():
            return None
        return log_kinds.INDEX_DIFFERS.at(
            self.findings.file,
            f"no entry points to {gap.size} bytes of the segment from this offset on",
            position=gap.entry * OFFSET_ENTRY_SIZE,
            offset=gap.offset,
            expected="an entry for about every 4096 bytes",
            found="a longer gap",
            severity=Severity.INFO,
            advice="nothing to do: Kafka recreates the index when it starts",
        )

    def _wrong(self, entry: OffsetPosition, text: str, position: int | None = None) -> None:
        self.fitting.wrong(entry.offset)
        self.findings.add(
            log_kinds.INDEX_DIFFERS,
            text,
            offset=entry.offset,
            field="position" if position is not None else "offset",
            found=str(entry.position if position is not None else entry.offset),
        )


class TimeIndexCheck:
    """`.timeindex`: the batch with the offset has the time, and none before it is younger."""

    def __init__(self, name: str, index: TimeIndex) -> None:
        self.findings = FileFindings(name)
        self.fitting = _Fitting(is_preallocated=index.zero_tail > 0)
        self._entries: Iterator[TimestampOffset] = index.entries()
        self._next = next(self._entries, None)
        self._youngest = -1

    def batch(self, position: int, base: int, last: int, timestamp: int) -> None:
        entry = self._next
        while entry is not None and entry.offset <= last:
            if entry.offset >= base:
                if entry.timestamp != timestamp:
                    self._wrong(entry, "the batch of that offset has another time", timestamp)
                elif entry.timestamp < self._youngest:
                    self._wrong(entry, "a batch before it is younger", self._youngest)
                else:
                    self.fitting.right(entry.offset)
            entry = self._next = next(self._entries, None)
        self._youngest = max(self._youngest, timestamp)

    def end(self, *, whole: bool) -> None:
        if whole and self._next is not None:
            text = "no batch of the segment reaches that offset"
            offset = self._next.offset
            self.fitting.wrong(offset)
            self.findings.add(
                log_kinds.INDEX_DIFFERS, text, offset=offset, field="offset", found=str(offset)
            )

    def _wrong(self, entry: TimestampOffset, text: str, timestamp: int) -> None:
        self.fitting.wrong(entry.offset)
        self.findings.add(
            log_kinds.INDEX_DIFFERS,
            text,
            offset=entry.offset,
            field="timestamp",
            expected=str(timestamp),
            found=str(entry.timestamp),
        )


class Trace:
    """The batches of a segment, kept while there is room, for an index that comes later."""

    def __init__(self, room: int) -> None:
        self._values = array("q")
        self._room = 4 * room
        self.is_whole = True
        self.has_damage = False

    def batch(self, position: int, base: int, last: int, timestamp: int) -> None:
        if len(self._values) >= self._room:
            self.is_whole = False
        else:
            self._values.extend((position, base, last, timestamp))

    def __len__(self) -> int:
        return len(self._values) // 4

    def show(self, check: OffsetIndexCheck | TimeIndexCheck) -> None:
        """Let an index check see what passed."""
        values = self._values
        for at in range(0, len(values), 4):
            check.batch(values[at], values[at + 1], values[at + 2], values[at + 3])
        check.end(whole=self.is_whole and not self.has_damage)
