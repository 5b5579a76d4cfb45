"""The things that a state is made of, one by one, as JSON has them.

Owns how an entity is made of an image's values, for export, difference and tables, and the order of
entities; entity_objects.py has their members. An entity is about as much as one record of a
snapshot says. What Kafka has numbers for is there as number and word. Secrets are masked unless
asked for.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from kraftool.decoders.redact import MASK, config_value
from kraftool.decoders.wire import java_double
from kraftool.image.acls import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    StandardAcl,
)
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
from kraftool.reports.state.entity_objects import (
    AclEntity,
    BrokerEntity,
    ClientQuotaEntity,
    ConfigEntity,
    ControllerEntity,
    DelegationTokenEntity,
    FeatureEntity,
    ListenerEntity,
    ProducerIdsEntity,
    QuotaEntityPart,
    ScramCredentialEntity,
    SupportedFeature,
    TopicEntity,
    TopicPartitionEntity,
)
from kraftool.reports.state.shell.kafka_text import SECURITY_PROTOCOLS
from kraftool.reports.text.json_document import json_value, members
from kraftool.reports.text.printable import file_text

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
    entity: Callable[[Any, Any, bool], Any]
    """From key and item, and whether secrets may be shown."""
    order: Callable[[Any, Any], Any] = lambda key, item: key

    def ordered(self) -> list[Any]:
        """The keys in the order to show them in."""
        return sorted(self.items, key=lambda key: self.order(key, self.items[key]))

    def objects(self, *, show_secrets: bool) -> Iterator[Object]:
        for key in self.ordered():
            yield self.make(key, self.items[key], show_secrets)

    def make(self, key: Any, item: Any, show_secrets: bool) -> Object:
        """An entity as JSON has it."""
        made = self.entity(key, item, show_secrets)
        plain: Object = made if isinstance(made, dict) else json_value(made)
        return plain


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
    name, topic_id = file_text(topic.name), topic.id
    return Aspect(
        PARTITIONS,
        topic.partitions,
        lambda number, partition, _: {
            "topic": name,
            "topicId": topic_id,
            **partition_object(number, partition),
        },
    )


def _features(image: MetadataImage) -> dict[str, int]:
    level = image.features.metadata_version
    return {**({METADATA_VERSION: level} if level is not None else {}), **image.features.finalized}


def _feature(name: str, level: int, _: bool) -> FeatureEntity:
    return FeatureEntity(name=name, level=level, release=release_name(name, level) or None)


def _listeners(endpoints: tuple[RegisteredEndpoint, ...]) -> tuple[ListenerEntity, ...]:
    return tuple(
        ListenerEntity(
            listener=endpoint.name,
            host=endpoint.host,
            port=endpoint.port,
            security_protocol=word(SECURITY_PROTOCOLS, endpoint.security_protocol),
            security_protocol_id=endpoint.security_protocol,
        )
        for endpoint in endpoints
    )


def _ranges(features: Mapping[str, FeatureRange]) -> tuple[SupportedFeature, ...]:
    return tuple(
        SupportedFeature(name=name, min=features[name].min, max=features[name].max)
        for name in sorted(features)
    )


def broker_state(broker: BrokerRegistration) -> str:
    """Return a word for whether clients and partitions may use it."""
    if broker.fenced:
        return "fenced"
    return "shutting down" if broker.in_controlled_shutdown else "unfenced"


def _broker(_: int, broker: BrokerRegistration, __: bool) -> BrokerEntity:
    return BrokerEntity(
        id=broker.id,
        state=broker_state(broker),
        is_fenced=broker.fenced,
        is_in_controlled_shutdown=broker.in_controlled_shutdown,
        epoch=broker.epoch,
        incarnation_id=broker.incarnation_id,
        rack=broker.rack,
        listeners=_listeners(broker.listeners),
        features=_ranges(broker.features),
        directory_ids=broker.directories,
        cordoned_directory_ids=broker.cordoned_directories,
        is_migrating_zk_broker=broker.is_migrating_zk_broker,
    )


def _controller(_: int, controller: ControllerRegistration, __: bool) -> ControllerEntity:
    return ControllerEntity(
        id=controller.id,
        incarnation_id=controller.incarnation_id,
        listeners=_listeners(controller.listeners),
        features=_ranges(controller.features),
        is_zk_migration_ready=controller.zk_migration_ready,
    )


def _topic(_: str, topic: TopicImage, __: bool) -> TopicEntity:
    return TopicEntity(name=topic.name, topic_id=topic.id, partition_count=len(topic.partitions))


_PARTITION = tuple(member.name for member in members(TopicPartitionEntity))


def partition_object(number: int, partition: PartitionRegistration) -> Object:
    """A partition, without the topic that it is of: the values of a TopicPartitionEntity.

    There can be a million, so that the object is made without the step between.
    """
    values = (
        number,
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch,
        partition.replicas,
        partition.isr,
        partition.elr,
        partition.last_known_elr,
        partition.adding_replicas,
        partition.removing_replicas,
        partition.directories,
        "RECOVERED" if partition.leader_recovery_state == RECOVERED else "RECOVERING",
    )
    return dict(zip(_PARTITION, values, strict=True))


def _config(key: tuple[int, str, str], value: str, show_secrets: bool) -> ConfigEntity:
    kind, resource, name = key
    shown = value if show_secrets else config_value(kind, name, value)
    return ConfigEntity(
        resource_type=RESOURCE_TYPES.get(kind, "UNKNOWN"),
        resource_type_id=kind,
        resource_name=resource,
        name=name,
        value=shown or "",
        is_masked=shown != value,
    )


def _quota_order(key: tuple[Any, str], _: float) -> Any:
    entity, name = key
    return [(kind, part is not None, part or "") for kind, part in entity], name


def _quota(key: tuple[Any, str], value: float, _: bool) -> ClientQuotaEntity:
    entity, name = key
    return ClientQuotaEntity(
        entity_parts=tuple(QuotaEntityPart(type=kind, name=part) for kind, part in entity),
        key=name,
        # JSON has no number for NaN and the infinities.
        quota=value if isfinite(value) else java_double(value),
    )


def _producer_ids(_: str, following: int, __: bool) -> ProducerIdsEntity:
    return ProducerIdsEntity(next_producer_id=following)


def _acl(entry_id: str, acl: StandardAcl, _: bool) -> AclEntity:
    return AclEntity(
        acl_id=entry_id,
        resource_type=word(ACL_RESOURCES, acl.resource_type),
        resource_type_id=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=word(ACL_PATTERNS, acl.pattern_type),
        pattern_type_id=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=word(ACL_OPERATIONS, acl.operation),
        operation_id=acl.operation,
        permission_type=word(ACL_PERMISSIONS, acl.permission_type),
        permission_type_id=acl.permission_type,
    )


def word(names: tuple[str, ...], code: int) -> str:
    """Kafka's word for a number of its own."""
    return names[code] if 0 <= code < len(names) else "UNKNOWN"


def _scram(
    key: tuple[str, int], credential: ScramCredential, show_secrets: bool
) -> ScramCredentialEntity:
    user, mechanism = key

    def shown(secret: bytes) -> str:
        return b64encode(secret).decode() if show_secrets else MASK

    return ScramCredentialEntity(
        user=user,
        mechanism=MECHANISMS.get(mechanism, "UNKNOWN"),
        mechanism_id=mechanism,
        iterations=credential.iterations,
        salt=shown(credential.salt),
        stored_key=shown(credential.stored_key),
        server_key=shown(credential.server_key),
    )


def _token(_: str, token: DelegationToken, __: bool) -> DelegationTokenEntity:
    return DelegationTokenEntity(
        token_id=token.id,
        owner=token.owner,
        requester=token.requester,
        renewers=tuple(token.renewers),
        issue_timestamp=token.issue_timestamp,
        max_timestamp=token.max_timestamp,
        expiration_timestamp=token.expiration_timestamp,
    )
