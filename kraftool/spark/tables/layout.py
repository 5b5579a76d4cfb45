"""The tables, their columns, and the places of their files.

Owns the names below the folder of the tables: a folder a table, `cluster_id=…` below it, and
`date=…` below that where rows have a time. What begins with `_` is passed over by Spark, pyarrow
and DuckDB, so that all that is no table lies in `_kraftool`. It refuses to write.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from kraftool.arrow.columns import (
    BATCHES,
    FILES,
    FINDINGS,
    IDENTITY,
    INT,
    LONG,
    MOMENT,
    RECORDS,
    TEXT,
    Columns,
    columns,
    record_types,
)
from kraftool.arrow.untyped import ArrowSchema, pa
from kraftool.spark.tables.story_columns import STATES, STORIES

OURS = "_kraftool"
"""The folder of what is no table."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
CLUSTER, DATE = "cluster_id", "date"
FOLDER_MODE, FILE_MODE = 0o700, 0o600

# What Hive and Spark escape in the name of a partition's folder, and the % itself.
_ESCAPED = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
_LONGEST = 200
"""Bytes of a folder's name: file systems have room for 255."""

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
    """The Arrow schema of a table's files: all columns but those of the path."""
    own = TABLES[name].columns.items()
    return pa.schema([pa.field(column, kind) for column, kind in own if column != CLUSTER])


def _escaped(value: str) -> str:
    name = _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", value)
    data = name.encode("utf-8", "replace")
    if len(data) <= _LONGEST and data.decode() == name:
        return name
    # What is no UTF-8, or too long for a folder, is known by its beginning and a hash.
    told = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{data[: _LONGEST - 20].decode('utf-8', 'ignore')}~{told}"


def partition(column: str, value: str | None) -> str:
    """The folder of a column's value, as Hive writes it."""
    return f"{column}={_escaped(value) if value else NO_VALUE}"


@cache
def folder_of(table: str, cluster_id: str | None, day: str | None) -> str:
    """Return where the files of a table, a cluster and a day lie, below the folder of the
    tables.
    """
    path = f"{table}/{partition(CLUSTER, cluster_id)}"
    return f"{path}/{partition(DATE, day)}" if TABLES[table].dated else path


def make_folders(root: str, relative: str) -> None:
    """Make a folder and those above it, for their owner only. The root has to be there."""
    whole = root
    for name in relative.split("/") if relative else ():
        whole = os.path.join(whole, name)
        with suppress(FileExistsError):
            os.mkdir(whole, FOLDER_MODE)


def make_file(path: str, data: bytes = b"") -> None:
    """Make a file that is not there yet, for its owner only, and get it onto the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, FILE_MODE), "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
