"""The tables and their columns.

Owns the names below the place of the tables: a folder for each Delta table, and a folder for each
run in it. Everything that is no table for readers is in `_kraftool`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from kraftool.arrow.columns import (
    BATCHES,
    COMMENT,
    FILES,
    FINDINGS,
    IDENTITY,
    INT,
    LONG,
    MOMENT,
    RECORDS,
    STATE,
    TEXT,
    Columns,
    columns,
    record_types,
    sources,
)
from kraftool.arrow.columns import arrow_schema as source_schema
from kraftool.arrow.comments import comment_of
from kraftool.arrow.untyped import ArrowSchema, pa
from kraftool.spark.tables.event_columns import STATES, STORIES

OURS = "_kraftool"
"""The folder of what is no table."""
CLUSTER, DATE = "cluster_id", "date"

_GENERATION: Columns = {"generation": INT}
_CHANGES: Columns = {
    **IDENTITY,
    "change": TEXT,
    "position": LONG,
    "offset": LONG,
    "was_offset": LONG,
    "epoch": INT,
    "generation": INT,
    "text": TEXT,
    "noticed": MOMENT,
}
"""What happened to a log between two runs. `offset` is from where on it is another one,
`was_offset` up to where it had been read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table. A table is appended to, or else its rows of a cluster are replaced as a whole."""

    name: str
    columns: Columns
    dated: bool = False
    replaced: bool = False


def _tables() -> Iterator[Table]:
    yield Table(name="files", columns=columns(FILES), replaced=True)
    yield Table(name="findings", columns=columns(FINDINGS), replaced=True)
    yield Table(name="batches", columns={**columns(BATCHES), **_GENERATION}, dated=True)
    yield Table(name="records", columns=columns(RECORDS), dated=True)
    for name, own in (*STORIES.items(), *STATES.items()):
        yield Table(name=name, columns=own, replaced=True)
    yield Table(name="changes", columns=_CHANGES)
    for name in record_types():
        own = {**columns(f"{RECORDS}.{name}"), **_GENERATION}
        yield Table(name=name, columns=own, dated=True)


TABLES = {table.name: table for table in _tables()}
"""Every table by its name, in the order in which they are told of."""


@cache
def arrow_schema(name: str) -> ArrowSchema:
    """The Arrow schema of the rows that a sink takes: all columns but those that a file has one
    value of."""
    own = TABLES[name].columns.items()
    return pa.schema([pa.field(column, kind) for column, kind in own if column != CLUSTER])


@cache
def file_schema(name: str) -> ArrowSchema:
    """The Arrow schema of a table's files: the cluster, its own columns, and the day of rows
    with a time.

    All rows of a file that a task writes have one cluster and one day.
    """
    fields = [pa.field(CLUSTER, TEXT), *arrow_schema(name)]
    if TABLES[name].dated:
        fields.append(pa.field(DATE, pa.date32()))
    return pa.schema(fields)


@cache
def commented_schema(name: str) -> ArrowSchema:
    """The schema of a table with the comments that the source of the same rows has."""
    names = (f"{RECORDS}.{name}", f"{STATE}.{name}")
    source = next((known for known in names if known in sources()), "")
    comments = {field.name: field.metadata for field in source_schema(source)} if source else {}
    return pa.schema(
        field.with_metadata(
            comments.get(field.name) or {COMMENT: comment_of(field.name, None, None)}
        )
        for field in file_schema(name)
    )
