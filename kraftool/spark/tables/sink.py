"""The sink of a task's rows: Parquet files in a staging folder, which the driver commits later.

Owns how many files are open and how much waits in memory, however many tables, clusters and days
come. A file gets few large row groups. It refuses to touch what is committed: its files lie in a
folder of one attempt of one task, and mean nothing until the driver has seen that attempt succeed.
"""

from __future__ import annotations

import errno
import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.tables.layout import (
    FILE_MODE,
    FOLDER_MODE,
    arrow_schema,
    folder_of,
    make_folders,
)

pq: Any = import_module("pyarrow.parquet")

HELD = 64 << 20
"""Bytes of Arrow that wait at the most, over all files."""
ROW_GROUP = 32 << 20
"""Bytes of Arrow after which a file gets a row group."""
MOST_OPEN = 48
"""Files that are open at the most. One that was closed for others goes on in another one."""

_Key = tuple[str, str | None, str | None]


class SinkError(KraftoolError):
    """The tables cannot be written, which ends the job; what is read never does."""


class StagedFile(NamedTuple):
    """A file that a task wrote. `path` is where it belongs, below the folder of the tables."""

    table: str
    staged: str
    path: str
    rows: int
    size: int


class Waiting:
    """Rows of one file that are not written yet."""

    __slots__ = ("batches", "size")

    def __init__(self) -> None:
        self.batches: list[ArrowBatch] = []
        self.size = 0


class _Open:
    """A file that is being written."""

    def __init__(self, key: _Key, folder: str, path: str) -> None:
        self.key, self.path, self.rows = key, path, 0
        whole = os.path.join(folder, path)
        make_folders(folder, path.rpartition("/")[0])
        # pyarrow would make it for everybody; what is there it leaves as it is.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        os.close(os.open(whole, flags, FILE_MODE))
        self.file = pa.OSFile(whole, "wb")
        self.writer = pq.ParquetWriter(self.file, arrow_schema(key[0]), compression="zstd")

    def write(self, batches: list[ArrowBatch]) -> None:
        table = pa.Table.from_batches(batches)
        self.writer.write_table(table, row_group_size=max(table.num_rows, 1))
        self.rows += table.num_rows

    def close(self) -> None:
        try:
            self.writer.close()
        finally:
            self.file.close()


class Sink:
    """Takes the rows of one unit of work. `folder` is the staging folder of the attempt, which has
    to be there; `name` begins the names of its files, and is no other unit's in this run."""

    def __init__(
        self, folder: str, name: str, *, held: int = HELD, most_open: int = MOST_OPEN
    ) -> None:
        self._folder, self._name = folder, name
        self._held, self._most_open = held, most_open
        self._waiting: dict[_Key, Waiting] = {}
        self._size = 0
        self._open: OrderedDict[_Key, _Open] = OrderedDict()
        self._done: list[StagedFile] = []
        self._count = 0

    def write(self, table: str, cluster_id: str | None, day: str | None, batch: ArrowBatch) -> None:
        """Take rows with the columns of `arrow_schema(table)`. `day` is YYYY-MM-DD, or None."""
        if not batch.num_rows:
            return
        key = (table, cluster_id, day)
        waiting = self._waiting.setdefault(key, Waiting())
        waiting.batches.append(batch)
        waiting.size += batch.nbytes
        self._size += batch.nbytes
        if waiting.size >= ROW_GROUP:
            self._flush(key)
        while self._size > self._held:
            self._flush(max(self._waiting, key=lambda each: self._waiting[each].size))

    def _flush(self, key: _Key) -> None:
        """Give a file what waits for it, as a row group."""
        waiting = self._waiting.pop(key)
        self._size -= waiting.size
        with self._explained():
            self._opened(key).write(waiting.batches)

    def _opened(self, key: _Key) -> _Open:
        found = self._open.get(key)
        if found is not None:
            self._open.move_to_end(key)
            return found
        if len(self._open) >= self._most_open:
            self._close(next(iter(self._open)))
        path = f"{folder_of(*key)}/{self._name}-{self._count}.parquet"
        self._count += 1
        self._open[key] = made = _Open(key, self._folder, path)
        return made

    def _close(self, key: _Key) -> None:
        done = self._open.pop(key)
        done.close()
        staged = os.path.join(self._folder, done.path)
        size = os.stat(staged).st_size
        self._done.append(StagedFile(key[0], staged, done.path, done.rows, size))

    def close(self) -> list[StagedFile]:
        """Write what waits; the files that there are now."""
        with self._explained():
            for key in list(self._waiting):
                self._flush(key)
                if len(self._open) > 1:
                    self._close(key)
            for key in list(self._open):
                self._close(key)
        return self._done

    def discard(self) -> None:
        """Forget all that was written."""
        with self._explained():
            for each in self._open.values():
                each.close()
            paths = [each.path for each in self._open.values()]
            for path in (*paths, *(staged_file.path for staged_file in self._done)):
                os.unlink(os.path.join(self._folder, path))
        self._open.clear()
        self._waiting.clear()
        self._done, self._size = [], 0

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise cannot_write(self._folder, error) from error


def cannot_write(folder: str, error: OSError) -> SinkError:
    """Return what is said where a worker cannot write. All in one line: Spark hands on no more."""
    number = error.errno
    if number is None:
        # pyarrow keeps the number of the system in its words only.
        found = re.search(r"errno (\d+)\]", str(error), re.IGNORECASE)
        number = int(found[1]) if found else None
    reason = os.strerror(number) if number is not None else str(error)
    if number == errno.ENOENT:
        return SinkError(
            f"a Spark worker cannot see {folder}: all workers must see --out under the same name"
        )
    return SinkError(f"{folder} cannot be written by a Spark worker: {reason}")


def staging(root: str, attempt: str) -> str:
    """The folder of one attempt of a task, made below the staging folder of the run."""
    folder = os.path.join(root, attempt)
    try:
        os.mkdir(folder, FOLDER_MODE)
    except OSError as error:
        raise cannot_write(root, error) from error
    return folder
