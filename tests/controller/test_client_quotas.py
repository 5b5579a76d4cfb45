"""The digest's scenarios of client quotas (MI10, MI11), and what Kafka's releases refuse."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kraftool.controller.answers import answered_at_once, refused_answer
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from tests.controller.bench import Bench

Entity = dict[str, str | None]
ALICE: Entity = {"user": "alice"}


def entry(entity: Entity, **quotas: float | None) -> dict[str, Any]:
    """An entity with the values that its quotas get; None removes one."""
    return {
        "entity": [{"entityType": kind, "entityName": name} for kind, name in entity.items()],
        "ops": [
            {"key": key, "value": value or 0.0, "remove": value is None}
            for key, value in quotas.items()
        ],
    }


def alter(bench: Bench, *entries: dict[str, Any], **fields: Any) -> list[int]:
    body = {"entries": list(entries), "validateOnly": False, **fields}
    answer = bench.ask("AlterClientQuotas", 1, body)
    return [item["errorCode"] for item in answer["entries"]]


def refusals(bench: Bench, *entries: dict[str, Any]) -> list[str | None]:
    """The sentence of each entity, which has to be refused if there is one."""
    body = {"entries": list(entries), "validateOnly": False}
    answer = bench.ask("AlterClientQuotas", 1, body)
    for item in answer["entries"]:
        is_refused = item["errorMessage"] is not None
        assert item["errorCode"] == (Error.INVALID_REQUEST if is_refused else Error.NONE)
    return [item["errorMessage"] for item in answer["entries"]]


@pytest.fixture
def bench() -> Bench:
    return Bench()


BYTES, CONNECTIONS = "producer_byte_rate", "connection_creation_rate"
COMBINED = "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"
TOO_LARGE = "Proposed value for {} is too large for {}."


@pytest.mark.parametrize(
    ("entity", "key", "value", "sentence"),
    [
        ({}, BYTES, 1.0, "Invalid empty client quota entity"),
        ({"group": "readers"}, BYTES, 1.0, "Unhandled client quota entity type: group"),
        ({"user": ""}, BYTES, 1.0, "Empty user not supported"),
        (
            {"ip": "10.0.0.1", "user": "alice"},
            CONNECTIONS,
            1.0,
            COMBINED,
        ),
        (
            {"ip": "no such host"},
            CONNECTIONS,
            1.0,
            "no such host is not a valid IP or resolvable host.",
        ),
        ({"ip": "10.0.0.1"}, BYTES, 1.0, f"Invalid configuration key {BYTES}"),
        (ALICE, CONNECTIONS, 1.0, f"Invalid configuration key {CONNECTIONS}"),
        (ALICE, "no_such_rate", 1.0, "Invalid configuration key no_such_rate"),
        (ALICE, BYTES, -1.0, f"Quota {BYTES} must be greater than 0"),
        (ALICE, BYTES, 1.5, f"{BYTES} cannot be a fractional value."),
        (ALICE, BYTES, 2.0**64, TOO_LARGE.format(BYTES, "a LONG")),
        ({"ip": None}, CONNECTIONS, 2.0**31, TOO_LARGE.format(CONNECTIONS, "an INT")),
    ],
    ids=str,
)
def test_mi10_what_no_entity_can_have_is_refused(
    bench: Bench, entity: Entity, key: str, value: float, sentence: str
) -> None:
    assert refusals(bench, entry(entity, **{key: value})) == [sentence]
    assert bench.names == []


def test_mi10_a_quota_of_0_is_refused(bench: Bench) -> None:
    zero = entry(ALICE, producer_byte_rate=1.0)
    zero["ops"][0]["value"] = 0.0
    assert alter(bench, zero) == [Error.INVALID_REQUEST]


@pytest.mark.parametrize(
    ("entity", "quotas"),
    [
        ({"user": None}, {"producer_byte_rate": 2.0**63}),
        ({"client-id": None}, {"request_percentage": 0.5}),
        ({"user": "alice", "client-id": "loader"}, {"controller_mutation_rate": 2.5}),
        ({"ip": None}, {"connection_creation_rate": 2.0**31 - 1}),
        ({"ip": "::1"}, {"connection_creation_rate": 1.0}),
        (ALICE, {"consumer_byte_rate": 3.0000001}),
    ],
    ids=str,
)
def test_what_kafka_accepts_is_written(
    bench: Bench, entity: Entity, quotas: dict[str, float]
) -> None:
    assert alter(bench, entry(entity, **quotas)) == [Error.NONE]
    [(name, _, record)] = bench.records
    assert name == "ClientQuotaRecord"
    assert {part["entityType"]: part["entityName"] for part in record["entity"]} == entity
    assert {record["key"]: record["value"]} == quotas


def test_mi11_a_record_is_written_only_for_what_changes(bench: Bench) -> None:
    written = []
    for value in (1_000.0, 1_000.0, 2_000.0, None, None):
        assert alter(bench, entry(ALICE, producer_byte_rate=value)) == [Error.NONE]
        written.append([(record["value"], record["remove"]) for _, _, record in bench.records])
    assert written == [[(1000.0, False)], [], [(2000.0, False)], [(0.0, True)], []]
    assert not bench.active.state.quotas_of((("user", "alice"),))


def test_an_entity_that_is_there_twice_is_refused_but_its_first_change_is_written(
    bench: Bench,
) -> None:
    once, twice = entry(ALICE, producer_byte_rate=1.0), entry(ALICE, consumer_byte_rate=1.0)
    assert refusals(bench, once, twice) == [
        "Ignoring duplicate entity ClientQuotaEntity(entries={user=alice})"
    ]
    assert [record["key"] for _, _, record in bench.records] == ["producer_byte_rate"]


def test_a_key_that_is_there_twice_is_refused(bench: Bench) -> None:
    doubled = entry(ALICE, producer_byte_rate=1.0)
    doubled["ops"] *= 2
    assert refusals(bench, doubled, entry({"user": "bob"}, producer_byte_rate=1.0)) == [
        "Ignoring duplicate entity ClientQuotaEntity(entries={user=alice})",
        None,
    ]


def test_an_entity_is_shown_in_the_order_of_javas_hash_map(bench: Bench) -> None:
    doubled = entry({"user": None, "client-id": "loader"}, producer_byte_rate=1.0)
    doubled["ops"] *= 2
    assert refusals(bench, doubled) == [
        "Ignoring duplicate entity ClientQuotaEntity(entries={client-id=loader, user=null})"
    ]


def test_one_wrong_value_keeps_all_of_an_entity_from_being_written(bench: Bench) -> None:
    mixed = entry(ALICE, producer_byte_rate=1.0, consumer_byte_rate=-1.0)
    assert alter(bench, mixed) == [Error.INVALID_REQUEST]
    assert bench.names == []


def test_a_dry_run_writes_nothing(bench: Bench) -> None:
    assert alter(bench, entry(ALICE, producer_byte_rate=1.0), validateOnly=True) == [Error.NONE]
    assert bench.names == []


def test_kafka_4_4_refuses_infinity_and_nan() -> None:
    """ClientQuotaControlManager of 4.3.0 takes both for a quota that may have fractions."""
    for level, expected in ((30, Error.NONE), (31, Error.INVALID_REQUEST)):
        bench = Bench(level)
        for value in (math.inf, math.nan):
            assert alter(bench, entry(ALICE, request_percentage=value)) == [expected]


def test_nan_is_not_written_twice() -> None:
    bench = Bench(30)
    for names in (["ClientQuotaRecord"], []):
        assert alter(bench, entry(ALICE, request_percentage=math.nan)) == [Error.NONE]
        assert bench.names == names


def test_a_request_without_entities_is_answered_by_any_controller() -> None:
    assert answered_at_once("AlterClientQuotas", {"entries": []}) == {"entries": []}


def test_another_controllers_refusal_names_each_entity() -> None:
    body = {"entries": [entry(ALICE, producer_byte_rate=1.0)], "validateOnly": False}
    answer = refused_answer("AlterClientQuotas", body, RequestRefused(Error.NOT_CONTROLLER))
    assert answer["entries"] == [
        {
            "entity": [{"entityType": "user", "entityName": "alice"}],
            "errorCode": Error.NOT_CONTROLLER,
            "errorMessage": None,
        }
    ]
