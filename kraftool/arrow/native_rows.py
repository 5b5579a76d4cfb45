"""The columns of `kraft` and `kraft.<RecordType>` that are filled natively.

Owns what each column has for the records of plain batches, and where such records are among those
that Python read. It refuses to know how a column is read: see `native_columns.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kraftool.arrow.columns import arrow_type, column_of, message_of, typed_fields
from kraftool.arrow.moments import instants
from kraftool.arrow.native_columns import NativeChunk, NativeColumns, in_order
from kraftool.arrow.untyped import Array, ArrowType, pa, pc
from kraftool.arrow.words import Words, words_of
from kraftool.decoders import schema
from kraftool.decoders.schema import Field

Make = Callable[[NativeChunk, ArrowType], Array]
Maker = Callable[[list[Any], ArrowType], Array]


class MixedRows:
    """Rows that were read natively among others, in the order in which they were read."""

    def __init__(
        self, reader: NativeColumns, makes: Mapping[str, Make], makers: Mapping[str, Maker]
    ) -> None:
        self.reader, self._makes, self._makers = reader, makes, makers
        self._runs: list[tuple[bool, int]] = []
        self._chunk: NativeChunk | None = None
        self._order: Array | None = None

    def add(self, count: int, *, is_native: bool) -> None:
        """Note that so many rows follow."""
        if self._runs and self._runs[-1][0] is is_native:
            count += self._runs.pop()[1]
        self._runs.append((is_native, count))

    def take(self) -> None:
        """Take what the reader has; `column` has it from now on."""
        runs, self._runs = self._runs, []
        self._chunk = self.reader.take()
        self._order = None
        if len(runs) > 2 or [is_native for is_native, _ in runs] == [False, True]:
            self._order = _order(runs, self._chunk.records)

    def column(self, name: str, others: Array) -> Array:
        """A column of all rows; `others` has those that were not read natively."""
        chunk, kind = self._chunk, others.type
        assert chunk is not None, "it was taken"
        if not chunk.records:
            return others
        if name in self._makers:
            own = self._makers[name](
                chunk.of_records["payload"].cast(pa.binary()).to_pylist(), kind
            )
        else:
            own = self._makes[name](chunk, kind)
        if not len(others):
            return own
        both = pa.concat_arrays([own, others])
        return both if self._order is None else both.take(self._order)


def _order(runs: list[tuple[bool, int]], native: int) -> Array:
    """Return where each row is, if those that were read natively come first."""
    numbers: list[int] = []
    at = {True: 0, False: native}
    for is_native, count in runs:
        numbers += range(at[is_native], at[is_native] + count)
        at[is_native] += count
    return pa.array(numbers, pa.int32())


def _of_record(name: str) -> Make:
    return lambda chunk, kind: chunk.of_records[name]


def _of_batch(name: str) -> Make:
    return lambda chunk, kind: chunk.of_batch(name)


def _same(value: Any) -> Make:
    return lambda chunk, kind: pa.repeat(pa.scalar(value, kind), chunk.records)


def _nulls(chunk: NativeChunk, kind: ArrowType) -> Array:
    return pa.nulls(chunk.records, kind)


_OF_PLACE: dict[str, Make] = {
    "position": _of_record("position"),
    "base_offset": _of_batch("base_offset"),
    "offset": _of_record("offset"),
    "epoch": _of_batch("epoch"),
    "timestamp": lambda chunk, kind: instants(chunk.of_batch("timestamp_ms"), kind),
    "timestamp_ms": _of_batch("timestamp_ms"),
    "type": lambda chunk, kind: chunk.type_names,
    "version": lambda chunk, kind: chunk.type_versions,
    "valid": _same(True),
    "error": _nulls,
}

OF_RECORDS: Mapping[str, Make] = {
    **_OF_PLACE,
    "kind": _same("record"),
    "control": _same(False),
    "key_size": _same(-1),
    "value_size": _of_record("value_size"),
    "payload": _of_record("payload"),
    "raw": _nulls,
    "damage": _nulls,
    "size": _nulls,
}
"""The columns of `kraft`."""


def of_type(record: str) -> Mapping[str, Make]:
    """The columns of `kraft.<RecordType>`."""
    known = {field.name: field for field in schema.message(message_of(record)).fields}
    fields = {column_of(field.name): _field(field.name) for field in typed_fields(record)}
    words = {
        name: _words(known[number], kafkas) for name, (number, kafkas) in words_of(record).items()
    }
    return {**_OF_PLACE, **fields, **words}


def fields_of(record: str, wanted: frozenset[str]) -> frozenset[str]:
    """The fields of a record type that some columns are made from."""
    words = {number for name, (number, _) in words_of(record).items() if name in wanted}
    own = {field.name for field in typed_fields(record) if column_of(field.name) in wanted}
    return frozenset(words | own)


def _field(name: str) -> Make:
    def make(chunk: NativeChunk, kind: ArrowType) -> Array:
        return in_order(chunk, [rows.array(name, kind) for rows in chunk.types])

    return make


def _words(number: Field, words: Words) -> Make:
    """A column of words for a field that is a number; Kafka leaves out a tagged default."""
    of_number, default = _field(number.name), int(number.default or 0)

    def make(chunk: NativeChunk, kind: ArrowType) -> Array:
        numbers = pc.fill_null(of_number(chunk, arrow_type(number)), default)
        which = pc.index_in(numbers.cast(pa.int64()), pa.array(list(words), pa.int64()))
        return pa.array(list(words.values()), kind).take(which)

    return make
