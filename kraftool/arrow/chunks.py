"""Batches of logs as columns: of records, of batches, and of the fields of each record type.

Owns what each column has: of what Python decoded, of what the native module read, and of what could
not be read. Each is made once, for all tables that have it, and a column that nobody asks for never
is. It refuses to choose what is read: see `entries.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import orjson

from kraftool.arrow import rows
from kraftool.arrow.columns import (
    BATCHES,
    RECORDS,
    arrow_type,
    column_of,
    message_of,
    typed_fields,
)
from kraftool.arrow.entries import EntryReader, type_text
from kraftool.arrow.enum_names import Words, words_of
from kraftool.arrow.native_columns import NativeChunk, NativeRows, TypeRows
from kraftool.arrow.rows import NO_MAKERS, Maker, Makes, Rows, repeated, runs
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import Array, ArrowBatch, ArrowSchema, ArrowType, pa, pc
from kraftool.decoders import schema
from kraftool.decoders.batch import HEADER_SIZE, Record
from kraftool.decoders.codec import has_doubles, json_text
from kraftool.decoders.errors import Fault
from kraftool.decoders.fault import LogFault
from kraftool.decoders.log_record import LogRecord
from kraftool.decoders.schema import KAFKA
from kraftool.reports.logs.dump import BatchEntry, Entry, raw_value
from kraftool.reports.text.printable import file_text

_KINDS: dict[type, ArrowType] = {bool: pa.bool_(), int: pa.int32(), str: pa.string()}

_WHOSE: Mapping[str, tuple[Callable[[Split], Any], ArrowType]] = {
    "cluster_id": (lambda split: split.file.directory.cluster_id, pa.string()),
    "node_id": (lambda split: split.file.directory.node_id, pa.int32()),
    "directory_id": (lambda split: split.file.directory.directory_id, pa.string()),
    "directory": (lambda split: file_text(split.file.directory.name), pa.string()),
    "file": (lambda split: file_text(split.file.name), pa.string()),
    "generation": (lambda split: split.generation, pa.int32()),
}


def _whose(counts: Iterable[tuple[Split, int]]) -> Makes:
    """The columns that say of which range rows are, so many of each."""
    known = [(split, count) for split, count in counts if count]
    ends = list(accumulate(count for _, count in known))

    def make(value: Callable[[Split], Any], kind: ArrowType) -> Array:
        return runs(ends, [value(split) for split, _ in known], kind)

    return {name: partial(make, value, kind) for name, (value, kind) in _WHOSE.items()}


def _same(count: int, **values: bool | int | str) -> Makes:
    """Columns of one value each."""
    return {
        name: partial(repeated, value, count, _KINDS[type(value)]) for name, value in values.items()
    }


class Run(NamedTuple):
    """The counts of what the native module has read of one range."""

    split: Split
    batches: int
    records: int


class _Native:
    """Plain batches that the native module has read. No Python object stands for their records."""

    def __init__(self, chunk: NativeChunk, of_ranges: Sequence[Run]) -> None:
        self._chunk = chunk
        records = chunk.of_records
        self.records = Rows(
            chunk.records,
            {
                **_whose((run.split, run.records) for run in of_ranges),
                **_same(chunk.records, kind="record", control=False, key_size=-1, valid=True),
                **{
                    name: partial(chunk.of_batch, name)
                    for name in ("base_offset", "epoch", "timestamp_ms")
                },
                "type": lambda: chunk.type_names,
                "version": lambda: chunk.type_versions,
            },
            {name: records[name] for name in records if name not in ("batch", "type_number")},
        )

        def last_offsets() -> Array:
            counts = chunk.of_batches["count"].cast(pa.int64())
            return pc.add(chunk.of_batches["base_offset"], pc.subtract(counts, 1))

        self.batches = Rows(
            chunk.batches,
            {
                **_whose((run.split, run.batches) for run in of_ranges),
                **_same(chunk.batches, kind="batch", magic=2, compression="none", valid=True),
                **_same(chunk.batches, control=False, transactional=False),
                "last_offset": last_offsets,
            },
            dict(chunk.of_batches),
        )

    def typed(self, record: str) -> Rows:
        """The records of one type."""
        own = [version for version in self._chunk.types if version.name == record]
        numbers, which = self._chunk.of_records["type_number"], None
        if sum(version.records for version in own) < self._chunk.records:
            wanted = pa.array([version.number for version in own], pa.int32())
            which = pc.indices_nonzero(pc.is_in(numbers, wanted))
            numbers = numbers.take(which)
        return _typed(record, self.records, which, partial(_of_versions, own, numbers))


def _of_versions(own: Sequence[TypeRows], numbers: Array, field: str, kind: ArrowType) -> Array:
    """A field of the records of one type, from those of its versions, in the log's order."""
    arrays = [version.array(field, kind) for version in own]
    if len(arrays) == 1:
        return arrays[0]
    return pa.concat_arrays(arrays).take(_places(numbers))


def _places(numbers: Array) -> Array:
    """Return where each row is after a stable sort by a number."""
    return pc.sort_indices(pc.sort_indices(numbers))


class Read(NamedTuple):
    """A batch, or a part of one, and of which range it was read."""

    entry: BatchEntry
    split: Split


class _Reads:
    """Batches that Python has read, and what several columns are made from."""

    def __init__(self, reads: Sequence[Read], *, show_secrets: bool) -> None:
        self.reads, self._show_secrets = reads, show_secrets
        self.items = [item for read in reads for item in read.entry.records]

    @cached_property
    def fields(self) -> Any:
        """The records as columns of tuples, in place of a loop for each."""
        return LogRecord._make(zip(*self.items, strict=True))

    @cached_property
    def frames(self) -> Any:
        return Record._make(zip(*self.fields.record, strict=True))

    @cached_property
    def types(self) -> Sequence[str]:
        names: Sequence[str] = self.fields.name
        are_named = "" not in names and not any(self.fields.is_control)
        return names if are_named else [type_text(item) for item in self.items]

    @cached_property
    def _are_sound(self) -> bool:
        return None not in self.fields.data and None not in self.fields.version

    def batch_of_each(self) -> Array:
        counts = [len(read.entry.records) for read in self.reads]
        return pa.array([at for at, count in enumerate(counts) for _ in range(count)], pa.int32())

    def frame(self, field: str) -> Array:
        return pa.array(getattr(self.frames, field), pa.int64())

    def sizes(self, field: str) -> Array:
        parts = getattr(self.frames, field)
        return pa.array([-1 if part is None else len(part) for part in parts], pa.int32())

    def positions(self) -> Array:
        """The places of records in their batches; in a compressed one, where all of them begin."""
        within: Sequence[int] = self.frames.position
        if any(read.entry.batch.compression != "none" for read in self.reads):
            within = [
                item.record.position if read.entry.batch.compression == "none" else HEADER_SIZE
                for read in self.reads
                for item in read.entry.records
            ]
        return pa.array(within, pa.int64())

    def errors(self) -> Array:
        if self._are_sound and not any(self.fields.error):
            return pa.nulls(len(self.items), pa.string())
        return pa.array([_error_text(item) for item in self.items], pa.string())

    def payloads(self) -> Array:
        """Kafka's JSON. Most of it is orjson's own, which a look at all of it together tells."""
        if self._are_sound and not any(map(has_doubles, set(self.fields.name))):
            texts = pa.array([orjson.dumps(data) for data in self.fields.data], pa.binary())
            if b"\\u" not in texts.buffers()[2].to_pybytes():
                return texts.cast(pa.string())
        return pa.array(list(map(_payload, self.items)), pa.binary()).cast(pa.string())

    def raws(self) -> Array:
        if self._are_sound:
            return pa.nulls(len(self.items), pa.binary())
        raws = [
            raw_value(entry, item, show_secrets=self._show_secrets) if item.data is None else None
            for entry, _ in self.reads
            for item in entry.records
        ]
        return pa.array(raws, pa.binary())


class _Decoded:
    """Batches that Python has read, as rows. The makers of columns hold no rows that hold them: no
    collector looks for cycles meanwhile."""

    def __init__(self, reads: _Reads) -> None:
        self._reads = reads
        by_range = [list(some) for _, some in groupby(reads.reads, lambda read: id(read.split))]
        every = Rows(
            len(reads.reads),
            {
                **_whose((some[0].split, len(some)) for some in by_range),
                **_same(len(reads.reads), kind="batch"),
                **{name: partial(_each, of, reads.reads, kind)
                   for name, (of, kind) in _OF_READS.items()},
            },
        )  # fmt: skip
        whole = [at for at, read in enumerate(reads.reads) if not read.entry.continued]
        which = pa.array(whole, pa.int32()) if len(whole) < every.count else None
        self.batches = every.taken(which, {})
        self.records = Rows(len(reads.items))
        if not reads.items:
            return
        place = every.taken(reads.batch_of_each(), {})
        counts = [(some[0].split, sum(len(read.entry.records) for read in some))
                  for some in by_range]  # fmt: skip
        self.records.makes = {
            **_whose(counts),
            **_same(len(reads.items), kind="record"),
            **{name: partial(place.column, name) for name in ("base_offset", "epoch", "valid")},
            "position": lambda: pc.add(place.column("position"), reads.positions()),
            "offset": partial(reads.frame, "offset"),
            "timestamp_ms": partial(reads.frame, "timestamp"),
            "type": lambda: pa.array(reads.types, pa.string()),
            "version": lambda: pa.array(reads.fields.version, pa.int32()),
            "error": reads.errors,
            "control": lambda: pa.array(reads.fields.is_control, pa.bool_()),
            "key_size": partial(reads.sizes, "key"),
            "value_size": partial(reads.sizes, "value"),
            "payload": reads.payloads,
            "raw": reads.raws,
        }

    def typed(self, record: str) -> Rows:
        """The records of one type: its fields are taken from the dicts of which payloads are made,
        so that nothing is decoded twice."""
        data: Sequence[dict[str, Any] | None] = self._reads.fields.data
        which = pc.indices_nonzero(pc.equal(self.records.column("type"), record))
        if len(which) == len(data):
            which = None
        else:
            data = [data[number] for number in which.to_pylist()]

        @cache
        def structs() -> Array:
            return pa.array(data, pa.struct(list(fields_of(record).values())))

        @cache
        def fields() -> dict[str, Array]:
            names = (field for field, _ in fields_of(record).values())
            return dict(zip(names, structs().flatten(), strict=True))

        def of_field(field: str, kind: ArrowType) -> Array:
            return fields()[field]

        return _typed(record, self.records, which, of_field, lambda: structs().is_valid())


def _each(of: Callable[[Read], Any], reads: Sequence[Read], kind: ArrowType) -> Array:
    return pa.array(list(map(of, reads)), kind)


_OF_READS: Mapping[str, tuple[Callable[[Read], Any], ArrowType]] = {
    "position": (lambda read: read.entry.batch.position, pa.int64()),
    "base_offset": (lambda read: read.entry.batch.base_offset, pa.int64()),
    "last_offset": (lambda read: read.entry.batch.last_offset, pa.int64()),
    "count": (lambda read: read.entry.batch.header.record_count, pa.int32()),
    "epoch": (lambda read: read.entry.batch.epoch, pa.int32()),
    "timestamp_ms": (lambda read: read.entry.batch.header.max_timestamp, pa.int64()),
    "size": (lambda read: read.entry.batch.size, pa.int64()),
    "magic": (lambda read: read.entry.batch.header.magic, pa.int32()),
    "compression": (lambda read: read.entry.batch.compression, pa.string()),
    "control": (lambda read: read.entry.batch.is_control, pa.bool_()),
    "transactional": (lambda read: read.entry.batch.is_transactional, pa.bool_()),
    "crc": (lambda read: read.entry.batch.header.crc, pa.int64()),
    "valid": (lambda read: read.entry.valid, pa.bool_()),
}


@cache
def fields_of(record: str) -> Mapping[str, tuple[str, ArrowType]]:
    """The columns that a record type's fields become: Kafka's names, and types."""
    return {
        column_of(field.name): (field.name, arrow_type(field)) for field in typed_fields(record)
    }


def fields_for(record: str, wanted: frozenset[str]) -> frozenset[str]:
    """The fields of a record type that some columns are made from."""
    words = {number for name, (number, _) in words_of(record).items() if name in wanted}
    own = {field for column, (field, _) in fields_of(record).items() if column in wanted}
    return frozenset(words | own)


def _typed(
    record: str,
    records: Rows,
    which: Array | None,
    of_field: Callable[[str, ArrowType], Array],
    is_decoded: Callable[[], Array] | None = None,
) -> Rows:
    """Records of one type, with their fields, and words for those that are numbers."""
    known = {field.name: field for field in schema.message(message_of(record)).fields}
    own: Makes = {
        column: partial(of_field, field, kind)
        for column, (field, kind) in fields_of(record).items()
    }

    def word(number: str, words: Words) -> Array:
        field = known[number]
        # Kafka's JSON form leaves out a tagged field at its default, which may be a number
        # without a word: -1 of PartitionChangeRecord is no change.
        numbers = pc.fill_null(of_field(number, arrow_type(field)), int(field.default or 0))
        at = pc.index_in(numbers.cast(pa.int64()), pa.array(list(words), pa.int64()))
        if is_decoded is not None:
            at = pc.if_else(is_decoded(), at, pa.scalar(None, at.type))
        return pa.array(list(words.values()), pa.string()).take(at)

    own |= {name: partial(word, *of) for name, of in words_of(record).items()}
    return records.taken(which, own)


def _payload(item: LogRecord) -> bytes | None:
    if item.data is None or item.version is None:
        return None
    return json_text(item.data, doubles=has_doubles(item.name))


def _error_text(item: LogRecord) -> str | None:
    if item.error is not None:
        return file_text(item.error.describe())
    if item.data is None or item.version is None:
        return f"not known to Kafka {KAFKA}"
    return None


Problem = tuple[Fault, Split]
_OF_PROBLEMS: Mapping[str, tuple[Callable[[Fault], Any], ArrowType]] = {
    "position": (lambda fault: fault.position, pa.int64()),
    "error": (lambda fault: file_text(fault.sentence()), pa.string()),
    "damage": (
        lambda fault: fault.kind.value if isinstance(fault, LogFault) else None, pa.string()
    ),
    "size": (lambda fault: fault.size if isinstance(fault, LogFault) else None, pa.int64()),
}  # fmt: skip


def problem_rows(problems: Sequence[Problem]) -> Rows:
    """Return what could not be decoded or read; it has no time."""

    def make(tell: Callable[[Fault], Any], kind: ArrowType) -> Array:
        return pa.array([tell(fault) for fault, _ in problems], kind)

    own = {name: partial(make, *of) for name, of in _OF_PROBLEMS.items()}
    whose = _whose((split, 1) for _, split in problems)
    return Rows(len(problems), {**whose, **_same(len(problems), kind="problem"), **own})


class Chunk:
    """Batches and problems that become columns together."""

    def __init__(
        self,
        native: _Native | None,
        decoded: _Decoded | None,
        problems: Sequence[Problem],
        order: Sequence[tuple[int, int]],
    ) -> None:
        """`order` has runs of rows, as they were read: of which of the three, and how many."""
        self.problems = problems
        self._parts, self._order = [native, decoded], order
        self.has_rows = any(count for _, count in order)

    def of(self, source: str) -> list[Rows]:
        """The rows of a source: those that were read natively, and those of Python."""
        parts = [part for part in self._parts if part is not None]
        if source == RECORDS:
            return [part.records for part in parts]
        if source == BATCHES:
            return [part.batches for part in parts]
        record = source.removeprefix(f"{RECORDS}.")
        return [part.typed(record) for part in parts if part.records.count]

    @property
    def types(self) -> Iterable[str]:
        """The types of its records."""
        columns = (part.column("type") for part in self.of(RECORDS))
        known = [column for column in columns if column is not None]
        return dict.fromkeys(name for column in known for name in column.unique().to_pylist())

    def batch(
        self, source: str, arrow: ArrowSchema, makers: Mapping[str, Maker] = NO_MAKERS
    ) -> ArrowBatch:
        """All rows of a source in the order in which they were read."""
        parts = [part for part in (*self.of(source), problem_rows(self.problems)) if part.count]
        batches = [part.batch(arrow, makers) for part in parts]
        if len(batches) == 1:
            return batches[0]
        known = [(part, count) for part, count in self._order if count]
        ends = list(accumulate(count for _, count in known))
        table = pa.Table.from_batches(batches, schema=arrow)
        table = table.take(_places(runs(ends, [part for part, _ in known], pa.int8())))
        return table.combine_chunks().to_batches()[0]


class ChunkReader:
    """Reads ranges, and hands on chunks of what it has read."""

    def __init__(
        self, entries: EntryReader, *, show_secrets: bool = False, batches_only: bool = False
    ) -> None:
        self._entries, self._native = entries, entries.native
        self._show_secrets, self._batches_only = show_secrets, batches_only
        self._reads: list[Read] = []
        self._runs: list[Run] = []
        self._problems: list[Problem] = []
        self._order: list[tuple[int, int]] = []
        self._rows = self._weight = 0

    def read(self, splits: Iterable[Split], problems: Iterable[Problem] = ()) -> Iterator[Chunk]:
        """The chunks of ranges, one after the other; first are problems of something else."""
        for fault, place in problems:
            self._add(fault, place)
        for split in splits:
            for entry in self._entries.of(split):
                is_full = self._add(entry, split)
                if is_full or self._rows >= rows.ROWS or self._weight >= rows.PAYLOAD:
                    yield self._chunk()
        if self._order:
            yield self._chunk()

    def _add(self, entry: Entry | NativeRows, split: Split) -> bool:
        """Add an entry. True if what was read natively has to be taken."""
        if isinstance(entry, Fault):
            self._problems.append((entry, split))
            self._count(2, 1, 0)
            return False
        if isinstance(entry, BatchEntry):
            self._reads.append(Read(entry, split))
            count = int(not entry.continued) if self._batches_only else len(entry.records)
            self._count(1, count, entry.batch.size)
            return False
        run = Run(split, entry.batches, entry.records)
        if self._runs and self._runs[-1].split is split:
            _, batches, records = self._runs.pop()
            run = Run(split, batches + run.batches, records + run.records)
        self._runs.append(run)
        self._count(0, entry.records, entry.size)
        return entry.is_full

    def _count(self, part: int, count: int, weight: int) -> None:
        self._rows += count
        self._weight += weight
        if self._order and self._order[-1][0] == part:
            count += self._order.pop()[1]
        self._order.append((part, count))

    def _chunk(self) -> Chunk:
        """Make a chunk of what has come together."""
        native = decoded = None
        if self._runs and self._native is not None:
            native = _Native(self._native.take(), self._runs)
        if self._reads:
            decoded = _Decoded(_Reads(self._reads, show_secrets=self._show_secrets))
        chunk = Chunk(native, decoded, self._problems, self._order)
        self._reads, self._runs, self._problems, self._order = [], [], [], []
        self._rows = self._weight = 0
        return chunk
