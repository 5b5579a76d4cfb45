"""The layout of a snapshot: byte for byte Kafka's own, from what its snapshots hold."""

from typing import Any

import pytest

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, seal
from kraftool.decoders.codec import EncodeError
from kraftool.decoders.control import BY_ID, ControlRecordType, decode_value, read_key
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import scan
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from tests.support.places import FIXTURES

WHOLE = sorted(
    [*FIXTURES.glob("kafka-*/*/*/*/*/*.checkpoint"), *FIXTURES.glob("kafka-*/*/*/*/*.checkpoint")]
)
NO_OP = encode_record("NoOpRecord", 0, {})
VOTERS: dict[str, Any] = {"version": 0, "voters": []}


def batches(data: bytes) -> list[RecordBatch]:
    items = list(scan(lambda at, size: data[at : at + size]))
    assert all(isinstance(item, RecordBatch) and item.is_valid for item in items)
    return [item for item in items if isinstance(item, RecordBatch)]


def controls(data: bytes) -> dict[ControlRecordType, Any]:
    by_kind = {}
    for batch in batches(data):
        for record in batch.records() if batch.is_control else ():
            kind = BY_ID[read_key(record.key)]
            by_kind[kind] = decode_value(kind, record.value)[1]
    return by_kind


def values(data: bytes) -> list[bytes]:
    return [
        record.value or b""
        for batch in batches(data)
        if not batch.is_control
        for record in batch.records()
    ]


def frame_of(data: bytes) -> SnapshotFrame:
    by_kind = controls(data)
    first = batches(data)[0]
    header = by_kind[ControlRecordType.SNAPSHOT_HEADER]
    return SnapshotFrame(
        epoch=first.epoch,
        last_contained_log_timestamp=header["lastContainedLogTimestamp"],
        timestamp=first.header.base_timestamp,
        kraft_version=by_kind.get(ControlRecordType.KRAFT_VERSION, {"kRaftVersion": 0})[
            "kRaftVersion"
        ],
        voters=by_kind.get(ControlRecordType.KRAFT_VOTERS),
    )


def test_every_snapshot_of_kafkas_is_written_as_kafka_wrote_it() -> None:
    assert len(WHOLE) > 150
    for path in WHOLE:
        data = path.read_bytes()
        frame = frame_of(data)
        written = b"".join(encode_snapshot(values(data), frame))
        assert written == at_one_time(data, frame.timestamp), path


def at_one_time(data: bytes, timestamp: int) -> bytes:
    """Kafka looks at the clock for each batch; here all are of one time."""
    return b"".join(
        seal(
            batch.header._replace(base_timestamp=timestamp, max_timestamp=timestamp),
            batch.data[HEADER_SIZE:],
        )
        for batch in batches(data)
    )


def layout(written: bytes) -> list[tuple[int, int, bool]]:
    return [
        (batch.base_offset, batch.header.record_count, batch.is_control)
        for batch in batches(written)
    ]


def test_offsets_go_on_from_batch_to_batch() -> None:
    frame = SnapshotFrame(epoch=7, last_contained_log_timestamp=5, timestamp=9)
    records = [NO_OP] * 2500
    room = 61 + len(NO_OP) * 2100 + 8 * 2100
    written = b"".join(encode_snapshot(records, frame, largest_batch=room))
    # A list of 1024 records stays together.
    assert layout(written) == [(0, 1, True), (1, 2048, False), (2049, 452, False), (2501, 1, True)]
    assert {(batch.epoch, batch.header.base_timestamp) for batch in batches(written)} == {(7, 9)}


def test_a_batch_is_filled_to_the_last_byte() -> None:
    frame = SnapshotFrame(epoch=1, last_contained_log_timestamp=0, timestamp=0)
    records = [bytes(300)] * 20
    whole = b"".join(encode_snapshot(records, frame))
    size = batches(whole)[1].size
    fitting = encode_snapshot(records, frame, largest_batch=size, list_size=1)
    assert layout(b"".join(fitting))[1] == (1, 20, False)
    short = encode_snapshot(records, frame, largest_batch=size - 1, list_size=1)
    assert layout(b"".join(short))[1:3] == [(1, 19, False), (20, 1, False)]


def test_a_list_that_no_batch_has_room_for_is_refused() -> None:
    frame = SnapshotFrame(epoch=1, last_contained_log_timestamp=0, timestamp=0)
    with pytest.raises(EncodeError, match="too many for a batch"):
        list(encode_snapshot([bytes(300)] * 4, frame, largest_batch=1000))


def test_there_are_voters_from_kraft_version_1_on() -> None:
    frame = SnapshotFrame(
        epoch=1, last_contained_log_timestamp=0, timestamp=0, kraft_version=1, voters=VOTERS
    )
    written = b"".join(encode_snapshot([], frame))
    assert layout(written) == [(0, 3, True), (3, 1, True)]
    below = SnapshotFrame(
        epoch=1, last_contained_log_timestamp=0, timestamp=0, kraft_version=0, voters=VOTERS
    )
    with pytest.raises(EncodeError, match="no voters"):
        list(encode_snapshot([], below))
