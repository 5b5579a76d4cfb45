"""Scanning: batches are found, damage is placed, and what follows damage is found again."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftool.decoders import segment
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.segment import Damage, DamageKind, plausible, scan


def log(count: int = 6, value: bytes = b"v" * 40) -> tuple[bytes, list[int]]:
    """A log of batches with two records each, and where each batch begins."""
    data, positions = b"", []
    for number in range(count):
        positions.append(len(data))
        data += encode_batch(
            [(None, value), (None, value)], base_offset=2 * number, epoch=1, timestamp=1000 + number
        )
    return data, positions


def scanned(data: bytes, **options: int) -> list[RecordBatch | Damage]:
    return list(scan(lambda position, size: data[position : position + size], **options))


def positions_of(items: list[RecordBatch | Damage]) -> list[int]:
    return [item.position for item in items if isinstance(item, RecordBatch)]


def assert_tiles(items: list[RecordBatch | Damage], size: int) -> None:
    end = 0
    for item in items:
        assert item.position == end
        end += item.size
    assert end == size


def test_a_whole_log_is_its_batches() -> None:
    data, positions = log()
    items = scanned(data)
    assert positions_of(items) == positions
    assert_tiles(items, len(data))


def test_an_empty_file_has_nothing() -> None:
    assert scanned(b"") == []


@pytest.mark.parametrize("cut", [1, 11, 17, 60, 61, 100])
def test_a_torn_tail_is_named_with_its_size(cut: int) -> None:
    data, positions = log()
    torn = data[: positions[5] + cut]
    items = scanned(torn)
    assert positions_of(items) == positions[:5]
    assert isinstance(items[-1], Damage)
    assert (items[-1].kind, items[-1].position, items[-1].size) == (
        DamageKind.TORN_TAIL,
        positions[5],
        cut,
    )


@pytest.mark.parametrize("zeros", [18, 61, 5000, 3 << 20])
def test_a_zero_filled_tail_is_named_as_such(zeros: int) -> None:
    data, positions = log()
    items = scanned(data + bytes(zeros))
    assert positions_of(items) == positions
    assert isinstance(items[-1], Damage)
    assert (items[-1].kind, items[-1].size) == (DamageKind.ZERO_TAIL, zeros)


def test_a_flip_in_a_record_keeps_the_batch_and_says_that_its_crc_is_wrong() -> None:
    data, positions = log()
    damaged = bytearray(data)
    damaged[positions[2] + 80] ^= 1
    items = scanned(bytes(damaged))
    assert positions_of(items) == positions
    assert [item.is_valid for item in items if isinstance(item, RecordBatch)] == [
        number != 2 for number in range(6)
    ]


@pytest.mark.parametrize("length", [0, -1, 48, 1, 77, 2**31 - 1])
def test_a_damaged_length_costs_one_batch(length: int) -> None:
    data, positions = log()
    damaged = bytearray(data)
    damaged[positions[2] + 8 : positions[2] + 12] = length.to_bytes(4, "big", signed=True)
    items = scanned(bytes(damaged))
    assert positions_of(items) == positions[:2] + positions[3:]
    lost = next(item for item in items if isinstance(item, Damage))
    assert (lost.kind, lost.position) == (DamageKind.CORRUPT, positions[2])
    assert lost.size == positions[3] - positions[2]


def test_a_damaged_magic_costs_one_batch() -> None:
    data, positions = log()
    damaged = bytearray(data)
    damaged[positions[1] + 16] = 0x63
    assert positions_of(scanned(bytes(damaged))) == positions[:1] + positions[2:]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_whatever_is_damaged_the_scan_tiles_the_file_and_finds_what_is_whole(seed: int) -> None:
    chance = random.Random(seed)
    data, positions = log(8)
    damaged = bytearray(data)
    touched = set()
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(damaged))
        size = chance.randint(1, 30)
        damaged[at : at + size] = chance.randbytes(len(damaged[at : at + size]))
        for number, begin in enumerate(positions):
            end = positions[number + 1] if number < 7 else len(data)
            if at < end and at + size > begin:
                touched.add(number)
    items = scanned(bytes(damaged))
    assert_tiles(items, len(damaged))
    whole = {begin for number, begin in enumerate(positions) if number not in touched}
    assert whole <= set(positions_of(items))


@given(st.binary(max_size=3000))
def test_garbage_is_tiled_too(garbage: bytes) -> None:
    assert_tiles(scanned(garbage), len(garbage))


@given(
    st.lists(
        st.sampled_from([bytes(5), bytes(300), b"\x02", b"\x02" * 9, b"\x80" * 7, b"\x01"])
        | st.just(encode_batch([(None, b"x")], base_offset=0, epoch=1, timestamp=1)[:61]),
        max_size=30,
    ),
    st.integers(0, 80),
    st.integers(0, 80),
)
def test_headers_are_found_wherever_they_are(pieces: list[bytes], start: int, short: int) -> None:
    data = b"".join(pieces)
    end = max(len(data) - short, start)
    match = segment._CANDIDATE.search(data, start, end)
    assert segment._candidate(data, start, end) == (match.start() if match else None)


@pytest.mark.parametrize("behind", [b"", b"\x80", log(1)[0]])
def test_zeros_are_passed_over_and_not_looked_into(
    monkeypatch: pytest.MonkeyPatch, behind: bytes
) -> None:
    looked = 0
    searched = segment._CANDIDATE

    class Counted:
        def search(self, data: bytes, start: int, end: int) -> object:
            nonlocal looked
            looked += end - start
            return searched.search(data, start, end)

    monkeypatch.setattr(segment, "_CANDIDATE", Counted())
    data, positions = log()
    hole = bytes(8 << 20)
    items = scanned(data + hole + behind)
    assert_tiles(items, len(data) + len(hole) + len(behind))
    assert positions_of(items)[:6] == positions
    assert looked < 10_000


def test_garbage_between_batches_is_passed_over() -> None:
    data, positions = log()
    noise = random.Random(4).randbytes(3 << 20)
    items = scanned(data[: positions[3]] + noise + data[positions[3] :])
    assert positions_of(items) == positions[:3] + [p + len(noise) for p in positions[3:]]


def test_a_file_of_false_headers_does_not_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every 61 bytes a header that could be true, each claiming a megabyte: checking the CRC of
    # all of them would read the file thousands of times over.
    monkeypatch.setattr(segment, "_RESYNC_WORK", 8 << 20)
    whole = bytearray(encode_batch([(None, b"x")], base_offset=0, epoch=1, timestamp=1)[:61])
    whole[8:12] = (1 << 20).to_bytes(4, "big")
    data = bytes(whole) * 40_000
    read = 0

    def counted(position: int, size: int) -> bytes:
        nonlocal read
        piece = data[position : position + size]
        read += len(piece)
        return piece

    items = list(scan(counted))
    assert_tiles(items, len(data))
    assert read < 30 * len(data)


def test_memory_does_not_grow_with_the_file() -> None:
    data, _ = log(200, b"v" * 4000)
    size, largest = 256 << 20, 0
    repeat = len(data)

    def read_at(position: int, wanted: int) -> bytes:
        nonlocal largest
        largest = max(largest, wanted)
        wanted = min(wanted, size // repeat * repeat - position)
        start = position % repeat
        return (data * (wanted // repeat + 2))[start : start + wanted]

    count = sum(1 for _ in scan(read_at))
    assert count == 200 * (size // repeat)
    assert largest <= 2 << 20


def test_damage_over_a_border_of_batches_says_nothing_of_the_batches_behind_it() -> None:
    data, positions = log()
    damaged = bytearray(data)
    damaged[positions[2] - 5 : positions[2] + 20] = bytes(range(1, 26))
    items = scanned(bytes(damaged))
    assert positions_of(items) == [positions[0], *positions[3:]]
    (damage,) = (item for item in items if isinstance(item, Damage))
    assert damage.reason == "the CRC does not match, and no batch begins where this one ends"


@pytest.mark.parametrize(
    ("records", "is_plausible"), [(-1, False), (0, True), (6, True), (7, False)]
)
def test_a_header_of_kafka_counts_at_most_as_many_records_as_offsets(
    records: int, is_plausible: bool
) -> None:
    """A compacted batch has fewer records than its offsets, and none has more."""
    data = encode_batch([(None, b"v")] * 6, base_offset=0, epoch=1, timestamp=1000)
    header = RecordBatch.read(data).header
    assert header.last_offset_delta == 5
    assert plausible(header._replace(record_count=records)) is is_plausible
