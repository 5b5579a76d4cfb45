"""A snapshot has the same findings whether the native module or Python decodes its records."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders import fast_path
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.native_values import NativeValues
from kraftool.reports.verify.snapshot_values import SnapshotVerification
from tests.decoders.log_edits import edited, edited_records
from tests.fuzz.native_cases import pure
from tests.reports.snapshot_cases import SOURCE, Snapshot, verify
from tests.reports.test_verify_snapshot_rules import NEAR, WRONG
from tests.support.places import FIXTURES, distinct

pytestmark = pytest.mark.skipif(
    not fast_path.is_native(), reason="needs the native module: Rust, and make native"
)
SNAPSHOTS = distinct(FIXTURES.rglob("*.checkpoint"))


def _result(report: SnapshotVerification) -> object:
    (directory,) = report.verified
    snapshots = [
        (snapshot.state_hash, snapshot.records, snapshot.findings)
        for snapshot in directory.snapshots
    ]
    return report.all_findings, snapshots


def _same(path: Path) -> object:
    native = _result(verify(path))
    with pure():
        assert _result(verify(path)) == native
    return native


@pytest.mark.parametrize("name", [*WRONG, *NEAR])
def test_of_a_broken_rule(name: str, tmp_path: Path) -> None:
    snapshot = Snapshot()
    change = WRONG[name][1] if name in WRONG else NEAR[name]
    change(snapshot)
    _same(snapshot.write(tmp_path))


def test_of_what_kafka_wrote_and_of_damage_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    read = NativeValues.next

    def noted(self: NativeValues, batch: RecordBatch, at: int, index: int) -> object:
        decoded.append(batch.header.record_count)
        return read(self, batch, at, index)

    monkeypatch.setattr(NativeValues, "next", noted)
    for path in SNAPSHOTS:
        if path.stat().st_size:
            _same(path)
    assert len(decoded) > 100


@pytest.mark.parametrize("seed", range(12))
def test_of_edited_bytes(seed: int, tmp_path: Path) -> None:
    edit = edited_records if seed % 2 else edited
    path = tmp_path / SOURCE.name
    path.write_bytes(edit(SOURCE.read_bytes(), seed))
    _same(path)
