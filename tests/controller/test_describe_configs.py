"""DescribeConfigs: values, and where they come from. Kafka's own answers to the same questions are
compared in tests/interop/test_admin_tools.py."""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.controller.describe_configs import describe_configs, refused_description
from kraftool.controller.permissions import everything
from kraftool.decoders.error_codes import Error
from kraftool.image.configs import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.loader import ImageLoader

NODE = 3000
NODE_SOURCE, CLUSTER_SOURCE, FILE_SOURCE, DEFAULT_SOURCE, GROUP_SOURCE = 2, 3, 4, 5, 8


def image_with(*configs: tuple[int, str, str, str]) -> MetadataImage:
    loader = ImageLoader()
    level = {"name": "metadata.version", "featureLevel": 30}
    loader.replay(0, "FeatureLevelRecord", level)
    loader.replay(1, "TopicRecord", {"name": "words", "topicId": "AAAAAAAAAAAAAAAAAAAAAg"})
    for offset, (kind, resource, name, value) in enumerate(configs, 2):
        record = {"resourceType": kind, "resourceName": resource, "name": name, "value": value}
        loader.replay(offset, "ConfigRecord", record)
    loader.end_batch(1 + len(configs), 1, 0)
    return loader.image()


def result(image: MetadataImage, kind: int, name: str, *keys: str, **file: str) -> dict[str, Any]:
    resource = {"resourceType": kind, "resourceName": name, "configurationKeys": list(keys) or None}
    request = {"resources": [resource], "includeSynonyms": True}
    static = {key.replace("_", "."): value for key, value in file.items()}
    answer = describe_configs(image, request, everything(), node_id=NODE, static_configs=static)
    [described] = answer["results"]
    assert isinstance(described, dict)
    return described


def values(described: dict[str, Any]) -> dict[str, str | None]:
    assert described["errorCode"] == Error.NONE
    return {config["name"]: config["value"] for config in described["configs"]}


def sources(described: dict[str, Any]) -> list[tuple[str, str | None, int]]:
    [config] = described["configs"]
    return [(item["name"], item["value"], item["source"]) for item in config["synonyms"]]


def test_a_nodes_own_config_goes_before_the_clusters_the_files_and_the_default() -> None:
    image = image_with(
        (BROKER, str(NODE), "log.cleaner.threads", "3"),
        (BROKER, "", "log.cleaner.threads", "2"),
    )
    described = result(image, BROKER, str(NODE), "log.cleaner.threads", log_cleaner_threads="4")
    assert values(described) == {"log.cleaner.threads": "3"}
    assert [(value, source) for _, value, source in sources(described)] == [
        ("3", NODE_SOURCE),
        ("2", CLUSTER_SOURCE),
        ("4", FILE_SOURCE),
        ("1", DEFAULT_SOURCE),
    ]


def test_the_same_time_in_other_units_stands_behind_it() -> None:
    described = result(EMPTY, BROKER, str(NODE), "log.retention.ms", log_retention_minutes="9")
    assert values(described) == {"log.retention.ms": None}
    assert described["configs"][0]["configSource"] == DEFAULT_SOURCE
    image = image_with((BROKER, str(NODE), "log.retention.ms", "70000"))
    described = result(image, BROKER, str(NODE), "log.retention.ms", log_retention_minutes="9")
    assert sources(described) == [
        ("log.retention.ms", "70000", NODE_SOURCE),
        ("log.retention.minutes", "9", FILE_SOURCE),
        ("log.retention.hours", "168", DEFAULT_SOURCE),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "ssl.keystore.password",
        "listener.name.external.ssl.key.password",
        "listener.name.sasl.plain.sasl.jaas.config",
        "some.plugin.setting",
    ],
)
def test_secrets_and_what_no_configdef_knows_have_no_value(name: str) -> None:
    resource = {"resourceType": BROKER, "resourceName": str(NODE), "configurationKeys": [name]}
    request = {"resources": [resource], "includeSynonyms": True}
    answer = describe_configs(
        EMPTY, request, everything(), node_id=NODE, static_configs={name: "CANARY"}
    )
    [config] = answer["results"][0]["configs"]
    assert config["isSensitive"]
    assert "CANARY" not in str(answer)


def test_without_a_name_only_the_clusters_configs_are_listed() -> None:
    image = image_with((BROKER, "", "num.io.threads", "3"), (BROKER, str(NODE), "a", "b"))
    described = result(image, BROKER, "")
    assert values(described) == {"num.io.threads": "3"}
    assert sources(described) == [("num.io.threads", "3", CLUSTER_SOURCE)]


def test_a_topics_config_comes_from_the_node_if_the_topic_has_none() -> None:
    image = image_with((TOPIC, "words", "cleanup.policy", "compact, delete"))
    assert values(result(image, TOPIC, "words", "cleanup.policy")) == {
        "cleanup.policy": "compact,delete"
    }
    assert values(result(image, TOPIC, "words", "retention.ms", log_retention_hours="2")) == {
        "retention.ms": str(2 * 3_600_000)
    }


def test_a_groups_config_has_its_own_source() -> None:
    image = image_with((GROUP, "readers", "consumer.session.timeout.ms", "50000"))
    described = result(image, GROUP, "readers", "consumer.session.timeout.ms")
    assert sources(described) == [
        ("consumer.session.timeout.ms", "50000", GROUP_SOURCE),
        ("group.consumer.session.timeout.ms", "45000", DEFAULT_SOURCE),
    ]


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (BROKER, "11", Error.INVALID_REQUEST),
        (BROKER, "one", Error.INVALID_REQUEST),
        (BROKER_LOGGER, "", Error.INVALID_REQUEST),
        (BROKER_LOGGER, str(NODE), Error.NONE),
        (TOPIC, "no-such-topic", Error.UNKNOWN_TOPIC_OR_PARTITION),
        (GROUP, "", Error.INVALID_REQUEST),
        (CLIENT_METRICS, "", Error.INVALID_REQUEST),
        (77, "x", Error.INVALID_REQUEST),
    ],
)
def test_what_this_node_cannot_describe_is_refused(kind: int, name: str, error: Error) -> None:
    assert result(EMPTY, kind, name)["errorCode"] == error


def test_who_may_not_ask_learns_nothing() -> None:
    request = {"resources": [{"resourceType": BROKER, "resourceName": str(NODE)}]}
    answer = refused_description(request, Error.CLUSTER_AUTHORIZATION_FAILED)
    [described] = answer["results"]
    assert (described["errorCode"], described["configs"]) == (
        Error.CLUSTER_AUTHORIZATION_FAILED,
        [],
    )


def test_a_value_that_is_no_number_is_shown_as_it_is() -> None:
    """A file or an old record can have one; whoever describes it wants to see it."""
    described = result(EMPTY, BROKER, str(NODE), "num.io.threads", num_io_threads=" many ")
    assert values(described) == {"num.io.threads": "many"}
    image = image_with((TOPIC, "words", "retention.ms", "soon"))
    assert values(result(image, TOPIC, "words", "retention.ms")) == {"retention.ms": "soon"}
    image = image_with((TOPIC, "words", "a", "b"))
    described = result(image, TOPIC, "words", "retention.ms", log_retention_hours="soon")
    assert values(described) == {"retention.ms": "soon"}
