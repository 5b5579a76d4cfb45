"""Random ACLs and actions, the same in every run, for Kafka's authorizer and kraftool's.

Owns the vocabulary: few names, principals and hosts, so that most ACLs are about most actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kraftool.image.acls import ACL_OPERATIONS, ACL_RESOURCES
from tests.differential.controller.java_chance import JavaRandom

SETS, ACTIONS = 400, 120
_NAMES = ("a", "ab", "abc", "abd", "b", "ba", "*", "*a", "**", "kafka-cluster", "ä", "-")
"""None begins with a character before *, at which Kafka's search can fail."""
_PRINCIPALS = ("User:alice", "User:bob", "User:CN=a,O=b", "User:a:b", "Group:alice", "User:root")
_OF_ACLS = (*_PRINCIPALS, "User:*", "User:*", "User:*", "Group:*", "User:")
_CLIENTS = (
    *("10.0.0.1", "10.0.0.255", "10.0.1.0", "0.0.0.0", "192.168.7.9", "255.255.255.255"),
    *("::1", "2001:db8::1", "2001:db8:0:1::", "::ffff:10.0.0.1", "fe80::1"),
)
_HOSTS = (
    *("*", "*", "*", "*", "10.0.0.1", "192.168.7.9", "0:0:0:0:0:0:0:1", "::1", "client"),
    *("2001:db8:0:0:0:0:0:1", "2001:db8:0:1:0:0:0:0", "10.0.0.0/24", "10.0.0.77/24", "0.0.0.0/0"),
    *("10.0.0.1/32", "10.0.0.0/33", "10.0.0/24", "2001:db8::/48", "2001:DB8::1/128", "::/0"),
    *("::ffff:10.0.0.0/120", "::1/129", "128.0.0.0/1", "10.0.0.1/", "/", "fe80::/10"),
)
_FEW_OPERATIONS = ("READ", "WRITE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS")
_ANY_RESOURCE = tuple(ACL_RESOURCES[2:])


class _Chance(JavaRandom):
    """The same on every Python, as the recordings are kept."""

    def of(self, words: tuple[str, ...]) -> str:
        return words[self.below(len(words))]

    def is_so(self, percent: int) -> bool:
        return self.below(100) < percent


def cases() -> Iterator[dict[str, Any]]:
    """Questions about one set of ACLs each."""
    for seed in range(SETS):
        yield _case(_Chance(seed))


def _case(chance: _Chance) -> dict[str, Any]:
    configs = {}
    if chance.is_so(70):
        configs["super.users"] = "User:root; Group:alice" if chance.is_so(50) else "User:root"
    if chance.is_so(40):
        value = ("true", "false", "TRUE", " true ", "yes")[chance.below(5)]
        configs["allow.everyone.if.no.acl.found"] = value
    count = (0, 1, 2, 5, 10, 30, 80)[chance.below(7)]
    acls = {tuple(_acl(chance)): None for _ in range(count)}
    return {
        "configs": configs,
        "loaded": chance.is_so(95),
        "acls": [list(acl) for acl in acls],
        "actions": [_action(chance) for _ in range(ACTIONS)],
    }


def _acl(chance: _Chance) -> list[Any]:
    return [
        ACL_RESOURCES.index(_resource(chance)),
        chance.of(_NAMES),
        3 if chance.is_so(60) else 4,
        chance.of(_OF_ACLS),
        chance.of(_HOSTS),
        ACL_OPERATIONS.index("ALL" if chance.is_so(15) else _operation(chance)),
        3 if chance.is_so(70) else 2,
    ]


def _action(chance: _Chance) -> list[str]:
    name = chance.of(_NAMES)
    if chance.is_so(30):
        name += chance.of(_NAMES)
    return [
        chance.of(_PRINCIPALS),
        chance.of(_CLIENTS),
        _operation(chance),
        _resource(chance),
        name,
    ]


def _resource(chance: _Chance) -> str:
    return "TOPIC" if chance.is_so(60) else chance.of(_ANY_RESOURCE)


def _operation(chance: _Chance) -> str:
    return chance.of(_FEW_OPERATIONS if chance.is_so(80) else ACL_OPERATIONS[3:])
