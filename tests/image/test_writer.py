"""The image written back as records: order, versions, what a level cannot hold, and the hash."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kraftool.decoders.framing import decode_record, encode_record
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import LATEST_LEVEL, level_name, partition_version
from kraftool.image.partition_frames import framed
from kraftool.image.state_hash import state_hash
from kraftool.image.topics import PartitionRegistration, partition_value
from kraftool.image.writer import LossError, snapshot_records
from tests.image.metadata import (
    BAR,
    DIRECTORY,
    INCARNATION,
    Told,
    broker,
    change,
    config,
    credential,
    feature,
    partition,
    quota,
    replayed,
    topic,
)

CONTROLLER: Told = (
    "RegisterControllerRecord",
    {
        "controllerId": 7,
        "incarnationId": INCARNATION,
        "zkMigrationReady": False,
        "endPoints": [],
        "features": [],
    },
)
TOKEN: Told = (
    "DelegationTokenRecord",
    {
        "owner": "User:a",
        "requester": "User:b",
        "renewers": ["User:c"],
        "issueTimestamp": 1,
        "maxTimestamp": 3,
        "expirationTimestamp": 2,
        "tokenId": "id",
    },
)
ACL: Told = (
    "AccessControlEntryRecord",
    {
        "id": BAR,
        "resourceType": 2,
        "resourceName": "t",
        "patternType": 3,
        "principal": "User:a",
        "host": "*",
        "operation": 3,
        "permissionType": 3,
    },
)
EVERYTHING: list[Told] = [
    feature("metadata.version", LATEST_LEVEL),
    feature("eligible.leader.replicas.version", 1),
    broker(1, 10, rack="r", logDirs=[DIRECTORY], cordonedLogDirs=[]),
    broker(2, 11, isMigratingZkBroker=True),
    CONTROLLER,
    topic(),
    partition(0, directories=[DIRECTORY] * 3, eligibleLeaderReplicas=[2], lastKnownElr=[3]),
    partition(1),
    topic("bar", BAR),
    config(2, "foo", "retention.ms", "1"),
    config(4, "", "k", "v"),
    quota({"user": None}, "producer_byte_rate", 1.5),
    ("ProducerIdsRecord", {"brokerId": 1, "brokerEpoch": 1, "nextProducerId": 1000}),
    ACL,
    credential("a"),
    credential("a", 2),
    TOKEN,
]
IMAGE = replayed(*EVERYTHING)


def written(image: MetadataImage, level: int | None = None) -> tuple[list[Told], list[str]]:
    """What the bytes hold that an image is written to, and what was lost."""
    lost: list[str] = []
    records = []
    for record in snapshot_records(image, level, lost.append):
        name, version, value = decode_record(encode_record(*record))
        assert (name, version) == record[:2]
        records.append((name, value))
    return records, lost


def at_level(image: MetadataImage, level: int) -> MetadataImage:
    return replayed(feature("metadata.version", level), onto=image)


def test_an_image_that_is_written_and_read_again_is_equal() -> None:
    records, lost = written(IMAGE)
    assert replayed(*records) == IMAGE
    assert not lost


def test_the_aspects_come_in_kafkas_order_and_metadata_version_first() -> None:
    records, _ = written(IMAGE)
    assert records[0] == feature("metadata.version", LATEST_LEVEL)
    order = list(dict.fromkeys(name for name, _ in records))
    assert order == [
        "FeatureLevelRecord",
        "RegisterBrokerRecord",
        "RegisterControllerRecord",
        "TopicRecord",
        "PartitionRecord",
        "ConfigRecord",
        "ClientQuotaRecord",
        "ProducerIdsRecord",
        "AccessControlEntryRecord",
        "UserScramCredentialRecord",
        "DelegationTokenRecord",
    ]
    topics = [name for name, _ in records if name in ("TopicRecord", "PartitionRecord")]
    assert topics == ["TopicRecord", "PartitionRecord", "PartitionRecord", "TopicRecord"]


@pytest.mark.parametrize(
    ("level", "losses"),
    [
        (30, ()),
        (29, ("cordoned",)),
        (17, ("cordoned",)),
        (16, ("cordoned", "log directories", "directories of partition")),
        (15, ("cordoned", "log directories", "directories of partition")),
        (14, ("cordoned", "log dir", "directories of partition", "controllers")),
        (13, ("cordoned", "log dir", "directories of partition", "controllers", "tokens")),
        (10, ("cordoned", "log dir", "of partition", "controllers", "tokens", "SCRAM-SHA-256")),
        (7, ("cordoned", "log dir", "of partition", "controllers", "tokens", "ZooKeeper")),
    ],
    ids=lambda value: level_name(value) if isinstance(value, int) else "",
)
def test_an_older_level_loses_what_its_records_cannot_hold(
    level: int, losses: tuple[str, ...]
) -> None:
    """IM13 and the table of digest 5.1."""
    image = at_level(
        replayed(change(eligibleLeaderReplicas=[], lastKnownElr=[]), onto=IMAGE), level
    )
    records, lost = written(image)
    for loss in losses:
        assert any(loss in what for what in lost), (loss, lost)
    if not losses:
        assert not lost
        assert replayed(*records) == image
    # What is left fits: no record is of a version that the level does not write.
    assert replayed(*records).features.metadata_version == level


@pytest.mark.parametrize(("level", "is_lost"), [(11, False), (10, True)])
def test_scram_credentials_are_written_from_3_5_iv2_on(level: int, is_lost: bool) -> None:
    """The release that brought their records writes them, and the one before loses them."""
    assert level_name(11) == "3.5-IV2"
    image = replayed(feature("metadata.version", level), credential("a"))
    records, lost = written(image)
    names = [name for name, _ in records]
    assert ("UserScramCredentialRecord" in names) is not is_lost
    assert any("SCRAM" in what for what in lost) is is_lost


def test_a_loss_is_refused_unless_somebody_takes_note_of_it() -> None:
    with pytest.raises(LossError, match="log directories"):
        list(snapshot_records(at_level(IMAGE, 7)))


def test_without_a_metadata_version_nothing_can_be_written() -> None:
    with pytest.raises(LossError, match="versions of the records"):
        list(snapshot_records(replayed(topic())))


def test_the_elr_is_written_only_while_its_feature_is_on() -> None:
    off = replayed(feature("eligible.leader.replicas.version", 0), onto=IMAGE)
    records, _ = written(off)
    partitions = [value for name, value in records if name == "PartitionRecord"]
    assert all(value["eligibleLeaderReplicas"] is None for value in partitions)
    assert all(value["lastKnownElr"] is None for value in partitions)


def test_the_state_of_a_zookeeper_migration_is_written_below_kafka_4_only() -> None:
    image = replayed(("ZkMigrationStateRecord", {"zkMigrationState": 0}), feature("x", 1))
    for level, there in ((7, False), (8, True), (21, True), (22, False)):
        records, _ = written(at_level(image, level))
        names = [name for name, _ in records]
        assert ("ZkMigrationStateRecord" in names) is there, level


# The hash


def test_the_hash_does_not_depend_on_the_order_of_records() -> None:
    records, _ = written(IMAGE)
    topics = [record for record in records if record[0] == "TopicRecord"]
    others = [record for record in records if record[0] != "TopicRecord"]
    Random(1).shuffle(others)
    assert state_hash(replayed(*topics, *others)) == state_hash(IMAGE)


@pytest.mark.parametrize(
    "record",
    [
        change(isr=[2, 1]),
        change(leader=1),
        config(2, "foo", "retention.ms", "2"),
        credential("a", salt=b"other"),
        feature("metadata.version", 29),
        feature("group.version", 1),
        quota({"user": None}, "producer_byte_rate", None),
        broker(2, 11, isMigratingZkBroker=True, fenced=False),
        ("RemoveAccessControlEntryRecord", {"id": BAR}),
        ("RemoveTopicRecord", {"topicId": BAR}),
        ("RemoveDelegationTokenRecord", {"tokenId": "id"}),
    ],
    ids=str,
)
def test_the_hash_changes_with_any_part_of_the_state(record: Told) -> None:
    assert state_hash(replayed(record, onto=IMAGE)) != state_hash(IMAGE)


def test_the_hash_is_that_of_the_state_and_not_of_the_offset() -> None:
    assert state_hash(replayed(("NoOpRecord", {}), onto=IMAGE)) == state_hash(IMAGE)


def test_the_hash_of_an_image_stays_what_it_is() -> None:
    """Two kraftools have to come to the same; a change here is one that users see."""
    assert state_hash(replayed()) == state_hash(replayed(feature("kraft.version", 1)))
    assert len(state_hash(IMAGE)) == 64


def _registration(**more: Any) -> PartitionRegistration:
    plain = PartitionRegistration(
        (1, 2), (DIRECTORY, INCARNATION), (2,), (), (), (), (), 2, 0, 5, 7
    )
    return plain._replace(**more)


@pytest.mark.parametrize("elr_enabled", [True, False])
@pytest.mark.parametrize(
    "registration",
    [
        _registration(),
        _registration(leader=-1, isr=(), leader_epoch=(1 << 31) - 1),
        _registration(removing_replicas=(1,), adding_replicas=(3, 4), leader_recovery_state=1),
        _registration(elr=(1,)),
        _registration(elr=(1,), last_known_elr=(2, 3), leader_recovery_state=1),
        _registration(replicas=tuple(range(200)), directories=(DIRECTORY,) * 200),
    ],
)
def test_partitions_are_framed_as_the_encoder_writes_them(
    registration: PartitionRegistration, elr_enabled: bool
) -> None:
    value = partition_value(BAR, 3, registration)
    if not elr_enabled:
        value["eligibleLeaderReplicas"] = value["lastKnownElr"] = None
    version = partition_version(LATEST_LEVEL)
    assert framed(BAR, [(3, registration)], elr_enabled=elr_enabled) == [
        encode_record("PartitionRecord", version, value)
    ]


def test_a_partition_that_does_not_fit_is_left_to_the_encoder() -> None:
    registration = _registration(partition_epoch=1 << 31)
    assert framed(BAR, [(0, registration)], elr_enabled=True) is None
