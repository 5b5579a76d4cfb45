"""Access control entries, by their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kraftool.image.overlay import Overlay
from kraftool.image.replay import RecordValue, ReplayError, WrittenRecord, replays

ACL_RESOURCES = (
    "UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER",
)  # fmt: skip
ACL_PATTERNS = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
ACL_OPERATIONS = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE",
    "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS",
    "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
)  # fmt: skip
ACL_PERMISSIONS = ("UNKNOWN", "ANY", "DENY", "ALLOW")
"""Kafka's words, in the order of the numbers that records have."""

ANONYMOUS = "User:ANONYMOUS"
"""The principal of a client that did not have to say who it is."""
ANY_NAME = "*"
"""The name in an ACL about all resources of a type."""


class StandardAcl(NamedTuple):
    """One entry; types, operations and permissions by Kafka's numbers."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


def acl_members(acl: StandardAcl) -> dict[str, Any]:
    """Return the members that Kafka's messages have for an entry."""
    return {
        "resourceType": acl.resource_type,
        "resourceName": acl.resource_name,
        "patternType": acl.pattern_type,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation,
        "permissionType": acl.permission_type,
    }


def acl_record(entry_id: str, acl: StandardAcl) -> WrittenRecord:
    """Return the record that adds an entry."""
    return "AccessControlEntryRecord", 0, {"id": entry_id, **acl_members(acl)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AclsImage:
    """All entries."""

    by_id: Mapping[str, StandardAcl] = field(default_factory=dict)

    def records(self) -> Iterator[WrittenRecord]:
        for entry_id, acl in self.by_id.items():
            yield acl_record(entry_id, acl)


class AclsDelta:
    """Changes to the entries."""

    def __init__(self, image: AclsImage) -> None:
        self._image = image
        self._by_id = Overlay(image.by_id)

    @replays("AccessControlEntryRecord")
    def add(self, record: RecordValue) -> None:
        acl = StandardAcl(
            record["resourceType"],
            record["resourceName"],
            record["patternType"],
            record["principal"],
            record["host"],
            record["operation"],
            record["permissionType"],
        )
        self._by_id.set(record["id"], acl)

    @replays("RemoveAccessControlEntryRecord")
    def remove(self, record: RecordValue) -> None:
        if self._by_id.get(record["id"]) is None:
            raise ReplayError(f"there is no ACL with id {record['id']} to remove")
        self._by_id.remove(record["id"])

    def get(self, entry_id: str) -> StandardAcl | None:
        return self._by_id.get(entry_id)

    def entries(self) -> Iterator[tuple[str, StandardAcl]]:
        """All entries as they are now, with their ids."""
        return self._by_id.items()

    def apply(self) -> AclsImage:
        if not self._by_id.is_changed:
            return self._image
        return AclsImage(by_id=self._by_id.result())
