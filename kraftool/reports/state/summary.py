"""The numbers of a state at a glance: how much there is, and how much of it is not well.

Owns what counts as offline, under-replicated and under min ISR. min.insync.replicas is looked up as
far as the metadata has it: a topic's own config, then (where it is asked for) that of the broker
that leads, then the brokers' dynamic default; one that only a server.properties sets is not known,
and counts as 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kraftool.decoders.java_text import INT32_MAX, read_whole_number
from kraftool.image.configs import BROKER, TOPIC, ConfigResource
from kraftool.image.image import MetadataImage
from kraftool.image.scram import MECHANISMS
from kraftool.image.topics import NO_LEADER, PartitionRegistration

MIN_ISR = "min.insync.replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCounts:
    """How much of each kind a state has."""

    brokers: int
    fenced_brokers: int
    brokers_shutting_down: int
    controllers: int
    topics: int
    partitions: int
    offline_partitions: int
    """Without a leader."""
    under_replicated_partitions: int
    under_min_isr_partitions: int
    reassigning_partitions: int
    configs: int
    config_resources: int
    client_quotas: int
    acls: int
    scram_credentials: Mapping[str, int]
    """By mechanism."""
    delegation_tokens: int


@dataclass(slots=True)
class Tally:
    """Counts of partitions."""

    partitions: int = 0
    offline: int = 0
    under_replicated: int = 0
    under_min_isr: int = 0
    reassigning: int = 0

    def add(self, partition: PartitionRegistration, min_isr: int) -> None:
        replicas, isr = len(partition.replicas), len(partition.isr)
        self.partitions += 1
        self.offline += partition.leader == NO_LEADER
        self.under_replicated += isr < replicas
        self.under_min_isr += isr < min(min_isr, replicas)
        self.reassigning += bool(partition.adding_replicas or partition.removing_replicas)

    def words(self) -> list[tuple[str, int]]:
        """What is not well, in words."""
        return [
            ("offline", self.offline),
            ("under min ISR", self.under_min_isr),
            ("under-replicated", self.under_replicated),
            ("being reassigned", self.reassigning),
        ]


def min_isr(image: MetadataImage, topic: str, leader: int = NO_LEADER) -> int:
    """A topic's min.insync.replicas as far as the metadata tells it."""
    resources = [ConfigResource(TOPIC, topic), ConfigResource(BROKER, "")]
    if leader != NO_LEADER:
        resources.insert(1, ConfigResource(BROKER, str(leader)))
    for each in resources:
        value = image.configs.resources.get(each, {}).get(MIN_ISR)
        number = None if value is None else read_whole_number(value.strip(), 0, INT32_MAX)
        if number is not None:
            return number
    return 1


def tally(image: MetadataImage) -> Tally:
    """The partitions of all topics."""
    counts = Tally()
    for topic in image.topics.by_id.values():
        least = min_isr(image, topic.name)
        for partition in topic.partitions.values():
            counts.add(partition, least)
    return counts


def state_counts(image: MetadataImage) -> StateCounts:
    """Count it all."""
    partitions = tally(image)
    brokers = image.cluster.brokers.values()
    return StateCounts(
        brokers=len(brokers),
        fenced_brokers=sum(each.fenced for each in brokers),
        brokers_shutting_down=sum(each.in_controlled_shutdown for each in brokers),
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
        scram_credentials={
            name: len(image.scram.mechanisms.get(number, {})) for number, name in MECHANISMS.items()
        },
        delegation_tokens=len(image.delegation_tokens.tokens),
    )
