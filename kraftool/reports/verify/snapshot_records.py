"""The metadata records of a snapshot: each by itself, and one after the other.

Owns which records Kafka writes into a snapshot, in which order and form, and the state that they
make. It refuses what `read_file` finds already: damage, records that cannot be decoded, a missing
header or footer. After damage nothing is judged any more, for what is missing would be blamed on
what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.log_record import position_in_file
from kraftool.decoders.schema import NEWEST_RELEASE
from kraftool.image.configs import BROKER, TOPIC
from kraftool.image.delta import MetadataDelta
from kraftool.image.image import EMPTY, MetadataImage, Provenance
from kraftool.image.loader import TRANSACTION_RECORDS
from kraftool.image.metadata_version import (
    FEATURES,
    KRAFT_VERSION,
    LATEST_LEVEL,
    METADATA_VERSION,
    partition_version,
    register_broker_version,
)
from kraftool.image.placed import PlacedPiece
from kraftool.image.replay import RecordValue, ReplayError
from kraftool.image.topics import PartitionRegistration, Replicas
from kraftool.reports.files.finding_limits import FileFindings
from kraftool.reports.findings.kinds import snapshot as kinds
from kraftool.reports.state.placed_records import PlacedRecords
from kraftool.reports.verify.snapshot_partition import partition_faults

PARTITION = "PartitionRecord"
_NEWEST = partition_version(LATEST_LEVEL)
_VERSION_AT = 2
"""The index of the version in a partition's record, whose frame has three bytes."""
_MOST_KEPT = 1 << 14
"""There are few lists of brokers, and many partitions."""
_ASPECTS = (
    ("features", ("FeatureLevelRecord", "ZkMigrationStateRecord")),
    ("brokers and controllers", ("RegisterBrokerRecord", "RegisterControllerRecord")),
    ("topics", ("TopicRecord", "PartitionRecord")),
    ("configs", ("ConfigRecord",)),
    ("client quotas", ("ClientQuotaRecord",)),
    ("producer ids", ("ProducerIdsRecord",)),
    ("ACLs", ("AccessControlEntryRecord",)),
    ("SCRAM credentials", ("UserScramCredentialRecord",)),
    ("delegation tokens", ("DelegationTokenRecord",)),
)
_RANK = {name: rank for rank, (_, names) in enumerate(_ASPECTS) for name in names}

_VERSIONS: dict[str, Callable[[int], int]] = {
    "RegisterBrokerRecord": register_broker_version,
    PARTITION: partition_version,
}
"""Records of which metadata.version chooses the version."""

_KEYS: dict[str, Callable[[RecordValue], Hashable]] = {
    "FeatureLevelRecord": lambda value: value["name"],
    "ZkMigrationStateRecord": lambda value: "",
    "RegisterBrokerRecord": lambda value: value["brokerId"],
    "RegisterControllerRecord": lambda value: value["controllerId"],
    "ConfigRecord": lambda value: (value["resourceType"], value["resourceName"], value["name"]),
    "ClientQuotaRecord": lambda value: (
        frozenset((part["entityType"], part["entityName"]) for part in value["entity"]),
        value["key"],
    ),
    "AccessControlEntryRecord": lambda value: value["id"],
    "UserScramCredentialRecord": lambda value: (value["mechanism"], value["name"]),
    "DelegationTokenRecord": lambda value: value["tokenId"],
}
"""What a record is about. Topics are looked up in the image, and producer ids only go up."""


class _RecordPlaces:
    """The places of a batch's records in the file, read when a finding needs one of them."""

    def __init__(self, batch: RecordBatch) -> None:
        self._batch = batch
        self._positions: list[int] = []

    def __getitem__(self, index: int) -> int:
        if not self._positions:
            with suppress(DecodeError):  # the fault is after the record of the finding
                for record in self._batch.records():
                    self._positions.append(position_in_file(self._batch, record))
        return self._positions[index]


class RecordRules:
    """Takes in the records of one snapshot, in order."""

    def __init__(self, findings: FileFindings, offset: int | None) -> None:
        self._findings = findings
        self._offset = offset
        """The snapshot's, which is in its name; None where it has none, or 0."""
        self._delta = MetadataDelta(EMPTY)
        self._rank = 0
        self._count = 0
        self._level: int | None = None
        self._elr_enabled = False
        self._seen: dict[str, set[Hashable]] = {}
        self._leaders: dict[int, tuple[_RecordPlaces, int, int, str]] = {}
        """The first partition that each broker leads."""
        self._places: _RecordPlaces
        self._index = self._at = 0

    @property
    def count(self) -> int:
        return self._count

    def begin_batch(self, batch: RecordBatch) -> None:
        """Begin a batch: the next records are its records, from the first one on."""
        self._places, self._index = _RecordPlaces(batch), -1

    def record(self, name: str, version: int, value: RecordValue, at: int) -> None:
        """Judge a record and replay it; `at` is its offset in the file."""
        self._at = at
        self._index += 1
        self._count += 1
        if name in TRANSACTION_RECORDS:
            self._note(kinds.REPLAY, f"{name}: a snapshot has no transactions")
            return
        self._order(name)
        self._version(name, version)
        if name == PARTITION:
            self._partition(value)
        else:
            self._twice(name, value)
            check = _CHECKS.get(name)
            if check is not None:
                check(self, value)
        try:
            self._delta.replay(name, value)
        except ReplayError as error:
            self._note(kinds.REPLAY, f"{name}: {error.message}")

    def place(
        self, topic_id: str, piece: PlacedPiece, placed: PlacedRecords, base_offset: int
    ) -> bool:
        """Judge partitions together, and leave them where they are in the file. False if each of
        them has to be judged by itself; then nothing was done. `base_offset` is the batch's."""
        if self._rank > _RANK[PARTITION] or not self._are_due(piece, placed):
            return False
        partitions = placed.items(piece)
        if not all(map(_is_faultless, partitions)):
            return False
        if not self._delta.topics.place(topic_id, piece, placed):
            return False
        self._rank = _RANK[PARTITION]
        for number, partition in enumerate(partitions):
            leader = partition.leader
            if leader >= 0 and leader not in self._leaders:
                name = self._named(topic_id, piece.number + number)
                index, at = self._index + 1 + number, base_offset + piece.ordinal + number
                self._leaders[leader] = self._places, index, at, name
        self._index += piece.length
        self._count += piece.length
        return True

    def _are_due(self, piece: PlacedPiece, placed: PlacedRecords) -> bool:
        """True if these partitions have the record version that metadata.version requires."""
        level = self._level
        if level is None or level > LATEST_LEVEL:
            return True
        if piece.is_newest:
            return partition_version(level) == _NEWEST
        return {value[_VERSION_AT] for value in placed.values(piece)} == {partition_version(level)}

    def _note(self, kind: Any, text: str, **more: str) -> None:
        position = self._places[self._index]
        self._findings.add(kind, text, position=position, offset=self._at, **more)

    def _order(self, name: str) -> None:
        rank = _RANK.get(name)
        if rank is None:
            self._note(kinds.RECORD, f"{name}: it changes something that does not exist yet")
            return
        if rank < self._rank:
            text = f"{name} after records of {_ASPECTS[self._rank][0]}"
            self._note(kinds.ORDER, text)
        self._rank = max(rank, self._rank)

    def _version(self, name: str, version: int) -> None:
        choose = _VERSIONS.get(name)
        level = self._level
        if choose is None or level is None or level > LATEST_LEVEL or version == choose(level):
            return
        self._note(
            kinds.RECORD,
            f"metadata.version {level} writes {name} in another version",
            field="version",
            expected=str(choose(level)),
            found=str(version),
        )

    def _twice(self, name: str, value: RecordValue) -> None:
        key = _KEYS.get(name)
        if key is None:
            return
        seen = self._seen.setdefault(name, set())
        before = len(seen)
        seen.add(key(value))
        if len(seen) == before:
            self._note(kinds.TWICE, f"{name}: a second one for {_words(name, value)}")

    def feature(self, value: RecordValue) -> None:
        name, level = value["name"], value["featureLevel"]
        if self._count == 1 and name != METADATA_VERSION:
            self._note(
                kinds.ORDER,
                "metadata.version comes first: the rest is read by its level",
                field="name",
                expected=METADATA_VERSION,
                found=name,
            )
        if name == METADATA_VERSION:
            self._level = level
        elif name == "eligible.leader.replicas.version":
            self._elr_enabled = level > 0
        if name == KRAFT_VERSION:
            self._note(kinds.FALSE_UPGRADE, f"kraft.version {level} as a feature level")
            return
        highest = LATEST_LEVEL if name == METADATA_VERSION else _highest(name)
        if highest is None:
            self._note(kinds.FEATURE, f"{name} is not a feature of Kafka up to {NEWEST_RELEASE}")
        elif level > highest or level < 1:
            self._note(
                kinds.FEATURE,
                f"{name} has no such level",
                field="featureLevel",
                expected=f"1 to {highest}",
                found=str(level),
            )

    def broker(self, value: RecordValue) -> None:
        epoch = value["brokerEpoch"]
        if self._offset is not None and not 0 <= epoch < self._offset:
            self._note(
                kinds.BROKER_EPOCH,
                f"broker {value['brokerId']} registered beyond the snapshot's end",
                field="brokerEpoch",
                expected=f"below {self._offset}",
                found=str(epoch),
            )

    def config(self, value: RecordValue) -> None:
        kind, name = value["resourceType"], value["resourceName"]
        if kind == BROKER and name and not _is_number(name):
            self._note(
                kinds.BROKER_CONFIG,
                f"config {value['name']} of a broker that is not a number",
                field="resourceName",
                found=name,
            )
        if value["value"] is None:
            self._note(kinds.RECORD, f"ConfigRecord: it deletes {value['name']}")

    def quota(self, value: RecordValue) -> None:
        if value["remove"]:
            self._note(kinds.RECORD, f"ClientQuotaRecord: it removes {value['key']}")

    def producer_ids(self, value: RecordValue) -> None:
        if value["nextProducerId"] < 0:
            self._note(
                kinds.RECORD,
                "ProducerIdsRecord: producer ids begin at 0",
                field="nextProducerId",
                expected="0 or more",
                found=str(value["nextProducerId"]),
            )

    def _partition(self, value: RecordValue) -> None:
        topic, number = value["topicId"], value["partitionId"]
        if self._delta.topics.partition(topic, number) is not None:
            named = self._named(topic, number)
            self._note(kinds.TWICE, f"PartitionRecord: a second one for {named}")
        for text, expected, actual in partition_faults(value, elr_enabled=self._elr_enabled):
            named = self._named(topic, number)
            self._note(kinds.PARTITION, f"{named}: {text}", expected=expected, found=actual)
        leader = value["leader"]
        if leader >= 0 and leader not in self._leaders:
            self._leaders[leader] = self._places, self._index, self._at, self._named(topic, number)

    def _named(self, topic_id: str, number: int) -> str:
        return f"{self._delta.topics.name_of(topic_id) or topic_id}-{number}"

    def end(self, *, needs_level: bool) -> MetadataImage:
        """The image, once all records were taken in, and what only all of them together show."""
        image = self._delta.apply(Provenance())
        if needs_level and image.features.metadata_version is None:
            text = "no FeatureLevelRecord sets metadata.version"
            self._findings.add(kinds.METADATA_VERSION, text)
        leaders = sorted(self._leaders.items(), key=itemgetter(0))
        for broker, (places, index, at, partition) in leaders:
            if broker not in image.cluster.brokers:
                self._findings.add(
                    kinds.PARTITION,
                    f"{partition} is led by a broker that is not registered",
                    position=places[index],
                    offset=at,
                    field="leader",
                    found=str(broker),
                )
        for resource, configs in image.configs.resources.items():
            if resource.type == TOPIC and resource.name not in image.topics.by_name:
                names = ", ".join(sorted(configs))
                text = f"{names} of topic {resource.name}, which does not exist"
                self._findings.add(kinds.TOPIC_CONFIG, text)
        return image


_CHECKS: dict[str, Callable[[RecordRules, RecordValue], None]] = {
    "FeatureLevelRecord": RecordRules.feature,
    "RegisterBrokerRecord": RecordRules.broker,
    "ConfigRecord": RecordRules.config,
    "ClientQuotaRecord": RecordRules.quota,
    "ProducerIdsRecord": RecordRules.producer_ids,
}


def _is_faultless(partition: PartitionRegistration) -> bool:
    """True if a partition has no ELR and no fault. One with an ELR is left to a closer look."""
    replicas, _, isr, _, _, elr, last_known_elr, leader, _, leader_epoch, epoch = partition
    return (
        leader_epoch >= 0
        and epoch >= 0
        and not elr
        and not last_known_elr
        and _are_faultless(replicas, isr, leader)
    )


@lru_cache(_MOST_KEPT)
def _are_faultless(replicas: Replicas, isr: Replicas, leader: int) -> bool:
    value = {"replicas": replicas, "isr": isr, "leader": leader}
    return not any(partition_faults({**value, **_NO_EPOCHS}, elr_enabled=True))


_NO_EPOCHS = {"leaderEpoch": 0, "partitionEpoch": 0}


def _highest(feature: str) -> int | None:
    rules = FEATURES.get(feature)
    return max(rule.level for rule in rules) if rules is not None else None


def _is_number(text: str) -> bool:
    """True if Java takes it for an int."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isdecimal() and len(digits) <= 10 and -(1 << 31) <= int(text) < 1 << 31


def _words(name: str, value: RecordValue) -> str:
    """Return what a record is about; nothing of it is secret."""
    match name:
        case "FeatureLevelRecord":
            return str(value["name"])
        case "RegisterBrokerRecord":
            return f"broker {value['brokerId']}"
        case "RegisterControllerRecord":
            return f"controller {value['controllerId']}"
        case "ConfigRecord":
            return f"{value['name']} of {value['resourceName'] or 'the default'}"
        case "ClientQuotaRecord":
            return str(value["key"])
        case "AccessControlEntryRecord":
            return str(value["id"])
        case "UserScramCredentialRecord":
            return f"user {value['name']}"
        case "DelegationTokenRecord":
            return f"token {value['tokenId']}"
        case _:
            return "the same"
