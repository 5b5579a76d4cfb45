"""Batches of a log that a survey takes together, and the last batches of a log.

Owns the parts of a batch that a survey keeps: its head, and the number of its records of each type.
The native module reads them from the bytes: most of a log never becomes Python objects.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import NamedTuple

from kraftool.decoders import fast_path
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import BatchSpan
from kraftool.repair.record_types import counted, types_of_keys
from kraftool.repair.survey import BLOCK, MOST_BATCHES, IntactBatches, SurveyedBatch

_HEAD = Struct(">qiI")
_TYPE = Struct(">BI")


class PlainBatches(NamedTuple):
    """Batches of one epoch and one block that follow on each other."""

    span: BatchSpan
    at: int
    """Where the first one begins in the data of the span."""
    end: int
    last_offset: int
    places: array[int]
    """Where each one begins in the data."""
    heads: bytes
    """Base offset, epoch and CRC of each one, as they are in the log."""
    types: Counter[str]
    types_of_each: bytes

    def __len__(self) -> int:
        return len(self.places)

    @property
    def last_timestamp(self) -> int:
        """Return the time of the last batch."""
        return self.span.batch(self.places[-1]).header.max_timestamp

    def base_offsets(self) -> array[int]:
        """Return the base offset of each one."""
        return array("q", (base_offset for base_offset, _, _ in _HEAD.iter_unpack(self.heads)))

    def recent(self) -> RecentPart:
        """Return the parts of the batches that a survey keeps of the last ones."""
        return RecentPart(self.heads, self.last_offset, self.types_of_each)


def plain_batches(span: BatchSpan, at: int, end: int) -> PlainBatches | None:
    """Return the batches that can be taken together, from a place of a span on. None if the next
    one must be taken alone, as the last one must."""
    if not fast_path.is_native():
        return None
    from kraftool.decoders._native import heads

    reached, places, read, types, totals = heads(span.data, at, end, BLOCK, False)
    if reached == at:
        return None
    return PlainBatches(
        span,
        at,
        reached,
        span.base_offset_at(reached) - 1,
        array("q", places),
        read,
        types_of_keys(totals),
        types,
    )


class RecentPart(NamedTuple):
    """The heads and types of batches that follow on each other."""

    heads: bytes
    last_offset: int
    types: bytes

    def __len__(self) -> int:
        return len(self.heads) // _HEAD.size

    def batches(self) -> Iterator[SurveyedBatch]:
        """The batches, as a survey has them."""
        heads = list(_HEAD.iter_unpack(self.heads))
        ends = [base_offset for base_offset, _, _ in heads[1:]]
        at = 0
        for (base, epoch, crc), end in zip(heads, [*ends, self.last_offset + 1], strict=True):
            start, at = at + 1, at + 1 + self.types[at] * _TYPE.size
            types = types_of_keys(list(_TYPE.iter_unpack(self.types[start:at])))
            yield SurveyedBatch(
                base_offset=base, last_offset=end - 1, epoch=epoch, crc=crc, types=counted(types)
            )


class RecentBatches:
    """The last batches of a log, as many as a survey keeps."""

    def __init__(self) -> None:
        self._parts: deque[RecentPart | tuple[SurveyedBatch]] = deque()
        self._count = 0

    def add(self, part: RecentPart | tuple[SurveyedBatch]) -> None:
        """Add the batches that come next."""
        self._parts.append(part)
        self._count += len(part)
        while self._count - len(self._parts[0]) >= MOST_BATCHES:
            self._count -= len(self._parts.popleft())

    def batches(self) -> tuple[SurveyedBatch, ...]:
        """Return the last batches, in order."""
        batches: list[SurveyedBatch] = []
        for part in self._parts:
            batches += part.batches() if isinstance(part, RecentPart) else part
        return tuple(batches[-MOST_BATCHES:])


class BlockSums:
    """The batches of a log by blocks of offsets."""

    def __init__(self) -> None:
        self._blocks: list[IntactBatches] = []
        self._block: _Block | None = None

    def add(self, heads: bytes, types: Counter[str], last_offset: int, epoch: int) -> None:
        """Add a batch, or batches of one block, by their heads."""
        first = int.from_bytes(heads[:8], "big", signed=True) // BLOCK * BLOCK
        if self._block is None or self._block.first != first:
            self._end_block()
            self._block = _Block(first)
        block = self._block
        block.digest.update(heads)
        block.types += types
        block.end, block.epoch = last_offset + 1, epoch

    def finish(self) -> tuple[IntactBatches, ...]:
        """Return all blocks."""
        self._end_block()
        return tuple(self._blocks)

    def _end_block(self) -> None:
        block, self._block = self._block, None
        if block is not None:
            self._blocks.append(
                IntactBatches(
                    first_offset=block.first,
                    end_offset=block.end,
                    last_epoch=block.epoch,
                    sha256=block.digest.hexdigest(),
                    types=counted(block.types),
                )
            )


@dataclass(slots=True)
class _Block:
    """A block that is being filled."""

    first: int
    end: int = 0
    epoch: int = -1
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    types: Counter[str] = field(default_factory=Counter)


def head_of(batch: RecordBatch) -> bytes:
    """Return the bytes of a batch's base offset, epoch and CRC."""
    return batch.data[:8] + batch.data[12:16] + batch.data[17:21]


def span_of(batch: RecordBatch) -> BatchSpan:
    """Return a span of one sound batch."""
    return BatchSpan(
        batch.data, 0, batch.size, batch.position, batch.base_offset, batch.last_offset,
        batch.epoch, 1,
    )  # fmt: skip
