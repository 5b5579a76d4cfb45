"""Logs and snapshots with other bytes in the place of their secrets.

Owns what stays equal: sizes, positions, and of each batch whether its CRC holds, down to the bit
that is flipped in it. So every finding about the masked file is the one about the file. Which bytes
are secret is what `explain` does not show. Equal secrets of one bundle have equal masks, so that
logs which differ still differ.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from crc32c import crc32c

from kraftool.decoders.batch import CRC_START, HEADER_SIZE, NOOP_BATCH, RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.redact import SENSITIVE_KEYS
from kraftool.decoders.schema import metadata_record
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item, Walk
from kraftool.reports.explain.log import explain_item
from kraftool.reports.explain.rows import ExplainRequest, Row
from kraftool.storage.source import ByteSource, chunks_of

_ALL = ExplainRequest(units=0)
_CRC = slice(CRC_START - 4, CRC_START)
_OPEN_KEYS = frozenset(
    key
    for key in range(0x80)  # a varint of one byte
    if key not in SENSITIVE_KEYS and metadata_record(key) is not None
)
"""Types of records that have no secrets."""


@dataclass(frozen=True, slots=True)
class Masks:
    """The bytes that stand for secrets in one bundle."""

    key: bytes

    def of(self, secret: bytes) -> bytes:
        """Return as many bytes, of hexadecimal digits: text stays text."""
        digest = hmac.digest(self.key, secret, "sha256").hex().encode()
        return (digest * (len(secret) // len(digest) + 1))[: len(secret)]


def masked_log(source: ByteSource, out: IO[bytes], masks: Masks) -> int:
    """Write a log or a snapshot without its secrets. Return how many bytes were masked."""
    size = source.size()
    assert size is not None, "a file of a copy has a size"
    masked = position = 0
    for item in Walk(source.read_at, stop=size).spans():
        pieces = item.read_batches(item.at, item.end) if isinstance(item, BatchSpan) else (item,)
        for piece in pieces:
            if not piece.size:
                continue
            secrets = list(_secrets(source, piece))
            for data in _with_masks(source, piece, secrets, masks):
                out.write(data)
            masked += sum(end - start for start, end in secrets)
            position = piece.position + piece.size
    for chunk in chunks_of(source, position):  # nothing that a walk passes over
        out.write(masks.of(chunk))
        masked += len(chunk)
    return masked


def _secrets(source: ByteSource, item: Item) -> Iterator[tuple[int, int]]:
    """Yield where in the file secrets are, in order."""
    if isinstance(item, RecordBatch) and _is_open(item):
        return
    is_compressed = isinstance(item, RecordBatch) and item.compression != "none"
    for row in explain_item(source.read_at, item, _ALL):
        if row.group or not row.size:
            continue
        if row.secret or _is_topic_data(row) or (is_compressed and row.field == "records"):
            yield row.position, row.end


def _is_topic_data(row: Row) -> bool:
    """True for the value of a record with a key, which is of some topic and no metadata."""
    return row.type == "bytes" and row.field.endswith((".value", ".key"))


def _is_open(batch: RecordBatch) -> bool:
    """True if a sound batch surely has no secrets: nearly all of a log."""
    if batch.is_control or batch.compression != "none":
        return batch.is_control and batch.compression == "none" and batch.is_valid
    if batch.data[HEADER_SIZE:] == NOOP_BATCH:
        return True
    if not batch.is_valid:
        return False
    try:
        return all(
            record.key is None
            and not record.headers
            and record.value is not None
            and record.value[:1] == b"\1"  # the version of the frame
            and record.value[1] in _OPEN_KEYS
            for record in batch.records()
        )
    except (DecodeError, IndexError):
        return False


def _with_masks(
    source: ByteSource, item: Item, secrets: list[tuple[int, int]], masks: Masks
) -> Iterable[bytes]:
    """Yield the bytes of an item with its secrets masked, and a CRC that is as right as before."""
    if not secrets:
        if isinstance(item, RecordBatch):
            return (item.data,)
        return chunks_of(source, item.position, item.position + item.size)
    first = secrets[0][0]
    if isinstance(item, Faulty) and item.batch is None and first < item.position + HEADER_SIZE:
        return _masked_pieces(source, item.position, item.position + item.size, secrets, masks)
    old = b"".join(chunks_of(source, item.position, item.position + item.size))
    new = bytearray(old)
    for start, end in secrets:
        place = slice(start - item.position, end - item.position)
        new[place] = masks.of(old[place])
    # The CRC of both differs by the same bits as that of the file and the masked one.
    change = crc32c(old[CRC_START:]) ^ crc32c(new[CRC_START:])
    stored = int.from_bytes(old[_CRC], "big") ^ change
    new[_CRC] = stored.to_bytes(4, "big")
    return (bytes(new),)


def _masked_pieces(
    source: ByteSource, position: int, stop: int, secrets: list[tuple[int, int]], masks: Masks
) -> Iterator[bytes]:
    """Yield what is no batch piece by piece: it may be as long as the file."""
    for start, end in secrets:
        yield from chunks_of(source, position, start)
        for chunk in chunks_of(source, start, end):
            yield masks.of(chunk)
        position = end
    yield from chunks_of(source, position, stop)
