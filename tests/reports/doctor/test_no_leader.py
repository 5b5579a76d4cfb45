"""A node that elects for ever, one that is an epoch or two ahead, and one that was left behind."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import begun, found, leader, node, one


def test_an_epoch_far_beyond_the_log_without_a_leader_is_named(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun(), epoch=400, leader_id=-1)
    diagnosis = one("KT-SIG-NO-LEADER", path)
    assert "399 epochs without a leader" in diagnosis.finding.text
    assert "since 2023-11-14 22:13:20 UTC" in diagnosis.finding.text
    assert diagnosis.finding.file.endswith("quorum-state")
    assert diagnosis.evidence[1].offset == 2


def test_a_few_epochs_or_a_known_leader_are_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-NO-LEADER", node(tmp_path / "a", begun(), epoch=5, leader_id=-1))
    assert not found("KT-SIG-NO-LEADER", node(tmp_path / "b", begun(), epoch=400, leader_id=2))


def test_a_node_that_the_quorum_went_on_without_is_not_electing(tmp_path: Path) -> None:
    later = begun().control(400, leader(2, (1, 2, 3)))
    paths = (
        node(tmp_path / "a", begun(), epoch=400, leader_id=-1),
        node(tmp_path / "b", later, 2, epoch=400, leader_id=2),
    )
    assert not found("KT-SIG-NO-LEADER", *paths)
