"""A lost majority: who leads, with whose state, by which method, and what may be lost.

Every plan is carried out on copies of what real Kafka left, and the outcome is read again.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.plan import Action, HostRole, Method, Plan
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import (
    APART,
    EQUAL,
    Quorum,
    batches,
    cut_log,
    flip_in_batch,
    poisoned,
    state_of,
)
from tests.support.places import FIXTURES, PARTITION

pytestmark = pytest.mark.slow


def seed_of(plan: Plan) -> int | None:
    host = plan.host(plan.seed)
    return host.identity.node_id if host is not None else None


def test_nobody_ahead_and_every_broker_seen_is_an_append(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    before = state_of(quorum[1])
    plan = quorum.plan("lost=2,3")
    assert plan.method is Method.APPEND
    assert (plan.seed, [voter.id for voter in plan.voters_after]) == ("node-1", [1])
    quorum.carry_out(plan)
    survey = quorum.survey(1)
    assert survey.end == (161, 1006)
    assert [voter.id for voter in survey.voters] == [1]
    assert survey.voters_offset == 160
    assert (survey.quorum_state.leader_epoch, survey.quorum_state.voted_id) == (1006, -1)
    assert state_of(quorum[1]) == before, "voters are no part of the state"
    assert not (quorum.partition(1) / "leader-epoch-checkpoint").exists()


def test_an_append_changes_no_byte_that_is_there(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    log = quorum.segment(1)
    data = log.read_bytes()
    quorum.carry_out(quorum.plan("lost=2,3"))
    assert log.read_bytes() == data


def test_an_append_takes_the_place_of_a_segment_that_is_torn_from_its_begin(
    tmp_path: Path,
) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    (quorum.partition(1) / f"{160:020}.log").write_bytes(b"torn")
    plan = quorum.plan("lost=2,3")
    assert plan.method is Method.APPEND
    quorum.carry_out(plan)
    survey = quorum.survey(1)
    assert (survey.end, [voter.id for voter in survey.voters]) == ((161, 1006), [1])


def test_new_controllers_are_formatted_for_the_release_of_the_state(tmp_path: Path) -> None:
    """kraftool's newest is not what an older Kafka starts on."""
    plan = Quorum(tmp_path, APART, [2, 11]).plan("lost=3,4")
    commands = [command for step in plan.steps for command in step.commands]
    (command,) = [command for command in commands if command.startswith("kraftool format")]
    assert command.endswith(" -r 4.3-IV0")


def test_a_controller_that_was_not_looked_at_makes_it_a_jump(tmp_path: Path) -> None:
    """Node 1 is no voter any more, and may be ahead, as a broker may."""
    quorum = Quorum(tmp_path, APART, [1, 2, 3, 11])
    cut_log(quorum, 1, 1)
    assert quorum.survey(1).reach <= quorum.survey(3).end.offset
    assert quorum.plan("lost=4", "seed=3", nodes=[2, 3, 11]).method is Method.SNAPSHOT_JUMP


def test_a_broker_that_was_not_looked_at_makes_it_a_jump(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1])
    before = state_of(quorum[1])
    plan = quorum.plan("lost=2,3")
    assert plan.method is Method.SNAPSHOT_JUMP
    quorum.carry_out(plan)
    names = sorted(path.name for path in quorum.partition(1).iterdir())
    assert names == [
        "00000000000001000160-0000001006.checkpoint", "partition.metadata", "quorum-state",
    ]  # fmt: skip
    survey = quorum.survey(1)
    assert survey.end == (1_000_160, 1006)
    assert [voter.id for voter in survey.voters] == [1]
    assert survey.snapshots[0].intact
    assert state_of(quorum[1]) == before


def test_a_survivor_that_is_behind_takes_the_state_of_the_broker_that_is_ahead(
    tmp_path: Path,
) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    cut_log(quorum, 1, 20)
    assert quorum.survey(1).end.offset < 160
    newest = state_of(quorum[11])
    assert state_of(quorum[1]) != newest
    plan = quorum.plan("lost=2,3")
    assert (plan.method, plan.seed) == (Method.SNAPSHOT_JUMP, "node-1")
    assert [ranked.host for ranked in plan.ranking] == ["node-11", "node-1"]
    assert not plan.loss.records
    assert [plan_step.hosts for plan_step in plan.steps if plan_step.action is Action.COPY] == [
        ("node-11", "node-1")
    ]
    commands = [command for step in plan.steps for command in step.commands]
    pack, unpack = next(
        plan_step.commands for plan_step in plan.steps if plan_step.action is Action.COPY
    )
    assert commands.index(pack) < commands.index(unpack)
    for command in (pack, unpack):
        subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    copy = tmp_path / "node-11-data"
    assert sorted(path.name for path in copy.iterdir()) == [PARTITION, "meta.properties"]
    for file in filter(Path.is_file, copy.rglob("*")):
        assert file.read_bytes() == (quorum[11] / file.relative_to(copy)).read_bytes()
    (apply,) = (command for command in commands if "recover apply" in command)
    assert apply.endswith(" --source node-11=node-11-data")
    assert commands.index(unpack) < commands.index(apply)
    quorum.carry_out(plan)
    assert state_of(quorum[1]) == newest
    assert quorum.survey(1).end.offset == 1_000_160


def test_to_give_up_what_a_broker_has_more_wants_its_word(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    cut_log(quorum, 1, 20)
    own = state_of(quorum[1])
    with pytest.raises(PlanRefused, match="records from offset") as refused:
        quorum.plan("lost=2,3", "state=1")
    assert "--accept ahead" in refused.value.hint
    plan = quorum.plan("lost=2,3", "state=1", accept=["ahead"])
    assert [risk.word for risk in plan.risks] == ["ahead"]
    (lost,) = plan.loss.records
    assert (lost.host, lost.end_offset) == ("node-11", 160)
    assert sum(record_count.count for record_count in lost.types) == 160 - lost.first_offset
    quorum.carry_out(plan)
    assert state_of(quorum[1]) == own


def test_the_epoch_decides_before_the_offset(tmp_path: Path) -> None:
    """A node with the longer log of an older epoch loses against one with the newer epoch."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 11])
    path = quorum.segment(1)
    last_epoch = batches(path)[-1].epoch
    older = next(batch for batch in batches(path) if batch.epoch == last_epoch)
    data = bytearray(path.read_bytes())
    for batch in batches(path):
        if batch.epoch == last_epoch:
            data[batch.position + 12 : batch.position + 16] = (last_epoch - 1).to_bytes(4, "big")
    path.write_bytes(bytes(data))
    cut_log(quorum, 2, 3)
    for snapshot in quorum.snapshots(1):
        if int(snapshot.name[:20]) > older.base_offset:
            snapshot.unlink()
    one, two = quorum.survey(1).end, quorum.survey(2).end
    assert one.offset > two.offset
    assert one.epoch < two.epoch
    plan = quorum.plan("lost=3", "seed=2", nodes=[1, 2], accept=["ahead", "diverged"])
    assert [ranked.host for ranked in plan.ranking] == ["node-2", "node-1"]


def test_a_tail_that_a_later_leader_did_not_have_is_not_lost(tmp_path: Path) -> None:
    """Node 1 led before, and wrote what nobody took; the others have a later epoch."""
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    path = quorum.segment(1)
    later = [batch for batch in batches(path) if batch.epoch == 6]
    head = path.read_bytes()[: later[0].position]
    tail = later[-1]
    offset = later[0].base_offset
    own = b"".join(
        (offset + number).to_bytes(8, "big") + tail.data[8:12] + (5).to_bytes(4, "big")
        + tail.data[16:]
        for number in range(3)
    )  # fmt: skip
    assert tail.last_offset == tail.base_offset
    path.write_bytes(head + own)
    for snapshot in quorum.snapshots(1):
        if int(snapshot.name[:20]) > offset:
            snapshot.unlink()
    assert quorum.survey(1).end == (offset + 3, 5)
    plan = quorum.plan("lost=2,3")
    assert not plan.loss.records
    assert not plan.risks
    assert plan.why_seed


def test_damage_counts_against_a_survivor(tmp_path: Path) -> None:
    """It is ranked by what can be trusted, not by what can be read."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2])
    for snapshot in quorum.snapshots(1):
        snapshot.unlink()
    damaged = flip_in_batch(quorum.segment(1), 60)
    cut_log(quorum, 2, 4)
    plan = quorum.plan("lost=3", "seed=2", accept=["ahead"], is_collected=True)
    assert [(ranked.host, ranked.intact) for ranked in plan.ranking] == [
        ("node-2", True), ("node-1", False),
    ]  # fmt: skip
    assert plan.ranking[1].end_offset == damaged.base_offset


def test_a_seed_without_its_name_is_told_it(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    wanted = quorum.survey(1).identity.directory_id
    path = quorum[1] / "meta.properties"
    path.write_text(path.read_text().replace(f"directory.id={wanted}", ""))
    with pytest.raises(KraftoolError, match="cannot be the seed") as refused:
        quorum.plan("lost=2,3", "seed=1")
    assert f"directory.id={wanted}" in refused.value.hint


def test_a_voter_is_lost_only_if_somebody_says_so(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    with pytest.raises(KraftoolError, match="voters 2 and 3 were not given") as refused:
        quorum.plan()
    assert "--set lost=2,3" in refused.value.hint
    with pytest.raises(KraftoolError, match="voter 3 was not given"):
        quorum.plan("lost=2")


def test_the_verdict_is_unbounded_where_the_lost_are_a_majority(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    loss = quorum.plan("lost=2,3").loss
    assert loss.verdict is LossBound.UNBOUNDED
    assert "unbounded and undetectable" in loss.text


def test_nothing_is_lost_where_no_voter_is(tmp_path: Path) -> None:
    """One of three is to lead alone though all are there: each committed record is on one."""
    quorum = Quorum(tmp_path, APART, [2, 3, 4, 11])
    plan = quorum.plan("seed=3")
    assert plan.loss.verdict is LossBound.NONE


def test_a_voter_that_was_wiped_has_nothing_of_what_was_committed(tmp_path: Path) -> None:
    """It is not said to be lost, and its log is: with the one that is, a majority's records."""
    quorum = Quorum(tmp_path, APART, [2, 3, 4, 11])
    for path in quorum.partition(4).iterdir():
        path.unlink()
    with pytest.raises(PlanRefused, match="voter 4 has an empty log"):
        quorum.plan("lost=2", "seed=3", nodes=[3, 4, 11])
    plan = quorum.plan("lost=2", "seed=3", nodes=[3, 4, 11], accept=["ahead"])
    assert plan.loss.verdict is LossBound.UNBOUNDED
    (off,) = [step for step in plan.steps if step.action is Action.KEEP_STOPPED]
    assert set(off.hosts) == {"node-2", "node-4"}


def test_voters_that_are_left_stay_off_too(tmp_path: Path) -> None:
    """Two of three that are not the seed elect each other, lost or not."""
    plan = Quorum(tmp_path, APART, [2, 3, 4, 11]).plan("seed=3")
    (off,) = [step for step in plan.steps if step.action is Action.KEEP_STOPPED]
    assert set(off.hosts) == {"node-2", "node-4"}
    assert plan.summary[0].startswith("No majority of the voters 2, 3 and 4 is lost")


def test_what_the_seed_has_more_than_the_state_that_is_asked_for_wants_its_word(
    tmp_path: Path,
) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    cut_log(quorum, 11, 4)
    end = quorum.survey(11).end.offset
    with pytest.raises(PlanRefused, match=f"node-1 has .* from offset {end} on"):
        quorum.plan("lost=2,3", "state=11")


def test_whole_batches_behind_the_damage_of_the_survivor_are_told(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1])
    for snapshot in quorum.snapshots(1):
        snapshot.unlink()
    damaged = flip_in_batch(quorum.segment(1), 60)
    with pytest.raises(PlanRefused, match=f"from offset {damaged.base_offset} on"):
        quorum.plan("lost=2,3")
    plan = quorum.plan("lost=2,3", accept=["ahead"])
    assert plan.loss.verdict is LossBound.UNBOUNDED
    assert plan.loss.records[0].end_offset == 160


@pytest.mark.parametrize(
    ("lost", "words"),
    [("2,3", "the directory of voter 2 was given"), ("3,7", "node 7 is not a voter")],
)
def test_only_a_voter_that_is_not_there_is_lost(tmp_path: Path, lost: str, words: str) -> None:
    with pytest.raises(KraftoolError, match=words):
        Quorum(tmp_path, EQUAL, [1, 2, 11]).plan(f"lost={lost}")


def test_every_old_voter_is_in_quarantine_with_its_way_back(tmp_path: Path) -> None:
    plan = Quorum(tmp_path, EQUAL, [1, 11]).plan("lost=2,3")
    assert [node.node_id for node in plan.quarantine] == [2, 3]
    assert all("add-controller" in node.returns for node in plan.quarantine)
    assert all(node.directory_id for node in plan.quarantine)


def test_everything_is_stopped_first_and_brokers_come_last(tmp_path: Path) -> None:
    plan = Quorum(tmp_path, EQUAL, [1, 11]).plan("lost=2,3")
    actions = [step.action for step in plan.steps]
    assert actions[0] is Action.STOP
    assert actions[-2:] == [Action.RESTART, Action.CHECK]
    assert actions.index(Action.APPLY) < actions.index(Action.START)
    assert plan.steps[0].hosts == ("node-1", "node-11")


def test_a_new_cluster_id_is_on_every_kept_node(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    paths = [str(quorum[1]), str(quorum[11])]
    request = with_settings(PlanRequest(surveys=(), now_ms=1, fence=True), ["lost=2,3"])
    request = replace(read_quorum(paths, now_ms=1).asked(request), cluster_id="fenced")
    plan = plan_for(request)
    assert plan.method is Method.SNAPSHOT_JUMP
    quorum.carry_out(plan)
    for node in (1, 11):
        identity = quorum.survey(node).identity
        assert (identity.cluster_id, identity.node_id) == ("fenced", node)
        assert identity.directory_id


def test_the_old_cluster_id_is_no_fence(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    survey = quorum.survey(1)
    request = PlanRequest(
        surveys=(survey, quorum.survey(11)),
        now_ms=1,
        fence=True,
        lost=frozenset({2, 3}),
        cluster_id=survey.identity.cluster_id,
    )
    with pytest.raises(KraftoolError, match="fences nothing off"):
        plan_for(request)


def test_all_controllers_lost_a_broker_has_the_state(tmp_path: Path) -> None:
    """A new, empty controller takes it."""
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    for path in quorum.partition(1).iterdir():
        path.unlink()
    newest = state_of(quorum[11])
    plan = quorum.plan("lost=1,2,3", "seed=1")
    assert plan.host("node-1") is not None
    quorum.carry_out(plan)
    assert state_of(quorum[1]) == newest
    assert quorum.survey(1).end.offset == 1_000_160


def test_a_roll_back_has_the_state_of_that_offset(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3, 11])
    then = state_of(quorum[1], at=145)
    with pytest.raises(PlanRefused, match="from offset 145 on is given up"):
        quorum.plan("rollback=145", "seed=1")
    plan = quorum.plan("rollback=145", "seed=1", accept=["rollback", "ahead"])
    quorum.carry_out(plan)
    assert state_of(quorum[1]) == then
    assert quorum.survey(1).end == (1_000_160, 1006)


def test_static_voters_are_a_setting_on_every_node(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, "kafka-3.7.2/static-quorum", [1, 2, 11])
    plan = quorum.plan("lost=2,3", "endpoint.1=CONTROLLER://one:9093", nodes=[1, 11])
    assert (plan.method, plan.kraft_version) == (Method.STATIC_PROPERTIES, 0)
    for host in plan.hosts:
        assert [(setting.key, setting.value) for setting in host.settings] == [
            ("controller.quorum.voters", "1@one:9093")
        ]
    assert all("one at a time" in node.returns for node in plan.quarantine)
    (configure,) = (step for step in plan.steps if step.action is Action.CONFIGURE)
    assert "With Kafka before 3.9, also move" in configure.text, "a broker of 3.7.2 exits on it"
    quorum.carry_out(plan)
    survey = quorum.survey(1)
    assert survey.quorum_state.data_version == 0
    assert survey.quorum_state.leader_epoch > 1000


def test_static_voters_are_rolled_back_by_a_jump_though_nobody_is_ahead(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, "kafka-3.7.2/static-quorum", [1, 11])
    then = state_of(quorum[1], at=187)
    settings = ("lost=2,3", "rollback=187", "endpoint.1=CONTROLLER://one:9093")
    quorum.carry_out(quorum.plan(*settings, accept=["rollback", "ahead"]))
    assert state_of(quorum[1]) == then
    assert quorum.survey(1).end.offset == 1_000_201


def test_an_epoch_behind_damage_counts(tmp_path: Path) -> None:
    """The new epoch is above those of whole batches, too, that cannot be trusted."""
    quorum = Quorum(tmp_path, EQUAL, [1])
    (quorum.partition(1) / "quorum-state").write_bytes(b"garbage")
    for snapshot in quorum.snapshots(1):
        snapshot.unlink()
    flip_in_batch(quorum.segment(1), 10)
    survey = quorum.survey(1)
    assert survey.log is not None
    assert survey.log.last_epoch < survey.highest_epoch == 6


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (("lost=2,3", "seed=9"), "no directory of node 9"),
        (("lost=2,3", "state=9"), "no state of node 9"),
        (("lost=2,3", "epoch=3"), "above 6"),
        (("lost=2,3", "offset=100"), "above 160"),
        (("lost=2,3", "what=1"), "there is no what"),
        (("lost=two",), "lost does not take"),
        (("lost",), "lost does not take"),
        (("lost=2,3", "endpoint.1=host"), "endpoint.1 does not take"),
        (("lost=2,3", "endpoint.1=A://a:1,a://b:2"), "endpoint.1 does not take"),
        (("lost=2,3", "endpoint.2=CONTROLLER://two:9093"), "node-1 is the only voter"),
        (("lost=2,3", "rebuild=1"), "one voter is to lead alone"),
        (("lost=2,3", "rebuild=1", "from=11"), "one voter is to lead alone"),
        (("lost=2,3", "from=11"), "nothing is to be rebuilt"),
        (("lost=2,3", "poison=100"), "node-1, whose state is used, has no record at offset 100"),
        (("lost=2,3", "cluster.id=AAAAAAAAAAAAAAAAAAAAAg"), "new id of --fence"),
        (("lost=2,3", "cluster.id=a\nnode.id=9"), "cluster.id does not take"),
        (("lost=2,3", "cluster.id=-AAAAAAAAAAAAAAAAAAAAg"), "cluster.id does not take"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, settings: tuple[str, ...], words: str) -> None:
    with pytest.raises(KraftoolError, match=words):
        Quorum(tmp_path, EQUAL, [1]).plan(*settings)


def test_a_record_that_kills_controllers_is_not_in_the_checkpoint(tmp_path: Path) -> None:
    """Nor is it taken along by an append: every controller would die of it again."""
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    before = state_of(quorum[1])
    offset = poisoned(quorum, 1)
    poisoned(quorum, 11)
    for settings in (("lost=2,3",), ("lost=2,3", f"poison={offset}")):
        plan = quorum.plan(*settings)
        assert plan.method is Method.SNAPSHOT_JUMP
        assert any(f"The record at offset {offset} does not fit" in line for line in plan.summary)
    quorum.carry_out(plan)
    assert quorum.survey(1).end == (1_000_162, 1006)
    assert state_of(quorum[1]) == before


def test_another_cluster_is_left_out_and_wants_its_word(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 11])
    foreign = Quorum(tmp_path / "other", APART, [4])
    quorum.directories[4] = foreign[4]
    with pytest.raises(PlanRefused, match="belongs to cluster"):
        quorum.plan("lost=2,3", nodes=[1, 11, 4])
    plan = quorum.plan("lost=2,3", nodes=[1, 11, 4], accept=["other-cluster"])
    assert [host.name for host in plan.hosts] == ["node-1", "node-11"]


def test_an_old_metadata_version_wants_the_release(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, "kafka-3.9.1/dynamic-quorum", [1, 11])
    with pytest.raises(KraftoolError, match="only a lower bound"):
        quorum.plan("lost=3,4")


def test_roles_are_told(tmp_path: Path) -> None:
    plan = Quorum(tmp_path, EQUAL, [1, 11]).plan("lost=2,3")
    assert [host.role for host in plan.hosts] == [HostRole.SEED, HostRole.BROKER]


def test_a_second_log_directory_of_a_broker_is_no_node_to_stop(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, APART, [3, 11])
    shutil.copytree(FIXTURES / APART / "node-11/data-b", tmp_path / "node-11-b")
    quorum.directories[-11] = tmp_path / "node-11-b"
    plan = quorum.plan("lost=2,4", accept=["ahead"])
    assert [host.name for host in plan.hosts if host.identity.node_id == 11] == ["node-11"]
    named = {step.action: step.hosts for step in plan.steps}
    assert named[Action.STOP] == named[Action.CONFIGURE] == ("node-3", "node-11")
