"""A range of a log as the rows of `records`, `batches` and every table of a record type.

Owns that a range is read and decoded once for all of them, and the cutting by days. What cannot be
decoded is a row of kind `problem`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import groupby
from operator import attrgetter

from kraftool.arrow import rows
from kraftool.arrow.chunks import Chunk, ChunkReader, problem_rows
from kraftool.arrow.columns import BATCHES, RECORDS, record_types, typed_fields
from kraftool.arrow.entries import EntryReader, Unreadable
from kraftool.arrow.narrowing import FIRST_MS, LAST_MS, Narrowing
from kraftool.arrow.native_columns import NativeColumns, can_read
from kraftool.arrow.reading import without_collector
from kraftool.arrow.rows import Rows
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import Array, ArrowBatch, pa, pc
from kraftool.decoders import schema
from kraftool.decoders.fault import LogFault
from kraftool.spark.tables.layout import arrow_schema
from kraftool.spark.tables.sink import Sink

_DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def extract(splits: Sequence[Split], sink: Sink, *, show_secrets: bool) -> None:
    """Read ranges, one after the other, and give the sink all their rows."""
    native = None
    if can_read(Narrowing()):
        native = NativeColumns(
            Narrowing(),
            masked=not show_secrets,
            full_rows=rows.ROWS,
            full_bytes=rows.PAYLOAD,
            payloads=True,
            chosen=_all_fields(),
        )
    entries = EntryReader(Narrowing(), show_secrets=show_secrets, native=native)
    chunks = ChunkReader(entries, show_secrets=show_secrets)
    of_topics = ChunkReader(EntryReader(Narrowing(), batches_only=True), batches_only=True)
    with without_collector():
        owner = attrgetter("file.directory.cluster_id", "file.in_topic")
        for (cluster_id, in_topic), some in groupby(splits, owner):
            for chunk in (of_topics if in_topic else chunks).read(some):
                for table, part in _rows_of(chunk, in_topic=in_topic):
                    batch = part.batch(arrow_schema(table))
                    for day, own in _by_day(part.column("timestamp_ms"), batch):
                        sink.write(table, cluster_id, day, own)


def _rows_of(chunk: Chunk, *, in_topic: bool) -> Iterator[tuple[str, Rows]]:
    """The rows for each table. The records of a topic are no metadata: only batches are rows."""
    of_tables = {"batches": chunk.of(BATCHES)}
    problems = chunk.problems
    if not in_topic:
        names = [name for name in chunk.types if name in record_types()]
        of_tables |= {name: chunk.of(f"{RECORDS}.{name}") for name in names}
        of_tables["records"] = [*chunk.of(RECORDS), problem_rows(problems)]
        # A batch is known by its header, whatever is wrong with the records in it.
        problems = [one for one in problems if isinstance(one[0], LogFault | Unreadable)]
    of_tables["batches"].append(problem_rows(problems))
    yield from ((table, part) for table, parts in of_tables.items() for part in parts if part.count)


@cache
def _all_fields() -> dict[str, frozenset[str]]:
    return {
        name: frozenset(field.name for field in typed_fields(name))
        for name in schema.names("metadata")
    }


def _by_day(
    milliseconds: Array | None, batch: ArrowBatch
) -> Iterator[tuple[str | None, ArrowBatch]]:
    """The rows by the day (UTC) of their time; null where no calendar reaches."""
    if milliseconds is None:
        yield None, batch
        return
    runs: dict[int | None, list[tuple[int, int]]] = {}
    start = 0
    for number, end in _runs_of_days(milliseconds):
        runs.setdefault(number, []).append((start, end))
        start = end
    for number, own in runs.items():
        day = None if number is None else _day(number)
        first, end = own[0]
        # A slice keeps all of the batch in memory while it waits.
        if len(own) == 1 and 2 * (end - first) >= batch.num_rows:
            yield day, batch.slice(first, end - first)
            continue
        chosen = [row for first, end in own for row in range(first, end)]
        yield day, batch.take(pa.array(chosen, pa.int32()))


def _runs_of_days(milliseconds: Array) -> Iterator[tuple[int | None, int]]:
    """Days since 1970 and the end of the rows that follow on each other with it."""
    is_told = pc.and_(
        pc.greater_equal(milliseconds, FIRST_MS), pc.less_equal(milliseconds, LAST_MS)
    )
    known = pc.if_else(is_told, milliseconds, pa.scalar(None, pa.int64()))
    # Of what is not negative, what is left of a division is cut off; the first day is a whole one.
    days = pc.divide(pc.subtract(known, FIRST_MS), _DAY_MS)
    runs = pc.run_end_encode(days)
    first = FIRST_MS // _DAY_MS
    for day, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield None if day is None else day + first, end


@lru_cache(maxsize=1_000)
def _day(number: int) -> str:
    # Not by strftime, which writes early years without leading zeros.
    return (_EPOCH + timedelta(days=number)).date().isoformat()
