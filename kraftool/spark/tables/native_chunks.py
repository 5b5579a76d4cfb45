"""Plain batches as the rows of every table at once, filled natively.

Owns the same step as `chunks.py` for records that no Python object stands for. The rows are the
same; those of batches that Python read are in other chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any

from kraftool.arrow.columns import typed_fields
from kraftool.arrow.narrowing import Narrowing
from kraftool.arrow.native_columns import NativeChunk, NativeColumns, NativeRows, TypeRows
from kraftool.arrow.rows import PAYLOAD, ROWS
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import Array, pa, pc
from kraftool.decoders import schema
from kraftool.spark.tables.chunks import Arrays, Rows, identity, repeated, struct_of


class NativeChunks:
    """Reads spans, and gives their rows for each table."""

    def __init__(self, *, show_secrets: bool) -> None:
        self.reader = NativeColumns(
            Narrowing(),
            masked=not show_secrets,
            full_rows=ROWS,
            full_bytes=PAYLOAD,
            payloads=True,
            chosen=_all_fields(),
        )
        self._runs: list[tuple[Split, int, int]] = []

    def add(self, read: NativeRows, split: Split) -> None:
        """Note that rows are of a range."""
        batches, records = read.batches, read.records
        if self._runs and self._runs[-1][0] is split:
            _, before, records_before = self._runs.pop()
            batches, records = batches + before, records + records_before
        self._runs.append((split, batches, records))

    def rows(self) -> Iterator[Rows]:
        """The rows of what was read, for every table that has any."""
        runs, self._runs = self._runs, []
        chunk = self.reader.take()
        if not chunk.records:
            return
        whose = identity([split for split, _, _ in runs])
        yield _of_batches(chunk, _spread(whose, [count for _, count, _ in runs]))
        records = [count for _, _, count in runs]
        place = _of_place(chunk)
        for rows in chunk.types:
            which = None
            if rows.records < chunk.records:
                which = pc.indices_nonzero(pc.equal(chunk.of_records["type_number"], rows.number))
            yield _of_type(rows, place, whose, records, which)
        arrays = {
            **_spread(whose, records),
            **place,
            **_same(chunk.records, kind="record", control=False, key_size=-1, valid=True),
            "type": chunk.type_names,
            "version": chunk.type_versions,
            "value_size": chunk.of_records["value_size"],
            "payload": chunk.of_records["payload"],
        }
        yield Rows("records", arrays, chunk.records, place["timestamp_ms"])


@cache
def _all_fields() -> dict[str, frozenset[str]]:
    return {
        name: frozenset(field.name for field in typed_fields(name))
        for name in schema.names("metadata")
    }


def _spread(whose: Arrays, counts: list[int], which: Array | None = None) -> Arrays:
    """The identity for so many rows of each range; of those rows that are wanted."""
    if len(counts) == 1:
        count = counts[0] if which is None else len(which)
        return {name: pa.repeat(array[0], count) for name, array in whose.items()}
    ends = pa.array(accumulate(counts), pa.int32())
    if which is None:
        return {name: _run(ends, array) for name, array in whose.items()}
    numbers = _run(ends, pa.array(range(len(counts)), pa.int32())).take(which)
    return {name: array.take(numbers) for name, array in whose.items()}


def _run(ends: Array, values: Array) -> Array:
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, values))


_KINDS: dict[type, Any] = {bool: pa.bool_(), int: pa.int32(), str: pa.string()}


def _same(count: int, **values: bool | int | str) -> Arrays:
    return {name: repeated(value, count, _KINDS[type(value)]) for name, value in values.items()}


def _of_batches(chunk: NativeChunk, arrays: Arrays) -> Rows:
    own = dict(chunk.of_batches)
    last = pc.add(own["base_offset"], pc.subtract(own["count"].cast(pa.int64()), 1))
    same = _same(
        chunk.batches,
        kind="batch",
        magic=2,
        compression="none",
        control=False,
        transactional=False,
        valid=True,
    )
    arrays = {**arrays, **own, **same, "last_offset": last}
    return Rows("batches", arrays, chunk.batches, own["timestamp_ms"])


def _of_place(chunk: NativeChunk) -> Arrays:
    """The columns that say where each record is."""
    return {
        "position": chunk.of_records["position"],
        "base_offset": chunk.of_batch("base_offset"),
        "offset": chunk.of_records["offset"],
        "epoch": chunk.of_batch("epoch"),
        "timestamp_ms": chunk.of_batch("timestamp_ms"),
    }


def _of_type(
    rows: TypeRows, place: Arrays, whose: Arrays, records: list[int], which: Array | None
) -> Rows:
    """The rows of one type and version."""
    if which is not None:
        place = {name: array.take(which) for name, array in place.items()}
    kind, columns = struct_of(rows.name)
    fields = {
        column: rows.array(field.name, field.type)
        for column, field in zip(columns, kind, strict=True)
    }
    arrays = {
        **_spread(whose, records, which),
        **place,
        **_same(rows.records, type=rows.name, version=rows.version, valid=True),
        **fields,
    }
    return Rows(rows.name, arrays, rows.records, place["timestamp_ms"])
