"""A metadata log as a survey has it, made while another report walks over its segments.

Owns up to where a log can be trusted. Kafka cuts it where the bytes are wrong; here it also ends at
a gap in the offsets, and where an epoch cannot be, over which Kafka goes on: no CRC covers offset
and epoch of a batch. It refuses to look at snapshots, and to judge what records say: that is a
replay's.

It reads little of what passes: bytes that are no batch, for the hash; later, what a misfit or the
rest of a broken log asks for. Both are known only once the whole log has passed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.fault import REVERSED_OFFSETS, FaultKind, LogFault
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import (
    BEGINNING,
    Faulty,
    FirstBatch,
    Item,
    Walk,
    WalkState,
    sequence_faults,
)
from kraftool.repair.fingerprints import MOST_OFFSETS, PassingHash, fingerprint_of
from kraftool.repair.offset_bounds import OffsetBounds
from kraftool.repair.plain_batches import (
    BlockSums,
    PlainBatches,
    RecentBatches,
    head_of,
    plain_batches,
    span_of,
)
from kraftool.repair.plan import Fingerprint
from kraftool.repair.record_types import counted, types_of
from kraftool.repair.survey import (
    LogBreak,
    Misfit,
    Slice,
    SurveyedBatch,
    SurveyedLog,
)
from kraftool.storage.source import ByteSource

_TORN = (FaultKind.TORN_TAIL, FaultKind.ZERO_TAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFile:
    """A segment by the offset in its name."""

    base_offset: int
    open: Callable[[], ByteSource]


@dataclass(slots=True, kw_only=True)
class LogSurvey:
    """The result of the pass over a log, and answers to later questions about the log."""

    log: SurveyedLog
    fingerprints: dict[int, Fingerprint]
    segments: dict[int, SegmentFile]
    _bases: array[int]
    _positions: array[int]
    _of_segment: array[int]

    def batch_at(self, offset: int) -> tuple[int, RecordBatch] | None:
        """The segment and the batch of an offset below the break."""
        number = bisect_right(self._bases, offset) - 1
        if number < 0:
            return None
        segment = self._of_segment[number]
        with self.segments[segment].open() as source:
            walk = Walk(source.read_at, WalkState.at(self._positions[number]))
            item = next(iter(walk), None)
        if not isinstance(item, RecordBatch) or not item.base_offset <= offset <= item.last_offset:
            return None
        return segment, item

    def misfit(self, offset: int, text: str) -> Misfit | None:
        """A record that does not fit, with what may stand in its batch's place."""
        place = self.batch_at(offset)
        if place is None:
            return None
        segment, batch = place
        noops = noops_like(batch)
        with self.segments[segment].open() as source:
            after = fingerprint_of(
                source,
                (0, batch.position),
                noops,
                (batch.position + batch.size, self.fingerprints[segment].size),
            )
        return Misfit(
            offset=offset,
            base_offset=batch.base_offset,
            last_offset=batch.last_offset,
            segment=segment,
            position=batch.position,
            size=batch.size,
            text=text,
            noops=noops,
            after=after,
        )

    def rest_from(self, offset: int, epoch: int) -> tuple[Slice, ...]:
        """Return what follows an offset that lies behind the break, if all of it is whole; else
        nothing.

        Offset and epoch are a snapshot's, at which Kafka lets a batch begin.
        """
        slices: list[Slice] = []
        state = BEGINNING
        for base, file in sorted(self.segments.items()):
            with file.open() as source:
                begin = 0 if slices else None
                walk = Walk(source.read_at, state)
                for item in walk:
                    if isinstance(item, Faulty):
                        if begin is not None:
                            return ()
                        continue
                    if begin is None:
                        if item.base_offset != offset:
                            continue
                        begin = item.position
                    if item.epoch < epoch or (item.epoch > epoch and not item.is_control):
                        return ()
                    epoch = item.epoch
                state = walk.state.next_segment()
                size = self.fingerprints[base].size
                if begin is not None:
                    piece = fingerprint_of(source, (begin, size))
                    slices.append(Slice(segment=base, start=begin, end=size, fingerprint=piece))
        return tuple(slices)


def noops_like(batch: RecordBatch) -> bytes:
    """NoOps at the offsets of a batch, of its epoch and time."""
    value = encode_record("NoOpRecord", 0, {})
    return encode_batch(
        ((None, value) for _ in range(batch.last_offset - batch.base_offset + 1)),
        base_offset=batch.base_offset,
        epoch=batch.epoch,
        timestamp=batch.header.max_timestamp,
    )


def survey_log(files: Sequence[SegmentFile], *, known_epoch: int = -1) -> LogSurvey | None:
    """Walk over a log that no other report reads; None if it has no segment."""
    passing = LogPass()
    for file in sorted(files, key=lambda file: file.base_offset):
        passing.begin(file)
        with file.open() as source:
            for item in Walk(source.read_at).spans():
                if isinstance(item, BatchSpan):
                    passing.take_span(item, item.at, item.end)
                else:
                    passing.take(item)
        passing.end()
    return passing.finish(known_epoch)


@dataclass(slots=True, kw_only=True)
class LogPass:
    """A log that passes: its segments in order, each from `begin` to `end` with its items.

    `accept` gets the batches of the log up to its break, from one place of a span to another, and
    the base offset of their segment.
    """

    accept: Callable[[int, BatchSpan, int, int], None] = lambda base, span, at, end: None
    next_offset: int = 0
    last_epoch: int = -1
    last_timestamp: int = -1
    broken: LogBreak | None = None
    fingerprints: dict[int, Fingerprint] = field(default_factory=dict)
    _segments: dict[int, SegmentFile] = field(default_factory=dict)
    _segment: _Passing | None = None
    """The one that passes."""
    _misplaced: LogFault | None = None
    """What is wrong with the place of the sound batch that comes next."""
    _reach: OffsetBounds = field(default_factory=lambda: OffsetBounds(line=0))
    """Of what lies behind the break."""
    _behind_types: Counter[str] = field(default_factory=Counter)
    _behind_batches: RecentBatches = field(default_factory=RecentBatches)
    _held: _Held | None = None
    """The last batch, until what follows it tells whether its epoch can be."""
    _epochs: list[EpochEntry] = field(default_factory=list)
    _blocks: BlockSums = field(default_factory=BlockSums)
    _batches: RecentBatches = field(default_factory=RecentBatches)
    _bases: array[int] = field(default_factory=lambda: array("q"))
    _positions: array[int] = field(default_factory=lambda: array("q"))
    _of_segment: array[int] = field(default_factory=lambda: array("q"))

    def begin(self, file: SegmentFile) -> None:
        """The next segment begins."""
        base = file.base_offset
        if not self._segments:
            self.next_offset = base
        self._segments[base] = file
        self._segment = segment = _Passing(file)
        if self.broken is None and base != self._follows().next_offset:
            self._take_held()
            reason = f"it begins with offset {base}, but {self.next_offset} comes next"
            self._break(segment, 0, reason, reach=OffsetBounds(line=base, end=base))
        elif self.broken is not None and base > self.next_offset:  # its name tells of those before
            self.broken = replace(self.broken, torn=False)
            self._reach = OffsetBounds(line=base, end=max(self._reach.end, base))

    def _follows(self) -> WalkState:
        """Return what the next batch is compared with, while nothing broke the log."""
        if self._held is None:
            return WalkState(next_offset=self.next_offset, epoch=self.last_epoch)
        batch = self._held.batch
        return WalkState(next_offset=batch.last_offset + 1, epoch=batch.epoch)

    def take(self, item: Item) -> None:
        """Take the next item of the walk over the segment."""
        segment = self._segment
        assert segment is not None, "a segment begins before its items"
        if isinstance(item, Faulty):
            if item.fault.cuts:
                self._damaged(segment, item)
            else:  # the sound batch that comes next has a wrong place
                self._misplaced = self._misplaced or item.fault
        else:
            self._sound(segment, item)
        segment.hashed.take(item)

    def take_span(self, span: BatchSpan, at: int, end: int) -> None:
        """Take the batches of a span from one place to another."""
        while at < end:
            # The log may break before this batch, or after it.
            batch = span.batch(at)
            self.take(batch)
            at += batch.size
            while at < end and (batches := self._together(span, at, end)) is not None:
                at = batches.end

    def _together(self, span: BatchSpan, at: int, end: int) -> PlainBatches | None:
        """Take several batches of a span at once; None if the next one must be taken alone. All
        have the epoch of the batch before them, so the log does not break between them."""
        segment = self._segment
        assert segment is not None, "a segment begins before its items"
        is_behind, first = self.broken is not None, span.base_offset_at(at)
        if is_behind and not self._reach.can_take_all(
            first, span.last_offset, farthest=segment.farthest
        ):
            return None
        batches = plain_batches(span, at, end)
        if batches is None:
            return None
        if is_behind:
            self._several_behind(batches)
        else:
            self._take_held()
            self._several(segment.base, batches)
        segment.hashed.take_plain(span.data, at, batches.end)
        return batches

    def _sound(self, segment: _Passing, batch: RecordBatch) -> None:
        misplaced, self._misplaced = self._misplaced, None
        if self.broken is None:
            if not segment.has_batch:
                # A walk over one segment knows nothing of those before it.
                faults = sequence_faults(self._follows(), FirstBatch.of(batch))
                misplaced = next(faults, None)
            self._look(segment, batch, misplaced)
        segment.has_batch = True
        if self.broken is None:
            self._held = _Held(segment, batch)
        else:
            self._behind(segment, batch, is_valid=True)

    def end(self) -> None:
        """All items of the segment were taken."""
        assert self._segment is not None, "a segment begins before it ends"
        self.fingerprints[self._segment.base] = self._segment.hashed.whole()

    def finish(self, known_epoch: int) -> LogSurvey | None:
        """The survey, once all segments passed; None if there was none. `known_epoch` is
        quorum-state's: a node knows of an epoch before it has anything of it."""
        if not self._segments:
            return None
        self._end_of_log(known_epoch)
        return LogSurvey(
            log=self._surveyed(tuple(self._segments)),
            fingerprints=self.fingerprints,
            segments=self._segments,
            _bases=self._bases,
            _positions=self._positions,
            _of_segment=self._of_segment,
        )

    def _damaged(self, segment: _Passing, item: Faulty) -> None:
        """Bytes that are no sound batch end the log, if nothing before them did."""
        self._take_held()
        is_torn = item.fault.kind in _TORN
        if self.broken is None:
            self._break(segment, item.position, item.fault.reason, torn=is_torn)
        if item.batch is not None:
            self._behind(segment, item.batch, is_valid=False)
        elif not is_torn:
            self._reach.lost()

    def _look(self, segment: _Passing, item: RecordBatch, misplaced: LogFault | None) -> None:
        """Break the log at a batch, or at the one before it, if it does not go on there."""
        held = self._held
        if held is not None and self._is_odd(held.batch, item):
            reason = f"epoch {held.batch.epoch} between {self.last_epoch} and {item.epoch}"
            self._break_at_held(held, reason)
            return
        self._take_held()
        if misplaced is not None:
            reason = f"{misplaced.reason}: {misplaced.found} instead of {misplaced.expected}"
            self._break(segment, item.position, reason)
        elif item.last_offset < item.base_offset:
            self._break(segment, item.position, REVERSED_OFFSETS)

    def _end_of_log(self, known_epoch: int) -> None:
        """Nothing more comes that could tell of the last batch."""
        held = self._held
        if held is not None and self._is_from_nowhere(held.batch, known_epoch):
            epoch = held.batch.epoch
            reason = f"epoch {epoch} begins with records, not with a LeaderChange"
            self._break_at_held(held, reason)
        self._take_held()

    def _break_at_held(self, held: _Held, reason: str) -> None:
        self._held = None
        self._break(held.segment, held.batch.position, reason)
        self._behind(held.segment, held.batch, is_valid=True)

    def _take_held(self) -> None:
        """The batch that waited for what follows it belongs to the log."""
        held, self._held = self._held, None
        if held is not None:
            self._batch(held.segment.base, held.batch)

    def _is_odd(self, held: RecordBatch, after: RecordBatch) -> bool:
        """True if it is the former of two batches whose epoch is wrong: only it rose above."""
        return self.last_epoch <= after.epoch < held.epoch

    def _is_from_nowhere(self, batch: RecordBatch, known_epoch: int) -> bool:
        """True if the last batch of all is of an epoch that nothing else speaks of."""
        begins = bool(self._bases) and batch.epoch > self.last_epoch
        return begins and not batch.is_control and batch.epoch > known_epoch

    def _break(
        self,
        segment: _Passing,
        position: int,
        reason: str,
        *,
        torn: bool = False,
        reach: OffsetBounds | None = None,
    ) -> None:
        """The log ends here, or, where it is torn, what came behind was never written."""
        self._reach = OffsetBounds(line=self.next_offset) if reach is None else reach
        self.broken = LogBreak(
            offset=self.next_offset,
            segment=segment.base,
            position=position,
            reason=reason,
            torn=torn,
            prefix=segment.hashed.up_to(position),
        )

    def _behind(self, segment: _Passing, batch: RecordBatch, *, is_valid: bool) -> None:
        """A batch from the break on; only a whole one counts as such."""
        assert self.broken is not None, "only behind a break"
        first, last, farthest = batch.base_offset, batch.last_offset, segment.farthest
        self._reach.take(first, last, farthest=farthest, is_valid=is_valid)
        if is_valid:
            types = types_of(batch)
            self._behind_types += types
            self._behind_batches.add((_surveyed(batch, types),))
        self.broken = replace(
            self.broken,
            torn=False,
            lost_batches=self.broken.lost_batches + is_valid,
            highest_epoch=max(self.broken.highest_epoch, batch.epoch if is_valid else -1),
        )

    def _several_behind(self, batches: PlainBatches) -> None:
        """The same for several batches that leave no doubt."""
        assert self.broken is not None, "only behind a break"
        self._reach.take_all(batches.last_offset)
        self._behind_types += batches.types
        self._behind_batches.add(batches.recent())
        self.broken = replace(self.broken, lost_batches=self.broken.lost_batches + len(batches))

    def _batch(self, base: int, batch: RecordBatch) -> None:
        types = types_of(batch)
        if batch.epoch > self.last_epoch:
            self._epochs.append(EpochEntry(epoch=batch.epoch, start_offset=batch.base_offset))
        self._batches.add((_surveyed(batch, types),))
        self._bases.append(batch.base_offset)
        self._positions.append(batch.position)
        self._of_segment.append(base)
        self._blocks.add(head_of(batch), types, batch.last_offset, batch.epoch)
        self.accept(base, span_of(batch), 0, batch.size)
        self.next_offset = batch.last_offset + 1
        self.last_epoch = batch.epoch
        self.last_timestamp = batch.header.max_timestamp

    def _several(self, base: int, batches: PlainBatches) -> None:
        """The same for several batches, which have the epoch of the one before them."""
        self._batches.add(batches.recent())
        self._bases += batches.base_offsets()
        self._positions += array("q", map(batches.span.data_position.__add__, batches.places))
        self._of_segment += array("q", (base,)) * len(batches)
        self._blocks.add(batches.heads, batches.types, batches.last_offset, batches.span.epoch)
        self.accept(base, batches.span, batches.at, batches.end)
        self.next_offset = batches.last_offset + 1
        self.last_timestamp = batches.last_timestamp

    def _surveyed(self, segments: tuple[int, ...]) -> SurveyedLog:
        self._reach.ended()
        if self.broken is not None:
            self.broken = replace(
                self.broken,
                end_offset=self._reach.end,
                types=counted(self._behind_types),
                batches=self._behind_batches.batches(),
            )
        return SurveyedLog(
            start_offset=segments[0],
            end_offset=max(self.next_offset, self.broken.end_offset if self.broken else 0),
            intact_end=self.next_offset,
            last_epoch=self.last_epoch,
            last_timestamp_ms=self.last_timestamp,
            segments=segments,
            epochs=tuple(self._epochs),
            broken=self.broken,
            blocks=self._blocks.finish(),
            batches=self._batches.batches(),
        )


class _Passing:
    """A segment that passes."""

    def __init__(self, file: SegmentFile) -> None:
        self.base, self._file = file.base_offset, file
        self.hashed = PassingHash(file.open)
        self.has_batch = False
        """True if a sound batch of it passed."""
        self._farthest: int | None = None

    @property
    def farthest(self) -> int:
        """Return where it can end."""
        if self._farthest is None:
            with self._file.open() as source:
                self._farthest = self.base + (source.size() or MOST_OFFSETS)
        return self._farthest


class _Held(NamedTuple):
    """A batch, and where it stands."""

    segment: _Passing
    batch: RecordBatch


def _surveyed(batch: RecordBatch, types: Counter[str]) -> SurveyedBatch:
    return SurveyedBatch(
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        epoch=batch.epoch,
        crc=batch.header.crc,
        types=counted(types),
    )
