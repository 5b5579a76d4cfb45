"""The shape of `dump -o json`, schemaVersion 1: docs/schemas/dump.json describes it.

Owns the names of the document's members. Values keep the units of the reports: offsets, bytes,
epoch milliseconds.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from kraftool.decoders.checkpoint_files import LeaderEpochCheckpoint, PartitionMetadata
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.quorum_state import QuorumState, QuorumStateFile
from kraftool.decoders.wire import ZERO_UUID
from kraftool.raft.endpoints import shown_endpoints
from kraftool.reports.directory import DirectoryReport, DumpReport
from kraftool.reports.file_report import Content, EntryList, FileReport, PlainText, Settings
from kraftool.reports.log_summary import ControlRecord, LogSummary, TypeCount
from kraftool.reports.metadata_summary import SeenVoters
from kraftool.reports.plain_json import camel, finding_counts, finding_object, plain

SCHEMA_VERSION = 1


def document(report: DumpReport) -> dict[str, Any]:
    """The whole report."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "path": plain(report.path),
        "pathKind": report.kind.value,
        "directories": [_directory(each) for each in report.directories],
        "files": [_file(each) for each in report.files],
        "findings": [finding_object(each) for each in report.findings],
        "findingCounts": finding_counts(report.all_findings),
    }


def _directory(report: DirectoryReport) -> dict[str, Any]:
    summary = report.summary
    return {
        "path": plain(report.path),
        "lock": {"state": report.lock.value, "pid": report.lock_pid},
        "node": plain(summary.node),
        "quorumState": _quorum_state(summary.quorum_state),
        "log": plain(summary.log),
        "leaderChange": plain(summary.leader_change),
        "kraftVersion": plain(summary.kraft_version),
        "voters": _voters(summary.voters),
        "features": plain(summary.features),
        "snapshots": plain(summary.snapshots),
        "transactions": plain(summary.transactions),
        "brokers": list(summary.brokers),
        "controllers": list(summary.controllers),
        "recordTypes": _types(summary.types),
        "snapshotRecordTypes": _types(summary.snapshot_types),
        "folders": plain(report.folders),
        "files": [_file(each) for each in report.files],
        "findings": [finding_object(each) for each in report.findings],
    }


def _voters(voters: SeenVoters | None) -> dict[str, Any] | None:
    if voters is None:
        return None
    none = ZERO_UUID if voters.is_recorded else None
    return {
        "source": voters.source.value,
        "voters": [
            {
                "id": each.id,
                "directoryId": each.directory_id or none,
                "endpoints": plain(shown_endpoints(each.endpoints)),
                "kraftVersions": list(each.kraft_version) if voters.is_recorded else None,
            }
            for each in voters.voters
        ],
        "offset": voters.offset,
        "file": plain(voters.file),
    }


def _file(report: FileReport) -> dict[str, Any]:
    return {
        "file": plain(report.name),
        "path": plain(report.path),
        "kind": report.kind.value,
        "state": report.state.name.lower(),
        "byName": report.by_name,
        "size": report.size,
        "content": _content(report.content),
    }


def _content(content: Content | None) -> dict[str, Any] | None:
    match content:
        case None:
            return None
        case LogSummary():
            return _log(content)
        case QuorumStateFile():
            return {
                "accepted": content.accepted,
                "state": _quorum_state(content.state),
                "members": [
                    {"name": each.name, "json": plain(each.json_text), "position": each.position}
                    for each in content.fields
                ],
            }
        case MetaProperties():
            meta: dict[str, Any] = plain(content)
            return {**meta, "unknown": _named(content.unknown)}
        case Settings():
            return {"settings": {plain(each.key): plain(each.value) for each in content.entries}}
        case EntryList():
            return {
                "count": content.count,
                "omitted": content.omitted,
                "zeroTail": content.zero_tail,
                "head": plain(content.head),
                "tail": plain(content.tail),
            }
        case LeaderEpochCheckpoint() | PartitionMetadata() | PlainText():
            told: dict[str, Any] = plain(content)
            return told


def _quorum_state(state: QuorumState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    told: dict[str, Any] = plain(state)
    # By their names alone these read as evidence, which they never are.
    dead = {name: told.pop(name) for name in ("clusterId", "appliedOffset", "currentVoters")}
    told["deadFields"] = dead if state.data_version == 0 else None
    told["unknownFields"] = _named(state.unknown_fields)
    return told


_APART = ("types", "leader_change", "kraft_version", "voters", "problems", "walked")
"""Fields of a log's summary that JSON has in another form, or not at all."""


def _log(log: LogSummary) -> dict[str, Any]:
    told: dict[str, Any] = {
        camel(each.name): plain(getattr(log, each.name))
        for each in fields(log)
        if each.name not in _APART
    }
    told["endOffset"], told["intactEndOffset"] = log.end_offset, log.intact_end_offset
    told["recordTypes"] = _types(log.types)
    told["leaderChange"] = _control(log.leader_change)
    told["kraftVersion"] = _control(log.kraft_version)
    told["voters"] = _control(log.voters)
    return told


def _control(record: ControlRecord | None) -> dict[str, Any] | None:
    """A control record with its payload as Kafka's own converter names it."""
    if record is None:
        return None
    return {
        "offset": record.offset,
        "epoch": record.epoch,
        "timestamp": record.timestamp,
        "data": record.data,
    }


def _types(types: tuple[TypeCount, ...]) -> list[dict[str, Any]]:
    return [
        {
            "type": each.type or None,
            "typeId": each.type_id,
            "version": each.version,
            "control": each.is_control,
            "count": each.count,
        }
        for each in types
    ]


def _named(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {plain(name): plain(value) for name, value in pairs}
