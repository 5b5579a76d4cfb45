"""Events of what operators set: configs, client quotas, ACLs, SCRAM users, delegation tokens.

Owns their words. Values of configs are masked as everywhere; of credentials nothing but names is
shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from kraftool.decoders.redact import config_value
from kraftool.image.configs import RESOURCE_TYPES, TOPIC
from kraftool.image.scram import MECHANISMS
from kraftool.reports.files.record_summary import acl_text
from kraftool.reports.timeline.batches import Watched
from kraftool.reports.timeline.events import Category, Event
from kraftool.reports.timeline.knowledge import Knowledge


def configs(records: Sequence[Watched], epoch: int, known: Knowledge) -> Iterator[Event]:
    """The ConfigRecords of one batch that come together: an event for each resource."""
    for (kind, name), of_one in groupby(records, _resource):
        changes = [_config(record.data, known) for record in of_one]
        type = RESOURCE_TYPES.get(kind, "UNKNOWN")
        is_new = kind == TOPIC and name in known.new_topics
        owner = f"{type.lower().replace('_', ' ')} {name}" if name else f"default {type.lower()}"
        first = next(record for record in records if _resource(record) == (kind, name))
        yield _event(
            first,
            epoch,
            Category.TOPICS if is_new else Category.CONFIGS,
            "config-changed",
            f"config of {owner}: {', '.join(_words(change) for change in changes)}",
            {"resourceType": type, "resourceName": name, "configs": changes},
        )


def _resource(record: Watched) -> tuple[int, str]:
    return record.data["resourceType"], record.data["resourceName"]


def _config(data: dict[str, Any], known: Knowledge) -> dict[str, str | None]:
    """Return a config with what it was, as far as that is known."""
    kind, owner, name = data["resourceType"], data["resourceName"], data["name"]
    key = kind, owner, name
    shown = config_value(kind, name, data["value"])
    old = known.metadata.configs.get(key)
    if data["value"] is None:
        known.metadata.configs.pop(key, None)
    elif shown is not None:
        known.metadata.configs[key] = shown
    return {"name": name, "old": old, "new": shown}


def _words(change: dict[str, str | None]) -> str:
    name, old, new = change["name"], change["old"], change["new"]
    was = f" (was {old})" if old is not None else ""
    return f"{name} removed{was}" if new is None else f"{name}={new}{was}"


def quota(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A ClientQuotaRecord."""
    data = record.data
    entity = {part["entityType"]: part["entityName"] for part in data["entity"]}
    owner = ", ".join(
        f"{type} {'default' if name is None else name}" for type, name in sorted(entity.items())
    )
    quotas, key = known.metadata.quotas, (owner, data["key"])
    old, new = quotas.get(key), None if data["remove"] else data["value"]
    was = f" (was {old:.15g})" if old is not None else ""
    change = f"{data['key']} removed{was}" if new is None else f"{data['key']}={new:.15g}{was}"
    yield _event(
        record, epoch, Category.QUOTAS, "quota-changed", f"quota of {owner}: {change}",
        {"entity": entity, "key": data["key"], "old": old, "new": new},
    )  # fmt: skip
    if new is None:
        quotas.pop(key, None)
    else:
        quotas[key] = new


def add_acl(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """An AccessControlEntryRecord."""
    data = record.data
    text = acl_text(data)
    known.metadata.acls[data["id"]] = text, _acl_resource(data)
    yield _acl(record, epoch, "acl-added", f"ACL added: {text}", known)


def remove_acl(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RemoveAccessControlEntryRecord, which has only the id."""
    id = record.data["id"]
    text, _ = known.metadata.acls.get(id, (f"id {id}; the log does not have its record", {}))
    yield _acl(record, epoch, "acl-removed", f"ACL removed: {text}", known)
    known.metadata.acls.pop(id, None)


def _acl_resource(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceTypeId": data["resourceType"],
        "resourceName": data["resourceName"],
        "principal": data["principal"],
    }


def _acl(record: Watched, epoch: int, type: str, what: str, known: Knowledge) -> Event:
    id = record.data["id"]
    _, resource = known.metadata.acls.get(id, ("", {}))
    return _event(record, epoch, Category.ACLS, type, what, {"aclId": id, **resource})


def set_scram(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A UserScramCredentialRecord."""
    data = record.data
    user, mechanism = data["name"], MECHANISMS.get(data["mechanism"], "UNKNOWN")
    key = user, mechanism
    is_known = key in known.metadata.users
    known.metadata.users.add(key)
    yield _event(
        record, epoch, Category.USERS, "user-changed" if is_known else "user-added",
        f"credential {mechanism} of user {user} {'changed' if is_known else 'added'}",
        {"user": user, "mechanism": mechanism, "iterations": data["iterations"]},
    )  # fmt: skip


def remove_scram(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RemoveUserScramCredentialRecord."""
    data = record.data
    user, mechanism = data["name"], MECHANISMS.get(data["mechanism"], "UNKNOWN")
    known.metadata.users.discard((user, mechanism))
    yield _event(
        record, epoch, Category.USERS, "user-removed",
        f"credential {mechanism} of user {user} removed", {"user": user, "mechanism": mechanism},
    )  # fmt: skip


def set_token(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A DelegationTokenRecord; the same token again has been renewed."""
    data = record.data
    id, owner = data["tokenId"], data["owner"]
    is_known = id in known.metadata.tokens
    known.metadata.tokens[id] = owner
    yield _event(
        record, epoch, Category.TOKENS, "token-renewed" if is_known else "token-created",
        f"delegation token {id} of {owner} {'renewed' if is_known else 'created'}",
        {"tokenId": id, "owner": owner},
    )  # fmt: skip


def remove_token(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RemoveDelegationTokenRecord."""
    id = record.data["tokenId"]
    owner = known.metadata.tokens.pop(id, None)
    whose = f" of {owner}" if owner is not None else ""
    yield _event(
        record, epoch, Category.TOKENS, "token-removed", f"delegation token {id}{whose} removed",
        {"tokenId": id, "owner": owner},
    )  # fmt: skip


def _event(
    record: Watched, epoch: int, category: Category, type: str, what: str, data: dict[str, Any]
) -> Event:
    return Event(
        category=category,
        type=type,
        offset=record.offset,
        epoch=epoch,
        timestamp=record.timestamp,
        what=what,
        data=data,
        transactional=True,
    )
