"""Decoded batches as the rows of every table at once: records, batches, and a table for each type.

Owns the step from a few thousand records to Arrow columns. What a record has in common with others
of its batch is taken along in Arrow, and the fields of a type from the very dicts that the payload
is made of, so that nothing is decoded twice. The rows are those of the data sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import orjson

from kraftool.arrow.columns import arrow_type, column_of, message_of, record_types, typed_fields
from kraftool.arrow.entries import type_text
from kraftool.arrow.moments import instants
from kraftool.arrow.rows import OF_PROBLEMS, error_text, payload
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import Array, ArrowBatch, ArrowSchema, ArrowType, pa, pc
from kraftool.decoders import compression
from kraftool.decoders.batch import CONTROL, HEADER_SIZE, TRANSACTIONAL, BatchHeader, Record
from kraftool.decoders.codec import has_doubles
from kraftool.decoders.errors import Fault
from kraftool.decoders.log_record import LogRecord
from kraftool.decoders.schema import message
from kraftool.reports.logs.dump import BatchEntry, raw_value
from kraftool.reports.text.printable import file_text

Arrays = dict[str, Array]

_OF_BATCHES = (
    "node_id", "directory_id", "directory", "file", "generation", "base_offset", "epoch", "valid",
)  # fmt: skip
"""What the rows of records take from their batch."""
_OF_PLACE = (*_OF_BATCHES, "position", "offset", "timestamp_ms", "type", "version", "error")
"""What the rows of a type take from those of the records."""


class Read(NamedTuple):
    """A batch, or a part of one, and of which range it was read."""

    entry: BatchEntry
    split: Split


class Rows(NamedTuple):
    """Rows of a table, of any days. A row without a time of its own has null for it."""

    table: str
    arrays: Arrays
    number: int
    milliseconds: Array

    def batch(self, arrow: ArrowSchema) -> ArrowBatch:
        """The rows with the columns of a schema; what they do not have is null."""
        arrays = []
        for field in arrow:
            array = self.arrays.get(field.name)
            if array is None and field.name == "timestamp":
                array = instants(self.milliseconds, field.type)
            if array is None:
                array = pa.nulls(self.number, field.type)
            arrays.append(array)
        return pa.RecordBatch.from_arrays(arrays, schema=arrow)


def repeated(value: Any, count: int, kind: ArrowType) -> Array:
    """A column of one value."""
    if value is None:
        return pa.nulls(count, kind)
    if pa.types.is_nested(kind):  # of which Arrow repeats one element after the other
        return pa.array([value], kind).take(pa.repeat(pa.scalar(0, pa.int32()), count))
    return pa.repeat(pa.scalar(value, kind), count)


def _column(values: Sequence[Any], kind: ArrowType) -> Array:
    """A column of values that are nearly always the same."""
    first = values[0]
    if values.count(first) == len(values):
        return repeated(first, len(values), kind)
    return pa.array(values, kind)


def identity(splits: Sequence[Split]) -> Arrays:
    """Return whose rows they are."""
    text = pa.string()
    owners = [split.file.directory for split in splits]
    return {
        "node_id": _column([owner.node_id for owner in owners], pa.int32()),
        "directory_id": _column([owner.directory_id for owner in owners], text),
        "directory": _column([file_text(owner.name) for owner in owners], text),
        "file": _column([file_text(split.file.name) for split in splits], text),
        "generation": _column([split.generation for split in splits], pa.int32()),
    }


def _spread(own: Arrays, splits: Sequence[Split]) -> Arrays:
    """The identity for each of many batches; of a range it is found out once."""
    distinct = list({id(split): split for split in splits}.values())
    arrays = identity(distinct)
    if len(distinct) == 1:
        arrays = {name: pa.repeat(array[0], len(splits)) for name, array in arrays.items()}
    else:
        number = {id(split): index for index, split in enumerate(distinct)}
        which = pa.array([number[id(split)] for split in splits], pa.int32())
        arrays = {name: array.take(which) for name, array in arrays.items()}
    return {**arrays, **own}


def _of_batches(reads: Sequence[Read]) -> Arrays:
    batches = [read.entry.batch for read in reads]
    headers = BatchHeader._make(zip(*[batch.header for batch in batches], strict=True))
    attributes: Any = headers.attributes
    codecs = {attribute: compression.name_of(attribute) for attribute in set(attributes)}
    own = {
        "position": pa.array([batch.position for batch in batches], pa.int64()),
        "base_offset": pa.array(headers.base_offset, pa.int64()),
        "last_offset": pa.array([batch.last_offset for batch in batches], pa.int64()),
        "count": pa.array(headers.record_count, pa.int32()),
        "epoch": pa.array(headers.partition_leader_epoch, pa.int32()),
        "timestamp_ms": pa.array(headers.max_timestamp, pa.int64()),
        "size": pa.array([len(batch.data) for batch in batches], pa.int64()),
        "magic": pa.array(headers.magic, pa.int32()),
        "compression": pa.array([codecs[attribute] for attribute in attributes], pa.string()),
        "control": pa.array([bool(attribute & CONTROL) for attribute in attributes], pa.bool_()),
        "transactional": pa.array(
            [bool(attribute & TRANSACTIONAL) for attribute in attributes], pa.bool_()
        ),
        "crc": pa.array(headers.crc, pa.int64()),
        "valid": pa.array([read.entry.valid for read in reads], pa.bool_()),
    }
    return _spread(own, [read.split for read in reads])


def rows(reads: Sequence[Read], *, show_secrets: bool) -> Iterator[Rows]:
    """The rows of some batches, for every table that has any."""
    if not reads:
        return
    batches = _of_batches(reads)
    whole = [number for number, read in enumerate(reads) if not read.entry.continued]
    yield _some("batches", _kind(batches, "batch"), len(reads), whole)
    items = [item for read in reads for item in read.entry.records]
    if items:
        yield from _of_records(reads, batches, items, show_secrets=show_secrets)


def _kind(arrays: Arrays, kind: str) -> Arrays:
    return {**arrays, "kind": repeated(kind, len(arrays["file"]), pa.string())}


def _some(table: str, arrays: Arrays, count: int, chosen: list[int]) -> Rows:
    if len(chosen) < count:
        which = pa.array(chosen, pa.int32())
        arrays = {name: array.take(which) for name, array in arrays.items()}
    return Rows(table, arrays, len(chosen), arrays["timestamp_ms"])


def _of_records(
    reads: Sequence[Read], batches: Arrays, items: list[LogRecord], *, show_secrets: bool
) -> Iterator[Rows]:
    counts = [len(read.entry.records) for read in reads]
    which = pa.array(
        [number for number, count in enumerate(counts) for _ in range(count)], pa.int32()
    )
    arrays = {name: batches[name].take(which) for name in _OF_BATCHES}
    # Columns of tuples at once, in place of a loop for each.
    columns: Any = LogRecord._make(zip(*items, strict=True))
    record: Any = Record._make(zip(*columns.record, strict=True))
    within = record.position
    if any(read.entry.batch.compression != "none" for read in reads):
        within = [
            item.record.position if read.entry.batch.compression == "none" else HEADER_SIZE
            for read in reads
            for item in read.entry.records
        ]
    arrays["position"] = pc.add(batches["position"].take(which), pa.array(within, pa.int64()))
    arrays["offset"] = pa.array(record.offset, pa.int64())
    arrays["timestamp_ms"] = pa.array(record.timestamp, pa.int64())
    are_named = "" not in columns.name and not any(columns.is_control)
    types = columns.name if are_named else [type_text(item) for item in items]
    arrays["type"] = pa.array(types, pa.string())
    arrays["version"] = pa.array(columns.version, pa.int32())
    sound = None not in columns.data and None not in columns.version
    if not sound or any(columns.error):
        arrays["error"] = pa.array([error_text(item) for item in items], pa.string())
    else:
        arrays["error"] = pa.nulls(len(items), pa.string())
    yield from _of_types(arrays, types, columns.data)
    arrays = _kind(arrays, "record")
    arrays["control"] = pa.array(columns.is_control, pa.bool_())
    arrays["key_size"] = _sizes(record.key)
    arrays["value_size"] = _sizes(record.value)
    arrays["payload"] = _payloads(columns, items, sound=sound)
    if not sound:
        raws = [
            raw_value(read.entry, item, show_secrets=show_secrets) if item.data is None else None
            for read in reads
            for item in read.entry.records
        ]
        arrays["raw"] = pa.array(raws, pa.binary())
    yield Rows("records", arrays, len(items), arrays["timestamp_ms"])


def _payloads(columns: Any, items: list[LogRecord], *, sound: bool) -> Array:
    """Kafka's JSON. Most of it is orjson's own, which a look at all of it together tells."""
    if sound and not any(map(has_doubles, set(columns.name))):
        texts = pa.array([orjson.dumps(fields) for fields in columns.data], pa.binary())
        if b"\\u" not in texts.buffers()[2].to_pybytes():
            return texts.cast(pa.string())
    return pa.array([payload(item) for item in items], pa.binary()).cast(pa.string())


def _sizes(parts: Sequence[bytes | None]) -> Array:
    return pa.array([-1 if part is None else len(part) for part in parts], pa.int32())


def _of_types(
    arrays: Arrays, types: Sequence[str], data: Sequence[dict[str, Any] | None]
) -> Iterator[Rows]:
    """The rows of each type, for which the catalogue has a name."""
    place = {name: arrays[name] for name in _OF_PLACE}
    numbers_of: dict[str, list[int]] = {}
    for number, name in enumerate(types):
        if name in numbers_of:
            numbers_of[name].append(number)
        else:
            numbers_of[name] = [number]
    for name, numbers in numbers_of.items():
        if name not in record_types():
            continue
        chosen = _some(name, place, len(types), numbers)
        own = data if len(numbers) == len(data) else [data[n] for n in numbers]
        yield chosen._replace(arrays={**chosen.arrays, **_fields(name, own)})


def _fields(name: str, data: Sequence[dict[str, Any] | None]) -> Arrays:
    kind, columns = struct_of(name)
    if not columns:
        return {}
    return dict(zip(columns, pa.array(data, kind).flatten(), strict=True))


@cache
def struct_of(name: str) -> tuple[Any, tuple[str, ...]]:
    """A type's fields as an Arrow struct by Kafka's names, and the columns that they become."""
    known = {field.name for field in message(message_of(name)).fields}
    fields = [typed_field for typed_field in typed_fields(name) if typed_field.name in known]
    kinds = [(field.name, arrow_type(field)) for field in fields]
    return pa.struct(kinds), tuple(column_of(field.name) for field in fields)


def problem_rows(table: str, problems: Sequence[tuple[Fault, Split]]) -> Rows:
    """Return what could not be decoded, as rows of `records` or `batches`; none has a time."""
    kinds: dict[str, Callable[[], Any]] = {
        "kind": pa.string,
        "position": pa.int64,
        "error": pa.string,
        "damage": pa.string,
        "size": pa.int64,
    }
    count = len(problems)
    arrays = identity([split for _, split in problems])
    for name, tell in OF_PROBLEMS.items():
        arrays[name] = pa.array([tell(problem) for problem, _ in problems], kinds[name]())
    return Rows(table, arrays, count, pa.nulls(count, pa.int64()))
