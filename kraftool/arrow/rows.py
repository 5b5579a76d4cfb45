"""Ranges of files as Arrow record batches, column by column.

Owns how entries become columns, and how large an Arrow batch gets. It refuses to choose: which
ranges, which rows and which columns come from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kraftool.arrow.columns import column_of, message_of, typed_fields
from kraftool.arrow.entries import EntryReader, type_text
from kraftool.arrow.fleet import FleetDirectory, Unread
from kraftool.arrow.moments import instants
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import Array, ArrowBatch, ArrowSchema, ArrowType, pa
from kraftool.arrow.words import Words, words_of
from kraftool.decoders import schema
from kraftool.decoders.codec import has_doubles, json_text
from kraftool.decoders.errors import Fault
from kraftool.decoders.fault import LogFault
from kraftool.decoders.log_record import LogRecord, position_in_file
from kraftool.decoders.schema import KAFKA, Field
from kraftool.reports.logs.dump import BatchEntry, Entry, raw_value
from kraftool.reports.text.printable import file_text

if TYPE_CHECKING:
    from kraftool.arrow.native_columns import NativeRows
    from kraftool.arrow.native_rows import MixedRows

ROWS = 10_000
"""Rows of an Arrow batch, about."""
PAYLOAD = 16 << 20
"""Bytes of payload after which an Arrow batch is handed on, however few rows it has."""

Fill = Callable[[BatchEntry], Sequence[Any]]
Tell = Callable[[Fault], Any]
Maker = Callable[[list[Any], ArrowType], Array]


class ArrowRows:
    """Columns that grow until they are handed on as an Arrow batch."""

    def __init__(self, arrow: ArrowSchema, makers: Mapping[str, Maker] | None = None) -> None:
        """`makers` has the columns whose arrays are not made in the usual way."""
        self._arrow, self._makers = arrow, makers or {}
        self.columns: dict[str, list[Any]] = {name: [] for name in arrow.names}
        self.made: dict[str, Array] = {}
        """Columns that are arrays already, with moments as milliseconds."""
        self._runs: dict[str, list[tuple[Any, int]]] = {}
        self._repeats = _Repeats()
        self.rows = 0
        self.weight = 0

    @property
    def is_full(self) -> bool:
        return self.rows >= ROWS or self.weight >= PAYLOAD

    def same(self, name: str, value: Any, count: int) -> None:
        """Add a value so many times: what a whole file has in common is not spread out."""
        if name in self.columns:
            self._runs.setdefault(name, []).append((value, count))

    def take(self, native: MixedRows | None = None) -> ArrowBatch:
        """Return what has come together, as a batch; and start again without rows. `native` has the
        rows that were counted and are not in the columns."""
        if native is not None:
            native.take()
        arrays = []
        for field in self._arrow:
            runs = self._runs.get(field.name)
            if runs is not None:
                arrays.append(self._repeats.column(field.name, runs, field.type))
            elif field.name in self.made:
                made = self.made[field.name]
                is_moment = pa.types.is_timestamp(field.type)
                arrays.append(instants(made, field.type) if is_moment else made)
            else:
                make = self._makers.get(field.name, _array)
                made = make(self.columns[field.name], field.type)
                arrays.append(made if native is None else native.column(field.name, made))
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._arrow)
        self.columns = {name: [] for name in self._arrow.names}
        self.made, self._runs, self.rows, self.weight = {}, {}, 0, 0
        return batch


class _Repeats:
    """Columns of one value: what a file has in common is the same from batch to batch."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, Array]] = {}

    def column(self, name: str, runs: list[tuple[Any, int]], kind: ArrowType) -> Array:
        """A column of values, each so many times."""
        merged: list[tuple[Any, int]] = []
        for value, count in runs:
            if merged and merged[-1][0] == value:
                merged[-1] = (value, merged[-1][1] + count)
            else:
                merged.append((value, count))
        arrays = [self._one(name, value, count, kind) for value, count in merged]
        return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)

    def _one(self, name: str, value: Any, count: int, kind: ArrowType) -> Array:
        before, array = self._known.get(name, (None, ()))
        if before != value or len(array) < count:
            array = (
                pa.nulls(count, kind) if value is None else pa.repeat(pa.scalar(value, kind), count)
            )
            self._known[name] = value, array
        return array[:count]


def _array(values: list[Any], kind: ArrowType) -> Array:
    if pa.types.is_timestamp(kind):
        return _timestamps(values, kind)
    return pa.array(values, kind)


def _timestamps(values: list[int | None], kind: ArrowType) -> Array:
    return instants(pa.array(values, pa.int64()), kind)


def identity(table: ArrowRows, owner: FleetDirectory, file: str, count: int) -> None:
    """Add whose rows they are, so many times."""
    table.same("cluster_id", owner.cluster_id, count)
    table.same("node_id", owner.node_id, count)
    table.same("directory_id", owner.directory_id, count)
    table.same("directory", file_text(owner.name), count)
    table.same("file", file_text(file), count)


class RowReader:
    """Turns ranges into Arrow batches, for the columns of one schema."""

    def __init__(
        self,
        arrow: ArrowSchema,
        entries: EntryReader,
        fills: dict[str, Fill],
        tells: dict[str, Tell],
        *,
        whole_batches: bool = False,
        makers: Mapping[str, Maker] | None = None,
        native: MixedRows | None = None,
    ) -> None:
        """`native`: the rows of plain batches wait there, not in the columns."""
        self._entries, self._native = entries, native
        self._table = ArrowRows(arrow, makers)
        names = self._table.columns
        self._fills = {name: fill for name, fill in fills.items() if name in names}
        self._tells = {name: tells.get(name, _nothing) for name in self._fills}
        self._whole_batches = whole_batches

    def read(self, splits: Sequence[Split], unread: Sequence[Unread] = ()) -> Iterator[ArrowBatch]:
        """The rows of ranges, one after the other; a problem for each folder that is unread."""
        table = self._table
        for place in unread:
            self._add(Fault(reason=place.reason))
            self._own(place.owner, place.name, 0, 1)
        for split in splits:
            before = table.rows
            for entry in self._entries.of(split):
                is_full = self._add(entry)
                if is_full or table.is_full:
                    self._own_split(split, table.rows - before)
                    yield table.take(self._native)
                    before = 0
            self._own_split(split, table.rows - before)
        if table.rows:
            yield table.take(self._native)

    def _add(self, entry: Entry | NativeRows) -> bool:
        """Add the rows of an entry. True if those that were read natively have to be taken."""
        table = self._table
        if isinstance(entry, Fault):
            for name, tell in self._tells.items():
                table.columns[name].append(tell(entry))
            count = 1
        elif not isinstance(entry, BatchEntry):
            assert self._native is not None, "its reader read them"
            self._native.add(entry.records, is_native=True)
            table.rows += entry.records
            table.weight += entry.size
            return entry.is_full
        elif not self._whole_batches:
            count = self._fill(entry, len(entry.records))
        else:
            count = 0 if entry.continued else self._fill(entry, 1)
        table.rows += count
        if self._native is not None:
            self._native.add(count, is_native=False)
        return False

    def _own_split(self, split: Split, count: int) -> None:
        """Add of which range the last rows are."""
        if count:
            self._own(split.file.directory, split.file.name, split.generation, count)

    def _own(self, owner: FleetDirectory, file: str, generation: int, count: int) -> None:
        identity(self._table, owner, file, count)
        self._table.same("generation", generation, count)

    def _fill(self, entry: BatchEntry, count: int) -> int:
        if count:
            for name, fill in self._fills.items():
                self._table.columns[name] += fill(entry)
            if not self._whole_batches:
                self._table.weight += entry.batch.size
        return count


def _nothing(fault: Fault) -> None:
    return None


def _each(of: Callable[[BatchEntry], Any]) -> Fill:
    """A column whose value is the batch's, for each of its records."""
    return lambda entry: [of(entry)] * len(entry.records)


def _positions(entry: BatchEntry) -> list[int]:
    batch = entry.batch
    if batch.compression == "none":
        base = batch.position
        return [base + record.record.position for record in entry.records]
    return [position_in_file(batch, record.record) for record in entry.records]


def payload(item: LogRecord) -> bytes | None:
    if item.data is None or item.version is None:
        return None
    return json_text(item.data, doubles=has_doubles(item.name))


def _payloads(entry: BatchEntry) -> list[bytes | None]:
    return [payload(record) for record in entry.records]


def error_text(item: LogRecord) -> str | None:
    if item.error is not None:
        return file_text(item.error.describe())
    if item.data is None or item.version is None:
        return f"not known to Kafka {KAFKA}"
    return None


def _raws(entry: BatchEntry, *, show_secrets: bool) -> list[bytes | None]:
    return [
        raw_value(entry, record, show_secrets=show_secrets) if record.data is None else None
        for record in entry.records
    ]


def _size(part: bytes | None) -> int:
    return -1 if part is None else len(part)


def _timestamp(entry: BatchEntry) -> list[int]:
    return [record.record.timestamp for record in entry.records]


_OF_PLACE: dict[str, Fill] = {
    "position": _positions,
    "base_offset": _each(lambda entry: entry.batch.header.base_offset),
    "offset": lambda entry: [record.record.offset for record in entry.records],
    "epoch": _each(lambda entry: entry.batch.header.partition_leader_epoch),
    "timestamp": _timestamp,
    "timestamp_ms": _timestamp,
    "type": lambda entry: [type_text(record) for record in entry.records],
    "version": lambda entry: [record.version for record in entry.records],
    "valid": _each(lambda entry: entry.valid),
    "error": lambda entry: [error_text(record) for record in entry.records],
}

OF_PROBLEMS: dict[str, Tell] = {
    "kind": lambda fault: "problem",
    "position": lambda fault: fault.position,
    "error": lambda fault: file_text(fault.sentence()),
    "damage": lambda fault: fault.kind.value if isinstance(fault, LogFault) else None,
    "size": lambda fault: fault.size if isinstance(fault, LogFault) else None,
}


def _nones(entry: BatchEntry) -> list[None]:
    return [None] * len(entry.records)


def record_reader(
    arrow: ArrowSchema,
    entries: EntryReader,
    *,
    show_secrets: bool,
    makers: Mapping[str, Maker] | None = None,
    native: MixedRows | None = None,
) -> RowReader:
    """The rows of `kraft`. `makers` makes an array of the payloads for the column `data`."""
    fills: dict[str, Fill] = {
        **_OF_PLACE,
        "kind": _each(lambda entry: "record"),
        "control": lambda entry: [record.is_control for record in entry.records],
        "key_size": lambda entry: [_size(record.record.key) for record in entry.records],
        "value_size": lambda entry: [_size(record.record.value) for record in entry.records],
        "payload": _payloads,
        "data": _payloads,
        "raw": partial(_raws, show_secrets=show_secrets),
        "damage": _nones,
        "size": _nones,
    }
    return RowReader(arrow, entries, fills, OF_PROBLEMS, makers=makers, native=native)


def batch_reader(arrow: ArrowSchema, entries: EntryReader) -> RowReader:
    """The rows of `kraft.batches`."""

    def one(of: Callable[[BatchEntry], Any]) -> Fill:
        return lambda entry: [of(entry)]

    fills = {
        "kind": one(lambda entry: "batch"),
        "position": one(lambda entry: entry.batch.position),
        "base_offset": one(lambda entry: entry.batch.base_offset),
        "last_offset": one(lambda entry: entry.batch.last_offset),
        "count": one(lambda entry: entry.batch.header.record_count),
        "epoch": one(lambda entry: entry.batch.epoch),
        "timestamp": one(lambda entry: entry.batch.header.max_timestamp),
        "timestamp_ms": one(lambda entry: entry.batch.header.max_timestamp),
        "size": one(lambda entry: entry.batch.size),
        "magic": one(lambda entry: entry.batch.header.magic),
        "compression": one(lambda entry: entry.batch.compression),
        "control": one(lambda entry: entry.batch.is_control),
        "transactional": one(lambda entry: entry.batch.is_transactional),
        "crc": one(lambda entry: entry.batch.header.crc),
        "valid": one(lambda entry: entry.valid),
        "error": one(lambda entry: None),
        "damage": one(lambda entry: None),
    }
    return RowReader(arrow, entries, fills, OF_PROBLEMS, whole_batches=True)


def typed_reader(
    record: str, arrow: ArrowSchema, entries: EntryReader, native: MixedRows | None = None
) -> RowReader:
    """The rows of `kraft.<RecordType>`: Kafka's fields as columns."""

    def of(name: str) -> Fill:
        return lambda entry: [
            None if record.data is None else record.data.get(name) for record in entry.records
        ]

    known = {field.name: field for field in schema.message(message_of(record)).fields}
    fields = {column_of(field.name): of(field.name) for field in typed_fields(record)}
    words = {
        name: _words(known[number], kafkas) for name, (number, kafkas) in words_of(record).items()
    }
    return RowReader(arrow, entries, {**_OF_PLACE, **fields, **words}, {}, native=native)


def _words(number: Field, words: Words) -> Fill:
    """A column of words for a field that is a number."""
    name, default = number.name, int(number.default or 0)

    def word(data: Mapping[str, Any] | None) -> str | None:
        # Kafka's JSON form leaves out a tagged field at its default, which may be a number
        # without a word: -1 of PartitionChangeRecord is no change.
        return None if data is None else words.get(data.get(name, default))

    return lambda entry: [word(record.data) for record in entry.records]
