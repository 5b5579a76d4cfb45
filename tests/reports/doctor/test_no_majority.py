"""All voters given and too few able to vote; never said while one of them is unknown."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import PARTITION, begun, found, node, one


def quorum(path: Path, *changed: int) -> list[Path]:
    """Three nodes, some of which have another directory id than the voters say."""
    return [
        node(
            path / str(id),
            begun(),
            id,
            directory="Another-directory-idAA" if id in changed else None,
        )
        for id in (1, 2, 3)
    ]


def test_two_of_three_directory_ids_changed_is_no_majority(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-NO-MAJORITY", *quorum(tmp_path, 2, 3))
    assert diagnosis.finding.text.startswith("of 3 voters, 2, 3 cannot vote")
    assert len(diagnosis.evidence) == 2
    assert "Another-directory-idAA" in diagnosis.evidence[0].found
    assert diagnosis.commands[0].startswith("kraftool diff-voters ")


def test_one_of_three_is_no_loss_of_the_majority(tmp_path: Path) -> None:
    assert not found("KT-SIG-NO-MAJORITY", *quorum(tmp_path, 3))


def test_nothing_is_said_while_a_voter_is_not_given(tmp_path: Path) -> None:
    assert not found("KT-SIG-NO-MAJORITY", *quorum(tmp_path, 1, 2)[:2])


def test_a_quorum_state_that_kafka_refuses_counts(tmp_path: Path) -> None:
    paths = quorum(tmp_path, 3)
    (paths[0] / PARTITION / "quorum-state").write_bytes(b"")
    assert "KT-DIR-QUORUM-STATE" in one("KT-SIG-NO-MAJORITY", *paths).evidence[0].found
