"""Directories from before voters were added and removed, beside those of after."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import Log, begun, found, hosts, node, one

CODE = "KT-SIG-OLD-MAJORITY"


def before() -> Log:
    made = begun()
    made.noops(1, 7)
    return made


def after(*sets: tuple[int, ...]) -> Log:
    made = before()
    for ids in sets:
        made.control(1, hosts(*ids))
        made.noops(1, 2)
    return made


ADDED, REMOVED = (1, 2, 3, 4), (2, 3, 4)


def test_a_majority_of_the_earlier_voters_can_elect_beside_those_of_now(tmp_path: Path) -> None:
    """Node 4 was added and node 1 removed; nodes 1 and 2 are from before both."""
    old = [node(tmp_path / str(id), before(), id) for id in (1, 2)]
    new = [node(tmp_path / str(id), after(ADDED, REMOVED), id) for id in (3, 4)]
    diagnosis = one(CODE, *old, *new)
    finding = diagnosis.finding
    assert finding.severity is Severity.ERROR
    assert finding.text.startswith(
        "1, 2 use the voter set 1, 2, 3 and do not have the later ones since offset 13, 2, 3, 4."
    )
    assert finding.text.endswith("can elect a leader in addition to 3, 4")
    assert (finding.expected, finding.found) == ("2, 3, 4", "1, 2, 3")
    assert "Never start 1" in finding.advice
    assert {str(path) for path in old} <= {evidence.file for evidence in diagnosis.evidence}


def test_one_old_directory_is_no_majority(tmp_path: Path) -> None:
    new = [node(tmp_path / str(id), after(ADDED, REMOVED), id) for id in (2, 3, 4)]
    assert not found(CODE, node(tmp_path / "1", before(), 1), *new)
    assert not found(CODE, node(tmp_path / "1-later", after(ADDED), 1), *new)


def test_one_change_leaves_no_majority_without_it(tmp_path: Path) -> None:
    """Its leader needs most of the earlier voters, so that this one was not committed."""
    old = [node(tmp_path / str(id), before(), id) for id in (1, 2)]
    new = [node(tmp_path / str(id), after(ADDED), id) for id in (3, 4)]
    assert not found(CODE, *old, *new)


def test_a_log_that_goes_further_grants_no_vote(tmp_path: Path) -> None:
    old = node(tmp_path / "1", before(), 1)
    new = [node(tmp_path / str(id), after(ADDED, REMOVED), id) for id in (2, 3, 4)]
    assert not found(CODE, old, *new)


def test_a_set_of_another_history_is_another_rules(tmp_path: Path) -> None:
    other = Log()
    other.data, other.end = begun(7).data, begun(7).end
    new = [node(tmp_path / str(id), after(ADDED, REMOVED), id) for id in (2, 3, 4)]
    assert not found(CODE, node(tmp_path / "7", other, 7), *new)
