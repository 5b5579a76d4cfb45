"""A log of which not one record is left, as a disk gives it back after a loss: zeros, or nothing.

Kafka takes that for a torn tail or a new log, and a voter that lost what it had confirmed votes on.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.narration import complaints, is_well
from kraftool.repair.plan import Method
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import Quorum

FIXTURE = "kafka-4.3.0/dynamic-quorum"
"""Voters 2, 3 and 4; each has snapshots up to offset 203, and a log up to 224."""


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, FIXTURE, (2, 3, 4))


@pytest.fixture(params=["zeros", "empty"])
def emptied(request: pytest.FixtureRequest, quorum: Quorum) -> Quorum:
    """The log of node 2."""
    segment = quorum.segment(2)
    size = segment.stat().st_size if request.param == "zeros" else 0
    segment.chmod(0o644)
    segment.write_bytes(bytes(size))
    return quorum


def without_snapshots(quorum: Quorum) -> None:
    for snapshot in quorum.snapshots(2):
        snapshot.chmod(0o644)
        snapshot.write_bytes(bytes(snapshot.stat().st_size))


@pytest.mark.parametrize("snapshots", [True, False])
def test_it_is_made_anew_from_a_voter_that_has_all_that_was_committed(
    emptied: Quorum, snapshots: bool
) -> None:
    if not snapshots:
        without_snapshots(emptied)
    plan = emptied.plan()
    assert plan.method is Method.REBUILD
    assert plan.loss.verdict is LossBound.NONE, "two whole voters of three have it all"
    emptied.carry_out(plan)
    survey = emptied.survey(2)
    assert is_well(survey)
    assert survey.end.offset == 224


def test_what_it_confirmed_is_not_given_up_for_another_that_may_not_have_it(
    emptied: Quorum,
) -> None:
    with pytest.raises(KraftoolError, match="node-3 may lack what was committed in it"):
        emptied.plan(nodes=[2, 3])
    with pytest.raises(KraftoolError, match="has no record left"):
        emptied.plan(nodes=[2])


@pytest.mark.parametrize("lost", [(), ("lost=3,4",)])
def test_nothing_to_go_on_from_is_no_plan(emptied: Quorum, lost: tuple[str, ...]) -> None:
    without_snapshots(emptied)
    with pytest.raises(KraftoolError, match="no directory has any metadata"):
        emptied.plan(*lost, nodes=[2])


def test_a_directory_that_names_no_voters_is_not_taken_for_an_observers(quorum: Quorum) -> None:
    """A log whose first batch is damaged, and no snapshot: nobody says who votes."""
    for path in quorum.partition(2).glob("*.checkpoint"):
        path.unlink()
    segment = quorum.segment(2)
    data = bytearray(segment.read_bytes())
    data[70] ^= 3
    segment.chmod(0o644)
    segment.write_bytes(data)
    for settings in ((), ("lost=3,4",)):
        with pytest.raises(KraftoolError, match="no whole file that was given names the voters"):
            quorum.plan(*settings, nodes=[2])


def test_a_log_that_is_gone_is_a_complaint_where_another_file_shows_it(quorum: Quorum) -> None:
    for path in (quorum.segment(2), *quorum.partition(2).glob("*.checkpoint")):
        path.unlink()
    (complaint,) = complaints(quorum.survey(2))
    assert complaint.startswith("there is no segment of a log, but leader-epoch-checkpoint")
    (quorum.partition(2) / "leader-epoch-checkpoint").unlink()
    assert is_well(quorum.survey(2)), "it may never have had one"
