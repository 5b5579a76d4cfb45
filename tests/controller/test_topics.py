"""What the digest says of topics that grow and go, and of elections on request (RT, RL, RQ)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kraftool.controller.answers import answered_at_once, refused_answer
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.image.uuids import NO_ID, UNASSIGNED
from tests.controller.bench import SESSION_MS, Bench, directory

PREFERRED, UNCLEAN = 0, 1


def grow(bench: Bench, name: str, count: int, *replicas: list[int], **fields: Any) -> int:
    assignments = [{"brokerIds": brokers} for brokers in replicas] or None
    topic = {"name": name, "count": count, "assignments": assignments}
    body = {"topics": [topic], "timeoutMs": 1_000, "validateOnly": False, **fields}
    answer = bench.ask("CreatePartitions", 3, body)
    code: int = answer["results"][0]["errorCode"]
    return code


def delete(bench: Bench, *topics: dict[str, Any]) -> list[tuple[str | None, int]]:
    body = {"topics": [{"name": None, "topicId": NO_ID, **topic} for topic in topics]}
    answer = bench.ask("DeleteTopics", 6, body | {"timeoutMs": 1_000})
    return [(response["name"], response["errorCode"]) for response in answer["responses"]]


def elect(bench: Bench, kind: int, topics: dict[str, list[int]] | None) -> dict[str, list[int]]:
    asked = None
    if topics is not None:
        asked = [{"topic": name, "partitions": numbers} for name, numbers in topics.items()]
    body = {"electionType": kind, "topicPartitions": asked, "timeoutMs": 1_000}
    answer = bench.ask("ElectLeaders", 2, body)
    assert answer["errorCode"] == Error.NONE
    return {
        result["topic"]: [partition["errorCode"] for partition in result["partitionResult"]]
        for result in answer["replicaElectionResults"]
    }


def test_rt10_and_rt12_a_deleted_topic_is_gone_and_its_name_is_free() -> None:
    bench = Bench().with_brokers([1])
    bench.create("foo.bar", numPartitions=2, configs=[{"name": "retention.ms", "value": "7"}])
    topic_id = bench.active.state.topic_id("foo.bar")
    assert topic_id is not None
    assert delete(bench, {"topicId": topic_id}) == [("foo.bar", Error.NONE)]
    assert bench.records == [("RemoveTopicRecord", 0, {"topicId": topic_id})]
    assert not bench.active.state.partitions.with_isr(1)
    assert delete(bench, {"topicId": topic_id}) == [(None, Error.UNKNOWN_TOPIC_ID)]
    assert bench.create("foo.bar")["errorCode"] == Error.NONE
    assert bench.active.state.topic_id("foo.bar") != topic_id


def test_rt14_a_topic_grows_and_never_shrinks() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.create("foo", numPartitions=3, replicationFactor=2)
    assert grow(bench, "foo", 5) == Error.NONE
    assert bench.names == ["PartitionRecord"] * 2
    assert [value["partitionId"] for _, _, value in bench.records] == [3, 4]
    assert grow(bench, "foo", 5) == Error.INVALID_PARTITIONS
    assert grow(bench, "foo", 4) == Error.INVALID_PARTITIONS
    assert grow(bench, "bar", 4) == Error.UNKNOWN_TOPIC_OR_PARTITION
    assert grow(bench, "foo", 6, validateOnly=True) == Error.NONE
    assert bench.names == []


@pytest.mark.parametrize("replicas", [[[1]], [[1, 2], [1, 2]], [[1, 9]], [[1, 1]], [[]]], ids=str)
def test_rt15_a_wrong_assignment_of_a_new_partition_is_refused(replicas: list[list[int]]) -> None:
    bench = Bench().with_brokers([1, 2])
    bench.create("foo", numPartitions=1, replicationFactor=2)
    assert grow(bench, "foo", 2, *replicas) == Error.INVALID_REPLICA_ASSIGNMENT
    assert bench.names == []


def test_rt15_a_broker_with_several_directories_chooses_one_itself() -> None:
    bench = Bench()
    bench.register(1, logDirs=[directory(1, 1), directory(1, 2)])
    bench.beat(1)
    bench.with_brokers([2])
    bench.create("foo", replicationFactor=2)
    assert grow(bench, "foo", 2, [1, 2]) == Error.NONE
    assert bench.records[0][2]["directories"] == [UNASSIGNED, directory(2)]


def test_rt16_no_partition_is_added_where_nobody_could_lead_it() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.create("foo", replicationFactor=1)
    bench.beat(1, wantFence=True)
    bench.beat(2, wantFence=True)
    assert grow(bench, "foo", 2) == Error.INVALID_REPLICATION_FACTOR
    assert grow(bench, "foo", 2, [1]) == Error.INVALID_REPLICA_ASSIGNMENT


def test_a_topic_of_which_one_new_partition_has_no_leader_gets_none() -> None:
    """Kafka writes those before it, and says that the topic cannot grow."""
    bench = Bench().with_brokers([1, 2])
    bench.create("foo", replicationFactor=1)
    bench.beat(2, wantFence=True)
    assert grow(bench, "foo", 3, [1], [2]) == Error.INVALID_REPLICA_ASSIGNMENT
    assert bench.names == []


def test_rl11_a_preferred_election_is_never_unclean() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    bench.alter("foo", [1])
    bench.beat(1, wantFence=True)
    configs = {"unclean.leader.election.enable": "true"}
    bench.active.state.settings = replace(bench.settings, static_configs=configs)
    bench.active.state.known_configs.clear()
    assert bench.partition("foo").leader == -1
    assert elect(bench, PREFERRED, {"foo": [0]}) == {"foo": [Error.PREFERRED_LEADER_NOT_AVAILABLE]}
    assert bench.names == []


def test_rl12_elections_that_nobody_needs_are_left_out_of_all() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.assigned("foo", [1, 2], [2, 1])
    assert elect(bench, PREFERRED, {"foo": [0], "bar": [0]}) == {
        "foo": [Error.ELECTION_NOT_NEEDED],
        "bar": [Error.UNKNOWN_TOPIC_OR_PARTITION],
    }
    assert elect(bench, PREFERRED, None) == {"foo": []}
    assert elect(bench, UNCLEAN, {"foo": [1]}) == {"foo": [Error.ELECTION_NOT_NEEDED]}


def test_leadership_goes_back_to_the_preferred_replica_on_request() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    bench.beat(1, wantFence=True)
    bench.beat(1)
    assert bench.partition("foo").leader == 2
    bench.alter("foo", [2, 1])
    assert elect(bench, PREFERRED, {"foo": [0]}) == {"foo": [Error.NONE]}
    assert bench.partition("foo").leader == 1


def test_an_unclean_election_on_request_asks_no_topic() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    bench.alter("foo", [1])
    bench.beat(1, wantFence=True)
    assert bench.partition("foo").leader == -1
    assert elect(bench, UNCLEAN, {"foo": [0]}) == {"foo": [Error.NONE]}
    assert bench.partition("foo").leader == 2


def test_rl23_a_deleted_topic_is_in_no_elr() -> None:
    bench = Bench(elr=True, static_configs={"min.insync.replicas": "2"}).with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    bench.alter("foo", [1])
    assert bench.active.state.partitions.with_elr(2)
    delete(bench, {"name": "foo"})
    assert not bench.active.state.partitions.with_elr(2)


def test_rq3_items_that_cannot_be_meant() -> None:
    bench = Bench().with_brokers([1])
    for name in ("foo", "bar", "baz"):
        bench.create(name)
    ids = {name: bench.active.state.topic_id(name) for name in ("foo", "bar", "baz")}
    assert delete(
        bench,
        {"name": "foo", "topicId": ids["foo"]},
        {},
        {"name": "bar"},
        {"topicId": ids["bar"]},
        {"name": "baz"},
        {"name": "qux"},
    ) == [
        ("foo", Error.INVALID_REQUEST),
        (None, Error.INVALID_REQUEST),
        ("bar", Error.INVALID_REQUEST),
        ("bar", Error.INVALID_REQUEST),
        ("baz", Error.NONE),
        ("qux", Error.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.parametrize(
    ("version", "error"), [(6, Error.TOPIC_DELETION_DISABLED), (2, Error.INVALID_REQUEST)]
)
def test_rq5_deletion_may_be_disabled(version: int, error: Error) -> None:
    bench = Bench(static_configs={"delete.topic.enable": "false"}).with_brokers([1])
    bench.create("foo")
    body = (
        {"topicNames": ["foo"]} if version < 6 else {"topics": [{"name": "foo", "topicId": NO_ID}]}
    )
    answer = bench.ask("DeleteTopics", version, body | {"timeoutMs": 1_000})
    assert [response["errorCode"] for response in answer["responses"]] == [error]
    assert bench.active.state.topic_id("foo") is not None


def test_rq7_a_topic_that_is_asked_for_twice_does_not_grow() -> None:
    bench = Bench().with_brokers([1])
    bench.create("foo")
    topic = {"name": "foo", "count": 2, "assignments": None}
    body = {"topics": [topic, topic], "timeoutMs": 1_000, "validateOnly": False}
    answer = bench.ask("CreatePartitions", 3, body)
    assert [result["errorCode"] for result in answer["results"]] == [Error.INVALID_REQUEST]


def test_a_fenced_leader_leaves_and_its_topic_can_still_be_deleted() -> None:
    bench = Bench().with_brokers([1])
    bench.create("foo")
    bench.pass_time(SESSION_MS + 1)
    assert bench.partition("foo").leader == -1
    assert delete(bench, {"name": "foo"}) == [("foo", Error.NONE)]


def test_who_asks_for_nothing_needs_no_controller_and_a_refusal_names_each_item() -> None:
    assert answered_at_once("DeleteTopics", {"topics": [], "topicNames": []}) == {"responses": []}
    assert answered_at_once("CreatePartitions", {"topics": []}) == {"results": []}
    assert answered_at_once("ElectLeaders", {"topicPartitions": None}) is None
    refused = RequestRefused(Error.NOT_CONTROLLER)
    body = {"topics": [{"name": "foo", "topicId": NO_ID}]}
    [response] = refused_answer("DeleteTopics", body, refused)["responses"]
    assert (response["name"], response["errorCode"]) == ("foo", Error.NOT_CONTROLLER)


def test_kafka_4_4_refuses_all_of_a_request_that_adds_more_than_ten_thousand_partitions() -> None:
    """ReplicationControlManager of 4.4.0 counts them first; 4.3.0's refuses the topic alone."""
    for level, few in ((30, Error.NONE), (31, Error.POLICY_VIOLATION)):
        bench = Bench(level).with_brokers([1])
        items = []
        for name, count in (("few", 2), ("many", 10_001)):
            bench.create(name)
            items.append({"name": name, "count": count, "assignments": None})
        body = {"topics": items, "timeoutMs": 1_000, "validateOnly": False}
        answer = bench.ask("CreatePartitions", 3, body)
        errors = {result["name"]: result["errorCode"] for result in answer["results"]}
        assert errors == {"few": few, "many": Error.POLICY_VIOLATION}
