"""What the digest's scenarios of ACLs (MI12, MI13) say, and Kafka's texts."""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.controller.acl_filters import can_be_read, describe_acls
from kraftool.controller.answers import answered_at_once, refused_answer
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.image.acls import ACL_OPERATIONS, ACL_PERMISSIONS, ACL_RESOURCES, StandardAcl
from tests.controller.bench import Bench

ANY, MATCH, LITERAL, PREFIXED, UNHEARD_OF = 1, 2, 3, 4, 99
TOPIC, GROUP, CLUSTER = map(ACL_RESOURCES.index, ("TOPIC", "GROUP", "CLUSTER"))
READ, WRITE = map(ACL_OPERATIONS.index, ("READ", "WRITE"))
DENY, ALLOW = map(ACL_PERMISSIONS.index, ("DENY", "ALLOW"))

DONE = (0, "")
"""The code and the words of a creation that Kafka carries out."""
NO_COLON = (
    "Could not parse principal from `alice` (no colon is present separating the principal type from"
    " the principal name)"
)
TOO_LONG = (
    "Invalid CIDR notation '::1/129': Could not parse [::1/129] - prefix length must be between 0"
    " and 128"
)


def acl(name: str = "words", **fields: Any) -> dict[str, Any]:
    return {
        "resourceType": TOPIC,
        "resourceName": name,
        "resourcePatternType": LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": READ,
        "permissionType": ALLOW,
    } | fields


def wanted(name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "resourceTypeFilter": ANY,
        "resourceNameFilter": name,
        "patternTypeFilter": ANY,
        "principalFilter": None,
        "hostFilter": None,
        "operation": ANY,
        "permissionType": ANY,
    } | fields


def create(bench: Bench, *creations: dict[str, Any]) -> list[tuple[int, str | None]]:
    answer = bench.ask("CreateAcls", 3, {"creations": list(creations)})
    return [(result["errorCode"], result["errorMessage"]) for result in answer["results"]]


def delete(bench: Bench, *filters: dict[str, Any]) -> list[list[str]]:
    """The names of the resources whose ACLs each filter removed."""
    answer = bench.ask("DeleteAcls", 3, {"filters": list(filters)})
    assert all(result["errorCode"] == 0 for result in answer["filterResults"])
    return [
        [matching["resourceName"] for matching in result["matchingAcls"]]
        for result in answer["filterResults"]
    ]


def there(bench: Bench) -> list[StandardAcl]:
    return [acl for _, acl in bench.active.state.acls()]


def test_mi12_an_acl_is_written_once_however_often_it_is_asked_for() -> None:
    bench = Bench()
    assert create(bench, acl(), acl("other"), acl()) == [DONE] * 3
    assert bench.names == ["AccessControlEntryRecord"] * 2
    assert create(bench, acl()) == [DONE]
    assert bench.names == []
    assert create(bench, acl(permissionType=DENY)) == [DONE]
    assert len(there(bench)) == 3


def test_mi12_an_acl_is_removed_once_and_told_to_each_filter_that_it_fits() -> None:
    bench = Bench()
    create(bench, acl("a"), acl("b"), acl("c", operation=WRITE))
    assert delete(bench, wanted(operation=READ), wanted("b"), wanted("d")) == [
        ["a", "b"],
        ["b"],
        [],
    ]
    assert bench.names == ["RemoveAccessControlEntryRecord"] * 2
    assert [acl.resource_name for acl in there(bench)] == ["c"]
    assert create(bench, acl("a")) == [DONE]
    assert bench.names == ["AccessControlEntryRecord"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"resourceType": UNHEARD_OF}, "Invalid resourceType UNKNOWN"),
        ({"resourcePatternType": UNHEARD_OF}, "Invalid patternType UNKNOWN"),
        ({"operation": -3}, "Invalid operation UNKNOWN"),
        ({"permissionType": UNHEARD_OF}, "Invalid permissionType UNKNOWN"),
        ({"resourceName": ""}, "Invalid empty resource name"),
        (
            {"resourceType": CLUSTER, "resourceName": "my-cluster"},
            "The only valid name for the CLUSTER resource is kafka-cluster",
        ),
        (
            {"principal": "alice"},
            NO_COLON,
        ),
    ],
)
def test_mi13_an_acl_that_cannot_be_is_refused_in_kafkas_words_and_keeps_no_other_back(
    fields: dict[str, Any], text: str
) -> None:
    bench = Bench()
    assert create(bench, acl(**fields), acl("good")) == [(Error.INVALID_REQUEST, text), DONE]
    assert [acl.resource_name for acl in there(bench)] == ["good"]


@pytest.mark.parametrize(
    "fields",
    [
        {"resourceType": ANY}, {"resourcePatternType": MATCH}, {"resourcePatternType": ANY},
        {"operation": ANY}, {"permissionType": ANY},
    ],
)  # fmt: skip
def test_kafka_fails_at_a_request_with_an_acl_for_anything(fields: dict[str, Any]) -> None:
    bench = Bench()
    assert create(bench, acl(**fields), acl()) == [(Error.UNKNOWN_SERVER_ERROR, None)] * 2
    assert bench.names == []


@pytest.mark.parametrize(
    ("level", "host", "code", "text"),
    [
        (30, "", 0, ""),
        (30, "10.0.0.0/99", 0, ""),
        (31, "", Error.INVALID_REQUEST, "Host pattern cannot be null or empty"),
        (
            31, "10.0.0.0/8", Error.UNSUPPORTED_VERSION,
            "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher.",
        ),
        (32, "10.0.0.0/8", 0, ""),
        (32, "2001:db8::/32", 0, ""),
        (
            32, "10.0.0.0/33", Error.INVALID_REQUEST,
            "Invalid CIDR notation '10.0.0.0/33': Value [33] not in range [0,32]",
        ),
        (
            32, "10.0.0/8", Error.INVALID_REQUEST,
            "Invalid CIDR notation '10.0.0/8': Could not parse [10.0.0/8]",
        ),
        (
            32, "::1/129", Error.INVALID_REQUEST,
            TOO_LONG,
        ),
    ],
)  # fmt: skip
def test_from_kafka_4_4_on_the_host_of_an_acl_may_be_a_range_and_is_checked(
    level: int, host: str, code: int, text: str | None
) -> None:
    assert create(Bench(level), acl(host=host)) == [(code, text)]


def test_a_request_creates_10000_acls_and_no_more() -> None:
    bench = Bench()
    many = [acl(f"topic-{number}") for number in range(10_001)]
    refused = create(bench, *many)
    text = "Unable to perform excessively large batch operation."
    assert refused == [(Error.POLICY_VIOLATION, text)] * 10_001
    assert there(bench) == []
    assert create(bench, *many[1:], many[1]) == [DONE] * 10_001
    assert len(there(bench)) == 10_000


def test_a_request_removes_10000_acls_and_no_more() -> None:
    bench = Bench()
    create(bench, *(acl(f"a-{number}") for number in range(9_999)))
    create(bench, acl("b", resourcePatternType=PREFIXED), acl("c"))
    answer = bench.ask("DeleteAcls", 3, {"filters": [wanted("none"), wanted()]})
    text = "Cannot remove more than 10000 acls in a single delete operation."
    refused = {"errorCode": Error.INVALID_REQUEST, "errorMessage": text, "matchingAcls": []}
    assert answer == {"filterResults": [refused, refused]}
    assert len(there(bench)) == 10_001
    [removed] = delete(bench, wanted(patternTypeFilter=LITERAL))
    assert len(removed) == 10_000
    assert [acl.resource_name for acl in there(bench)] == ["b"]


def test_a_filter_with_a_number_that_nobody_knows_is_refused_and_keeps_no_other_back() -> None:
    bench = Bench()
    create(bench, acl("a"), acl("b"))
    filters = [
        wanted(resourceTypeFilter=UNHEARD_OF, operation=UNHEARD_OF),
        wanted(permissionType=UNHEARD_OF),
        wanted("a"),
    ]
    results = bench.ask("DeleteAcls", 3, {"filters": filters})["filterResults"]
    assert [(result["errorCode"], result["errorMessage"]) for result in results] == [
        (Error.INVALID_REQUEST, "Unknown patternFilter."),
        (Error.INVALID_REQUEST, "Unknown entryFilter."),
        (0, None),
    ]
    assert [acl.resource_name for acl in there(bench)] == ["b"]


@pytest.mark.parametrize(
    ("fields", "fitting"),
    [
        ({}, ["*", "wor", "words", "words-2"]),
        ({"name": "words"}, ["words"]),
        ({"name": "words", "patternTypeFilter": MATCH}, ["*", "wor", "words"]),
        ({"name": "wor", "patternTypeFilter": PREFIXED}, ["wor"]),
        ({"name": "wor", "patternTypeFilter": LITERAL}, []),
        ({"patternTypeFilter": MATCH}, ["*", "wor", "words", "words-2"]),
        ({"operation": WRITE}, ["words-2"]),
        ({"hostFilter": "10.0.0.1"}, ["*"]),
        ({"principalFilter": "User:bob"}, ["wor"]),
        ({"resourceTypeFilter": GROUP}, []),
        ({"permissionType": DENY}, ["wor"]),
    ],
)
def test_a_description_has_the_acls_that_its_filter_fits(
    fields: dict[str, Any], fitting: list[str]
) -> None:
    bench = Bench()
    create(
        bench,
        acl("words"),
        acl("words-2", operation=WRITE),
        acl("wor", resourcePatternType=PREFIXED, principal="User:bob", permissionType=DENY),
        acl("*", host="10.0.0.1"),
    )
    described = describe_acls(there(bench), wanted(**fields))
    assert sorted(resource["resourceName"] for resource in described["resources"]) == fitting
    assert described["errorCode"] == 0


def test_a_description_has_all_acls_of_a_resource_in_one_place() -> None:
    bench = Bench()
    create(bench, acl(), acl(operation=WRITE), acl(resourcePatternType=PREFIXED))
    literal, prefixed = describe_acls(there(bench), wanted("words"))["resources"]
    assert [entry["operation"] for entry in literal["acls"]] == [READ, WRITE]
    assert prefixed["acls"] == [
        {"principal": "User:alice", "host": "*", "operation": READ, "permissionType": ALLOW}
    ]


def test_a_request_with_the_number_for_unknown_cannot_be_read() -> None:
    assert can_be_read("CreateAcls", {"creations": [acl(operation=UNHEARD_OF)]})
    assert not can_be_read("CreateAcls", {"creations": [acl(), acl(resourcePatternType=0)]})
    assert not can_be_read("DeleteAcls", {"filters": [wanted(permissionType=0)]})
    assert not can_be_read("DescribeAcls", wanted(resourceTypeFilter=0))
    assert can_be_read("Vote", {})


def test_a_refused_request_has_the_error_at_each_item() -> None:
    refused = RequestRefused(Error.NOT_CONTROLLER)
    error = {"errorCode": Error.NOT_CONTROLLER, "errorMessage": None}
    assert refused_answer("CreateAcls", {"creations": [acl(), acl()]}, refused) == {
        "results": [error, error]
    }
    assert refused_answer("DeleteAcls", {"filters": [wanted()]}, refused) == {
        "filterResults": [error | {"matchingAcls": []}]
    }
    assert answered_at_once("CreateAcls", {"creations": []}) == {"results": []}
    assert answered_at_once("DeleteAcls", {"filters": []}) == {"filterResults": []}
