"""The one bit of a batch that was flipped, if one flipped bit explains the damage.

Owns the search and its proof. A CRC is linear: the stored CRC xor the computed one depends only on
the place of the flipped bit. CRC-32C divides by (x + 1) and a primitive polynomial of degree 31, so
within 2^31 bits at most one place fits, and two flipped bits never look like one. Arbitrary damage
looks like one flipped bit with a chance of the number of bits / 2^32. The bytes before the CRC's
range (base offset, length, epoch, magic) are compared with the batches before and after instead. A
batch must then decode and follow on its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

from kraftool.decoders.batch import (
    CRC_START,
    HEADER_SIZE,
    LOG_OVERHEAD,
    RecordBatch,
)
from kraftool.decoders.checksum import crc32c
from kraftool.decoders.control import ControlRecordType, read_key
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.segment import (
    LARGEST_BATCH,
    MAGIC_POSITION,
    SMALLEST_LENGTH,
    ReadAt,
    plausible,
)

_POLYNOMIAL = 0x82F63B78
"""CRC-32C's, with the lowest power first: the remainder of one flipped bit at the very end."""
_ALL_ONES = 0xFFFFFFFF
_LENGTH, _EPOCH, _CRC = 8, 12, 17
_MOST_OFFSETS = (1 << 31) - 1
"""A segment has no more: its indexes count in 32 bits."""
_FIELDS = (
    (0, "baseOffset"),
    (_LENGTH, "batchLength"),
    (_EPOCH, "partitionLeaderEpoch"),
    (MAGIC_POSITION, "magic"),
    (_CRC, "crc"),
    (CRC_START, "attributes"),
    (23, "lastOffsetDelta"),
    (27, "baseTimestamp"),
    (35, "maxTimestamp"),
    (43, "producerId"),
    (51, "producerEpoch"),
    (53, "baseSequence"),
    (57, "recordsCount"),
    (HEADER_SIZE, "records"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BitFlip:
    """A bit that was flipped, and the batch with the bit put back."""

    position: int
    """Of the byte, in the file."""
    bit: int
    """Of the byte; 0 is the lowest."""
    batch: RecordBatch

    @property
    def field(self) -> str:
        within = self.position - self.batch.position
        return next(name for start, name in reversed(_FIELDS) if start <= within)

    def describe(self) -> str:
        return f"bit {self.bit} of the byte at {self.position} ({self.field})"

    @property
    def byte(self) -> int:
        """The byte with the bit put back."""
        return self.batch.data[self.position - self.batch.position]

    @property
    def is_covered(self) -> bool:
        """True if the CRC found the bit; False if the batches before and after did."""
        return self.position - self.batch.position >= _CRC

    @property
    def bits(self) -> int:
        """Return how many places the CRC can distinguish: the chance of a false match is this /
        2^32.
        """
        return 8 * (self.batch.size - _CRC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedBatch:
    """The place of a batch, and what the batches before it say about it."""

    position: int
    next_offset: int
    """The offset with which it begins."""
    epoch: int = -1
    """Of the batch before it; -1 if there is none."""


def flipped_bit(read_at: ReadAt, place: ExpectedBatch) -> BitFlip | None:
    """Return the flipped bit of the batch at a place; None if not exactly one bit explains it."""
    fitting = [flip for flip in _candidates(read_at, place) if _fits(read_at, place, flip.batch)]
    return fitting[0] if len(fitting) == 1 else None


def crc_flip(data: bytes) -> tuple[int, int] | None:
    """Return the byte and the bit that, put back, make the CRC of a batch right.

    None if the CRC is right, or no single bit of the covered bytes or of the CRC itself is wrong.
    """
    stored = int.from_bytes(data[_CRC:CRC_START], "big")
    syndrome = stored ^ crc32c(memoryview(data)[CRC_START:])
    if syndrome.bit_count() == 1:
        bit = syndrome.bit_length() - 1
        return CRC_START - 1 - bit // 8, bit % 8
    behind = _bits_behind(syndrome, len(data) - CRC_START)
    return None if behind is None else (len(data) - 1 - behind // 8, 7 - behind % 8)


def _bits_behind(syndrome: int, size: int) -> int | None:
    """Return how many bits follow the one whose flip leaves this remainder, in `size` bytes.

    The remainder of a bit is the polynomial after as many steps as bits follow it. Two walks meet:
    from the syndrome by single steps, from the polynomial by strides.
    """
    if syndrome == 0 or size <= 0:
        return None
    stride = isqrt(size) + 1
    steps, remainder = dict[int, int](), syndrome
    for step in range(8 * stride):
        steps[remainder] = step
        remainder = remainder >> 1 ^ (_POLYNOMIAL if remainder & 1 else 0)
    zeros, remainder = bytes(stride), _POLYNOMIAL
    for passed in range(0, 8 * (size + stride) + 1, 8 * stride):
        step = steps.get(remainder, passed + 1)
        if 0 <= passed - step < 8 * size:
            return passed - step
        remainder = crc32c(zeros, remainder ^ _ALL_ONES) ^ _ALL_ONES
    return None


def _candidates(read_at: ReadAt, place: ExpectedBatch) -> Iterator[BitFlip]:
    """Every batch that is one bit away from the bytes, and whose CRC is right."""
    position = place.position
    head = read_at(position, HEADER_SIZE)
    if len(head) < HEADER_SIZE:
        return
    length = int.from_bytes(head[_LENGTH:_EPOCH], "big", signed=True)
    if SMALLEST_LENGTH <= length <= LARGEST_BATCH:
        size = LOG_OVERHEAD + length
        data = read_at(position, size)
        if len(data) == size:
            if RecordBatch.read(data).is_valid:
                yield from _outside_of_crc(read_at, place, data)
            else:
                flip = crc_flip(data)
                if flip is not None:
                    yield _flip(position, data, *flip)
    yield from _other_lengths(read_at, position, length)


def _other_lengths(read_at: ReadAt, position: int, length: int) -> Iterator[BitFlip]:
    """The batch with another length, if the CRC is right with that."""
    for bit in range(32):
        other = (length ^ 1 << bit) & _ALL_ONES
        size = LOG_OVERHEAD + other
        if not SMALLEST_LENGTH <= other <= LARGEST_BATCH:
            continue
        data = read_at(position, size)
        if len(data) == size and RecordBatch.read(data).is_valid:
            yield _flip(position, data, _EPOCH - 1 - bit // 8, bit % 8)


def _outside_of_crc(read_at: ReadAt, place: ExpectedBatch, data: bytes) -> Iterator[BitFlip]:
    """The batch with another bit in base offset, epoch or magic; only what follows it may judge."""
    batch = RecordBatch.read(data, place.position)
    if batch.header.magic != 2:
        wrong = batch.header.magic ^ 2
        if (wrong & 0xFF).bit_count() == 1:
            yield _flip(place.position, data, MAGIC_POSITION, (wrong & 0xFF).bit_length() - 1)
        return
    wrong = (batch.base_offset ^ place.next_offset) & (1 << 64) - 1
    if wrong:
        if wrong.bit_count() == 1 and _is_no_hole(read_at, place, batch):
            bit = wrong.bit_length() - 1
            yield _flip(place.position, data, 7 - bit // 8, bit % 8)
        return
    after = _after(read_at, batch)
    for bit in range(32):
        flip = _flip(place.position, data, _EPOCH + 3 - bit // 8, bit % 8)
        if _is_epoch_of(flip.batch, place.epoch, after):
            yield flip


def _is_no_hole(read_at: ReadAt, place: ExpectedBatch, batch: RecordBatch) -> bool:
    """False if the offset may be right: records before it are missing, or it was written twice.

    The batch after it decides. Without one, only an offset that no log can have there.
    """
    if _after(read_at, batch) is not None:
        return True
    return not 0 <= batch.base_offset <= place.next_offset + _MOST_OFFSETS


def _is_epoch_of(batch: RecordBatch, before: int, after: RecordBatch | None) -> bool:
    """True if the epoch of a batch is the only one that its neighbours leave.

    A leader begins its epoch with a LeaderChange. Every other batch has the epoch before it.
    """
    begins = _begins_epoch(batch)
    if before >= 0 and not begins:
        return batch.epoch == before
    if after is None or after.is_control:
        return False
    return batch.epoch == after.epoch and (batch.epoch > before or not begins)


def _begins_epoch(batch: RecordBatch) -> bool:
    if not batch.is_control:
        return False
    try:
        first = next(batch.records(), None)
        return first is not None and read_key(first.key) == ControlRecordType.LEADER_CHANGE.id
    except KraftoolError:
        return False


def _flip(position: int, data: bytes, byte: int, bit: int) -> BitFlip:
    right = bytearray(data)
    right[byte] ^= 1 << bit
    batch = RecordBatch.read(bytes(right), position)
    return BitFlip(position=position + byte, bit=bit, batch=batch)


def _fits(read_at: ReadAt, place: ExpectedBatch, batch: RecordBatch) -> bool:
    """True if the batch follows the one before it, decodes, and is followed by the next one."""
    if not (batch.is_valid and plausible(batch.header)):
        return False
    if batch.base_offset != place.next_offset or batch.epoch < place.epoch:
        return False
    if not _decodes(batch):
        return False
    after, begins = _after(read_at, batch), _begins_epoch(batch)
    # The CRC covers no epoch: with one bit put back, another one may be wrong there.
    if not begins and batch.epoch != place.epoch >= 0:
        return False
    if after is None:  # the end, or a torn tail
        return True
    if begins and not after.is_control and after.epoch != batch.epoch:
        return False
    return after.base_offset == batch.last_offset + 1 and after.epoch >= batch.epoch


def _after(read_at: ReadAt, batch: RecordBatch) -> RecordBatch | None:
    """The header of the batch behind this one, as a batch; None if no whole header is there."""
    data = read_at(batch.position + batch.size, HEADER_SIZE)
    return RecordBatch.read(data) if len(data) == HEADER_SIZE else None


def _decodes(batch: RecordBatch) -> bool:
    count = 0
    try:
        for record in decode_batch(batch):
            if record.error is not None:
                return False
            count += 1
    except DecodeError:
        return False
    return count == batch.header.record_count
