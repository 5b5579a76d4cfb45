"""Partitions for the rules: all of them by name, and how some of them are listed.

Owns the walk over an image's partitions and the cut of long lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kraftool.image.image import MetadataImage
from kraftool.image.topics import PartitionRegistration
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Evidence, ExaminedDirectory
from kraftool.reports.text import shell_text

MOST = 5
"""So many partitions are named; the rest is counted."""


class Partition(NamedTuple):
    """A partition with the name of its topic."""

    topic: str
    number: int
    state: PartitionRegistration

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.number}"


def partitions(image: MetadataImage) -> Iterator[Partition]:
    """All partitions, topic by topic."""
    for topic in image.topics.by_id.values():
        for number, state in topic.partitions.items():
            yield Partition(topic.name, number, state)


def partitions_where(
    image: MetadataImage, is_wanted: Callable[[PartitionRegistration], object]
) -> Iterator[Partition]:
    """Yield the partitions whose state `is_wanted`. Mostly there are few."""
    for topic in image.topics.by_id.values():
        for number, state in topic.partitions.items():
            if is_wanted(state):
                yield Partition(topic.name, number, state)


def without_leader(image: MetadataImage) -> Iterator[Partition]:
    return partitions_where(image, lambda state: state.leader < 0)


def holders(partition: Partition) -> tuple[int, ...]:
    """The brokers any of which may lead with the fewest records lost, as Kafka would choose."""
    state = partition.state
    brokers = {*state.isr, *state.elr} or {*state.last_known_elr} - {-1}
    return tuple(sorted(brokers))


def named(affected: Sequence[Partition]) -> str:
    """The names of some, and how many more."""
    names = ", ".join(partition.name for partition in affected[:MOST])
    return f"{names} and {len(affected) - MOST} more" if len(affected) > MOST else names


def counted(affected: Sequence[Partition]) -> str:
    return f"{len(affected)} partitions" if len(affected) > 1 else "1 partition"


def evidence(
    examined: ExaminedDirectory, affected: Sequence[Partition], *fields: str
) -> tuple[Evidence, ...]:
    """Return what the image has for some of the partitions, at its last offset."""
    at = examined.state.image.provenance.last_offset if examined.state is not None else None
    return tuple(
        Evidence(
            file=examined.path,
            offset=at,
            found=f"{partition.name}: " + ", ".join(_field(partition, name) for name in fields),
        )
        for partition in affected[:MOST]
    )


_WORDS = {
    "isr": "ISR",
    "elr": "ELR",
    "last_known_elr": "lastKnownElr",
    "adding_replicas": "adding",
    "removing_replicas": "removing",
    "leader_recovery_state": "leaderRecoveryState",
}


def _field(partition: Partition, name: str) -> str:
    value = getattr(partition.state, name)
    text = str(list(value)) if isinstance(value, tuple) else str(value)
    return f"{_WORDS.get(name, name)} {text}"


def describe(examined: ExaminedDirectory, affected: Sequence[Partition]) -> tuple[str, ...]:
    """kafka-topics for the first few topics among them."""
    topics = list(dict.fromkeys(partition.topic for partition in affected))[:3]
    server = tools.broker(examined)
    return tuple(
        shell_text.line("kafka-topics", *server, "--describe", "--topic", topic) for topic in topics
    )


def reassignment_file(affected: Sequence[Partition]) -> str:
    """The line that writes reassign.json for kafka-reassign-partitions."""
    listed = [
        {
            "topic": partition.topic,
            "partition": partition.number,
            "replicas": [
                one for one in partition.state.replicas
                if one not in partition.state.adding_replicas
            ],
        }
        for partition in affected[:100]
    ]  # fmt: skip
    text = json.dumps({"version": 1, "partitions": listed}, separators=(",", ":"))
    return f"{shell_text.line('echo', text)} > reassign.json"
