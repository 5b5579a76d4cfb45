"""The partitions by broker and directory, so that the failure of one costs what it changes.

Owns five questions: which partitions have a broker in their ISR or in their ELR, which have no
leader (and whether a broker leads any), which have a replica in a directory, and which are not led
by their preferred replica. It is a view of the topics' state and is made from an image in one pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from kraftool.image.topics import NO_LEADER, PartitionRegistration, TopicImage, TopicsImage
from kraftool.image.uuids import LOST, MIGRATING, UNASSIGNED

_Holder = TypeVar("_Holder", int, str)
_NO_DIRECTORIES = frozenset({LOST, MIGRATING, UNASSIGNED})


class PartitionKey(NamedTuple):
    """A partition by the id of its topic and its number."""

    topic_id: str
    number: int


class _Holdings(Generic[_Holder]):
    """The partitions of each broker, or of each directory; in no order to rely on."""

    __slots__ = ("_partitions",)

    def __init__(self) -> None:
        self._partitions: dict[_Holder, dict[PartitionKey, None]] = {}

    def of(self, holder: _Holder) -> tuple[PartitionKey, ...]:
        """A copy, since whoever asks is about to change it."""
        return tuple(self._partitions.get(holder, ()))

    def add(self, key: PartitionKey, holders: Collection[_Holder]) -> None:
        """A partition that was not here before."""
        of = self._partitions
        for holder in holders:
            partitions = of.get(holder)
            if partitions is None:
                of[holder] = {key: None}
            else:
                partitions[key] = None

    def change(
        self, key: PartitionKey, before: Collection[_Holder], after: Collection[_Holder]
    ) -> None:
        if before == after:
            return
        for holder in before:
            if holder not in after:
                partitions = self._partitions[holder]
                del partitions[key]
                if not partitions:
                    del self._partitions[holder]
        for holder in after:
            if holder not in before:
                self._partitions.setdefault(holder, {})[key] = None


class PartitionIndex:
    """The partitions of a state, by the brokers that they depend on."""

    def __init__(self) -> None:
        self._in_isr: _Holdings[int] = _Holdings()
        self._in_elr: _Holdings[int] = _Holdings()
        self._led: dict[int, int] = {}
        """How many partitions each broker leads."""
        self._leaderless: dict[PartitionKey, None] = {}
        self._in_directory: _Holdings[str] | None = None
        """Made when it is asked for: most brokers never lose a directory and live on."""
        self._not_preferred: dict[PartitionKey, None] = {}

    @classmethod
    def of(cls, topics: TopicsImage) -> PartitionIndex:
        index = cls()
        add = index._add
        for topic in topics.by_id.values():
            for number, partition in topic.partitions.items():
                add(PartitionKey(topic.id, number), partition)
        return index

    def _add(self, key: PartitionKey, partition: PartitionRegistration) -> None:
        """A partition that was not here before."""
        leader = partition.leader
        self._in_isr.add(key, partition.isr)
        self._lead(key, leader, 1)
        if partition.elr:
            self._in_elr.add(key, partition.elr)
        if self._in_directory is not None:
            self._in_directory.add(key, _directories(partition))
        if leader != partition.replicas[0]:
            self._not_preferred[key] = None

    def change(
        self,
        key: PartitionKey,
        before: PartitionRegistration | None,
        after: PartitionRegistration | None,
    ) -> None:
        """A partition was made (None before), changed, or removed (None after)."""
        if before is None and after is not None:
            self._add(key, after)
            return
        self._in_isr.change(key, before.isr if before else (), after.isr if after else ())
        self._in_elr.change(key, before.elr if before else (), after.elr if after else ())
        if (before and before.leader) != (after and after.leader):
            if before is not None:
                self._lead(key, before.leader, -1)
            if after is not None:
                self._lead(key, after.leader, 1)
        if self._in_directory is not None:
            self._in_directory.change(key, _directories(before), _directories(after))
        if after is not None and after.leader != after.replicas[0]:
            self._not_preferred[key] = None
        else:
            self._not_preferred.pop(key, None)

    def _lead(self, key: PartitionKey, leader: int, change: int) -> None:
        """A partition has this leader (1), or has it no longer (-1)."""
        if leader != NO_LEADER:
            self._led[leader] = self._led.get(leader, 0) + change
        elif change > 0:
            self._leaderless[key] = None
        else:
            del self._leaderless[key]

    def with_isr(self, broker_id: int) -> tuple[PartitionKey, ...]:
        return self._in_isr.of(broker_id)

    def with_elr(self, broker_id: int) -> tuple[PartitionKey, ...]:
        return self._in_elr.of(broker_id)

    def with_directory(
        self, directory: str, topics: Iterable[TopicImage]
    ) -> tuple[PartitionKey, ...]:
        """`topics`: all there are, to be looked through the first time."""
        if self._in_directory is None:
            self._in_directory = _Holdings()
            for topic in topics:
                for number, partition in topic.partitions.items():
                    self._in_directory.add(PartitionKey(topic.id, number), _directories(partition))
        return self._in_directory.of(directory)

    def is_leader_of_any(self, broker_id: int) -> bool:
        return self._led.get(broker_id, 0) > 0

    def leaderless(self) -> tuple[PartitionKey, ...]:
        """A copy, since whoever asks is about to change it."""
        return tuple(self._leaderless)

    def not_led_by_preferred(self) -> Iterator[PartitionKey]:
        return iter(tuple(self._not_preferred))


def _directories(partition: PartitionRegistration | None) -> Collection[str]:
    """The directories that a partition is known to be in."""
    if partition is None:
        return ()
    return set(partition.directories) - _NO_DIRECTORIES
