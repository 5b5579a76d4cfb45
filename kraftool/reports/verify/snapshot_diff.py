"""The differences between the state that a snapshot should have and the one that it has.

Owns which differences are known errors of Kafka's; what differs is found by `state/diff.py`.
"""

from __future__ import annotations

from kraftool.decoders.schema.config_names import HARMLESS, MASKED
from kraftool.image.configs import BROKER, TOPIC
from kraftool.image.image import MetadataImage
from kraftool.reports.state.diff import KINDS, ChangeType, EntityChange, changes
from kraftool.reports.state.entities import CONFIGS, PRODUCER_IDS, SCRAM, Object
from kraftool.reports.verify.state_difference import (
    SCRAM_CREDENTIALS,
    AspectDifference,
    StateDifference,
    scram_name,
)

_ASPECTS = {
    "feature": "features",
    "broker": "brokers",
    "controller": "controllers",
    "topic": "topics",
    "partition": "partitions",
    CONFIGS: "configs",
    "clientQuota": "client quotas",
    PRODUCER_IDS: "producer ids",
    "acl": "ACLs",
    SCRAM: SCRAM_CREDENTIALS,
    "delegationToken": "delegation tokens",
}
"""By kind; the state of a ZooKeeper migration is none that Kafka 4 has."""


def difference(expected: MetadataImage, image: MetadataImage) -> StateDifference:
    """Compare two states. Differences that Kafka brings about in health are none: see below."""
    names_by_kind: dict[str, dict[ChangeType, list[str]]] = {}
    lost: list[tuple[int, str]] = []
    for change in changes(expected, image):
        # The partitions of a topic that is missing go without saying.
        if change.entity_kind not in _ASPECTS or change.with_topic:
            continue
        if change.entity_kind == CONFIGS and _is_kafkas(change, expected, image):
            continue
        kinds = names_by_kind.setdefault(
            change.entity_kind, {change_type: [] for change_type in ChangeType}
        )
        kinds[change.change_type].append(_name(change.entity_kind, change.entity))
        if change.entity_kind == SCRAM and change.change_type is ChangeType.REMOVED:
            lost.append((change.entity["mechanismId"], change.entity["user"]))
    if lost and not (
        names_by_kind[SCRAM][ChangeType.ADDED] or names_by_kind[SCRAM][ChangeType.CHANGED]
    ):
        del names_by_kind[SCRAM]
    else:
        lost = []
    return StateDifference(
        aspects=tuple(
            AspectDifference(
                _ASPECTS[kind],
                *(
                    tuple(sorted(names_by_kind[kind][change_type]))
                    for change_type in (ChangeType.REMOVED, ChangeType.ADDED, ChangeType.CHANGED)
                ),
            )
            for kind in KINDS
            if kind in names_by_kind
        ),
        lost_credentials=tuple(sorted(lost)),
    )


def _is_kafkas(
    change: EntityChange, expected: MetadataImage, metadata_image: MetadataImage
) -> bool:
    """True if it is what Kafka leaves behind of a topic that was made and removed between two
    snapshots, or a key that it does not know, which it passes over."""
    kind, name = change.entity["resourceTypeId"], change.entity["resourceName"]
    image = expected if change.change_type is ChangeType.REMOVED else metadata_image
    if kind == TOPIC and name not in image.topics.by_name:
        return True
    key = change.entity["name"]
    is_known = kind == BROKER or key in HARMLESS.get(kind, ()) or key in MASKED.get(kind, ())
    return change.change_type is ChangeType.REMOVED and not is_known


def _name(kind: str, entity: Object) -> str:
    """Return what a person knows it by."""
    if kind == SCRAM:
        return scram_name((entity["mechanismId"], entity["user"]))
    if kind == CONFIGS:
        resource = f"{entity['resourceType'].lower()} {entity['resourceName'] or 'default'}"
        return f"{entity['name']} of {resource}"
    if kind == "clientQuota":
        parts = (
            f"{part['type']} {'default' if part['name'] is None else part['name']}"
            for part in entity["entityParts"]
        )
        return f"{entity['key']} of {', '.join(parts)}"
    if kind == "partition":
        return f"{entity['topic']}-{entity['partition']}"
    named = ("name", "id", "aclId", "tokenId")
    return str(
        next((entity[field_name] for field_name in named if field_name in entity), "the next one")
    )
