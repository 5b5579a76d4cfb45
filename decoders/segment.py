"""Segments and checkpoints as a run of batches, read forward in bounded chunks.

Owns finding the batches, telling a torn tail from damage, and resyncing at the next plausible
batch. It refuses to judge what batches say: offsets, epochs and snapshot rules are verification.
Reading is by a function (position, size) -> bytes that returns fewer bytes at the end only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from kraftool.decoders.batch import CRC_START, HEADER_SIZE, LOG_OVERHEAD, BatchHeader, RecordBatch

ReadAt = Callable[[int, int], bytes]

CHUNK = 1 << 20
LARGEST_BATCH = 32 << 20
"""Above this a length is taken for damage. Kafka's leaders write at most 8 MiB."""
MAGIC_POSITION = 16
SMALLEST_LENGTH = HEADER_SIZE - LOG_OVERHEAD
_ATTRIBUTES = 0x7F
_RESYNC_WORK = 256 << 20
"""Bytes of CRC that one search for the next batch may cost beyond a multiple of what it passes."""


class DamageKind(Enum):
    """What a stretch of bytes that is no batch looks like."""

    TORN_TAIL = "torn tail"
    ZERO_TAIL = "zero-filled tail"
    CORRUPT = "corrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Bytes in which no batch could be found."""

    kind: DamageKind
    position: int
    size: int
    reason: str
    expected: str = ""
    found: str = ""


class _Window:
    """The bytes around the current position; slides forward, never back."""

    def __init__(self, read_at: ReadAt, position: int, stop: int | None) -> None:
        self._read_at = read_at
        self._stop = stop
        self.start = position
        self.data = b""
        self.ended = False

    def fill(self, position: int, size: int) -> int:
        """Have `size` bytes from `position` on, if there are as many; return how many there are."""
        have = self.start + len(self.data) - position
        if have >= size or self.ended:
            return have
        kept = self.data[position - self.start :] if have > 0 else b""
        self.start = position
        at = position + len(kept)
        wanted = max(size - len(kept), CHUNK)
        if self._stop is not None:
            wanted = min(wanted, self._stop - at)
        more = self._read_at(at, wanted) if wanted > 0 else b""
        self.ended = len(more) < wanted or wanted <= 0
        self.data = kept + more if kept else more
        return len(self.data)

    def take(self, position: int, size: int) -> bytes:
        at = position - self.start
        return self.data[at : at + size]


def scan(
    read_at: ReadAt, position: int = 0, stop: int | None = None
) -> Iterator[RecordBatch | Damage]:
    """Yield the batches from `position` on, and between them whatever is no batch."""
    window = _Window(read_at, position, stop)
    while True:
        have = window.fill(position, HEADER_SIZE)
        if have <= 0:
            return
        problem = _problem(window, position, have)
        if problem is None:
            size = _batch_size(window, position)
            batch = RecordBatch.read(window.take(position, size), position)
            if _stands(window, batch):
                yield batch
                position += size
                continue
            problem = ("the CRC does not match and no batch follows", "", "")
        starts_with_zero = window.take(position, 1) == b"\x00"
        following, zeros = _resync(window, position + 1)
        yield _damage(position, following, window, zeros and starts_with_zero, problem)
        position = following


def _batch_size(window: _Window, position: int) -> int:
    at = position - window.start + 8
    return LOG_OVERHEAD + int.from_bytes(window.data[at : at + 4], "big", signed=True)


def _problem(window: _Window, position: int, have: int) -> tuple[str, str, str] | None:
    """Why no batch can begin here; None when one may. Loads the whole batch."""
    if have < HEADER_SIZE:
        return "the file ends inside a batch header", f"{HEADER_SIZE} bytes", f"{have} left"
    at = position - window.start
    magic = window.data[at + MAGIC_POSITION]
    size = _batch_size(window, position)
    if size < HEADER_SIZE:
        length = size - LOG_OVERHEAD
        return "a batch length below the smallest", f"{SMALLEST_LENGTH} or more", str(length)
    if magic != 2:
        return "a batch magic other than 2", "2", str(magic)
    if size > LARGEST_BATCH:
        return "an absurd batch length", f"at most {LARGEST_BATCH}", str(size)
    have = window.fill(position, size)
    if have < size:
        return "the file ends inside a batch", f"{size} bytes", f"{have} left"
    return None


def _stands(window: _Window, batch: RecordBatch) -> bool:
    """Whether to believe a batch: its CRC holds, or what follows shows that its length is right."""
    if batch.is_valid:
        return True
    after = batch.position + batch.size
    if window.fill(after, HEADER_SIZE) < HEADER_SIZE:
        return plausible(batch.header)
    return plausible(_header(window.take(after, HEADER_SIZE)))


def _header(data: bytes) -> BatchHeader:
    return RecordBatch.read(data).header


def plausible(header: BatchHeader) -> bool:
    """Whether a header could be one that Kafka wrote."""
    return (
        header.magic == 2
        and SMALLEST_LENGTH <= header.length <= LARGEST_BATCH
        and header.base_offset >= 0
        and header.partition_leader_epoch >= -1
        and 0 <= header.attributes <= _ATTRIBUTES
        and header.last_offset_delta >= 0
        and 0 <= header.record_count <= header.last_offset_delta + 1
    )


def _resync(window: _Window, position: int) -> tuple[int, bool]:
    """Find the next batch whose CRC holds: its position, or the end; and if all was zero."""
    begun, work, zeros = position, 0, True
    while True:
        have = window.fill(position, HEADER_SIZE)
        if have < HEADER_SIZE:
            rest = window.take(position, max(have, 0))
            return position + max(have, 0), zeros and not any(rest)
        at = position - window.start
        found = window.data.find(b"\x02", at + MAGIC_POSITION)
        limit = len(window.data) - HEADER_SIZE + MAGIC_POSITION + 1
        passed = window.data[at : found if 0 <= found < limit else limit]
        zeros = zeros and passed.count(0) == len(passed)
        if not 0 <= found < limit:
            position = window.start + limit - MAGIC_POSITION
            continue
        position = window.start + found - MAGIC_POSITION
        header = _header(window.take(position, HEADER_SIZE))
        if plausible(header) and work < _RESYNC_WORK + 16 * (position - begun):
            size = LOG_OVERHEAD + header.length
            if window.fill(position, size) >= size:
                work += size - CRC_START
                if RecordBatch.read(window.take(position, size), position).is_valid:
                    return position, zeros
        position += 1


def _damage(
    position: int, following: int, window: _Window, zeros: bool, problem: tuple[str, str, str]
) -> Damage:
    reason, expected, found = problem
    at_end = window.fill(following, 1) <= 0
    # A few zeros may be the head of a torn batch, whose base offset begins with them.
    if at_end and zeros and following - position > MAGIC_POSITION:
        kind, reason, expected, found = DamageKind.ZERO_TAIL, "only zeros up to the end", "", ""
    elif at_end and "the file ends" in reason:
        kind = DamageKind.TORN_TAIL
    else:
        kind = DamageKind.CORRUPT
    return Damage(
        kind=kind,
        position=position,
        size=following - position,
        reason=reason,
        expected=expected,
        found=found,
    )
