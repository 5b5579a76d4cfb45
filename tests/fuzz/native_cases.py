"""Logs on which the native module and Python must agree, byte for byte.

Owns the cases: records of every type and version with random values, in batches that are sealed
with a right CRC after one thing in them was changed, mostly into what no Kafka writes. All chance
comes from the `Random` that is passed in.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from random import Random
from typing import Any

from kraftool.decoders import fast_path, schema
from kraftool.decoders.batch import BatchHeader, seal
from kraftool.decoders.framing import encode_record
from kraftool.decoders.generate import FIXED
from kraftool.decoders.schema import Field
from kraftool.decoders.schema.config_names import HARMLESS, MASKED
from kraftool.decoders.wire import unsigned_varint, varint, varlong

TIE = 1.00000762939453125
"""Its shortest digits are a tie: Java takes 1.0000076293945312, Rust 1.0000076293945313."""
_DOUBLES = (0.0, -0.0, 1.0, -3.0, 1e7, 1.5, TIE, 123456789.0, 1e16, 1e300, float("inf"))
_TEXTS = ("", "a", "orders", 'q"u\\o,te', "\x00\x1f\x7f\n\r\t\b\f", "é日本🎉", "=1+1", "x" * 200)
_NOT_UTF8 = (b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80")


@contextmanager
def pure() -> Iterator[None]:
    """Have Python read everything."""
    before, fast_path.described = fast_path.described, "pure Python"
    try:
        yield
    finally:
        fast_path.described = before


@cache
def _names() -> tuple[str, ...]:
    return tuple(
        sorted(
            {name for names in (*HARMLESS.values(), *MASKED.values()) for name in names}
            | {"listener.name.internal.ssl.keystore.password", "listener.name.a.b.sasl.jaas.config"}
        )
    )


@cache
def formats() -> tuple[tuple[str, int], ...]:
    """Every metadata record with each of its versions."""
    return tuple(
        (name, version)
        for name in schema.names("metadata")
        for version in schema.message(name).versions
    )


def record_value(random: Random) -> bytes:
    """A framed record that a Kafka could have written."""
    name, version = random.choice(formats())
    (value,) = values_of(random, name, version, 1)
    return value


def values_of(random: Random, name: str, version: int, count: int) -> list[bytes]:
    """So many framed records of one type and version."""
    fields = schema.message(name).fields
    return [encode_record(name, version, _struct(random, fields, version)) for _ in range(count)]


def _struct(random: Random, fields: Sequence[Field], version: int) -> dict[str, Any]:
    return {
        field.name: _value(random, field, version)
        for field in fields
        if version in field.versions and not (field.is_tagged(version) and random.random() < 0.6)
    }


def _value(random: Random, field: Field, version: int) -> Any:
    if version in field.nullable and random.random() < 0.25:
        return None
    if field.is_array:
        return [_one(random, field, version) for _ in range(random.choice((0, 1, 1, 2, 3)))]
    return _one(random, field, version)


def _one(random: Random, field: Field, version: int) -> Any:
    kind = field.element
    if field.is_struct:
        return _struct(random, field.fields, version)
    match kind:
        case "string":
            if field.name == "name" and random.random() < 0.5:
                return random.choice(_names())
            return random.choice(_TEXTS)
        case "bytes":
            return random.randbytes(random.randrange(8))
        case "bool":
            return random.random() < 0.5
        case "float64":
            return random.choice(_DOUBLES)
        case "uuid":
            raw = random.choice((bytes(16), random.randbytes(16)))
            return base64.urlsafe_b64encode(raw).decode()[:22]
    if field.name == "resourceType":
        return random.choice((2, 4, 8, 16, 32))
    size = 8 * FIXED[kind][1]
    low, high = (
        (0, 2**size - 1) if kind.startswith("u") else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)
    )
    return random.choice((0, 1, 2, 9, 10, low, high, random.randint(low, high)))


def changed_bytes(random: Random, value: bytes) -> bytes:
    """A record's value after an accident."""
    if not value:
        return b"\x01"
    at = random.randrange(len(value))
    match random.randrange(9):
        case 0:
            return value[:at] + bytes((value[at] ^ 1 << random.randrange(8),)) + value[at + 1 :]
        case 1:
            return (
                value[:at]
                + random.choice((b"\x00", b"\x01", b"\x02", b"\x80", b"\xff"))
                + value[at + 1 :]
            )
        case 2:
            return value[:at]
        case 3:
            return value[:at] + random.choice(_NOT_UTF8) + value[at + random.randrange(3) :]
        case 4:  # a varint with a needless byte
            return value[:at] + bytes((value[at] | 0x80, 0)) + value[at + 1 :]
        case 5:  # tagged fields instead of their absence, of which some are not known
            tags = sorted(random.choices(range(10), k=random.randint(1, 3)))
            if random.random() < 0.2:
                tags.reverse()
            body = b"".join(
                unsigned_varint(tag) + unsigned_varint(len(content)) + content
                for tag in tags
                for content in [
                    random.choice(
                        (b"", b"\x00", b"\x01", b"\x02", struct.pack(">i", -2), b"\x02abcd")
                    )
                ]
            )
            return value[:-1] + unsigned_varint(len(tags)) + body
        case 6:
            return value + random.choice((b"\x00", b"\x01", value))
        case 7:
            return random.choice(
                (
                    b"",
                    b"\x01",
                    b"\x01\x03",
                    b"\x02\x03\x00",
                    b"\x01\x7f\x00\x00",
                    b"\x01\x81\x01\x00\x00",
                )
            )
        case _:
            double = struct.pack(">d", random.choice(_DOUBLES))
            return value[:at] + double + value[at + 8 :]


def _record(random: Random, index: int, value: bytes | None, *, odd: bool) -> bytes:
    attributes, timestamp, delta = 0, varlong(0), varint(index)
    key, headers = varint(-1), b"\x00"
    if odd:
        match random.randrange(7):
            case 0:
                attributes = random.choice((1, 0x80))
            case 1:
                timestamp = random.choice((varlong(1), varlong(-1), b"\x80\x00", varlong(1 << 62)))
            case 2:
                delta = random.choice((varint(index + 1), varint(-1), b"\x80\x00"))
            case 3:
                key = random.choice((varint(0), varint(1) + b"k", b"\x81\x00"))
            case 4:
                headers = random.choice((varint(1) + varint(1) + b"h" + varint(-1), b"\x80\x00"))
            case 5:
                value = None
            case 6:
                headers += b"\x00"
    body = bytes((attributes,)) + timestamp + delta + key
    body += varint(-1) if value is None else varint(len(value)) + value
    body += headers
    return varint(len(body)) + body


def batch(random: Random, base_offset: int, *, is_changed: bool) -> bytes:
    """A batch with a right CRC; if it is changed, then in one place."""
    count = random.choice((1, 1, 1, 2, 3, 5))
    values = [record_value(random) for _ in range(count)]
    epoch = random.choice((0, 1, 7))
    return sealed_batch(random, values, base_offset, is_changed=is_changed, epoch=epoch)


def sealed_batch(
    random: Random, values: list[bytes], base_offset: int, *, is_changed: bool, epoch: int
) -> bytes:
    """The same of these records."""
    values, count = list(values), len(values)
    where = (
        random.choice(("value", "value", "value", "record", "header", "body")) if is_changed else ""
    )
    odd = random.randrange(count)
    if where == "value":
        values[odd] = changed_bytes(random, values[odd])
    records = [
        _record(random, index, value, odd=where == "record" and index == odd)
        for index, value in enumerate(values)
    ]
    body = b"".join(records)
    if where == "body":
        body = changed_bytes(random, body)
    timestamp = random.choice((0, -1, 1_700_000_000_000))
    header = BatchHeader(
        base_offset=base_offset,
        length=0,
        partition_leader_epoch=epoch,
        magic=2,
        crc=0,
        attributes=0,
        last_offset_delta=count - 1,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=count,
    )
    if where == "header":
        name, value = random.choice(_HEADERS)
        header = header._replace(**{name: value})
    return seal(header, body)


_HEADERS: tuple[tuple[str, int], ...] = (
    *(("attributes", number) for number in (1, 4, 7, 8, 0x10, 0x20, 0x28, 0x40, 0x80, -1)),
    *(("record_count", number) for number in (0, -1, 1, 2, 4)),
    *(("last_offset_delta", number) for number in (-1, 0, 7)),
    *(("base_timestamp", number) for number in (1, -(1 << 63), (1 << 63) - 1)),
    *(("max_timestamp", number) for number in (1, -(1 << 63))),
    ("producer_id", 0),
    ("producer_epoch", 0),
    ("base_sequence", 5),
    ("base_offset", 1 << 62),
    ("partition_leader_epoch", -1),
    ("magic", 1),
)


def log(random: Random) -> bytes:
    """Two or three batches, of which most are changed."""
    data, offset = b"", random.choice((0, 0, 5, 1 << 40))
    for _ in range(random.randint(1, 3)):
        made = batch(random, offset, is_changed=random.random() < 0.8)
        offset += int.from_bytes(made[23:27], "big", signed=True) + 1
        data += made
    return data if random.random() < 0.97 else data[: random.randrange(len(data))]
