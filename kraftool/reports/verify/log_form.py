"""The form that KRaft gives its batches and records, beyond what makes them readable.

Owns the rules of Kafka's RecordsIterator, at which every node dies, and what a KRaft leader never
writes though Kafka would read it. It refuses what the summary finds already: records that cannot be
told apart or decoded, data records with a key, control records of no known type.
"""

from __future__ import annotations

from kraftool.decoders.batch import CONTROL, Record, RecordBatch
from kraftool.decoders.control import BY_ID, ControlRecordType, read_key
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.log_record import position_in_file
from kraftool.reports.files.finding_limits import FileFindings
from kraftool.reports.findings.kinds import log as log_kinds

_OF_SNAPSHOTS = (ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER)


def check_batch(findings: FileFindings, batch: RecordBatch) -> None:
    """Check a batch's header against what KRaft leaders write."""
    header = batch.header
    if (
        not header.attributes & ~CONTROL
        and header.producer_id == header.producer_epoch == header.base_sequence == -1
        and header.base_timestamp == header.max_timestamp
        and header.last_offset_delta == header.record_count - 1
    ):
        return
    position, offset = batch.position, header.base_offset
    if header.attributes & 7:
        text = "the batch is compressed"
        findings.add(
            log_kinds.BATCH_FORM,
            text,
            position=position,
            offset=offset,
            field="attributes",
            expected="none",
            found=batch.compression,
        )
    rest = header.attributes & ~(CONTROL | 7)
    if rest:
        words = [
            word
            for bit, word in ((0x08, "LogAppendTime"), (0x10, "transactional"), (0x40, "compacted"))
            if rest & bit
        ] or [f"{rest:#06x}"]
        findings.add(
            log_kinds.BATCH_FORM,
            "attributes that KRaft never sets",
            position=position,
            offset=offset,
            field="attributes",
            found=", ".join(words),
        )
    producer = (header.producer_id, header.producer_epoch, header.base_sequence)
    if producer != (-1, -1, -1):
        findings.add(
            log_kinds.BATCH_FORM,
            "the batch has a producer",
            position=position,
            offset=offset,
            field="producerId",
            expected="-1, -1, -1",
            found=", ".join(map(str, producer)),
        )
    if header.base_timestamp != header.max_timestamp:
        findings.add(
            log_kinds.BATCH_FORM,
            "a batch has one time, that of its append",
            position=position,
            offset=offset,
            field="maxTimestamp",
            expected=str(header.base_timestamp),
            found=str(header.max_timestamp),
        )
    if header.record_count <= 0:
        text = "a batch without records"
        findings.add(
            log_kinds.BATCH_FORM,
            text,
            position=position,
            offset=offset,
            field="count",
            expected="1 or more",
            found=str(header.record_count),
        )
    elif header.last_offset_delta != header.record_count - 1:
        findings.add(
            log_kinds.BATCH_FORM,
            "not as many records as offsets",
            position=position,
            offset=offset,
            field="lastOffsetDelta",
            expected=str(header.record_count - 1),
            found=str(header.last_offset_delta),
        )


def check_records(findings: FileFindings, batch: RecordBatch) -> None:
    """Check each record of a batch; what ends the reading of it is in the summary."""
    time, due = batch.header.base_timestamp, batch.base_offset
    is_control, append_time = batch.is_control, batch.timestamp_type != "CreateTime"
    try:
        for record in batch.shared_records():
            if (record.timestamp != time and not append_time) or record.headers:
                _refused(findings, batch, record)
            if record.offset != due:
                findings.add(
                    log_kinds.BATCH_FORM,
                    "a record has another offset than its place in the batch",
                    position=position_in_file(batch, record),
                    offset=due,
                    field="offsetDelta",
                    expected=str(due - batch.base_offset),
                    found=str(record.offset - batch.base_offset),
                )
            if is_control:
                _control(findings, batch, record)
            due += 1
    except DecodeError:
        return


def _refused(findings: FileFindings, batch: RecordBatch, record: Record) -> None:
    position, offset = position_in_file(batch, record), record.offset
    delta = record.timestamp - batch.header.base_timestamp
    if delta:
        findings.add(
            log_kinds.RECORD_FORM,
            "the record has its own time",
            position=position,
            offset=offset,
            field="timestampDelta",
            expected="0",
            found=str(delta),
        )
    if record.headers:
        findings.add(
            log_kinds.RECORD_FORM,
            "the record has headers",
            position=position,
            offset=offset,
            field="headers",
            expected="none",
            found=str(len(record.headers)),
        )


def _control(findings: FileFindings, batch: RecordBatch, record: Record) -> None:
    try:
        kind = BY_ID.get(read_key(record.key))
    except DecodeError:
        return
    if kind is None:
        return
    position, offset = position_in_file(batch, record), record.offset
    if kind.is_transaction_marker:
        text = f"{kind.label} is a marker of topics' transactions, which the raft reader refuses"
        findings.add(log_kinds.RECORD_FORM, text, position=position, offset=offset)
    elif kind in _OF_SNAPSHOTS:
        findings.add(
            log_kinds.BATCH_FORM,
            f"{kind.label} does not belong in a log",
            position=position,
            offset=offset,
        )
