"""Topics and their partitions, with ELR and directories.

Owns what a PartitionChangeRecord does to a partition: any leader but the neutral one raises the
leader epoch, also the same leader named again; every change raises the partition epoch by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kraftool.decoders.native_rows import CompactGroups, CompactRows, OpenGroup, Place, RowChanges
from kraftool.image.compact import compact_topics
from kraftool.image.metadata_version import (
    DIRECTORIES_LEVEL,
    LATEST_LEVEL,
    partition_version,
)
from kraftool.image.overlay import Overlay
from kraftool.image.partition_frames import IS_NEWEST as FRAMES_NEWEST
from kraftool.image.partition_frames import framed
from kraftool.image.placed import Placed, PlacedPiece, Reader, TakeFramed
from kraftool.image.replay import Lost, RecordValue, ReplayError, WrittenRecord, replays
from kraftool.image.seen import SeenChanges
from kraftool.image.uuids import MIGRATING

NO_LEADER = -1
NO_LEADER_CHANGE = -2
NO_RECOVERY_CHANGE = -1
RECOVERED, RECOVERING = 0, 1
_MOST_SHARED = 100_000

Replicas = tuple[int, ...]
PartitionOf = Callable[[str, int], "PartitionRegistration | None"]
"""A partition of a state, by the id of its topic and its number."""


class PartitionRegistration(NamedTuple):
    """One partition. Replicas are in the order of preference."""

    replicas: Replicas
    directories: tuple[str, ...]
    isr: Replicas
    removing_replicas: Replicas
    adding_replicas: Replicas
    elr: Replicas
    last_known_elr: Replicas
    leader: int
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int


def is_reassigning(partition: PartitionRegistration) -> bool:
    return bool(partition.adding_replicas or partition.removing_replicas)


_Stretch = tuple[Sequence[bytes], Iterable[tuple[int, PartitionRegistration]]]
"""Partitions of a topic: framed records, or numbers and partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicImage:
    """One topic with its partitions by number."""

    name: str
    id: str
    partitions: Mapping[int, PartitionRegistration] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsImage:
    """All topics, by id and by name."""

    by_id: Mapping[str, TopicImage] = field(default_factory=dict)
    by_name: Mapping[str, TopicImage] = field(default_factory=dict)

    @property
    def partitions(self) -> int:
        """Return how many partitions there are in all topics."""
        return sum(len(topic.partitions) for topic in self.by_id.values())

    def records(
        self,
        metadata_version: int,
        lost: Lost,
        *,
        elr_enabled: bool,
        take_framed: TakeFramed | None = None,
    ) -> Iterator[WrittenRecord]:
        """The records. Those of partitions go to `take_framed` as bytes, if it is given."""
        version = partition_version(metadata_version)
        if not FRAMES_NEWEST or version != partition_version(LATEST_LEVEL):
            take_framed = None
        for topic in self.by_id.values():
            yield "TopicRecord", 0, {"name": topic.name, "topicId": topic.id}
            stretches: Iterable[_Stretch] = [((), topic.partitions.items())]
            if take_framed is not None and isinstance(topic.partitions, Placed):
                stretches = topic.partitions.stretches()
            for placed, partitions in stretches:
                if take_framed is not None:
                    frames = placed or framed(topic.id, partitions, elr_enabled=elr_enabled)
                    if frames is not None:
                        take_framed(frames)
                        continue
                for number, partition in partitions:
                    value = partition_value(topic.id, number, partition)
                    if not elr_enabled:
                        value["eligibleLeaderReplicas"] = value["lastKnownElr"] = None
                    if metadata_version < DIRECTORIES_LEVEL:
                        if any(directory != MIGRATING for directory in partition.directories):
                            lost(f"the directories of partition {topic.name}-{number}")
                        del value["directories"]
                    yield "PartitionRecord", version, value


def partition_value(topic_id: str, number: int, partition: PartitionRegistration) -> RecordValue:
    """The PartitionRecord that says all of a partition. Empty ELRs are left out, as by Kafka."""
    return {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": list(partition.replicas),
        "isr": list(partition.isr),
        "removingReplicas": list(partition.removing_replicas),
        "addingReplicas": list(partition.adding_replicas),
        "leader": partition.leader,
        "leaderRecoveryState": partition.leader_recovery_state,
        "leaderEpoch": partition.leader_epoch,
        "partitionEpoch": partition.partition_epoch,
        "directories": list(partition.directories),
        "eligibleLeaderReplicas": list(partition.elr) or None,
        "lastKnownElr": list(partition.last_known_elr) or None,
    }


def merge(partition: PartitionRegistration, record: RecordValue) -> PartitionRegistration:
    """The partition after a PartitionChangeRecord."""
    # Written out, since most of a log is such records.
    get = record.get
    replicas, isr = record["replicas"], get("isr")
    removing, adding = get("removingReplicas"), get("addingReplicas")
    elr, last_known_elr = get("eligibleLeaderReplicas"), get("lastKnownElr")
    leader, recovery = record["leader"], record["leaderRecoveryState"]
    assigned = get("directories")
    (
        own_replicas,
        directories,
        own_isr,
        own_removing,
        own_adding,
        own_elr,
        own_last_known_elr,
        own_leader,
        own_recovery,
        leader_epoch,
        partition_epoch,
    ) = partition
    if replicas is not None or assigned is not None:
        own_replicas = own_replicas if replicas is None else tuple(replicas)
        directories = directories if assigned is None else tuple(assigned)
        directories = _directories(directories, len(own_replicas))
    if leader != NO_LEADER_CHANGE:
        own_leader, leader_epoch = leader, leader_epoch + 1
    return _registration(
        PartitionRegistration,
        (
            own_replicas,
            directories,
            own_isr if isr is None else tuple(isr),
            own_removing if removing is None else tuple(removing),
            own_adding if adding is None else tuple(adding),
            own_elr if elr is None else tuple(elr),
            own_last_known_elr if last_known_elr is None else tuple(last_known_elr),
            own_leader,
            own_recovery if recovery == NO_RECOVERY_CHANGE else _recovery_state(recovery),
            leader_epoch,
            partition_epoch + 1,
        ),
    )


_registration = tuple.__new__
"""What the class does with its values, once they have names."""


def _directories(directories: tuple[str, ...], replicas: int) -> tuple[str, ...]:
    """One directory for each replica; none at all, or all of them unknown, is MIGRATING for each.

    Before directories were assigned no record named any.
    """
    # Nearly all lists have only directories that are known.
    if (not directories or MIGRATING in directories) and all(
        directory == MIGRATING for directory in directories
    ):
        return (MIGRATING,) * replicas
    if len(directories) != replicas:
        raise ReplayError(f"{len(directories)} directories for {replicas} replicas")
    return directories


def _recovery_state(value: int) -> int:
    if value not in (RECOVERED, RECOVERING):
        raise ReplayError(f"leader recovery state {value} is neither 0 nor 1")
    return value


def _one_of(
    partition: PartitionRegistration, other: PartitionRegistration | None
) -> PartitionRegistration:
    """The other one if they are equal, so that one of them can go."""
    return other if other == partition else partition


class _Topic:
    """A topic that changed: its partitions are copied when the first of them does."""

    __slots__ = ("id", "name", "partitions", "placed")

    def __init__(
        self, image: TopicImage, compact: CompactGroups[PartitionRegistration] | None = None
    ) -> None:
        self.id, self.name = image.id, image.name
        opened = None
        if compact is not None and isinstance(image.partitions, CompactRows):
            opened = compact.open(image.id, image.partitions)
        self.partitions: MutableMapping[int, PartitionRegistration]
        self.partitions = dict(image.partitions) if opened is None else opened
        self.placed: Placed[PartitionRegistration] | None = None
        """Partitions that are read when they are asked for, in place of those."""

    @property
    def now(self) -> Mapping[int, PartitionRegistration]:
        if self.placed is not None:
            return self.placed
        return self.partitions.now if isinstance(self.partitions, OpenGroup) else self.partitions

    def get(self, number: int) -> PartitionRegistration | None:
        return (self.partitions if self.placed is None else self.placed).get(number)

    def unfold(self) -> None:
        """Read the partitions that are only placed, so that they can be changed."""
        if self.placed is not None:
            self.partitions, self.placed = dict(self.placed.items()), None

    def fold(self, compact: CompactGroups[PartitionRegistration]) -> bool:
        """Have the native module keep the partitions; False if it does so already, or cannot."""
        self.unfold()
        if isinstance(self.partitions, OpenGroup):
            return False
        opened = compact.open(self.id, self.partitions)
        if opened is not None:
            self.partitions = opened
        return opened is not None

    def close(self) -> None:
        """Take no more records natively."""
        if isinstance(self.partitions, OpenGroup):
            self.partitions.close()


class TopicsDelta:
    """Changes to the topics."""

    def __init__(self, image: TopicsImage) -> None:
        self.seen: SeenChanges | None = None
        """Takes each change, if a caller wants them."""
        self.twin: PartitionOf | None = None
        """Another state with mostly the same partitions: equal ones are one value in both."""
        self._image = image
        self._topics: Overlay[str, TopicImage] = Overlay(image.by_id)
        self._names: Overlay[str, TopicImage] = Overlay(image.by_name)
        self._open: dict[str, _Topic] = {}
        self._shared: dict[Any, Any] = {}
        self._last = ""
        self._last_topic: _Topic | None = None
        self._compact: CompactGroups[PartitionRegistration] | None = None

    def id_of(self, name: str) -> str | None:
        """The id of the topic that has this name now."""
        topic = self._names.get(name)
        return topic.id if topic is not None else None

    def name_of(self, topic_id: str) -> str | None:
        topic = self._topics.get(topic_id)
        return topic.name if topic is not None else None

    def ids(self) -> Iterator[str]:
        """The ids of all topics that are there now."""
        return self._topics.keys()

    def partition(self, topic_id: str, number: int) -> PartitionRegistration | None:
        """A partition as it is now."""
        changed = self._open.get(topic_id)
        if changed is not None:
            return changed.get(number)
        topic = self._topics.get(topic_id)
        return topic.partitions.get(number) if topic is not None else None

    def with_elr(self, name: str) -> dict[str, list[int]]:
        """The partitions that a ClearElrRecord of this topic changes, by topic id."""
        topic_id = self.id_of(name)
        ids = self._topics.keys() if not name else () if topic_id is None else (topic_id,)
        partition_numbers = {}
        for topic_uuid in ids:
            numbers = [
                number
                for number, partition in self.partitions(topic_uuid).items()
                if partition.elr or partition.last_known_elr
            ]
            if numbers:
                partition_numbers[topic_uuid] = numbers
        return partition_numbers

    @replays("TopicRecord")
    def topic(self, record: RecordValue) -> None:
        name, topic_id = record["name"], record["topicId"]
        there = self.id_of(name)
        if there is not None:
            raise ReplayError(f"topic {name} exists already, with id {there}")
        if self._topics.get(topic_id) is not None:
            raise ReplayError(f"topic id {topic_id} is that of {self.name_of(topic_id)} already")
        topic = TopicImage(name=name, id=topic_id)
        self._topics.set(topic_id, topic)
        self._open[topic_id] = _Topic(topic)
        self._names.set(name, topic)
        self._last = ""
        if self.seen is not None:
            self.seen.topics.append((name, topic_id, True))

    @replays("RemoveTopicRecord")
    def remove_topic(self, record: RecordValue) -> None:
        topic_id = record["topicId"]
        topic = self._topics.get(topic_id)
        if topic is None:
            raise ReplayError(f"there is no topic with id {topic_id} to remove")
        if self.seen is not None:
            self.seen.topics.append((topic.name, topic_id, False))
            numbers = sorted(self.partitions(topic_id))
            self.seen.partitions += [(topic, number, None, True) for number in numbers]
        self._topics.remove(topic_id)
        changed = self._open.pop(topic_id, None)
        if changed is not None:
            changed.close()
        self._names.remove(topic.name)
        self._last = ""

    @replays("PartitionRecord")
    def new_partition(self, record: RecordValue) -> None:
        # The same tuple for the same items: there are few lists of replicas, and many partitions.
        # The bound is for a cluster whose every partition has directories of its own.
        shared = self._shared
        if len(shared) >= _MOST_SHARED:
            shared.clear()
        share = shared.setdefault
        replicas, isr = tuple(record["replicas"]), tuple(record["isr"])
        topic_id = record["topicId"]
        topic = self._last_topic
        if topic_id != self._last or topic is None:
            topic = self._changed(topic_id)
        directories = _directories(tuple(record.get("directories") or ()), len(replicas))
        # These are empty, but for a partition that moves or has an ELR.
        removing, adding = tuple(record["removingReplicas"]), tuple(record["addingReplicas"])
        elr = tuple(record.get("eligibleLeaderReplicas") or ())
        last_known_elr = tuple(record.get("lastKnownElr") or ())
        number = record["partitionId"]
        was_there = self.seen is not None and number in topic.partitions
        made = PartitionRegistration(
            share(replicas, replicas),
            share(directories, directories),
            share(isr, isr),
            share(removing, removing) if removing else (),
            share(adding, adding) if adding else (),
            share(elr, elr) if elr else (),
            share(last_known_elr, last_known_elr) if last_known_elr else (),
            record["leader"],
            _recovery_state(record["leaderRecoveryState"]),
            record["leaderEpoch"],
            record["partitionEpoch"],
        )
        if self.twin is not None:
            made = _one_of(made, self.twin(topic_id, number))
        topic.partitions[number] = made
        if self.seen is not None:
            self.seen.partitions.append((topic, number, made, was_there))

    def place(
        self, topic_id: str, piece: PlacedPiece, reader: Reader[PartitionRegistration]
    ) -> bool:
        """Take new partitions of a snapshot without reading them. Their directories and recovery
        states are valid. False if only replaying their records can say what becomes of them."""
        topic = self._open.get(topic_id)
        if topic is None or topic.partitions:
            return False
        if topic.placed is None:
            topic.close()
            topic.placed = Placed(reader)
        self._last = ""
        return topic.placed.add(piece)

    def replay_natively(
        self, data: bytes, place: Place, end: int, changes: RowChanges | None = None
    ) -> tuple[Place, int, tuple[int, int, int] | None]:
        """Replay the records of sound batches, from a place on and as far as the native module can.
        Returns the place of the first one left; how many were replayed; and last offset, epoch and
        time of the last batch that was replayed to its end."""
        replayed, last = 0, None
        if self._compact is None:
            self._compact = compact_topics(PartitionRegistration)
            if self._compact is None:
                return place, replayed, last
        while True:
            place, records, later, topic_id = self._compact.take(data, place, end, changes)
            replayed, last = replayed + records, later or last
            if topic_id is None or not self._fold(topic_id, self._compact):
                return place, replayed, last

    def _fold(self, topic_id: str, compact: CompactGroups[PartitionRegistration]) -> bool:
        """Have the native module keep a topic's partitions, if that is possible."""
        if topic_id in self._open:
            return self._open[topic_id].fold(compact)
        if self._topics.get(topic_id) is None:
            return False
        topic = self._changed(topic_id)
        return isinstance(topic.partitions, OpenGroup) or topic.fold(compact)

    @replays("PartitionChangeRecord")
    def change_partition(self, record: RecordValue) -> None:
        topic_id, number = record["topicId"], record["partitionId"]
        topic = self._open.get(topic_id)
        if topic is not None and topic.placed is None:
            partition = topic.partitions.get(number)
        else:
            topic, partition = None, self.partition(topic_id, number)
        if partition is None:
            raise ReplayError(f"there is no partition {number} of topic id {topic_id} to change")
        changed = merge(partition, record)
        if self.twin is not None:
            changed = _one_of(changed, self.twin(topic_id, number))
        topic = topic or self._changed(topic_id)
        topic.partitions[number] = changed
        if self.seen is not None:
            self.seen.partitions.append((topic, number, changed, True))

    @replays("ClearElrRecord")
    def clear_elr(self, record: RecordValue) -> None:
        name = record["topicName"]
        if name and self.id_of(name) is None:
            raise ReplayError(f"there is no topic {name} to clear the ELR of")
        for topic_id, numbers in self.with_elr(name).items():
            topic = self._changed(topic_id)
            for number in numbers:
                registration = topic.partitions[number]
                topic.partitions[number] = cleared = registration._replace(
                    elr=(), last_known_elr=(), partition_epoch=registration.partition_epoch + 1
                )
                if self.seen is not None:
                    self.seen.partitions.append((topic, number, cleared, True))

    def partitions(self, topic_id: str) -> Mapping[int, PartitionRegistration]:
        """The partitions of a topic as they are now, by number."""
        changed = self._open.get(topic_id)
        if changed is not None:
            return changed.now
        topic = self._topics.get(topic_id)
        return topic.partitions if topic is not None else {}

    def _changed(self, topic_id: str) -> _Topic:
        """The topic, with partitions that may be written."""
        changed = self._open.get(topic_id)
        if changed is None:
            topic = self._topics.get(topic_id)
            if topic is None:
                raise ReplayError(f"there is no topic with id {topic_id}")
            changed = self._open[topic_id] = _Topic(topic, self._compact)
        changed.unfold()
        # Partitions of a topic come one after the other, in snapshots and at its creation.
        self._last, self._last_topic = topic_id, changed
        return changed

    def apply(self) -> TopicsImage:
        for topic_id, topic in self._open.items():
            image = TopicImage(name=topic.name, id=topic.id, partitions=topic.now)
            self._topics.set(topic_id, image)
            self._names.set(topic.name, image)
        if not self._topics.is_changed:
            return self._image
        return TopicsImage(by_id=self._topics.result(), by_name=self._names.result())
