"""One file for people: every field of a small one, the entries or the summary of a large one.

Owns the tables of single files. Fields that Kafka never reads are marked as such.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any

from rich.table import Table
from rich.text import Text

from kraftool.commands.block_view import plain_table, type_table
from kraftool.commands.finding_view import KEY, NAME, QUIET, text, write_commands
from kraftool.commands.output import Output
from kraftool.commands.text_flow import Beside
from kraftool.commands.times import iso
from kraftool.decoders.checkpoint_files import LeaderEpochCheckpoint, PartitionMetadata
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.quorum_state import DEAD_FIELDS, QuorumStateFile
from kraftool.directory.file_report import EntryList, FileReport, PlainText, Settings
from kraftool.directory.log_summary import LogSummary
from kraftool.image.metadata_version import release_name
from kraftool.reports.files.file_words import holds
from kraftool.reports.text.words import many, size, span, transactions


def write_file(output: Output, file: FileReport, zone: tzinfo) -> None:
    """Write one file, decoded."""
    kind = Text().append(file.kind.value, style=NAME).append(f", {size(file.size)}")
    output.rich(Beside(kind, text(file.file, NAME)))
    match file.content:
        case LogSummary():
            _log(output, file, file.content, zone)
        case QuorumStateFile():
            _quorum_state(output, file.content)
        case MetaProperties():
            _meta(output, file.content)
        case LeaderEpochCheckpoint():
            _epochs(output, file.content)
        case PartitionMetadata():
            rows = (("version", file.content.version), ("topic_id", file.content.topic_id))
            _pairs(output, rows)
        case EntryList():
            _entries(output, file, file.content, zone)
        case Settings():
            _pairs(output, [*file.content.settings.items()])
        case PlainText():
            if file.content.plain_text.strip():
                output.rich(text(file.content.plain_text.strip()))
            else:
                output.rich(Text(f"empty: {holds(file)}", style=QUIET))
        case None:
            output.rich(Text("nothing of it was decoded", style=QUIET))


def _pairs(output: Output, rows: Sequence[tuple[str, object]]) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style=KEY, overflow="fold", max_width=max(output.width * 3 // 5, 20))
    table.add_column(overflow="fold")
    for name, value in rows:
        if isinstance(value, Text):
            table.add_row(text(name), value)
        else:
            table.add_row(text(name), text("none" if value is None else value))
    output.rich(table)


_NONE = {"-1": "none", '"AAAAAAAAAAAAAAAAAAAAAA"': "none"}


def _quorum_state(output: Output, content: QuorumStateFile) -> None:
    dead = content.quorum_state is not None and content.quorum_state.data_version == 0
    rows: list[tuple[str, object]] = []
    for field in content.fields:
        value = text(field.json)
        if dead and field.name in DEAD_FIELDS:
            value.stylize(QUIET)
            value.append("  (dead field: Kafka never reads it)", style=QUIET)
        elif field.json in _NONE:
            value.append(f"  ({_NONE[field.json]})", style=QUIET)
        rows.append((field.name, value))
    _pairs(output, rows)


def _meta(output: Output, content: MetaProperties) -> None:
    node = "broker.id" if content.version == 0 else "node.id"
    rows: list[tuple[str, object]] = [
        ("version", content.version),
        ("cluster.id", content.cluster_id),
        (node, content.node_id),
        ("directory.id", content.directory_id),
    ]
    unknown = [
        (name, text(value).append("  (Kafka does not know it)", style=QUIET))
        for name, value in content.unknown.items()
    ]
    _pairs(output, [*rows, *unknown])


def _epochs(output: Output, content: LeaderEpochCheckpoint) -> None:
    table = plain_table("", "epoch", "start offset", right=("epoch", "start offset"))
    for entry in content.entries:
        table.add_row(text(entry.epoch), text(entry.start_offset))
    table.title = None
    output.rich(table)


_Row = Callable[[Any, tzinfo], tuple[object, ...]]

_COLUMNS: dict[FileKind, tuple[tuple[str, ...], _Row]] = {
    FileKind.OFFSET_INDEX: (
        ("offset", "position"),
        lambda index_entry, zone: (index_entry.offset, index_entry.position),
    ),
    FileKind.TIME_INDEX: (
        ("offset", "timestamp"),
        lambda index_entry, zone: (index_entry.offset, iso(index_entry.timestamp, zone)),
    ),
    FileKind.TXN_INDEX: (
        ("producer id", "first offset", "last offset", "last stable offset"),
        lambda aborted, zone: (
            aborted.producer_id,
            aborted.first_offset,
            aborted.last_offset,
            aborted.last_stable_offset,
        ),
    ),
    FileKind.OFFSET_CHECKPOINT: (
        ("topic", "partition", "offset"),
        lambda checkpoint, zone: (checkpoint.topic, checkpoint.partition, checkpoint.offset),
    ),
    FileKind.PRODUCER_STATE: (
        ("producer id", "epoch", "last seq", "last offset", "txn from", "timestamp"),
        lambda producer, zone: (
            producer.producer_id,
            producer.epoch,
            producer.last_sequence,
            producer.last_offset,
            producer.current_txn_first_offset,
            iso(producer.timestamp, zone),
        ),
    ),
}
_LEFT = ("timestamp", "topic")


def _entries(output: Output, file: FileReport, content: EntryList, zone: tzinfo) -> None:
    columns, row = _COLUMNS[file.kind]
    if content.entries:
        right = [column for column in columns if column not in _LEFT]
        table = plain_table("", *columns, right=right)
        table.title = None
        for entry in content.head:
            table.add_row(*(text(cell) for cell in row(entry, zone)))
        if content.omitted and content.tail:
            table.add_row(Text("⋮", style=QUIET))
        for entry in content.tail:
            table.add_row(*(text(cell) for cell in row(entry, zone)))
        output.rich(table)
    else:
        output.rich(Text("no entries", style=QUIET))
    if content.omitted:
        more = "… and" if not content.tail else "not shown:"
        words = f"{more} {content.omitted} more; --head N and --tail N show others"
        output.rich(Text(words, style=QUIET))
    if content.preallocated_size:
        spare = f"{content.preallocated_size} bytes of preallocated zeros follow"
        output.rich(Text(spare, style=QUIET))


def _log(output: Output, file: FileReport, log: LogSummary, zone: tzinfo) -> None:
    rows: list[tuple[str, object]] = []
    if file.kind is not FileKind.LOG:
        rows += _snapshot_rows(log, zone)
    if log.start_offset is not None and log.end_offset is not None:
        rows.append(("offsets", span(log.start_offset, log.end_offset - 1)))
    if log.epochs:  # a log in which no CRC holds has offsets, and no epoch that can be believed
        rows.append(("epochs", span(log.epochs[0].epoch, log.epochs[-1].epoch)))
    in_batches = f"{many(log.records, 'record')} in {many(log.batches, 'batch')}"
    control = f", {log.control_records} of them control records" if log.control_records else ""
    rows.append(("records", in_batches + control))
    if log.compressions:
        rows.append(("compression", ", ".join(log.compressions)))
    if log.first_timestamp is not None and log.last_timestamp is not None:
        times = span(iso(log.first_timestamp, zone), iso(log.last_timestamp, zone))
        rows.append(("written", times))
    rows += _control_rows(log)
    features = ", ".join(_feature(feature.name, feature.level) for feature in log.features)
    if features:
        rows.append(("features", features))
    rows += _transaction_rows(log)
    _pairs(output, rows)
    if log.record_types:
        output.line()
        output.rich(type_table("Records", log.record_types, output.width))
    output.line()
    output.rich(Text("→ its records:", style=QUIET))
    write_commands(output, (f"kraftool dump-log {shlex.quote(file.file)}",), 2)


def _feature(name: str, level: int) -> str:
    release = release_name(name, level)
    return f"{name} {level} ({release})" if release else f"{name} {level}"


def _snapshot_rows(log: LogSummary, zone: tzinfo) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    header = "missing"
    if log.has_header:
        upto = log.header_timestamp
        header = f"the log up to {iso(upto, zone)}" if upto else "there"
    rows.append(("header", header))
    rows.append(("footer", "there" if log.has_footer else "missing"))
    return rows


def _control_rows(log: LogSummary) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    if log.leader_change_record is not None:
        record = log.leader_change_record
        last = f"{record.data['leaderId']} in epoch {record.epoch}, from offset {record.offset}"
        rows.append(("last leader", f"{last} ({many(log.leader_changes, 'leader change')})"))
    if log.kraft_version_record is not None:
        rows.append(("kraft.version", log.kraft_version_record.data["kRaftVersion"]))
    if log.voters_record is not None:
        voters = ", ".join(
            f"{voter['voterId']} ({voter['voterDirectoryId']})"
            for voter in log.voters_record.data["voters"]
        )
        rows.append(("voters", f"{voters}, at offset {log.voters_record.offset}"))
    return rows


def _transaction_rows(log: LogSummary) -> list[tuple[str, object]]:
    counts = transactions(
        log.committed_transactions, log.aborted_transactions, log.open_transaction_offset
    )
    return [("transactions", counts)] if counts else []
