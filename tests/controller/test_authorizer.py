"""The rules of StandardAuthorizer, one by one; tests/interop/test_authorizer.py asks Kafka's."""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.controller.acl_hosts import host_of, is_in_range, range_problem
from kraftool.controller.authorizer import AuthorizerRules, Client, StandardAuthorizer
from kraftool.image.acls import ACL_OPERATIONS, ACL_PERMISSIONS, ACL_RESOURCES, StandardAcl

ALICE = Client("User:alice", "10.0.0.1")


def acl(operation: str = "READ", name: str = "words", **fields: Any) -> StandardAcl:
    kind = fields.pop("resource", "TOPIC")
    return StandardAcl(
        resource_type=ACL_RESOURCES.index(kind),
        resource_name=name,
        pattern_type=4 if fields.pop("is_prefix", False) else 3,
        principal=fields.pop("principal", "User:alice"),
        host=fields.pop("host", "*"),
        operation=ACL_OPERATIONS.index(operation),
        permission_type=ACL_PERMISSIONS.index(fields.pop("permission", "ALLOW")),
    )


def allows(
    *acls: StandardAcl,
    operation: str = "READ",
    name: str = "words",
    resource: str = "TOPIC",
    client: Client = ALICE,
    knows_ranges: bool = True,
    **rules: Any,
) -> bool:
    by_id = {str(number): acl for number, acl in enumerate(acls)}
    decider = StandardAuthorizer(by_id, AuthorizerRules(**rules), knows_ranges=knows_ranges)
    return decider.allows(client, operation, resource, name)


def test_an_acl_is_about_its_resource_its_principal_and_its_operation() -> None:
    assert allows(acl())
    assert not allows(acl(), name="word")
    assert not allows(acl(), operation="WRITE")
    assert not allows(acl(), resource="GROUP")
    assert not allows(acl(), client=Client("User:bob", "10.0.0.1"))
    assert allows(acl(principal="User:*"), client=Client("Group:bob", "10.0.0.1"))


def test_a_denial_goes_before_every_permission() -> None:
    denial = acl(permission="DENY", name="*", principal="User:*")
    assert not allows(acl(), acl("ALL", "w", is_prefix=True), denial)
    assert allows(acl(), acl(permission="DENY", name="w"))
    assert not allows(acl(), acl(permission="DENY", name="w", is_prefix=True))


def test_an_acl_for_a_prefix_is_about_every_name_that_begins_so() -> None:
    assert allows(acl(name="wo", is_prefix=True))
    assert allows(acl(name="words", is_prefix=True))
    assert not allows(acl(name="words-", is_prefix=True))
    assert not allows(acl(name="wo"))


def test_the_wildcard_is_about_every_name_that_does_not_begin_with_it() -> None:
    assert allows(acl(name="*"))
    assert allows(acl(name="*"), name="*")
    assert not allows(acl(name="*"), name="*words")
    assert allows(acl(name="*", is_prefix=True), name="*words")


@pytest.mark.parametrize("given", ["READ", "WRITE", "DELETE", "ALTER", "DESCRIBE", "ALL"])
def test_some_operations_imply_describe(given: str) -> None:
    assert allows(acl(given), operation="DESCRIBE")
    assert not allows(acl(given), operation="DESCRIBE_CONFIGS") or given == "ALL"


def test_describe_configs_is_implied_by_alter_configs_alone() -> None:
    assert allows(acl("ALTER_CONFIGS"), operation="DESCRIBE_CONFIGS")
    assert not allows(acl("DESCRIBE_CONFIGS"), operation="ALTER_CONFIGS")
    assert not allows(acl("CREATE"), operation="DESCRIBE")


def test_a_denial_implies_nothing_but_a_denial_of_all_is_one_of_each() -> None:
    assert allows(acl("DESCRIBE"), acl(permission="DENY"), operation="DESCRIBE")
    assert not allows(acl("DESCRIBE"), acl("ALL", permission="DENY"), operation="DESCRIBE")


def test_an_acl_for_a_host_compares_text_and_from_kafka_4_4_on_ranges() -> None:
    assert allows(acl(host="10.0.0.1"))
    assert not allows(acl(host="10.0.0.2"))
    assert allows(acl(host="10.0.0.0/24"))
    assert not allows(acl(host="10.0.0.0/24"), knows_ranges=False)
    assert not allows(acl(host="10.0.0.0/33"))


def test_without_an_acl_about_the_resource_the_configuration_decides() -> None:
    others = acl(name="other"), acl(resource="GROUP")
    assert not allows(*others)
    assert allows(*others, allows_without_acls=True)
    assert not allows(acl(principal="User:bob"), allows_without_acls=True)
    assert not allows(acl(name="*", principal="User:bob"), allows_without_acls=True)


def test_a_super_user_may_do_what_is_denied() -> None:
    denial = acl("ALL", "*", permission="DENY", principal="User:*")
    assert allows(denial, super_users=frozenset({"User:alice"}))
    assert not allows(denial, super_users=frozenset({"User:Alice"}))


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        (b"\x7f\0\0\1", "127.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:0db8::00ab", "2001:db8:0:0:0:0:0:ab"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        (bytes(10) + b"\xff\xff\x0a\0\0\1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
        ("no address", "no address"),
    ],
)
def test_a_host_is_written_as_java_writes_it(address: str | bytes, host: str) -> None:
    assert host_of(address) == host


@pytest.mark.parametrize(
    ("host", "span", "is_in"),
    [
        ("10.0.0.255", "10.0.0.77/24", True),
        ("10.0.1.0", "10.0.0.77/24", False),
        ("0.0.0.0", "0.0.0.0/0", False),
        ("255.255.255.255", "0.0.0.0/0", True),
        ("10.0.0.1", "::/0", False),
        ("fe80:0:0:0:0:0:0:1%eth0", "fe80::/10", True),
        ("0:0:0:0:0:0:0:0", "::/0", True),
        ("10.0.0.1", "10.0.0.1", False),
    ],
)
def test_an_address_is_in_a_range_or_not(host: str, span: str, is_in: bool) -> None:
    assert is_in_range(host, span) == is_in


def test_a_range_that_cannot_be_read_is_refused_in_the_words_of_kafkas_library() -> None:
    assert range_problem("10.0.0.0/8") is None
    assert range_problem("10.0.0.256/8") == "Value [256] not in range [0,255]"
    assert range_problem("10.0.0.0/08") is None
    assert range_problem("::1/x") == "Could not parse [::1/x] - invalid prefix length"
    assert range_problem("::g/64") == "Could not parse [::g]"
    mapped = "Could not parse [::ffff:1.2.3.4] - not an IPv6 address"
    assert range_problem("::ffff:1.2.3.4/96") == mapped
