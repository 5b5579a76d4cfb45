"""The filters of DescribeAcls and DeleteAcls, and the answer to DescribeAcls.

Owns what a filter fits. A number that Kafka does not know is its UNKNOWN, which no entry has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from kraftool.controller.authorizer import LITERAL, PREFIXED
from kraftool.decoders.error_codes import Error
from kraftool.image.acls import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    ANY_NAME,
    StandardAcl,
)

Body = dict[str, Any]

ANY = 1
"""Of types of resources and patterns, of operations and of permissions."""
MATCH = ACL_PATTERNS.index("MATCH")
_UNKNOWN = 0


class AclFilter(NamedTuple):
    """One filter; None fits every text."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission_type: int

    @property
    def has_unknown_pattern(self) -> bool:
        return is_unknown(self.resource_type, ACL_RESOURCES) or is_unknown(
            self.pattern_type, ACL_PATTERNS
        )

    @property
    def has_unknown_entry(self) -> bool:
        return is_unknown(self.operation, ACL_OPERATIONS) or is_unknown(
            self.permission_type, ACL_PERMISSIONS
        )

    def fits(self, acl: StandardAcl) -> bool:
        return (
            self.resource_type in (ANY, acl.resource_type)
            and self.operation in (ANY, acl.operation)
            and self.permission_type in (ANY, acl.permission_type)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.pattern_type in (ANY, MATCH, acl.pattern_type)
            and self._fits_name(acl)
        )

    def _fits_name(self, acl: StandardAcl) -> bool:
        name = self.resource_name
        if name is None or name == acl.resource_name:
            return True
        if self.pattern_type != MATCH:
            return False
        if acl.pattern_type == LITERAL:
            return acl.resource_name == ANY_NAME
        return acl.pattern_type == PREFIXED and name.startswith(acl.resource_name)


def filter_of(item: Body) -> AclFilter:
    """Return the filter of a DescribeAcls, or of an item of DeleteAcls."""
    return AclFilter(
        resource_type=item["resourceTypeFilter"],
        resource_name=item["resourceNameFilter"],
        pattern_type=item["patternTypeFilter"],
        principal=item["principalFilter"],
        host=item["hostFilter"],
        operation=item["operation"],
        permission_type=item["permissionType"],
    )


def is_unknown(number: int, names: tuple[str, ...]) -> bool:
    """True if Kafka has no name for a number, or calls it unknown."""
    return not _UNKNOWN < number < len(names)


def can_be_read(api: str, request: Body) -> bool:
    """False if a part of the request is UNKNOWN by its number: Kafka's servers close the connection
    of whoever sends that."""
    match api:
        case "CreateAcls":
            items = request["creations"]
        case "DeleteAcls":
            items = request["filters"]
        case "DescribeAcls":
            items = [request]
        case _:
            return True
    return not any(item.get(name) == _UNKNOWN for item in items for name in _NUMBERS)


_NUMBERS = (
    *("resourceType", "resourceTypeFilter", "resourcePatternType", "patternTypeFilter"),
    *("operation", "permissionType"),
)


def describe_acls(acls: Iterable[StandardAcl], request: Body) -> Body:
    """Return the ACLs that the request's filter fits, by resource."""
    wanted = filter_of(request)
    resources: dict[tuple[int, str, int], list[Body]] = {}
    for acl in dict.fromkeys(filter(wanted.fits, acls)):
        key = acl.resource_type, acl.resource_name, acl.pattern_type
        resources.setdefault(key, []).append(
            {
                "principal": acl.principal,
                "host": acl.host,
                "operation": acl.operation,
                "permissionType": acl.permission_type,
            }
        )
    return {
        "throttleTimeMs": 0,
        "errorCode": int(Error.NONE),
        "errorMessage": "",
        "resources": [
            {"resourceType": kind, "resourceName": name, "patternType": pattern, "acls": entries}
            for (kind, name, pattern), entries in resources.items()
        ],
    }
