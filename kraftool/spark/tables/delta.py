"""Delta tables, as far as a run needs them: open one, make one, add and remove files in a commit.

Owns the one place that calls delta-rs. A commit is a new file in the table's log that nobody else
can have made: on a disk by a link, in an object store by a conditional put. It never tries again
by itself, so that a commit is at the version that its caller saw before it, or fails. Spark's
workers import this module too, and need no delta-rs: the driver alone commits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftool.arrow.untyped import ArrowSchema, pa
from kraftool.spark.tables import file_stats
from kraftool.spark.tables.place import CannotWriteError, TablePlace

if TYPE_CHECKING:
    from deltalake import DeltaTable

APP = "kraftool"
"""The name under which a table remembers the latest run that it has (an action `txn`)."""
RUN = "kraftool.run"
"""The same in the metadata of each commit, which a table's history shows."""
_STATISTICS = "delta.dataSkippingStatsColumns"
"""The property that names the columns of which the log has statistics. Without it delta-rs takes a
column without statistics for one whose values are all null, and a filter finds no row."""


class Added(NamedTuple):
    """A file that comes. `path` is relative to the table."""

    path: str
    size: int
    stats: str


class Removed(NamedTuple):
    """A file that goes."""

    path: str
    size: int


class ActiveFile(NamedTuple):
    """A file of the latest version, with the least and greatest values of some columns."""

    path: str
    size: int
    rows: int
    least: dict[str, Any]
    greatest: dict[str, Any]


class ConflictError(Exception):
    """Somebody else has made the version that this commit was to make."""


def opened(place: TablePlace, table: str) -> DeltaTable | None:
    """Return the latest version of a table; None if there is no such table."""
    if not place.is_remote and not os.path.isdir(place.path(f"{table}/_delta_log")):
        return None
    from deltalake import DeltaTable
    from deltalake.exceptions import TableNotFoundError

    with _explained(place):
        try:
            return DeltaTable(place.path(table), storage_options=dict(place.options))
        except TableNotFoundError:
            return None


def run_of(table: DeltaTable) -> int:
    """Return the latest run that a table has."""
    return table.transaction_version(APP) or 0


def name_statistics(place: TablePlace, name: str) -> None:
    """Give a table that an earlier kraftool made the property that readers need.

    Raises ConflictError if another commit was faster.
    """
    from deltalake import CommitProperties
    from deltalake.exceptions import CommitFailedError

    table = opened(place, name)
    if table is None:
        return
    names = [field.name for field in table.schema().fields]
    with _explained(place):
        if _STATISTICS in table.metadata().configuration:
            return
        properties = CommitProperties(
            custom_metadata={RUN: str(run_of(table))}, max_commit_retries=0
        )
        try:
            table.alter.set_table_properties(
                _statistics_property(names), commit_properties=properties
            )
        except CommitFailedError:
            raise ConflictError(name) from None


def _statistics_property(columns: Sequence[str]) -> dict[str, str]:
    names = [name for name in file_stats.COLUMNS if name in columns]
    return {_STATISTICS: ",".join(names)} if names else {}


def active_files(place: TablePlace, table: DeltaTable) -> Iterator[ActiveFile]:
    """Yield the files of a version."""
    with _explained(place):
        actions = pa.table(table.get_add_actions(flatten=False))
    names = actions.column_names
    for batch in actions.to_batches(max_chunksize=1_000):
        for action in batch.to_pylist():
            yield ActiveFile(
                path=action["path"],
                size=action["size_bytes"],
                rows=action["num_records"] or 0,
                least=action["min"] or {} if "min" in names else {},
                greatest=action["max"] or {} if "max" in names else {},
            )


def latest_metadata(place: TablePlace, table: DeltaTable, name: str) -> str | None:
    """Return a value of the latest commit that has it."""
    with _explained(place):
        for limit in (1, None):
            for made in table.history(limit):
                if name in made:
                    return str(made[name])
    return None


def commit(
    place: TablePlace,
    name: str,
    table: DeltaTable | None,
    schema: ArrowSchema,
    added: Sequence[Added],
    removed: Sequence[Removed],
    run: int,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Make the next version of a table, or the table. Raise ConflictError if it is there."""
    from deltalake import CommitProperties, Schema, Transaction
    from deltalake.exceptions import CommitFailedError, DeltaError
    from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

    now = time.time_ns() // 1_000_000
    adds = [
        AddAction(
            path=file.path,
            size=file.size,
            partition_values={},
            modification_time=now,
            data_change=True,
            stats=file.stats,
        )
        for file in added
    ]
    removes = [
        RemoveAction(
            path=file.path,
            data_change=True,
            deletion_timestamp=now,
            size=file.size,
            partition_values={},
        )
        for file in removed
    ]
    properties = CommitProperties(
        custom_metadata={RUN: str(run), **(metadata or {})},
        max_commit_retries=0,
        app_transactions=[Transaction(APP, run)],
    )
    with _explained(place):
        try:
            if table is None:
                place.make_folder(name)
                create_table_with_add_actions(
                    place.path(name),
                    Schema.from_arrow(schema),
                    adds,
                    mode="error",
                    name=name.rpartition("/")[2],
                    configuration=_statistics_property(schema.names),
                    storage_options=dict(place.options),
                    commit_properties=properties,
                )
            else:
                table.create_write_transaction(
                    [*adds, *removes], "append", schema, commit_properties=properties
                )
        except CommitFailedError:
            raise ConflictError(name) from None
        except DeltaError:
            if table is None and opened(place, name) is not None:
                raise ConflictError(name) from None
            raise


def vacuum(place: TablePlace, table: DeltaTable, hours: int) -> None:
    """Remove files that no version of the last hours has, whoever left them."""
    with _explained(place):
        table.vacuum(
            retention_hours=hours, dry_run=False, enforce_retention_duration=False, full=True
        )


@contextmanager
def _explained(place: TablePlace) -> Iterator[None]:
    """Let delta-rs write for the owner only, and give its errors as one line without secrets."""
    from deltalake.exceptions import DeltaError

    before = os.umask(0o077)
    try:
        yield
    except (DeltaError, OSError) as error:
        raise CannotWriteError(f"{place.root}: {place.without_secrets(str(error))}") from None
    finally:
        os.umask(before)
