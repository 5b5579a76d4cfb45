"""Access control entries, by their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftool.image.overlay import Overlay
from kraftool.image.replay import RecordValue, ReplayError, WrittenRecord, replays


class StandardAcl(NamedTuple):
    """One entry; types, operations and permissions by Kafka's numbers."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AclsImage:
    """All entries."""

    by_id: Mapping[str, StandardAcl] = field(default_factory=dict)

    def records(self) -> Iterator[WrittenRecord]:
        for entry_id, acl in self.by_id.items():
            yield (
                "AccessControlEntryRecord",
                0,
                {
                    "id": entry_id,
                    "resourceType": acl.resource_type,
                    "resourceName": acl.resource_name,
                    "patternType": acl.pattern_type,
                    "principal": acl.principal,
                    "host": acl.host,
                    "operation": acl.operation,
                    "permissionType": acl.permission_type,
                },
            )


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

    def apply(self) -> AclsImage:
        if not self._by_id.is_changed:
            return self._image
        return AclsImage(by_id=self._by_id.result())
