"""The receivers of the rows of tables, and of single rows on their way there.

Owns what the makers of rows need to know of a sink, and that rows which come one by one are handed
on in batches. It refuses to know what becomes of them: see `sink.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kraftool.arrow.rows import ArrowRows
from kraftool.arrow.untyped import ArrowBatch
from kraftool.spark.tables.layout import arrow_schema


class Taking(Protocol):
    """A sink, as far as it is needed to give it rows."""

    def write(
        self, table: str, cluster_id: str | None, day: str | None, batch: ArrowBatch
    ) -> None: ...


class RowWriter(ArrowRows):
    """Rows of one table of a cluster that has no days, which come one by one."""

    def __init__(self, sink: Taking, table: str, cluster_id: str | None) -> None:
        super().__init__(arrow_schema(table))
        self._sink, self._name, self._cluster = sink, table, cluster_id

    def add(self, values: Mapping[str, Any]) -> None:
        super().add(values)
        if self.is_full:
            self.finish()

    def finish(self) -> None:
        """Hand on what there is."""
        if self:
            self._sink.write(self._name, self._cluster, None, self.take())
