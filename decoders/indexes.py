"""A segment's indexes: `.index` (offsets), `.timeindex` (timestamps), `.txnindex` (aborted).

Owns their entries, the zero tail of preallocated files and what is wrong with entries by
themselves. Entries are read on demand from the bytes given: an index of 10 MiB has more than a
million.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.decoders.errors import DecodeError
from kraftool.decoders.findings import Findings

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
_TXN_ENTRY = struct.Struct(">hqqqq")

OFFSET_ENTRY_SIZE = _OFFSET_ENTRY.size
TIME_ENTRY_SIZE = _TIME_ENTRY.size
TXN_ENTRY_SIZE = _TXN_ENTRY.size

TXN_VERSION = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetPosition:
    """The batch with `offset` as its last starts at `position` of the segment, or before it."""

    offset: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampOffset:
    """Up to `offset` no record of the segment is younger than `timestamp`."""

    timestamp: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedTxn:
    """An aborted transaction that ended in the segment."""

    version: int = TXN_VERSION
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """The common part of the three indexes: whole entries at the head, then nothing or zeros."""

    base_offset: int
    data: bytes
    """The whole entries before the zero tail."""
    zero_tail: int = 0
    """Bytes of preallocated space behind the entries; Kafka cuts them off when it closes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetIndex(_Index):
    """A `.index` file."""

    def __len__(self) -> int:
        return len(self.data) // OFFSET_ENTRY_SIZE

    def entry(self, number: int) -> OffsetPosition:
        relative, position = _OFFSET_ENTRY.unpack_from(self.data, number * OFFSET_ENTRY_SIZE)
        return OffsetPosition(offset=self.base_offset + relative, position=position)

    def entries(self) -> Iterator[OffsetPosition]:
        for relative, position in _OFFSET_ENTRY.iter_unpack(self.data):
            yield OffsetPosition(offset=self.base_offset + relative, position=position)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeIndex(_Index):
    """A `.timeindex` file."""

    def __len__(self) -> int:
        return len(self.data) // TIME_ENTRY_SIZE

    def entry(self, number: int) -> TimestampOffset:
        timestamp, relative = _TIME_ENTRY.unpack_from(self.data, number * TIME_ENTRY_SIZE)
        return TimestampOffset(timestamp=timestamp, offset=self.base_offset + relative)

    def entries(self) -> Iterator[TimestampOffset]:
        for timestamp, relative in _TIME_ENTRY.iter_unpack(self.data):
            yield TimestampOffset(timestamp=timestamp, offset=self.base_offset + relative)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionIndex(_Index):
    """A `.txnindex` file; the only one that is never preallocated."""

    def __len__(self) -> int:
        return len(self.data) // TXN_ENTRY_SIZE

    def entry(self, number: int) -> AbortedTxn:
        return _aborted(_TXN_ENTRY.unpack_from(self.data, number * TXN_ENTRY_SIZE))

    def entries(self) -> Iterator[AbortedTxn]:
        for values in _TXN_ENTRY.iter_unpack(self.data):
            yield _aborted(values)


def _aborted(values: tuple[int, ...]) -> AbortedTxn:
    version, producer_id, first_offset, last_offset, last_stable_offset = values
    return AbortedTxn(
        version=version,
        producer_id=producer_id,
        first_offset=first_offset,
        last_offset=last_offset,
        last_stable_offset=last_stable_offset,
    )


def _cut(data: bytes, size: int, findings: Findings) -> tuple[bytes, int]:
    """Return the whole entries, and the size of the zero tail behind them.

    An entry may end in zero bytes itself, so the last one with any other byte counts whole.
    """
    whole = len(data) // size * size
    last_byte = len(data[:whole].rstrip(b"\0"))
    used = -(-last_byte // size) * size
    if whole < len(data):
        findings.note(
            "the file does not end with a whole entry",
            position=whole,
            expected=f"a multiple of {size} bytes",
            found=str(len(data)),
        )
    return data[:used], whole - used


def decode_offset_index(
    data: bytes, base_offset: int = 0
) -> tuple[OffsetIndex, tuple[DecodeError, ...]]:
    """Read a `.index`; `base_offset` is the number in its file name."""
    findings = Findings()
    used, zero_tail = _cut(data, OFFSET_ENTRY_SIZE, findings)
    last_relative = last_position = -1
    for number, (relative, position) in enumerate(_OFFSET_ENTRY.iter_unpack(used)):
        # Kafka's append demands a higher offset, and two batches never start at one position.
        if relative > last_relative and position > last_position:
            last_relative, last_position = relative, position
            continue
        if relative < 0 or position < 0:
            reason, expected = "a negative offset or position", "none below zero"
        else:
            reason = "offset or position does not rise"
            expected = f"offset above {base_offset + last_relative}, position above {last_position}"
        findings.note(
            reason,
            position=number * OFFSET_ENTRY_SIZE,
            path=f"entry {number}",
            expected=expected,
            found=f"offset {base_offset + relative}, position {position}",
        )
    index = OffsetIndex(base_offset=base_offset, data=used, zero_tail=zero_tail)
    return index, findings.listed()


def decode_time_index(
    data: bytes, base_offset: int = 0
) -> tuple[TimeIndex, tuple[DecodeError, ...]]:
    """Read a `.timeindex`; `base_offset` is the number in its file name."""
    findings = Findings()
    used, zero_tail = _cut(data, TIME_ENTRY_SIZE, findings)
    last_timestamp, last_relative = -1, -1
    for number, (timestamp, relative) in enumerate(_TIME_ENTRY.iter_unpack(used)):
        if timestamp > last_timestamp and relative >= last_relative and relative >= 0:
            last_timestamp, last_relative = timestamp, relative
            continue
        if timestamp < 0 or relative < 0:
            reason, expected = "a negative timestamp or offset", "none below zero"
        else:
            reason = "timestamp or offset goes back"
            expected = (
                f"timestamp above {last_timestamp}, offset from {base_offset + last_relative}"
            )
        findings.note(
            reason,
            position=number * TIME_ENTRY_SIZE,
            path=f"entry {number}",
            expected=expected,
            found=f"timestamp {timestamp}, offset {base_offset + relative}",
        )
    index = TimeIndex(base_offset=base_offset, data=used, zero_tail=zero_tail)
    return index, findings.listed()


def decode_transaction_index(
    data: bytes, base_offset: int = 0
) -> tuple[TransactionIndex, tuple[DecodeError, ...]]:
    """Read a `.txnindex`; `base_offset` is the number in its file name.

    Zeros are no tail here: Kafka would take them for transactions of producer 0.
    """
    findings = Findings()
    used = data[: len(data) // TXN_ENTRY_SIZE * TXN_ENTRY_SIZE]
    if len(used) < len(data):
        findings.note(
            "the file does not end with a whole entry",
            position=len(used),
            expected=f"a multiple of {TXN_ENTRY_SIZE} bytes",
            found=str(len(data)),
        )
    last = base_offset - 1
    for number, values in enumerate(_TXN_ENTRY.iter_unpack(used)):
        version, producer_id, first_offset, last_offset, last_stable_offset = values
        path = f"entry {number}"
        position = number * TXN_ENTRY_SIZE
        if version != TXN_VERSION:
            findings.note(
                "unknown version",
                position=position,
                path=path,
                expected=str(TXN_VERSION),
                found=str(version),
            )
            continue
        if min(producer_id, first_offset, last_stable_offset) < 0 or first_offset >= last_offset:
            # The marker takes an offset behind the records, so first and last always differ.
            findings.note(
                "offsets that cannot be",
                position=position,
                path=path,
                expected="0 <= firstOffset < lastOffset",
                found=f"producerId {producer_id}, {first_offset} to {last_offset}",
            )
        if last_offset <= last:
            findings.note(
                "lastOffset does not rise",
                position=position,
                path=path,
                expected=f"above {last}",
                found=str(last_offset),
            )
        else:
            last = last_offset
    return (
        TransactionIndex(base_offset=base_offset, data=used),
        findings.listed(),
    )
