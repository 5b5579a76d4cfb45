"""What a change of features loses, which records are too new for it, and what to mind."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.features.plan import plan
from tests.reports.feature_cases import (
    DIRECTORY,
    FOO,
    OTHER_DIRECTORY,
    TOPIC,
    at,
    broker,
    controller,
    level,
    partition,
)

ELR = "eligible.leader.replicas.version"


def test_elr_of_partitions_is_lost_below_its_level_and_without_its_feature(tmp_path: Path) -> None:
    records = (level(ELR, 1), controller(1), broker(11), TOPIC,
               partition(eligibleLeaderReplicas=[1]))  # fmt: skip
    cluster = at(tmp_path, 30, *records)
    (loss,) = plan(cluster, "", [f"{ELR}=0"]).losses
    assert (loss.count, loss.examples, loss.feature) == (1, ("foo-0",), ELR)
    lower = {e.what: e for e in plan(cluster, "", ["metadata.version=22"]).losses}
    assert lower["eligible leader replicas of partitions"].needed_level == 23
    assert plan(cluster, "", ["metadata.version=29"]).losses == ()
    assert plan(cluster, "", ["group.version=1"]).losses == ()


def test_partitions_without_elr_lose_none(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, level(ELR, 1), controller(1), broker(11), TOPIC, partition())
    assert plan(cluster, "", [f"{ELR}=0"]).losses == ()


def test_everything_that_a_low_level_cannot_hold_is_counted(tmp_path: Path) -> None:
    scram = {"name": "alice", "mechanism": 1, "salt": b"s", "storedKey": b"k", "serverKey": b"v",
             "iterations": 4096}  # fmt: skip
    token = {"owner": "User:bob", "requester": "User:bob", "renewers": [], "issueTimestamp": 1,
             "maxTimestamp": 2, "expirationTimestamp": 2, "tokenId": "secret-id"}  # fmt: skip
    acl = {"id": FOO, "resourceType": 2, "resourceName": "foo", "patternType": 3,
           "principal": "User:carol", "host": "10.0.0.0/8", "operation": 3,
           "permissionType": 3}  # fmt: skip
    cluster = at(
        tmp_path,
        33,
        controller(1, "4.4"),
        broker(11, "4.4", at=33, cordoned=(DIRECTORY,)),
        ("UserScramCredentialRecord", 0, scram),
        ("DelegationTokenRecord", 0, token),
        ("AccessControlEntryRecord", 0, acl),
        TOPIC,
        partition(lastKnownElr=[1]),
    )
    planned = plan(cluster, "3.3", [])
    losses = {loss.what: (loss.needed_level, loss.count, loss.examples) for loss in planned.losses}
    assert losses == {
        "SCRAM credentials": (11, 1, ("user alice (SCRAM-SHA-256)",)),
        "delegation tokens": (14, 1, ("token of User:bob",)),
        "registrations of controllers": (15, 1, ("controller 1",)),
        "log directories of brokers": (17, 1, ("broker 11: 1",)),
        "directories of partitions": (17, 1, ("foo-0",)),
        "eligible leader replicas of partitions": (23, 1, ("foo-0",)),
        "cordoned log directories of brokers": (30, 1, ("broker 11: 1 cordoned",)),
        "ACLs for address ranges": (32, 1, ("User:carol from 10.0.0.0/8",)),
    }
    newer = {
        (e.name, e.version): (e.needed_level, e.records, e.first_offset)
        for e in planned.newer_records
    }
    assert newer == {
        ("RegisterControllerRecord", 0): (15, 1, 1),
        ("RegisterBrokerRecord", 4): (30, 1, 2),
        ("UserScramCredentialRecord", 0): (11, 1, 3),
        ("DelegationTokenRecord", 0): (14, 1, 4),
        ("PartitionRecord", 2): (23, 1, 7),
    }


def test_an_upgrade_loses_nothing(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 29, controller(1), broker(11), TOPIC, partition()), "4.3", [])
    assert (planned.losses, planned.newer_records) == ((), ())
    assert any(caution.startswith("this cannot be undone") for caution in planned.cautions)


def test_a_step_without_changed_records_has_a_way_back(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 27, controller(1), broker(11)), "", ["metadata.version=29"])
    assert not any(caution.startswith("this cannot be undone") for caution in planned.cautions)


def test_brokers_with_several_directories_are_named_below_3_7_iv2(tmp_path: Path) -> None:
    two = (DIRECTORY, OTHER_DIRECTORY)
    cluster = at(tmp_path, 19, controller(1), broker(11, at=19, directories=two))
    below = plan(cluster, "", ["metadata.version=16"]).cautions
    assert "broker 11 has several log directories, which fail below 3.7-IV2" in below
    above = plan(cluster, "", ["metadata.version=17"]).cautions
    assert not any("several log directories" in text for text in above)


def test_features_that_the_lower_release_does_not_know_are_named(tmp_path: Path) -> None:
    records = (level("streams.version", 1), level("group.version", 1), controller(1), broker(11))
    cluster = at(tmp_path, 29, *records)
    planned = plan(cluster, "", ["metadata.version=27"])
    (caution,) = [caution for caution in planned.cautions if "does not support" in caution]
    assert caution.startswith("streams.version stays at 1, which Kafka 4.1 does not support")
    both = plan(cluster, "", ["metadata.version=27", "streams.version=0"])
    assert not any("does not support" in caution for caution in both.cautions)


def test_an_upgrade_leaves_no_feature_behind(tmp_path: Path) -> None:
    cluster = at(tmp_path, 25, level("streams.version", 1), controller(1), broker(11))
    planned = plan(cluster, "", ["metadata.version=27"])
    assert not any("does not support" in caution for caution in planned.cautions)


def test_the_record_of_the_very_next_level_is_newer(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, controller(1), broker(11))
    (newer,) = plan(cluster, "", ["metadata.version=29"]).newer_records
    assert (newer.name, newer.version, newer.needed_level) == ("RegisterBrokerRecord", 4, 30)


def test_elr_that_is_off_already_is_no_loss(tmp_path: Path) -> None:
    records = (controller(1), broker(11, at=25), TOPIC, partition(eligibleLeaderReplicas=[1]))
    assert plan(at(tmp_path, 25, *records), "", ["metadata.version=24"]).losses == ()


def test_an_empty_list_of_cordoned_directories_is_no_loss(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, controller(1), broker(11, cordoned=()))
    assert plan(cluster, "", ["metadata.version=29"]).losses == ()
