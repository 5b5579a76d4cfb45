"""StandardAuthorizer: the permissions that the ACLs of an image give a client.

Owns the decision, which is Kafka's: a super user may do everything; a DENY that fits goes before
every ALLOW; some operations imply others; without any ACL about a resource
`allow.everyone.if.no.acl.found` decides. It refuses to know where clients come from, and which
request takes which permission: `serving.py` and the requests' own modules do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftool.controller.acl_hosts import ANY_HOST, is_in_range, is_range
from kraftool.image.acls import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    ANY_NAME,
    StandardAcl,
)

CLUSTER_NAME = "kafka-cluster"
LITERAL, PREFIXED = ACL_PATTERNS.index("LITERAL"), ACL_PATTERNS.index("PREFIXED")
ALLOW = ACL_PERMISSIONS.index("ALLOW")
_ANY_PRINCIPAL = "User:*"
_OPERATIONS = {name: number for number, name in enumerate(ACL_OPERATIONS)}
_RESOURCES = {name: number for number, name in enumerate(ACL_RESOURCES)}
_ALL = _OPERATIONS["ALL"]
_IMPLIED_BY = {
    "DESCRIBE": ("DESCRIBE", "READ", "WRITE", "DELETE", "ALTER"),
    "DESCRIBE_CONFIGS": ("DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
}
"""An ALLOW of one of these operations is one of the operation, too. A DENY is not."""
_ALLOWED_BY = {
    name: frozenset(map(_OPERATIONS.__getitem__, (*_IMPLIED_BY.get(name, (name,)), "ALL")))
    for name in ACL_OPERATIONS
}


class Client(NamedTuple):
    """The client that a request comes from, or that a broker sends it on for."""

    principal: str
    """As super.users names it, such as User:alice."""
    host: str
    """Its address, as `acl_hosts.host_of` has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizerRules:
    """The part of a node's configuration that an authorizer has."""

    super_users: frozenset[str] = frozenset()
    allows_without_acls: bool = False
    """allow.everyone.if.no.acl.found"""


@dataclass(frozen=True, slots=True)
class _Section:
    """The ACLs about one type of resource."""

    literal: dict[str, list[StandardAcl]] = field(default_factory=dict)
    prefixed: dict[str, list[StandardAcl]] = field(default_factory=dict)

    def about(self, name: str) -> Iterator[StandardAcl]:
        """Yield the ACLs that a resource of this name has."""
        yield from self.literal.get(name, ())
        if self.prefixed:
            for length in range(len(name) + 1):
                yield from self.prefixed.get(name[:length], ())
        # Kafka's search passes over the ACLs for all names if the name itself begins with *.
        if not name.startswith(ANY_NAME):
            yield from self.literal.get(ANY_NAME, ())


class StandardAuthorizer:
    """Decides by the ACLs of one image. Nothing in it changes, so threads may share it."""

    def __init__(
        self, acls: Mapping[str, StandardAcl], rules: AuthorizerRules, *, knows_ranges: bool
    ) -> None:
        """`acls`: by id. `knows_ranges`: True from the metadata.version on in which the host of an
        ACL may be a range of addresses."""
        self._acls, self._rules, self._knows_ranges = acls, rules, knows_ranges
        self._sections: dict[int, _Section] = {}
        """Made when they are asked for: a controller asks about few types."""

    def allows(self, client: Client, operation: str, resource: str, name: str) -> bool:
        """True if a client may do something. Operations and types of resources have Kafka's
        names."""
        if client.principal in self._rules.super_users:
            return True
        has_acls = is_allowed = False
        for acl in self._section(_RESOURCES[resource]).about(name):
            has_acls = True
            if not self._is_of(acl, client):
                continue
            if acl.permission_type == ALLOW:
                is_allowed |= acl.operation in _ALLOWED_BY[operation]
            elif acl.operation in (_ALL, _OPERATIONS[operation]):
                return False
        return is_allowed or (not has_acls and self._rules.allows_without_acls)

    def _is_of(self, acl: StandardAcl, client: Client) -> bool:
        if acl.principal not in (client.principal, _ANY_PRINCIPAL):
            return False
        if acl.host in (client.host, ANY_HOST):
            return True
        return self._knows_ranges and is_range(acl.host) and is_in_range(client.host, acl.host)

    def _section(self, resource: int) -> _Section:
        section = self._sections.get(resource)
        if section is None:
            section = _section_of(
                acl for acl in self._acls.values() if acl.resource_type == resource
            )
            self._sections[resource] = section
        return section


def _section_of(acls: Iterable[StandardAcl]) -> _Section:
    section = _Section()
    for acl in acls:
        by_name = section.literal if acl.pattern_type == LITERAL else section.prefixed
        by_name.setdefault(acl.resource_name, []).append(acl)
    return section
