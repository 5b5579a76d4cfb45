"""Producer state snapshots: real files, damage, exact bytes when written."""

import struct

import crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import producer_state
from kraftool.decoders.producer_state import ProducerStateEntry

# Of orders.eu-0 after an idempotent producer and three transactions, written by 4.3.0 (KIP-890:
# the transactional producer's epoch rose) and by 3.3.2.
BY_4_3 = bytes.fromhex(
    "0001a08c5293000000020000000000000000000000000004000000000000000400000000000001a1fc38041c"
    "ffffffffffffffffffffffff00000000000000010003ffffffffffffffffffffffff00000000000001a1fc38"
    "069500000000ffffffffffffffff"
)
BY_3_3 = bytes.fromhex(
    "00013077821a000000020000000000000000000000000004000000000000000400000000000001a1fc38482b"
    "ffffffffffffffffffffffff0000000000000001000000000005000000000000000c00000000000001a1fc38"
    "4a1200000000ffffffffffffffff"
)
# Of __cluster_metadata-0, written by 4.3.0.
EMPTY = bytes.fromhex("000148674bc700000000")


def with_crc(data: bytes) -> bytes:
    return data[:2] + struct.pack(">I", crc32c.crc32c(data[6:])) + data[6:]


def test_real_snapshots_are_read_and_written_back_to_the_same_bytes() -> None:
    for data in (BY_4_3, BY_3_3, EMPTY):
        state, findings = producer_state.decode(data)
        assert findings == ()
        assert state.accepted
        assert producer_state.encode(state.entries) == data


def test_entries_have_their_values() -> None:
    state, _ = producer_state.decode(BY_4_3)
    assert state.entries[0] == ProducerStateEntry(
        producer_id=0,
        epoch=0,
        last_sequence=4,
        last_offset=4,
        offset_delta=0,
        timestamp=1795232891932,
        coordinator_epoch=-1,
        current_txn_first_offset=-1,
    )
    assert (state.entries[1].producer_id, state.entries[1].epoch) == (1, 3)


def test_a_flipped_bit_is_found_by_the_crc_and_entries_are_still_read() -> None:
    data = bytearray(BY_4_3)
    data[30] ^= 1
    state, findings = producer_state.decode(bytes(data))
    assert not state.accepted
    assert len(state.entries) == 2
    assert [(finding.position, finding.path) for finding in findings] == [(2, "crc")]


@pytest.mark.parametrize("size", range(10))
def test_a_file_that_ends_within_its_head_is_refused(size: int) -> None:
    state, findings = producer_state.decode(BY_4_3[:size])
    assert not state.accepted
    assert findings[0].position == size


def test_an_unknown_version_is_refused_and_not_guessed_at() -> None:
    state, findings = producer_state.decode(b"\0\2" + BY_4_3[2:])
    assert (state.accepted, state.entries) == (False, ())
    assert findings[0].path == "version"


@pytest.mark.parametrize("count", [3, -1, 2**31 - 1, -(2**31)])
def test_an_absurd_count_is_refused_and_whole_entries_are_still_read(count: int) -> None:
    state, findings = producer_state.decode(
        with_crc(BY_4_3[:6] + struct.pack(">i", count) + BY_4_3[10:])
    )
    assert not state.accepted
    assert len(state.entries) == 2
    assert [finding.position for finding in findings] == [6]


def test_bytes_after_the_last_entry_are_reported_but_accepted() -> None:
    # Kafka 4.3.0 takes such a file if the CRC covers them.
    state, findings = producer_state.decode(with_crc(BY_4_3 + b"x"))
    assert state.accepted
    assert [finding.position for finding in findings] == [102]


def test_a_producer_listed_twice_is_reported() -> None:
    entry = producer_state.decode(BY_4_3)[0].entries[0]
    _, findings = producer_state.decode(producer_state.encode((entry, entry)))
    assert [finding.position for finding in findings] == [56]


int16 = st.integers(-(2**15), 2**15 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
entries = st.builds(
    ProducerStateEntry,
    producer_id=int64,
    epoch=int16,
    last_sequence=int32,
    last_offset=int64,
    offset_delta=int32,
    timestamp=int64,
    coordinator_epoch=int32,
    current_txn_first_offset=int64,
)


@given(st.lists(entries, max_size=4, unique_by=lambda entry: entry.producer_id))
def test_what_is_written_comes_back(values: list[ProducerStateEntry]) -> None:
    state, findings = producer_state.decode(producer_state.encode(tuple(values)))
    assert (state.entries, findings) == (tuple(values), ())


@given(st.integers(0, 101), st.integers(0, 50), st.binary(max_size=8), st.booleans())
def test_mutated_files_never_raise_and_refusals_say_why(
    at: int, cut: int, put: bytes, mend_crc: bool
) -> None:
    data = BY_4_3[:at] + put + BY_4_3[at + cut :]
    state, findings = producer_state.decode(with_crc(data) if mend_crc else data)
    assert state.accepted or findings
