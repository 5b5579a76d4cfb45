"""The exact text of Kafka's format beside the segments' own, and what machine formats can carry.

What real Kafka writes for the same bytes is tests/interop/test_parity.py.
"""

from __future__ import annotations

import csv
import gzip
import json
import struct

import pytest

from kraftool.decoders import compression, producer_state
from kraftool.decoders.batch import (
    HEADER_SIZE,
    LOG_APPEND_TIME,
    BatchHeader,
    RecordBatch,
    encode_batch,
    seal,
)
from kraftool.decoders.errors import Fault
from kraftool.decoders.framing import encode_record
from kraftool.decoders.java_text import INT64_MAX, INT64_MIN, wrap_int32, wrap_int64
from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.wire import Malformed, varint, varlong
from kraftool.reports.logs.dump import BatchEntry, LogDump
from kraftool.reports.logs.kafka_indexes import kafka_side_file
from kraftool.reports.logs.text import (
    CSV_COLUMNS,
    csv_batch,
    csv_entry,
    jsonl_entry,
    kafka_entry,
    kafka_opening,
)
from kraftool.reports.text.printable import file_text

NO_OP = encode_record("NoOpRecord", 0, {})
SEGMENT = f"{0:020d}"


def lines_of(file: str, data: bytes) -> list[str]:
    return kafka_side_file(file, data)[0].splitlines()


def records(*deltas: tuple[int, int]) -> bytes:
    """The record section of NoOpRecords at these offset and timestamp deltas."""
    section = b""
    for offset_delta, timestamp_delta in deltas:
        body = b"\x00" + varlong(timestamp_delta) + varint(offset_delta) + varint(-1)
        body += varint(len(NO_OP)) + NO_OP + b"\x00"
        section += varint(len(body)) + body
    return section


def batch_of(
    *deltas: tuple[int, int], base_offset: int = 0, timestamp: int = 0, attributes: int = 0
) -> RecordBatch:
    last = deltas[-1][0]
    header = BatchHeader(
        base_offset, 0, 1, 2, 0, attributes, last, timestamp, timestamp, -1, -1, -1, len(deltas)
    )
    return RecordBatch.read(seal(header, records(*deltas)))


def keyed() -> RecordBatch:
    return RecordBatch.read(encode_batch([(b"k", NO_OP)], base_offset=0, epoch=1, timestamp=1))


def entry_of(batch: RecordBatch, file: str = "x.log", *, records: bool = True) -> BatchEntry:
    return BatchEntry(file, batch, batch.is_valid, list(decode_batch(batch)) if records else [])


# --- indexes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [0, 100])
def test_a_preallocated_index_without_entries_has_kafkas_one_line(base: int) -> None:
    assert lines_of(f"a/{base:020d}.index", bytes(1024)) == [f"offset: {base} position: 0"]
    assert lines_of(f"a/{base:020d}.timeindex", bytes(1200)) == [f"timestamp: 0 offset: {base}"]


def test_the_preallocated_rest_of_an_index_has_no_lines() -> None:
    index = struct.pack(">ii", 2, 125) + bytes(80)
    assert lines_of(f"{SEGMENT}.index", index) == ["offset: 2 position: 125"]
    times = struct.pack(">qi", 17, 2) + bytes(120)
    assert lines_of(f"{SEGMENT}.timeindex", times) == ["timestamp: 17 offset: 2"]


def test_an_entry_of_the_base_offset_ends_an_index_as_in_kafka() -> None:
    index = struct.pack(">iiii", 2, 7, 0, 9) + struct.pack(">ii", 5, 11)
    assert lines_of(f"{SEGMENT}.index", index) == ["offset: 2 position: 7"]
    times = struct.pack(">qiqi", 5, 1, 7, 0) + struct.pack(">qi", 8, 2)
    assert lines_of(f"{SEGMENT}.timeindex", times) == ["timestamp: 5 offset: 1"]


@pytest.mark.parametrize("size", [0, 5, 7])
def test_an_index_without_a_whole_entry_is_empty(size: int) -> None:
    assert lines_of(f"a/{SEGMENT}.index", b"\x01" * size) == [f"a/{SEGMENT}.index is empty."]
    assert lines_of(f"a/{SEGMENT}.timeindex", b"\x01" * size) == []


def test_offsets_of_an_index_wrap_like_a_long() -> None:
    index = struct.pack(">ii", 2, 125)
    assert lines_of(f"{INT64_MAX:020d}.index", index) == [f"offset: {INT64_MIN + 1} position: 125"]


def test_the_version_of_an_aborted_transaction_is_its_upper_byte() -> None:
    line = " producerId: 1 firstOffset: 5 lastOffset: 6 lastStableOffset: 7"
    for version, shown in ((0, 0), (3, 0), (0x0200, 2), (-1, -1)):
        data = struct.pack(">hqqqq", version, 1, 5, 6, 7)
        assert lines_of(f"{SEGMENT}.txnindex", data) == [f"version: {shown}{line}"]


# --- producer snapshots -------------------------------------------------------------------------


def producer(**changed: int) -> producer_state.ProducerStateEntry:
    fields = {
        "producer_id": 1,
        "epoch": 2,
        "last_sequence": 9,
        "last_offset": 40,
        "offset_delta": 3,
        "timestamp": 55,
        "coordinator_epoch": 4,
        "current_txn_first_offset": -1,
    }
    return producer_state.ProducerStateEntry(**fields | changed)


def test_a_producer_snapshot_that_kafka_refuses_has_no_entries() -> None:
    good = producer_state.encode((producer(),))
    assert len(lines_of(f"{SEGMENT}.snapshot", good)) == 1
    wrong_crc = bytearray(good)
    wrong_crc[3] ^= 1
    for data in (bytes(wrong_crc), good[:-5], good + b"xx", good[:4], b"", b"\x00\x02" + good[2:]):
        text, findings = kafka_side_file(f"{SEGMENT}.snapshot", data)
        assert (text, bool(findings)) == ("", True)


@pytest.mark.parametrize(
    ("last", "delta", "first"),
    [
        (9, 3, 6),
        (1, 3, 2147483646),
        (-1, 0, 2147483647),
        (5, -3, 8),
        (-7, 2, 2147483639),
        (2147483647, -1, -2147483648),
        (-2147483648, -2147483648, 0),
    ],
)
def test_the_first_sequence_counts_back_as_in_kafka(last: int, delta: int, first: int) -> None:
    data = producer_state.encode((producer(last_sequence=last, offset_delta=delta),))
    assert f" firstSequence: {first} " in lines_of(f"{SEGMENT}.snapshot", data)[0]


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "offset"),
    [(f"{7:020d}", 7), ("-5", -5), ("+7", 7), ("5.x", 5), ("\uff11\uff12", 12)],
)
def test_the_starting_offset_is_what_java_reads_from_the_name(name: str, offset: int) -> None:
    opening = kafka_opening(f"a/{name}.log")
    assert opening == f"Dumping a/{name}.log\nLog starting offset: {offset}\n"


@pytest.mark.parametrize("name", ["copy.log", ".log", "99999999999999999999.log", "1e3.log"])
def test_a_name_without_an_offset_has_no_starting_offset(name: str) -> None:
    assert kafka_opening(name) == f"Dumping {name}\n"


def test_names_that_are_not_utf8_stay_apart() -> None:
    names = [raw.decode("utf-8", "surrogateescape") for raw in (b"a\xff", b"a\xfe", b"\xc3", b"a")]
    shown = [file_text(name) for name in names]
    assert shown == ["a\\xff", "a\\xfe", "\\xc3", "a"]
    assert file_text("t\u00e9\U0001f600\\") == "t\u00e9\U0001f600\\"
    assert file_text("\ud800") == "\\xed\\xa0\\x80"


def test_machine_formats_carry_a_name_that_is_not_utf8() -> None:
    name = b"nu\xff.log".decode("utf-8", "surrogateescape")
    undecoded = RecordBatch.read(
        encode_batch([(None, b"\x01\x63\x00")], base_offset=0, epoch=1, timestamp=1)
    )
    problem = Fault(file=name, position=5, reason=f"{name} is bad", found=name)
    for entry in (entry_of(keyed(), name), entry_of(undecoded, name), problem):
        for line in jsonl_entry(entry).splitlines():
            assert json.loads(line)["file"] == "nu\\xff.log"
        (row,) = csv.reader([csv_entry(entry)])
        assert row[0] == "nu\\xff.log"
    assert json.loads(jsonl_entry(problem))["reason"] == ("nu\\xff.log is bad (found nu\\xff.log)")


# --- records ------------------------------------------------------------------------------------


def test_a_data_record_with_a_key_is_shown_and_told() -> None:
    batch = keyed()
    (item,) = decode_batch(batch)
    assert (item.type, item.version, item.data) == ("NO_OP_RECORD", 0, {})
    assert item.error is not None
    assert item.error.reason == "a data record with a key"
    shown, problem = LogDump().item("x.log", batch)
    assert isinstance(shown, BatchEntry)
    assert isinstance(problem, Fault)
    assert problem.position == HEADER_SIZE
    assert ' keySize: 1 valueSize: 4 sequence: -1 headerKeys: [] payload: {"type"' in (
        kafka_entry(shown)
    )
    _, record = (json.loads(line) for line in jsonl_entry(shown).splitlines())
    assert (record["keySize"], record["data"], "reason" in record) == (1, {}, False)
    assert csv_entry(shown).endswith(",NO_OP_RECORD,0,{}\n")


def test_a_record_with_a_key_does_not_make_its_type_wrong_for_those_without() -> None:
    batch = encode_batch(
        [(b"k", NO_OP), (None, NO_OP), (b"", NO_OP)], base_offset=0, epoch=1, timestamp=1
    )
    wrong = [item.error is not None for item in decode_batch(RecordBatch.read(batch))]
    assert wrong == [True, False, True]


def test_offsets_and_timestamps_wrap_like_a_long() -> None:
    batch = batch_of(
        (0, 0), (1, 5), (5, 0), (9, INT64_MIN), base_offset=INT64_MAX - 2, timestamp=INT64_MAX
    )
    assert batch.last_offset == -9223372036854775802
    assert [(record.offset, record.timestamp) for record in batch.records()] == [
        (INT64_MAX - 2, INT64_MAX),
        (INT64_MAX - 1, -9223372036854775804),
        (-9223372036854775806, INT64_MAX),
        (-9223372036854775802, -1),
    ]


def test_offsets_and_timestamps_wrap_below_the_lowest_long() -> None:
    batch = batch_of((-1, -500), base_offset=INT64_MIN, timestamp=INT64_MIN)
    (record,) = batch.records()
    assert (batch.last_offset, record.offset, record.timestamp) == (
        INT64_MAX,
        INT64_MAX,
        9223372036854775308,
    )


def test_a_timestamp_delta_alone_can_make_a_timestamp_wrap() -> None:
    now = 1_700_000_000_000
    first, second = batch_of((0, INT64_MAX), (1, 7), timestamp=now).records()
    assert (first.timestamp, second.timestamp) == (now + INT64_MAX - 2**64, now + 7)
    (appended,) = batch_of((0, INT64_MAX), timestamp=now, attributes=LOG_APPEND_TIME).records()
    assert appended.timestamp == now


def test_wrapping_keeps_what_is_in_range() -> None:
    for value in (INT64_MIN, -1, 0, INT64_MAX):
        assert wrap_int64(value) == value
    assert (wrap_int64(INT64_MAX + 1), wrap_int64(INT64_MIN - 1)) == (INT64_MIN, INT64_MAX)
    assert (wrap_int32(2**31), wrap_int32(-(2**31) - 1), wrap_int32(-5)) == (
        -(2**31),
        2**31 - 1,
        -5,
    )


# --- compression --------------------------------------------------------------------------------


def test_all_members_of_a_gzip_batch_are_read() -> None:
    for parts in ((b"ab" * 40, b"cd"), (b"a", b"", b"b"), (bytes(1 << 17), b"x")):
        data = b"".join(gzip.compress(part) for part in parts)
        assert compression.decompress("gzip", data) == b"".join(parts)


def test_what_is_no_gzip_member_ends_the_data_as_in_java() -> None:
    data = gzip.compress(b"payload")
    for rest in (b"trailing of more than twenty bytes", gzip.compress(b"x")[:8], b"\x1f\x8b\x08"):
        assert compression.decompress("gzip", data + rest) == b"payload"


def test_a_later_gzip_member_that_is_cut_short_is_an_error() -> None:
    data = gzip.compress(b"payload") + gzip.compress(bytes(range(64)))[:-9]
    with pytest.raises(Malformed, match="cut short"):
        compression.decompress("gzip", data)


def test_members_share_the_limit() -> None:
    member = gzip.compress(bytes(600))
    assert len(compression.decompress("gzip", member, limit=600)) == 600
    with pytest.raises(Malformed, match="too much"):
        compression.decompress("gzip", member * 2, limit=1000)
    # The first fills the limit to the last byte; what is left of it must not mean "no limit".
    with pytest.raises(Malformed, match="too much"):
        compression.decompress("gzip", member + gzip.compress(bytes(1 << 20)), limit=600)


def test_all_frames_of_a_zstd_batch_are_read() -> None:
    zstandard = pytest.importorskip("zstandard", reason="pip install 'kraftool[compression]'")
    first, second = zstandard.compress(b"ab" * 40), zstandard.compress(b"cd")
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    assert compression.decompress("zstd", first + skippable + second) == b"ab" * 40 + b"cd"
    with pytest.raises(Malformed):
        compression.decompress("zstd", first + b"no frame at all")
    with pytest.raises(Malformed, match="too much"):
        compression.decompress("zstd", first + second, limit=81)


# --- batches in CSV -----------------------------------------------------------------------------


def test_a_batch_is_a_row_of_its_own_in_csv() -> None:
    batch = batch_of((0, 0), (1, 0), base_offset=5, timestamp=77)
    (row,) = csv.reader([csv_batch(entry_of(batch, records=False))])
    cells = dict(zip(CSV_COLUMNS, row, strict=True))
    assert json.loads(cells.pop("data")) == {
        "lastOffset": 6,
        "count": 2,
        "size": batch.size,
        "crc": batch.header.crc,
        "valid": True,
    }
    assert cells == {
        "file": "x.log",
        "position": "0",
        "baseOffset": "5",
        "offset": "",
        "epoch": "1",
        "timestamp": "77",
        "control": "false",
        "type": "BATCH",
        "version": "2",
    }
