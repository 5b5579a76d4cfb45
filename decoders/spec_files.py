"""The reference for files: batches, records, frames, indexes and producer snapshots in `construct`.

Owns the layouts as descriptions that parse, build and annotate. It refuses to repair or to go on
behind damage: whoever walks over a file (`reports/explain/annotation.py`) applies a description to
one stretch of bytes at a time. `batch.py`, `indexes.py` and `producer_state.py` are the fast
readers of the same formats; tests hold them equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from kraftool.decoders.spec_primitives import (
    FIXED,
    UVARINT,
    VARINT32,
    VARINT64,
    VARINT_LENGTH,
    Construct,
    Context,
    Elements,
    Grouped,
    ParseTrace,
    Sized,
    Struct,
    fail,
    refuse,
)
from kraftool.decoders.wire import NEGATIVE, TRUNCATED

RECORD_SIZE = "a record takes another size than it states"

INT8, INT16, INT32, INT64 = (FIXED[kind] for kind in ("int8", "int16", "int32", "int64"))
UINT32 = FIXED["uint32"]

BATCH_HEADER = Struct(
    "baseOffset" / INT64,
    "length" / INT32,
    "partitionLeaderEpoch" / INT32,
    "magic" / INT8,
    "crc" / UINT32,
    "attributes" / INT16,
    "lastOffsetDelta" / INT32,
    "baseTimestamp" / INT64,
    "maxTimestamp" / INT64,
    "producerId" / INT64,
    "producerEpoch" / INT16,
    "baseSequence" / INT32,
    "count" / INT32,
)

RECORD_HEADER = Grouped(
    Struct(
        "key" / Sized("bytes", VARINT_LENGTH, nullable=False),
        "value" / Sized("bytes", VARINT_LENGTH, nullable=True),
    )
)

RECORD_BODY = Struct(
    "attributes" / INT8,
    "timestampDelta" / VARINT64,
    "offsetDelta" / VARINT32,
    "key" / Sized("bytes", VARINT_LENGTH, nullable=True),
    "value" / Sized("bytes", VARINT_LENGTH, nullable=True),
    "headers" / Elements(RECORD_HEADER, 2, VARINT32, nullable=False),
)


class Filling(Construct):
    """A length, and a body that must take exactly that many bytes."""

    def __init__(self, body: Construct) -> None:
        super().__init__()
        self.body = body

    def _parse(self, stream: BytesIO, context: Context, path: str) -> Any:
        start = stream.tell()
        length: int = VARINT32.read(stream, context, path, start)
        here, params = stream.tell(), context._params
        left = params.end - here
        if length < 0:
            fail(NEGATIVE, start, path, "0 or more", str(length))
        if length > left:
            fail(TRUNCATED, start, path, f"{length} bytes", f"{left} left")
        params.trace.leaf(start, here, path, "length (varint)", length)
        outer, params.end = params.end, here + length
        try:
            value = self.body._parsereport(stream, context, path)
        finally:
            params.end = outer
        taken = stream.tell() - here
        if taken != length:
            fail(RECORD_SIZE, start, path, f"{length} bytes", f"{taken} taken")
        return value

    def _build(self, obj: Any, stream: BytesIO, context: Context, path: str) -> Any:
        part = BytesIO()
        self.body._build(obj, part, context, path)
        stream.write(VARINT32.write(part.tell()) + part.getvalue())
        return obj


RECORD = Filling(RECORD_BODY)


class BatchConstruct(Construct):
    """A batch without compression: its header, and as many records as it counts.

    Building takes length, CRC and count as they are given, so that tests can build wrong ones.
    """

    def _parse(self, stream: BytesIO, context: Context, path: str) -> dict[str, Any]:
        with context._params.trace.group(path, "batch header"):
            header = BATCH_HEADER._parsereport(stream, context, path)
        value = {
            name: field_value for name, field_value in header.items() if not name.startswith("_")
        }
        if value["count"] < 0:
            fail(NEGATIVE, stream.tell() - 4, f"{path} -> count", "0 or more", str(value["count"]))
        records = []
        # A record takes a byte at least or fails, so the bytes left bound the loop.
        for index in range(value["count"]):
            place = f"{path} -> records[{index}]"
            with context._params.trace.group(place, "record"):
                record = RECORD._parsereport(stream, context, place)
            records.append(
                {key: field_value for key, field_value in record.items() if key != "_io"}
            )
        return value | {"records": records}

    def _build(self, obj: Any, stream: BytesIO, context: Context, path: str) -> Any:
        if not isinstance(obj, Mapping):
            refuse(f"not a batch: {obj!r}", path)
        BATCH_HEADER._build(obj, stream, context, path)
        for index, record in enumerate(obj["records"]):
            RECORD._build(record, stream, context, f"{path} -> records[{index}]")
        return obj


BATCH = BatchConstruct()

CONTROL_KEY = Struct("version" / INT16, "type" / INT16)
"""The key of a control record; the value is a message that opens with its own version."""

VALUE_VERSION = Struct("version" / INT16)
"""What the value of a control record opens with."""

FRAME = Struct("frameVersion" / UVARINT, "apiKey" / UVARINT, "version" / UVARINT)
"""What precedes the message in the value of a metadata record."""

INDEX_ENTRY = Struct("relativeOffset" / INT32, "position" / INT32)
TIME_INDEX_ENTRY = Struct("timestamp" / INT64, "relativeOffset" / INT32)
TRANSACTION_INDEX_ENTRY = Struct(
    "version" / INT16,
    "producerId" / INT64,
    "firstOffset" / INT64,
    "lastOffset" / INT64,
    "lastStableOffset" / INT64,
)

PRODUCER_SNAPSHOT_HEAD = Struct("version" / INT16, "crc" / UINT32, "count" / INT32)
PRODUCER_SNAPSHOT_ENTRY = Struct(
    "producerId" / INT64,
    "epoch" / INT16,
    "lastSequence" / INT32,
    "lastOffset" / INT64,
    "offsetDelta" / INT32,
    "timestamp" / INT64,
    "coordinatorEpoch" / INT32,
    "currentTxnFirstOffset" / INT64,
)


def parse(what: Construct, data: bytes, position: int = 0) -> tuple[dict[str, Any], int]:
    """Parse by one of the descriptions above; return the fields and the position after them."""
    stream = BytesIO(data)
    stream.seek(position)
    value = what.parse_stream(stream, end=len(data), trace=ParseTrace(wanted=False))
    return {
        name: field_value for name, field_value in value.items() if name != "_io"
    }, stream.tell()


def parse_record_length(data: bytes, position: int) -> tuple[int, int]:
    """Read the length that opens a record; return it and the position after it."""
    stream = BytesIO(data)
    stream.seek(position)
    length: int = VARINT32.parse_stream(stream, end=len(data), trace=ParseTrace(wanted=False))
    return length, stream.tell()
