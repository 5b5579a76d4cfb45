"""Batches and their records: written, read back, and damaged."""

import gzip
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import compression
from kraftool.decoders.batch import (
    DELETE_HORIZON,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    BatchHeader,
    Record,
    RecordBatch,
    encode_batch,
    seal,
)
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.wire import Malformed

PAIRS = st.lists(
    st.tuples(st.none() | st.binary(max_size=200), st.none() | st.binary(max_size=200)), max_size=8
)

# The first batch of a 4.3.0 leader: LeaderChange alone (digest raft 4.3).
LEADER_CHANGE_VALUE = bytes.fromhex("0000000000010200000001000200000001" + "0000")


def batch_of(*pairs: tuple[bytes | None, bytes | None], **options: int) -> RecordBatch:
    settings: dict[str, Any] = {
        "base_offset": 7,
        "epoch": 3,
        "timestamp": 1_700_000_000_000,
        **options,
    }
    return RecordBatch.read(encode_batch(pairs, **settings))


@given(PAIRS)
def test_what_is_written_reads_back(pairs: list[tuple[bytes | None, bytes | None]]) -> None:
    batch = batch_of(*pairs)
    records = list(batch.records())
    assert [(record.key, record.value) for record in records] == pairs
    assert [record.offset for record in records] == [7 + n for n in range(len(pairs))]
    assert batch.is_valid


def test_records_tile_the_batch() -> None:
    records = list(batch_of((None, b"a"), (b"k", b"b" * 300)).records())
    assert records[0].position == HEADER_SIZE
    assert records[1].position == records[0].position + records[0].size


@given(st.data())
def test_any_flipped_bit_under_the_crc_is_noticed(data: st.DataObject) -> None:
    whole = encode_batch([(None, b"value")], base_offset=0, epoch=1, timestamp=5)
    at = data.draw(st.integers(17, len(whole) - 1))
    flipped = bytearray(whole)
    flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    assert not RecordBatch.read(bytes(flipped)).is_valid


def test_the_crc_does_not_cover_offset_and_epoch() -> None:
    whole = bytearray(encode_batch([(None, b"v")], base_offset=0, epoch=1, timestamp=5))
    whole[:8] = (1234).to_bytes(8, "big")
    moved = RecordBatch.read(bytes(whole))
    assert moved.is_valid
    assert next(moved.records()).offset == 1234


@given(st.binary(max_size=120), st.integers(-1, 9))
def test_garbage_for_records_is_an_error_with_its_place(garbage: bytes, count: int) -> None:
    header = batch_of((None, b"v")).header._replace(record_count=count)
    batch = RecordBatch.read(seal(header, garbage))
    records: list[Record] = []
    wrong = None
    try:
        records.extend(batch.records())
    except DecodeError as error:
        wrong = error
    if wrong is None:
        assert len(records) == count
    else:
        assert wrong.path.startswith(("records[", "count"))
        assert 0 < wrong.position <= batch.size


def test_a_record_length_beyond_the_batch_is_an_error_and_reads_nothing() -> None:
    header = batch_of((None, b"v")).header
    batch = RecordBatch.read(seal(header, b"\xfe\xff\xff\xff\x0f" + b"x" * 20))
    with pytest.raises(DecodeError) as caught:
        list(batch.records())
    assert caught.value.position == HEADER_SIZE
    assert caught.value.expected == "2147483647 bytes"


def test_bytes_after_the_last_record_are_an_error() -> None:
    whole = batch_of((None, b"v"))
    batch = RecordBatch.read(seal(whole.header, whole.data[HEADER_SIZE:] + b"more"))
    with pytest.raises(DecodeError, match="bytes left after the last record"):
        list(batch.records())


def test_log_append_time_overrides_the_records_own() -> None:
    whole = batch_of((None, b"v"))
    header = whole.header._replace(attributes=LOG_APPEND_TIME, max_timestamp=99)
    batch = RecordBatch.read(seal(header, whole.data[HEADER_SIZE:]))
    assert batch.timestamp_type == "LogAppendTime"
    assert next(batch.records()).timestamp == 99


def test_a_delete_horizon_is_told_apart_from_a_timestamp() -> None:
    whole = batch_of((None, b"v"))
    header = whole.header._replace(attributes=DELETE_HORIZON)
    assert RecordBatch.read(seal(header, b"")).delete_horizon_ms == header.base_timestamp
    assert whole.delete_horizon_ms is None


def test_sequences_wrap_as_in_kafka() -> None:
    header = BatchHeader(0, 49, 0, 2, 0, 0, 1, 0, 0, 1, 0, 2**31 - 1, 2)
    assert RecordBatch.read(seal(header, b"")).last_sequence == 0


def _compressed(codec: int, data: bytes) -> RecordBatch:
    header = batch_of((None, b"payload" * 50)).header._replace(attributes=codec)
    return RecordBatch.read(seal(header, data))


def test_gzip_is_opened_without_further_packages() -> None:
    plain = batch_of((None, b"payload" * 50)).data[HEADER_SIZE:]
    assert [r.value for r in _compressed(1, gzip.compress(plain)).records()] == [b"payload" * 50]


def test_other_codecs_are_opened_where_their_packages_are() -> None:
    plain = batch_of((None, b"payload" * 50)).data[HEADER_SIZE:]
    zstandard = pytest.importorskip("zstandard", reason="pip install 'kraftool[compression]'")
    lz4 = pytest.importorskip("lz4.frame", reason="pip install 'kraftool[compression]'")
    cramjam = pytest.importorskip("cramjam", reason="pip install 'kraftool[compression]'")
    block = bytes(cramjam.snappy.compress_raw(plain))
    xerial = b"\x82SNAPPY\x00" + bytes(8) + len(block).to_bytes(4, "big") + block
    for codec, data in (
        (2, xerial),
        (2, block),
        (3, lz4.compress(plain)),
        (4, zstandard.ZstdCompressor().compress(plain)),
    ):
        assert [r.value for r in _compressed(codec, data).records()] == [b"payload" * 50]


@pytest.mark.parametrize("codec", [1, 2, 3, 4, 7])
def test_damaged_compression_is_an_error_like_any_other(codec: int) -> None:
    with pytest.raises(DecodeError):
        list(_compressed(codec, b"not compressed at all").records())


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    bomb = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    data = bomb.compress(bytes(4 << 20)) + bomb.flush()
    with pytest.raises(Malformed, match="too much"):
        compression.decompress("gzip", data, limit=1 << 20)


def test_records_that_observers_share_are_those_of_the_batch() -> None:
    """Of the two batches that were read last. One that is damaged is read up to there each time."""
    batches = [
        RecordBatch.read(
            encode_batch([(None, b"%d" % n), (b"k", None)], base_offset=n, epoch=1, timestamp=0)
        )
        for n in range(0, 6, 2)
    ]
    shared = [batch.shared_records() for batch in batches]
    assert [list(records) for records in shared] == [list(batch.records()) for batch in batches]
    assert batches[1].shared_records() is shared[1], "an observer may be one batch behind"
    # The length of the second record, behind the first one and its length.
    data = bytearray(batches[0].data)
    data[61 + 1 + data[61] // 2] = 0x7F
    broken = RecordBatch.read(bytes(data))
    for _ in range(2):
        read: list[int] = []
        with pytest.raises(DecodeError):
            read.extend(shared_record.offset for shared_record in broken.shared_records())
        assert read == [0]
