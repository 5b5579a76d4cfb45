"""The records that a leader was given to append and has not yet written.

Owns the forming of batches (Kafka's BatchAccumulator): offsets are given out at once, a batch waits
for more until it lingered or is full. Kafka's split of an append into "prepared" and "scheduled"
has no place here: an append is one event, so that nothing can be drained between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kraftool.decoders.batch import HEADER_SIZE
from kraftool.raft.names import ProtocolError
from kraftool.raft.records import Batch, ControlRecord
from kraftool.raft.settings import MAX_BATCH_BYTES, MAX_PENDING_BATCHES


@dataclass(slots=True)
class _Open:
    base_offset: int
    began_ms: int
    """When its first records were given: the time that the batch bears."""
    size: int = HEADER_SIZE
    records: list[Any] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Accumulator:
    """The append buffer of one leader epoch."""

    epoch: int
    next_offset: int
    linger_ms: int
    max_batch_bytes: int = MAX_BATCH_BYTES
    max_pending: int = MAX_PENDING_BATCHES
    completed: list[Batch] = field(default_factory=list)
    drain_at_ms: int | None = None
    """When what has been given is to be written; None while there is nothing."""
    _open: _Open | None = None

    @property
    def is_full(self) -> bool:
        return len(self.completed) >= self.max_pending

    def fits(self, size: int) -> bool:
        """True if a list of records is small enough for a batch of its own."""
        return HEADER_SIZE + size <= self.max_batch_bytes

    def append(self, records: Sequence[Any], size: int, now_ms: int) -> int:
        """Take records, which stay in one batch; gives the offset of the last of them."""
        if self._open is not None and self._open.size + size > self.max_batch_bytes:
            self._close()
        if self._open is None:
            self._open = _Open(self.next_offset, now_ms)
        self._open.records += records
        self._open.size += size
        self.next_offset += len(records)
        if self.drain_at_ms is None:
            self.drain_at_ms = now_ms + self.linger_ms
        return self.next_offset - 1

    def append_control(self, records: Sequence[ControlRecord], now_ms: int) -> int:
        """Take control records as a batch of their own, to be written at once; gives the offset of
        the first."""
        if not records:
            raise ProtocolError("a control batch without a record")
        self._close()
        base = self.next_offset
        self.next_offset += len(records)
        self.completed.append(
            Batch(
                base_offset=base,
                last_offset=self.next_offset - 1,
                epoch=self.epoch,
                timestamp_ms=now_ms,
                control=tuple(records),
            )
        )
        self.drain_at_ms = now_ms
        return base

    def is_due(self, now_ms: int) -> bool:
        return self.drain_at_ms is not None and (now_ms >= self.drain_at_ms or bool(self.completed))

    def drain(self) -> list[Batch]:
        """All that was given, as batches; the one that is open is closed."""
        self._close()
        drained, self.completed = self.completed, []
        self.drain_at_ms = None
        return drained

    def _close(self) -> None:
        if self._open is None:
            return
        closing, self._open = self._open, None
        self.completed.append(
            Batch(
                base_offset=closing.base_offset,
                last_offset=closing.base_offset + len(closing.records) - 1,
                epoch=self.epoch,
                timestamp_ms=closing.began_ms,
                size=closing.size,
                data=tuple(closing.records),
            )
        )
