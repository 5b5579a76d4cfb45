"""Recovery where it is not the plain night of two lost controllers, on real Kafka.

A quorum is made once, struck down under load, and kept: its logs end in different epochs. Each
trial works on a copy of that. What the plan writes is what Kafka's own shell shows of it, before
and after Kafka has run on it.
"""

from __future__ import annotations

import pytest

from kraftool.repair.plan import Method
from kraftool.repair.surveying import survey_path
from kraftool.reports.election.assessment import LossBound
from tests.interop import damages, recovering
from tests.interop.ondisk import batches, differences, segments, trees
from tests.interop.our_nodes import end_of
from tests.interop.recovering import OURS, SAID, THEIRS, Kept, kept, kraftool, voters

__all__ = ["kept"]
pytestmark = pytest.mark.interop
always, in_soak = recovering.on("kept", always=True), recovering.on("kept")


@always
def test_each_directory_is_damaged_otherwise_and_all_are_mended_at_once(kept: Kept) -> None:
    """One log is made anew from another, and everything else is mended where it lies."""
    kept.put_back()
    [worse, best] = sorted(kept.others, key=end_of)
    for each in (
        damages.empty_promise,
        damages.garble_epochs,
        damages.foreign_partition,
        damages.put_stray_name,
    ):
        each(kept.survivor)
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


@always
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


@always
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
