"""The numbers of a state at a glance: how much there is, and how much of it is not well.

Owns what counts as offline, and what as under-replicated and under min ISR: what kafka-topics lists
by its options of these two names. Replicas that are being added do not lack yet, and what has no
leader is under min ISR, too. Other than there, no more replicas are wanted in sync than there are,
as brokers of Kafka 4 have it. min.insync.replicas is looked up as far as the metadata has it: a
topic's own config, then that of the broker that leads, then the brokers' dynamic default; one that
only a server.properties sets is not known, and counts as 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kraftool.decoders.java_text import INT32_MAX, read_whole_number
from kraftool.decoders.json_marks import Count
from kraftool.image.configs import BROKER, TOPIC
from kraftool.image.image import MetadataImage
from kraftool.image.scram import MECHANISMS
from kraftool.image.topics import NO_LEADER, PartitionRegistration, is_reassigning

MIN_ISR = "min.insync.replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCounts:
    """The number of entities of each kind in a state."""

    brokers: Count
    fenced_brokers: Count
    shutting_down_brokers: Count
    controllers: Count
    topics: Count
    partitions: Count
    offline_partitions: Count
    """Without a leader."""
    under_replicated_partitions: Count
    under_min_isr_partitions: Count
    reassigning_partitions: Count
    configs: Count
    config_resources: Count
    client_quotas: Count
    acls: Count
    scram_credentials_by_mechanism: Mapping[str, int]
    """By mechanism."""
    delegation_tokens: Count


@dataclass(slots=True)
class PartitionCounts:
    """Counts of partitions."""

    partitions: int = 0
    offline: int = 0
    under_replicated: int = 0
    under_min_isr: int = 0
    reassigning: int = 0

    def add(self, partition: PartitionRegistration, min_isr: int) -> None:
        self.partitions += 1
        self.offline += is_offline(partition)
        self.under_replicated += is_under_replicated(partition)
        self.under_min_isr += is_under_min_isr(partition, min_isr)
        self.reassigning += is_reassigning(partition)

    def add_all(
        self, topic: str, partitions: Iterable[PartitionRegistration], least: MinIsr
    ) -> None:
        """Count partitions of a topic; nearly all of them are well."""
        for partition in partitions:
            if is_well(partition):
                self.partitions += 1
            else:
                self.add(partition, least.of(topic, partition.leader))

    def words(self) -> list[tuple[str, int]]:
        """Return what is not well, in words."""
        return [
            ("offline", self.offline),
            ("under min ISR", self.under_min_isr),
            ("under-replicated", self.under_replicated),
            ("being reassigned", self.reassigning),
        ]


def is_well(partition: PartitionRegistration) -> bool:
    """True if nothing is to be said about it, whatever min.insync.replicas is."""
    return (
        len(partition.isr) >= len(partition.replicas)
        and not (partition.adding_replicas or partition.removing_replicas)
        and partition.leader != NO_LEADER
    )


def is_offline(partition: PartitionRegistration) -> bool:
    return partition.leader == NO_LEADER


def is_under_replicated(partition: PartitionRegistration) -> bool:
    return len(partition.isr) < len(partition.replicas) - len(partition.adding_replicas)


def is_under_min_isr(partition: PartitionRegistration, min_isr: int) -> bool:
    wanted = min(min_isr, len(partition.replicas))
    return is_offline(partition) or len(partition.isr) < wanted


class MinIsr:
    """min.insync.replicas as far as the metadata tells it."""

    def __init__(self, image: MetadataImage) -> None:
        self._told: dict[tuple[int, str], int] = {}
        for resource, configs in image.configs.resources.items():
            value = configs.get(MIN_ISR)
            number = None if value is None else read_whole_number(value.strip(), 0, INT32_MAX)
            if number is not None:
                self._told[resource.type, resource.name] = number
        self._default = self._told.get((BROKER, ""), 1)

    def of(self, topic: str, leader: int) -> int:
        """For a partition of a topic, by who leads it."""
        own = self._told.get((TOPIC, topic))
        if own is None:
            own = self._told.get((BROKER, str(leader)))
        return self._default if own is None else own


def tally(image: MetadataImage) -> PartitionCounts:
    """The partitions of all topics."""
    counts, least = PartitionCounts(), MinIsr(image)
    for topic in image.topics.by_id.values():
        counts.add_all(topic.name, topic.partitions.values(), least)
    return counts


def state_counts(image: MetadataImage) -> StateCounts:
    """Count it all."""
    partitions = tally(image)
    brokers = image.cluster.brokers.values()
    return StateCounts(
        brokers=len(brokers),
        fenced_brokers=sum(broker.fenced for broker in brokers),
        shutting_down_brokers=sum(broker.in_controlled_shutdown for broker in brokers),
        controllers=len(image.cluster.controllers),
        topics=len(image.topics.by_id),
        partitions=partitions.partitions,
        offline_partitions=partitions.offline,
        under_replicated_partitions=partitions.under_replicated,
        under_min_isr_partitions=partitions.under_min_isr,
        reassigning_partitions=partitions.reassigning,
        configs=sum(map(len, image.configs.resources.values())),
        config_resources=len(image.configs.resources),
        client_quotas=sum(map(len, image.client_quotas.entities.values())),
        acls=len(image.acls.by_id),
        scram_credentials_by_mechanism={
            name: len(image.scram.mechanisms.get(number, {})) for number, name in MECHANISMS.items()
        },
        delegation_tokens=len(image.delegation_tokens.tokens),
    )
