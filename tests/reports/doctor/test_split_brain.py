"""Two leaders of one epoch, by quorum-state or by the logs, and leaders of two epochs."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import begun, found, leader, node, one


def test_two_quorum_states_with_two_leaders_are_named(tmp_path: Path) -> None:
    log = begun().control(4, leader(1, (1, 2, 3)))
    paths = (
        node(tmp_path / "a", log, 1, epoch=5, leader_id=1),
        node(tmp_path / "b", log, 2, epoch=5, leader_id=2),
    )
    diagnosis = one("KT-SIG-SPLIT-BRAIN", *paths)
    assert diagnosis.finding.text == (
        f"epoch 5 has several leaders: 1 by {paths[0]}; 2 by {paths[1]}"
    )
    assert [evidence.found for evidence in diagnosis.evidence] == [
        "leaderEpoch 5, leaderId 1",
        "leaderEpoch 5, leaderId 2",
    ]
    assert diagnosis.commands[0] == f"cp -a {paths[0]} {paths[0]}.copy"


def test_every_directory_that_says_so_is_named_and_the_leaders_own_first(tmp_path: Path) -> None:
    paths = [
        node(tmp_path / name, begun(), id, epoch=6, leader_id=leads)
        for name, id, leads in (("a", 1, 1), ("b", 2, 3), ("c", 3, 3))
    ]
    diagnosis = one("KT-SIG-SPLIT-BRAIN", *paths)
    assert diagnosis.finding.text.endswith(f": 1 by {paths[0]}; 3 by {paths[2]} and {paths[1]}")
    assert len(diagnosis.evidence) == 3
    assert diagnosis.finding.file.startswith(str(paths[2]))


def test_a_leader_whose_directory_is_not_given_is_named_as_such(tmp_path: Path) -> None:
    paths = [
        node(tmp_path / str(id), begun(), id, epoch=6, leader_id=leads)
        for id, leads in ((1, 1), (2, 3))
    ]
    diagnosis = one("KT-SIG-SPLIT-BRAIN", *paths)
    assert f"; 3 (its own directory is not given) by {paths[1]}" in diagnosis.finding.text


def test_two_logs_with_two_leaders_of_one_epoch_are_named(tmp_path: Path) -> None:
    one_log, other = begun(), begun().copied()
    one_log.control(2, leader(1, (1, 2, 3)))
    other.control(2, leader(3, (1, 2, 3)))
    paths = node(tmp_path / "a", one_log, 1, epoch=1), node(tmp_path / "b", other, 3, epoch=1)
    diagnosis = one("KT-SIG-SPLIT-BRAIN", *paths)
    assert {evidence.offset for evidence in diagnosis.evidence} == {3}


def test_leaders_of_two_epochs_are_fine(tmp_path: Path) -> None:
    paths = (
        node(tmp_path / "a", begun(), 1, epoch=1, leader_id=1),
        node(tmp_path / "b", begun(), 2, epoch=2, leader_id=2),
    )
    assert not found("KT-SIG-SPLIT-BRAIN", *paths)
