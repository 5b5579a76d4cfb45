"""Batches between the core's form and bytes: as real Kafka wrote them, cut off, and damaged."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.raft.names import Endpoint, ReplicaKey, VersionRange, Voter, VoterSet
from kraftool.raft.records import Batch, ControlRecord, KRaftVersion, LeaderChange, Voters
from kraftool.raft.wire import batches
from tests.support.places import FIXTURES

LOGS = sorted(FIXTURES.glob("kafka-*/*/node-*/**/__cluster_metadata-0/*.log"))


def _whole(data: bytes) -> Iterator[RecordBatch]:
    position = 0
    while position < len(data):
        size = 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        yield RecordBatch.read(data[position : position + size], position)
        position += size


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "/".join(path.parts[-6:-1]))
def test_what_kafka_wrote_is_written_again_from_what_was_read(path: Path) -> None:
    data = path.read_bytes()
    read = batches.decode_batches(data)

    assert batches.encode_batches(read) == data
    for whole, batch in zip(_whole(data), read, strict=True):
        assert batch.is_valid
        assert (batch.base_offset, batch.last_offset) == (whole.base_offset, whole.last_offset)
        values = tuple(record.value for record in whole.records())
        # Without the bytes that it came with: from the control records, or the data in it.
        again = replace(batch, data=() if batch.control else values)
        assert batches.encode(again) == whole.data


def test_the_fixtures_have_each_kind_of_control_record() -> None:
    seen = {
        type(record)
        for path in LOGS
        for batch in batches.decode_batches(path.read_bytes())
        for record in batch.control
    }

    assert seen == {LeaderChange, KRaftVersion, Voters}


def _records() -> st.SearchStrategy[tuple[ControlRecord, ...]]:
    ids = st.integers(0, (1 << 31) - 1)
    levels = st.integers(0, (1 << 15) - 1)
    lists = st.lists(ids, max_size=4).map(tuple)
    voter = st.builds(
        lambda number, directory, named, known: Voter(
            key=ReplicaKey(number, directory), endpoints=named, kraft_version=known
        ),
        ids,
        st.none() | st.just("AAAAAAAAAAAAAAAAAAAACQ"),
        st.dictionaries(
            st.sampled_from(("CONTROLLER", "OTHER")),
            st.builds(Endpoint, st.text(max_size=8), st.integers(0, 65535)),
            max_size=2,
        ),
        st.builds(VersionRange, levels, levels),
    )
    record = (
        st.builds(LeaderChange, ids, lists, lists)
        | st.builds(KRaftVersion, levels)
        | st.lists(voter, max_size=3).map(lambda members: Voters(VoterSet.of(*members)))
    )
    return st.lists(record, min_size=1, max_size=3).map(tuple)


@given(
    _records(),
    st.integers(0, 1 << 62),
    st.integers(0, (1 << 31) - 1),
    st.integers(0, 1 << 62),
)
def test_a_control_batch_comes_back_as_it_went(
    records: tuple[ControlRecord, ...], base: int, epoch: int, timestamp: int
) -> None:
    batch = Batch(
        base_offset=base,
        last_offset=base + len(records) - 1,
        epoch=epoch,
        timestamp_ms=timestamp,
        control=records,
        data=(),
    )

    [back] = batches.decode_batches(batches.encode(batch))

    assert replace(back, size=0, data=()) == batch


def _three() -> bytes:
    return b"".join(
        encode_batch([(None, b"x" * 30)], base_offset=base, epoch=1, timestamp=5)
        for base in (10, 11, 12)
    )


@given(st.integers(0, len(_three())))
def test_what_is_cut_off_at_the_end_is_left_out(end: int) -> None:
    whole = _three()

    read = batches.decode_batches(whole[:end])

    assert [batch.base_offset for batch in read] == [10, 11, 12][: end * 3 // len(whole)]
    assert all(batch.is_valid for batch in read)


@given(st.integers(12, len(_three()) // 3 - 1), st.integers(1, 255))
def test_a_damaged_batch_is_not_valid_and_the_others_are(position: int, flip: int) -> None:
    data = bytearray(_three())
    size = len(data) // 3
    data[size + position] ^= flip

    read = batches.decode_batches(bytes(data))

    # The epoch, in bytes 12 to 15, is not covered by the CRC: leaders write it after the fact.
    assert [batch.is_valid for batch in read] == [True, position < 16, True]


@pytest.mark.parametrize("length", [0, 48, -1, -(1 << 31)])
def test_nothing_is_read_after_an_impossible_size(length: int) -> None:
    data = bytearray(_three())
    size = len(data) // 3
    data[size + 8 : size + 12] = length.to_bytes(4, "big", signed=True)

    first, second = batches.decode_batches(bytes(data))

    assert first.is_valid
    assert not second.is_valid
    assert second.base_offset == 11


@given(st.binary(max_size=300))
def test_any_bytes_are_read_to_some_end(data: bytes) -> None:
    assert all(isinstance(batch, Batch) for batch in batches.decode_batches(data))


@pytest.mark.parametrize("kind", [0, 1, 3, 4, 9])
def test_a_control_record_that_has_no_place_in_a_log_makes_its_batch_not_valid(kind: int) -> None:
    key = b"\0\0" + kind.to_bytes(2, "big")
    data = encode_batch(
        [(key, b"\0\0\0\0\0\0\0\0\0\0\0")], base_offset=1, epoch=1, timestamp=1, control=True
    )

    [read] = batches.decode_batches(data)

    assert not read.is_valid
    assert read.control == ()


@given(st.integers(2, 6), st.binary(max_size=30))
def test_a_control_record_with_any_value_is_read_or_makes_its_batch_not_valid(
    kind: int, value: bytes
) -> None:
    key = b"\0\0" + kind.to_bytes(2, "big")
    data = encode_batch([(key, value)], base_offset=1, epoch=1, timestamp=1, control=True)

    [read] = batches.decode_batches(data)

    assert read.is_valid == bool(read.control)


def test_a_control_record_of_an_unknown_version_makes_its_batch_not_valid() -> None:
    data = encode_batch(
        [(b"\0\0\0\5", b"\0\x09\0\1\0")], base_offset=1, epoch=1, timestamp=1, control=True
    )

    [read] = batches.decode_batches(data)

    assert not read.is_valid
