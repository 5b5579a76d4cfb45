"""A partition's folder at the start: read from end to end, and cut where it is no log any more.

Owns what Kafka's LogLoader does with a log whose recovery point is 0, which is what it does for the
metadata at every start: each batch is checked, the indexes are made anew, the first byte that is
no batch ends the log, and what lies behind it goes. Where Kafka would go on over a gap in the
offsets this refuses, before anything is changed: no torn write leaves one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from struct import Struct

from kraftool.decoders.batch import CONTROL, CRC_START, HEADER_SIZE, LOG_OVERHEAD, RecordBatch
from kraftool.decoders.checksum import crc32c
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.fault import REVERSED_OFFSETS, FaultKind
from kraftool.decoders.names import (
    FileState,
    parse_checkpoint_name,
    parse_segment_name,
    segment_offset,
    write_segment_name,
)
from kraftool.decoders.segment import CHUNK, LARGEST_BATCH, SMALLEST_LENGTH
from kraftool.decoders.walk import Faulty, Item, Walk, WalkState
from kraftool.raft.names import OffsetAndEpoch
from kraftool.storage.files import Files
from kraftool.storage.segment_writer import Segment

_HEAD = Struct(">qiibIhi8xq")
"""A batch's header up to its largest timestamp."""
_STRAY = (FileState.DELETED, FileState.CLEANED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The end of a log that ended before its files did: what recovery did there. It is not a Fault,
    which says what a reader sees. Its kind and reason are those of the fault at that place."""

    file: str
    position: int
    size: int
    """The bytes that were cut off in this file."""
    offset: int
    """The log ends before this one."""
    kind: FaultKind
    reason: str
    lost_batches: int
    """How many whole batches stood behind, this file's and later segments'; 0 for a torn tail."""
    lost_segments: tuple[str, ...]

    def __str__(self) -> str:
        behind = f", and {self.lost_batches} whole batches behind it" if self.lost_batches else ""
        return (
            f"{self.file} is cut at position {self.position} ({self.kind.value}: {self.reason}):"
            f" {self.size} bytes are gone{behind}; the log ends before offset {self.offset}"
        )


@dataclass(slots=True, kw_only=True)
class Recovery:
    """The effect of opening a log on the directory."""

    cut: Cut | None = None
    removed: list[str] = field(default_factory=list)
    """Names of files that no log has any more: `.deleted`, `.part`, orphaned indexes, snapshots
    below the log's start."""
    rebuilt: list[str] = field(default_factory=list)
    """Names of files that are made of the log, and were otherwise."""
    wiped_to: OffsetAndEpoch | None = None
    """The snapshot that was beyond the log, which then began anew after it."""

    def sentences(self) -> Iterator[str]:
        """Yield what an operator should read; nothing after a clean end."""
        if self.cut is not None:
            yield str(self.cut)
        if self.wiped_to is not None:
            yield f"the log is behind snapshot {self.wiped_to}, and starts from scratch after it"
        if self.removed:
            yield f"removed: {', '.join(self.removed)}"


@dataclass(slots=True)
class Layout:
    """The files in a partition's folder, by what their names say."""

    segments: list[int] = field(default_factory=list)
    snapshots: list[OffsetAndEpoch] = field(default_factory=list)
    stray: list[str] = field(default_factory=list)
    """Marked for deletion, or without what they belong to."""
    parts: list[str] = field(default_factory=list)
    producer_states: list[tuple[int, str]] = field(default_factory=list)


def layout(files: Files, folder: str) -> Layout:
    """Look at the names."""
    folder_layout, indexes = Layout(), []
    for name in files.names(folder):
        checkpoint = parse_checkpoint_name(name)
        if checkpoint is not None:
            if checkpoint.state is FileState.LIVE and checkpoint.canonical:
                folder_layout.snapshots.append(OffsetAndEpoch(checkpoint.offset, checkpoint.epoch))
            elif checkpoint.state is not FileState.LIVE:
                folder_layout.parts.append(name)
            continue
        offset = segment_offset(name)
        if offset is not None:
            folder_layout.segments.append(offset)
            continue
        segment = parse_segment_name(name)
        if segment is None:
            continue
        if segment.state in _STRAY:
            folder_layout.stray.append(name)
        elif segment.state is FileState.LIVE and segment.suffix == ".snapshot":
            folder_layout.producer_states.append((segment.base_offset, name))
        elif segment.state is FileState.LIVE and segment.suffix != ".log":
            indexes.append((segment.base_offset, name))
    folder_layout.stray += [
        name for offset, name in indexes if offset not in folder_layout.segments
    ]
    return folder_layout


@dataclass(slots=True)
class _Reading:
    """One pass over the segments; nothing is changed before it is over."""

    files: Files
    folder: str
    interval: int
    take: Callable[[RecordBatch], None]
    """Told of each batch that begins an epoch, and of each control batch."""
    segments: list[Segment] = field(default_factory=list)
    last_epoch: int = -1
    cut: Cut | None = None

    def run(self, offsets: list[int]) -> None:
        for number, base_offset in enumerate(offsets):
            before = self.segments[-1] if self.segments else None
            segment = self._opened(base_offset)
            if before is not None and before.next_offset != base_offset:
                if segment.log.size() or base_offset < before.next_offset:
                    self._refuse_gap(before.next_offset, base_offset)
                # A segment was begun, and the end of the one before it never reached the disk.
                self.cut = _end_of(before, (base_offset,))
            else:
                self._read(segment)
            if self.cut is not None:
                self._count_later(offsets[number + 1 :])
                return

    def _opened(self, base_offset: int) -> Segment:
        log = self.files.open(os.path.join(self.folder, _name(base_offset)))
        segment = Segment(self.files, self.folder, base_offset, log, self.interval)
        self.segments.append(segment)
        return segment

    def _read(self, segment: Segment) -> None:
        position = self._read_sound(segment)
        state = replace(
            WalkState.at(position), next_offset=segment.next_offset, epoch=self.last_epoch
        )
        items = iter(Walk(segment.log.read_at, state))
        for item in items:
            if isinstance(item, Faulty):
                fault = item.fault
                expected, actual = segment.next_offset, fault.offset
                if fault.kind is FaultKind.GAP and actual is not None and actual > expected:
                    self._refuse_gap(expected, actual)
                self._end_at(segment, item.position, fault.kind, fault.reason, items)
                return
            if item.last_offset < item.base_offset:
                kind, behind = FaultKind.CORRUPT, chain([item], items)
                self._end_at(segment, item.position, kind, REVERSED_OFFSETS, behind)
                return
            segment.note(item.last_offset, item.header.max_timestamp, item.size)
            self.last_epoch = item.epoch
            self.take(item)

    def _end_at(
        self,
        segment: Segment,
        position: int,
        kind: FaultKind,
        reason: str,
        behind: Iterable[Item],
    ) -> None:
        """End the log in a segment, and count what is behind."""
        self.cut = replace(
            _end_of(segment, ()),
            size=segment.log.size() - position,
            kind=kind,
            reason=reason,
            lost_batches=_sound_batches(behind),
        )

    def _read_sound(self, segment: Segment) -> int:
        """Take the batches up to the first that needs a closer look; where that lies.

        A week of a quiet cluster is a million batches, nearly always all of them sound.
        """
        position, wanted = 0, CHUNK
        while True:
            chunk, asked = segment.log.read_at(position, wanted), wanted
            view, at, end, wanted = memoryview(chunk), 0, len(chunk), CHUNK
            while at + HEADER_SIZE <= end:
                base_offset, length, epoch, magic, crc, attributes, delta, timestamp = (
                    _HEAD.unpack_from(chunk, at)
                )
                following = at + LOG_OVERHEAD + length
                if not (
                    SMALLEST_LENGTH <= length <= LARGEST_BATCH - LOG_OVERHEAD
                    and magic == 2
                    and base_offset == segment.next_offset
                    and delta >= 0
                    and epoch >= self.last_epoch
                ):
                    return position + at
                if following > end:
                    wanted = max(CHUNK, following - at)
                    break
                if crc32c(view[at + CRC_START : following]) != crc:
                    return position + at
                segment.note(base_offset + delta, timestamp, following - at)
                if epoch > self.last_epoch or attributes & CONTROL:
                    self.last_epoch = epoch
                    self.take(RecordBatch.read(chunk[at:following], position + at))
                at = following
            position += at
            if not at and (end < asked or wanted <= asked):
                return position

    def _refuse_gap(self, expected: int, actual: int) -> None:
        raise KraftoolError(
            f"{self.folder}: after offset {expected - 1} the log goes on with {actual}",
            hint="records are missing between them; see what kraftool verify-log says",
        )

    def _count_later(self, offsets: list[int]) -> None:
        assert self.cut is not None, "only after a cut"
        lost = 0
        for base_offset in offsets:
            log = self._opened(base_offset).log
            lost += _sound_batches(Walk(log.read_at))
        self.cut = replace(
            self.cut,
            lost_batches=self.cut.lost_batches + lost,
            lost_segments=(*self.cut.lost_segments, *(_name(offset) for offset in offsets)),
        )


def _sound_batches(items: Iterable[Item]) -> int:
    return sum(not isinstance(item, Faulty) for item in items)


def _end_of(segment: Segment, later: tuple[int, ...]) -> Cut:
    """A cut where a segment's whole batches end, which takes later segments along."""
    return Cut(
        file=_name(segment.base_offset),
        position=segment.size,
        size=0,
        offset=segment.next_offset,
        kind=FaultKind.TORN_TAIL,
        reason="the segment after it begins later",
        lost_batches=0,
        lost_segments=tuple(map(_name, later)),
    )


def _name(base_offset: int) -> str:
    return write_segment_name(base_offset, ".log")


def read_segments(
    files: Files,
    folder: str,
    offsets: list[int],
    interval: int,
    take: Callable[[RecordBatch], None],
) -> tuple[list[Segment], Cut | None]:
    """Read a log, handing over those of its batches that begin an epoch or are control batches, and
    perhaps others. Changes nothing: where it is cut, the segments that are lost come last, and
    `cut_off` does it."""
    reading = _Reading(files, folder, interval, take)
    try:
        reading.run(sorted(offsets))
    except BaseException:
        for segment in reading.segments:
            segment.close()
        raise
    return reading.segments, reading.cut


def cut_off(segments: list[Segment], cut: Cut) -> None:
    """Cut a log where reading it ended, durably. From its end on, so that no gap can remain."""
    for _ in cut.lost_segments:
        segments.pop().remove()
    last = segments[-1].log
    last.truncate(cut.position)
    last.sync()
