"""The partitions of a snapshot: the native module finds them, and reads them when a caller asks.

Owns the snapshot's descriptor, which stays open as long as the partitions are in use: a running
Kafka deletes snapshots. It leaves a record in place if it is plain and only requires that its topic
exists. All other records are replayed at once.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kraftool.decoders import fast_path, schema
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.programs import program
from kraftool.image.metadata_version import LATEST_LEVEL, partition_version
from kraftool.image.placed import PlacedPiece
from kraftool.image.topics import PartitionRegistration
from kraftool.image.uuids import MIGRATING
from kraftool.storage.source import ByteSource, BytesSource, ClosingSource, FileSource

if TYPE_CHECKING:
    from kraftool.decoders._native import Places

MOST_RECORDS = 64
"""Records of a piece: reading one of them reads all of them."""
_MOST_KEPT = 64
"""Pieces that stay decoded: callers often read neighbours one after the other."""
_DIRECTORIES = attrgetter("directories")
_T = TypeVar("_T")
_RECORD = "PartitionRecord"
_ROW = (
    "replicas",
    "directories",
    "isr",
    "removingReplicas",
    "addingReplicas",
    "eligibleLeaderReplicas",
    "lastKnownElr",
    "leader",
    "leaderRecoveryState",
    "leaderEpoch",
    "partitionEpoch",
)
"""The fields of a record in the order of PartitionRegistration."""


class FoundPiece(NamedTuple):
    """Partitions of a topic that may be read later."""

    topic_id: str
    piece: PlacedPiece
    start: int
    """Where the first record begins in the batch."""


class FoundRecord(NamedTuple):
    """Any other record."""

    ordinal: int
    start: int
    size: int
    value: bytes


class PlacedRecords:
    """The partitions of one snapshot."""

    def __init__(self, source: ByteSource) -> None:
        """Takes over the source, and closes it when the last mapping of partitions is gone."""
        self._source, self._places = source, _places()
        self._items = lru_cache(_MOST_KEPT)(partial(_items, self._places, source))
        weakref.finalize(self, source.close)

    def find(self, batch: RecordBatch) -> list[FoundPiece | FoundRecord] | None:
        """Return what is in a batch, in order; None if it is not plain."""
        pieces = self._places.find(batch.data, MOST_RECORDS)
        if pieces is None:
            return None
        parts: list[FoundPiece | FoundRecord] = []
        position, has_pieces = batch.position, False
        for index, count, start, end, content, number, is_newest, crc in pieces:
            size = end - start
            if isinstance(content, bytes):
                parts.append(FoundRecord(index, start, size, content))
            else:
                place = position + start
                piece = PlacedPiece(number, count, place, size, index, is_newest, crc)
                parts.append(FoundPiece(content, piece, start))
                has_pieces = True
        if has_pieces and isinstance(self._source, KeptBatches):
            self._source.keep(batch)
        return parts

    def items(self, piece: PlacedPiece) -> Sequence[PartitionRegistration]:
        return self._items(piece)

    def values(self, piece: PlacedPiece) -> Sequence[bytes]:
        source = self._source
        data = source.read_at(piece.position, piece.size)
        values = self._places.values(data, piece.ordinal, piece.length, piece.crc)
        return _unchanged(values, source, piece)


def placed_records(source: ByteSource) -> PlacedRecords | None:
    """Return what reads a snapshot's partitions later; None if Python has to read all of them now.

    Only a file or bytes in memory can be read again at no cost: not a stream, nor a remote file.
    """
    if not fast_path.is_native() or not isinstance(source, FileSource | BytesSource):
        return None
    return PlacedRecords(source)


def kept_records(name: str) -> PlacedRecords | None:
    """The same of a snapshot that passes only once: its partitions stay in memory as they are in
    the file, which takes less than half of what they are decoded."""
    return PlacedRecords(KeptBatches(name)) if fast_path.is_native() else None


class KeptBatches(ClosingSource):
    """The bytes of batches with partitions that have passed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._starts: list[int] = []
        self._batches: list[bytes] = []

    def keep(self, batch: RecordBatch) -> None:
        """Keep a batch that follows all others."""
        self._starts.append(batch.position)
        self._batches.append(batch.data)

    @property
    def name(self) -> str:
        return self._name

    def size(self) -> int | None:
        """Return nothing: other batches of the file were not kept."""
        return None

    def read_at(self, position: int, size: int) -> bytes:
        """Bytes of one of the batches."""
        number = bisect_right(self._starts, position) - 1
        at = position - self._starts[number]
        return self._batches[number][at : at + size]

    def close(self) -> None:
        """Nothing is open."""


def _items(
    places: Places, source: ByteSource, piece: PlacedPiece
) -> Sequence[PartitionRegistration]:
    data = source.read_at(piece.position, piece.size)
    rows = places.rows(data, piece.ordinal, piece.length, piece.crc)
    # The rows have as many values as the class has names.
    unchanged = _unchanged(rows, source, piece)
    registrations = list(map(tuple.__new__, repeat(PartitionRegistration), unchanged))
    if not all(map(_DIRECTORIES, registrations)):
        for at, partition in enumerate(registrations):
            if not partition.directories:
                directories = (MIGRATING,) * len(partition.replicas)
                registrations[at] = partition._replace(directories=directories)
    return registrations


def _unchanged(read: Sequence[_T] | None, source: ByteSource, piece: PlacedPiece) -> Sequence[_T]:
    if read is None:
        raise KraftoolError(
            f"{source.name}: changed at position {piece.position} while it was read",
            hint="Kafka never changes a snapshot: find out what does, and run the command again",
        )
    return read


@cache
def _places() -> Places:
    from kraftool.decoders._native import Places

    message = schema.message(_RECORD)
    assert message.api_key is not None, "a record has an api key"
    layouts = []
    for version in message.versions:
        code = program(message.api_key, version, masked=False)
        if code is None:
            continue
        names = [field.name for field in message.fields if version in field.versions]
        at = {name: names.index(name) for name in names}
        rules = (
            at["topicId"],
            at["partitionId"],
            at["leaderRecoveryState"],
            at["replicas"],
            at.get("directories"),
        )
        is_newest = version == partition_version(LATEST_LEVEL)
        row = [at.get(name) for name in _ROW]
        layouts.append((message.api_key, version, code, rules, is_newest, row))
    return Places(layouts)
