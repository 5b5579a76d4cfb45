"""Events of what operators set: configs, client quotas, ACLs, SCRAM users, delegation tokens.

Owns the words for a change; a record is named as its summary names it. Values of configs are masked
as everywhere; of credentials only user, mechanism and iterations are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from kraftool.decoders.redact import config_value
from kraftool.image.client_quotas import QuotaEntity
from kraftool.image.configs import RESOURCE_TYPES, TOPIC
from kraftool.reports.files.record_summary import (
    acl_text,
    config_owner,
    mechanism,
    quota_owner,
)
from kraftool.reports.timeline.batches import Watched
from kraftool.reports.timeline.events import Category, Event
from kraftool.reports.timeline.knowledge import Knowledge
from kraftool.reports.timeline.record_event import record_event

_ACL_TOPIC = 2
"""The resource type of topics in ACLs."""
_UNKNOWN_BEFORE = ("the log does not show if it existed before",)


def configs(records: Sequence[Watched], epoch: int, known: Knowledge) -> Iterator[Event]:
    """The ConfigRecords of one batch that come together: an event for each resource."""
    for (kind, name), of_one in groupby(records, _resource):
        group = tuple(of_one)
        changes = [_config(record.data, known) for record in group]
        is_new = kind == TOPIC and name in known.new_topics
        words = ", ".join(_words(change) for change in changes)
        yield record_event(
            group[0],
            epoch,
            Category.TOPICS if is_new else Category.CONFIGS,
            "config-changed",
            f"config of {config_owner(group[0].data)}: {words}",
            {
                "resourceType": RESOURCE_TYPES.get(kind, "UNKNOWN"),
                "resourceName": name,
                "configs": changes,
            },
            topics=(name,) if kind == TOPIC else (),
        )


def _resource(record: Watched) -> tuple[int, str]:
    return record.data["resourceType"], record.data["resourceName"]


def _config(data: dict[str, Any], known: Knowledge) -> dict[str, str | None]:
    """Return a config with what it was, as far as that is known."""
    kind, owner, name = data["resourceType"], data["resourceName"], data["name"]
    values = dict(known.metadata.configs.get((kind, owner), {}))
    old, new = values.pop(name, None), config_value(kind, name, data["value"])
    if new is not None:
        values[name] = new
    known.metadata.configs[kind, owner] = values
    return {"name": name, "old": old, "new": new}


def _words(change: dict[str, str | None]) -> str:
    name, old, new = change["name"], change["old"], change["new"]
    was = f" (was {old})" if old is not None else ""
    return f"{name} removed{was}" if new is None else f"{name}={new}{was}"


def quota(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A ClientQuotaRecord."""
    data = record.data
    parts = sorted(data["entity"], key=lambda part: str(part["entityType"]))
    entity: QuotaEntity = tuple((part["entityType"], part["entityName"]) for part in parts)
    quotas, key = known.metadata.quotas, (entity, data["key"])
    old, new = quotas.pop(key, None), None if data["remove"] else data["value"]
    if new is not None:
        quotas[key] = new
    was = f" (was {old:.15g})" if old is not None else ""
    change = f"{data['key']} removed{was}" if new is None else f"{data['key']}={new:.15g}{was}"
    yield record_event(
        record, epoch, Category.QUOTAS, "quota-changed",
        f"quota of {quota_owner({'entity': parts})}: {change}",
        {"entity": dict(entity), "key": data["key"], "old": old, "new": new},
    )  # fmt: skip


def add_acl(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """An AccessControlEntryRecord."""
    known.metadata.acls[record.data["id"]] = record.data
    yield _acl(record, epoch, "acl-added", f"ACL added: {acl_text(record.data)}", record.data)


def remove_acl(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RemoveAccessControlEntryRecord, which has only the id."""
    id = record.data["id"]
    acl = known.metadata.acls.pop(id, None)
    text = f"id {id}; the log does not have its record" if acl is None else acl_text(acl)
    yield _acl(record, epoch, "acl-removed", f"ACL removed: {text}", acl)


def _acl(record: Watched, epoch: int, type: str, what: str, acl: dict[str, Any] | None) -> Event:
    data = {"aclId": record.data["id"]}
    if acl is not None:
        data["resourceTypeId"] = acl["resourceType"]
        data |= {name: acl[name] for name in ("resourceName", "principal")}
    is_topics = acl is not None and acl["resourceType"] == _ACL_TOPIC
    topics = (data["resourceName"],) if is_topics else ()
    return record_event(record, epoch, Category.ACLS, type, what, data, topics=topics)


def set_scram(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A UserScramCredentialRecord."""
    user, name = record.data["name"], mechanism(record.data)
    is_known = (user, name) in known.metadata.users
    known.metadata.users.add((user, name))
    yield record_event(
        record, epoch, Category.USERS, "user-changed" if is_known else "user-added",
        f"credential {name} of user {user} {'changed' if is_known else 'added'}",
        {"user": user, "mechanism": name, "iterations": record.data["iterations"]},
        () if is_known or known.from_start else _UNKNOWN_BEFORE,
    )  # fmt: skip


def remove_scram(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RemoveUserScramCredentialRecord."""
    user, name = record.data["name"], mechanism(record.data)
    known.metadata.users.discard((user, name))
    yield record_event(
        record, epoch, Category.USERS, "user-removed",
        f"credential {name} of user {user} removed", {"user": user, "mechanism": name},
    )  # fmt: skip


def set_token(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A DelegationTokenRecord; the same token again has been renewed."""
    data = record.data
    id, owner = data["tokenId"], data["owner"]
    is_known = id in known.metadata.tokens
    known.metadata.tokens[id] = owner
    yield record_event(
        record, epoch, Category.TOKENS, "token-renewed" if is_known else "token-created",
        f"delegation token {id} of {owner} {'renewed' if is_known else 'created'}",
        {"tokenId": id, "owner": owner},
        () if is_known or known.from_start else _UNKNOWN_BEFORE,
    )  # fmt: skip


def remove_token(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RemoveDelegationTokenRecord."""
    id = record.data["tokenId"]
    owner = known.metadata.tokens.pop(id, None)
    whose = f" of {owner}" if owner is not None else ""
    yield record_event(
        record, epoch, Category.TOKENS, "token-removed", f"delegation token {id}{whose} removed",
        {"tokenId": id, "owner": owner},
    )  # fmt: skip
