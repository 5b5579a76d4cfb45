"""More than 1000 records behind in one epoch, 1000 of them, and behind in an earlier epoch."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import STAMP, Log, begun, found, node, one


def ends(path: Path, id: int, records: int, epoch: int = 1) -> Path:
    log: Log = begun()
    for _ in range(records):
        log.noops(epoch, 1, stamp=STAMP + 1000)
    return node(path, log, id, epoch=epoch)


def test_a_follower_1001_records_behind_is_named(tmp_path: Path) -> None:
    behind = ends(tmp_path / "a", 1, 1)
    diagnosis = one("KT-SIG-LAG", behind, ends(tmp_path / "b", 2, 1002))
    assert (diagnosis.finding.file, diagnosis.finding.found, diagnosis.finding.expected) == (
        str(behind),
        "4",
        "1005",
    )
    assert "describe --replication" in diagnosis.commands[0]


def test_a_thousand_records_or_another_epoch_are_fine(tmp_path: Path) -> None:
    near = ends(tmp_path / "a", 1, 2)
    assert not found("KT-SIG-LAG", near, ends(tmp_path / "b", 2, 1002))
    assert not found("KT-SIG-LAG", near, ends(tmp_path / "c", 2, 3000, epoch=2))


def test_offsets_behind_a_gap_are_no_records(tmp_path: Path) -> None:
    whole = ends(tmp_path / "a", 1, 10)
    log: Log = begun().noops(1, 10)
    log.end += 5000
    assert not found("KT-SIG-LAG", whole, node(tmp_path / "b", log.noops(1, 1), 2))
