"""One flipped bit of a batch: where it is, and that nothing else looks like one."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch
from kraftool.decoders.bit_flip import BitFlip, ExpectedBatch, crc_flip, flipped_bit
from kraftool.decoders.segment import scan

LOG = "kafka-4.3.0/static-single/node-1"


def reading(data: bytes) -> Callable[[int, int], bytes]:
    return lambda position, size: data[position : position + size]


def flipped(data: bytes, *bits: int) -> bytes:
    wrong = bytearray(data)
    for bit in bits:
        wrong[bit // 8] ^= 1 << bit % 8
    return bytes(wrong)


@pytest.fixture(scope="module")
def log(fixtures_dir: Path) -> tuple[bytes, list[RecordBatch]]:
    """A segment of real Kafka, and its batches."""
    path = next((fixtures_dir / LOG).glob("data*/__cluster_metadata-0/*.log"))
    data = path.read_bytes()
    batches = [item for item in scan(reading(data)) if isinstance(item, RecordBatch)]
    assert len(batches) > 50
    return data, batches


def place_of(batches: list[RecordBatch], number: int) -> ExpectedBatch:
    """What the batches before say about a batch."""
    before = batches[number - 1] if number else None
    return ExpectedBatch(
        position=batches[number].position,
        next_offset=batches[number].base_offset if before is None else before.last_offset + 1,
        epoch=-1 if before is None else before.epoch,
    )


def explained(data: bytes, batches: list[RecordBatch], number: int) -> BitFlip | None:
    return flipped_bit(reading(data), place_of(batches, number))


@pytest.mark.parametrize("number", [0, 1, 20, 40, -1])
def test_every_bit_of_a_batch_is_put_back(
    log: tuple[bytes, list[RecordBatch]], number: int
) -> None:
    data, batches = log
    number %= len(batches)
    batch = batches[number]
    outside = 8 * 17
    bits = range(outside, 8 * batch.size)
    for bit in (*range(outside), *random.Random(number).sample(bits, min(len(bits), 400))):
        wrong = flipped(data, 8 * batch.position + bit)
        flip = explained(wrong, batches, number)
        if flip is None:
            assert _cannot_be_known(batches, number, bit), bit
            continue
        assert (flip.position, flip.bit) == (batch.position + bit // 8, bit % 8)
        assert flip.batch == batch
        assert flip.byte == data[flip.position]
        assert flip.is_covered == (bit >= outside)


def _cannot_be_known(batches: list[RecordBatch], number: int, bit: int) -> bool:
    """A bit of an offset or an epoch that is possible with these neighbours, too."""
    byte = bit // 8
    is_last = number == len(batches) - 1
    if 12 <= byte < 16:  # a new epoch may begin with a LeaderChange, of which nothing follows
        return is_last and batches[number].is_control
    return byte < 8 and is_last and byte >= 4


def test_what_is_whole_needs_no_bit(log: tuple[bytes, list[RecordBatch]]) -> None:
    data, batches = log
    for number in range(len(batches)):
        assert explained(data, batches, number) is None


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_two_flipped_bits_are_never_one(
    log: tuple[bytes, list[RecordBatch]], source: st.DataObject
) -> None:
    data, batches = log
    number = source.draw(st.integers(0, len(batches) - 1))
    batch = batches[number]
    bits = st.integers(8 * batch.position, 8 * (batch.position + batch.size) - 1)
    one, other = source.draw(st.lists(bits, min_size=2, max_size=2, unique=True))
    assert explained(flipped(data, one, other), batches, number) is None


def test_a_wrong_offset_is_not_put_back_where_the_epoch_is_wrong_too(
    log: tuple[bytes, list[RecordBatch]],
) -> None:
    """Neither is in the CRC: with one of both bits put back all but the epoch fits."""
    data, batches = log
    for number, batch in enumerate(batches):
        for byte, bit in ((0, 0), (3, 5), (7, 6), (11, 7)):  # of the base offset and the length
            for of_epoch in (24, 25, 30):
                bits = 8 * (batch.position + byte) + bit, 8 * (batch.position + 12) + of_epoch
                assert explained(flipped(data, *bits), batches, number) is None, (number, bits)


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=1, max_size=2000), st.data())
def test_two_wrong_bits_under_a_crc_leave_no_remainder_of_one(
    value: bytes, source: st.DataObject
) -> None:
    data = encode_batch([(None, value)], base_offset=0, epoch=1, timestamp=1)
    bits = st.integers(8 * 17, 8 * len(data) - 1)
    one, other = source.draw(st.lists(bits, min_size=2, max_size=2, unique=True))
    assert crc_flip(flipped(data, one)) == (one // 8, one % 8)
    assert crc_flip(flipped(data, one, other)) is None
    assert crc_flip(data) is None


def test_a_bit_that_makes_the_crc_right_but_not_the_records_is_refused() -> None:
    """Three flipped bits can look like another one. The batch does not decode with that."""
    data = encode_batch([(None, b"\x01\x14\x00\x00")], base_offset=0, epoch=1, timestamp=1)
    broken = bytearray(data)
    broken[HEADER_SIZE] ^= 0x02  # the record's length, with a CRC that agrees
    batch = RecordBatch.read(bytes(broken))
    broken[17:21] = batch.computed_crc().to_bytes(4, "big")
    wrong = flipped(bytes(broken), 8 * (HEADER_SIZE + 4))
    assert crc_flip(wrong) == (HEADER_SIZE + 4, 0)
    assert flipped_bit(reading(wrong), ExpectedBatch(position=0, next_offset=0)) is None


@pytest.mark.parametrize(
    ("offset", "epoch"), [(1, -1), (4, -1), (0, 2)], ids=["hole", "power", "epoch"]
)
def test_a_batch_that_does_not_follow_is_not_put_back(offset: int, epoch: int) -> None:
    value = b"\x01\x14\x00\x00"
    data = encode_batch([(None, value)], base_offset=0, epoch=1, timestamp=1)
    wrong = flipped(data, 8 * 70)
    place = ExpectedBatch(position=0, next_offset=offset, epoch=epoch)
    assert flipped_bit(reading(wrong), place) is None
    assert flipped_bit(reading(data), place) is None


def test_missing_records_are_no_flipped_offset(log: tuple[bytes, list[RecordBatch]]) -> None:
    """Two offsets may differ by one bit because a batch is missing."""
    data, batches = log
    for number in range(1, len(batches) - 1):
        cut = data[: batches[number].position] + data[batches[number + 1].position :]
        place = place_of(batches, number)
        assert flipped_bit(reading(cut), place) is None
        end = batches[number + 1].size
        assert flipped_bit(reading(cut[: place.position + end]), place) is None


def test_a_bit_of_a_large_batch_is_found_at_once() -> None:
    data = encode_batch([(None, bytes(8 << 20))], base_offset=0, epoch=1, timestamp=1)
    for bit in (8 * 21, 8 * 4_000_000 + 3, 8 * len(data) - 1):
        wrong = flipped(data, bit)
        before = time.process_time()
        assert crc_flip(wrong) == (bit // 8, bit % 8)
        assert time.process_time() - before < 1
