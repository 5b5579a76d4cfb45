"""A range of a log as the rows of `records`, `batches` and every table of a record type.

Owns that a range is read and decoded once for all of them, the cutting by days, and how much waits
in memory before the sink has it. What cannot be decoded is a row of kind `problem`. It refuses to
choose what is read, and to write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from kraftool.arrow.entries import EntryReader, Unreadable
from kraftool.arrow.narrowing import FIRST_MS, LAST_MS, Narrowing
from kraftool.arrow.reading import without_collector
from kraftool.arrow.rows import PAYLOAD, ROWS
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import Array, ArrowBatch, pa, pc
from kraftool.decoders import fast_path
from kraftool.decoders.errors import Fault
from kraftool.decoders.fault import LogFault
from kraftool.reports.logs.dump import BatchEntry
from kraftool.spark.tables.chunks import Read, Rows, problem_rows, rows
from kraftool.spark.tables.layout import arrow_schema
from kraftool.spark.tables.taking import Taking

if TYPE_CHECKING:
    from kraftool.spark.tables.native_chunks import NativeChunks

_CHUNK = 4_000
"""Records that become columns at once."""
_ENOUGH = 1_000
"""Rows that are handed on without waiting for more: putting them together costs more."""
_WAITING = 32 << 20
"""Bytes of Arrow that wait at the most, over all tables and days."""
_DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def extract(splits: Sequence[Split], sink: Taking, *, show_secrets: bool) -> None:
    """Read ranges, one after the other, and give the sink all their rows."""
    reader = _Extract(sink, show_secrets=show_secrets)
    with without_collector():
        for split in splits:
            reader.read(split)
        reader.finish()


class _Waiting:
    """Rows of one table and day that are not yet enough to be handed on."""

    def __init__(self) -> None:
        self.batches: list[ArrowBatch] = []
        self.rows = self.size = 0


class _Extract:
    def __init__(self, sink: Taking, *, show_secrets: bool) -> None:
        self._sink, self._show_secrets = sink, show_secrets
        self._native = _native_chunks(show_secrets=show_secrets)
        self._entries = EntryReader(
            Narrowing(),
            show_secrets=show_secrets,
            native=self._native.reader if self._native is not None else None,
        )
        self._batches_only = EntryReader(Narrowing(), batches_only=True)
        self._cluster: str | None = None
        self._reads: list[Read] = []
        self._records = self._weight = 0
        self._problems: dict[str, list[tuple[Fault, Split]]] = {"records": [], "batches": []}
        self._waiting: dict[tuple[str, str | None], _Waiting] = {}
        self._size = 0

    def read(self, split: Split) -> None:
        """Read one range. The records of a topic are no metadata: only its batches are rows."""
        if split.file.directory.cluster_id != self._cluster:
            self.finish()
            self._cluster = split.file.directory.cluster_id
        in_topic = split.file.in_topic
        entries = self._batches_only if in_topic else self._entries
        for entry in entries.of(split):
            if isinstance(entry, Fault):
                self._problem(entry, split, in_topic=in_topic)
                continue
            if not isinstance(entry, BatchEntry):
                assert self._native is not None, "its reader read them"
                self._native.add(entry, split)
                if entry.is_full:
                    self._convert_native()
                continue
            self._reads.append(Read(entry, split))
            self._records += len(entry.records) or 1
            self._weight += entry.batch.size
            if self._records >= _CHUNK or self._weight >= PAYLOAD:
                self._convert()

    def _problem(self, problem: Fault, split: Split, *, in_topic: bool) -> None:
        if not in_topic:
            self._problems["records"].append((problem, split))
        # A batch is known by its header, whatever is wrong with the records in it.
        if in_topic or isinstance(problem, LogFault | Unreadable):
            self._problems["batches"].append((problem, split))
        self._records += 1
        if self._records >= _CHUNK:
            self._convert()

    def _convert(self) -> None:
        """Make columns of what was read, and hand on what is enough."""
        reads, self._reads = self._reads, []
        self._records = self._weight = 0
        for row in rows(reads, show_secrets=self._show_secrets):
            self._take(row)
        for table, problems in self._problems.items():
            if problems:
                self._take(problem_rows(table, problems))
                self._problems[table] = []
        if self._size >= _WAITING:
            self._hand_on_all()

    def _convert_native(self) -> None:
        """The same of what was read natively."""
        if self._native is not None:
            for row in self._native.rows():
                self._take(row)
        if self._size >= _WAITING:
            self._hand_on_all()

    def _take(self, chunk: Rows) -> None:
        if not chunk.number:
            return
        batch = chunk.batch(arrow_schema(chunk.table))
        for day, part in _by_day(chunk, batch):
            if part.num_rows >= _ENOUGH:
                self._sink.write(chunk.table, self._cluster, day, part)
                continue
            waiting = self._waiting.setdefault((chunk.table, day), _Waiting())
            waiting.batches.append(part)
            waiting.rows += part.num_rows
            waiting.size += part.nbytes
            self._size += part.nbytes
            if waiting.rows >= ROWS or waiting.size >= PAYLOAD:
                self._hand_on(chunk.table, day)

    def _hand_on(self, table: str, day: str | None) -> None:
        waiting = self._waiting.pop((table, day))
        self._size -= waiting.size
        for batch in _joined(waiting.batches):
            self._sink.write(table, self._cluster, day, batch)

    def _hand_on_all(self) -> None:
        for table, day in list(self._waiting):
            self._hand_on(table, day)

    def finish(self) -> None:
        """Hand on whatever is left."""
        self._convert()
        self._convert_native()
        self._hand_on_all()


def _native_chunks(*, show_secrets: bool) -> NativeChunks | None:
    """The native reader of plain batches; None if Python reads everything."""
    if not fast_path.is_native():
        return None
    from kraftool.spark.tables.native_chunks import NativeChunks

    return NativeChunks(show_secrets=show_secrets)


def _joined(batches: list[ArrowBatch]) -> list[ArrowBatch]:
    if len(batches) == 1:
        return batches
    joined: list[ArrowBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined


def _by_day(chunk: Rows, batch: ArrowBatch) -> Iterator[tuple[str | None, ArrowBatch]]:
    """The rows by the day (UTC) of their time; null where no calendar reaches."""
    bounds = pc.min_max(chunk.milliseconds).as_py()
    low, high = bounds["min"], bounds["max"]
    if low is None or high < FIRST_MS or low > LAST_MS:
        yield None, batch
        return
    same = low >= FIRST_MS and high <= LAST_MS and low // _DAY_MS == high // _DAY_MS
    if same and not chunk.milliseconds.null_count:
        yield _day(low // _DAY_MS), batch
        return
    runs: dict[int | None, list[tuple[int, int]]] = {}
    start = 0
    for number, end in _runs_of_days(chunk.milliseconds):
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
