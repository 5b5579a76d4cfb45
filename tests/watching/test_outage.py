"""What if nodes were lost: a quorum at rest by what its leaders told, and simulated.

The recordings are of real Kafka quorums; simulate-election's own tests hold the simulation against
real elections.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.reports.election.assessment import QuorumSafety, assess
from kraftool.reports.election.read import read_case
from kraftool.sim.conditions import ConditionError
from kraftool.sim.document import simulate_election_document
from kraftool.sim.report import simulate
from kraftool.sim.verdict import verdict
from kraftool.watching.child_process import apart
from kraftool.watching.outage import (
    OutageQuestion,
    answer,
    case_of_directories,
    case_of_live,
    lost_already,
)
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import Remembering
from kraftool.watching.quorum import quorum_report
from kraftool.watching.task import Task
from tests.client.views import without_controller
from tests.tui.recording import pictures


def _last(name: str) -> Picture:
    return pictures(name)[-1]


def test_directories_are_asked_as_simulate_election_asks_them(fixtures_dir: Path) -> None:
    quorum = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum"
    paths = [str(quorum / f"node-{node_id}" / "data") for node_id in (2, 3, 4)]
    case = case_of_directories(paths, Task())
    question = OutageQuestion(down=frozenset({2}), runs=10, seed=5)
    report = answer(case, question, Task())
    expected = simulate(read_case(paths), question.conditions(case), seed=5, runs=10)
    assert simulate_election_document(report) == simulate_election_document(expected)
    assert simulate_election_document(
        apart(answer, case, question, task=Task())
    ) == simulate_election_document(expected)


def test_a_healthy_quorum_stands_one_loss_and_not_two() -> None:
    picture = _last("healthy")
    case = case_of_live(picture)
    assert case is not None
    assert picture.view is not None
    ends = {voter.replica.id: voter.log_end_offset for voter in picture.view.voters}
    assert {node.id: node.end.offset for node in case.nodes} == ends
    assert lost_already(picture) == frozenset()
    voters = sorted(case.voters.ids)
    assert len(voters) == 3
    for voter in voters:
        report = answer(case, OutageQuestion(down=frozenset({voter}), runs=5), Task())
        assert report.is_fine, voter
        assert voter not in report.leaders
        rest = answer(case, OutageQuestion(down=frozenset(voters) - {voter}, runs=5), Task())
        assert rest.leaders == (), voter


def test_a_record_under_way_is_not_at_risk_while_the_leader_says_what_is_committed() -> None:
    """A voter is listed with a record more than the others at many a look."""
    picture = _last("healthy")
    view = picture.view
    assert view is not None
    assert view.quorum is not None
    mark = view.quorum.high_watermark
    sample = picture.history.samples[-1]
    ends = {key: mark + (key == max(sample.voters)) for key in sample.voters}
    history = replace(picture.history, samples=(replace(sample, ends=ends),))
    seen = replace(picture, history=history)
    assessment = quorum_report(seen).assessment
    assert assessment is not None
    assert assessment.state is QuorumSafety.SAFE
    case = case_of_live(seen)
    assert case is not None
    assert assess(case).state is QuorumSafety.AT_RISK, "without the leader's word"


def test_a_leader_that_was_killed_keeps_the_log_end_that_was_told_last() -> None:
    """The new leader knows nothing of it; in the epoch before, it told its own end."""
    picture = _last("leader-killed")
    case = case_of_live(picture)
    assert case is not None
    assert case.unknown == ()
    assert picture.view is not None
    assert picture.view.quorum is not None
    leader = picture.view.quorum.leader_id
    (lost,) = lost_already(picture)
    assert leader != lost
    old, new = case.by_id[lost].end, case.by_id[leader].end
    assert old.epoch < new.epoch == picture.view.epoch
    assert 0 < old.offset < new.offset
    report = answer(case, OutageQuestion(down=frozenset({lost}), runs=5), Task())
    assert report.is_fine
    assert [loss.leader_id for loss in report.losses] == [lost], "only it lacks what came since"
    assert all(loss.first_offset == old.offset for loss in report.losses)
    assert any(f"{lost} may have more" in note for note in case.notes)


def test_without_a_leader_the_last_one_is_believed_and_its_age_told() -> None:
    picture = _last("no-leader")
    case = case_of_live(picture)
    assert case is not None
    lost = lost_already(picture)
    assert len(lost) == 2
    assert any("no node leads now" in note for note in case.notes)
    assert answer(case, OutageQuestion(down=lost, runs=5), Task()).leaders == ()
    assert answer(case, OutageQuestion(runs=5), Task()).is_elected


def test_without_any_leader_ever_seen_there_is_no_case() -> None:
    bare = Picture(at_ms=1, view=_last("no-leader").view)
    assert case_of_live(bare) is None


def test_voters_that_stopped_fetching_count_as_lost() -> None:
    picture = _last("uncommitted-voter")
    case = case_of_live(picture)
    assert case is not None
    lost = lost_already(picture)
    assert len(lost) == 2
    report = answer(case, OutageQuestion(down=lost, runs=5), Task())
    assert report.leaders == ()
    assert case.voters.majority == 3


def test_a_cut_is_written_as_the_command_has_it() -> None:
    case = case_of_live(_last("healthy"))
    assert case is not None
    first, *others = sorted(case.voters.ids)
    text = f"{first}|{','.join(map(str, others))}"
    report = answer(case, OutageQuestion(partition=text, runs=5), Task())
    assert first not in report.leaders
    assert report.is_elected
    with pytest.raises(ConditionError, match="not a partition"):
        answer(case, OutageQuestion(partition="somewhere"), Task())


def test_a_live_witness_is_no_ordinary_candidate() -> None:
    view = without_controller(leader=1)
    picture = Picture(at_ms=0, view=view, history=Remembering().take(0, view, ()))
    case = case_of_live(picture)
    assert case is not None
    assert [node.id for node in case.nodes if node.is_witness] == [3]
    report = answer(case, OutageQuestion(down=frozenset({1}), runs=5), Task())
    assert report.leaders == (2,)
    assert report.without_controller == ()
    assert report.is_fine
    assert verdict(report).details[0].startswith("Node 3 is a witness: ")
    without = answer(case, OutageQuestion(down=frozenset({3}), runs=5), Task())
    assert without.is_fine
