"""The receivers of the rows of tables, and of single rows on their way there.

Owns what the makers of rows need to know of a sink, and that rows which come one by one are handed
on in batches. It refuses to know what becomes of them: see `sink.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kraftool.arrow.rows import ArrowRows
from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.spark.tables.layout import arrow_schema


class Taking(Protocol):
    """A sink, as far as it is needed to give it rows."""

    def write(
        self, table: str, cluster_id: str | None, day: str | None, batch: ArrowBatch
    ) -> None: ...


class RowWriter:
    """Rows of one table of a cluster that has no days."""

    def __init__(self, sink: Taking, table: str, cluster_id: str | None) -> None:
        self._sink, self._name, self._cluster = sink, table, cluster_id
        self._table = ArrowRows(arrow_schema(table))
        self._own = pa.struct([_as_given(field) for field in arrow_schema(table)])
        self._rows: list[Mapping[str, Any]] = []

    def add(self, values: Mapping[str, Any]) -> None:
        """Add a row; what it does not have is null."""
        self._rows.append(values)
        self._table.rows += 1
        if self._table.is_full:
            self.finish()

    def finish(self) -> None:
        """Hand on what there is."""
        table = self._table
        if not table.rows:
            return
        # All columns at once; what a row does not have is null.
        made = pa.array(self._rows, self._own).flatten()
        self._rows = []
        table.made |= {field.name: array for field, array in zip(self._own, made, strict=True)}
        self._sink.write(self._name, self._cluster, None, table.take())


def _as_given(field: Any) -> Any:
    """A field with the type of the values that are given for it: moments are milliseconds."""
    return field.with_type(pa.int64()) if pa.types.is_timestamp(field.type) else field
