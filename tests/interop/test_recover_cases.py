"""The night of two lost controllers on real Kafka, and what else may come with it.

A quorum is made once, struck down under load, and kept: its logs end in different epochs. Each
trial works on a copy of that. What the plan writes is what Kafka's own shell shows of it, before
and after Kafka has run on it.
"""

from __future__ import annotations

import shutil

import pytest

from kraftool.repair.plan import Action, Method
from kraftool.reports.election.assessment import LossBound
from tests.interop import damages, kafka, ondisk, recovering
from tests.interop.nights import Night
from tests.interop.ondisk import batches, differences, segments, trees
from tests.interop.our_nodes import end_of
from tests.interop.recovering import (
    OURS,
    SAID,
    THEIRS,
    Kept,
    kept,
    kraftool,
    return_while_the_leader_dies,
    voters,
)
from tests.interop.rehearsing import Rehearsals
from tests.repair.directories import survey_path

__all__ = ["kept"]
pytestmark = pytest.mark.interop
always, in_soak = recovering.on("kept", always=True), recovering.on("kept")


@always
def test_two_of_three_controllers_are_lost_and_the_survivor_was_behind(kept: Kept) -> None:
    """The broker comes back with everything, and new controllers are added with Kafka's own tool.

    The survivor has an older epoch, and records that nobody took. In between the old majority comes
    back from the dead; in the end the quorum bears the loss of the one that was saved.
    """
    kept.put_back()
    cluster, survivor = kept.cluster, kept.survivor
    night = Night(cluster, kept.controllers, kept.broker, kept.topics)
    lost = night.lose(survivor)
    plan = night.collect_and_plan(survivor, lost)
    assert plan.method is Method.SNAPSHOT_JUMP
    assert plan.loss.verdict is LossBound.UNBOUNDED
    assert plan.ranking[0].host == "node-11", "the broker has the later epoch"
    assert sorted(node.node_id for node in plan.quarantine) == [node.id for node in lost]
    night.do(plan, Action.APPLY)
    cluster.start(survivor)
    assert cluster.wait_leader() is survivor
    cluster.start(night.broker)
    night.do(plan, Action.CHECK)
    night.has_everything()
    cluster.admin("create-topic", topic="after", partitions=1, replication=1)

    # The old majority comes back from the dead: it takes the checkpoint, and votes no more.
    for node in lost:
        shutil.move(node.directory / "lost", node.metadata_log_dir)
    cluster.start(*lost)
    cluster.wait_caught_up(*lost)
    assert voters(cluster) == [survivor.id]
    assert "after" in cluster.admin("list-topics")
    cluster.stop(*lost)

    new = night.add_controllers(survivor)
    assert voters(cluster) == sorted([survivor.id, *(node.id for node in new)])
    epoch = cluster.leader_epoch()
    cluster.kill(survivor)
    assert cluster.wait_leader(above_epoch=epoch) in new
    cluster.admin("create-topic", topic="at-last", partitions=1, replication=1)
    night.topics += ["after", "at-last"]
    night.has_everything()


@in_soak
def test_each_directory_is_damaged_otherwise_and_all_are_mended_at_once(kept: Kept) -> None:
    """One log is made anew from another, and everything else is mended where it lies."""
    kept.put_back()
    [worse, best] = sorted(kept.others, key=end_of)
    for damage in (
        damages.empty_promise,
        damages.garble_epochs,
        damages.foreign_partition,
        damages.put_stray_name,
    ):
        damage(kept.survivor)
    damages.damage_middle_without_snapshots(worse)
    damages.damage_snapshot(best)
    damages.put_junk_snapshot(best)
    damages.lose_meta(kept.broker)
    damages.damage_middle(kept.broker)
    plan = kept.plan(kept.nodes)
    assert set(plan.cases) == {
        "quorum-state",
        "leader-epochs",
        "partition-metadata",
        "stray-names",
        "rebuilt",
        "junk-snapshot",
        "meta-properties",
        "emptied",
    }
    assert plan.loss.verdict is LossBound.NONE
    assert kept.apply(plan) == {node.id for node in kept.nodes}
    kept.cluster.start(*kept.nodes)
    kept.has_everything()
    kept.cluster.wait_caught_up(*kept.nodes)
    assert voters(kept.cluster) == [1, 2, 3]
    kept.assert_tree(kept.tree(best, "struck"), *kept.nodes)


@in_soak
def test_the_old_majority_went_on_apart_and_meets_the_leader_of_a_jump(kept: Kept) -> None:
    """What it committed by itself is gone then; of the recovered quorum nothing is."""
    kept.put_back()
    cluster, survivor = kept.cluster, kept.survivor
    plan = kept.plan_lost(kept.others)
    assert plan.method is Method.SNAPSHOT_JUMP
    kept.apply(plan)
    wanted = kept.planned_tree(plan, survivor) | {SAID: str(OURS)}
    cluster.start(survivor)
    kept.leads(survivor)
    kept.say(survivor, OURS)
    cluster.kill(survivor)

    cluster.start(*kept.others)
    kept.elected(*kept.others)
    kept.say(kept.others[0], THEIRS)
    cluster.start(survivor)
    kept.follow(survivor, *kept.others)
    cluster.start(kept.broker)
    kept.has_everything()
    kept.follow(survivor, *kept.others, kept.broker)
    kept.assert_tree(wanted, *kept.nodes)
    for other in kept.others:
        [survey] = survey_path(str(other.metadata_log_dir), now_ms=0)
        assert [one.id for one in survey.voters] == [survivor.id], "it would not vote by itself"


@in_soak
def test_the_leader_of_a_jump_dies_while_old_voters_come_back_one_by_one(kept: Kept) -> None:
    kept.put_back()
    plan = kept.plan_lost(kept.others)
    assert plan.method is Method.SNAPSHOT_JUMP
    kept.apply(plan)
    wanted = kept.planned_tree(plan, kept.survivor) | {SAID: str(OURS)}
    kept.cluster.start(kept.survivor)
    kept.leads(kept.survivor)
    kept.say(kept.survivor, OURS)
    return_while_the_leader_dies(kept)
    kept.assert_tree(wanted, *kept.nodes)


@in_soak
def test_the_old_majority_leads_before_and_while_the_jump_begins(kept: Kept) -> None:
    """The broker is with them, and is restarted as the plan says."""
    kept.put_back()
    cluster, survivor = kept.cluster, kept.survivor
    plan = kept.plan_lost(kept.others)
    cluster.start(*kept.others, kept.broker)
    kept.elected(*kept.others)
    kept.say(kept.others[0], THEIRS)
    cluster.admin("create-topic", topic="theirs", partitions=1, replication=1)
    kept.apply(plan)
    wanted = kept.planned_tree(plan, survivor) | {SAID: str(OURS)}
    cluster.start(survivor)
    kept.leads(survivor)
    kept.say(survivor, OURS)
    kept.follow(survivor, *kept.others)
    cluster.kill(kept.broker)
    cluster.start(kept.broker)
    kept.has_everything()
    assert "theirs" not in cluster.admin("list-topics")
    kept.follow(survivor, *kept.others, kept.broker)
    kept.assert_tree(wanted, *kept.nodes)


@in_soak
def test_with_a_new_cluster_id_neither_quorum_touches_the_other(kept: Kept) -> None:
    """The old majority runs before, and all the while; each commits records of its own."""
    kept.put_back()
    cluster, survivor = kept.cluster, kept.survivor
    plan = kept.plan_lost(kept.others, "--fence")
    cluster.start(*kept.others)
    leader = kept.elected(*kept.others)
    kept.apply(plan)
    wanted = kept.planned_tree(plan, survivor)
    cluster.start(survivor)
    kept.leads(survivor)
    cluster.start(kept.broker)
    kept.say(survivor, OURS)
    kept.say(kept.others[0], THEIRS)
    kept.has_everything()
    kept.follow(survivor, kept.broker)
    kept.assert_tree(wanted | {SAID: str(OURS)}, survivor, kept.broker)
    kept.assert_tree(kept.tree(leader, "struck") | {SAID: str(THEIRS)}, *kept.others)


@in_soak
def test_what_a_rehearsal_shows_is_what_comes(kept: Kept) -> None:
    """Its Kafka runs on copies, and the real one on the directory that the plan was applied to."""
    kept.put_back()
    cluster, survivor = kept.cluster, kept.survivor
    night = Rehearsals(cluster, survivor, kept.others, kept.broker, kept.topics)
    plan = night.plan()
    assert plan.method is Method.SNAPSHOT_JUMP
    everyone = [survivor, night.broker, *night.lost]
    before = {node.id: ondisk.contents(node.directory) for node in everyone}
    report = night.rehearse_all(plan)
    assert {node.id: ondisk.contents(node.directory) for node in everyone} == before
    nodes = report["startedNodes"]
    assert nodes["software"] == f"Kafka {cluster.version}"
    assert (nodes["leaderId"], nodes["voterIds"]) == (survivor.id, [survivor.id])
    assert nodes["isCompared"]
    assert nodes["topicCount"] >= len(night.topics)
    assert nodes["returned"] == [
        {"nodeId": node.id, "isFollowing": True, "leaderId": survivor.id, "lastWords": None}
        for node in sorted(night.lost, key=lambda member: member.id)
    ], "a real Kafka takes the checkpoint, and votes no more"

    options = ("--dir", survivor.metadata_log_dir, "--source",
               f"node-11={night.broker.metadata_log_dir}", "--yes", plan.id)  # fmt: skip
    words = [f"--accept={risk.word}" for risk in plan.risks]
    kraftool("recover", "apply", night.plan_file, *options, *words)
    cluster.start(survivor)
    assert cluster.wait_leader() is survivor
    shown = kafka.wait_for("an answer to describe-quorum", cluster.quorum)
    assert [voter["id"] for voter in shown["voters"]] == nodes["voterIds"]
    assert shown["leaderEpoch"] == nodes["epoch"], "the first election after the same checkpoint"
    cluster.start(night.broker)
    assert set(night.topics) <= set(cluster.admin("list-topics"))
    assert len(cluster.admin("list-topics")) == nodes["topicCount"]


@in_soak
def test_all_controllers_are_lost_and_a_broker_has_the_state(kept: Kept) -> None:
    """A new controller is formatted, and goes on with what the broker knew."""
    kept.put_back()
    cluster = kept.cluster
    new = cluster.add_node(4, ("controller",))
    servers = new.at("CONTROLLER")
    for node in (new, kept.broker):
        node.settings["controller.quorum.bootstrap.servers"] = servers
        node.write_properties()
    kraftool("format", "-N", "-t", cluster.id, "-c", "server.properties", cwd=new.directory)
    plan = kept.plan_lost(kept.controllers, "--set", "seed=4")
    assert plan.loss.verdict is LossBound.UNBOUNDED
    assert kept.apply(plan) == {4}
    wanted = kept.planned_tree(plan, new)
    cluster.start(new)
    kept.leads(new)
    cluster.start(kept.broker)
    kept.has_everything()
    assert voters(cluster) == [4]
    kept.follow(new, kept.broker)
    kept.assert_tree(wanted, new, kept.broker)
    assert not differences(wanted, kept.tree(kept.broker, "struck"))


@in_soak
def test_a_roll_back_has_the_state_of_an_offset(kept: Kept) -> None:
    """Topics that came later are gone; the broker renames their folders, and keeps them."""
    kept.put_back()
    cluster, survivor = kept.cluster, kept.survivor
    offset = offset_before_topic(kept, "payments-a")
    plan = kept.plan_lost(
        kept.others, "--set", f"rollback={offset}", "--accept", "rollback", "--accept", "ahead"
    )
    kept.apply(plan)
    wanted = kept.planned_tree(plan, survivor)
    assert "/image/topics/byName/kept/" in wanted
    assert "/image/topics/byName/payments-a/" not in wanted
    cluster.start(survivor)
    kept.leads(survivor)
    cluster.start(kept.broker)
    recovering.consumed(cluster, kept.broker)
    assert "payments-a" not in cluster.admin("list-topics")
    assert list(kept.broker.metadata_log_dir.glob("payments-a-0.*-stray"))
    kept.follow(survivor, kept.broker)
    kept.assert_tree(wanted, survivor, kept.broker)


def offset_before_topic(kept: Kept, topic: str) -> int:
    """Where the batch begins that has a topic's record, in the broker's log."""
    for path in segments(kept.broker):
        for batch in batches(path):
            if topic.encode() in batch.data:
                return batch.base_offset
    raise AssertionError(f"no batch with {topic}")


@in_soak
def test_a_survivor_with_a_damaged_log_is_led_on_by_the_brokers_state(kept: Kept) -> None:
    kept.put_back()
    survivor = kept.survivor
    damages.damage_middle_without_snapshots(survivor)
    plan = kept.plan_lost(kept.others)
    kept.apply(plan)
    wanted = kept.planned_tree(plan, survivor)
    kept.cluster.start(survivor)
    kept.leads(survivor)
    kept.cluster.start(kept.broker)
    kept.has_everything()
    kept.follow(survivor, kept.broker)
    kept.assert_tree(wanted, survivor, kept.broker)


@in_soak
def test_a_survivor_with_a_damaged_log_and_nothing_else_keeps_what_was_before(kept: Kept) -> None:
    """The broker, which has more, is lost too."""
    kept.put_back()
    survivor = kept.survivor
    offset = damages.damage_middle_without_snapshots(survivor)
    ids = ",".join(str(other.id) for other in kept.others)
    plan = kept.plan([survivor], "--set", f"lost={ids}", "--accept", "ahead")
    kept.apply(plan)
    [wanted] = trees([kept.gathered(kept.kept(survivor), below=offset)])
    kept.cluster.start(survivor)
    kept.leads(survivor)
    kept.assert_tree(wanted, survivor)
