"""From batches to decoded records: real ones, unknown ones, damaged ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import codec, control, framing, schema
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.log_record import LogRecord, decode_batch
from kraftool.decoders.segment import scan
from kraftool.storage.source import BytesSource

# Bytes that a 4.3.0 controller wrote (digest raft 4.3).
LEADER_CHANGE = bytes.fromhex("000000000001020000000100020000000100" + "00")
NO_OP = bytes.fromhex("01140000")


def records(*values: bytes, control_key: bytes | None = None) -> list[LogRecord]:
    batch = encode_batch(
        [(control_key, value) for value in values],
        base_offset=0,
        epoch=1,
        timestamp=1,
        control=control_key is not None,
    )
    return list(decode_batch(RecordBatch.read(batch)))


def test_the_no_op_of_the_digest_decodes() -> None:
    (item,) = records(NO_OP)
    assert (item.type, item.version, item.data) == ("NO_OP_RECORD", 0, {})


def test_the_leader_change_of_the_digest_decodes() -> None:
    key = bytes.fromhex("00000002")
    (item,) = records(LEADER_CHANGE, control_key=key)
    assert item.type == "LeaderChange"
    assert item.data == {
        "version": 0,
        "leaderId": 1,
        "voters": [{"voterId": 1}],
        "grantingVoters": [{"voterId": 1}],
    }


def test_an_unknown_record_type_is_shown_by_its_number() -> None:
    (item,) = records(bytes.fromhex("016300") + b"payload")
    assert (item.api_key, item.version, item.data) == (99, 0, None)
    assert item.error is not None
    assert item.error.found == "99"


def test_a_newer_version_is_shown_by_name_and_version() -> None:
    (item,) = records(bytes.fromhex("010363") + b"payload")
    assert (item.type, item.version, item.data) == ("PARTITION_RECORD", 99, None)
    assert item.error is not None
    assert item.error.expected.startswith("0-2")


def test_an_unknown_control_type_is_shown_by_its_number() -> None:
    (item,) = records(b"\x00\x00", control_key=bytes.fromhex("00000063"))
    assert (item.is_control, item.api_key, item.data) == (True, 99, None)


def test_a_newer_control_record_is_not_taken_for_an_old_one() -> None:
    (item,) = records(bytes.fromhex("0063") + b"x", control_key=bytes.fromhex("00000002"))
    assert (item.type, item.version, item.data) == ("LeaderChange", 99, None)
    assert item.error is not None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "the bytes end before the field does"),
        (b"\x00\x14\x00\x00", "not a metadata record frame"),
        (NO_OP + b"\x00", "bytes left after the record"),
        (b"\x01\x0c\x00\xff", "the bytes end before the field does"),
    ],
)
def test_what_cannot_be_decoded_keeps_its_reason(value: bytes, reason: str) -> None:
    (item,) = records(value)
    assert item.data is None
    assert item.error is not None
    assert item.error.reason == reason


@given(st.binary(max_size=80))
def test_no_bytes_make_the_decoder_raise(value: bytes) -> None:
    (item,) = records(value)
    assert (item.data is None) == (item.error is not None)
    (item,) = records(value, control_key=value[:6])
    assert (item.data is None) == (item.error is not None)


@pytest.mark.parametrize("kind", list(ControlRecordType))
def test_control_records_write_back(kind: ControlRecordType) -> None:
    value = control.encode_value(kind, {})
    version, message = control.decode_value(kind, value)
    assert version == 0
    assert control.encode_value(kind, message) == value
    assert control.BY_ID[control.read_key(control.encode_key(kind))] is kind


def test_every_metadata_record_writes_its_frame_back() -> None:
    for name in schema.names("metadata"):
        for version in schema.message(name).versions:
            data = framing.encode_record(name, version, {})
            record_name, at, value = framing.decode_record(data)
            assert (record_name, at) == (name, version)
            assert framing.encode_record(record_name, at, value) == data


def test_a_control_record_is_no_metadata_record() -> None:
    with pytest.raises(codec.EncodeError):
        framing.encode_record("VotersRecord", 0, {})


def test_all_records_of_all_fixtures_write_back_to_the_same_bytes(fixtures_dir: Path) -> None:
    count = 0
    for path in sorted(fixtures_dir.glob("kafka-*/*/*/**/__cluster_metadata-0/*")):
        if path.suffix not in (".log", ".checkpoint"):
            continue
        data = path.read_bytes()
        for batch in scan(BytesSource("", data).read_at):
            assert isinstance(batch, RecordBatch), (path, batch)
            for record in batch.records():
                assert record.value is not None
                if batch.is_control:
                    kind = control.BY_ID[control.read_key(record.key)]
                    _, message = control.decode_value(kind, record.value)
                    assert control.encode_value(kind, message) == record.value, path
                else:
                    name, version, value = framing.decode_record(record.value)
                    assert framing.encode_record(name, version, value) == record.value, path
                count += 1
    assert count > 1000


def test_batches_of_real_kafka_are_written_again_to_the_same_bytes(fixtures_dir: Path) -> None:
    path = next(fixtures_dir.glob("kafka-4.3.0/static-single/*/data/__cluster_metadata-0/*.log"))
    data = path.read_bytes()
    for batch in scan(lambda at, size: data[at : at + size]):
        assert isinstance(batch, RecordBatch)
        again = encode_batch(
            [(record.key, record.value) for record in batch.records()],
            base_offset=batch.base_offset,
            epoch=batch.epoch,
            timestamp=batch.header.base_timestamp,
            control=batch.is_control,
        )
        assert again == batch.data


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(DecodeError):
        control.decode_value(ControlRecordType.LEADER_CHANGE, None)
