"""The receivers of the rows of tables, and of single rows on their way there.

Owns what the makers of rows need to know of a sink, and that rows which come one by one are handed
on in batches. It refuses to know what becomes of them: see `sink.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

from kraftool.arrow.rows import ArrowRows
from kraftool.arrow.untyped import ArrowBatch
from kraftool.spark.tables.layout import arrow_schema


class Taking(Protocol):
    """A sink, as far as it is needed to give it rows."""

    def write(
        self, table: str, cluster_id: str | None, day: str | None, batch: ArrowBatch
    ) -> None: ...


class RowWriter:
    """Rows of one table of a cluster that has no days. `same` is what they all have."""

    def __init__(
        self,
        sink: Taking,
        table: str,
        cluster_id: str | None,
        same: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._sink, self._name, self._cluster = sink, table, cluster_id
        self._table = ArrowRows(arrow_schema(table))
        self._same = same
        self._own = [name for name in self._table.columns if name not in same]

    def add(self, values: Mapping[str, Any], weight: int = 0) -> None:
        """Add a row; what it does not have is null. `weight` is about how large it is."""
        table = self._table
        columns = table.columns
        for name in self._own:
            columns[name].append(values.get(name))
        table.rows += 1
        table.weight += weight
        if table.is_full:
            self.finish()

    def finish(self) -> None:
        """Hand on what there is."""
        table = self._table
        if not table.rows:
            return
        for name, value in self._same.items():
            table.same(name, value, table.rows)
        self._sink.write(self._name, self._cluster, None, table.take())
