"""Records of a metadata log or snapshot, decoded to what people and programs want to see.

Owns the step from a batch to decoded records: control records by their type, data records by their
frame, in Kafka's JSON form. A record that cannot be decoded is yielded with its raw bytes and the
reason; nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraftool.decoders import codec, control, schema
from kraftool.decoders.batch import HEADER_SIZE, Record, RecordBatch
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.fault import FaultKind, LogFault, record_fault
from kraftool.decoders.framing import RecordFormat, read_frame, record_format
from kraftool.decoders.generate import EXPECTED


class LogRecord(NamedTuple):
    """One decoded record. `data` is Kafka's JSON form; where it is None, `error` says why.

    Both are set where a record can be decoded and yet is wrong: Kafka's tool shows a data record
    with a key, its controllers refuse it.

    `name` is the catalogue's (PartitionRecord), `type` what Kafka's tools print
    (PARTITION_RECORD, LeaderChange); both are empty for what is not known.
    """

    record: Record
    is_control: bool
    name: str
    type: str
    version: int | None
    data: codec.Value | None
    api_key: int | None = None
    error: DecodeError | None = None


_FORMATS: dict[bytes, RecordFormat] = {}
"""Formats by the three bytes of the usual frame, filled as they are met."""


def decode_batch(batch: RecordBatch) -> Iterator[LogRecord]:
    """Decode the records of a batch. Damage between records raises DecodeError after the last whole
    one, with its position in the batch."""
    return (
        map(decode_control, batch.records()) if batch.is_control else decode_data(batch.records())
    )


def decode_data(records: Iterable[Record]) -> Iterator[LogRecord]:
    """Decode data records: all of a batch, or those that are wanted."""
    known = _FORMATS.get
    for record in records:
        value = record.value
        # What is not plain sailing goes through `decode_metadata`, which finds out why.
        form = known(value[:3]) if value is not None and record.key is None else None
        if form is not None and value is not None:
            try:
                data, end = form.bare_decode_json(value, 3)
            except EXPECTED:
                end = -1
            if end == len(value):
                yield LogRecord(
                    record, False, form.name, form.type, form.version, data, form.api_key
                )
                continue
        yield decode_metadata(record)


def decode_metadata(record: Record) -> LogRecord:
    """Decode a data record; whatever is wrong with it is in `error`."""
    name = kind = ""
    version = api_key = None
    try:
        value = record.value
        if value is None:
            raise DecodeError("a data record without a value", position=0, path="value")
        api_key, version, position = read_frame(value)
        message = schema.metadata_record(api_key)
        if message is None:
            raise DecodeError(
                "a record type that the catalogue lacks",
                position=1,
                path="apiKey",
                expected=f"one of Kafka {schema.KAFKA}",
                found=str(api_key),
            )
        name, kind = message.name, schema.record_type(message.name)
        form = record_format(api_key, version)
        if form is None:
            raise DecodeError(
                f"a version of {kind} that the catalogue lacks",
                position=2,
                path="version",
                expected=f"{message.versions} as in Kafka {schema.KAFKA}",
                found=str(version),
            )
        data, end = form.decode_json(value, position)
        if end != len(value):
            raise DecodeError(
                "bytes left after the record",
                position=end,
                expected=f"{end} bytes",
                found=str(len(value)),
            )
    except DecodeError as error:
        return LogRecord(record, False, name, kind, version, None, api_key, error)
    if record.key is not None:
        keyed = DecodeError("a data record with a key", position=0, path="key")
        return LogRecord(record, False, name, kind, version, data, api_key, keyed)
    if position == 3:
        _FORMATS[value[:3]] = form
    return LogRecord(record, False, name, kind, version, data, api_key)


def decode_control(record: Record) -> LogRecord:
    """Decode a control record; whatever is wrong with it is in `error`."""
    name = label = ""
    version = type_id = None
    try:
        type_id = control.read_key(record.key)
        kind = control.BY_ID.get(type_id)
        if kind is None:
            raise DecodeError(
                "a control record type that Kafka does not have",
                position=2,
                path="key.type",
                found=str(type_id),
            )
        name, label = kind.message, kind.label
        version = control.value_version(record.value or b"")
        version, data = control.decode_value(kind, record.value, json=True)
    except DecodeError as error:
        return LogRecord(record, True, name, label, version, None, type_id, error)
    except KraftoolError as error:  # a version the catalogue lacks
        unsupported = DecodeError(error.message, position=0, path="version", found=str(version))
        return LogRecord(record, True, name, label, version, None, type_id, unsupported)
    return LogRecord(record, True, name, label, version, data, type_id)


def fault_of(batch: RecordBatch, item: LogRecord) -> LogFault | None:
    """Return what is wrong with a record of a batch; None if it could be decoded."""
    if item.error is None:
        return None
    if item.is_control:
        is_known = item.api_key in control.BY_ID
    else:
        is_known = item.api_key is None or item.version is None
        is_known = is_known or record_format(item.api_key, item.version) is not None
    return record_fault(
        item.error,
        position_of_error(batch, item.record, item.error),
        item.record.offset,
        kind=FaultKind.RECORDS if is_known else FaultKind.UNKNOWN,
        type=item.type,
    )


def fault_between(batch: RecordBatch, error: DecodeError) -> LogFault:
    """Return what ends the records of a batch early, at the batch's offset.

    In a compressed batch the place is where the records begin.
    """
    within = error.position if batch.compression == "none" else HEADER_SIZE
    return record_fault(error, batch.position + within, batch.base_offset)


def position_in_file(batch: RecordBatch, record: Record) -> int:
    """Return where a record's bytes lie; for a compressed batch, where the batch's records
    begin.
    """
    within = record.position if batch.compression == "none" else HEADER_SIZE
    return batch.position + within


def position_of_error(batch: RecordBatch, record: Record, error: DecodeError) -> int:
    """Return where in the file a record could not be decoded, as closely as can be told.

    Errors count from the start of the value, which ends one byte before the record does where the
    record has no headers; metadata records never have any.
    """
    at = position_in_file(batch, record)
    if batch.compression != "none" or record.headers or record.value is None:
        return at
    if error.path.startswith("key"):
        return at
    return at + record.size - 1 - len(record.value) + error.position
