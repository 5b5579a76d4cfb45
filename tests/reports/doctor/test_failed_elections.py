"""Epochs without a leader: elections that failed, a raised epoch, and a skip or two."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import STAMP, begun, found, leader, node, one


def jump(path: Path, epochs: int, gap_ms: int) -> Path:
    log = begun().control(1 + epochs, leader(2, (1, 2, 3)), stamp=STAMP + gap_ms)
    return node(path / "data", log, epoch=1 + epochs)


def test_forty_failed_elections_in_a_minute_are_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-FAILED-ELECTIONS", jump(tmp_path, 41, 60_000))
    assert diagnosis.finding.severity is Severity.WARNING
    assert "40 elections without a winner in 60.0 s before epoch 42" in diagnosis.finding.text
    assert (diagnosis.finding.offset, diagnosis.finding.found) == (3, "epoch 42")


def test_an_epoch_that_was_raised_by_hand_is_a_note(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-FAILED-ELECTIONS", jump(tmp_path, 1001, 5_000))
    assert diagnosis.finding.severity is Severity.INFO
    assert "raised the epoch by hand" in diagnosis.finding.text


def test_a_few_skipped_epochs_are_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-FAILED-ELECTIONS", jump(tmp_path, 9, 60_000))


def test_one_gap_in_three_nodes_logs_is_told_once(tmp_path: Path) -> None:
    paths = [jump(tmp_path / str(id), 41, 60_000) for id in range(3)]
    assert len(found("KT-SIG-FAILED-ELECTIONS", *paths)) == 1
