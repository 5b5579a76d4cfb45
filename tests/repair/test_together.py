"""Several things wrong at once: one mended never leaves another that Kafka would die of.

Every plan is carried out on copies of what real Kafka left, and the outcome is surveyed again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.narration import is_well
from kraftool.repair.plan import Method
from kraftool.repair.survey import Survey
from kraftool.reports.election.read import read_case
from tests.repair.directories import Quorum, batches, flip_in_batch, poisoned, state_of

pytestmark = pytest.mark.slow

ALONE = "kafka-4.3.0/static-single"
ENDPOINT = "endpoint.1=CONTROLLER://127.0.0.1:9093"
JUNK = f"{4000:020}-{9:010}.checkpoint"
"""Named beyond the log: Kafka wipes the log for it, and dies."""


def outcome(quorum: Quorum, node_id: int) -> Survey:
    survey = quorum.survey(node_id)
    assert all(live_snapshot.intact for live_snapshot in survey.live_snapshots)
    assert not survey.topic_id_complaint
    assert not survey.stopping
    return survey


def damaged_before_its_snapshot(quorum: Quorum, node_id: int) -> None:
    newest = int(quorum.snapshots(node_id)[-1].name[:20])
    path = quorum.segment(node_id)
    number = max(at for at, batch in enumerate(batches(path)) if batch.last_offset < newest)
    flip_in_batch(path, number)


def test_a_rest_is_not_kept_beside_a_junk_snapshot(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, ALONE, [1])
    damaged_before_its_snapshot(quorum, 1)
    (quorum.partition(1) / JUNK).write_bytes(b"junk")
    plan = quorum.plan()
    assert plan.cases == ("rest-kept",)
    quorum.carry_out(plan)
    survey = outcome(quorum, 1)
    assert is_well(survey)
    assert survey.log is not None
    assert survey.log.start_offset == survey.whole_snapshots[-1].offset


def test_a_snapshot_that_is_left_alone_is_not_left_beside_a_junk_one(tmp_path: Path) -> None:
    """Damage before the newest snapshot, and behind it."""
    quorum = Quorum(tmp_path, ALONE, [1])
    damaged_before_its_snapshot(quorum, 1)
    flip_in_batch(quorum.segment(1), -1)
    (quorum.partition(1) / JUNK).write_bytes(b"junk")
    plan = quorum.plan(accept=["ahead"])
    assert plan.cases == ("snapshot-only",)
    quorum.carry_out(plan)
    assert [live_snapshot.name for live_snapshot in outcome(quorum, 1).live_snapshots][-1] != JUNK


def test_a_log_is_not_cut_beside_a_junk_snapshot(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, ALONE, [1])
    for snapshot in quorum.snapshots(1):
        snapshot.unlink()
    flip_in_batch(quorum.segment(1), -2)
    (quorum.partition(1) / JUNK).write_bytes(b"junk")
    plan = quorum.plan(accept=["ahead"])
    assert plan.cases == ("cut", "junk-snapshot")
    quorum.carry_out(plan)
    assert is_well(outcome(quorum, 1))


@pytest.mark.parametrize("damaged", [False, True], ids=["append", "jump"])
def test_a_seed_is_one_that_kafka_starts_on(quorum: Quorum, damaged: bool) -> None:
    """A junk snapshot, a wrong topic id, and a name at which Kafka's start ends."""
    if damaged:
        poisoned(quorum, 1)
    partition = quorum.partition(1)
    (partition / JUNK).write_bytes(b"junk")
    (partition / "partition.metadata").write_text("version: 0\n")
    (partition / f"{7:020}.log.swap").write_bytes(b"")
    (partition / "x.log").write_bytes(b"")
    plan = quorum.plan("lost=2,3", nodes=[1, 11])
    assert plan.method is (Method.SNAPSHOT_JUMP if damaged else Method.APPEND)
    quorum.carry_out(plan)
    survey = outcome(quorum, 1)
    assert survey.whole_snapshots[-1].name != JUNK
    assert survey.end.epoch == 1000 + max(6, 9), "beyond what the junk was named, too"
    names = {path.name for path in partition.iterdir()}
    assert not names & {JUNK, "x.log", f"{7:020}.log.swap", "partition.metadata"}


def test_a_stray_name_goes_once_where_the_log_is_made_anew(quorum: Quorum) -> None:
    """For two reasons, which are no two repairs."""
    for snapshot in quorum.snapshots(2):
        snapshot.unlink()
    flip_in_batch(quorum.segment(2), 20)
    strange = [quorum.partition(2) / name for name in (f"{7:020}.log.swap", "x.log")]
    for path in strange:
        path.write_bytes(b"")
    plan = quorum.plan()
    assert plan.cases == ("rebuilt", "stray-names")
    quorum.carry_out(plan)
    assert is_well(outcome(quorum, 2))
    assert not any(path.exists() for path in strange)


def test_epochs_are_made_anew_where_a_snapshot_goes(tmp_path: Path) -> None:
    """Kafka cut them to the snapshot's offset; without it the log begins earlier again."""
    quorum = Quorum(tmp_path, "kafka-4.3.0/log-cleaning", [1])
    newest = quorum.snapshots(1)[-1]
    newest.chmod(0o644)
    newest.write_bytes(newest.read_bytes()[:200])
    plan = quorum.plan(accept=["ahead"])
    assert plan.cases == ("snapshot-damaged",)
    quorum.carry_out(plan)
    assert not (quorum.partition(1) / "leader-epoch-checkpoint").exists()
    assert is_well(quorum.survey(1))


def test_what_is_wrong_beside_what_was_asked_for_is_told(quorum: Quorum) -> None:
    flip_in_batch(quorum.segment(2), 3)
    plan = quorum.plan("rebuild=3")
    lines = [line for line in plan.summary if line.startswith("This plan, which")]
    assert len(lines) == 1
    assert "node-2: its log is damaged" in lines[0]
    assert not any("does not repair this" in line for line in quorum.plan("rebuild=2").summary)


def test_what_is_wrong_with_what_was_asked_for_is_told_too(quorum: Quorum) -> None:
    """New endpoints leave what is junk where it is; what they write anew is no more wrong."""
    (quorum.partition(2) / JUNK).write_bytes(b"junk")
    (quorum.partition(3) / "quorum-state").unlink()
    plan = quorum.plan("endpoint.1=CONTROLLER://new:9093")
    assert plan.cases == ("endpoints",)
    (line,) = [line for line in plan.summary if line.startswith("This plan, which")]
    assert f"node-2: {JUNK} has a name beyond the log's end" in line
    assert "Plan again for that, before you start the node" in line


def test_a_broker_that_would_not_start_is_told_where_a_majority_is_lost(quorum: Quorum) -> None:
    assert not any(
        "does not repair this" in line for line in quorum.plan("lost=2,3", nodes=[1, 11]).summary
    )
    (quorum.partition(11) / JUNK).write_bytes(b"junk")
    line = quorum.plan("lost=2,3", nodes=[1, 11]).summary[-1]
    assert "This plan, which is about who leads, does not repair this: node-11" in line
    plan = quorum.plan(nodes=[11])
    assert plan.cases == ("junk-snapshot",), "it is mended by itself"


def test_a_rebuild_without_a_source_is_refused(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, ALONE, [1])
    (quorum.partition(1) / "quorum-state").unlink()
    with pytest.raises(KraftoolError, match="no other directory given here is whole") as refused:
        quorum.plan("rebuild=1")
    assert "--set from=ID" in refused.value.hint


def test_of_two_damaged_directories_the_one_that_goes_further_is_mended_first(
    quorum: Quorum,
) -> None:
    """Else the shorter one would be cut to nothing, though the other can be its source."""
    for snapshot in quorum.snapshots(2):
        snapshot.unlink()
    quorum.segment(2).write_bytes(quorum.segment(1).read_bytes())
    flip_in_batch(quorum.segment(2), 5)
    damaged_before_its_snapshot(quorum, 3)
    with pytest.raises(KraftoolError, match="node-3 is damaged too") as refused:
        quorum.plan("lost=1", nodes=[2, 3], accept=["ahead"], is_collected=True)
    assert "with node-3 alone" in refused.value.hint
    quorum.carry_out(quorum.plan(nodes=[3]))
    again = quorum.plan("lost=1", nodes=[2, 3])
    assert again.cases == ("rebuilt",)
    quorum.carry_out(again)
    assert quorum.survey(2).end == quorum.survey(3).end == (160, 6)


@pytest.mark.parametrize(
    ("fixture", "settings"),
    [("kafka-4.3.0/upgrade", ["lost=2,3"]), ("kafka-4.3.0/log-cleaning", ["seed=1", ENDPOINT])],
)
@pytest.mark.parametrize("is_collected", [False, True])
def test_a_voter_leads_with_all_that_its_damaged_log_has_behind_a_snapshot(
    tmp_path: Path, fixture: str, settings: list[str], is_collected: bool
) -> None:
    """What mending it alone keeps is not given up because a majority is lost."""
    quorum = Quorum(tmp_path, fixture, [1])
    before = state_of(quorum[1])
    end = quorum.survey(1).end
    flip_in_batch(min(quorum.partition(1).glob("*.log")), 5)
    assert quorum.survey(1).end.offset < end.offset
    plan = quorum.plan(*settings, is_collected=is_collected)
    assert plan.cases == ("majority-lost", "rest-kept")
    assert not plan.loss.records
    assert not plan.risks
    quorum.carry_out(plan)
    outcome(quorum, 1)
    assert state_of(quorum[1]) == before


def test_the_voters_are_those_of_the_snapshot_that_the_rest_begins_at(tmp_path: Path) -> None:
    """Older snapshots are below the log's start, where Kafka removes them."""
    quorum = Quorum(tmp_path, "kafka-4.3.0/dynamic-quorum", [3])
    flip_in_batch(quorum.segment(3), 20)
    plan = quorum.plan()
    assert plan.cases == ("rest-kept",)
    (node,) = read_case([str(quorum[3])]).nodes
    assert node.voters.ids == {2, 3, 4}, "not those of the log before the damage"
    quorum.carry_out(plan)
    (node,) = read_case([str(quorum[3])]).nodes
    assert node.voters.ids == {2, 3, 4}
