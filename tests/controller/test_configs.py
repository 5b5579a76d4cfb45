"""What the digest's scenarios of configs (MI, RQ6, RL21) say."""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.controller.answers import answered_at_once, refused_answer
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.image.configs import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    ConfigResource,
)
from tests.controller.bench import Bench

SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
THROTTLED = "leader.replication.throttled.replicas"


def resource(kind: int, name: str, *configs: tuple[str, int, str | None]) -> dict[str, Any]:
    return {
        "resourceType": kind,
        "resourceName": name,
        "configs": [
            {"name": key, "configOperation": operation, "value": value}
            for key, operation, value in configs
        ],
    }


def alter(bench: Bench, *resources: dict[str, Any], **fields: Any) -> list[int]:
    more = {"is_forwarded": fields.pop("is_forwarded", False)}
    body = {"resources": list(resources), "validateOnly": False, **fields}
    answer = bench.ask("IncrementalAlterConfigs", 1, body, **more)
    return [response["errorCode"] for response in answer["responses"]]


def there(bench: Bench, kind: int, name: str) -> dict[str, str]:
    return dict(bench.active.state.configs_of(ConfigResource(kind, name)))


@pytest.fixture
def bench() -> Bench:
    made = Bench().with_brokers([1])
    made.create("foo")
    return made


def test_mi1_a_resource_that_is_refused_keeps_no_other_from_being_written(bench: Bench) -> None:
    assert alter(
        bench,
        resource(TOPIC, "foo", ("retention.ms", SUBTRACT, "1")),
        resource(BROKER, "1", ("log.cleaner.threads", SET, "2")),
    ) == [Error.INVALID_CONFIG, Error.NONE]
    assert bench.names == ["ConfigRecord"]
    assert there(bench, BROKER, "1") == {"log.cleaner.threads": "2"}


def test_mi2_items_are_added_once_and_taken_once(bench: Bench) -> None:
    values: list[str | None] = []
    for operation, value in (
        (APPEND, "0:1,0:2,0:3"), (APPEND, "0:1,0:2"), (SUBTRACT, "0:1,0:2"), (SUBTRACT, "0:9"),
    ):  # fmt: skip
        assert alter(bench, resource(TOPIC, "foo", (THROTTLED, operation, value))) == [0]
        values += [record["value"] for _, _, record in bench.records] or [None]
    assert values == ["0:1,0:2,0:3", None, "0:3", None]


def test_mi3_a_broker_reads_again_what_is_set_to_the_same(bench: Bench) -> None:
    topic = resource(TOPIC, "foo", ("retention.ms", SET, "7"))
    broker = resource(BROKER, "1", ("log.cleaner.threads", SET, "2"))
    assert alter(bench, topic, broker) == [0, 0]
    assert alter(bench, topic, broker) == [0, 0]
    assert [value["resourceType"] for _, _, value in bench.records] == [BROKER]


def test_mi5_what_a_legacy_request_does_not_name_goes(bench: Bench) -> None:
    configs = (("retention.ms", SET, "7"), ("segment.ms", SET, "8"))
    alter(bench, resource(TOPIC, "foo", *configs))
    item = resource(TOPIC, "foo")
    item["configs"] = [{"name": "segment.ms", "value": "9"}]
    answer = bench.ask("AlterConfigs", 2, {"resources": [item], "validateOnly": False})
    assert [response["errorCode"] for response in answer["responses"]] == [Error.NONE]
    assert there(bench, TOPIC, "foo") == {"segment.ms": "9"}


def test_mi6_only_what_is_there_has_configs(bench: Bench) -> None:
    assert alter(
        bench,
        resource(TOPIC, "bar", ("retention.ms", SET, "7")),
        resource(BROKER, "7", ("log.cleaner.threads", SET, "7")),
        resource(BROKER, "", ("log.cleaner.threads", SET, "7")),
        resource(BROKER, "one", ("log.cleaner.threads", SET, "7")),
        resource(TOPIC, "", ("retention.ms", SET, "7")),
        resource(BROKER_LOGGER, "1", ("kafka", SET, "INFO")),
    ) == [
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        Error.BROKER_ID_NOT_REGISTERED,
        Error.NONE,
        Error.INVALID_REQUEST,
        Error.INVALID_REQUEST,
        Error.INVALID_REQUEST,
    ]


def test_mi7_with_elr_every_broker_has_the_clusters_min_insync_replicas() -> None:
    bench = Bench(elr=True).with_brokers([1])
    config = "min.insync.replicas"
    assert alter(bench, resource(BROKER, "1", (config, SET, "2"))) == [Error.INVALID_CONFIG]
    assert alter(bench, resource(BROKER, "", (config, DELETE, None))) == [Error.INVALID_CONFIG]
    assert alter(bench, resource(BROKER, "", (config, SET, "2"))) == [Error.NONE]
    assert bench.names == ["ConfigRecord", "ClearElrRecord"]


def test_mi8_a_value_has_its_longest(bench: Bench) -> None:
    for length, error in ((32_767, Error.NONE), (32_768, Error.INVALID_CONFIG)):
        value = resource(BROKER, "1", ("listener.name.x.y", SET, "x" * length))
        assert alter(bench, value) == [error]


def test_rl21_eligible_leaders_go_where_min_insync_replicas_changes() -> None:
    bench = Bench(elr=True, static_configs={"min.insync.replicas": "2"}).with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    bench.alter("foo", [1])
    before = bench.partition("foo")
    assert before.elr == (2,)
    assert alter(bench, resource(TOPIC, "foo", ("min.insync.replicas", SET, "1"))) == [0]
    assert bench.partition("foo").elr == ()
    assert bench.partition("foo").partition_epoch == before.partition_epoch + 1


def test_rl10_an_unclean_election_follows_when_a_topic_allows_it() -> None:
    bench = Bench(unclean_election_check_ms=5_000).with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    bench.alter("foo", [1])
    bench.beat(1, wantFence=True)
    bench.pass_time(5_000)
    assert bench.partition("foo").leader == -1
    allowed = ("unclean.leader.election.enable", SET, "true")
    assert alter(bench, resource(TOPIC, "foo", allowed)) == [0]
    bench.pass_time(3_000)
    bench.beat(2)
    bench.pass_time(2_000)
    assert bench.partition("foo").leader == 2


def test_rq6_resources_that_cannot_be_meant(bench: Bench) -> None:
    twice = resource(TOPIC, "foo", ("retention.ms", SET, "7"))
    unknown = resource(3, "foo", ("retention.ms", SET, "7"))
    assert alter(bench, twice, twice, unknown) == [
        Error.INVALID_REQUEST,
        Error.UNSUPPORTED_VERSION,
    ]
    assert bench.names == []


def test_only_a_broker_knows_its_directories() -> None:
    bench = Bench(30).with_brokers([1])
    cordoned = resource(BROKER, "1", ("cordoned.log.dirs", SET, "/a,/b"))
    fewer = resource(BROKER, "1", ("cordoned.log.dirs", SET, "/b"))
    assert alter(bench, cordoned) == [Error.INVALID_CONFIG]
    assert alter(bench, cordoned, is_forwarded=True) == [Error.NONE]
    assert alter(bench, fewer) == [Error.NONE]


@pytest.mark.parametrize(
    ("kind", "config", "value", "error"),
    [
        (GROUP, "consumer.session.timeout.ms", "50000", Error.NONE),
        (GROUP, "consumer.session.timeout.ms", "44999", Error.INVALID_CONFIG),
        (GROUP, "share.auto.offset.reset", "by_duration:PT1H", Error.NONE),
        (GROUP, "share.auto.offset.reset", "by_duration:-PT1H", Error.INVALID_CONFIG),
        (GROUP, "consumer.group.instance", "1", Error.INVALID_CONFIG),
        (CLIENT_METRICS, "interval.ms", "100", Error.NONE),
        (CLIENT_METRICS, "interval.ms", "99", Error.INVALID_REQUEST),
        (CLIENT_METRICS, "match", "client_id=b.*", Error.NONE),
        (CLIENT_METRICS, "match", "client_id=[", Error.INVALID_CONFIG),
        (CLIENT_METRICS, "push.ms", "100", Error.INVALID_REQUEST),
    ],
)
def test_groups_and_client_metrics_have_configs_of_their_own(
    bench: Bench, kind: int, config: str, value: str, error: Error
) -> None:
    assert alter(bench, resource(kind, "some", (config, SET, value))) == [error]
    assert alter(bench, resource(kind, "", (config, SET, value))) == [Error.INVALID_REQUEST]


def test_a_dry_run_writes_nothing_and_a_refusal_names_each_resource(bench: Bench) -> None:
    item = resource(TOPIC, "foo", ("retention.ms", SET, "7"))
    assert alter(bench, item, validateOnly=True) == [Error.NONE]
    assert bench.names == []
    assert answered_at_once("AlterConfigs", {"resources": []}) == {"responses": []}
    refused = RequestRefused(Error.NOT_CONTROLLER)
    [response] = refused_answer("AlterConfigs", {"resources": [item]}, refused)["responses"]
    assert (response["resourceName"], response["errorCode"]) == ("foo", Error.NOT_CONTROLLER)
