"""Segment indexes: real files, preallocated space, entries out of order."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import indexes
from kraftool.decoders.indexes import AbortedTxn, OffsetPosition, TimestampOffset

# Three files of one segment of orders.eu-0, written by 4.3.0 with log.index.interval.bytes=1.
INDEX = bytes.fromhex(
    "0000000100000047000000020000008e00000003000000d5000000040000011c000000050000016300000006"
    "000001aa00000007000001f1000000080000023f00000009000002860000000a000002cd0000000b0000031b"
    "0000000c000003620000000d000003a9"
)
TIME_INDEX = bytes.fromhex(
    "000001a1fc38039900000001000001a1fc3803fc00000002000001a1fc38040800000003000001a1fc38041c"
    "00000004000001a1fc3805b700000005000001a1fc38061b00000006000001a1fc38065200000007000001a1"
    "fc38066700000009000001a1fc3806780000000a000001a1fc3806830000000c000001a1fc3806950000000d"
)
TXN_INDEX = bytes.fromhex(
    "0000000000000000000100000000000000050000000000000007000000000000000800000000000000000001"
    "000000000000000b000000000000000d000000000000000e"
)


def test_a_real_offset_index_is_read() -> None:
    index, findings = indexes.decode_offset_index(INDEX)
    assert findings == ()
    assert len(index) == 13
    assert index.entry(0) == OffsetPosition(offset=1, position=71)
    assert list(index.entries())[-1] == OffsetPosition(offset=13, position=937)


def test_a_real_time_index_is_read() -> None:
    index, findings = indexes.decode_time_index(TIME_INDEX)
    assert findings == ()
    assert len(index) == 11
    assert index.entry(0) == TimestampOffset(timestamp=1795232891801, offset=1)
    assert list(index.entries())[-1] == TimestampOffset(timestamp=1795232892565, offset=13)


def test_a_real_transaction_index_is_read() -> None:
    index, findings = indexes.decode_transaction_index(TXN_INDEX)
    assert findings == ()
    assert list(index.entries()) == [
        AbortedTxn(producer_id=1, first_offset=5, last_offset=7, last_stable_offset=8),
        AbortedTxn(producer_id=1, first_offset=11, last_offset=13, last_stable_offset=14),
    ]
    assert index.entry(1) == list(index.entries())[1]


def test_offsets_are_relative_to_the_base_offset_of_the_name() -> None:
    assert indexes.decode_offset_index(INDEX, 1000)[0].entry(0).offset == 1001
    assert indexes.decode_time_index(TIME_INDEX, 1000)[0].entry(0).offset == 1001


def test_preallocated_space_is_counted_and_no_finding() -> None:
    # What 4.3.0 keeps while a segment is open: 10 MiB, cut to whole entries.
    index, findings = indexes.decode_offset_index(INDEX + bytes(10485760 - len(INDEX)))
    assert (len(index), index.zero_tail, findings) == (13, 10485760 - len(INDEX), ())
    times, findings = indexes.decode_time_index(TIME_INDEX + bytes(10485756 - len(TIME_INDEX)))
    assert (len(times), times.zero_tail, findings) == (11, 10485756 - len(TIME_INDEX), ())


def test_an_index_without_entries_is_fine() -> None:
    for data in (b"", bytes(10485760)):
        index, findings = indexes.decode_offset_index(data)
        assert (len(index), index.zero_tail, findings) == (0, len(data), ())


def test_an_entry_that_ends_in_zero_bytes_is_no_part_of_the_zero_tail() -> None:
    data = struct.pack(">ii", 256, 0) + struct.pack(">ii", 512, 0x10000)
    index, _ = indexes.decode_offset_index(data + bytes(16))
    assert (len(index), index.zero_tail) == (2, 16)


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ((1, 500), "does not rise"),
        ((0, 500), "does not rise"),
        ((5, 71), "does not rise"),
        ((5, 0), "does not rise"),
        ((-5, 500), "negative"),
        ((5, -500), "negative"),
    ],
)
def test_an_offset_entry_out_of_order_is_reported_and_the_next_good_one_is_not(
    second: tuple[int, int], reason: str
) -> None:
    data = b"".join(struct.pack(">ii", *entry) for entry in ((1, 71), second, (9, 900)))
    index, findings = indexes.decode_offset_index(data)
    assert len(index) == 3
    assert [finding.position for finding in findings] == [8]
    assert reason in findings[0].reason


def test_zero_entries_between_others_are_reported() -> None:
    _, findings = indexes.decode_offset_index(INDEX[:16] + bytes(16) + INDEX[16:])
    assert [finding.position for finding in findings] == [16, 24]


@pytest.mark.parametrize("second", [(100, 5), (99, 5), (101, 0), (-1, 5), (101, -1)])
def test_a_time_entry_out_of_order_is_reported(second: tuple[int, int]) -> None:
    data = b"".join(struct.pack(">qi", *entry) for entry in ((100, 1), second, (200, 9)))
    _, findings = indexes.decode_time_index(data)
    assert [finding.position for finding in findings] == [12]


def test_a_later_timestamp_at_the_same_offset_is_fine() -> None:
    data = struct.pack(">qi", 100, 1) + struct.pack(">qi", 101, 1)
    assert indexes.decode_time_index(data)[1] == ()


@pytest.mark.parametrize(
    "second",
    [
        (1, 1, 11, 13, 14),
        (-1, 1, 11, 13, 14),
        (0, 1, 5, 7, 8),
        (0, -1, 11, 13, 14),
        (0, 1, 13, 13, 14),
    ],
)
def test_a_transaction_that_cannot_be_is_reported(second: tuple[int, ...]) -> None:
    data = TXN_INDEX[:34] + struct.pack(">hqqqq", *second)
    _, findings = indexes.decode_transaction_index(data)
    assert [finding.position for finding in findings] == [34]


def test_a_transaction_that_ends_before_the_segment_is_reported() -> None:
    _, findings = indexes.decode_transaction_index(TXN_INDEX, 10)
    assert [finding.position for finding in findings] == [0]


def test_zeros_in_a_transaction_index_are_no_preallocated_space() -> None:
    _, findings = indexes.decode_transaction_index(TXN_INDEX + bytes(34))
    assert {finding.position for finding in findings} == {68}


def test_a_torn_entry_is_reported_and_the_whole_ones_are_read() -> None:
    index, findings = indexes.decode_offset_index(INDEX[:-3])
    assert len(index) == 12
    assert [finding.position for finding in findings] == [96]
    times, findings = indexes.decode_time_index(TIME_INDEX[:-3])
    assert (len(times), len(findings)) == (10, 1)
    txns, findings = indexes.decode_transaction_index(TXN_INDEX[:-3])
    assert (len(txns), len(findings)) == (1, 1)


def test_a_garbage_index_gives_a_bounded_list() -> None:
    _, findings = indexes.decode_offset_index(b"\xff" * 80_000)
    assert len(findings) == 101
    assert "9900 more" in findings[-1].reason


@given(st.binary(max_size=200), st.integers(0, 2**62))
def test_random_bytes_never_raise_and_every_byte_is_accounted_for(data: bytes, base: int) -> None:
    for index, size in (
        (indexes.decode_offset_index(data, base)[0], indexes.OFFSET_ENTRY_SIZE),
        (indexes.decode_time_index(data, base)[0], indexes.TIME_ENTRY_SIZE),
        (indexes.decode_transaction_index(data, base)[0], indexes.TXN_ENTRY_SIZE),
    ):
        assert 0 <= len(data) - len(index) * size - index.zero_tail < size
        assert len(list(index.entries())) == len(index)
