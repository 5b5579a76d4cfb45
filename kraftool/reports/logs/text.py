"""The machine formats of a log dump: Kafka's own text, JSON lines, CSV.

Owns the exact bytes. `kafka_*` is what kafka-dump-log 4.3 prints with --cluster-metadata-decoder;
`jsonl_*` is the documented shape of docs/schemas/dump-log.json.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.codec import has_doubles, json_text
from kraftool.decoders.control import BY_ID, ControlRecordType
from kraftool.decoders.errors import Fault
from kraftool.decoders.fault import LogFault
from kraftool.decoders.java_text import read_int64
from kraftool.decoders.log_record import LogRecord, position_in_file
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.decoders.schema import KAFKA
from kraftool.reports.logs.dump import BatchEntry, Entry, raw_value
from kraftool.reports.text.printable import file_text

CSV_COLUMNS = (
    "file",
    "position",
    "baseOffset",
    "offset",
    "epoch",
    "timestamp",
    "control",
    "type",
    "version",
    "data",
)


@lru_cache(maxsize=64)
def _file_json(file: str) -> bytes:
    import orjson

    return orjson.dumps(file_text(file))


def payload(item: LogRecord) -> str:
    """The JSON payload of a decoded record, as Kafka prints it."""
    return json_text(item.data or {}, doubles=has_doubles(item.name)).decode()


def kafka_opening(file: str) -> str:
    """The lines that kafka-dump-log prints before the first batch of a file."""
    name = file.rpartition("/")[2]
    lines = [f"Dumping {file}"]
    if name.endswith(".log"):
        # Where the name has no offset Kafka's tool dies; the batches can be shown all the same.
        if (offset := read_int64(name.split(".")[0])) is not None:
            lines.append(f"Log starting offset: {offset}")
    elif name == "bootstrap.checkpoint":
        lines.append("KRaft bootstrap snapshot")
    elif name.endswith(".checkpoint") and (snapshot := parse_checkpoint_name(name)) is not None:
        lines.append(f"Snapshot end offset: {snapshot.offset}, epoch: {snapshot.epoch}")
    return "\n".join(lines) + "\n"


def kafka_batch(batch: RecordBatch, valid: bool) -> str:
    header = batch.header
    horizon_ms = batch.delete_horizon_ms
    horizon = "OptionalLong.empty" if horizon_ms is None else f"OptionalLong[{horizon_ms}]"
    return (
        f"baseOffset: {header.base_offset} lastOffset: {batch.last_offset}"
        f" count: {header.record_count}"
        f" baseSequence: {header.base_sequence} lastSequence: {batch.last_sequence}"
        f" producerId: {header.producer_id} producerEpoch: {header.producer_epoch}"
        f" partitionLeaderEpoch: {header.partition_leader_epoch}"
        f" isTransactional: {'true' if batch.is_transactional else 'false'}"
        f" isControl: {'true' if batch.is_control else 'false'}"
        f" deleteHorizonMs: {horizon}"
        f" position: {batch.position} {batch.timestamp_type}: {header.max_timestamp}"
        f" size: {batch.size} magic: {header.magic} compresscodec: {batch.compression}"
        f" crc: {header.crc} isvalid: {'true' if valid else 'false'}\n"
    )


def kafka_entry(entry: BatchEntry, *, skip_record_metadata: bool = False) -> str:
    """One batch and its records, as kafka-dump-log prints them."""
    batch = entry.batch
    parts = [] if entry.continued else [kafka_batch(batch, entry.valid)]
    add = parts.append
    label, has_sequences = batch.timestamp_type, batch.header.base_sequence >= 0
    for item in entry.records:
        record = item.record
        if item.is_control:
            contents = _kafka_control(item) if not skip_record_metadata else ""
        elif item.data is None:
            contents = _kafka_undecoded(item)
        else:
            text = json_text(item.data, doubles=has_doubles(item.name)).decode()
            contents = f' payload: {{"type":"{item.type}","version":{item.version},"data":{text}}}'
        if skip_record_metadata:
            add(f"|{contents}\n" if contents else "\n")
            continue
        sequence = batch.sequence(record.offset - batch.base_offset) if has_sequences else -1
        add(
            f"| offset: {record.offset} {label}: {record.timestamp}"
            f" keySize: {-1 if record.key is None else len(record.key)}"
            f" valueSize: {-1 if record.value is None else len(record.value)}"
            f" sequence: {sequence} headerKeys: [{_header_keys(record) if record.headers else ''}]"
            f"{contents}\n"
        )
    return "".join(parts)


def _size(part: bytes | None) -> int:
    return -1 if part is None else len(part)


def _header_keys(record: Record) -> str:
    return ",".join(key.decode("utf-8", "replace") for key, _ in record.headers)


def _kafka_undecoded(item: LogRecord) -> str:
    reason = item.error.describe() if item.error is not None else "it could not be decoded"
    return f" payload: Error at {item.record.offset}, skipping. {reason}"


def _kafka_control(item: LogRecord) -> str:
    kind = BY_ID.get(item.api_key) if item.api_key is not None else None
    if kind is None:
        return f" controlType: UNKNOWN({item.api_key})"
    if item.data is None:
        return f" {kind.label}: {item.error.describe() if item.error is not None else ''}"
    if kind.is_transaction_marker:
        return f" endTxnMarker: {kind.name} coordinatorEpoch: {item.data['coordinatorEpoch']}"
    colon = ":" if kind is ControlRecordType.LEADER_CHANGE else ""
    return f" {kind.label}{colon} {payload(item)}"


def kafka_closing(file: str, problem: LogFault) -> str:
    """Return what kafka-dump-log says of a torn tail; nothing for damage of other kinds, where it
    dies.
    """
    name = file.rpartition("/")[2]
    return f"Found {problem.size} invalid bytes at the end of {name}\n"


def jsonl_entry(
    entry: Entry, *, show_secrets: bool = False, mark: Callable[[int], str] | None = None
) -> bytes:
    """One entry as JSON lines: the batch, then its records; or the error.

    `mark` tells of an offset how the metadata transaction around it ended, if there is one.
    """
    if isinstance(entry, Fault):
        return _line(_problem_object(entry))
    batch, header = entry.batch, entry.batch.header
    file = _file_json(entry.file)
    lines = [
        b'{"kind":"batch","file":%b,"position":%d,"baseOffset":%d,"lastOffset":%d,"count":%d,'
        b'"epoch":%d,"timestamp":%d,"size":%d,"magic":%d,"compression":"%b","control":%b,"crc":%d,'
        b'"valid":%b}\n'
        % (
            file,
            batch.position,
            header.base_offset,
            batch.last_offset,
            header.record_count,
            header.partition_leader_epoch,
            header.max_timestamp,
            batch.size,
            header.magic,
            batch.compression.encode(),
            b"true" if batch.is_control else b"false",
            header.crc,
            b"true" if entry.valid else b"false",
        )
    ]
    if entry.continued:
        lines.clear()
    for item in entry.records:
        record = item.record
        if item.data is None or item.version is None:
            lines.append(_line(_undecoded_object(entry, item, show_secrets)))
            continue
        outcome = mark(record.offset) if mark is not None and not item.is_control else ""
        lines.append(
            b'{"kind":"record","file":%b,"position":%d,"baseOffset":%d,"offset":%d,"epoch":%d,'
            b'"timestamp":%d,"control":%b,"keySize":%d,"valueSize":%d,"type":"%b","version":%d,'
            b'"data":%b%b}\n'
            % (
                file,
                position_in_file(batch, record),
                header.base_offset,
                record.offset,
                header.partition_leader_epoch,
                record.timestamp,
                b"true" if item.is_control else b"false",
                _size(record.key),
                _size(record.value),
                item.type.encode(),
                item.version,
                json_text(item.data, doubles=has_doubles(item.name)),
                b',"transaction":"%b"' % outcome.encode() if outcome else b"",
            )
        )
    return b"".join(lines)


def _line(value: dict[str, Any]) -> bytes:
    import orjson

    safe = {
        key: file_text(field_value) if isinstance(field_value, str) else field_value
        for key, field_value in value.items()
    }
    return orjson.dumps(safe) + b"\n"


def _problem_object(problem: Fault) -> dict[str, Any]:
    value: dict[str, Any] = {
        "kind": "error",
        "file": problem.file,
        "position": problem.position,
        "reason": problem.sentence(),
    }
    if isinstance(problem, LogFault):
        value |= {"damage": problem.kind.value, "size": problem.size}
    return value


def _undecoded_object(entry: BatchEntry, item: LogRecord, show_secrets: bool) -> dict[str, Any]:
    """A record that could not be decoded: its numbers, and its bytes where they may be shown."""
    record, batch = item.record, entry.batch
    raw = raw_value(entry, item, show_secrets=show_secrets)
    return {
        "kind": "record",
        "file": entry.file,
        "position": position_in_file(batch, record),
        "baseOffset": batch.base_offset,
        "offset": record.offset,
        "epoch": batch.epoch,
        "timestamp": record.timestamp,
        "control": item.is_control,
        "keySize": _size(record.key),
        "valueSize": _size(record.value),
        "type": item.type or f"UNKNOWN({item.api_key if item.api_key is not None else '?'})",
        "version": item.version,
        "data": None,
        "raw": None if raw is None else b64encode(raw).decode(),
        "reason": item.error.describe() if item.error else f"not known to Kafka {KAFKA}",
    }


def csv_entry(entry: Entry) -> str:
    """The records of one entry as CSV rows; damage has a row with its reason as data."""
    from kraftool.reports.text.csv_text import csv_text

    if isinstance(entry, Fault):
        row: list[Any] = [entry.file, entry.position, "", "", "", "", "", "ERROR", ""]
        return csv_text([[*row, entry.sentence()]])
    batch = entry.batch
    rows = []
    for item in entry.records:
        record = item.record
        text = payload(item) if item.data is not None else ""
        row = [
            entry.file,
            position_in_file(batch, record),
            batch.base_offset,
            record.offset,
            batch.epoch,
            record.timestamp,
            item.is_control,
            item.type or f"UNKNOWN({item.api_key})",
            "" if item.version is None else item.version,
            text,
        ]
        rows.append(row)
    return csv_text(rows)


def csv_batch(entry: BatchEntry) -> str:
    """One batch as a CSV row: its magic as version, its numbers as data."""
    import orjson

    from kraftool.reports.text.csv_text import csv_text

    batch, header = entry.batch, entry.batch.header
    data = {
        "lastOffset": batch.last_offset,
        "count": header.record_count,
        "size": batch.size,
        "crc": header.crc,
        "valid": entry.valid,
    }
    row = [
        entry.file,
        batch.position,
        batch.base_offset,
        "",
        batch.epoch,
        header.max_timestamp,
        batch.is_control,
        "BATCH",
        header.magic,
        orjson.dumps(data).decode(),
    ]
    return csv_text([row])
