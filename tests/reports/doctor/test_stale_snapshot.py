"""A snapshot of an earlier epoch beyond the log's end, and one of a later epoch."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import begun, found, leader, level, node, one, snapshot


def with_snapshot(path: Path, offset: int, epoch: int) -> Path:
    log = begun().control(1001, leader(1, (1, 2, 3)))
    made = node(path, log, epoch=1001)
    snapshot(made, offset, level(), epoch=epoch)
    return made


def test_a_snapshot_that_outlived_a_truncation_is_named(tmp_path: Path) -> None:
    path = with_snapshot(tmp_path / "data", 500, 1)
    diagnosis = one("KT-SIG-STALE-SNAPSHOT", path)
    assert diagnosis.finding.offset == 500
    assert diagnosis.commands[0] == f"cp -a {path} {path}.copy"
    assert not any(command.startswith("mv ") for command in diagnosis.commands)
    assert not found("KT-SNAP-AHEAD", path), "Kafka does not wipe the log for this one"


def test_a_snapshot_of_the_same_or_a_later_epoch_is_only_ahead(tmp_path: Path) -> None:
    for epoch in (1001, 1002):
        path = with_snapshot(tmp_path / str(epoch), 500, epoch)
        assert not found("KT-SIG-STALE-SNAPSHOT", path)
        one("KT-SNAP-AHEAD", path)


def test_an_older_snapshot_within_the_log_is_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-STALE-SNAPSHOT", with_snapshot(tmp_path / "data", 3, 1))
