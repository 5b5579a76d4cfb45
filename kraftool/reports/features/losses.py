"""The parts of the state and the log that a lower metadata.version cannot have.

Owns the list, with counts and a few examples. Kafka refuses a downgrade across a level that changed
records whether any of this is there or not; it tells what stands in the way, and what a cluster
formatted anew at the lower level would have to do without. No secret is among the examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kraftool.decoders.json_marks import Count
from kraftool.directory.log_summary import TypeCount
from kraftool.image.features import zk_migration_name
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import (
    CIDR_ACL_LEVEL,
    CONTROLLER_REGISTRATION_LEVEL,
    CORDONED_LEVEL,
    DELEGATION_TOKENS_LEVEL,
    DIRECTORIES_LEVEL,
    ELR_LEVEL,
    ELR_VERSION,
    METADATA_VERSION,
    SCRAM_LEVEL,
    ZK_MIGRATION_LEVEL,
    record_level,
)
from kraftool.image.scram import MECHANISMS
from kraftool.image.topics import PartitionRegistration
from kraftool.image.uuids import MIGRATING

MOST_EXAMPLES = 3
_ELR = "eligible leader replicas of partitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLoss:
    """State that a level which is asked for cannot hold."""

    what: str
    feature: str
    needed_level: int
    """The lowest level of the feature that holds it."""
    type_names: tuple[str, ...]
    """The record types whose newer versions or fields hold it."""
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerRecords:
    """Records in the log of a type or version that the target does not write."""

    name: str
    version: int
    needed_level: int
    records: Count
    first_offset: int


def losses(image: MetadataImage, metadata_version: int, elr: int) -> tuple[FeatureLoss, ...]:
    """Return what is lost at a metadata.version, and at a level of
    eligible.leader.replicas.version.
    """
    feature_losses = [
        _loss(what, METADATA_VERSION, needs, records, of(image))
        for what, needs, records, of in _HELD
        if metadata_version < needs
    ]
    if elr == 0 and metadata_version >= ELR_LEVEL:
        feature_losses.append(_loss(_ELR, ELR_VERSION, 1, _PARTITIONS, _elr(image)))
    return tuple(feature_loss for feature_loss in feature_losses if feature_loss is not None)


def newer_records(logged: Iterable[TypeCount], metadata_version: int) -> tuple[NewerRecords, ...]:
    """Records that the log still has and the target does not know."""
    newer = (
        NewerRecords(
            name=one.type or "",
            version=one.version,
            needed_level=needs,
            records=one.records,
            first_offset=one.first_offset,
        )
        for one in logged
        if one.version is not None
        and one.first_offset is not None
        and (needs := record_level(one.type or "", one.version)) > metadata_version
    )
    return tuple(sorted(newer, key=lambda one: (one.name, one.version)))


def _loss(
    what: str, feature: str, needs: int, records: tuple[str, ...], held: Iterator[str]
) -> FeatureLoss | None:
    examples, count = [], 0
    for example in held:
        count += 1
        if count <= MOST_EXAMPLES:
            examples.append(example)
    if not count:
        return None
    return FeatureLoss(
        what=what,
        feature=feature,
        needed_level=needs,
        type_names=records,
        count=count,
        examples=tuple(examples),
    )


def _migrating_brokers(image: MetadataImage) -> Iterator[str]:
    brokers = image.cluster.brokers.values()
    return (f"broker {broker.id}" for broker in brokers if broker.is_migrating_zk_broker)


def _zk_migration(image: MetadataImage) -> Iterator[str]:
    state = image.features.zk_migration_state
    return iter([f"state {zk_migration_name(state)}"] if state is not None else [])


def _scram(image: MetadataImage) -> Iterator[str]:
    return (
        f"user {name} ({MECHANISMS[mechanism]})"
        for mechanism, users in image.scram.mechanisms.items()
        for name in users
    )


def _tokens(image: MetadataImage) -> Iterator[str]:
    return (f"token of {token.owner}" for token in image.delegation_tokens.tokens.values())


def _controllers(image: MetadataImage) -> Iterator[str]:
    return (f"controller {id}" for id in image.cluster.controllers)


def _broker_directories(image: MetadataImage) -> Iterator[str]:
    brokers = image.cluster.brokers.values()
    return (
        f"broker {broker.id}: {len(broker.directories)}" for broker in brokers if broker.directories
    )


def _partitions(
    image: MetadataImage, chosen: Callable[[PartitionRegistration], object]
) -> Iterator[str]:
    return (
        f"{topic.name}-{number}"
        for topic in image.topics.by_id.values()
        for number, partition in topic.partitions.items()
        if chosen(partition)
    )


def _partition_directories(image: MetadataImage) -> Iterator[str]:
    return _partitions(
        image,
        lambda partition_registration: any(
            one != MIGRATING for one in partition_registration.directories
        ),
    )


def _elr(image: MetadataImage) -> Iterator[str]:
    return _partitions(
        image,
        lambda partition_registration: (
            partition_registration.elr or partition_registration.last_known_elr
        ),
    )


def _cordoned(image: MetadataImage) -> Iterator[str]:
    brokers = image.cluster.brokers.values()
    return (
        f"broker {broker.id}: {len(broker.cordoned_directories)} cordoned"
        for broker in brokers
        if broker.cordoned_directories
    )


def _cidr_acls(image: MetadataImage) -> Iterator[str]:
    acls = image.acls.by_id.values()
    return (f"{acl.principal} from {acl.host}" for acl in acls if "/" in acl.host)


_BROKERS = ("RegisterBrokerRecord", "BrokerRegistrationChangeRecord")
_PARTITIONS = ("PartitionRecord", "PartitionChangeRecord")
_Held = Callable[[MetadataImage], Iterator[str]]
_HELD: tuple[tuple[str, int, tuple[str, ...], _Held], ...] = (
    ("brokers migrating from ZooKeeper", ZK_MIGRATION_LEVEL, _BROKERS[:1], _migrating_brokers),
    ("the state of a migration from ZooKeeper", ZK_MIGRATION_LEVEL, ("ZkMigrationStateRecord",),
     _zk_migration),
    ("SCRAM credentials", SCRAM_LEVEL, ("UserScramCredentialRecord",), _scram),
    ("delegation tokens", DELEGATION_TOKENS_LEVEL, ("DelegationTokenRecord",), _tokens),
    ("registrations of controllers", CONTROLLER_REGISTRATION_LEVEL, ("RegisterControllerRecord",),
     _controllers),
    ("log directories of brokers", DIRECTORIES_LEVEL, _BROKERS, _broker_directories),
    ("directories of partitions", DIRECTORIES_LEVEL, _PARTITIONS, _partition_directories),
    (_ELR, ELR_LEVEL, _PARTITIONS, _elr),
    ("cordoned log directories of brokers", CORDONED_LEVEL, _BROKERS, _cordoned),
    ("ACLs for address ranges", CIDR_ACL_LEVEL, ("AccessControlEntryRecord",), _cidr_acls),
)  # fmt: skip
