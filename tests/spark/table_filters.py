"""Filters on every column of the tables, each with the number of rows that a full read finds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from kraftool.arrow.untyped import pa
from tests.spark.tables_support import files_of, tables_of

pq: Any = import_module("pyarrow.parquet")


class Filter(NamedTuple):
    """A filter on one column: `=`, `<`, `in` (two values), or `is null`, which has no value."""

    table: str
    column: str
    operator: str
    values: tuple[Any, ...]
    rows: int
    """The number of rows that it has to find."""

    @property
    def sql(self) -> str:
        """The condition in SQL."""
        column = f'"{self.column}"'
        match self.operator:
            case "is null":
                return f"{column} is null"
            case "in":
                return f"{column} in ({', '.join(map(_literal, self.values))})"
        return f"{column} {self.operator} {_literal(self.values[0])}"


def _literal(value: Any) -> str:
    match value:
        case bool() | int() | float():
            return str(value).lower()
        case datetime():
            return f"TIMESTAMPTZ '{value.isoformat()}'"
        case date():
            return f"DATE '{value}'"
    return "'" + str(value).replace("'", "''") + "'"


def filters(out: Path) -> Iterator[Filter]:
    """Yield filters for every column of every table, by a read of all rows without a log."""
    for table in tables_of(out):
        rows = pa.concat_tables([pq.ParquetFile(path).read() for path in files_of(out, table)])
        for field in rows.schema:
            yield from _filters_of(table, field, rows[field.name].to_pylist())


def _filters_of(table: str, field: Any, values: list[Any]) -> Iterator[Filter]:
    def made(operator: str, *of: Any, found: int) -> Filter:
        return Filter(table, field.name, operator, of, found)

    yield made("is null", found=sum(value is None for value in values))
    if pa.types.is_nested(field.type):
        return
    values = sorted(value for value in values if value is not None)
    if not values:
        return
    middle, last = values[len(values) // 2], values[-1]
    yield made("=", middle, found=values.count(middle))
    yield made("in", middle, last, found=sum(value in (middle, last) for value in values))
    if not pa.types.is_boolean(field.type):
        yield made("<", middle, found=sum(value < middle for value in values))
