"""The entries of one range of a file, as dump-log's: batches with their records, and problems.

Owns the passing over of what nobody asked for, before it is decoded where that can be. What is
decoded, masked and told of damage is the log dump's own doing, so that the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING

from kraftool.arrow.narrowing import Narrowing
from kraftool.arrow.splits import Split
from kraftool.decoders import schema
from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import DecodeError, Fault, KraftoolError
from kraftool.decoders.log_record import (
    LogRecord,
    decode_batch,
    decode_control,
    decode_data,
    decode_metadata,
)
from kraftool.decoders.redact import SENSITIVE_KEYS, redact
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item, Walk, WalkState, batch_of
from kraftool.reports.logs.dump import BatchEntry, Entry, LogDump, type_words

if TYPE_CHECKING:
    from kraftool.arrow.native_columns import NativeColumns, NativeRows

_MOST_FOR_PYTHON = 64
"""Batches that Python reads before the native reader is asked again."""
_PART = 10_000
"""Records of one batch that are in memory at a time: a small gzip batch can hold millions."""

_api_key, _error = (itemgetter(LogRecord._fields.index(name)) for name in ("api_key", "error"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable(Fault):
    """The file itself cannot be read, so that neither its records nor its batches are known."""


def type_text(item: LogRecord) -> str:
    """A record's type as Kafka's sources have it, whether it could be decoded or not."""
    name = item.type if item.is_control else item.name
    if name:
        return name
    return f"UNKNOWN({item.api_key if item.api_key is not None else '?'})"


@cache
def _keys_of(types: frozenset[str]) -> tuple[frozenset[int], bool]:
    """The api keys of data record types, and if a control type is among them."""
    keys = (
        schema.message(name).api_key
        for name in schema.names("metadata")
        if types & (type_words(name) | type_words(schema.record_type(name)))
    )
    control = any(
        types & (type_words(record_type.label) | type_words(record_type.message))
        for record_type in ControlRecordType
    )
    return frozenset(key for key in keys if key is not None), control


class EntryReader:
    """Reads ranges of files for one source."""

    def __init__(
        self,
        narrowing: Narrowing,
        *,
        show_secrets: bool = False,
        batches_only: bool = False,
        frames_only: bool = False,
        native: NativeColumns | None = None,
    ) -> None:
        """`frames_only`: of sound batches the frames of records are read and not what is in them;
        such a record has no type and no data. `native` keeps the rows that it reads for the caller,
        who takes them as soon as it is full."""
        self.native = native
        self._narrowing = narrowing
        self._show_secrets = show_secrets
        self._batches_only, self._frames_only = batches_only, frames_only
        self._dump = LogDump(show_secrets=show_secrets, batches_only=batches_only)
        self._problems = narrowing.wants_kind("problem")
        self._rows = narrowing.wants_kind("batch" if batches_only else "record")
        selection = narrowing.selection
        self._selected = LogDump(selection) if selection.looks_into_records else None
        self._keys = _keys_of(selection.types) if selection.types else None
        self._whole = self._rows and not batches_only and self._selected is None
        self._any_batch = narrowing.takes_all_batches

    def of(self, split: Split) -> Iterator[Entry | NativeRows]:
        """The entries of one range that are wanted; a file that cannot be read is a problem."""
        file = split.file
        if not self._batches_only and file.in_topic:
            return
        try:
            with file.open() as source:
                walk = Walk(source.read_at, WalkState.at(split.start), stop=split.stop)
                for item in walk if self.native is None else walk.spans():
                    if isinstance(item, BatchSpan):
                        yield from self._span(file.name, item)
                    else:
                        yield from self._item(file.name, item)
        except KraftoolError as error:
            if self._problems:
                hint = f" ({error.hint})" if error.hint else ""
                yield Unreadable(
                    file=file.name, position=split.start, reason=f"{error.message}{hint}"
                )

    def _span(self, file: str, span: BatchSpan) -> Iterator[Entry | NativeRows]:
        """The same of a span: what the native reader does not take is for Python."""
        assert self.native is not None, "there are spans for it alone"
        at, for_python = span.at, 1
        while at < span.end:
            before = at
            taken = self.native.read(span, at)
            at = taken.end
            if taken.records or taken.is_full:
                yield taken
            if not taken.is_stuck:
                continue
            # Of a log that is not plain, Python takes more and more at a time.
            for_python = 1 if at > before else min(2 * for_python, _MOST_FOR_PYTHON)
            for _ in range(for_python):
                if at < span.end:
                    batch = span.batch(at)
                    at += batch.size
                    yield from self._item(file, batch)

    def _item(self, file: str, item: Item) -> Iterator[Entry]:
        batch = batch_of(item)
        if isinstance(item, Faulty) and batch is None:
            # The audit judges the order of batches: it knows what is before a range.
            if self._problems and item.fault.cuts:
                yield from self._dump.item(file, item)
            return
        assert batch is not None, "what is not faulty is a batch"
        sound = not isinstance(item, Faulty)
        wanted = self._rows and (self._any_batch or self._narrowing.may_hold(batch, sound=sound))
        plain = self._plain(file, item) if wanted and self._whole else None
        if plain is not None:
            yield plain
        elif wanted and self._keys is not None and not self._problems:
            yield from self._of_types(file, batch, *self._keys, valid=sound)
        elif wanted or self._problems:
            yield from self._looked_into(file, item, wanted=wanted)

    def _plain(self, file: str, batch: Item) -> BatchEntry | None:
        """A batch in which nothing is wrong, as nearly all are; the others are looked into."""
        if isinstance(batch, Faulty) or batch.header.record_count > _PART:
            return None
        try:
            if self._frames_only:
                is_control = batch.is_control
                frames = [
                    LogRecord(record, is_control, "", "", None, None) for record in batch.records()
                ]
                return BatchEntry(file, batch, True, frames)
            records = list(decode_batch(batch))
        except DecodeError:
            return None
        if any(map(_error, records)):
            return None
        if not self._show_secrets and not SENSITIVE_KEYS.isdisjoint(map(_api_key, records)):
            records = [self._masked(record) for record in records]
        return BatchEntry(file, batch, True, records)

    def _looked_into(self, file: str, item: Item, *, wanted: bool) -> Iterator[Entry]:
        """A batch in which something may be wrong; its problems alone if no row is wanted."""
        for entry in self._dump.item(file, item):
            if isinstance(entry, Fault):
                if self._problems:
                    yield entry
            elif wanted and self._selected is not None and not self._batches_only:
                chosen = list(filter(self._selected.selects, entry.records))
                yield replace(entry, records=chosen)
            elif wanted:
                yield entry

    def _of_types(
        self, file: str, batch: RecordBatch, keys: frozenset[int], control: bool, *, valid: bool
    ) -> Iterator[BatchEntry]:
        """The records of some types alone; the others are not decoded."""
        if batch.is_control:
            if not control:
                return
            log_records: Iterator[LogRecord] = map(decode_control, batch.records())
        elif keys:
            prefixes = frozenset(b"\x01" + bytes([key]) for key in keys if key < 0x80)
            log_records = decode_data(
                record for record in batch.records() if _may_be(record, prefixes, keys)
            )
        else:
            return
        first = True
        while True:
            part: list[LogRecord] = []
            ended = False
            try:
                part.extend(islice(log_records, _PART))
            except DecodeError:
                ended = True  # a problem of the file, which is told elsewhere
            ended = ended or len(part) < _PART
            wanted = part if self._selected is None else filter(self._selected.selects, part)
            records = [self._masked(record) for record in wanted]
            if records:
                yield BatchEntry(file, batch, valid, records, continued=not first)
                first = False
            if ended:
                return

    def _masked(self, item: LogRecord) -> LogRecord:
        if self._show_secrets or item.is_control or item.data is None:
            return item
        if item.api_key not in SENSITIVE_KEYS:
            return item
        return item._replace(data=redact(item.name, item.data))


def _may_be(record: Record, prefixes: frozenset[bytes], keys: frozenset[int]) -> bool:
    """True if a record is of one of the types; a frame of unusual form is decoded to know."""
    value = record.value
    if value is None or len(value) < 2:
        return False
    if value[0] == 1 and value[1] < 0x80:
        return value[:2] in prefixes
    return decode_metadata(record).api_key in keys
