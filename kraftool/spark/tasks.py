"""What one task of a source reads on a worker, and the reader that makes rows of it.

Owns what batch sources and streams share. Which tasks there are is planned in `source.py`,
`stream.py` and `live/finding_stream.py`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql.datasource import InputPartition

from kraftool.spark.arrow import ArrowSchema
from kraftool.spark.columns import BATCHES, RECORDS
from kraftool.spark.entries import EntryReader
from kraftool.spark.fleet import Unread
from kraftool.spark.rows import RowReader, batch_reader, record_reader, typed_reader
from kraftool.spark.settings import SourceOptions
from kraftool.spark.splits import Split


class ReadTask(InputPartition):
    """What one task reads."""

    def __init__(self, splits: Sequence[Split], unread: Sequence[Unread] = ()) -> None:
        self.splits, self.unread = tuple(splits), tuple(unread)

    def __repr__(self) -> str:
        """Without the paths as they were given, which may have something to log in."""
        names = ", ".join(f"{each.file.name} {each.start}" for each in self.splits[:3])
        return f"Task({names}{', …' if len(self.splits) > 3 else ''})"


@contextmanager
def without_collector() -> Iterator[None]:
    """Look for no reference cycles meanwhile: decoding makes many objects and no cycles. A worker
    runs other code afterwards."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def row_reader(source: str, arrow: ArrowSchema, settings: SourceOptions) -> RowReader:
    """The reader of a source whose rows come from batches."""
    secrets = settings.show_secrets
    if source == BATCHES:
        return batch_reader(arrow, EntryReader(settings.narrowing, batches_only=True))
    entries = EntryReader(settings.narrowing, show_secrets=secrets)
    if source == RECORDS:
        return record_reader(arrow, entries, show_secrets=secrets)
    return typed_reader(source.removeprefix(f"{RECORDS}."), arrow, entries)
