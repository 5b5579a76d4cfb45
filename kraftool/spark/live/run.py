"""One run of a stream: begun, watched, and ended at a border between micro-batches.

Owns the query. What it writes is written in a thread of PySpark's, which is why rows that are to be
shown are handed to whoever iterates over the run, and a micro-batch counts as done when the next
one is asked for. It refuses to begin a batch once it was asked to end: Spark plans it again.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

TICK_S = 0.2
Write = Callable[["DataFrame", int], None]


class _Ended(Exception):
    """The run was asked to end before this batch was begun."""


@dataclass(slots=True)
class Handed:
    """Hands rows of the thread that runs a batch to the one that shows them."""

    aborted: threading.Event = field(default_factory=threading.Event)
    _rows: queue.SimpleQueue[Any] = field(default_factory=queue.SimpleQueue)
    _shown: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def write(self, batch: DataFrame, number: int) -> None:
        """Give the rows of one micro-batch away, and wait until they were shown."""
        table = batch.toArrow()
        if table.num_rows:
            self._rows.put(table)
            while not self._shown.acquire(timeout=TICK_S):
                if self.aborted.is_set():
                    raise _Ended

    def take(self, patience_s: float = TICK_S) -> Iterator[Any]:
        """A table of rows, or None if there is none that long. It counts as shown afterwards."""
        try:
            table = self._rows.get(timeout=patience_s)
        except queue.Empty:
            yield None
            return
        yield table
        self._shown.release()


@dataclass(slots=True)
class RunningStream:
    """A stream that runs."""

    query: StreamingQuery
    closed: threading.Event
    """Set when no other batch is to be begun."""
    handed: Handed

    def tables(self, is_over: Callable[[], bool]) -> Iterator[Any]:
        """The rows that were handed over, and None from time to time, until the query has ended by
        itself; or, once it is over, until the micro-batch that runs has ended. Failures of the
        query are raised."""
        while self.query.isActive and not is_over():
            yield from self.handed.take()
        self.closed.set()
        while self.query.isActive and self.query.status["isTriggerActive"]:
            yield from self.handed.take()
        error = self.query.exception()
        if error is not None and _Ended.__name__ not in str(error):
            raise error


@contextmanager
def running(
    rows: DataFrame,
    sink: Write | None,
    *,
    checkpoint: Path | None,
    once: bool,
    interval_s: float,
) -> Iterator[RunningStream]:
    """Run a stream into a sink, or hand its rows over. The query has ended when this returns."""
    closed, handed = threading.Event(), Handed()
    write = sink or handed.write

    def one(batch: DataFrame, number: int) -> None:
        if closed.is_set():
            raise _Ended
        write(batch, number)

    writer = rows.writeStream.foreachBatch(one)
    if checkpoint is not None:
        writer = writer.option("checkpointLocation", f"file://{checkpoint}")
    writer = (
        writer.trigger(availableNow=True)
        if once
        else writer.trigger(processingTime=f"{round(interval_s * 1000)} milliseconds")
    )
    query = writer.start()
    try:
        yield RunningStream(query, closed, handed)
    finally:
        closed.set()
        handed.aborted.set()
        with suppress(Exception):  # whatever it says now, it was told to end
            query.stop()
