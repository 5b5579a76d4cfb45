"""The tree of kafka-metadata-shell 4.3.0 over an image.

Owns which directories and files there are. With `show_secrets` every file's text is Kafka's;
without it SCRAM salts and keys, and config values not known to be harmless, are masked.

Where it is not Kafka's tree:
- `local/version` is kraftool's, and `local/commitId` always `unknown`.
- Quota entities with a default part have names of their own, see `quota_entities.py`.
- `features/finalized_NAME` is a file, with level 0, only for a feature that is known; Kafka has one
  for whatever NAME is asked for.
- The provenance counts control records at the end of a log, as a broker's image does; Kafka's shell
  passes over them.
- Configs that Kafka 4.3 does not know are there, and not skipped. Those of a resource type that has
  no name are below `UNKNOWN_` and its number.
"""

from __future__ import annotations

from collections.abc import Mapping

from kraftool import __version__
from kraftool.decoders.java_text import read_int32, read_uuid
from kraftool.decoders.redact import config_value
from kraftool.decoders.wire import java_double
from kraftool.image.client_quotas import QuotaEntity
from kraftool.image.configs import RESOURCE_TYPES, ConfigResource
from kraftool.image.features import FeaturesImage
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import FEATURES
from kraftool.image.scram import MECHANISMS
from kraftool.image.topics import TopicImage
from kraftool.reports.state.shell import kafka_text
from kraftool.reports.state.shell.nodes import (
    Directory,
    Leaf,
    Node,
    by_key,
    by_name,
    fixed,
    java_text,
    leaf,
)
from kraftool.reports.state.shell.quota_entities import entity_name, read_entity

_FINALIZED = "finalized_"
_RESOURCE_NUMBERS = {name: number for number, name in RESOURCE_TYPES.items()}


def shell_tree(image: MetadataImage, *, show_secrets: bool = False) -> Directory:
    """The root of the tree."""
    local = {"version": lambda: leaf(__version__), "commitId": lambda: leaf("unknown")}
    return fixed(
        {"local": lambda: fixed(local), "image": lambda: _image(image, show_secrets=show_secrets)}
    )


def _image(image: MetadataImage, *, show_secrets: bool) -> Directory:
    return fixed(
        {
            "provenance": lambda: leaf(kafka_text.provenance(image.provenance)),
            "features": lambda: _features(image.features),
            "cluster": lambda: _cluster(image),
            "topics": lambda: _topics(image),
            "configs": lambda: _configs(image, show_secrets=show_secrets),
            "clientQuotas": lambda: _quotas(image),
            "producerIds": lambda: fixed(
                {"nextProducerId": lambda: leaf(str(image.producer_ids.next_producer_id))}
            ),
            "acls": lambda: fixed({"byId": lambda: _acls(image)}),
            "scram": lambda: _scram(image, show_secrets=show_secrets),
            "delegationToken": lambda: by_name(
                image.delegation_tokens.tokens,
                lambda _, token: Leaf(lambda: java_text(kafka_text.delegation_token(token))),
            ),
        }
    )


def _features(features: FeaturesImage) -> Directory:
    def child(name: str) -> Node | None:
        if name == "metadataVersion":
            return leaf(kafka_text.metadata_version(features.metadata_version))
        feature = name.removeprefix(_FINALIZED)
        if feature == name or (feature not in features.finalized and feature not in FEATURES):
            return None
        return leaf(str(features.finalized.get(feature, 0)))

    return Directory(
        lambda: ["metadataVersion", *(_FINALIZED + name for name in features.finalized)], child
    )


def _cluster(image: MetadataImage) -> Directory:
    cluster = image.cluster
    return fixed(
        {
            "brokers": lambda: by_key(
                cluster.brokers,
                str,
                read_int32,
                lambda _, it: leaf(kafka_text.broker_registration(it)),
            ),
            "controllers": lambda: by_key(
                cluster.controllers,
                str,
                read_int32,
                lambda _, it: leaf(kafka_text.controller_registration(it)),
            ),
        }
    )


def _topics(image: MetadataImage) -> Directory:
    topics = image.topics
    return fixed(
        {
            "byName": lambda: by_name(topics.by_name, lambda _, topic: _topic(topic)),
            "byId": lambda: by_key(topics.by_id, str, read_uuid, lambda _, topic: _topic(topic)),
        }
    )


def _topic(topic: TopicImage) -> Directory:
    partitions = topic.partitions

    def child(name: str) -> Node | None:
        if name == "name":
            return leaf(topic.name)
        if name == "id":
            return leaf(topic.id)
        number = read_int32(name)
        if number is None or number not in partitions:
            return None
        # A partition of a snapshot is read when its text is.
        return Leaf(lambda: kafka_text.partition_registration(partitions[number]))

    return Directory(lambda: ["name", "id", *map(str, partitions)], child)


def _configs(image: MetadataImage, *, show_secrets: bool) -> Directory:
    def resource(at: ConfigResource, values: Mapping[str, str]) -> Directory:
        def value(key: str, text: str) -> Leaf:
            shown = text if show_secrets else config_value(at.type, key, text)
            return leaf(shown or "")

        return by_name(values, value)

    def read(name: str) -> ConfigResource | None:
        kind, _, of = name.partition(":")
        resource = ConfigResource(_RESOURCE_NUMBERS.get(kind, -1), of)
        if resource in image.configs.resources:
            return resource
        return next(
            (
                config_resource
                for config_resource in image.configs.resources
                if resource_name(config_resource) == name
            ),
            None,
        )

    return by_key(image.configs.resources, resource_name, read, resource)


def resource_name(resource: ConfigResource) -> str:
    """A resource's directory; that of the default resource is named by the type alone."""
    kind = RESOURCE_TYPES.get(resource.type, f"UNKNOWN_{resource.type}")
    return f"{kind}:{java_text(resource.name)}" if resource.name else kind


def _quotas(image: MetadataImage) -> Directory:
    def values(quotas: Mapping[str, float]) -> Directory:
        return by_name(quotas, lambda _, value: leaf(java_double(value)))

    entities = image.client_quotas.entities

    def shown(entity: QuotaEntity) -> str:
        return java_text(entity_name(entity))

    def read(name: str) -> QuotaEntity | None:
        entity = read_entity(name)
        if entity in entities:
            return entity
        return next((entity for entity in entities if shown(entity) == name), None)

    return by_key(entities, shown, read, lambda _, quotas: values(quotas))


def _acls(image: MetadataImage) -> Directory:
    return by_key(
        image.acls.by_id, str, read_uuid, lambda _, acl: leaf(kafka_text.standard_acl(acl))
    )


def _scram(image: MetadataImage, *, show_secrets: bool) -> Directory:
    def users(mechanism: int) -> Directory:
        return by_name(
            image.scram.mechanisms.get(mechanism, {}),
            lambda _, it: leaf(kafka_text.scram_credential(it, show_secrets=show_secrets)),
        )

    numbers = {name: number for number, name in MECHANISMS.items()}

    def child(name: str) -> Node | None:
        return users(numbers[name]) if name in numbers else None

    return Directory(numbers.keys, child)
