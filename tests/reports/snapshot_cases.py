"""Snapshots to break: one of real Kafka's as values, changed and written back.

Owns reading it into values and writing it again with the decoders' encoders.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import BY_ID, ControlRecordType, decode_value, read_key
from kraftool.decoders.framing import decode_record, encode_record
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.segment import scan
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.reports.verify.snapshot_values import SnapshotVerification, VerifiedSnapshot
from kraftool.storage.paths import open_path
from tests.support.places import FIXTURES, PARTITION

NODE = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
SOURCE = NODE / PARTITION / write_checkpoint_name(203, 3)
Value = dict[str, Any]

SCRAM_LOST = {
    "kafka-3.7.2/static-quorum/node-2/data": ({156}, "SCRAM-SHA-256 of alice-b"),
    "kafka-3.9.1/dynamic-quorum/node-3/data": ({122, 173}, "SCRAM-SHA-256 of alice-a"),
    "kafka-3.9.1/upgrade/node-2/data": ({88}, "SCRAM-SHA-256 of alice-a"),
    "kafka-4.1.1/dynamic-quorum/node-4/data": ({98, 159, 223}, "SCRAM-SHA-256 of alice-a"),
    "kafka-4.3.0/dynamic-quorum/node-12/data": ({185}, "SCRAM-SHA-256 of alice-a"),
    "kafka-4.3.0/dynamic-quorum/node-4/data": ({134, 183}, "SCRAM-SHA-256 of alice-a"),
    "kafka-4.4.0/dynamic-quorum/node-4/data": ({103, 164, 228}, "SCRAM-SHA-256 of alice-a"),
    "kafka-4.4.0/upgrade/node-2/data": ({140}, "SCRAM-SHA-256 of alice-a"),
}
"""Where Kafka's own snapshots lack a credential that the log has."""


def batches_of(path: Path) -> list[RecordBatch]:
    data = path.read_bytes()
    parts = scan(lambda at, size: data[at : at + size])
    return [part for part in parts if isinstance(part, RecordBatch)]


class Snapshot:
    """The records of a snapshot, to be changed in place."""

    def __init__(self, source: Path = SOURCE) -> None:
        self.records: list[tuple[str, int, Value]] = []
        self.controls: dict[ControlRecordType, Value] = {}
        self.offset, self.epoch = int(source.name[:20]), int(source.name[21:31])
        for batch in batches_of(source):
            for record in batch.records():
                if batch.is_control:
                    kind = BY_ID[read_key(record.key)]
                    self.controls[kind] = dict(decode_value(kind, record.value)[1])
                else:
                    self.records.append(decode_record(record.value or b""))

    def values(self, name: str, /, **wanted: object) -> list[Value]:
        """The records of a type, those with some fields as wanted."""
        return [
            value
            for record_name, _, value in self.records
            if record_name == name and all(value[key] == item for key, item in wanted.items())
        ]

    def at(self, name: str) -> int:
        """The place of the first record of a type."""
        return next(
            at for at, (record_name, _, _) in enumerate(self.records) if record_name == name
        )

    def last(self, name: str) -> int:
        return max(at for at, (record_name, _, _) in enumerate(self.records) if record_name == name)

    def add(self, name: str, version: int, value: Value, at: int | None = None) -> None:
        """Put a record behind the last of its type, or at a place."""
        if at is None:
            at = self.last(name) + 1
        self.records.insert(at, (name, version, value))

    def again(self, name: str, /, **changed: object) -> Value:
        """Put a changed copy of a type's first record behind its last; return it."""
        _, version, value = self.records[self.at(name)]
        value = {**copy.deepcopy(value), **changed}
        self.add(name, version, value)
        return value

    @property
    def voters(self) -> list[Value]:
        voters: list[Value] = self.controls[ControlRecordType.KRAFT_VOTERS]["voters"]
        return voters

    def frame(self) -> SnapshotFrame:
        header = self.controls[ControlRecordType.SNAPSHOT_HEADER]
        version = self.controls.get(ControlRecordType.KRAFT_VERSION, {"kRaftVersion": 0})
        return SnapshotFrame(
            epoch=self.epoch,
            last_contained_log_timestamp=header["lastContainedLogTimestamp"],
            timestamp=header["lastContainedLogTimestamp"] + 1,
            kraft_version=version["kRaftVersion"],
            voters=self.controls.get(ControlRecordType.KRAFT_VOTERS),
        )

    def chunks(self) -> list[bytes]:
        values = (encode_record(*record) for record in self.records)
        return list(encode_snapshot(values, self.frame()))

    def write(self, folder: Path, change: Callable[[list[bytes]], list[bytes]] = list) -> Path:
        """Write the file under its name; `change` may replace batches."""
        path = folder / write_checkpoint_name(self.offset, self.epoch)
        path.write_bytes(b"".join(change(self.chunks())))
        return path


def findings(*paths: Path, against: Path | None = None, replay: bool = True) -> list[Finding]:
    report = verify_snapshots(
        [open_path(str(path)) for path in paths],
        against=open_path(str(against)) if against is not None else None,
        replay_logs=replay,
    )
    return list(report.all_findings)


def codes(*paths: Path, **options: Any) -> list[str]:
    """Of what is above info, the area left out."""
    return [
        finding.code.removeprefix("KT-SNAP-")
        for finding in findings(*paths, **options)
        if finding.severity is not Severity.INFO
    ]


def the_one(code: str, path: Path) -> Finding:
    """The finding of a code, of which there is one."""
    (finding,) = [finding for finding in findings(path) if finding.code == f"KT-SNAP-{code}"]
    return finding


def verify(*paths: Path, against: Path | None = None, replay: bool = True) -> SnapshotVerification:
    return verify_snapshots(
        [open_path(str(path)) for path in paths],
        against=open_path(str(against)) if against is not None else None,
        replay_logs=replay,
    )


def above_info(report: SnapshotVerification) -> list[Finding]:
    return [finding for finding in report.all_findings if finding.severity is not Severity.INFO]


def states(report: SnapshotVerification) -> dict[int, VerifiedSnapshot]:
    return {snapshot.offset: snapshot for snapshot in report.rows if snapshot.is_state}


def snapshot_of(node: Path, offset: int, epoch: int = 3) -> Path:
    return node / PARTITION / write_checkpoint_name(offset, epoch)
