"""Each rule for a snapshot by itself, on one that breaks it and on a near miss that does not.

The snapshot is one of real Kafka's; what is changed in it is written back by the encoders.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.framing import encode_record
from kraftool.image.uuids import LOST
from kraftool.reports.findings.finding import Severity
from tests.reports.snapshot_cases import SOURCE, Snapshot, codes, findings, the_one

Change = Callable[[Snapshot], object]
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAZw"
NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


def test_what_kafka_wrote_is_written_back_with_nothing_wrong(
    snapshot: Snapshot, tmp_path: Path
) -> None:
    assert findings(snapshot.write(tmp_path)) == []
    assert findings(SOURCE) == []


# --- records ------------------------------------------------------------------------------------


def first(snapshot: Snapshot, name: str) -> dict[str, Any]:
    return snapshot.values(name)[0]


def set_in(name: str, /, **changed: object) -> Change:
    """Change the first record of a type."""
    return lambda snapshot: first(snapshot, name).update(changed)


def partition(**changed: object) -> Change:
    """Change a partition with two replicas, led by the first; 0 and 1 stand for them."""

    def change(snapshot: Snapshot) -> None:
        value = next(
            value for value in snapshot.values("PartitionRecord") if len(value["replicas"]) == 2
        )
        named = dict(enumerate(value["replicas"]))
        value.update(isr=list(value["replicas"]), leader=named[0], eligibleLeaderReplicas=None)
        for key, item in changed.items():
            if isinstance(item, list):
                item = [named.get(replica, replica) for replica in item]
            if key == "leader" and isinstance(item, int):
                item = named.get(item, item)
            value[key] = item

    return change


def behind(name: str, version: int, value: dict[str, Any]) -> Change:
    """A record of a type at the end of the snapshot."""
    return lambda snapshot: snapshot.records.append((name, version, value))


def moved(name: str, before: str) -> Change:
    """The last record of a type, before the first of another."""

    def change(snapshot: Snapshot) -> None:
        record = snapshot.records.pop(snapshot.last(name))
        snapshot.records.insert(snapshot.at(before), record)

    return change


def without(name: str, /, **wanted: object) -> Change:
    def change(snapshot: Snapshot) -> None:
        gone = snapshot.values(name, **wanted)
        assert gone
        snapshot.records = [record for record in snapshot.records if record[2] not in gone]

    return change


def level(name: str, level: int) -> Change:
    return lambda snapshot: snapshot.add(
        "FeatureLevelRecord", 0, {"name": name, "featureLevel": level}
    )


def older(name: str, *newest: str) -> Change:
    """The version before, without the fields that it lacks."""

    def change(snapshot: Snapshot) -> None:
        at = snapshot.at(name)
        _, version, value = snapshot.records[at]
        kept = {key: field for key, field in value.items() if key not in newest}
        snapshot.records[at] = (name, version - 1, kept)

    return change


def feature_first(snapshot: Snapshot) -> None:
    snapshot.records[0], snapshot.records[1] = snapshot.records[1], snapshot.records[0]


def two_topics(snapshot: Snapshot) -> None:
    value = first(snapshot, "TopicRecord")
    snapshot.add("TopicRecord", 0, {"name": value["name"], "topicId": OTHER_ID})


def other_topic(snapshot: Snapshot) -> None:
    snapshot.add("TopicRecord", 0, {"name": "another", "topicId": OTHER_ID})


ELR = {"eligibleLeaderReplicas": [1], "isr": [0], "leader": 0}

WRONG: dict[str, tuple[str, Change]] = {
    # Records that no controller gets over.
    "a partition of no topic": (
        "REPLAY", lambda s: s.again("PartitionRecord", topicId=OTHER_ID)),
    "two topics of one name": ("REPLAY", two_topics),
    "a transaction": ("REPLAY", behind("BeginTransactionRecord", 0, {"name": "x"})),
    "the end of one": ("REPLAY", behind("EndTransactionRecord", 0, {})),
    "fewer directories than replicas": ("REPLAY", partition(directories=[LOST])),
    "a recovery state beyond 1": ("REPLAY", partition(leaderRecoveryState=2)),
    "a SCRAM mechanism beyond 2": ("REPLAY", set_in("UserScramCredentialRecord", mechanism=3)),
    "two next producer ids": ("REPLAY", lambda s: s.again("ProducerIdsRecord")),
    "a change of a broker that is not there": (
        "RECORD", lambda s: s.add("FenceBrokerRecord", 0, {"id": 77, "epoch": 1}, at=20)),
    "a broker's config under a name": (
        "BROKER-CONFIG", lambda s: s.again("ConfigRecord", resourceType=4, resourceName="b1")),
    # Records that Kafka does not write.
    "a no-op": ("RECORD", behind("NoOpRecord", 0, {})),
    "a config that is deleted": (
        "RECORD", lambda s: s.again("ConfigRecord", name="retention.bytes", value=None)),
    "a quota that is removed": (
        "RECORD", lambda s: s.again("ClientQuotaRecord", key="x", remove=True)),
    "producer ids below 0": ("RECORD", set_in("ProducerIdsRecord", nextProducerId=-5)),
    "an older RegisterBrokerRecord": ("RECORD", older("RegisterBrokerRecord", "cordonedLogDirs")),
    "an older PartitionRecord": (
        "RECORD", older("PartitionRecord", "eligibleLeaderReplicas", "lastKnownElr")),
    # Twice.
    "a broker twice": ("TWICE", lambda s: s.again("RegisterBrokerRecord")),
    "a controller twice": ("TWICE", lambda s: s.again("RegisterControllerRecord")),
    "a partition twice": ("TWICE", lambda s: s.again("PartitionRecord")),
    "a config twice": ("TWICE", lambda s: s.again("ConfigRecord", value="1")),
    "a quota twice": ("TWICE", lambda s: s.again("ClientQuotaRecord", value=1.0)),
    "an ACL twice": ("TWICE", lambda s: s.again("AccessControlEntryRecord")),
    "a credential twice": ("TWICE", lambda s: s.again("UserScramCredentialRecord")),
    "a feature twice": ("TWICE", lambda s: s.again("FeatureLevelRecord")),
    # Order.
    "a feature before metadata.version": ("ORDER", feature_first),
    "configs before topics": ("ORDER", moved("ConfigRecord", "TopicRecord")),
    "an ACL before the quotas": ("ORDER", moved("AccessControlEntryRecord", "ClientQuotaRecord")),
    # Features.
    "no metadata.version": ("METADATA-VERSION", without("FeatureLevelRecord")),
    "a metadata.version of tomorrow": ("FEATURE", set_in("FeatureLevelRecord", featureLevel=99)),
    "a feature that nobody knows": ("FEATURE", level("tomorrow.version", 1)),
    "a level that a feature does not have": ("FEATURE", level("transaction.version", 9)),
    # Partitions.
    "no replicas": ("PARTITION", partition(replicas=[], isr=[], directories=[], leader=-1)),
    "a replica twice": ("PARTITION", partition(replicas=[0, 0], isr=[0], leader=0)),
    "an ISR beyond the replicas": ("PARTITION", partition(isr=[0, 1, 77])),
    "a leader outside the ISR": ("PARTITION", partition(isr=[0], leader=1)),
    "a leader below -1": ("PARTITION", partition(leader=-2)),
    "a leader epoch below 0": ("PARTITION", partition(leaderEpoch=-1)),
    "a partition epoch below 0": ("PARTITION", partition(partitionEpoch=-1)),
    "a leader that is not registered": (
        "PARTITION", partition(replicas=[0, 88], isr=[88], leader=88)),
    "ELR while it is off": (
        "PARTITION",
        lambda s: (without("FeatureLevelRecord", name="eligible.leader.replicas.version")(s),
                   partition(**ELR)(s))),
    "an ELR member in the ISR": ("PARTITION", partition(eligibleLeaderReplicas=[1], isr=[0, 1])),
    "a broker of a later offset": ("BROKER-EPOCH", set_in("RegisterBrokerRecord", brokerEpoch=203)),
    "a broker of no offset": ("BROKER-EPOCH", set_in("RegisterBrokerRecord", brokerEpoch=-1)),
}  # fmt: skip

NEAR: dict[str, Change] = {
    "another partition of its topic": lambda s: s.again("PartitionRecord", partitionId=55),
    "another topic": other_topic,
    "a lost directory": partition(directories=[LOST, OTHER_ID]),
    "a recovery that goes on": partition(leaderRecoveryState=1),
    "a broker's config under its number": lambda s: s.again(
        "ConfigRecord", resourceType=4, resourceName="12", name="log.cleaner.threads"
    ),
    "the default config of all brokers": lambda s: s.again(
        "ConfigRecord", resourceType=4, resourceName="", name="log.cleaner.threads"
    ),
    "producer id 0": set_in("ProducerIdsRecord", nextProducerId=0),
    "another key of a resource": lambda s: s.again("ConfigRecord", name="retention.bytes"),
    "another key of a quota": lambda s: s.again("ClientQuotaRecord", key="consumer_byte_rate2"),
    "another user": lambda s: s.again("UserScramCredentialRecord", name="zoe"),
    "a broker of the offset before the last": set_in("RegisterBrokerRecord", brokerEpoch=202),
    "a partition without a leader": partition(leader=-1),
    "an ISR member that is not registered": partition(replicas=[0, 88], isr=[0, 88], leader=0),
    "no ISR at all": partition(isr=[], leader=-1, eligibleLeaderReplicas=[0]),
    "an ELR member outside the ISR": partition(**ELR),
    "a reassignment": partition(addingReplicas=[1], removingReplicas=[0]),
    "leader epoch 0": partition(leaderEpoch=0, partitionEpoch=0),
    "share.version 2": lambda s: s.values("FeatureLevelRecord", name="share.version")[0].update(
        featureLevel=2
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_kafka_never_writes_is_found(name: str, snapshot: Snapshot, tmp_path: Path) -> None:
    code, change = WRONG[name]
    change(snapshot)
    assert set(codes(snapshot.write(tmp_path))) & {code} == {code}


@pytest.mark.parametrize("name", NEAR)
def test_what_kafka_may_write_is_not_found(name: str, snapshot: Snapshot, tmp_path: Path) -> None:
    before = snapshot.chunks()
    NEAR[name](snapshot)
    assert snapshot.chunks() != before
    assert codes(snapshot.write(tmp_path)) == []


EXACT = (
    "a partition of no topic", "a transaction", "a no-op", "a partition twice", "an ACL twice",
    "a feature before metadata.version", "a metadata.version of tomorrow", "a replica twice",
    "a leader outside the ISR", "ELR while it is off", "an older PartitionRecord",
    "a broker of a later offset", "a broker's config under a name", "configs before topics",
)  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_one_fault_is_one_finding(name: str, snapshot: Snapshot, tmp_path: Path) -> None:
    code, change = WRONG[name]
    change(snapshot)
    assert set(codes(snapshot.write(tmp_path))) == {code}


def test_a_finding_says_where_the_record_is(snapshot: Snapshot, tmp_path: Path) -> None:
    partition(isr=[1], leader=0)(snapshot)
    path = snapshot.write(tmp_path)
    finding = the_one("PARTITION", path)
    assert finding.severity is Severity.WARNING
    assert finding.offset is not None
    assert finding.position is not None
    name, _, value = snapshot.records[finding.offset - 3]
    assert name == "PartitionRecord"
    assert finding.expected == f"-1 or one of {value['replicas'][1]}"
    assert finding.found == str(value["replicas"][0])
    # Length, attributes, two deltas and no key come before the value.
    encoded = encode_record(*snapshot.records[finding.offset - 3])
    assert 0 < path.read_bytes().index(encoded) - finding.position < 10


def test_a_false_upgrade_is_told_and_is_no_fault(snapshot: Snapshot, tmp_path: Path) -> None:
    level("kraft.version", 1)(snapshot)
    finding = the_one("FALSE-UPGRADE", snapshot.write(tmp_path))
    assert finding.severity is Severity.INFO


def test_configs_of_a_topic_that_is_gone_are_told(snapshot: Snapshot, tmp_path: Path) -> None:
    snapshot.again("ConfigRecord", resourceType=2, resourceName="gone", name="retention.ms")
    finding = the_one("TOPIC-CONFIG", snapshot.write(tmp_path))
    assert finding.severity is Severity.INFO
    assert finding.text == "retention.ms of topic gone, which does not exist"


def test_a_garbage_snapshot_has_a_bounded_number_of_findings(
    snapshot: Snapshot, tmp_path: Path
) -> None:
    for number in range(300):
        snapshot.again("PartitionRecord", partitionId=number, isr=[99], leader=99)
    reported = findings(snapshot.write(tmp_path))
    assert len(reported) < 5
    assert max(finding.count for finding in reported) >= 300
