"""The values that rules need of a log in addition to its summary: elections, registrations,
credentials.

Owns one more look at each batch as it passes, and what is kept of it, which is bounded: of an
endless log the oldest stays out.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial
from struct import Struct
from typing import Any, NamedTuple

from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD, NOOP_BATCH, Record, RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import decode_record
from kraftool.decoders.log_record import decode_control, position_in_file
from kraftool.decoders.names import FileState, parse_checkpoint_name, segment_offset
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item
from kraftool.decoders.wire import ZERO_UUID
from kraftool.directory.log_reader import Observe, SpanObserver
from kraftool.directory.native_reader import Taken
from kraftool.storage.entry import Entry

MOST = 100_000
"""So many events of a kind are kept, the newest ones."""
MOST_BATCHES = 4_000_000
"""So many batches are remembered for the comparison of logs, 16 bytes each."""

_REGISTER, _SCRAM, _REMOVE_SCRAM, _BEGIN, _END, _ABORT = 0, 11, 22, 23, 24, 25
_REGISTER_CONTROLLER = 27
_WANTED = frozenset({_REGISTER, _REGISTER_CONTROLLER, _SCRAM, _REMOVE_SCRAM, _BEGIN, _END, _ABORT})

_NOTED = Struct(">qiixI").unpack_from
"""The first fields of a batch: base offset, length, epoch and, behind the magic, CRC."""

Batch = tuple[int, int, int]
"""The base offset of a batch, its epoch and its CRC."""
Credential = tuple[str, int]
"""A user's name and the mechanism's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedElection:
    """A LeaderChange record."""

    leader_id: int
    epoch: int
    offset: int
    timestamp: int
    file: str
    position: int
    before_epoch: int
    """Of the batch before it; -1 where it is the first."""
    before_timestamp: int
    granting: tuple[tuple[int, str], ...] = ()
    """Who gave the leader a vote, itself too: ids, and directory ids where kraft.version is 1."""

    def words(self) -> str:
        return f"LeaderChange of epoch {self.epoch}: leader {self.leader_id}"

    def had_vote_of(self, node_id: int, directory_id: str | None) -> bool:
        """True if that node was in this epoch, as its leader or with a vote for it."""
        directories = [directory for id, directory in self.granting if id == node_id]
        if not directories:
            return node_id == self.leader_id
        return any(directory in (ZERO_UUID, directory_id) for directory in directories)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStart:
    """A RegisterBrokerRecord: a process of a broker that came up."""

    broker_id: int
    offset: int
    timestamp: int
    file: str
    position: int
    incarnation_id: str
    listeners: tuple[tuple[str, str, int], ...]
    """By name, host and port."""
    directories: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialChange:
    """A SCRAM credential that came or went."""

    offset: int
    credential: Credential
    present: bool


class _Place(NamedTuple):
    """A record's place."""

    file: str
    position: int
    offset: int
    timestamp: int


@dataclass(slots=True)
class LogStatistics:
    """The values that are kept of one directory's log and snapshots."""

    elections: deque[LoggedElection] = field(default_factory=lambda: deque(maxlen=MOST))
    starts: deque[BrokerStart] = field(default_factory=lambda: deque(maxlen=MOST))
    controller_starts: dict[int, int] = field(default_factory=dict)
    """When each controller registered last, which its process does once."""
    credentials: list[CredentialChange] = field(default_factory=list)
    snapshot_credentials: dict[str, set[Credential]] = field(default_factory=dict)
    """By the name of the checkpoint."""
    credentials_complete: bool = True
    offsets: array[int] = field(default_factory=lambda: array("q"))
    """The base offset of each batch, and its epoch and CRC beside it."""
    epochs: array[int] = field(default_factory=lambda: array("i"))
    crcs: array[int] = field(default_factory=lambda: array("I"))
    _last: tuple[int, int] = (-1, -1)
    _pending: list[BrokerStart | CredentialChange] | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """Return how up to date the log is: its last epoch, then the offset of its last batch."""
        return (self.epochs[-1], self.offsets[-1]) if self.offsets else (-1, -1)

    def last_start(self, node_id: int | None) -> int:
        """Return when a node's process registered last, as far as the log shows; -1 if it did not.

        A registration in an aborted transaction counts too: the process had started."""
        starts = [start.timestamp for start in self.starts if start.broker_id == node_id]
        if node_id is not None:
            starts.append(self.controller_starts.get(node_id, -1))
        return max(starts, default=-1)

    def around(self, offset: int) -> tuple[Batch | None, Batch | None]:
        """Return the whole batches before and after a damaged place, as offset, epoch and CRC."""
        number = bisect_left(self.offsets, offset)
        before = self._at(number - 1) if number else None
        return before, self._at(number) if number < len(self.offsets) else None

    def has(self, batch: Batch) -> bool:
        """True if the log has a batch with the same offset, epoch and bytes."""
        number = bisect_left(self.offsets, batch[0])
        return number < len(self.offsets) and self._at(number) == batch

    def _at(self, number: int) -> Batch:
        return self.offsets[number], self.epochs[number], self.crcs[number]

    def only_around(self, offsets: Iterable[int]) -> LogStatistics:
        """Return the batches around these places alone, which is all that a light copy needs."""
        kept = {batch for offset in offsets for batch in self.around(offset) if batch is not None}
        light = LogStatistics()
        for offset, epoch, crc in sorted(kept):
            light.offsets.append(offset)
            light.epochs.append(epoch)
            light.crcs.append(crc)
        return light

    def observer(self, entry: Entry) -> Observe | None:
        """Return the observer of a file's items; None if the statistics need none of them."""
        name = parse_checkpoint_name(entry.basename)
        if name is not None and name.state is FileState.LIVE:
            credentials = self.snapshot_credentials.setdefault(entry.name, set())

            def of_snapshot(item: Item) -> None:
                if not isinstance(item, Faulty) and not item.is_control:
                    for _, key, value in _decoded(item):
                        if key == _SCRAM:
                            credentials.add((value["name"], value["mechanism"]))

            def plain(span: BatchSpan, taken: Taken) -> None:
                for _, _, _, data in taken.watched:
                    if data[1] == _SCRAM:
                        value = decode_record(data)[2]
                        credentials.add((value["name"], value["mechanism"]))

            return _Watching(of_snapshot, plain, (_SCRAM,))
        if segment_offset(entry.basename) is None:
            return None

        def of_log(item: Item) -> None:
            if not isinstance(item, Faulty):
                self._batch(entry.name, item)

        return _Watching(of_log, partial(self._plain, entry.name), _WANTED)

    def _plain(self, file: str, span: BatchSpan, taken: Taken) -> None:
        """Batches that were read natively, with their wanted records."""
        data, last, at = span.data, taken.at, taken.at
        while at < taken.end:
            offset, length, epoch, crc = _NOTED(data, at)
            self._note(offset, epoch, crc)
            last, at = at, at + LOG_OVERHEAD + length
        batch = span.batch(last)
        self._last = (batch.epoch, batch.header.max_timestamp)
        for position, offset, timestamp, value in taken.watched:
            if value[1] in _WANTED:
                place = _Place(file, position, offset, timestamp)
                self._record(place, value[1], decode_record(value)[2])

    def _note(self, offset: int, epoch: int, crc: int) -> None:
        """Keep a batch. The offsets are to rise: the CRC does not cover them, so of two that do not
        rise, the one that its neighbours contradict is left out."""
        if self.offsets and offset <= self.offsets[-1]:
            if len(self.offsets) > 1 and offset <= self.offsets[-2]:
                return
            for kept in (self.offsets, self.epochs, self.crcs):
                kept.pop()
        if len(self.offsets) < MOST_BATCHES:
            self.offsets.append(offset)
            self.epochs.append(epoch)
            self.crcs.append(crc)

    def _batch(self, file: str, batch: RecordBatch) -> None:
        header = batch.header
        self._note(header.base_offset, header.partition_leader_epoch, header.crc)
        if batch.is_control:
            self._control(file, batch)
        elif header.record_count > 1 or batch.data[HEADER_SIZE:] != NOOP_BATCH:
            for record, key, value in _decoded(batch):
                position = position_in_file(batch, record)
                place = _Place(file, position, record.offset, record.timestamp)
                self._record(place, key, value)
        self._last = (batch.epoch, header.max_timestamp)

    def _control(self, file: str, batch: RecordBatch) -> None:
        try:
            for record in batch.shared_records():
                item = decode_control(record)
                if item.type == "LeaderChange" and item.data is not None:
                    self.elections.append(
                        LoggedElection(
                            leader_id=item.data["leaderId"],
                            epoch=batch.epoch,
                            offset=record.offset,
                            timestamp=record.timestamp,
                            file=file,
                            position=batch.position,
                            before_epoch=self._last[0],
                            before_timestamp=self._last[1],
                            granting=tuple(
                                (
                                    granting_voter["voterId"],
                                    granting_voter.get("voterDirectoryId", ZERO_UUID),
                                )
                                for granting_voter in item.data["grantingVoters"]
                            ),
                        )
                    )
        except KraftoolError:
            return  # the summary tells what is wrong with the records

    def _record(self, place: _Place, key: int, value: dict[str, Any]) -> None:
        if key == _BEGIN:
            self._pending = []
        elif key in (_END, _ABORT):
            pending, self._pending = self._pending or [], None
            for event in pending if key == _END else ():
                self._event(event)
        elif key == _REGISTER_CONTROLLER:
            self.controller_starts[value["controllerId"]] = place.timestamp
        elif key == _REGISTER:
            self._event(_start(place, value))
        else:
            self._event(
                CredentialChange(
                    offset=place.offset,
                    credential=(value["name"], value["mechanism"]),
                    present=key == _SCRAM,
                )
            )

    def _event(self, event: BrokerStart | CredentialChange) -> None:
        if self._pending is not None:
            self._pending.append(event)
        elif isinstance(event, BrokerStart):
            self.starts.append(event)
        elif len(self.credentials) < MOST:
            self.credentials.append(event)
        else:
            self.credentials_complete = False


class _Watching(SpanObserver):
    """Observes a log or a snapshot. Of its plain batches it sees only the records it wants."""

    def __init__(
        self, see: Observe, take: Callable[[BatchSpan, Taken], None], watched: Collection[int]
    ) -> None:
        self._see, self._take, self.watched = see, take, watched

    def __call__(self, item: Item) -> None:
        self._see(item)

    def plain(self, span: BatchSpan, taken: Taken) -> None:
        self._take(span, taken)


def _start(place: _Place, value: dict[str, Any]) -> BrokerStart:
    return BrokerStart(
        broker_id=value["brokerId"],
        offset=place.offset,
        timestamp=place.timestamp,
        file=place.file,
        position=place.position,
        incarnation_id=value["incarnationId"],
        listeners=tuple(
            sorted(
                (end_point["name"], end_point["host"], end_point["port"])
                for end_point in value["endPoints"]
            )
        ),
        directories=tuple(value.get("logDirs") or ()),
    )


def _decoded(batch: RecordBatch) -> list[tuple[Record, int, dict[str, Any]]]:
    """The records of a batch that are wanted, decoded; what is damaged is told by the summary."""
    records: list[tuple[Record, int, dict[str, Any]]] = []
    try:
        for record in batch.shared_records():
            value = record.value
            if value is None or len(value) < 3 or value[0] != 1 or value[1] not in _WANTED:
                continue
            records.append((record, value[1], decode_record(value)[2]))
    except KraftoolError:
        return records
    return records
