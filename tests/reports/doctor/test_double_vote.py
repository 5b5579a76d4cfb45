"""Two votes of one node in one epoch, and the votes that are none."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import Log, begun, directory_of, found, node, one
from tests.reports.doctor.test_forgotten_vote import granted

CODE = "KT-SIG-DOUBLE-VOTE"


def elected() -> Log:
    log = begun()
    log.control(4, granted(1, 1, 2))
    return log


def voted(path: Path, id: int, whom: int, epoch: int = 4, log: Log | None = None) -> Path:
    vote = (whom, directory_of(whom) if whom > 0 else "A" * 22)
    return node(path, log or elected(), id, epoch=epoch, leader_id=-1, voted=vote)


def test_a_vote_beside_the_one_that_the_leader_lists_is_found(tmp_path: Path) -> None:
    diagnosis = one(CODE, voted(tmp_path / "2", 2, 3))
    assert diagnosis.finding.severity is Severity.ERROR
    assert diagnosis.finding.text.startswith(
        "node 2 voted twice in epoch 4: for 3 by its quorum-state"
    )
    assert (diagnosis.finding.expected, diagnosis.finding.found) == ("1", "3")
    assert diagnosis.evidence[0].offset == 3
    assert diagnosis.commands[0].startswith("cp -a ")


def test_another_nodes_log_shows_it_too(tmp_path: Path) -> None:
    late = voted(tmp_path / "2", 2, 3, log=begun())
    assert one(CODE, late, node(tmp_path / "1", elected(), 1, epoch=4)).directory == str(late)


def test_a_vote_for_the_winner_or_of_another_epoch_is_none(tmp_path: Path) -> None:
    assert not found(CODE, voted(tmp_path / "a", 2, 1))
    assert not found(CODE, voted(tmp_path / "b", 2, 3, epoch=5))
    assert not found(CODE, voted(tmp_path / "c", 2, -1))


def test_who_did_not_vote_for_the_winner_may_have_voted_for_another(tmp_path: Path) -> None:
    assert not found(CODE, voted(tmp_path / "3", 3, 3))
