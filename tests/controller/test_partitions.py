"""What the digest's scenarios of topics, leaders and placement (RT, RL, PL) say of a controller."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from kraftool.controller.placement import UsableBroker, place
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from tests.controller.bench import SESSION_MS, Bench, Sequential, incarnation


def configs(**named: str | None) -> list[dict[str, Any]]:
    return [{"name": name.replace("_", "."), "value": value} for name, value in named.items()]


def fence(bench: Bench, broker_id: int) -> None:
    bench.beat(broker_id, wantFence=True)


def test_rt1_without_a_broker_that_is_there_no_topic_is_made() -> None:
    bench = Bench()
    assert bench.create("foo")["errorCode"] == Error.INVALID_REPLICATION_FACTOR
    bench.register(1)
    assert bench.create("foo")["errorCode"] == Error.INVALID_REPLICATION_FACTOR


def test_rt2_a_topic_has_the_defaults_and_is_made_once() -> None:
    bench = Bench(default_replication_factor=3).with_brokers([1, 2, 3])
    made = bench.create("foo")
    assert (made["errorCode"], made["numPartitions"], made["replicationFactor"]) == (0, 1, 3)
    partition = bench.partition("foo")
    assert partition.isr == partition.replicas
    assert partition.leader == partition.replicas[0]
    assert (partition.leader_epoch, partition.partition_epoch) == (0, 0)
    assert bench.create("foo")["errorCode"] == Error.TOPIC_ALREADY_EXISTS


def test_rt3_only_brokers_that_are_active_are_in_sync() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.register(3)
    assert bench.create("foo", replicationFactor=3)["errorCode"] == Error.NONE
    partition = bench.partition("foo")
    assert set(partition.replicas) == {1, 2, 3}
    assert set(partition.isr) == {1, 2}


def test_rt4_configs_stand_between_the_topic_and_its_partitions() -> None:
    bench = Bench().with_brokers([1])
    bench.create("foo", configs=configs(retention_ms="7"))
    assert bench.names == ["TopicRecord", "ConfigRecord", "PartitionRecord"]
    assert bench.create("bar", configs=configs(retention_ms=None))["errorCode"] == (
        Error.INVALID_CONFIG
    )
    assert bench.create("bar", replicationFactor=-2)["errorCode"] == (
        Error.INVALID_REPLICATION_FACTOR
    )
    assert bench.names == []


def test_rq2_nobody_makes_a_topic_of_the_metadata_log() -> None:
    bench = Bench().with_brokers([1])
    answer = bench.create("__cluster_metadata")
    assert (answer["errorCode"], answer["errorMessage"]) == (
        Error.INVALID_REQUEST,
        "Creation of internal topic __cluster_metadata is prohibited.",
    )
    assert bench.names == []


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ü", "x" * 250])
def test_rt9_names_that_no_topic_may_have(name: str) -> None:
    bench = Bench().with_brokers([1])
    assert bench.create(name)["errorCode"] == Error.INVALID_TOPIC_EXCEPTION


def test_rt9_names_that_are_one_to_the_metrics() -> None:
    bench = Bench().with_brokers([1])
    assert bench.create("foo_bar")["errorCode"] == Error.NONE
    assert bench.create("foo.bar")["errorCode"] == Error.INVALID_TOPIC_EXCEPTION
    assert bench.create("foo-bar")["errorCode"] == Error.NONE


def test_rt11_a_request_for_too_many_partitions_is_refused_whole() -> None:
    bench = Bench().with_brokers([1])
    assert bench.create("foo", numPartitions=10_001)["errorCode"] == Error.POLICY_VIOLATION
    # With its TopicRecord this would be one record more than a batch may have.
    assert bench.create("foo", numPartitions=10_000)["errorCode"] == Error.POLICY_VIOLATION
    assert bench.create("foo", numPartitions=9_999)["errorCode"] == Error.NONE


@pytest.mark.parametrize(
    ("assignments", "error"),
    [
        ([[]], Error.INVALID_REPLICA_ASSIGNMENT),
        ([[1, 1]], Error.INVALID_REPLICA_ASSIGNMENT),
        ([[9]], Error.INVALID_REPLICA_ASSIGNMENT),
        ([[1, 2], [1]], Error.INVALID_REPLICA_ASSIGNMENT),
        ([[1, 2], [2, 1]], Error.NONE),
    ],
)
def test_rt18_assignments_have_to_be_possible(assignments: list[list[int]], error: Error) -> None:
    bench = Bench().with_brokers([1, 2])
    wanted = [
        {"partitionIndex": number, "brokerIds": ids} for number, ids in enumerate(assignments)
    ]
    assert bench.create("foo", assignments=wanted)["errorCode"] == error
    assert bench.create("bar", assignments=wanted, numPartitions=1)["errorCode"] == (
        Error.INVALID_REQUEST
    )


def test_rl1_a_leader_shrinks_and_expands_its_isr() -> None:
    bench = Bench().with_brokers([0, 1, 2])
    bench.assigned("foo", [0, 1, 2])
    assert bench.alter("foo", [0])["isr"] == [0]
    expanded = bench.alter("foo", [0, 1])
    assert (expanded["isr"], expanded["partitionEpoch"]) == ([0, 1], 2)


def test_rl2_to_rl4_proposals_that_are_not_taken() -> None:
    bench = Bench().with_brokers([0, 1, 2])
    bench.assigned("foo", [0, 1, 2])
    for fields, error in (
        ({"sender": 1}, Error.INVALID_REQUEST),
        ({"leaderEpoch": 1}, Error.NOT_CONTROLLER),
        ({"partitionEpoch": 1}, Error.NOT_CONTROLLER),
        ({"leaderEpoch": -1}, Error.FENCED_LEADER_EPOCH),
        ({"partitionEpoch": -1}, Error.INVALID_UPDATE_VERSION),
        ({"leaderRecoveryState": 1}, Error.INVALID_REQUEST),
    ):
        assert bench.alter("foo", [0, 1], **fields)["errorCode"] == error, fields
    for isr in ([0, 9], [1, 2], [0, 0]):
        assert bench.alter("foo", isr)["errorCode"] == Error.INVALID_REQUEST, isr


def test_rl6_and_rl7_an_isr_has_brokers_that_are_there_only() -> None:
    bench = Bench().with_brokers([0, 1, 2])
    bench.assigned("foo", [0, 1, 2])
    fence(bench, 1)
    assert bench.alter("foo", [0, 1, 2])["errorCode"] == Error.INELIGIBLE_REPLICA
    bench.beat(1)
    assert bench.alter("foo", [0, 1, 2])["errorCode"] == Error.NONE
    old = {2: 1}
    assert bench.alter("foo", [0, 2], epochs=old)["errorCode"] == Error.INELIGIBLE_REPLICA
    assert bench.alter("foo", [0, 2], epochs=old, version=2)["errorCode"] == Error.NONE


def test_rl8_fencing_moves_leadership_and_empties_isrs() -> None:
    bench = Bench().with_brokers([0, 1, 2, 3, 4])
    bench.assigned("foo", [1, 2, 3], [2, 3, 4], [0, 2, 1])
    fence(bench, 2)
    fence(bench, 3)
    partitions = [bench.partition("foo", number) for number in range(3)]
    assert [partition.isr for partition in partitions] == [(1,), (4,), (0, 1)]
    assert [partition.leader for partition in partitions] == [1, 4, 0]


def test_rl9_the_last_in_sync_stays_so_without_elr() -> None:
    bench = Bench().with_brokers([1, 2, 4])
    bench.assigned("foo", [1, 2, 4])
    for broker_id in (1, 2, 4):
        fence(bench, broker_id)
    assert (bench.partition("foo").isr, bench.partition("foo").leader) == ((4,), -1)
    bench.beat(2)
    assert bench.partition("foo").leader == -1
    bench.beat(4)
    assert bench.partition("foo").leader == 4


def test_rl9_an_unclean_election_loses_records_rather_than_the_partition() -> None:
    allowed = {"unclean.leader.election.enable": "true"}
    bench = Bench(static_configs=allowed).with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    for broker_id in (1, 2):
        fence(bench, broker_id)
    bench.beat(1)
    partition = bench.partition("foo")
    assert (partition.leader, partition.isr, partition.leader_recovery_state) == (1, (1,), 1)


def test_rl13_leadership_goes_back_to_the_preferred_replica() -> None:
    bench = Bench(leader_imbalance_check_ms=5_000).with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    fence(bench, 1)
    bench.beat(1)
    bench.alter("foo", [2, 1])
    assert bench.partition("foo").leader == 2
    bench.pass_time(5_000)
    assert bench.partition("foo").leader == 1
    bench.beat(1)
    bench.beat(2)
    bench.pass_time(5_000)
    assert bench.names == []


def test_rl14_elr_holds_who_left_below_the_minimum() -> None:
    bench = Bench(elr=True, static_configs={"min.insync.replicas": "2"}).with_brokers([0, 1, 2])
    bench.assigned("foo", [0, 1, 2])
    bench.alter("foo", [0])
    assert bench.partition("foo").elr == (1, 2)
    bench.alter("foo", [0, 1])
    assert bench.partition("foo").elr == ()


def test_rl16_a_leader_comes_from_the_elr_when_nobody_is_in_sync() -> None:
    bench = Bench(elr=True, static_configs={"min.insync.replicas": "3"}).with_brokers([0, 2, 3])
    bench.assigned("foo", [0, 2, 3])
    for broker_id in (2, 3):
        fence(bench, broker_id)
    assert bench.partition("foo").elr == (2, 3)
    bench.beat(2)
    fence(bench, 0)
    partition = bench.partition("foo")
    assert (partition.leader, partition.isr, partition.elr) == (2, (2,), (0, 3))
    assert partition.leader_recovery_state == 0


@pytest.mark.parametrize(("is_clean", "elr"), [(True, (1, 2)), (False, (2,))])
def test_rl17_a_broker_leaves_the_elr_with_an_unclean_shutdown(
    is_clean: bool, elr: tuple[int, ...]
) -> None:
    """It may have lost what it had confirmed, so it must not lead cleanly."""
    bench = Bench(elr=True, static_configs={"min.insync.replicas": "2"}).with_brokers([0, 1, 2])
    bench.assigned("foo", [0, 1, 2])
    bench.alter("foo", [0])
    broker = bench.active.state.broker(1)
    assert broker is not None
    for _ in range(2):  # the session of broker 1 ends
        bench.pass_time(SESSION_MS // 2 + 1)
        bench.beat(0)
    epoch = broker.epoch if is_clean else -1
    assert "errorCode" not in bench.register(
        1, incarnationId=incarnation(1, 2), previousBrokerEpoch=epoch
    )
    assert bench.partition("foo").elr == elr


@pytest.mark.parametrize(("level", "epoch"), [(11, 1), (12, 0)])
def test_rl24_a_smaller_isr_raised_the_leader_epoch_before_3_6(level: int, epoch: int) -> None:
    bench = Bench(level)
    for broker_id in (0, 1):
        bench.register(broker_id, version=2)
        bench.beat(broker_id)
    bench.assigned("foo", [0, 1])
    bench.alter("foo", [0], version=2)
    assert bench.partition("foo").leader_epoch == epoch


def test_rl30_unregistering_the_only_broker_leaves_no_leader() -> None:
    bench = Bench().with_brokers([1])
    bench.assigned("foo", [1])
    bench.ask("UnregisterBroker", 0, {"brokerId": 1})
    assert bench.names == ["PartitionChangeRecord", "UnregisterBrokerRecord"]
    assert bench.partition("foo").leader == -1
    assert bench.ask("UnregisterBroker", 0, {"brokerId": 1})["errorCode"] == (
        Error.BROKER_ID_NOT_REGISTERED
    )


class Second(Sequential):
    """Every ring begins with its third broker."""

    def below(self, bound: int) -> int:
        return min(2, bound - 1)


def brokers(*ids: int, fenced: tuple[int, ...] = (), rack: str | None = None) -> list[UsableBroker]:
    return [UsableBroker(broker_id, rack, broker_id in fenced) for broker_id in ids]


def test_pl1_stripes_go_on_by_one_and_leave_fenced_brokers_out() -> None:
    usable = brokers(0, 1, 2, 3, 4, fenced=(1,))
    placed = place(usable, partitions=3, replicas=4, chance=Second())
    assert placed == [[3, 4, 0, 2], [4, 0, 2, 3], [0, 2, 3, 4]]


def test_pl2_each_rack_has_one_before_a_second() -> None:
    usable = [
        *brokers(10, 11, rack="1"),
        *brokers(20, 21, fenced=(20,), rack="2"),
        *brokers(30, 31, rack="3"),
    ]
    for replicas in place(usable, partitions=6, replicas=4, chance=Sequential()):
        assert {broker_id // 10 for broker_id in replicas[:3]} == {1, 2, 3}
        assert replicas[0] != 20


def test_the_leader_s_rack_has_a_second_replica_after_all_other_racks() -> None:
    usable = [*brokers(10, 11, rack="1"), *brokers(20, 21, rack="2")]
    assert place(usable, partitions=1, replicas=3, chance=Sequential()) == [[10, 20, 11]]


def test_pl4_one_broker_gets_all_of_one_replica() -> None:
    assert place(brokers(7), partitions=3, replicas=1, chance=Sequential()) == [[7]] * 3


def test_pl5_all_pairs_are_about_as_frequent() -> None:
    random = Random(7)

    class Drawn(Sequential):
        def below(self, bound: int) -> int:
            return random.randrange(bound)

        def shuffle(self, items: list[Any]) -> None:
            random.shuffle(items)

    placed = place(brokers(0, 1, 2, 3), partitions=200, replicas=2, chance=Drawn())
    pairs = Counter(map(tuple, placed))
    assert len(pairs) == 12
    assert max(pairs.values()) < 30


@pytest.mark.parametrize(
    ("usable", "replicas"),
    [(brokers(1, fenced=(1,)), 1), (brokers(1), 0), (brokers(1), 2), ([], 1)],
)
def test_pl6_what_cannot_be_placed_is_refused(usable: list[UsableBroker], replicas: int) -> None:
    with pytest.raises(RequestRefused) as refused:
        place(usable, partitions=1, replicas=replicas, chance=Sequential())
    assert refused.value.error is Error.INVALID_REPLICATION_FACTOR
