"""Topics and resources that a client may not touch, among others that it may.

The codes, and what an answer may show, are those of Kafka 4.3's ControllerApis and ConfigHelper.
"""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.controller.describe_configs import describe_configs
from kraftool.controller.permissions import NotPermitted, Permissions
from kraftool.decoders.error_codes import Error
from kraftool.image.configs import BROKER, BROKER_LOGGER, GROUP, TOPIC
from kraftool.image.image import EMPTY
from kraftool.image.uuids import NO_ID
from tests.controller.bench import Bench


def only(*allowed: tuple[str, ...]) -> Permissions:
    """Permissions for these: operation, type of resource, and a name if it is no other."""
    return Permissions(
        lambda operation, resource, name: (
            (operation, resource) in allowed or (operation, resource, name) in allowed
        )
    )


@pytest.fixture
def bench() -> Bench:
    made = Bench().with_brokers([1])
    made.create("mine")
    made.create("theirs")
    return made


def _create(bench: Bench, permissions: Permissions, *names: str) -> dict[str, dict[str, Any]]:
    topic = {"numPartitions": 1, "replicationFactor": 1, "assignments": [], "configs": []}
    topics = [{"name": name, **topic} for name in names]
    body = {"topics": topics, "timeoutMs": 1, "validateOnly": False}
    answer = bench.ask("CreateTopics", 7, body, permissions=permissions)
    return {item["name"]: item for item in answer["topics"]}


def test_a_topic_is_created_by_whoever_may_create_it_or_any(bench: Bench) -> None:
    permissions = only(("CREATE", "TOPIC", "new"))
    created = _create(bench, permissions, "new", "other", "theirs")
    assert created["new"]["errorCode"] == Error.NONE
    # Nobody learns in this way which topics there are.
    for name in ("other", "theirs"):
        assert created[name]["errorCode"] == Error.TOPIC_AUTHORIZATION_FAILED
        assert created[name]["errorMessage"] == "Authorization failed."
    assert bench.names == ["TopicRecord", "PartitionRecord"]
    assert permissions.refused == [
        NotPermitted("CREATE", "TOPIC", "other"),
        NotPermitted("CREATE", "TOPIC", "theirs"),
    ]
    anything = _create(bench, only(("CREATE", "CLUSTER")), "other", "theirs")
    assert anything["other"]["errorCode"] == Error.NONE
    assert anything["theirs"]["errorCode"] == Error.TOPIC_ALREADY_EXISTS


def test_the_configs_of_a_new_topic_are_shown_to_whoever_may_see_them(bench: Bench) -> None:
    may_create = ("CREATE", "CLUSTER")
    hidden = _create(bench, only(may_create), "a")["a"]
    assert hidden["topicConfigErrorCode"] == Error.TOPIC_AUTHORIZATION_FAILED
    assert "configs" not in hidden
    shown = _create(bench, only(may_create, ("DESCRIBE_CONFIGS", "TOPIC", "b")), "b")["b"]
    assert shown["topicConfigErrorCode"] == Error.NONE
    assert shown["configs"]


def test_nobody_creates_the_topic_of_the_metadata(bench: Bench) -> None:
    name = "__cluster_metadata"
    refused = _create(bench, only(("CREATE", "CLUSTER")), name, "new")
    assert refused[name]["errorCode"] == Error.INVALID_REQUEST
    text = "Creation of internal topic __cluster_metadata is prohibited."
    assert refused[name]["errorMessage"] == text
    assert refused["new"]["errorCode"] == Error.NONE


def test_a_topic_gets_partitions_from_whoever_may_alter_it(bench: Bench) -> None:
    topics = [{"name": name, "count": 3, "assignments": None} for name in ("mine", "theirs", "no")]
    body = {"topics": topics, "timeoutMs": 1, "validateOnly": False}
    permissions = only(("ALTER", "TOPIC", "mine"))
    answer = bench.ask("CreatePartitions", 3, body, permissions=permissions)
    assert {item["name"]: item["errorCode"] for item in answer["results"]} == {
        "mine": Error.NONE,
        "theirs": Error.TOPIC_AUTHORIZATION_FAILED,
        "no": Error.TOPIC_AUTHORIZATION_FAILED,
    }


def _delete(bench: Bench, permissions: Permissions, *topics: dict[str, Any]) -> list[Any]:
    asked = [{"name": None, "topicId": NO_ID} | topic for topic in topics]
    body = {"topics": asked, "timeoutMs": 1}
    answer = bench.ask("DeleteTopics", 6, body, permissions=permissions)
    return [(item["name"], item["topicId"], item["errorCode"]) for item in answer["responses"]]


def test_a_topic_is_deleted_by_whoever_may_delete_it_or_any(bench: Bench) -> None:
    state = bench.active.state
    mine, theirs = state.topic_id("mine"), state.topic_id("theirs")
    assert mine is not None
    assert theirs is not None
    refused, unknown = Error.TOPIC_AUTHORIZATION_FAILED, "T" * 21 + "A"
    may = only(("DELETE", "TOPIC", "mine"), ("DESCRIBE", "TOPIC", "mine"))
    # The name of an id, and the id of a name, are shown to nobody who may not describe the topic.
    assert _delete(
        bench, may, {"topicId": theirs}, {"name": "no"}, {"topicId": unknown}, {"name": "mine"}
    ) == [
        (None, theirs, refused),
        ("no", NO_ID, refused),
        (None, unknown, Error.UNKNOWN_TOPIC_ID),
        ("mine", mine, Error.NONE),
    ]
    assert _delete(bench, only(), {"name": "theirs"}) == [("theirs", NO_ID, refused)]
    may_see = only(("DESCRIBE", "TOPIC"))
    assert _delete(bench, may_see, {"topicId": theirs}, {"name": "no"}) == [
        ("theirs", theirs, refused),
        ("no", NO_ID, Error.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert _delete(bench, may_see, {"name": "theirs"}) == [("theirs", NO_ID, refused)]
    assert _delete(bench, only(("DELETE", "CLUSTER")), {"topicId": theirs}) == [
        ("theirs", theirs, Error.NONE)
    ]


def test_a_request_that_names_a_topic_twice_tells_a_stranger_nothing_of_it(bench: Bench) -> None:
    theirs = bench.active.state.topic_id("theirs")
    twice = {"topicId": theirs}, {"topicId": theirs}
    assert _delete(bench, only(), *twice) == [(None, theirs, Error.INVALID_REQUEST)] * 2
    refused = Error.TOPIC_AUTHORIZATION_FAILED
    assert _delete(bench, only(), {"topicId": theirs}, {"name": "theirs"}) == [
        (None, theirs, refused),
        ("theirs", NO_ID, refused),
    ]


_RESOURCES = [(TOPIC, "mine"), (TOPIC, "theirs"), (GROUP, "g"), (BROKER, "1")]


@pytest.mark.parametrize("api", ["IncrementalAlterConfigs", "AlterConfigs"])
def test_configs_are_altered_by_whoever_may_alter_those_of_the_resource(
    bench: Bench, api: str
) -> None:
    resources = [
        {"resourceType": kind, "resourceName": name, "configs": []} for kind, name in _RESOURCES
    ]
    body = {"resources": resources, "validateOnly": False}

    def codes(permissions: Permissions) -> list[int]:
        answer = bench.ask(api, 0, body, permissions=permissions)
        return [item["errorCode"] for item in answer["responses"]]

    topic, group = Error.TOPIC_AUTHORIZATION_FAILED, Error.GROUP_AUTHORIZATION_FAILED
    cluster = Error.CLUSTER_AUTHORIZATION_FAILED
    assert codes(only()) == [topic, topic, group, cluster]
    assert codes(only(("ALTER_CONFIGS", "TOPIC", "mine"))) == [0, topic, group, cluster]
    assert codes(only(("ALTER_CONFIGS", "GROUP", "g"))) == [topic, topic, 0, cluster]
    assert codes(only(("ALTER_CONFIGS", "CLUSTER"))) == [topic, topic, group, 0]


def test_a_logger_takes_another_permission_than_a_brokers_configs(bench: Bench) -> None:
    resource = {"resourceType": BROKER_LOGGER, "resourceName": "3000", "configs": []}
    body = {"resources": [resource], "validateOnly": False}
    permissions = only(("ALTER_CONFIGS", "CLUSTER"))
    answer = bench.ask("IncrementalAlterConfigs", 1, body, permissions=permissions)
    assert answer["responses"][0]["errorCode"] == Error.CLUSTER_AUTHORIZATION_FAILED
    assert permissions.refused == [NotPermitted("CLUSTER_ACTION", "CLUSTER", "kafka-cluster")]


def test_configs_are_shown_to_whoever_may_see_those_of_the_resource() -> None:
    resources = [
        {"resourceType": kind, "resourceName": name, "configurationKeys": None}
        for kind, name in ((GROUP, "g"), (GROUP, "h"), (BROKER, ""))
    ]
    answer = describe_configs(
        EMPTY,
        {"resources": resources},
        only(("DESCRIBE_CONFIGS", "GROUP", "g")),
        node_id=1,
        static_configs={},
    )
    assert [item["errorCode"] for item in answer["results"]] == [
        Error.NONE,
        Error.GROUP_AUTHORIZATION_FAILED,
        Error.CLUSTER_AUTHORIZATION_FAILED,
    ]
    assert [bool(item["configs"]) for item in answer["results"]] == [True, False, False]
