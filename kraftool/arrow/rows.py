"""Rows as Arrow record batches, from columns or one by one.

Owns how large an Arrow batch gets, and what a row has that lacks a column. It refuses to know what
the rows are of: see `chunks.py`, `file_rows.py` and `state_rows.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kraftool.arrow.fleet import FleetDirectory
from kraftool.arrow.narrowing import FIRST_MS, LAST_MS
from kraftool.arrow.untyped import Array, ArrowBatch, ArrowSchema, ArrowType, pa, pc
from kraftool.reports.text.printable import file_text

ROWS = 10_000
"""Rows of an Arrow batch, about."""
PAYLOAD = 16 << 20
"""Bytes of payload after which an Arrow batch is handed on, however few rows it has."""

Arrays = dict[str, Array]
Makes = dict[str, Callable[[], Array]]
"""By the names of columns, what makes them."""
Maker = Callable[[list[Any], ArrowType], Array]
"""Makes a column of the payloads."""
NO_MAKERS: Mapping[str, Maker] = {}


@dataclass(slots=True)
class Rows:
    """So many rows, whose columns are made when they are asked for."""

    count: int
    makes: Makes = field(default_factory=dict)
    made: Arrays = field(default_factory=dict)

    def column(self, name: str) -> Array | None:
        """A column; None if the rows do not have it."""
        if name not in self.made and name in self.makes:
            self.made[name] = self.makes[name]()
        return self.made.get(name)

    def taken(self, which: Array | None, own: Makes) -> Rows:
        """Some of the rows, or all if `which` is None, with columns of their own."""
        names = (*self.makes, *self.made)
        if which is None:
            return Rows(self.count, {name: partial(self.column, name) for name in names} | own)
        return Rows(len(which), {name: partial(self._taken, name, which) for name in names} | own)

    def _taken(self, name: str, which: Array) -> Array:
        column = self.column(name)
        assert column is not None, "it has a maker"
        return column.take(which)

    def batch(self, arrow: ArrowSchema, makers: Mapping[str, Maker] = NO_MAKERS) -> ArrowBatch:
        """The rows with the columns of a schema. What they do not have is null."""
        arrays = [
            self._payloads(makers[field.name], field.type)
            if field.name in makers
            else self._array(field.name, field.type)
            for field in arrow
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=arrow)

    def _array(self, name: str, kind: ArrowType) -> Array:
        if name == "timestamp":
            milliseconds = self.column("timestamp_ms")
            array = None if milliseconds is None else instants(milliseconds, kind)
        else:
            array = self.column(name)
        if array is None:
            return pa.nulls(self.count, kind)
        return array if array.type == kind else array.cast(kind)

    def _payloads(self, make: Maker, kind: ArrowType) -> Array:
        payloads = self.column("payload")
        if payloads is None:
            return make([None] * self.count, kind)
        return make(payloads.cast(pa.binary()).to_pylist(), kind)


def instants(milliseconds: Array, kind: ArrowType) -> Array:
    """Milliseconds to Spark's microseconds; null where no calendar reaches."""
    mask = pc.and_(pc.greater_equal(milliseconds, FIRST_MS), pc.less_equal(milliseconds, LAST_MS))
    whole = pc.if_else(mask, milliseconds, pa.scalar(None, pa.int64()))
    return pc.multiply(whole, 1000).cast(kind)


def repeated(value: Any, count: int, kind: ArrowType) -> Array:
    """A column of one value."""
    if value is None:
        return pa.nulls(count, kind)
    if pa.types.is_nested(kind):  # of which Arrow repeats one element after the other
        return pa.array([value], kind).take(pa.repeat(pa.scalar(0, pa.int32()), count))
    return pa.repeat(pa.scalar(value, kind), count)


def runs(ends: Sequence[int], values: Sequence[Hashable], kind: ArrowType) -> Array:
    """A column of values, each up to the row where the next one begins."""
    if len(set(values)) == 1:
        return repeated(values[0], ends[-1], kind)
    ends_array = pa.array(ends, pa.int32())
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends_array, pa.array(values, kind)))


class ArrowRows:
    """Rows that come one by one, until they are handed on as an Arrow batch."""

    def __init__(self, arrow: ArrowSchema) -> None:
        self._arrow = arrow
        self.names = frozenset(arrow.names)
        self._own = pa.struct([_as_given(field) for field in arrow])
        self._rows: list[Mapping[str, Any]] = []

    @property
    def is_full(self) -> bool:
        return len(self._rows) >= ROWS

    def __bool__(self) -> bool:
        return bool(self._rows)

    def add(self, values: Mapping[str, Any]) -> None:
        """Add a row. What it does not have is null, and of a moment it has the milliseconds."""
        self._rows.append(values)

    def take(self) -> ArrowBatch:
        """Return what has come together, as a batch; and start again without rows."""
        made = pa.array(self._rows, self._own).flatten()
        self._rows = []
        arrays = [
            instants(array, field.type) if pa.types.is_timestamp(field.type) else array
            for field, array in zip(self._arrow, made, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._arrow)


def _as_given(field: Any) -> Any:
    """A field with the type of the values that are given for it."""
    return field.with_type(pa.int64()) if pa.types.is_timestamp(field.type) else field


def identity(owner: FleetDirectory, file: str = "") -> dict[str, Any]:
    """The values that say whose row it is."""
    return {
        "cluster_id": owner.cluster_id,
        "node_id": owner.node_id,
        "directory_id": owner.directory_id,
        "directory": file_text(owner.name),
        "file": file_text(file),
    }
