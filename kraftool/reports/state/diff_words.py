"""The words of a difference between two states, for every view that shows one.

Owns what an entity is called and how a value looks in a line. It refuses layout and colour.
"""

from __future__ import annotations

import json
from typing import Any

from kraftool.decoders.addresses import shown_address
from kraftool.reports.state.diff import ChangeType, EntityChange, identity

TITLES = {
    "feature": "Features",
    "zkMigration": "ZooKeeper migration",
    "broker": "Brokers",
    "controller": "Controllers",
    "topic": "Topics",
    "partition": "Partitions",
    "config": "Configs",
    "clientQuota": "Client quotas",
    "producerIds": "Producer ids",
    "acl": "ACLs",
    "scramCredential": "SCRAM credentials",
    "delegationToken": "Delegation tokens",
}

_NAMES = frozenset({"id", "topicId", "aclId", "tokenId"})
_QUIET_MEMBERS = frozenset(
    {"state", "isMasked", "topic", "topicId", "securityProtocolId"}
    | {"salt", "storedKey", "serverKey"}
)


def change_name(change: EntityChange) -> str:
    """Return what an entity is called, in a line."""
    of = change.entity
    match change.entity_kind:
        case "feature" | "topic":
            return str(of["name"])
        case "broker" | "controller":
            return f"{change.entity_kind} {of['id']}"
        case "delegationToken":
            return f"token {of['tokenId']}"
        case "partition":
            return f"{of['topic']}-{of['partition']}"
        case "config":
            return f"{of['resourceType']} {of['resourceName'] or 'default'}: {of['name']}"
        case "clientQuota":
            parts = (
                f"{part['type']} {'default' if part['name'] is None else part['name']}"
                for part in of["entityParts"]
            )
            return f"{', '.join(parts)}: {of['key']}"
        case "scramCredential":
            return f"{of['user']} {of['mechanism']}"
        case "acl":
            return f"ACL {of['aclId']}" if change.fields else _acl(of)
    return TITLES[change.entity_kind].lower()


def _acl(of: dict[str, Any]) -> str:
    return (
        f"{of['principal']} from {of['host']}: {of['permissionType']} {of['operation']} on"
        f" {of['resourceType']} {of['resourceName']} ({of['patternType']})"
    )


def what_it_was(change: EntityChange) -> str:
    """Return what is known of an entity that is on one side only, in a line; empty of one that
    changed.
    """
    if change.change_type is ChangeType.CHANGED or change.entity_kind == "acl":
        return ""
    known = identity(change.entity_kind, change.entity)
    rest = {
        name: value
        for name, value in change.entity.items()
        if (name not in known or name in _NAMES) and name not in _QUIET_MEMBERS
    }
    if change.entity_kind in ("broker", "controller"):
        rest.pop("id")
        rest.pop("features")
    return ", ".join(
        f"{name} {value_text(value)}" for name, value in rest.items() if value is not None
    )


def value_text(value: object) -> str:
    """A value of a field, short."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(value_text(member) for member in value)}]"
        case {"listener": name, "host": host, "port": port, "securityProtocol": protocol}:
            return f"{name} {shown_address(host, port)} {protocol}"
        case {"name": name, "min": least, "max": most}:
            return f"{name} {least} to {most}"
        case dict():
            return json.dumps(value)
    return str(value)
