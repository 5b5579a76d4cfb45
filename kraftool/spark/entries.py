"""What one range of a file holds, as dump-log's entries: batches with their records, and problems.

Owns the passing over of what nobody asked for, before it is decoded where that can be. What is
decoded, masked and told of damage is the log dump's own doing, so that the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from operator import itemgetter

from kraftool.decoders import schema
from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.log_record import (
    LogRecord,
    decode_batch,
    decode_control,
    decode_data,
    decode_metadata,
)
from kraftool.decoders.redact import SENSITIVE_KEYS, redact
from kraftool.decoders.segment import scan
from kraftool.reports.log_dump import BatchEntry, Entry, LogDump, Problem
from kraftool.spark.pushdown import Pushed
from kraftool.spark.splits import Split

_PART = 10_000
"""Records of one batch that are in memory at a time: a small gzip batch can hold millions."""

_api_key, _error = (itemgetter(LogRecord._fields.index(name)) for name in ("api_key", "error"))


@dataclass(frozen=True, slots=True)
class Unreadable(Problem):
    """The file itself cannot be read, so that neither its records nor its batches are known."""


def type_text(item: LogRecord) -> str:
    """A record's type as dump-log names it, whether it could be decoded or not."""
    if item.type:
        return item.type
    return f"UNKNOWN({item.api_key if item.api_key is not None else '?'})"


@cache
def _keys_of(types: frozenset[str]) -> tuple[frozenset[int], bool] | None:
    """The api keys of data record types, and if a control type is among them; None if a type is
    not in the catalogue, so that only decoding would tell."""
    data = {schema.record_type(name): name for name in schema.names("metadata")}
    control = {each.label for each in ControlRecordType}
    if not types <= data.keys() | control:
        return None
    keys = [schema.message(data[each]).api_key for each in types if each in data]
    return frozenset(each for each in keys if each is not None), bool(types & control)


class Entries:
    """Reads ranges of files for one source."""

    def __init__(
        self, pushed: Pushed, *, show_secrets: bool = False, batches_only: bool = False
    ) -> None:
        self._pushed = pushed
        self._show_secrets = show_secrets
        self._batches_only = batches_only
        self._dump = LogDump(show_secrets=show_secrets, batches_only=batches_only)
        self._problems = pushed.wants_kind("problem")
        self._rows = pushed.wants_kind("batch" if batches_only else "record")
        self._keys = None if pushed.types is None else _keys_of(pushed.types)
        self._whole = self._rows and not batches_only and not pushed.looks_into_records
        self._any_batch = pushed.offset.is_all and pushed.ms.is_all and pushed.epoch.is_all

    def of(self, split: Split) -> Iterator[Entry]:
        """The entries of one range that are wanted; a file that cannot be read is a problem."""
        file = split.file
        if not self._batches_only and file.in_topic:
            return
        try:
            with file.open() as source:
                for item in scan(source.read_at, split.start, split.stop):
                    if not isinstance(item, RecordBatch):
                        if self._problems:
                            yield from self._dump.item(file.name, item)
                    elif self._any_batch or self._pushed.may_hold(item):
                        plain = self._plain(file.name, item) if self._whole else None
                        if plain is None:
                            yield from self._batch(file.name, item)
                        else:
                            yield plain
        except KraftoolError as error:
            if self._problems:
                hint = f" ({error.hint})" if error.hint else ""
                yield Unreadable(file.name, split.start, f"{error.message}{hint}")

    def _plain(self, file: str, batch: RecordBatch) -> BatchEntry | None:
        """A batch in which nothing is wrong, as nearly all are; the others are looked into."""
        if batch.header.record_count > _PART or not batch.is_valid:
            return None
        try:
            records = list(decode_batch(batch))
        except DecodeError:
            return None
        if any(map(_error, records)):
            return None
        if not self._show_secrets and not SENSITIVE_KEYS.isdisjoint(map(_api_key, records)):
            records = [self._masked(each) for each in records]
        return BatchEntry(file, batch, True, records)

    def _batch(self, file: str, batch: RecordBatch) -> Iterator[Entry]:
        if self._keys is not None and not self._problems:
            yield from self._of_types(file, batch, *self._keys)
            return
        for entry in self._dump.batch(file, batch):
            if isinstance(entry, Problem):
                if self._problems:
                    yield entry
            elif not self._rows:
                continue
            elif self._pushed.looks_into_records and not self._batches_only:
                yield replace(entry, records=[each for each in entry.records if self._wants(each)])
            else:
                yield entry

    def _wants(self, item: LogRecord) -> bool:
        pushed = self._pushed
        return (
            item.record.offset in pushed.offset
            and item.record.timestamp in pushed.ms
            and (pushed.types is None or type_text(item) in pushed.types)
        )

    def _of_types(
        self, file: str, batch: RecordBatch, keys: frozenset[int], control: bool
    ) -> Iterator[BatchEntry]:
        """The records of some types alone; the others are not decoded."""
        if batch.is_control:
            if not control:
                return
            found: Iterator[LogRecord] = map(decode_control, batch.records())
        elif keys:
            prefixes = frozenset(b"\x01" + bytes([each]) for each in keys if each < 0x80)
            found = decode_data(each for each in batch.records() if _may_be(each, prefixes, keys))
        else:
            return
        valid, first = batch.is_valid, True
        while True:
            part: list[LogRecord] = []
            ended = False
            try:
                part.extend(islice(found, _PART))
            except DecodeError:
                ended = True  # a problem of the file, which is told elsewhere
            ended = ended or len(part) < _PART
            records = [self._masked(each) for each in part if self._wants(each)]
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
    """Whether a record is of one of the types; a frame of unusual form is decoded to know."""
    value = record.value
    if value is None or len(value) < 2:
        return False
    if value[0] == 1 and value[1] < 0x80:
        return value[:2] in prefixes
    return decode_metadata(record).api_key in keys
