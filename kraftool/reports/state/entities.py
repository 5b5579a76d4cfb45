"""The things that a state is made of, one by one, as JSON has them.

Owns the members of each kind of entity, which export, difference and tables share, and their order.
An entity is about as much as one record of a snapshot says. What Kafka has numbers for is there as
number and word. Secrets are masked unless asked for.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from kraftool.decoders.redact import MASK, config_value
from kraftool.decoders.wire import java_double
from kraftool.image.acls import StandardAcl
from kraftool.image.cluster import (
    BrokerRegistration,
    ControllerRegistration,
    FeatureRange,
    RegisteredEndpoint,
)
from kraftool.image.configs import RESOURCE_TYPES
from kraftool.image.delegation_tokens import DelegationToken
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import METADATA_VERSION, release_name
from kraftool.image.scram import MECHANISMS, ScramCredential
from kraftool.image.topics import RECOVERED, PartitionRegistration, TopicImage
from kraftool.reports.plain_json import plain
from kraftool.reports.shell.kafka_text import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    SECURITY_PROTOCOLS,
)

Object = dict[str, Any]

BROKERS, CONTROLLERS, TOPICS, PARTITIONS = "broker", "controller", "topic", "partition"
FEATURES, CONFIGS, QUOTAS, PRODUCER_IDS = "feature", "config", "clientQuota", "producerIds"
ACLS, SCRAM, TOKENS = "acl", "scramCredential", "delegationToken"


@dataclass(frozen=True, slots=True)
class Aspect:
    """All entities of one kind: what the image holds by key, and how one is told.

    `order` sorts keys where they do not sort by themselves; it may look at what they stand for.
    """

    kind: str
    items: Mapping[Any, Any]
    make: Callable[[Any, Any, bool], Object]
    """From key and item, and whether secrets may be shown."""
    order: Callable[[Any, Any], Any] = lambda key, item: key

    def ordered(self) -> list[Any]:
        """The keys in the order to show them in."""
        return sorted(self.items, key=lambda key: self.order(key, self.items[key]))

    def objects(self, *, show_secrets: bool) -> Iterator[Object]:
        for key in self.ordered():
            yield self.make(key, self.items[key], show_secrets)


def aspects(image: MetadataImage) -> tuple[Aspect, ...]:
    """All aspects but the partitions, of which each topic has its own."""
    configs = {
        (resource.type, resource.name, name): value
        for resource, values in image.configs.resources.items()
        for name, value in values.items()
    }
    quotas = {
        (entity, key): value
        for entity, values in image.client_quotas.entities.items()
        for key, value in values.items()
    }
    scram = {
        (user, mechanism): credential
        for mechanism, users in image.scram.mechanisms.items()
        for user, credential in users.items()
    }
    following = image.producer_ids.next_producer_id
    return (
        Aspect(FEATURES, _features(image), _feature, lambda key, _: (key != METADATA_VERSION, key)),
        Aspect(BROKERS, image.cluster.brokers, _broker),
        Aspect(CONTROLLERS, image.cluster.controllers, _controller),
        Aspect(TOPICS, image.topics.by_id, _topic, lambda key, topic: (topic.name, key)),
        Aspect(CONFIGS, configs, _config),
        Aspect(QUOTAS, quotas, _quota, _quota_order),
        Aspect(PRODUCER_IDS, {"next": following} if following >= 0 else {}, _producer_ids),
        Aspect(ACLS, image.acls.by_id, _acl, lambda key, acl: (*acl, key)),
        Aspect(SCRAM, scram, _scram),
        Aspect(TOKENS, image.delegation_tokens.tokens, _token),
    )


def partitions(topic: TopicImage) -> Aspect:
    """The partitions of a topic."""
    return Aspect(
        PARTITIONS,
        topic.partitions,
        lambda number, partition, _: {
            "topic": _text(topic.name),
            "topicId": topic.id,
            **partition_object(number, partition),
        },
    )


def _text(text: str) -> str:
    told: str = plain(text)
    return told


def _features(image: MetadataImage) -> dict[str, int]:
    level = image.features.metadata_version
    return {**({METADATA_VERSION: level} if level is not None else {}), **image.features.finalized}


def _feature(name: str, level: int, _: bool) -> Object:
    return {"name": _text(name), "level": level, "release": release_name(name, level) or None}


def _endpoints(endpoints: tuple[RegisteredEndpoint, ...]) -> list[Object]:
    return [
        {
            "name": _text(each.name),
            "host": _text(each.host),
            "port": each.port,
            "securityProtocol": word(SECURITY_PROTOCOLS, each.security_protocol),
            "securityProtocolId": each.security_protocol,
        }
        for each in endpoints
    ]


def _ranges(features: Mapping[str, FeatureRange]) -> list[Object]:
    return [
        {"name": _text(name), "min": features[name].min, "max": features[name].max}
        for name in sorted(features)
    ]


def broker_state(broker: BrokerRegistration) -> str:
    """Whether clients and partitions may use it, in a word."""
    if broker.fenced:
        return "fenced"
    return "shutting down" if broker.in_controlled_shutdown else "unfenced"


def _broker(_: int, broker: BrokerRegistration, __: bool) -> Object:
    cordoned = broker.cordoned_directories
    return {
        "id": broker.id,
        "state": broker_state(broker),
        "fenced": broker.fenced,
        "inControlledShutdown": broker.in_controlled_shutdown,
        "epoch": broker.epoch,
        "incarnationId": broker.incarnation_id,
        "rack": None if broker.rack is None else _text(broker.rack),
        "listeners": _endpoints(broker.listeners),
        "features": _ranges(broker.features),
        "directories": list(broker.directories),
        "cordonedDirectories": None if cordoned is None else list(cordoned),
        "isMigratingZkBroker": broker.is_migrating_zk_broker,
    }


def _controller(_: int, controller: ControllerRegistration, __: bool) -> Object:
    return {
        "id": controller.id,
        "incarnationId": controller.incarnation_id,
        "listeners": _endpoints(controller.listeners),
        "features": _ranges(controller.features),
        "zkMigrationReady": controller.zk_migration_ready,
    }


def _topic(_: str, topic: TopicImage, __: bool) -> Object:
    return {"name": _text(topic.name), "id": topic.id, "partitionCount": len(topic.partitions)}


def partition_object(number: int, partition: PartitionRegistration) -> Object:
    """A partition, without the topic that it is of."""
    return {
        "partition": number,
        "leader": partition.leader,
        "leaderEpoch": partition.leader_epoch,
        "partitionEpoch": partition.partition_epoch,
        "replicas": partition.replicas,
        "isr": partition.isr,
        "elr": partition.elr,
        "lastKnownElr": partition.last_known_elr,
        "addingReplicas": partition.adding_replicas,
        "removingReplicas": partition.removing_replicas,
        "directories": partition.directories,
        "leaderRecoveryState": (
            "RECOVERED" if partition.leader_recovery_state == RECOVERED else "RECOVERING"
        ),
    }


def _config(key: tuple[int, str, str], value: str, show_secrets: bool) -> Object:
    kind, resource, name = key
    shown = value if show_secrets else config_value(kind, name, value)
    return {
        "resourceType": RESOURCE_TYPES.get(kind, "UNKNOWN"),
        "resourceTypeId": kind,
        "resourceName": _text(resource),
        "name": _text(name),
        "value": _text(shown or ""),
        "masked": shown != value,
    }


def _quota_order(key: tuple[Any, str], _: float) -> Any:
    entity, name = key
    return [(kind, part is not None, part or "") for kind, part in entity], name


def _quota(key: tuple[Any, str], value: float, _: bool) -> Object:
    entity, name = key
    return {
        "entity": [
            {"type": _text(kind), "name": None if part is None else _text(part)}
            for kind, part in entity
        ],
        "key": _text(name),
        # JSON has no number for NaN and the infinities.
        "value": value if isfinite(value) else java_double(value),
    }


def _producer_ids(_: str, following: int, __: bool) -> Object:
    return {"nextProducerId": following}


def _acl(entry_id: str, acl: StandardAcl, _: bool) -> Object:
    return {
        "id": entry_id,
        "resourceType": word(ACL_RESOURCES, acl.resource_type),
        "resourceTypeId": acl.resource_type,
        "resourceName": _text(acl.resource_name),
        "patternType": word(ACL_PATTERNS, acl.pattern_type),
        "patternTypeId": acl.pattern_type,
        "principal": _text(acl.principal),
        "host": _text(acl.host),
        "operation": word(ACL_OPERATIONS, acl.operation),
        "operationId": acl.operation,
        "permissionType": word(ACL_PERMISSIONS, acl.permission_type),
        "permissionTypeId": acl.permission_type,
    }


def word(names: tuple[str, ...], code: int) -> str:
    """Kafka's word for a number of its own."""
    return names[code] if 0 <= code < len(names) else "UNKNOWN"


def _scram(key: tuple[str, int], credential: ScramCredential, show_secrets: bool) -> Object:
    user, mechanism = key
    return {
        "user": _text(user),
        "mechanism": MECHANISMS.get(mechanism, "UNKNOWN"),
        "mechanismId": mechanism,
        "iterations": credential.iterations,
        **{
            name: b64encode(secret).decode() if show_secrets else MASK
            for name, secret in (
                ("salt", credential.salt),
                ("storedKey", credential.stored_key),
                ("serverKey", credential.server_key),
            )
        },
    }


def _token(_: str, token: DelegationToken, __: bool) -> Object:
    return {
        "id": _text(token.id),
        "owner": _text(token.owner),
        "requester": _text(token.requester),
        "renewers": [_text(each) for each in token.renewers],
        "issueTimestamp": token.issue_timestamp,
        "maxTimestamp": token.max_timestamp,
        "expirationTimestamp": token.expiration_timestamp,
    }
