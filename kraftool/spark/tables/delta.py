"""Delta tables, as far as a run needs them: open, add and remove files, take back, put together.

Owns how runs and audits call delta-rs. A commit is a new file in the table's log that nobody else
can have made: on a disk by a link, in an object store by a conditional put. It never tries again by
itself, so that a commit is at the version that its caller saw before it, or fails. Spark's workers
import this module too, and need no delta-rs: the driver alone commits.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from kraftool.arrow.untyped import ArrowReader, ArrowSchema, pa
from kraftool.spark.tables import file_stats
from kraftool.spark.tables.place import CannotWriteError, TablePlace

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable, Transaction

    from kraftool.spark.tables.sink import StagedFile

RUN = "kraftool.run"
"""The run that made a commit, in the commit's metadata, which a table's history shows."""
_COMMIT_ID = "kraftool.commit"
_COMMIT = re.compile(r"[0-9]{20}\.json")
_STATISTICS = "delta.dataSkippingStatsColumns"
"""The property that names the columns of which the log has statistics. Without it delta-rs takes a
column without statistics for one whose values are all null, and a filter finds no row."""


class ActiveFile(NamedTuple):
    """A file of a version, with the least and greatest values of some columns."""

    path: str
    size: int
    rows: int
    least: dict[str, Any]
    greatest: dict[str, Any]
    nulls: dict[str, Any]


class ConflictError(Exception):
    """Somebody else has made the version that this commit was to make."""


def opened(place: TablePlace, table: str, version: int | None = None) -> DeltaTable | None:
    """Return a version of a table, or the latest one; None if there is no such table."""
    if not place.is_remote and not os.path.isdir(place.path(f"{table}/_delta_log")):
        return None
    from deltalake import DeltaTable
    from deltalake.exceptions import TableNotFoundError

    with explained(place):
        try:
            return DeltaTable(place.path(table), version, storage_options=dict(place.options))
        except TableNotFoundError:
            return None


def latest_version(place: TablePlace, table: str) -> int | None:
    """Return the number of the latest version, without a look at the table."""
    names = place.listed(f"{table}/_delta_log")
    return max((int(name[:20]) for name in names if _COMMIT.fullmatch(name)), default=None)


class LaterCommits(NamedTuple):
    """The effect of the commits after a version."""

    changes_data: bool
    """False if they have only rearranged files, as OPTIMIZE does."""
    only_ours: bool
    """True if all changes of data are kraftool's."""


def later_commits(place: TablePlace, table: str, after: int, latest: int) -> LaterCommits:
    """Read the commits after a version. A commit that is no longer there may have done anything."""
    changes, only_ours = False, True
    for version in range(after + 1, latest + 1):
        try:
            with place.open(f"{table}/_delta_log/{version:020}.json") as opened_file:
                actions = [orjson.loads(line) for line in opened_file.read().splitlines() if line]
        except (CannotWriteError, orjson.JSONDecodeError):
            return LaterCommits(changes_data=True, only_ours=False)
        files = (action.get("add") or action.get("remove") for action in actions)
        if any(file and file.get("dataChange", True) for file in files):
            changes = True
            only_ours &= any(RUN in action.get("commitInfo", ()) for action in actions)
    return LaterCommits(changes, only_ours)


def active_files(place: TablePlace, table: DeltaTable) -> Iterator[ActiveFile]:
    """Yield the files of a version."""
    with explained(place):
        actions = pa.table(table.get_add_actions(flatten=False))
    names = actions.column_names
    for batch in actions.to_batches(max_chunksize=1_000):
        for action in batch.to_pylist():
            yield ActiveFile(
                action["path"],
                action["size_bytes"],
                action["num_records"] or 0,
                *(
                    action[key] or {} if key in names else {}
                    for key in ("min", "max", "null_count")
                ),
            )


def latest_metadata(place: TablePlace, table: DeltaTable, name: str) -> str | None:
    """Return a value of the latest commit that has it."""
    with explained(place):
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
    added: Sequence[StagedFile],
    removed: Sequence[ActiveFile],
    run: int,
    metadata: Mapping[str, str] | None = None,
) -> int:
    """Make the next version of a table, or the table, and return its number. Raise ConflictError if
    somebody else has made it."""
    from deltalake import Schema
    from deltalake.exceptions import CommitFailedError, DeltaError
    from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

    now = time.time_ns() // 1_000_000
    adds = [AddAction(file.path, file.size, {}, now, True, file.stats) for file in added]
    removes = [RemoveAction(file.path, True, now, file.size, {}) for file in removed]
    version = 0 if table is None else table.version() + 1
    own = os.urandom(8).hex()
    properties = _properties(run, {**(metadata or {}), _COMMIT_ID: own})
    skipped_by = [column for column in file_stats.COLUMNS if column in schema.names]
    with explained(place):
        try:
            if table is None:
                place.make_folder(name)
                create_table_with_add_actions(
                    place.path(name),
                    Schema.from_arrow(schema),
                    adds,
                    mode="error",
                    name=name.rpartition("/")[2],
                    configuration={_STATISTICS: ",".join(skipped_by)} if skipped_by else {},
                    storage_options=dict(place.options),
                    commit_properties=properties,
                )
            else:
                table.create_write_transaction(
                    [*adds, *removes], "append", schema, commit_properties=properties
                )
        except DeltaError as error:
            made = opened(place, name)
            if made is None or not (table is None or isinstance(error, CommitFailedError)):
                raise
            # An answer that was lost looks like somebody else's commit.
            if made.version() != version or made.history(1)[0].get(_COMMIT_ID) != own:
                raise ConflictError(name) from None
    return version


def append(
    place: TablePlace, table: DeltaTable | None, name: str, rows: ArrowReader, run: int, app: str
) -> None:
    """Write rows of the driver's in the next version of the table at the root of a place, or in the
    first. The table remembers the run of the application, also if it has no rows. Raise
    ConflictError if somebody else has made that version."""
    from deltalake import Transaction, write_deltalake
    from deltalake.exceptions import CommitFailedError

    with explained(place):
        try:
            write_deltalake(
                place.root if table is None else table,
                rows,
                mode="append",
                name=name,
                storage_options=dict(place.options) if table is None else None,
                commit_properties=_properties(run, {}, [Transaction(app, run)]),
            )
        except CommitFailedError:
            raise ConflictError(name) from None


def _properties(
    run: int, metadata: Mapping[str, str], transactions: list[Transaction] | None = None
) -> CommitProperties:
    from deltalake import CommitProperties

    return CommitProperties({RUN: str(run), **metadata}, 0, transactions)


def restore(place: TablePlace, table: DeltaTable, version: int, run: int) -> None:
    """Give a table the files of an earlier version again, in a commit of its own."""
    with explained(place):
        table.restore(version, commit_properties=_properties(run, {}))


def put_together(place: TablePlace, table: DeltaTable, run: int) -> None:
    """Put small files together, without a change of data."""
    from deltalake import WriterProperties

    with explained(place):
        table.optimize.compact(
            writer_properties=WriterProperties(compression="ZSTD"),
            commit_properties=_properties(run, {}),
        )


def vacuum(place: TablePlace, table: DeltaTable, hours: int) -> None:
    """Remove files that no version of the last hours has, whoever left them."""
    with explained(place):
        table.vacuum(
            retention_hours=hours, dry_run=False, enforce_retention_duration=False, full=True
        )


@contextmanager
def explained(place: TablePlace) -> Iterator[None]:
    """Let delta-rs write for the owner only, and give its errors as one line without secrets."""
    from deltalake.exceptions import DeltaError

    before = os.umask(0o077)
    try:
        yield
    except (DeltaError, OSError) as error:
        raise CannotWriteError(f"{place.root}: {place.without_secrets(str(error))}") from None
    finally:
        os.umask(before)
