"""The part of a log that the timeline reads: each batch by its identity, and the records with
events.

Owns which record types are watched. A batch of idle records is known without being decoded, other
batches are decoded once, whichever node they were read from. It refuses to judge what a batch
means beside others; that is `merge.py`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from kraftool.decoders.batch import HEADER_SIZE, NOOP_BATCH, RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.log_record import (
    decode_batch,
    fault_between,
    fault_of,
)
from kraftool.decoders.segment import BatchSpan
from kraftool.reports.files.log_findings import log_finding
from kraftool.reports.findings.finding import Finding

TOPIC_TYPE, PARTITION_TYPE, PARTITION_CHANGE_TYPE, IDLE_TYPE = 2, 3, 5, 20
_CHANGES = frozenset({0, 1, TOPIC_TYPE, 7, 8, 9, 12, 17, 23, 24, 25, 27, 29})
"""Registrations, topics, features and transactions, by api key."""
_SETTINGS = frozenset({4, 10, 11, 14, 18, 19, 21, 22, 26, 28})
"""Configs, tokens, SCRAM users, quotas, ACLs, ZooKeeper migration, cleared ELRs."""
_CONTROL = -1
"""In place of an api key, for control records."""
WATCHED_TYPES = _CHANGES | _SETTINGS
_SHOWN = WATCHED_TYPES | {PARTITION_CHANGE_TYPE, _CONTROL}
PARTITIONS = "partitions"
"""The name under which the PartitionRecords of a batch are counted as one."""


class Watched(NamedTuple):
    """A record that may tell something. `data` is Kafka's JSON form."""

    offset: int
    timestamp: int
    name: str
    data: dict[str, Any]
    is_control: bool = False


class Content(NamedTuple):
    """The part of a batch that was decoded."""

    records: tuple[Watched, ...]
    findings: tuple[Finding, ...] = ()
    has_idle: bool = False


class Stretch(NamedTuple):
    """Batches in a row in which nothing happens, known natively. Times are in milliseconds."""

    pieces: tuple[tuple[BatchSpan, int, int], ...]
    """Where they are: spans, and from where to where in each."""
    longest_wait: int
    shortest_wait: int
    """Between two batches; negative where time goes back."""
    idle: int
    """Batches with idle records."""
    first_idle: int
    last_idle: int
    longest_idle_wait: int
    """Between two batches with idle records."""


class LogBatch(NamedTuple):
    """One batch of one node's log, or a stretch of them whose `crc` is a digest of all of theirs.

    Two nodes have the same batch if base, last, epoch and crc are equal: the CRC does not cover
    base offset and epoch, and covers everything else.
    """

    base: int
    last: int
    epoch: int
    crc: int
    timestamp: int
    max_timestamp: int
    is_control: bool
    is_idle: bool
    file: str
    batch: RecordBatch | None = None
    stored: Content | None = None
    stretch: Stretch | None = None

    def batches(self) -> Iterator[LogBatch]:
        """The batches of a stretch, or the one batch that this is."""
        if self.stretch is None:
            yield self
            return
        for span, at, end in self.stretch.pieces:
            for batch in span.read_batches(at, end):
                yield log_batch(self.file, batch)

    @property
    def identity(self) -> tuple[int, int, int]:
        return self.epoch, self.last, self.crc

    def content(self) -> Content:
        if self.stored is not None:
            return self.stored
        return decode(self.file, self.batch) if self.batch is not None else _NOTHING


_NOTHING = Content(())
_IDLE = Content((), (), has_idle=True)


def log_batch(file: str, batch: RecordBatch) -> LogBatch:
    """A batch whose CRC holds, as an item to merge."""
    header = batch.header
    idle = header.record_count == 1 and batch.data[HEADER_SIZE:] == NOOP_BATCH
    return LogBatch(
        header.base_offset,
        batch.last_offset,
        header.partition_leader_epoch,
        header.crc,
        header.base_timestamp,
        header.max_timestamp,
        batch.is_control,
        idle and not batch.is_control,
        file,
        batch,
    )


def decode(file: str, batch: RecordBatch) -> Content:
    """The watched records of a batch, and what of them could not be decoded."""
    records: list[Watched] = []
    findings: list[Finding] = []
    counted, has_idle = PartitionCount(), False
    try:
        for item in decode_batch(batch):
            key = _CONTROL if item.is_control else item.api_key
            has_idle = has_idle or key == IDLE_TYPE
            fault = fault_of(batch, item)
            if fault is not None:
                findings.append(log_finding(file, fault))
            record, data = item.record, item.data
            if key == PARTITION_TYPE:
                counted.count += 1
            if data is not None and fault is None:
                counted.take(key, data)
            if fault is not None or data is None or key not in _SHOWN:
                continue
            if key == PARTITION_CHANGE_TYPE and not _tells(data):
                continue
            records.append(
                Watched(record.offset, record.timestamp, item.name, data, item.is_control)
            )
    except DecodeError as error:
        findings.append(log_finding(file, fault_between(batch, error)))
    records += counted.watched(batch.last_offset, batch.header.base_timestamp)
    return Content(tuple(records), tuple(findings), has_idle)


class PartitionCount:
    """Counts the PartitionRecords of a batch, and finds those of topics that were there before."""

    def __init__(self) -> None:
        self.count = 0
        self._created: set[str] = set()
        self._of_topics: dict[str, list[int]] = {}

    def take(self, key: int | None, data: dict[str, Any]) -> None:
        """Take a record that was decoded."""
        if key == TOPIC_TYPE:
            self._created.add(data["topicId"])
        elif key == PARTITION_TYPE:
            self._of_topics.setdefault(data["topicId"], []).append(data["partitionId"])

    def watched(self, offset: int, timestamp: int) -> Iterator[Watched]:
        """Yield what is told of the batch, if it has PartitionRecords."""
        if self.count:
            added = {id: ids for id, ids in self._of_topics.items() if id not in self._created}
            yield Watched(offset, timestamp, PARTITIONS, {"count": self.count, "added": added})


def _tells(change: dict[str, Any]) -> bool:
    """True if a PartitionChangeRecord takes the leader away, elects an unclean one, or moves
    replicas."""
    return bool(
        change.get("leader", -2) == -1
        or change.get("leaderRecoveryState", -1) == 1
        or change.get("addingReplicas")
        or change.get("removingReplicas")
        or change.get("replicas")
    )


class StoredBatches:
    """The batches of a log that can be read only once, as a tar stream's: 56 bytes for each, and
    the records that tell."""

    _COLUMNS = 6

    def __init__(self) -> None:
        self._numbers = array("q")
        self._contents: dict[int, Content] = {}
        self._files: list[tuple[int, str]] = []

    def add(self, batch: LogBatch) -> None:
        index = len(self._numbers) // self._COLUMNS
        if not self._files or self._files[-1][1] != batch.file:
            self._files.append((index, batch.file))
        flags = batch.is_control | batch.is_idle << 1
        self._numbers.extend(
            (batch.base, batch.last, batch.epoch << 2 | flags, batch.crc, batch.timestamp)
        )
        self._numbers.append(batch.max_timestamp)
        if not batch.is_idle:
            content = batch.content()
            if content != _NOTHING:
                self._contents[index] = content

    def __iter__(self) -> Iterator[LogBatch]:
        numbers, files = self._numbers, iter([*self._files, (-1, "")])
        file, (upto, following) = "", next(files)
        for at in range(0, len(numbers), self._COLUMNS):
            index = at // self._COLUMNS
            if index == upto:
                file, (upto, following) = following, next(files)
            base, last, packed, crc, timestamp, max_timestamp = numbers[at : at + self._COLUMNS]
            idle = bool(packed & 2)
            yield LogBatch(
                base,
                last,
                packed >> 2,
                crc,
                timestamp,
                max_timestamp,
                bool(packed & 1),
                idle,
                file,
                None,
                _IDLE if idle else self._contents.get(index, _NOTHING),
            )
