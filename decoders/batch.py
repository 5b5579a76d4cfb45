"""Record batches of magic 2: the header, the CRC, and the records inside.

Owns the layout of a batch and of a record, both ways. It refuses magic 0 and 1: no KRaft log ever
held them. What a record's key and value mean is `control.py` and `framing.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from kraftool.decoders import compression
from kraftool.decoders.checksum import crc32c
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.java_text import wrap_int64
from kraftool.decoders.wire import (
    NEGATIVE,
    TRUNCATED,
    Malformed,
    beyond,
    read_varint,
    read_varlong,
    varint,
)

HEADER = Struct(">qiibIhiqqqhii")
HEADER_SIZE = 61
LOG_OVERHEAD = 12
"""baseOffset and length: what the length field does not count."""
CRC_START = 21
"""The CRC covers the bytes from `attributes` on; what precedes may be rewritten."""

CONTROL = 0x20
TRANSACTIONAL = 0x10
LOG_APPEND_TIME = 0x08
DELETE_HORIZON = 0x40

NOOP_BATCH = b"\x14\x00\x00\x00\x01\x08\x01\x14\x00\x00\x00"
"""The record section of the commonest batch, an idle leader's."""

FAR = 1 << 62
"""Two numbers that are nearer to zero than this have a sum that fits an int64."""


class BatchHeader(NamedTuple):
    """The 61 bytes that open a batch, field by field."""

    base_offset: int
    length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int


class Record(NamedTuple):
    """One record as it lies in its batch; `position` is in the batch's own bytes."""

    position: int
    size: int
    attributes: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()


_MOST_SHARED = 10_000
"""Records of a batch that are kept for the next observer: one that claims more is read again."""
_shared: tuple[tuple[RecordBatch, list[Record]], ...] = ()
"""Of the two batches that were read last: an observer may be one batch behind the others."""


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """One whole batch: where it lies, its header, and its bytes."""

    position: int
    header: BatchHeader
    data: bytes

    @classmethod
    def read(cls, data: bytes, position: int = 0) -> RecordBatch:
        """Take the bytes of one batch, which begins at `position` of its file."""
        return cls(position, BatchHeader._make(HEADER.unpack_from(data)), data)

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def base_offset(self) -> int:
        return self.header.base_offset

    @property
    def last_offset(self) -> int:
        return wrap_int64(self.header.base_offset + self.header.last_offset_delta)

    @property
    def epoch(self) -> int:
        return self.header.partition_leader_epoch

    @property
    def is_control(self) -> bool:
        return bool(self.header.attributes & CONTROL)

    @property
    def is_transactional(self) -> bool:
        return bool(self.header.attributes & TRANSACTIONAL)

    @property
    def timestamp_type(self) -> str:
        """CreateTime or LogAppendTime, as Kafka names them."""
        return "LogAppendTime" if self.header.attributes & LOG_APPEND_TIME else "CreateTime"

    @property
    def delete_horizon_ms(self) -> int | None:
        return self.header.base_timestamp if self.header.attributes & DELETE_HORIZON else None

    @property
    def compression(self) -> str:
        return compression.name_of(self.header.attributes)

    @property
    def last_sequence(self) -> int:
        return self.sequence(self.header.last_offset_delta)

    def sequence(self, offset_delta: int) -> int:
        """The producer sequence of a record; it wraps at 2^31 - 1 as in Kafka."""
        base = self.header.base_sequence
        return -1 if base < 0 else (base + offset_delta) & 0x7FFFFFFF

    def computed_crc(self) -> int:
        return int(crc32c(memoryview(self.data)[CRC_START:]))

    @property
    def is_valid(self) -> bool:
        """True if the stored CRC is the one of the bytes."""
        return len(self.data) >= HEADER_SIZE and self.computed_crc() == self.header.crc

    def records(self) -> Iterator[Record]:
        """Read the records one by one; the first that is damaged raises DecodeError and ends it."""
        if self.compression == "none":
            return _records(self.data, HEADER_SIZE, self.header)
        return self._decompressed()

    def records_from(self, place: int) -> Iterator[Record]:
        """The same from a record on whose place in the batch, which is not compressed, is known."""
        return _records(self.data, place, self.header)

    def shared_records(self) -> Iterable[Record]:
        """The same for one of several observers of a walk: what they all read is read once."""
        global _shared
        for batch, kept in _shared:
            if batch is self:
                return kept
        if self.compression != "none" or self.header.record_count > _MOST_SHARED:
            return self.records()
        try:
            records = list(self.records())
        except DecodeError:
            return self.records()
        _shared = ((self, records), *_shared[:1])
        return records

    def _decompressed(self) -> Iterator[Record]:
        try:
            plain = compression.decompress(self.compression, self.data[HEADER_SIZE:])
        except Malformed as error:
            raise DecodeError(
                error.reason, position=HEADER_SIZE, expected=error.expected, found=error.found
            ) from None
        yield from _records(plain, 0, self.header)


def _records(data: bytes, p: int, header: BatchHeader) -> Iterator[Record]:
    end = len(data)
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    append_time = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    # Only damage has sums beyond int64; there they wrap as Java's do.
    wraps = not (-FAR < base_offset < FAR and -FAR < base_timestamp < FAR)
    key: bytes | None
    value: bytes | None
    if header.record_count < 0:
        raise DecodeError(NEGATIVE, position=57, path="count", found=str(header.record_count))
    for index in range(header.record_count):
        start = p
        try:
            # Varints of one byte, and lengths of two, are read in place: nearly all of them are.
            length = data[p]
            if length < 0x80:
                length, p = (length >> 1) ^ -(length & 1), p + 1
            elif data[p + 1] < 0x80 and not length & 1:
                length, p = (length & 0x7F | data[p + 1] << 7) >> 1, p + 2
            else:
                length, p = read_varint(data, p)
            stop = p + length
            if length < 0:
                raise Malformed(NEGATIVE, "0 or more", str(length))
            if stop > end:
                raise beyond(length, end - p)
            attributes = data[p]
            delta = data[p + 1]
            if delta < 0x80:
                delta, p = (delta >> 1) ^ -(delta & 1), p + 2
            else:
                delta, p = read_varlong(data, p + 1)
                wraps = wraps or not -FAR < delta < FAR
            offset_delta = data[p]
            if offset_delta < 0x80:
                offset_delta, p = (offset_delta >> 1) ^ -(offset_delta & 1), p + 1
            else:
                offset_delta, p = read_varint(data, p)
            key = None
            if data[p] == 1:  # -1: no key
                p += 1
            else:
                key, p = _sized(data, p, stop)
            size = data[p]
            if size & 1:  # null, or damage
                value, p = _sized(data, p, stop)
            else:
                if size < 0x80:
                    size, p = size >> 1, p + 1
                elif data[p + 1] < 0x80:
                    size, p = (size & 0x7F | data[p + 1] << 7) >> 1, p + 2
                else:
                    size, p = read_varint(data, p)
                value_end = p + size
                if value_end > stop:
                    raise beyond(size, stop - p)
                value, p = data[p:value_end], value_end
            headers: tuple[tuple[bytes, bytes | None], ...] = ()
            if data[p] == 0:
                p += 1
            else:
                headers, p = _headers(data, p, stop)
            if p != stop:
                raise Malformed(
                    "a record takes another size than it states",
                    f"{length} bytes",
                    f"{length + p - stop} taken",
                )
        except IndexError:
            raise DecodeError(
                TRUNCATED, position=start, path=f"records[{index}]", found=f"{end - start} left"
            ) from None
        except Malformed as error:
            raise DecodeError(
                error.reason,
                position=start,
                path=f"records[{index}]",
                expected=error.expected,
                found=error.found,
            ) from None
        if wraps:
            offset_delta = wrap_int64(base_offset + offset_delta) - base_offset
            delta = wrap_int64(base_timestamp + delta) - base_timestamp
        yield Record(
            start,
            p - start,
            attributes,
            base_offset + offset_delta,
            base_timestamp + delta if append_time is None else append_time,
            key,
            value,
            headers,
        )
    if p != end:
        raise DecodeError(
            "bytes left after the last record",
            position=p,
            path=f"records[{header.record_count}]",
            expected=f"{header.record_count} records to fill the batch",
            found=f"{end - p} bytes more",
        )


def _sized(data: bytes, p: int, stop: int) -> tuple[bytes | None, int]:
    size = data[p]
    if size < 0x80:
        size, p = (size >> 1) ^ -(size & 1), p + 1
    else:
        size, p = read_varint(data, p)
    if size < 0:
        return None, p
    if size > stop - p:
        raise beyond(size, stop - p)
    return data[p : p + size], p + size


def _headers(data: bytes, p: int, stop: int) -> tuple[tuple[tuple[bytes, bytes | None], ...], int]:
    count, p = read_varint(data, p)
    if count < 0:
        raise Malformed(NEGATIVE, "0 or more", str(count))
    if count * 2 > stop - p:
        raise beyond(count * 2, stop - p)
    headers = []
    for _ in range(count):
        key, p = _sized(data, p, stop)
        value, p = _sized(data, p, stop)
        if key is None:
            raise Malformed("a record header without a key")
        headers.append((key, value))
    return tuple(headers), p


_ABSENT = varint(-1)
_kept_varint = lru_cache(1 << 14)(varint)
"""A leader's raft waits while its batch is encoded, and most sizes repeat."""


def encode_batch(
    records: Iterable[tuple[bytes | None, bytes | None]],
    *,
    base_offset: int,
    epoch: int,
    timestamp: int,
    control: bool = False,
) -> bytes:
    """Write a batch of (key, value) pairs as a KRaft leader does: one timestamp, no producer."""
    body, count = bytearray(), 0
    for key, value in records:
        of_key = _ABSENT if key is None else _kept_varint(len(key)) + key
        of_value = _ABSENT if value is None else _kept_varint(len(value)) + value
        record = b"\0\0%b%b%b\0" % (_kept_varint(count), of_key, of_value)
        body += _kept_varint(len(record))
        body += record
        count += 1
    return seal(
        BatchHeader(
            base_offset=base_offset,
            length=0,
            partition_leader_epoch=epoch,
            magic=2,
            crc=0,
            attributes=CONTROL if control else 0,
            last_offset_delta=count - 1,
            base_timestamp=timestamp,
            max_timestamp=timestamp,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            record_count=count,
        ),
        bytes(body),
    )


def seal(header: BatchHeader, body: bytes) -> bytes:
    """Join header and record section, with length and CRC as they must be."""
    header = header._replace(length=HEADER_SIZE - LOG_OVERHEAD + len(body), crc=0)
    data = bytearray(HEADER.pack(*header)) + body
    data[17:CRC_START] = crc32c(memoryview(data)[CRC_START:]).to_bytes(4, "big")
    return bytes(data)
