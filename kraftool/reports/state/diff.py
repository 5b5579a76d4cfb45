"""The differences between two states: entities added, removed and changed, field by field.

Owns the comparison. Things are the same thing by what Kafka knows them by: a topic by its id, so
that one deleted and made again is another. Secrets are compared and not shown. Nothing is kept:
changes come one by one, aspect by aspect, in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from kraftool.decoders.json_marks import Hidden, Moment
from kraftool.image.image import MetadataImage
from kraftool.image.topics import TopicImage
from kraftool.reports.state.entities import TOPICS, Aspect, Object, aspects, partitions
from kraftool.reports.state.entity_objects import ZkMigrationEntity

KINDS = (
    "feature", "zkMigration", "broker", "controller", "topic", "partition", "config",
    "clientQuota", "producerIds", "acl", "scramCredential", "delegationToken",
)  # fmt: skip

IGNORABLE = (
    "leaderEpoch", "partitionEpoch", "leaderId", "isr", "elr", "lastKnownElr", "directoryIds",
    "epoch", "incarnationId", "isFenced", "isInControlledShutdown", "nextProducerId",
)  # fmt: skip
"""Fields that differ between healthy states of one cluster."""

_DERIVED = frozenset({"state", "isMasked", "partitionCount"})
"""Fields that only say in other words what another one says."""

_IDENTITIES = {
    "feature": ("name",),
    "zkMigration": (),
    "broker": ("id",),
    "controller": ("id",),
    "topic": ("name", "topicId"),
    "partition": ("topic", "topicId", "partition"),
    "config": ("resourceType", "resourceTypeId", "resourceName", "name"),
    "clientQuota": ("entityParts", "key"),
    "producerIds": (),
    "acl": ("aclId",),
    "scramCredential": ("user", "mechanism", "mechanismId"),
    "delegationToken": ("tokenId",),
}


class ChangeType(StrEnum):
    """The change of an entity from the first state to the second."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A member of an entity that differs; a secret is masked."""

    field: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChange:
    """The differences of an entity."""

    entity_kind: str
    change_type: ChangeType
    entity: Object
    """The key of the entity; if it was added or removed, all of it, with the members that state -o
    json gives its kind."""
    fields: tuple[FieldChange, ...] = ()
    """Empty for one added or removed."""
    with_topic: Hidden[bool] = False
    """A partition whose whole topic was added or removed."""
    last_offset: int | None = None
    """The last record that changed it. None if the states are not of one log, if that log does not
    have all records between them, or if kraftool does not know which of two records it is."""
    last_timestamp: Moment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """The fields to leave out, and whether secrets are shown."""

    ignored: Set[str] = frozenset()
    """Fields by name; what differs in nothing else is the same."""
    show_secrets: bool = False


def identity(kind: str, entity: Object) -> Object:
    """The members that tell which entity it is."""
    return {name: entity[name] for name in _IDENTITIES[kind]}


def changes(
    old: MetadataImage, new: MetadataImage, options: DiffOptions | None = None
) -> Iterator[EntityChange]:
    """All that differs."""
    options = options or DiffOptions()
    for before, after in zip(_all(old), _all(new), strict=True):
        yield from _aspect(before, after, options)
        if before.kind == TOPICS:
            yield from _partitions(before, after, options)


def _all(image: MetadataImage) -> Iterator[Aspect]:
    for aspect in aspects(image):
        yield aspect
        if aspect.kind == "feature":
            state = image.features.zk_migration_state
            # Kafka 3.4 to 3.9 put 0, which is none, into snapshots and not into the log.
            items = {"state": state} if state else {}
            yield Aspect("zkMigration", items, _zk_migration)


def _zk_migration(_: str, state: int, __: bool) -> ZkMigrationEntity:
    return ZkMigrationEntity(zk_migration_state=state)


def _aspect(before: Aspect, after: Aspect, options: DiffOptions) -> Iterator[EntityChange]:
    for key in _merged(before, after):
        old, new = before.items.get(key), after.items.get(key)
        if old is new or (_is_topic(old) and _is_topic(new)):
            continue  # a topic's fields never change
        if old is None or new is None:
            yield _one_sided(before, after, key, options)
        elif old != new:
            fields = tuple(_fields(before, after, key, options))
            if fields:
                shown = after.make(key, new, options.show_secrets)
                yield EntityChange(
                    entity_kind=after.kind,
                    change_type=ChangeType.CHANGED,
                    entity=identity(after.kind, shown),
                    fields=fields,
                )


def _is_topic(item: object) -> bool:
    return isinstance(item, TopicImage)


def _merged(before: Aspect, after: Aspect) -> list[Any]:
    """The keys of both, in the order that entities are shown in."""
    items = {**before.items, **after.items}
    return Aspect(after.kind, items, after.entity, after.order).ordered()


def _one_sided(before: Aspect, after: Aspect, key: Any, options: DiffOptions) -> EntityChange:
    added = key in after.items
    side = after if added else before
    return EntityChange(
        entity_kind=side.kind,
        change_type=ChangeType.ADDED if added else ChangeType.REMOVED,
        entity=side.make(key, side.items[key], options.show_secrets),
    )


def _fields(before: Aspect, after: Aspect, key: Any, options: DiffOptions) -> Iterator[FieldChange]:
    """Compared as they are, shown as they may be."""
    old, new = (side.make(key, side.items[key], True) for side in (before, after))
    shown_old, shown_new = (
        side.make(key, side.items[key], options.show_secrets) for side in (before, after)
    )
    for name in old:
        ignored = name in options.ignored or name in _DERIVED
        if old[name] != new[name] and not ignored:
            yield FieldChange(field=name, old=shown_old[name], new=shown_new[name])


def _partitions(before: Aspect, after: Aspect, options: DiffOptions) -> Iterator[EntityChange]:
    for key in _merged(before, after):
        old, new = before.items.get(key), after.items.get(key)
        if old is not None and new is not None:
            if old is not new and old.partitions != new.partitions:
                yield from _aspect(partitions(old), partitions(new), options)
            continue
        topic = old if new is None else new
        assert topic is not None, "a key is of one of them"
        there = partitions(topic)
        gone = Aspect(there.kind, {}, there.entity)
        sides = (there, gone) if new is None else (gone, there)
        for entity_change in _aspect(*sides, options):
            yield replace(entity_change, with_topic=True)
