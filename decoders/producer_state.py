"""Producer state snapshots: the `.snapshot` file beside a segment (not a raft snapshot).

Owns version 1, the only one that Kafka has had since 0.11 (4.4.0 included), and its CRC-32C. Kafka
deletes such a file when it cannot read it and replays instead.
"""

import struct
from dataclasses import dataclass

from kraftool.decoders.checksum import crc32c
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.findings import Findings
from kraftool.decoders.java_text import INT32_MAX

VERSION = 1

_VERSION = struct.Struct(">h")
_CRC = struct.Struct(">I")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")

_CRC_POSITION = _VERSION.size
_COUNT_POSITION = _CRC_POSITION + _CRC.size
HEADER_SIZE = _COUNT_POSITION + _COUNT.size
ENTRY_SIZE = _ENTRY.size


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerStateEntry:
    """The last batch of one producer; -1 stands for none."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    current_txn_first_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerState:
    """All producers of a snapshot in the order of the file, which has no meaning."""

    entries: tuple[ProducerStateEntry, ...]
    accepted: bool = True
    """True if Kafka uses the file instead of deleting it."""


def decode(data: bytes) -> tuple[ProducerState, tuple[DecodeError, ...]]:
    """Read a producer state snapshot with as many entries as there are whole."""
    findings = Findings()
    if len(data) < HEADER_SIZE:
        findings.refuse(
            "the file ends within its head",
            position=len(data),
            expected=f"at least {HEADER_SIZE} bytes",
            found=str(len(data)),
        )
        return ProducerState(entries=(), accepted=False), findings.listed()
    (version,) = _VERSION.unpack_from(data, 0)
    (stored_crc,) = _CRC.unpack_from(data, _CRC_POSITION)
    (count,) = _COUNT.unpack_from(data, _COUNT_POSITION)
    computed_crc = crc32c(memoryview(data)[_COUNT_POSITION:])
    entries: tuple[ProducerStateEntry, ...] = ()
    if version != VERSION:
        findings.refuse(
            "unknown version",
            position=0,
            path="version",
            expected=str(VERSION),
            found=str(version),
        )
    else:
        entries = _entries(data, count, findings)
    if stored_crc != computed_crc:
        findings.refuse(
            "the CRC does not match",
            position=_CRC_POSITION,
            path="crc",
            expected=f"0x{computed_crc:08x}",
            found=f"0x{stored_crc:08x}",
        )
    return ProducerState(entries=entries, accepted=findings.accepted), findings.listed()


def _entries(data: bytes, count: int, findings: Findings) -> tuple[ProducerStateEntry, ...]:
    room = (len(data) - HEADER_SIZE) // ENTRY_SIZE
    if count < 0 or count > room:
        findings.refuse(
            "a negative count" if count < 0 else "more entries than the file has room for",
            position=_COUNT_POSITION,
            path="producerEntries",
            expected=f"0 to {room}",
            found=str(count),
        )
        count = room
    entries: list[ProducerStateEntry] = []
    seen: set[int] = set()
    for number in range(count):
        position = HEADER_SIZE + number * ENTRY_SIZE
        entry = ProducerStateEntry(
            **dict(zip(_NAMES, _ENTRY.unpack_from(data, position), strict=True))
        )
        if entry.producer_id in seen:
            findings.note(
                "the producer is listed again, Kafka takes the last",
                position=position,
                path=f"producerEntries[{number}].producerId",
                expected="every producer once",
                found=str(entry.producer_id),
            )
        seen.add(entry.producer_id)
        entries.append(entry)
    end = HEADER_SIZE + count * ENTRY_SIZE
    if end < len(data):
        findings.note(
            "bytes after the last entry",
            position=end,
            expected="the end of the file",
            found=f"{len(data) - end} bytes",
        )
    return tuple(entries)


_NAMES = (
    "producer_id",
    "epoch",
    "last_sequence",
    "last_offset",
    "offset_delta",
    "timestamp",
    "coordinator_epoch",
    "current_txn_first_offset",
)


def encode(entries: tuple[ProducerStateEntry, ...]) -> bytes:
    """Write a producer state snapshot as Kafka does, in the order given."""
    assert len(entries) <= INT32_MAX, "the count is an int32"
    body = bytearray(_COUNT.pack(len(entries)))
    for entry in entries:
        body += _ENTRY.pack(*(getattr(entry, name) for name in _NAMES))
    return _VERSION.pack(VERSION) + _CRC.pack(crc32c(bytes(body))) + bytes(body)
