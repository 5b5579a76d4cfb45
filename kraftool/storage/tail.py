"""A log that grows, rolls, is cleaned or truncated between two reads: what is new, what changed.

Owns the state of one log between reads, and the judgement of a read. Everything that follows a log
in files uses it: `dump-log --follow` and the browser through `follow.py`, streams and tables of
Spark with the state in their checkpoint. It refuses to read records, and to wait.

Marks are the headers of batches that were read: all of the latest ones, fewer of the older ones. A
new leader truncates a follower's log and other records take the place, so size alone says little:
each read compares the marks with the file. A truncation behind the latest marks is found to the
batch. One that goes deeper is reported as deep as the next older mark, at most twice as deep, and
what lies between is read again. A change says from which offset on the rows of the generation
before are void.

The end of the newest segment may be half written: bytes there that are no sound batch are never
passed over. They are the read's `tail`, until a sound batch or another segment follows. A stream,
which passes on each record once, waits for that; `dump-log --follow`, the browser and `watch` show
it as damage once two reads see the same. A leader's log over the network (`client/tail.py`) has
only committed records, so nothing is truncated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader, RecordBatch
from kraftool.decoders.segment import ReadAt, plausible
from kraftool.decoders.walk import Faulty, Walk, WalkState

MARK = 27
"""Bytes of a header that a mark keeps: from the base offset over the CRC to the last offset."""
_LATEST = 8
"""So many of the latest batches all have a mark, where nobody asks for more."""
_UNTHINNED = 1000
"""Marks beyond the latest that gather before the older ones are thinned out."""
_CHUNK = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSegment:
    """A segment that is there now. `size` is asked for after the folder was listed, so that of all
    but the last one it is final."""

    name: str
    base_offset: int
    size: int
    read_at: ReadAt


@dataclass(frozen=True, slots=True)
class BatchMark:
    """A batch that was read."""

    segment: str
    position: int
    head: str
    number: int
    """Counts the batches that were read."""

    @classmethod
    def of(cls, segment: str, batch: RecordBatch, number: int = 0) -> BatchMark:
        return cls(segment, batch.position, batch.data[:MARK].hex(), number)

    @property
    def header(self) -> BatchHeader:
        return RecordBatch.read(bytes.fromhex(self.head).ljust(HEADER_SIZE, b"\0")).header

    @property
    def end(self) -> int:
        return self.position + LOG_OVERHEAD + self.header.length

    @property
    def next_offset(self) -> int:
        return self.header.base_offset + self.header.last_offset_delta + 1

    def is_in(self, read_at: ReadAt, size: int) -> bool:
        """True if the batch is still there, whole: its header holds its CRC."""
        return self.end <= size and read_at(self.position, MARK).hex() == self.head


@dataclass(frozen=True, slots=True, kw_only=True)
class TailState:
    """The position up to which a log was read: `position` of `segment`, which is before
    `offset`."""

    segment: str = ""
    position: int = 0
    offset: int | None = None
    epoch: int | None = None
    generation: int = 0
    gone: bool = False
    damaged_to: int | None = None
    """One beyond the offsets of what is damaged right before `position`, as far as it says them;
    None behind a sound batch."""
    marks: tuple[BatchMark, ...] = ()

    @property
    def walk(self) -> WalkState:
        """Return where a walk goes on, and the sound batch that it compares the next one with."""
        begun = WalkState.at(self.position)
        if not self.marks:
            return begun
        last = self.marks[-1]
        return replace(
            begun,
            next_offset=last.next_offset,
            epoch=last.header.partition_leader_epoch,
            is_torn=self.damaged_to is not None,
            end_offset=last.next_offset if self.damaged_to is None else self.damaged_to,
        )

    def to_json(self) -> dict[str, Any]:
        """With numbers, texts, lists and dicts only, as an offset of Spark's is made of."""
        return {
            "segment": self.segment,
            "position": self.position,
            "offset": self.offset,
            "epoch": self.epoch,
            "generation": self.generation,
            "gone": self.gone,
            "damaged_to": self.damaged_to,
            "marks": [[mark.segment, mark.position, mark.head, mark.number] for mark in self.marks],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TailState:
        return cls(**{**value, "marks": tuple(BatchMark(*mark) for mark in value["marks"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRewrite:
    """Something else than growth. Rows of earlier generations from `offset` on are void if the log
    was truncated, and were never read if it was cleaned."""

    change: str
    segment: str
    position: int
    offset: int | None
    was_offset: int | None
    epoch: int | None
    generation: int

    def values(self) -> dict[str, str | int | None]:
        """Return all but the segment, which is part of a file's name."""
        return {name: value for name, value in asdict(self).items() if name != "segment"}

    def sentence(self) -> str:
        match self.change:
            case "TRUNCATED":
                return (
                    f"the log was truncated to offset {self.offset}; what was read from there up to"
                    f" {self.was_offset} is no longer in it"
                )
            case "CLEANED":
                return (
                    f"offsets {self.was_offset} to {(self.offset or 0) - 1} were deleted before"
                    " they were read"
                )
            case "APPEARED":
                return "a log that was not there before"
            case "LOST":
                return "records were deleted before they were read"
        return "the log is no longer there"


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes of a segment that are new, from batch border to batch border."""

    segment: str
    start: int
    stop: int
    generation: int
    before: WalkState
    """Where a walk over them begins."""


@dataclass(frozen=True, slots=True)
class UnsettledEnd:
    """Bytes at the end of the newest segment that are no sound batch yet."""

    segment: str
    start: int
    stop: int


@dataclass(slots=True)
class TailRead:
    """The result of one read of a log."""

    state: TailState
    ranges: list[Range] = field(default_factory=list)
    change: LogRewrite | None = None
    tail: UnsettledEnd | None = None


def read_tail(
    state: TailState,
    segments: Sequence[ListedSegment],
    limit: int | None = None,
    *,
    latest: int = _LATEST,
) -> TailRead:
    """Read what is new of a log. `limit` is about how many bytes are taken at the most, `latest`
    how many of the latest batches all have a mark."""
    if not segments:
        return _gone(state)
    if state.gone:
        state = replace(state, gone=False)
    new_read = _judge(state, segments)
    taken = 0
    for segment in segments:
        if segment.name < new_read.state.segment:
            continue
        if limit is not None and taken >= limit:
            break
        start = new_read.state.position if segment.name == new_read.state.segment else 0
        rest = None if limit is None else limit - taken
        before = replace(new_read.state, segment=segment.name, position=start).walk
        is_last = segment is segments[-1]
        new_read.state, is_stopped = _taken(
            new_read.state, segment, start, rest, is_last=is_last, latest=latest
        )
        stop = new_read.state.position
        if stop > start:
            generation = new_read.state.generation
            new_read.ranges.append(Range(segment.name, start, stop, generation, before))
            taken += stop - start
        if is_stopped:
            break
        if is_last and stop < segment.size:
            new_read.tail = UnsettledEnd(segment.name, stop, segment.size)
    return new_read


def _gone(state: TailState) -> TailRead:
    if state.gone or not state.segment:
        return TailRead(state)
    change = _change("GONE", state, state, state.offset)
    return TailRead(replace(state, gone=True), change=change)


def _change(name: str, before: TailState, after: TailState, offset: int | None) -> LogRewrite:
    return LogRewrite(
        change=name,
        segment=after.segment,
        position=after.position,
        offset=offset,
        was_offset=before.offset,
        epoch=before.epoch,
        generation=after.generation,
    )


def _judge(state: TailState, segments: Sequence[ListedSegment]) -> TailRead:
    """Return what changed since the last read, and the state from which to continue."""
    if not state.segment:
        first = segments[0]
        return TailRead(replace(state, segment=first.name, offset=first.base_offset))
    present = {segment.name: segment for segment in segments}
    oldest = segments[0]
    missing = False
    for number in range(len(state.marks), 0, -1):
        mark = state.marks[number - 1]
        if mark.segment < oldest.name:
            break  # cleaned, and so is whatever is older
        if mark.segment in present and _holds(mark, present[mark.segment]):
            if not missing:
                return _at_same_place(state, present)
            return _truncated(state, mark.segment, mark.end, mark.next_offset, number)
        missing = True
    if missing:
        return _truncated(state, oldest.name, 0, oldest.base_offset, 0)
    if state.segment >= oldest.name:
        return _at_same_place(state, present)
    after = replace(state, segment=oldest.name, position=0, offset=oldest.base_offset, marks=())
    if state.offset is None or oldest.base_offset <= state.offset:
        return TailRead(after)
    return TailRead(after, change=_change("CLEANED", state, after, oldest.base_offset))


def _holds(mark: BatchMark, segment: ListedSegment) -> bool:
    return mark.is_in(segment.read_at, segment.size)


def _at_same_place(state: TailState, present: dict[str, ListedSegment]) -> TailRead:
    """No batch that was read is lost. Damage behind the last one, which was reported, may be."""
    segment = present.get(state.segment)
    if segment is not None and state.position > segment.size:
        return TailRead(replace(state, position=segment.size))
    return TailRead(state)


def _truncated(state: TailState, segment: str, position: int, offset: int, marks: int) -> TailRead:
    after = replace(
        state,
        segment=segment,
        position=position,
        offset=offset,
        damaged_to=None,
        generation=state.generation + 1,
        marks=state.marks[:marks],
    )
    return TailRead(after, change=_change("TRUNCATED", state, after, offset))


def _taken(
    state: TailState,
    segment: ListedSegment,
    start: int,
    limit: int | None,
    *,
    is_last: bool,
    latest: int,
) -> tuple[TailState, bool]:
    """The state behind the new batches of a segment, and whether the limit ended it before."""
    marks = list(state.marks)
    stop, offset, epoch, damaged_to = start, state.offset, state.epoch, state.damaged_to
    number, is_stopped = marks[-1].number + 1 if marks else 0, False
    for position, header, head in _batches(segment, start):
        if limit is not None and position - start >= limit:
            is_stopped = True
            break
        stop = position + LOG_OVERHEAD + header.length
        offset = header.base_offset + header.last_offset_delta + 1
        epoch, damaged_to = header.partition_leader_epoch, None
        marks.append(BatchMark(segment.name, position, head.hex(), number))
        number += 1
        if len(marks) > latest + _UNTHINNED:
            marks = thinned(marks, latest)
    after = replace(
        state,
        segment=segment.name,
        position=stop,
        offset=offset,
        epoch=epoch,
        damaged_to=damaged_to,
        marks=tuple(thinned(marks, latest)),
    )
    if not is_last and not is_stopped and stop < segment.size:
        # Nothing is appended any more: what is no batch is damage.
        walk = Walk(_bounded(segment.read_at, segment.size), after.walk)
        deque(walk, maxlen=0)
        after = replace(after, position=segment.size, damaged_to=walk.state.end_offset)
    return after, is_stopped


def thinned(marks: list[BatchMark], latest: int = _LATEST) -> list[BatchMark]:
    """The latest marks, and of older ones the fewer the older they are: some for each doubling."""
    last = marks[-1].number if marks else 0
    return [
        mark
        for mark in marks
        if last - mark.number < latest
        or mark.number % (1 << ((last - mark.number) // (latest // 2)).bit_length()) == 0
    ]


def _batches(segment: ListedSegment, start: int) -> Iterator[tuple[int, BatchHeader, bytes]]:
    """The batches from a border on, by their headers. The last one is given only if its CRC holds:
    it may be half written. Where headers do not add up a walk finds what is next."""
    read_at, size = segment.read_at, segment.size
    position, expected = start, None
    held: tuple[int, BatchHeader, bytes] | None = None
    window_start, window = start, b""
    while True:
        at = position - window_start
        if at + HEADER_SIZE > len(window):
            window_start, window, at = position, read_at(position, _CHUNK), 0
        head = window[at : at + HEADER_SIZE]
        header = RecordBatch.read(head).header if len(head) == HEADER_SIZE else None
        fits = (
            header is not None
            and plausible(header)
            and expected in (None, header.base_offset)
            and position + LOG_OVERHEAD + header.length <= size
        )
        if not fits or header is None:
            break
        if held is not None:
            yield held
        held = (position, header, head[:MARK])
        position += LOG_OVERHEAD + header.length
        expected = header.base_offset + header.last_offset_delta + 1
    if held is not None:
        begun, header, head = held
        batch = RecordBatch.read(read_at(begun, LOG_OVERHEAD + header.length), begun)
        if batch.is_valid:
            yield held
        else:
            position = begun
    if position < size:
        yield from _by_walk(_bounded(read_at, size), position)


def _bounded(read_at: ReadAt, size: int) -> ReadAt:
    """A segment as far as it is read."""

    def read(position: int, count: int) -> bytes:
        return read_at(position, max(min(count, size - position), 0))

    return read


def _by_walk(read_at: ReadAt, start: int) -> Iterator[tuple[int, BatchHeader, bytes]]:
    """The same around damage: the sound batches."""
    for item in Walk(read_at, WalkState.at(start)):
        if not isinstance(item, Faulty):
            yield item.position, item.header, item.data[:MARK]
