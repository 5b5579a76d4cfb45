"""Stretches of batches in which nothing happens, found natively and taken as one batch each.

Owns which records of plain batches a timeline watches. The end of a stretch depends only on its
batches, so that nodes with the same log have the same stretches. A stretch keeps the bytes of its
batches until it was merged, for a node with different batches, and for options that need each one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from kraftool.decoders import fast_path, schema
from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.log_record import decode_metadata
from kraftool.decoders.native_values import NativeValues
from kraftool.decoders.programs import program
from kraftool.decoders.segment import BatchSpan
from kraftool.reports.timeline.batches import (
    IDLE_TYPE,
    PARTITION_CHANGE_TYPE,
    PARTITION_TYPE,
    TOPIC_TYPE,
    WATCHED_TYPES,
    Content,
    LogBatch,
    PartitionCount,
    Stretch,
    Watched,
    log_batch,
)

_GRID = 1024
"""Offsets; a stretch that nodes do not have alike costs as many batches at most."""
_LONGEST_MS = 10_000
"""A longer time is shown as a gap, unless another time is asked for."""
_TELLING = (
    (b'"leader":', -1),
    (b'"leaderRecoveryState":', 1),
    (b'"replicas":', None),
    (b'"addingReplicas":', None),
    (b'"removingReplicas":', None),
)
"""A change of a partition is watched only if it says one of these; None is any number."""

_COUNTED = {"TopicRecord": TOPIC_TYPE, "PartitionRecord": PARTITION_TYPE}


class _Piece(NamedTuple):
    """Batches of a span."""

    span: BatchSpan
    at: int
    end: int


class StretchReader:
    """Reads spans of one file in their order."""

    def __init__(self, file: str) -> None:
        from kraftool.decoders._native import Stretches

        self._file, self._stretches = file, Stretches(_GRID, _LONGEST_MS)
        self._pieces: list[_Piece] = []
        self._values = NativeValues()

    def read(self, span: BatchSpan) -> Iterator[LogBatch]:
        """Yield the batches of a span, and stretches of them. The last one may go on."""
        at = span.at
        while at < span.end:
            before = at
            at, reason = self._stretches.read(span.data, at, span.end)
            if at > before:
                self._pieces.append(_Piece(span, before, at))
            if reason == fast_path.FULL:
                yield from self.close()
            elif reason == fast_path.NOT_PLAIN:
                yield from self.close()
                batch = span.batch(at)
                at += batch.size
                yield log_batch(self._file, batch)
            elif reason >= 0:
                self._learn(reason >> 8, reason & 0xFF)

    def close(self) -> Iterator[LogBatch]:
        """Yield the stretch that was read, if there is one: something else follows."""
        closed = self._stretches.close()
        if closed is None:
            return
        (base, last, epoch, batches), times, idle, counted, digest = closed
        pieces, self._pieces = self._pieces, []
        records = [
            _watched(offset, times[0], value) for offset, value in self._stretches.take_watched()
        ]
        if batches == 1:
            # Other nodes may have it as a batch by itself, and a batch with partitions always is.
            (piece,) = pieces
            plain = piece.span.batch(piece.at)
            if counted:
                records += self._partitions(plain, counted)
            batch = log_batch(self._file, plain)
            content = Content(tuple(records), (), has_idle=idle[0] > 0)
            yield batch._replace(stored=content, batch=None)
            return
        first, end, longest, shortest = times
        stretch = Stretch(
            pieces=tuple((piece.span, piece.at, piece.end) for piece in pieces),
            longest_wait=longest,
            shortest_wait=shortest,
            idle=idle[0],
            first_idle=idle[1],
            last_idle=idle[2],
            longest_idle_wait=idle[3],
        )
        content = Content(tuple(records))
        yield LogBatch(
            base, last, epoch, digest, first, end, False, False, self._file, None, content, stretch
        )

    def content(self, batch: RecordBatch) -> Content:
        """The content of a batch by itself."""
        span = BatchSpan(
            batch.data, 0, batch.size, batch.position, batch.base_offset, batch.last_offset,
            batch.epoch, 1,
        )  # fmt: skip
        (read,) = (*self.read(span), *self.close())
        return read.content()

    def _partitions(self, batch: RecordBatch, count: int) -> Iterator[Watched]:
        counted = PartitionCount()
        for name, value in chain.from_iterable(self._values.read(batch)):
            if (key := _COUNTED.get(name)) is not None:
                counted.take(key, value)
        counted.count = count
        return counted.watched(batch.last_offset, batch.header.base_timestamp)

    def _learn(self, api_key: int, version: int) -> None:
        code = program(api_key, version, masked=False)
        if code is None or schema.metadata_record(api_key) is None:
            self._stretches.refuse(api_key, version)
            return
        numbers = _TELLING if api_key == PARTITION_CHANGE_TYPE else ()
        self._stretches.add(api_key, version, code, _role(api_key), numbers)


def _role(api_key: int) -> str:
    if api_key in WATCHED_TYPES or api_key == PARTITION_CHANGE_TYPE:
        return "watched"
    if api_key == PARTITION_TYPE:
        return "counted"
    return "idle" if api_key == IDLE_TYPE else "passed"


def _watched(offset: int, timestamp: int, value: bytes) -> Watched:
    item = decode_metadata(Record(0, 0, 0, offset, 0, None, value))
    assert item.data is not None, "what the module hands over can be decoded"
    return Watched(offset, timestamp, item.name, item.data)


def stretch_reader(file: str) -> StretchReader | None:
    """The native reader; None if Python has to read everything."""
    return StretchReader(file) if fast_path.is_native() else None
