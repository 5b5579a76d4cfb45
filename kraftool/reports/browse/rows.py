"""One line for each record of a log, for each damage and for each gap, made when it is asked for.

Owns what a row says and which rows a batch has. A row holds no bytes and no secret. The words of a
record are `record_summary.py`, those of damage the findings'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.fault import LogFault, record_fault
from kraftool.decoders.log_record import (
    LogRecord,
    decode_batch,
    position_in_file,
    position_of_error,
)
from kraftool.decoders.walk import (
    Faulty,
    FirstBatch,
    Item,
    WalkState,
    batch_of,
    sequence_faults,
)
from kraftool.directory.log_summary import record_label
from kraftool.reports.browse.blocks import BEFORE, RowPlace
from kraftool.reports.browse.prefilter import Glance, glance
from kraftool.reports.files.record_summary import summary
from kraftool.reports.logs.dump import LogDump, Selection, TopicNames, grep_text, masked
from kraftool.reports.text.words import no_ops

MOST_RECORDS = 20_000
"""Of one batch; a small compressed one can hold millions."""
_MOST_IDLE = 16
"""An idle controller writes no-ops one by one, rarely two at once."""
_NO_OP = b"\x01\x14"
"""How a no-op begins: the frame's version, and its type."""
_BEHIND = 1 << 30
"""What is wrong with a batch comes behind its records, whatever their number."""
_TOPIC_RECORD = re.compile(rb"\x01\x02[\x00-\x7f]")


class RowKind(StrEnum):
    """The kinds of rows."""

    RECORD = "record"
    DAMAGE = "damage"
    GAP = "gap"
    NOTE = "note"
    """Words about the log itself, as of a truncation that happened while it was watched."""


class Border(StrEnum):
    """The part of its batch that a record is."""

    ONLY = "only"
    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """One line of a log."""

    place: RowPlace
    kind: RowKind
    file: str
    position: int
    """Of the record, or of the damage, in the file."""
    offset: int | None = None
    epoch: int | None = None
    timestamp: int | None = None
    border: Border = Border.NONE
    label: str = ""
    text: str = ""
    is_control: bool = False
    is_idle: bool = False
    """True if it is what an idle leader writes."""
    is_valid: bool = True
    """True if the CRC of its batch holds."""
    is_decoded: bool = True
    transaction: str = ""
    """How the metadata transaction around it ended: committed, aborted, open, or `inside`."""
    size: int = 0
    folds: bool = False
    """True if its batch is sound and has nothing but no-ops."""
    count: int = 1
    """Records that this row stands for: more than one is a run of no-ops."""
    last_place: RowPlace | None = None
    """The last record of such a run."""
    last_offset: int | None = None
    last_timestamp: int | None = None

    @property
    def end_offset(self) -> int | None:
        """The offset of its last record."""
        return self.offset if self.last_offset is None else self.last_offset

    def has(self, place: RowPlace) -> bool:
        """True if the row is at a place, or stands for the row there."""
        return self.place == place or (
            self.last_place is not None and self.place <= place <= self.last_place
        )


def joins(row: LogRow, following: LogRow) -> bool:
    """True if two rows that follow each other are folded into one."""
    return (
        row.folds
        and following.folds
        and not row.transaction
        and not following.transaction
        and (row.epoch, row.place.segment) == (following.epoch, following.place.segment)
    )


def fold(row: LogRow, following: LogRow) -> LogRow:
    """Two rows of no-ops as one."""
    count = row.count + following.count
    last_ms = following.last_timestamp if following.count > 1 else following.timestamp
    return replace(
        row,
        border=Border.ONLY,
        text=no_ops(count, row.timestamp, last_ms),
        size=row.size + following.size,
        count=count,
        last_place=following.last_place or following.place,
        last_offset=following.end_offset,
        last_timestamp=last_ms,
    )


def cut_fold(row: LogRow, offset: int) -> LogRow:
    """Return what is left of a run of no-ops that was truncated at an offset within it."""
    assert row.offset is not None, "a record has an offset"
    count = offset - row.offset
    if count < 2:
        return replace(row, count=1, text="", last_place=None, last_offset=None,
                       last_timestamp=None)  # fmt: skip
    text = no_ops(count, None, None)
    return replace(row, count=count, text=text, last_offset=offset - 1, last_timestamp=None)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A selection, as it is asked of batches and records."""

    selection: Selection
    topics: int
    may_hold: Glance
    dump: LogDump
    """Selects by everything but words."""

    def has_words(self, item: LogRecord, row: LogRow) -> bool:
        """True if the words that are looked for are in the record, or in what its row says."""
        pattern = self.selection.grep
        if pattern is None:
            return True
        line = f"{row.label}  {row.text}"
        return pattern.search(line) is not None or pattern.search(grep_text(item)) is not None


class RowMaker:
    """Makes the rows of batches. Learns the names of topics from what passes."""

    def __init__(self) -> None:
        self.topics = TopicNames()
        self._wanted: _Wanted | None = None

    def learn(self, batch: RecordBatch) -> None:
        """Take the names of the topics that a batch creates."""
        if not batch.is_control and _TOPIC_RECORD.search(batch.data) is not None:
            self.topics.learn(batch)

    def _for(self, selection: Selection) -> _Wanted:
        """Return what is worked out once for a selection, and again when more topics are known."""
        kept, known = self._wanted, len(self.topics.by_id)
        if kept is None or kept.selection is not selection or kept.topics != known:
            dump = LogDump(replace(selection, grep=None), topics=self.topics)
            kept = _Wanted(selection, known, glance(selection, self.topics), dump)
            self._wanted = kept
        return kept

    def order(
        self, file: str, segment: int, batch: RecordBatch, before: WalkState
    ) -> Iterator[LogRow]:
        """The rows that say that a sound batch does not follow on what is before it."""
        for number, fault in enumerate(sequence_faults(before, FirstBatch.of(batch)), BEFORE):
            place = RowPlace(segment, batch.position, number)
            yield _problem(file, place, RowKind.GAP, fault)

    def rows(
        self, file: str, segment: int, item: Item, selection: Selection | None = None
    ) -> Iterator[LogRow]:
        """The rows of one batch or damage. Damage is shown whatever is selected."""
        batch = batch_of(item)
        if batch is not None:
            valid = not isinstance(item, Faulty)
            wanted = None if selection is None else self._for(selection)
            if wanted is None or wanted.may_hold(batch):
                yield from self._records(file, segment, batch, valid, wanted)
        if isinstance(item, Faulty):
            # A block begins anywhere: what was expected here is not known.
            offset = batch.base_offset if batch is not None else None
            place = RowPlace(segment, item.position, _BEHIND + (batch is not None))
            fault = replace(item.fault, offset=offset)
            yield _problem(file, place, RowKind.DAMAGE, fault)

    def _records(
        self, file: str, segment: int, batch: RecordBatch, valid: bool, wanted: _Wanted | None
    ) -> Iterator[LogRow]:
        last = batch.header.record_count - 1
        number = -1
        folds = valid and _is_idle(batch)
        try:
            for number, item in enumerate(islice(decode_batch(batch), MOST_RECORDS)):
                shown = masked(item)
                if wanted is not None and not wanted.dump.selects(shown):
                    continue
                row = self._record(file, segment, batch, valid, shown, number, last)
                row = replace(row, folds=True) if folds else row
                if wanted is None or wanted.has_words(shown, row):
                    yield row
        except DecodeError as error:
            if valid:
                place = RowPlace(segment, batch.position, _BEHIND)
                fault = record_fault(error, batch.position + error.position, batch.base_offset)
                yield _problem(file, place, RowKind.DAMAGE, fault)
        if number + 1 == MOST_RECORDS <= last:
            yield LogRow(
                place=RowPlace(segment, batch.position, _BEHIND),
                kind=RowKind.NOTE,
                file=file,
                position=batch.position,
                offset=batch.last_offset,
                text=f"{last - number} more records of this batch are not shown here",
            )

    def _record(
        self,
        file: str,
        segment: int,
        batch: RecordBatch,
        valid: bool,
        item: LogRecord,
        number: int,
        last: int,
    ) -> LogRow:
        record = item.record
        text = summary(item, self.topics.name)
        position = position_in_file(batch, record)
        wrong = item.error
        if wrong is not None:
            position = position_of_error(batch, record, wrong)
            failure = f"not decoded: {wrong.describe()}"
            text = failure if item.data is None else f"{wrong.reason}: {text}"
        return LogRow(
            place=RowPlace(segment, batch.position, number),
            kind=RowKind.RECORD,
            file=file,
            position=position,
            offset=record.offset,
            epoch=batch.epoch,
            timestamp=record.timestamp,
            border=_border(number, last),
            label=record_label(item),
            text=text,
            is_control=item.is_control,
            is_idle=item.name == "NoOpRecord",
            is_valid=valid,
            is_decoded=item.error is None,
            size=record.size,
        )


def _is_idle(batch: RecordBatch) -> bool:
    """True for a batch with nothing but no-ops; a large one is not looked at."""
    if batch.is_control or batch.header.record_count > _MOST_IDLE or _NO_OP not in batch.data:
        return False
    try:
        items = [*decode_batch(batch)]
    except DecodeError:
        return False
    return all(item.name == "NoOpRecord" and item.error is None for item in items)


def _border(number: int, last: int) -> Border:
    if last <= 0:
        return Border.ONLY
    if number == 0:
        return Border.FIRST
    return Border.LAST if number >= last else Border.MIDDLE


def _problem(file: str, place: RowPlace, kind: RowKind, fault: LogFault) -> LogRow:
    sides = ", ".join(
        f"{word} {side}"
        for word, side in (("expected", fault.expected), ("found", fault.found))
        if side
    )
    size = f", {fault.size} bytes" if fault.size else ""
    reason = f"{fault.field + ': ' if fault.field else ''}{fault.reason}"
    return LogRow(
        place=place,
        kind=kind,
        file=file,
        position=fault.position,
        offset=fault.offset,
        label=str(fault.kind),
        text=f"position {fault.position}{size}: {reason}" + (f" ({sides})" if sides else ""),
        is_valid=False,
        is_decoded=False,
        size=fault.size or 0,
    )
