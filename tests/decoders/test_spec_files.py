"""The reference descriptions of file formats and the fast readers of the same formats are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import batch, indexes, producer_state, spec_files
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.segment import scan
from kraftool.decoders.spec import annotate_by
from kraftool.decoders.spec_primitives import VARINT32, VARINT64, SpecEncodeError
from kraftool.decoders.wire import read_varint, read_varlong, varint, varlong
from kraftool.storage.source import BytesSource

BYTES = st.none() | st.binary(max_size=200)


def headers_and_records(described: dict[str, Any]) -> tuple[Any, ...]:
    """A described batch in the terms of batch.py, without positions."""
    header = described.copy()
    records = header.pop("records")
    return tuple(header.values()), [
        (
            record["attributes"] % 256,  # the fast reader takes the byte without a sign
            header["baseOffset"] + record["offsetDelta"],
            header["baseTimestamp"] + record["timestampDelta"],
            record["key"],
            record["value"],
            tuple((header["key"], header["value"]) for header in record["headers"]),
        )
        for record in records
    ]


def read_fast(data: bytes) -> tuple[Any, ...]:
    whole = batch.RecordBatch.read(data)
    return tuple(whole.header), [tuple(record[2:]) for record in whole.records()]


@given(st.lists(st.tuples(BYTES, BYTES), max_size=4), st.integers(0, 2**62), st.booleans())
def test_a_batch_that_the_encoder_writes_is_read_alike_by_both(
    records: list[tuple[bytes | None, bytes | None]], offset: int, control: bool
) -> None:
    data = batch.encode_batch(
        records, base_offset=offset, epoch=7, timestamp=1_700_000_000_000, control=control
    )
    described, end = spec_files.parse(spec_files.BATCH, data)
    assert end == len(data)
    assert headers_and_records(described) == read_fast(data)
    assert spec_files.BATCH.build(described) == data


@given(st.data())
def test_a_damaged_batch_is_read_alike_or_refused_by_both(data: st.DataObject) -> None:
    records = data.draw(st.lists(st.tuples(BYTES, BYTES), min_size=1, max_size=3))
    raw = bytearray(batch.encode_batch(records, base_offset=5, epoch=1, timestamp=9))
    at = data.draw(st.integers(batch.HEADER_SIZE, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    damaged = bytes(raw)
    outcomes: list[tuple[Any, ...] | None] = []
    for read in (read_fast, read_described):
        try:
            outcomes.append(read(damaged))
        except DecodeError:
            outcomes.append(None)
    assert outcomes[0] == outcomes[1]


def read_described(data: bytes) -> tuple[Any, ...]:
    described, end = spec_files.parse(spec_files.BATCH, data)
    if end != len(data):
        raise DecodeError("bytes left after the last record", position=end)
    return headers_and_records(described)


def test_every_batch_of_real_kafka_is_read_alike_by_both(fixtures_dir: Path) -> None:
    count = 0
    files = [*fixtures_dir.glob("kafka-*/*/*/*/__cluster_metadata-0/*.log")]
    files += fixtures_dir.glob("kafka-*/*/*/*/*.checkpoint")
    for path in files[::5]:
        data = path.read_bytes()
        for item in scan(BytesSource("", data).read_at):
            assert isinstance(item, batch.RecordBatch)
            described, end = spec_files.parse(spec_files.BATCH, item.data)
            assert end == item.size
            assert headers_and_records(described) == read_fast(item.data)
            count += 1
    assert count > 100


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1))
def test_varints_are_written_alike_by_both(small: int, large: int) -> None:
    assert VARINT32.write(small) == varint(small)
    assert VARINT64.write(large) == varlong(large)
    assert read_varint(VARINT32.write(small), 0)[0] == small
    assert read_varlong(VARINT64.write(large), 0)[0] == large


@given(st.binary(min_size=1, max_size=12))
def test_varints_are_read_alike_by_both(data: bytes) -> None:
    for what, read in ((VARINT32, read_varint), (VARINT64, read_varlong)):
        annotation = annotate_by(what, data)
        try:
            assert (annotation.value, annotation.end) == read(data, 0)
        except Exception:
            assert annotation.error is not None


@pytest.mark.parametrize(("what", "number"), [(VARINT32, 2**31), (VARINT64, -(2**63) - 1)])
def test_a_number_beyond_its_varint_is_refused(what: Any, number: int) -> None:
    with pytest.raises(SpecEncodeError):
        what.build(number)


@given(st.binary(min_size=34, max_size=34))
def test_index_entries_are_read_alike_by_both(data: bytes) -> None:
    offset = spec_files.parse(spec_files.INDEX_ENTRY, data)[0]
    assert indexes.OFFSET_ENTRY_SIZE == 8
    relative, position = (int.from_bytes(data[at : at + 4], "big", signed=True) for at in (0, 4))
    assert offset == {"relativeOffset": relative, "position": position}
    txn, end = spec_files.parse(spec_files.TRANSACTION_INDEX_ENTRY, b"\0\0" + data[2:])
    fast = indexes.decode_transaction_index(b"\0\0" + data[2:])[0].entry(0)
    assert end == indexes.TXN_ENTRY_SIZE
    assert list(txn.values()) == [
        fast.version,
        fast.producer_id,
        fast.first_offset,
        fast.last_offset,
        fast.last_stable_offset,
    ]


def test_a_producer_snapshot_is_read_alike_by_both() -> None:
    entry = producer_state.ProducerStateEntry(
        producer_id=1,
        epoch=2,
        last_sequence=3,
        last_offset=4,
        offset_delta=5,
        timestamp=6,
        coordinator_epoch=7,
        current_txn_first_offset=-1,
    )
    data = producer_state.encode((entry,))
    head, end = spec_files.parse(spec_files.PRODUCER_SNAPSHOT_HEAD, data)
    assert (head["version"], head["count"], end) == (1, 1, producer_state.HEADER_SIZE)
    described, end = spec_files.parse(spec_files.PRODUCER_SNAPSHOT_ENTRY, data, end)
    assert end == len(data)
    assert list(described.values()) == [1, 2, 3, 4, 5, 6, 7, -1]
