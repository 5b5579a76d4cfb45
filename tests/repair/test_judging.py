"""What recover says of a quorum that has a majority, and in which a start may lose records."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.raft.names import VoterSet
from kraftool.repair.judging import judge
from kraftool.repair.plan import Action, Method
from kraftool.repair.ranking import hosts_of, ranked
from kraftool.repair.refusal import PlanRefused
from kraftool.reports.election.assessment import LossBound, assess
from kraftool.reports.election.read import read_case
from tests.repair.directories import APART, EQUAL, Quorum, batches, cut_log, flip_in_batch


def lagging(tmp_path: Path) -> Quorum:
    """Static voters 1, 2 and 3: node 2 ends before node 1, and node 3 is gone."""
    quorum = Quorum(tmp_path, "kafka-3.7.2/static-quorum", [1, 2])
    cut_log(quorum, 2, 20)
    return quorum


def test_a_new_node_and_a_laggard_must_not_elect_each_other(tmp_path: Path) -> None:
    # The good node and the laggard start first; else the new, empty node votes for the laggard.
    plan = lagging(tmp_path).plan("lost=3")
    assert plan.method is Method.NONE
    assert not plan.summary[0].startswith("No action needed")
    assert "start 1 and 2 before voter 3 or its replacement" in plan.summary[0]
    assert plan.loss.verdict is LossBound.POSSIBLE, "the laggard may be an old copy"
    assert plan.loss.text.startswith(
        "possible: nothing is lost, if the controllers start in the order of the steps, unless a"
        " directory is an old copy"
    )
    starts = [step.hosts for step in plan.steps if step.action is Action.START]
    assert starts[0] == ("node-1", "node-2")


def older_copies(tmp_path: Path) -> Quorum:
    """Node 1 was stopped, nodes 2 and 3 are older copies than that, broker 11 lagged."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3, 11])
    for node, count in {1: 10, 2: 14, 3: 14, 11: 5}.items():
        cut_log(quorum, node, count)
    return quorum


def test_a_seed_drops_no_refusal_where_voters_forgot(tmp_path: Path) -> None:
    quorum = older_copies(tmp_path)
    end = quorum.survey(11).end.offset
    beyond = f"committed records from offset {end} on may exist that no directory shows"
    with pytest.raises(PlanRefused, match=beyond) as caught:
        quorum.plan("seed=1")
    assert "voter 3 lacks records up to offset" in caught.value.message
    assert "--accept ahead" in caught.value.hint
    plan = quorum.plan("seed=1", accept=["ahead"])
    assert plan.loss.verdict is LossBound.UNBOUNDED
    assert [risk.word for risk in plan.risks] == ["ahead"]
    with pytest.raises(PlanRefused):
        quorum.plan()


def test_two_followers_that_were_rolled_back_by_a_moment_are_no_laggards(tmp_path: Path) -> None:
    """A copy that is a second old looks as a follower does that lagged."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    leader = 3
    for node in {1, 2, 3} - {leader}:
        cut_log(quorum, node, 1)
    ends = {voter: quorum.survey(voter).log for voter in (1, 3)}
    assert ends[1] is not None
    assert ends[3] is not None
    assert 0 <= ends[3].last_timestamp_ms - ends[1].last_timestamp_ms < 6000
    plan = quorum.plan()
    assert plan.method is Method.NONE
    assert not plan.summary[0].startswith("No action needed")
    assert "the order of starts matters: start" in plan.summary[0]
    starts = [step.hosts for step in plan.steps if step.action is Action.START]
    assert f"node-{leader}" in starts[0]
    assert len(starts[0]) == 2


def test_a_torn_tail_beside_an_emptied_voter_may_have_been_more(tmp_path: Path) -> None:
    """After a crash a torn tail holds nothing that was confirmed. Where another voter lost its log,
    something else went wrong, and the two may have committed what the third does not have. Nothing
    that any directory has is given up, so that the plan needs no word."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    log = quorum.segment(2)
    log.write_bytes(log.read_bytes() + bytes(7) + b"\x01")
    assert quorum.plan().loss.verdict is LossBound.NONE, "only the torn tail"
    for path in quorum.segment(3).parent.iterdir():
        path.unlink()
    loss = quorum.plan().loss
    assert loss.verdict is LossBound.POSSIBLE
    assert "voter 2 has a torn tail" in loss.text
    assert "voter 3 has an empty log" in loss.text


def test_a_torn_tail_beside_a_lost_voter_is_not_called_harmless(tmp_path: Path) -> None:
    """After a crash it is. But if the log lost its end later, what it confirmed with the lost one
    is in no directory (seeds 12709 and 12803 of the generated incidents)."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2])
    assert quorum.plan("lost=3").loss.verdict is LossBound.NONE
    log = quorum.segment(2)
    log.write_bytes(log.read_bytes() + bytes(7) + b"\x01")
    loss = quorum.plan("lost=3").loss
    assert loss.verdict is LossBound.POSSIBLE
    assert "voter 2 has a torn tail" in loss.text


def test_a_lost_end_beside_a_lost_voter_is_not_called_harmless(tmp_path: Path) -> None:
    """Kafka writes the start of an epoch after the batches before it. So what the checkpoint names
    beyond the end was in the log, and may have been confirmed with the lost voter."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2])
    assert quorum.plan("lost=3").loss.verdict is LossBound.NONE
    checkpoint = quorum.partition(2) / "leader-epoch-checkpoint"
    version, count, *entries = checkpoint.read_text().splitlines()
    last = max(int(entry.split()[0]) for entry in entries)
    beyond = quorum.survey(2).end.offset + 9
    lines = [version, str(int(count) + 1), *entries, f"{last + 1} {beyond}"]
    checkpoint.write_text("\n".join(lines) + "\n")
    loss = quorum.plan("lost=3").loss
    assert loss.verdict is LossBound.POSSIBLE
    assert "voter 2 lost the end of its log, perhaps in a crash: " in loss.text
    assert f"another of its files names offset {beyond}" in loss.text


@pytest.mark.parametrize("has_whole_end", [True, False])
def test_the_judgement_and_the_plan_agree_on_a_lost_log_beside_a_damaged_one(
    tmp_path: Path, has_whole_end: bool
) -> None:
    """Node 3 had no more than its last sound batch, which node 4 has too. If its last bytes are no
    batch, it may have had more."""
    quorum = Quorum(tmp_path, APART, [2, 3, 4])
    for path in (*quorum.partition(2).glob("*.log"), *quorum.snapshots(2)):
        path.unlink()
    segment = quorum.segment(3)
    flip_in_batch(segment, len(batches(segment)) // 2)
    if not has_whole_end:
        segment.write_bytes(segment.read_bytes() + b"no batch" * 99)
    assessment = assess(read_case([str(path) for path in quorum.directories.values()]))
    assert assessment == judge([quorum.survey(node) for node in quorum.directories])
    assert (assessment.loss is LossBound.BOUNDED) is has_whole_end
    assert (assessment.may_be_committed_to == 224) is has_whole_end
    if has_whole_end:
        assert quorum.plan().loss.verdict is LossBound.NONE


def test_the_whole_batches_after_damage_end_with_their_last_record(tmp_path: Path) -> None:
    """Bytes after them that are not a batch add no record."""
    quorum = Quorum(tmp_path, EQUAL, [1])
    for snapshot in quorum.snapshots(1):
        snapshot.unlink()
    segment = quorum.segment(1)
    last = batches(segment)[-1].last_offset
    flip_in_batch(segment, len(batches(segment)) - 4)
    segment.write_bytes(segment.read_bytes() + b"no batch" * 9)
    hosts = hosts_of([quorum.survey(1)], {})
    (host,) = ranked(hosts, VoterSet())
    assert host.note.endswith(f"3 whole batches after it, up to offset {last}")
