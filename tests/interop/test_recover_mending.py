"""Damaged directories of a real quorum, mended by plan and apply: all three controllers start on
them, elect a leader, and Kafka's own shell shows of the mended one what the undamaged one had.

The quorum is made once, struck down under load, run until all logs end alike, and kept; each case
damages a copy of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from kraftool.raft.messages import VoteRequest, VoteResponse
from kraftool.raft.names import ReplicaKey
from kraftool.raft.wire import responses
from tests.interop import damages, kafka, recovering
from tests.interop.clusters import Node
from tests.interop.ondisk import partition, segments
from tests.interop.our_nodes import end_of
from tests.interop.recovering import Kept, kept
from tests.interop.wireprobes import Prober

__all__ = ["kept"]
pytestmark = [pytest.mark.interop, pytest.mark.soak]
on_each = recovering.on("kept")


@dataclass(frozen=True, slots=True)
class Case:
    """A damage, what the plan calls it, and what else is said to the planner."""

    damage: Callable[[Node], object]
    case: str
    options: tuple[str, ...] = ()
    is_alone: bool = False
    """Whether no other directory is given."""

    def __str__(self) -> str:
        return self.damage.__name__ + ("-alone" if self.is_alone else "")


AHEAD = ("--accept", "ahead")
CASES = (
    Case(damages.forget_promise, "quorum-state"),
    Case(damages.empty_promise, "quorum-state"),
    Case(damages.garble_promise, "quorum-state"),
    Case(damages.damage_middle_without_snapshots, "rebuilt"),
    Case(damages.damage_middle, "rebuilt"),
    Case(damages.damage_middle_without_snapshots, "cut", AHEAD, is_alone=True),
    Case(damages.damage_middle, "rest-kept", is_alone=True),
    Case(damages.damage_snapshot, "snapshot-damaged"),
    Case(damages.put_junk_snapshot, "junk-snapshot"),
    Case(damages.false_epochs, "leader-epochs"),
    Case(damages.garble_epochs, "leader-epochs"),
    Case(damages.foreign_partition, "partition-metadata"),
    Case(damages.put_stray_name, "stray-names"),
    Case(damages.lose_log, "rebuilt"),
    Case(damages.lose_log_and_snapshots, "rebuilt"),
    Case(damages.lose_meta, "meta-properties"),
    Case(damages.damage_meta, "meta-properties"),
    Case(damages.rename_directory, "directory-id", ("--accept", "own-log")),
)


def start_all(kept: Kept) -> None:
    """The controllers elect a leader, and all have what it has."""
    kept.cluster.start(*kept.controllers)
    kept.cluster.wait_leader()
    kept.cluster.wait_caught_up(*kept.controllers)


@pytest.mark.parametrize("case", CASES, ids=str)
@on_each
def test_one_of_three_is_mended_and_all_start(kept: Kept, case: Case) -> None:
    kept.level()
    node = kept.controllers[1]
    case.damage(node)
    plan = kept.plan([node] if case.is_alone else kept.controllers, *case.options)
    assert plan.cases == (case.case,)
    assert kept.apply(plan) == {node.id}
    start_all(kept)
    assert recovering.voters(kept.cluster) == [1, 2, 3]
    assert kept.is_voter(node), "by its own log and its own name"
    kept.assert_tree(kept.tree(node, "level"), node)


@pytest.mark.parametrize(
    "damage",
    [damages.tear_tail, damages.put_zeros, damages.orphan],
    ids=lambda damage: damage.__name__,
)
@on_each
def test_what_kafka_mends_itself_is_left_to_it(
    kept: Kept, damage: Callable[[Node], object]
) -> None:
    kept.level()
    node = kept.controllers[1]
    damage(node)
    plan = kept.plan(kept.controllers)
    assert not plan.changes
    start_all(kept)
    kept.assert_tree(kept.tree(node, "level"), node)


@on_each
def test_two_whole_voters_are_enough_to_make_the_third_anew(kept: Kept) -> None:
    """Asked for, of a directory that is whole; the source is the one that is named."""
    kept.level()
    node, source = kept.controllers[1], kept.controllers[2]
    plan = kept.plan(kept.controllers, "--set", "rebuild=2", "--set", "from=3")
    assert plan.cases == ("rebuilt",)
    assert {
        piece_source for one in plan.hosts for piece_source in recovering.sources_of(plan, one.name)
    } <= {"node-3"}
    kept.apply(plan)
    assert [segment.read_bytes() for segment in segments(node)] == [
        segment.read_bytes() for segment in segments(source)
    ]
    start_all(kept)
    kept.assert_tree(kept.tree(source, "level"), node)


@on_each
def test_three_damaged_logs_restore_each_other(kept: Kept) -> None:
    """Each lacks another batch; together they have the whole log."""
    kept.level()
    before = [[segment.read_bytes() for segment in segments(node)] for node in kept.controllers]
    for number, node in enumerate(kept.controllers, 2):
        damages.damage_batch(node, -6 * number)
    plan = kept.plan(kept.controllers)
    assert plan.cases == ("restored-runs",)
    assert kept.apply(plan) == {controller.id for controller in kept.controllers}
    after = [[segment.read_bytes() for segment in segments(node)] for node in kept.controllers]
    assert after == before
    start_all(kept)
    assert recovering.voters(kept.cluster) == [1, 2, 3]
    kept.assert_tree(kept.tree(kept.controllers[0], "level"), *kept.controllers)


@on_each
def test_a_broker_with_a_damaged_log_fetches_all_of_it_again(kept: Kept) -> None:
    kept.level()
    damages.damage_middle(kept.broker)
    damages.lose_meta(kept.broker)
    plan = kept.plan(kept.nodes)
    assert set(plan.cases) == {"emptied", "meta-properties"}
    assert kept.apply(plan) == {kept.broker.id}
    kept.cluster.start(*kept.nodes)
    kept.has_everything()
    kept.cluster.wait_caught_up(kept.broker)
    kept.assert_tree(kept.tree(kept.controllers[0], "level"), kept.broker)


@on_each
def test_all_directories_were_renamed_and_none_is_a_voter(kept: Kept) -> None:
    kept.level()
    for controller in kept.controllers:
        damages.rename_directory(controller)
    plan = kept.plan(kept.controllers, "--accept", "own-log")
    assert plan.cases == ("directory-id",)
    assert kept.apply(plan) == {1, 2, 3}
    start_all(kept)
    assert recovering.voters(kept.cluster) == [1, 2, 3]
    kept.assert_tree(kept.tree(kept.broker, "level"), *kept.controllers)


@on_each
def test_endpoints_of_all_voters_changed(kept: Kept) -> None:
    """Nobody can reach anybody by the old record; the new one is in force at once."""
    kept.level()
    ports = {controller.id: controller.ports["CONTROLLER"] for controller in kept.controllers}
    swapped = {1: ports[2], 2: ports[3], 3: ports[1]}
    options: list[str] = []
    for controller in kept.controllers:
        controller.ports["CONTROLLER"] = swapped[controller.id]
        controller.settings["listeners"] = f"CONTROLLER://{controller.at('CONTROLLER')}"
        controller.write_properties()
        options += ("--set", f"endpoint.{controller.id}=CONTROLLER://{controller.at('CONTROLLER')}")
    plan = kept.plan(kept.controllers, *options)
    assert plan.cases == ("endpoints",)
    assert kept.apply(plan) == {1, 2, 3}
    start_all(kept)
    kept.assert_tree(kept.tree(kept.broker, "level"), *kept.controllers)


@pytest.mark.parametrize("fetched", [False, True], ids=["by-nobody", "by-a-broker"])
@on_each
def test_a_poison_record_gives_way(kept: Kept, fetched: bool) -> None:
    """Also where a broker has fetched it before the controllers died of it."""
    kept.level()
    having = kept.nodes if fetched else kept.controllers
    offset = damages.poison(having)
    plan = kept.plan(kept.nodes, "--set", f"poison={offset}")
    assert plan.cases == ("poison",)
    assert kept.apply(plan) == {node.id for node in having}
    kept.cluster.start(*kept.nodes)
    kept.has_everything()
    kept.cluster.wait_caught_up(*kept.nodes)
    kept.assert_tree(kept.tree(kept.controllers[1], "level"), kept.controllers[1], kept.broker)


@on_each
def test_a_quorum_runs_with_what_is_left_of_static_voters(kept: Kept) -> None:
    """The plan names the two settings for the next restart, and stops nothing for them."""
    kept.level()
    wanted = ",".join(
        f"{controller.id}@{controller.at('CONTROLLER')}" for controller in kept.controllers
    )
    for controller in kept.controllers:
        controller.settings["controller.quorum.voters"] = wanted
        del controller.settings["controller.quorum.bootstrap.servers"]
        controller.write_properties()
    plan = kept.plan(kept.controllers)
    assert (plan.cases, plan.steps) == (("static-leftovers",), ())
    assert "replace controller.quorum.voters by" in " ".join(plan.summary)
    start_all(kept)


def vote_granted(kept: Kept, asked: Node, candidate: Node, epoch: int) -> bool:
    """Whether a node that runs alone votes for another in an epoch."""
    end = end_of(candidate)
    request = VoteRequest(
        cluster_id=kept.cluster.id,
        replica_epoch=epoch,
        replica=ReplicaKey(candidate.id, candidate.directory_id),
        voter=ReplicaKey(asked.id, asked.directory_id),
        last_offset=end.offset,
        last_offset_epoch=end.epoch,
    )
    with Prober(asked.ports["CONTROLLER"]) as prober:
        body = prober.ask(request, version=1).body
    answer = responses.from_kafka("Vote", body, "CONTROLLER")
    assert isinstance(answer, VoteResponse), answer
    return answer.vote_granted


@on_each
def test_a_vote_is_not_given_twice_where_quorum_state_was_lost(kept: Kept) -> None:
    """Kafka forgets its vote when the file is deleted; with what the plan writes it gives none in
    that epoch."""
    kept.level()
    node, first, second = kept.controllers
    epoch = end_of(node).epoch + 50

    def asked(candidate: Node) -> bool:
        kept.cluster.start(node)
        granted = vote_granted(kept, node, candidate, epoch)
        kept.cluster.kill(node)
        return granted

    assert asked(first), "it votes"
    assert not asked(second), "and remembers"
    damages.forget_promise(node)
    assert asked(second), "and has forgotten: two votes in one epoch"
    damages.forget_promise(node)
    for voter in (first, second):
        state = partition(voter) / "quorum-state"
        text = f'{{"leaderId":-1,"leaderEpoch":{epoch},"votedId":-1,"data_version":1}}'
        state.write_text(text)  # what candidates of that epoch leave
    plan = kept.plan(kept.controllers)
    assert plan.cases == ("quorum-state",)
    kept.apply(plan)
    assert not asked(first)
    assert not asked(second)
    start_all(kept)


# --- a log that was cleaned ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def cleaned(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    """Controllers with several segments, of which Kafka's own cleaning has removed the first."""
    yield from recovering.made(request.param, tmp_path_factory.mktemp("cleaned"), cleaned=True)


on_each_cleaned = recovering.on("cleaned")


@pytest.mark.parametrize(
    ("damage", "case"),
    [
        (damages.hide_snapshots, "snapshot-restored"),
        (damages.lose_snapshots, "snapshot-copied"),
        (damages.damage_middle, "rebuilt"),
        (damages.lose_log, "rebuilt"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
@on_each_cleaned
def test_a_log_that_begins_late_is_mended(
    cleaned: Kept, damage: Callable[[Node], object], case: str
) -> None:
    cleaned.put_back()
    node = cleaned.others[0]
    assert int(segments(node)[0].stem) > 0, "Kafka removed what was before"
    assert len(segments(node)) > 1
    wanted = cleaned.tree(node, "struck")
    damage(node)
    plan = cleaned.plan(cleaned.controllers)
    assert plan.cases == (case,)
    assert cleaned.apply(plan) == {node.id}
    if case != "rebuilt":
        cleaned.assert_tree(wanted, node)
    start_all(cleaned)
    cleaned.assert_alike()


@on_each_cleaned
def test_kafka_does_not_start_on_a_late_log_without_its_snapshot(cleaned: Kept) -> None:
    """Which is why it is mended; and nothing is lost by the attempt."""
    cleaned.put_back()
    node = cleaned.others[0]
    damages.hide_snapshots(node)
    with pytest.raises(kafka.KafkaFailed, match="ended with"):
        cleaned.cluster.start(node)
    cleaned.end()
    plan = cleaned.plan(cleaned.controllers)
    cleaned.apply(plan)
    start_all(cleaned)
    cleaned.assert_alike()
