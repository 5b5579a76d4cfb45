"""The quota on partitions that clients create and delete, as Kafka's ControllerMutationQuotaManager
has it. The expected times are those of its TokenBucket: eleven windows of a second.
"""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.controller.mutation_quota import MutationQuota, MutationQuotas
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.image.client_quotas import ClientQuotasImage, QuotaEntity
from tests.controller.bench import Bench

RATE = "controller_mutation_rate"
NOW_MS = 1_000_000
Entity = dict[str, str | None]


def quotas(*rates: tuple[Entity, float]) -> MutationQuotas:
    made = MutationQuotas()
    made.use(image(*rates))
    return made


def image(*rates: tuple[Entity, float]) -> ClientQuotasImage:
    entities: dict[QuotaEntity, dict[str, float]] = {
        tuple(sorted(entity.items())): {RATE: rate} for entity, rate in rates
    }
    return ClientQuotasImage(entities=entities)


def strict(made: MutationQuotas, user: str = "alice", client_id: str | None = "c") -> MutationQuota:
    quota = made.of("CreateTopics", 6, user=user, client_id=client_id, now_ms=NOW_MS)
    assert quota is not None
    return quota


def test_a_strict_quota_lets_one_request_exceed_it_and_refuses_the_next() -> None:
    made = quotas(({"user": "alice"}, 2.0))
    first, second = strict(made), strict(made)
    first.charge(30, NOW_MS)  # of 22 tokens
    with pytest.raises(RequestRefused) as refused:
        second.charge(1, NOW_MS)
    assert refused.value.error is Error.THROTTLING_QUOTA_EXCEEDED
    assert (first.throttle_time_ms(NOW_MS), second.throttle_time_ms(NOW_MS)) == (0, 4_000)
    assert second.throttle_time_ms(NOW_MS + 1_500) == 2_500
    strict(made).charge(1, NOW_MS + 4_000)


def test_an_older_client_is_not_refused_but_has_to_wait() -> None:
    made = quotas(({"user": "alice"}, 2.0))
    quota = made.of("CreateTopics", 5, user="alice", client_id="c", now_ms=NOW_MS)
    assert quota is not None
    quota.charge(30, NOW_MS)
    assert quota.throttle_time_ms(NOW_MS) == 4_000
    quota.charge(2, NOW_MS)
    assert quota.throttle_time_ms(NOW_MS) == 5_000


@pytest.mark.parametrize(
    ("api", "strict_since"), [("CreateTopics", 6), ("DeleteTopics", 5), ("CreatePartitions", 3)]
)
def test_each_request_is_strict_from_its_own_version_on(api: str, strict_since: int) -> None:
    made = quotas(({"user": "alice"}, 1.0))
    for version, is_refused in ((strict_since - 1, False), (strict_since, True)):
        quota = made.of(api, version, user="alice", client_id="c", now_ms=NOW_MS)
        assert quota is not None
        quota.charge(100, NOW_MS) if not is_refused else None
        if is_refused:
            with pytest.raises(RequestRefused):
                quota.charge(1, NOW_MS)


def test_without_such_a_quota_nothing_is_charged() -> None:
    assert quotas().of("CreateTopics", 7, user="alice", client_id="c", now_ms=NOW_MS) is None
    made = quotas(({"user": "alice"}, 1.0))
    assert made.of("ElectLeaders", 2, user="alice", client_id="c", now_ms=NOW_MS) is None
    strict(made, user="bob").charge(1_000_000, NOW_MS)
    strict(made, user="bob").charge(1, NOW_MS)


BOTH: Entity = {"user": "alice", "client-id": "c"}


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([({"user": None}, 5.0), ({"client-id": "c"}, 6.0)], 5.0),
        ([({"client-id": "c"}, 6.0), ({"client-id": None}, 7.0)], 6.0),
        ([({"client-id": None}, 7.0)], 7.0),
        ([({"user": "alice"}, 4.0), ({"user": None}, 5.0)], 4.0),
        ([({"user": None, "client-id": "c"}, 3.0), ({"user": "alice"}, 4.0)], 4.0),
        ([({"user": None, "client-id": "c"}, 3.0), ({"user": None}, 5.0)], 3.0),
        ([({"user": "alice", "client-id": None}, 2.0), ({"user": "alice"}, 4.0)], 2.0),
        ([({"user": None, "client-id": None}, 3.5), ({"user": None}, 5.0)], 3.5),
        ([(BOTH, 1.0), ({"user": "alice", "client-id": None}, 2.0)], 1.0),
        ([({"user": "bob"}, 1.0), ({"client-id": "c"}, 6.0)], 6.0),
    ],
    ids=str,
)
def test_the_most_specific_quota_applies(rates: list[Any], expected: float) -> None:
    """The order of Kafka's documentation of quotas: user and client, user, client."""
    quota = strict(quotas(*rates))
    quota.charge(1_000, NOW_MS)
    with pytest.raises(RequestRefused):
        quota.charge(1, NOW_MS)
    missing = 1_000 - 11 * expected
    assert quota.throttle_time_ms(NOW_MS) == int(missing / expected * 1_000 + 0.5)


def test_clients_of_one_user_share_its_quota() -> None:
    made = quotas(({"user": "alice"}, 1.0))
    strict(made, client_id="one").charge(20, NOW_MS)
    with pytest.raises(RequestRefused):
        strict(made, client_id="two").charge(1, NOW_MS)
    strict(made, user="bob").charge(1, NOW_MS)


def test_a_changed_quota_applies_to_what_was_charged_before() -> None:
    made = quotas(({"user": "alice"}, 1.0))
    strict(made).charge(21, NOW_MS)
    made.use(image(({"user": "alice"}, 10.0)))
    quota = strict(made)
    with pytest.raises(RequestRefused):
        quota.charge(1, NOW_MS)
    assert quota.throttle_time_ms(NOW_MS) == 1_000


def test_an_hour_without_requests_forgets_what_was_charged() -> None:
    """Kafka's sensors expire, so that their token buckets are full again."""
    made = quotas(({"user": "alice"}, 0.001))
    strict(made).charge(1_000, NOW_MS)
    later = NOW_MS + 3_600_001
    quota = made.of("CreateTopics", 7, user="alice", client_id="c", now_ms=later)
    assert quota is not None
    quota.charge(1, later)


# What a controller does with it


def test_topics_over_the_quota_are_refused_one_by_one() -> None:
    bench = Bench().with_brokers([1])
    made = quotas(({"user": "alice"}, 1.0))
    topics: list[dict[str, Any]] = [
        {
            "name": name,
            "numPartitions": 8,
            "replicationFactor": 1,
            "assignments": [],
            "configs": [],
        }
        for name in ("a", "b", "c")
    ]
    body = {"topics": topics, "timeoutMs": 1_000, "validateOnly": False}
    answer = bench.ask("CreateTopics", 7, body, mutation_quota=strict(made))
    assert [topic["errorCode"] for topic in answer["topics"]] == [
        Error.NONE,
        Error.NONE,  # with 16 of 11 tokens
        Error.THROTTLING_QUOTA_EXCEEDED,
    ]
    assert bench.names.count("TopicRecord") == 2


def test_a_dry_run_is_charged_too() -> None:
    bench = Bench().with_brokers([1])
    bench.create("a", numPartitions=4)
    quota = strict(quotas(({"user": "alice"}, 1.0)))
    grown = {"topics": [{"name": "a", "count": 40, "assignments": None}], "timeoutMs": 1_000}
    for expected in (Error.NONE, Error.THROTTLING_QUOTA_EXCEEDED):
        body = {**grown, "validateOnly": True}
        answer = bench.ask("CreatePartitions", 3, body, mutation_quota=quota)
        assert [topic["errorCode"] for topic in answer["results"]] == [expected]


def test_a_deleted_topic_is_charged_by_its_partitions() -> None:
    bench = Bench().with_brokers([1])
    for name in ("a", "b"):
        bench.create(name, numPartitions=12)
    quota = strict(quotas(({"user": "alice"}, 1.0)))
    body = {"topics": [{"name": name, "topicId": "A" * 22} for name in ("a", "b")]}
    answer = bench.ask("DeleteTopics", 6, {**body, "timeoutMs": 1_000}, mutation_quota=quota)
    assert [topic["errorCode"] for topic in answer["responses"]] == [
        Error.NONE,
        Error.THROTTLING_QUOTA_EXCEEDED,
    ]
    assert bench.active.state.topic_id("b") is not None
