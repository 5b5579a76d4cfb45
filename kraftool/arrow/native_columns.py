"""Rows of plain batches as Arrow's columns, filled natively.

Owns the arrays that are made of the native module's buffers, and which programs it gets. It stops
at whatever is not plain; `entries.py` has Python read that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kraftool.arrow.narrowing import Narrowing
from kraftool.arrow.untyped import Array, ArrowType, pa
from kraftool.decoders import fast_path, schema
from kraftool.decoders.programs import program
from kraftool.decoders.segment import BatchSpan
from kraftool.reports.logs.dump import type_words
from kraftool.reports.logs.native_renderer import is_in_range

if TYPE_CHECKING:
    from kraftool.decoders._native import Cells

Chosen = Mapping[str, frozenset[str]]
"""By record type, the fields that become columns."""


class NativeRows(NamedTuple):
    """So many rows of a range were read, and wait in the reader."""

    end: int
    """How far the span was read."""
    records: int
    batches: int
    size: int
    is_full: bool
    """True if they have to be taken before more can be read."""
    is_stuck: bool
    """True if Python has to read the next batch."""


class TypeRows(NamedTuple):
    """The records of one type and version, and their fields by Kafka's names."""

    number: int
    name: str
    version: int
    records: int
    fields: Mapping[str, Cells]

    def array(self, field: str, kind: ArrowType) -> Array:
        """A field as a column; null where the version lacks it."""
        cells = self.fields.get(field)
        return pa.nulls(self.records, kind) if cells is None else arrow_column(cells, kind)


class NativeChunk(NamedTuple):
    """Rows that were taken: of batches, of records, and of the fields of each type."""

    batches: int
    of_batches: Mapping[str, Array]
    records: int
    of_records: Mapping[str, Array]
    """`batch` is the row of a record's batch, `type_number` that of `names` and `versions`."""
    types: list[TypeRows]
    names: Array
    versions: Array

    def of_batch(self, name: str) -> Array:
        """A column of the batches for each record."""
        return self.of_batches[name].take(self.of_records["batch"])

    @property
    def type_names(self) -> Array:
        """The name of each record's type."""
        return self.names.take(self.of_records["type_number"])

    @property
    def type_versions(self) -> Array:
        """The version of each record."""
        return self.versions.take(self.of_records["type_number"])


_OF_BATCHES = {
    "position": pa.int64(),
    "base_offset": pa.int64(),
    "count": pa.int32(),
    "epoch": pa.int32(),
    "timestamp_ms": pa.int64(),
    "size": pa.int64(),
    "crc": pa.int64(),
}
_OF_RECORDS = {
    "batch": pa.int32(),
    "position": pa.int64(),
    "offset": pa.int64(),
    "type_number": pa.int32(),
    "value_size": pa.int32(),
}
_INT32 = 1 << 31


class NativeColumns:
    """Reads spans, and keeps their rows until they are taken."""

    def __init__(
        self,
        narrowing: Narrowing,
        *,
        masked: bool,
        full_rows: int,
        full_bytes: int,
        payloads: bool = False,
        frames_only: bool = False,
        chosen: Chosen | None = None,
    ) -> None:
        """`chosen`: fields become columns. `frames_only`: records have no type and no payload."""
        from kraftool.decoders._native import Columns

        selection = narrowing.selection
        self._masked, self._types, self._chosen = masked, selection.types, chosen
        self._payloads = payloads
        self._names: list[str] = []
        self._versions: list[int] = []
        first_epoch, last_epoch = narrowing.epochs
        self._columns = Columns(
            full_rows=full_rows,
            full_bytes=full_bytes,
            rows=narrowing.wants_kind("record"),
            checks=narrowing.wants_kind("problem"),
            frames_only=frames_only and not selection.types,
            payloads=payloads,
            fields=chosen is not None,
            first_epoch=first_epoch,
            last_epoch=last_epoch,
            first_offset=selection.first_offset,
            last_offset=selection.last_offset,
            since=selection.since,
            until=selection.until,
        )

    def read(self, span: BatchSpan, at: int) -> NativeRows:
        """Read a span from `at` on. If nothing can be read, `end` is `at`."""
        columns, start = self._columns, span.data_position
        records, batches, size = columns.counts
        end = at
        while True:
            end, reason = columns.read(span.data, end, span.end, start)
            if reason < 0:
                break
            self._learn(reason >> 8, reason & 0xFF)
        after = columns.counts
        return NativeRows(
            end,
            after[0] - records,
            after[1] - batches,
            after[2] - size,
            reason == fast_path.FULL,
            reason == fast_path.NOT_PLAIN,
        )

    def take(self) -> NativeChunk:
        """Take the rows that were read."""
        batches, of_batches, records, of_records, types = self._columns.take()
        rows = {
            name: _numbers(data, kind, records)
            for (name, kind), data in zip(_OF_RECORDS.items(), of_records, strict=False)
        }
        if self._payloads:
            *_, ends, payloads = of_records
            cells: Cells = (records, 0, [None, bytes(4) + ends, payloads], [])
            rows["payload"] = arrow_column(cells, pa.string())
        return NativeChunk(
            batches,
            {
                name: _numbers(data, kind, batches)
                for (name, kind), data in zip(_OF_BATCHES.items(), of_batches, strict=True)
            },
            records,
            rows,
            [
                TypeRows(number, self._names[number], self._versions[number], count, dict(fields))
                for number, count, fields in types
            ],
            pa.array(self._names, pa.string()),
            pa.array(self._versions, pa.int32()),
        )

    def _learn(self, api_key: int, version: int) -> None:
        """Give the reader the program of a record type, or have it stop there."""
        message = schema.metadata_record(api_key)
        code = program(api_key, version, masked=self._masked)
        if message is None or code is None:
            self._columns.refuse(api_key, version)
            return
        names = type_words(message.name) | type_words(schema.record_type(message.name))
        is_shown = not self._types or not names.isdisjoint(self._types)
        wanted = (self._chosen or {}).get(message.name, frozenset())
        # In the order of the program.
        present = [field.name for field in message.fields if version in field.versions]
        chosen = [name in wanted for name in present]
        self._columns.add(api_key, version, code, is_shown, chosen)
        self._names.append(message.name)
        self._versions.append(version)


def can_read(narrowing: Narrowing) -> bool:
    """True if the native reader knows what is wanted; if not, Python has to read everything."""
    if not fast_path.is_native() or not is_in_range(narrowing.selection):
        return False
    return all(epoch is None or -_INT32 <= epoch < _INT32 for epoch in narrowing.epochs)


def _numbers(data: bytes, kind: ArrowType, count: int) -> Array:
    return arrow_column((count, 0, [None, data], []), kind)


def arrow_column(cells: Cells, kind: ArrowType) -> Array:
    """A column whose buffers are as large as they must be."""
    array = _array(cells, kind)
    array.validate()
    return array


def _array(cells: Cells, kind: ArrowType) -> Array:
    count, nulls, data, within = cells
    buffers = [None if buffer is None else pa.py_buffer(buffer) for buffer in data]
    children = None
    if pa.types.is_struct(kind):
        parts = dict(within)
        children = [
            _array(parts[part.name], part.type)
            if part.name in parts
            else pa.nulls(count, part.type)
            for part in kind
        ]
    elif pa.types.is_list(kind):
        ((_, elements),) = within
        children = [_array(elements, kind.value_type)]
    return pa.Array.from_buffers(kind, count, buffers, nulls, children=children)
