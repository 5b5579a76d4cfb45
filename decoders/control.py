"""Control records: key, type, and the message in the value.

Owns the table of control record types. Values open with their own version, by which they are
decoded; Kafka has written version 0 of all of them so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kraftool.decoders import codec
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.wire import TRUNCATED


@dataclass(frozen=True, slots=True)
class _Kind:
    id: int
    label: str
    message: str


class ControlRecordType(Enum):
    """Kafka's control record types, with the name its tools print and the message inside."""

    ABORT = _Kind(0, "Abort", "EndTxnMarker")
    COMMIT = _Kind(1, "Commit", "EndTxnMarker")
    LEADER_CHANGE = _Kind(2, "LeaderChange", "LeaderChangeMessage")
    SNAPSHOT_HEADER = _Kind(3, "SnapshotHeader", "SnapshotHeaderRecord")
    SNAPSHOT_FOOTER = _Kind(4, "SnapshotFooter", "SnapshotFooterRecord")
    KRAFT_VERSION = _Kind(5, "KRaftVersion", "KRaftVersionRecord")
    KRAFT_VOTERS = _Kind(6, "KRaftVoters", "VotersRecord")

    @property
    def id(self) -> int:
        return self.value.id

    @property
    def label(self) -> str:
        return self.value.label

    @property
    def message(self) -> str:
        return self.value.message

    @property
    def is_transaction_marker(self) -> bool:
        return self in (ControlRecordType.ABORT, ControlRecordType.COMMIT)


BY_ID = {kind.id: kind for kind in ControlRecordType}


def read_key(key: bytes | None) -> int:
    """The control type id in a record's key."""
    if key is None or len(key) < 4:
        raise DecodeError(
            TRUNCATED, position=0, path="key", expected="4 bytes", found=str(len(key or b""))
        )
    if key[0] > 127:
        raise DecodeError("a negative control key version", position=0, path="key.version")
    return int.from_bytes(key[2:4], "big", signed=True)


def value_version(value: bytes) -> int:
    """The version that a control record's value opens with."""
    if len(value) < 2:
        raise DecodeError(
            TRUNCATED, position=0, path="version", expected="2 bytes", found=str(len(value))
        )
    return int.from_bytes(value[:2], "big", signed=True)


def decode_value(
    kind: ControlRecordType, value: bytes | None, *, json: bool = False
) -> tuple[int, codec.Value]:
    """Decode the value of a control record; return its version and the message."""
    if value is None:
        raise DecodeError("a control record without a value", position=0, path="value")
    version = value_version(value)
    decoder = codec.json_decoder if json else codec.decoder
    # A transaction marker's version stands before the message; the others carry it as a field.
    start, message_version = (2, 0) if kind.is_transaction_marker else (0, version)
    message, end = decoder(kind.message, message_version)(value, start)
    if end != len(value) and not kind.is_transaction_marker:
        raise DecodeError(
            "bytes left after the control record",
            position=end,
            expected=f"{end} bytes",
            found=str(len(value)),
        )
    return version, message


def encode_key(kind: ControlRecordType) -> bytes:
    return b"\x00\x00" + kind.id.to_bytes(2, "big")


def encode_value(kind: ControlRecordType, message: codec.Value) -> bytes:
    """Encode a control record's message by the version it names (0 when it names none)."""
    if kind.is_transaction_marker:
        return b"\x00\x00" + codec.encode(kind.message, 0, message)
    return codec.encode(kind.message, message.get("version", 0), message)
