"""What the digest's scenarios of reassignments and directories (RD) say of a controller."""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.controller import reassignments
from kraftool.controller.answers import answered_at_once, refused_answer
from kraftool.controller.partition_changes import Election, change_of
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.reassignments import list_partition_reassignments
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.image.image import EMPTY
from kraftool.image.loader import ImageLoader
from kraftool.image.replay import WrittenRecord
from kraftool.image.topics import NO_LEADER, NO_RECOVERY_CHANGE, RECOVERING, PartitionRegistration
from kraftool.image.uuids import LOST, MIGRATING, UNASSIGNED
from tests.controller.bench import Bench, directory

Item = dict[str, Any]
NO_TOPIC = "T99999999999999999999A"


def reassigned(bench: Bench, *items: Item, topic: str = "foo", **fields: Any) -> dict[str, Any]:
    body = {"timeoutMs": 1_000, "topics": [{"name": topic, "partitions": list(items)}], **fields}
    return bench.ask("AlterPartitionReassignments", 1, body)


def to(replicas: list[int] | None, number: int = 0) -> Item:
    return {"partitionIndex": number, "replicas": replicas}


def result(answer: dict[str, Any]) -> tuple[int, str | None]:
    """The error of the only partition of an answer, and the sentence."""
    [topic] = answer["responses"]
    [partition] = topic["partitions"]
    return partition["errorCode"], partition["errorMessage"]


def move(bench: Bench, replicas: list[int] | None, **fields: Any) -> tuple[int, str | None]:
    return result(reassigned(bench, to(replicas), **fields))


def changes(records: list[WrittenRecord]) -> dict[str, Any]:
    """What the only PartitionChangeRecord changes."""
    [(name, _, value)] = records
    assert name == "PartitionChangeRecord"
    neutral = {"leader": -2, "leaderRecoveryState": -1}
    keys = {"partitionId", "topicId"}
    return {
        key: item
        for key, item in value.items()
        if key not in keys and item is not None and item != neutral.get(key)
    }


def with_topic(replicas: list[int], *, brokers: int = 5, **settings: Any) -> Bench:
    """A controller with some brokers, and a topic foo with one partition."""
    bench = Bench(**settings).with_brokers(range(brokers))
    bench.assigned("foo", replicas)
    return bench


def moving(partition: PartitionRegistration) -> tuple[tuple[int, ...], ...]:
    return partition.replicas, partition.adding_replicas, partition.removing_replicas


def fence(bench: Bench, broker_id: int) -> None:
    bench.beat(broker_id, wantFence=True)


def listed(bench: Bench, topics: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """What a controller lists that has this one's topics in its image."""
    loader = ImageLoader()
    state = bench.active.state
    for topic in state.topics():
        loader.replay(3, "TopicRecord", {"name": topic.name, "topicId": topic.id})
        for number, partition in topic.partitions.items():
            value = {
                "partitionId": number,
                "topicId": topic.id,
                "replicas": list(partition.replicas),
                "isr": list(partition.isr),
                "removingReplicas": list(partition.removing_replicas),
                "addingReplicas": list(partition.adding_replicas),
                "leader": partition.leader,
                "leaderRecoveryState": 0,
                "leaderEpoch": 0,
                "partitionEpoch": 0,
                "directories": list(partition.directories),
            }
            loader.replay(3, "PartitionRecord", value)
    loader.end_batch(3, 1, 0)
    answer = list_partition_reassignments(loader.image().topics, {"topics": topics})
    assert answer["errorCode"] == Error.NONE
    moving: list[dict[str, Any]] = answer["topics"]
    return moving


def test_rd1_another_order_of_the_same_replicas_is_one_record() -> None:
    bench = with_topic([1, 2, 3])
    assert move(bench, [3, 2, 1]) == (Error.NONE, None)
    assert changes(bench.records) == {
        "replicas": [3, 2, 1],
        "directories": [directory(3), directory(2), directory(1)],
    }
    assert bench.partition("foo").leader == 1


def test_rd2_a_reassignment_adds_first_and_is_listed() -> None:
    bench = with_topic([3, 2, 1])
    assert move(bench, [0, 2, 1]) == (Error.NONE, None)
    assert moving(bench.partition("foo")) == ((0, 2, 1, 3), (0,), (3,))
    shown = {
        "partitionIndex": 0,
        "replicas": [0, 2, 1, 3],
        "addingReplicas": [0],
        "removingReplicas": [3],
    }
    assert listed(bench) == [{"name": "foo", "partitions": [shown]}]
    asked = [{"name": "foo", "partitionIndexes": [0, 7]}, {"name": "bar", "partitionIndexes": [0]}]
    assert listed(bench, asked) == [{"name": "foo", "partitions": [shown]}]
    assert listed(bench, [{"name": "foo", "partitionIndexes": [7]}]) == []


def test_rd2_unknown_partitions_are_refused_one_by_one() -> None:
    bench = with_topic([3, 2, 1])
    answer = reassigned(bench, to([0, 2, 1]), to([0, 2, 1], 7))
    assert [item["errorCode"] for item in answer["responses"][0]["partitions"]] == [
        Error.NONE,
        Error.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert answer["responses"][0]["partitions"][1]["errorMessage"] == (
        "Unable to find partition foo:7."
    )
    assert bench.names == ["PartitionChangeRecord"]
    assert result(reassigned(bench, to([1]), topic="bar")) == (
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        "Unable to find a topic named bar.",
    )


def test_rd3_a_leader_that_is_removed_completes_the_reassignment_and_is_told() -> None:
    bench = with_topic([3, 2, 1])
    move(bench, [0, 2, 1])
    assert bench.alter("foo", [3, 0, 2, 1])["errorCode"] == Error.NEW_LEADER_ELECTED
    partition = bench.partition("foo")
    assert moving(partition) == ((0, 2, 1), (), ())
    assert (partition.isr, partition.leader, partition.leader_epoch) == ((0, 2, 1), 0, 1)
    assert listed(bench) == []


def test_rd4_a_cancelled_reassignment_leaves_the_replicas_in_their_new_order() -> None:
    bench = with_topic([3, 2, 1])
    move(bench, [0, 2, 1])
    assert move(bench, None) == (Error.NONE, None)
    partition = bench.partition("foo")
    assert moving(partition) == ((2, 1, 3), (), ())
    assert (partition.leader, partition.leader_epoch) == (3, 1)
    # Kafka gives no sentence here: the client has one for the code.
    assert move(bench, None) == (Error.NO_REASSIGNMENT_IN_PROGRESS, None)
    assert bench.records == []


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ([], "The manual partition assignment includes an empty replica list."),
        (
            [9, 1],
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        ([1, 2, 1], "The manual partition assignment includes the broker 1 more than once."),
    ],
)
def test_rd5_targets_that_cannot_be(target: list[int], sentence: str) -> None:
    bench = with_topic([1, 2, 3])
    assert move(bench, target) == (Error.INVALID_REPLICA_ASSIGNMENT, sentence)
    assert bench.records == []


def test_rd5_a_fenced_broker_may_be_a_target() -> None:
    bench = with_topic([1, 2, 3])
    fence(bench, 4)
    assert move(bench, [4, 2, 3]) == (Error.NONE, None)
    assert moving(bench.partition("foo")) == ((4, 2, 3, 1), (4,), (1,))


def test_rd6_a_removal_of_one_who_is_not_in_sync_is_complete_at_once() -> None:
    bench = with_topic([1, 2, 3, 4])
    bench.alter("foo", [1, 2, 4])
    move(bench, [1, 2, 4])
    assert changes(bench.records) == {
        "leader": 1,
        "replicas": [1, 2, 4],
        "directories": [directory(1), directory(2), directory(4)],
    }


def test_rd7_another_target_counts_from_the_replicas_that_are_there() -> None:
    bench = with_topic([0, 1])
    move(bench, [2, 3])
    bench.alter("foo", [0, 1, 2])
    for broker_id in (0, 1):
        fence(bench, broker_id)
    assert bench.partition("foo").leader == 2
    move(bench, [4, 3])
    partition = bench.partition("foo")
    assert moving(partition) == ((4, 3, 0, 1, 2), (4,), (0, 1, 2))
    assert partition.leader == 2
    assert bench.alter("foo", [2, 4])["errorCode"] == Error.NONE
    assert bench.partition("foo").replicas == (4, 3, 0, 1, 2), "3 is not in sync yet"
    assert bench.alter("foo", [2, 4, 3])["errorCode"] == Error.NEW_LEADER_ELECTED
    partition = bench.partition("foo")
    assert moving(partition) == ((4, 3), (), ())
    assert partition.leader == 4


def test_rd8_a_smaller_set_is_complete_once_all_of_it_is_in_sync() -> None:
    bench = with_topic([0, 1, 2])
    move(bench, [3, 2])
    bench.alter("foo", [0, 1, 3])
    assert moving(bench.partition("foo")) == ((3, 2, 0, 1), (3,), (0, 1))
    bench.alter("foo", [0, 1, 2, 3])
    assert moving(bench.partition("foo")) == ((3, 2), (), ())


@pytest.mark.parametrize("unclean", ["false", "true"])
def test_rd9_a_cancel_may_need_an_unclean_election(unclean: str) -> None:
    bench = with_topic(
        [0, 1], static_configs={"unclean.leader.election.enable": unclean}, brokers=4
    )
    move(bench, [2, 3])
    bench.alter("foo", [0, 2])
    fence(bench, 0)
    bench.alter("foo", [2])
    assert bench.partition("foo").isr == (2,)
    if unclean == "false":
        sentence = (
            "Unable to revert partition assignment for foo:0 because it would require an unclean"
            " leader election."
        )
        assert move(bench, None) == (Error.INVALID_REPLICA_ASSIGNMENT, sentence)
        return
    assert move(bench, None) == (Error.NONE, None)
    partition = bench.partition("foo")
    assert moving(partition) == ((0, 1), (), ())
    assert (partition.isr, partition.leader) == ((1,), 1)


def test_rd10_another_number_of_replicas_may_be_forbidden() -> None:
    bench = with_topic([0, 1])
    forbidden: dict[str, Any] = {"allowReplicationFactorChange": False}
    assert move(bench, [1, 2, 3], **forbidden) == (
        Error.INVALID_REPLICATION_FACTOR,
        "The replication factor is changed from 2 to 3",
    )
    assert move(bench, [2, 3], **forbidden) == (Error.NONE, None)
    # Now there are four replicas, of which two stay.
    assert move(bench, [2, 3, 4, 1], **forbidden)[0] == Error.INVALID_REPLICATION_FACTOR
    answer = reassigned(bench, to([2, 4]), **forbidden)
    assert result(answer) == (Error.NONE, None)
    assert answer["allowReplicationFactorChange"] is False


def test_rd11_a_replica_that_goes_does_not_lead_even_if_no_other_can() -> None:
    bench = with_topic([0, 1])
    move(bench, [2, 3])
    state = bench.active.state
    record = change_of(
        state,
        PartitionKey(state.topic_id("foo") or "", 0),
        election=Election.ONLINE,
        isr=(0, 1, 2, 3),
        can_lead=lambda broker_id: broker_id in (0, 1),
    )
    assert record is not None
    assert (record[2]["replicas"], record[2]["leader"]) == ([2, 3], NO_LEADER)


def test_rd12_additions_are_sorted_and_replicas_are_as_requested() -> None:
    bench = with_topic([3, 2, 1], brokers=7)
    move(bench, [3, 6, 2, 1, 5])
    assert moving(bench.partition("foo")) == ((3, 6, 2, 1, 5), (5, 6), ())


def test_rd13_directories_need_a_metadata_version_that_knows_them() -> None:
    bench = with_topic([0], level=16, brokers=1)
    body = {"brokerId": 0, "brokerEpoch": epoch(bench, 0), "directories": []}
    assert bench.ask("AssignReplicasToDirs", 0, body)["errorCode"] == Error.UNSUPPORTED_VERSION


def epoch(bench: Bench, broker_id: int) -> int:
    broker = bench.active.state.broker(broker_id)
    assert broker is not None
    return broker.epoch


def assign(bench: Bench, broker_id: int, name: str, *places: tuple[str, int]) -> list[int]:
    """Have a broker say that partitions are in a directory; the error of each."""
    body = {
        "brokerId": broker_id,
        "brokerEpoch": epoch(bench, broker_id),
        "directories": [
            {
                "id": name,
                "topics": [
                    {"topicId": topic_id, "partitions": [{"partitionIndex": number}]}
                    for topic_id, number in places
                ],
            }
        ],
    }
    [answer] = bench.ask("AssignReplicasToDirs", 0, body)["directories"]
    return [topic["partitions"][0]["errorCode"] for topic in answer["topics"]]


def with_directories(replicas: list[list[int]]) -> tuple[Bench, str]:
    """Brokers with two directories each, and a topic; with its id."""
    bench = Bench()
    for broker_id in range(3):
        bench.register(broker_id, logDirs=[directory(broker_id), directory(broker_id, 2)])
        bench.beat(broker_id)
    bench.assigned("foo", *replicas)
    topic_id = bench.active.state.topic_id("foo")
    assert topic_id is not None
    return bench, topic_id


def test_rd14_each_assignment_has_its_own_error() -> None:
    bench, topic_id = with_directories([[0, 1], [1, 2]])
    assert bench.partition("foo").directories == (UNASSIGNED, UNASSIGNED)
    errors = assign(
        bench, 0, directory(0), (topic_id, 0), (NO_TOPIC, 0), (topic_id, 7), (topic_id, 1)
    )
    assert errors == [
        Error.NONE,
        Error.UNKNOWN_TOPIC_ID,
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        Error.NOT_LEADER_OR_FOLLOWER,
    ]
    assert bench.partition("foo").directories == (directory(0), UNASSIGNED)


@pytest.mark.parametrize("place", [LOST, directory(0, 9)])
def test_rd15_an_assignment_to_a_directory_that_is_not_there_moves_the_leader(place: str) -> None:
    bench, topic_id = with_directories([[0, 1]])
    assert assign(bench, 0, place, (topic_id, 0)) == [Error.NONE]
    assert bench.names == ["PartitionChangeRecord", "PartitionChangeRecord"]
    partition = bench.partition("foo")
    assert partition.directories == (place, UNASSIGNED)
    assert (partition.leader, partition.isr) == (1, (1,))


def test_rd17_directories_follow_their_replicas() -> None:
    bench, topic_id = with_directories([[0, 1]])
    assign(bench, 0, directory(0, 2), (topic_id, 0))
    move(bench, [2, 1, 0])
    assert bench.partition("foo").directories == (UNASSIGNED, UNASSIGNED, directory(0, 2))
    move(bench, None)
    assert bench.partition("foo").directories == (UNASSIGNED, directory(0, 2))


def test_rd17_below_their_metadata_version_there_are_no_directories() -> None:
    bench = with_topic([0, 1], level=16)
    move(bench, [2, 3])
    assert "directories" not in changes(bench.records)
    assert bench.partition("foo").directories == (MIGRATING,) * 4


def test_a_reassignment_that_adds_nothing_more_keeps_what_the_last_one_was_adding() -> None:
    """As in Kafka: it is never complete; an admin can only cancel or replace it."""
    bench = with_topic([0, 1])
    move(bench, [2, 3])
    move(bench, [0, 1])
    assert moving(bench.partition("foo")) == ((0, 1, 2, 3), (2, 3), (2, 3))
    bench.alter("foo", [0, 1, 2, 3])
    assert moving(bench.partition("foo")) == ((0, 1, 2, 3), (2, 3), (2, 3))
    assert move(bench, None) == (Error.NONE, None)
    assert moving(bench.partition("foo")) == ((0, 1), (), ())


def test_a_smaller_set_waits_for_all_of_it_even_if_the_others_are_unregistered() -> None:
    bench = with_topic([0, 1, 2])
    fence(bench, 1)
    move(bench, [0, 1])
    assert moving(bench.partition("foo")) == ((0, 1, 2), (), (2,))
    bench.ask("UnregisterBroker", 0, {"brokerId": 2})
    assert moving(bench.partition("foo")) == ((0, 1, 2), (), (2,))
    bench.beat(1)
    bench.alter("foo", [0, 1])
    assert moving(bench.partition("foo")) == ((0, 1), (), ())


def test_an_unclean_election_of_the_new_replica_completes_the_reassignment_at_the_next_change() -> (
    None
):
    bench = with_topic([0], static_configs={"unclean.leader.election.enable": "true"})
    move(bench, [3])
    fence(bench, 0)
    partition = bench.partition("foo")
    assert (partition.leader, partition.isr) == (3, (3,))
    assert moving(partition) == ((3, 0), (3,), (0,))
    fence(bench, 3)
    bench.beat(3)
    partition = bench.partition("foo")
    assert moving(partition) == ((3,), (), ())
    assert (partition.leader, partition.leader_recovery_state) == (3, RECOVERING)


def test_with_elr_replicas_that_go_are_eligible_no_longer() -> None:
    bench = with_topic([0, 1], elr=True, static_configs={"min.insync.replicas": "2"})
    move(bench, [2, 3])
    bench.alter("foo", [0])
    assert bench.partition("foo").elr == (1,)
    bench.alter("foo", [0, 2, 3])
    partition = bench.partition("foo")
    assert moving(partition) == ((2, 3), (), ())
    assert (partition.isr, partition.elr) == ((2, 3), ())


def test_what_does_not_fit_into_the_batch_is_refused_and_the_rest_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reassignments, "MOST_RECORDS", 1)
    bench = Bench().with_brokers(range(3))
    bench.assigned("foo", [0], [1])
    answer = reassigned(bench, to([2]), to([2], 1))
    assert [item["errorCode"] for item in answer["responses"][0]["partitions"]] == [
        Error.NONE,
        Error.UNKNOWN_SERVER_ERROR,
    ]
    assert bench.names == ["PartitionChangeRecord"]


def test_a_request_for_nothing_is_answered_at_once() -> None:
    assert answered_at_once("AlterPartitionReassignments", {"topics": []}) is not None
    assert answered_at_once("ListPartitionReassignments", {"topics": []}) is not None
    assert answered_at_once("ListPartitionReassignments", {"topics": None}) is None


def test_a_refusal_names_each_partition() -> None:
    refused = RequestRefused(Error.NOT_CONTROLLER, "who knows")
    error = {"errorCode": Error.NOT_CONTROLLER, "errorMessage": "who knows"}
    body: dict[str, Any] = {"topics": [{"name": "foo", "partitions": [to([1]), to(None, 2)]}]}
    assert refused_answer("AlterPartitionReassignments", body, refused) == {
        **error,
        "responses": [
            {
                "name": "foo",
                "partitions": [{"partitionIndex": 0, **error}, {"partitionIndex": 2, **error}],
            }
        ],
    }
    body = {"topics": [{"name": "foo", "partitionIndexes": [0, 2]}]}
    assert refused_answer("ListPartitionReassignments", body, refused) == {
        **error,
        "topics": [{"name": "foo", "partitions": [{"partitionIndex": 0}, {"partitionIndex": 2}]}],
    }
    assert refused_answer("ListPartitionReassignments", {"topics": None}, refused)["topics"] == []


def test_an_empty_image_has_nothing_to_list() -> None:
    assert list_partition_reassignments(EMPTY.topics, {"topics": None})["topics"] == []


def test_leaderless_partitions_can_be_moved() -> None:
    bench = with_topic([0, 1])
    for broker_id in (0, 1):
        fence(bench, broker_id)
    assert bench.partition("foo").leader == NO_LEADER
    assert move(bench, [2, 3]) == (Error.NONE, None)
    assert bench.partition("foo").leader == NO_LEADER


@pytest.mark.parametrize("field", ["lastKnownElr", "eligibleLeaderReplicas"])
def test_a_last_leader_that_has_no_replica_any_more_does_not_keep_a_partition_from_moving(
    field: str,
) -> None:
    """Kafka looks for its directory, finds no replica, and answers UNKNOWN_SERVER_ERROR."""
    bench = with_topic([0, 1], elr=True)
    topic_id = bench.active.state.topic_id("foo")
    value = {
        "topicId": topic_id,
        "partitionId": 0,
        "leader": NO_LEADER,
        "leaderRecoveryState": NO_RECOVERY_CHANGE,
        "replicas": None,
        "isr": [],
        field: [3],
    }
    bench.active.state.replay(bench.active.next_offset, "PartitionChangeRecord", value)
    assert move(bench, [3, 4]) == (Error.NONE, None)
    partition = bench.partition("foo")
    assert moving(partition) == ((3, 4, 0, 1), (3, 4), (0, 1))
    assert partition.leader == NO_LEADER
