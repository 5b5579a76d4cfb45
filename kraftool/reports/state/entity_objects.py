"""The form of each entity of a state in JSON: what a snapshot says of it in about one record."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.json_marks import Count, Ids, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureEntity:
    """A finalized feature."""

    name: str
    level: int
    release: str | None
    """Of metadata.version, the release that the level came with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerEntity:
    """A registered endpoint."""

    listener: str
    host: str
    port: int
    security_protocol: str
    """UNKNOWN where the number has no name."""
    security_protocol_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedFeature:
    """The levels of a feature that a node supports."""

    name: str
    min: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerEntity:
    """A registered broker."""

    id: int
    state: str
    """unfenced, fenced, or shutting down."""
    is_fenced: bool
    is_in_controlled_shutdown: bool
    epoch: int
    incarnation_id: str
    """A uuid as Kafka's base64 text."""
    rack: str | None
    listeners: tuple[ListenerEntity, ...]
    features: tuple[SupportedFeature, ...]
    directory_ids: tuple[str, ...]
    cordoned_directory_ids: tuple[str, ...] | None
    """null: not known yet."""
    is_migrating_zk_broker: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerEntity:
    """A registered controller."""

    id: int
    incarnation_id: str
    """A uuid as Kafka's base64 text."""
    listeners: tuple[ListenerEntity, ...]
    features: tuple[SupportedFeature, ...]
    is_zk_migration_ready: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicEntity:
    """A topic without its partitions."""

    name: str
    topic_id: str
    """A uuid as Kafka's base64 text."""
    partition_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPartitionEntity:
    """A partition, below its topic."""

    partition: int
    leader_id: int
    """-1 for none."""
    leader_epoch: int
    partition_epoch: int
    replicas: Ids
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    adding_replicas: Ids
    removing_replicas: Ids
    directory_ids: tuple[str, ...]
    """One for each replica."""
    leader_recovery_state: str
    """RECOVERED or RECOVERING."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionEntity(TopicPartitionEntity):
    """A partition."""

    topic: str
    topic_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicWithPartitions(TopicEntity):
    """A topic."""

    partitions: tuple[TopicPartitionEntity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntity:
    """A dynamic config."""

    resource_type: str
    """TOPIC, BROKER and so on; UNKNOWN where the number has no name."""
    resource_type_id: int
    resource_name: str
    """Empty for the default of the type."""
    name: str
    value: str
    """[redacted] where it is masked."""
    is_masked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaEntityPart:
    """A part of what a quota is for."""

    type: str
    name: str | None
    """null for the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientQuotaEntity:
    """A client quota."""

    entity_parts: tuple[QuotaEntityPart, ...]
    key: str
    quota: float | str
    """A text for NaN and the infinities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdsEntity:
    """The producer ids that were given out."""

    next_producer_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ZkMigrationEntity:
    """The state of a migration from ZooKeeper."""

    zk_migration_state: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AclEntity:
    """An ACL. UNKNOWN stands where a number has no name."""

    acl_id: str
    """A uuid as Kafka's base64 text."""
    resource_type: str
    resource_type_id: int
    resource_name: str
    pattern_type: str
    pattern_type_id: int
    principal: str
    host: str
    operation: str
    operation_id: int
    permission_type: str
    permission_type_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramCredentialEntity:
    """A SCRAM credential. Its keys are base64, and [redacted] unless --show-secrets."""

    user: str
    mechanism: str
    mechanism_id: int
    iterations: Count
    salt: str
    stored_key: str
    server_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationTokenEntity:
    """A delegation token."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: Moment
    max_timestamp: Moment
    expiration_timestamp: Moment
