"""The names of what a loss concerns, read from the log that has the records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.log_record import LogRecord, decode_batch
from kraftool.repair.lost_objects import MOST_NAMES, with_objects
from kraftool.repair.plan import LostObjects, LostRecords, Plan, RecordCount
from kraftool.repair.plan_yaml import plan_from_yaml, plan_to_yaml
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.repair.surveying import read_directories
from tests.repair.directories import APART, NOW, Quorum, batches, flip_in_batch

pytestmark = pytest.mark.slow


def lost_in(quorum: Quorum, first: int, end: int) -> dict[str, LostObjects]:
    (directory,) = read_directories(str(quorum[3]), now_ms=NOW)
    records = LostRecords(host="node-3", first_offset=first, end_offset=end)
    return {one.kind: one for one in with_objects(records, directory.segments).objects}


def records_of(quorum: Quorum) -> list[tuple[int, LogRecord]]:
    return [
        (batch.base_offset, record)
        for batch in batches(quorum.segment(3))
        if not batch.is_control
        for record in decode_batch(batch)
    ]


def values(quorum: Quorum, record: str, name: str, first: int = 0) -> set[str]:
    """What Kafka wrote into a field of the records of a type."""
    return {
        str(item.data[name])
        for base, item in records_of(quorum)
        if item.name == record and isinstance(item.data, dict) and base >= first
    }


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, APART, (3,))


def test_every_kind_of_object_is_named(quorum: Quorum) -> None:
    lost = lost_in(quorum, 0, 224)
    topics = values(quorum, "TopicRecord", "name")
    assert topics <= set(lost["topics"].names)
    assert lost["topics"].count <= MOST_NAMES
    assert set(lost["brokers"].names) >= values(quorum, "RegisterBrokerRecord", "brokerId")
    assert {name.partition(" on ")[0] for name in lost["ACLs"].names} == values(
        quorum, "AccessControlEntryRecord", "principal"
    )
    assert {name.partition(": ")[2] for name in lost["configs"].names} == values(
        quorum, "ConfigRecord", "name"
    )
    assert set(lost["SCRAM users"].names) >= values(quorum, "UserScramCredentialRecord", "name")
    assert "CANARY" not in "".join(name for one in lost.values() for name in one.names)


def test_a_topic_that_was_created_before_the_loss_has_its_name(quorum: Quorum) -> None:
    created = {
        str(item.data["topicId"]): base
        for base, item in records_of(quorum)
        if item.name == "TopicRecord" and isinstance(item.data, dict)
    }
    changes = [
        base
        for base, item in records_of(quorum)
        if item.name == "PartitionChangeRecord"
        and isinstance(item.data, dict)
        and created.get(str(item.data["topicId"]), base) < base
    ]
    lost = lost_in(quorum, changes[-1], changes[-1] + 1)
    assert set(lost["topics"].names) <= values(quorum, "TopicRecord", "name")


def planned(quorum: Quorum) -> Plan:
    read = read_quorum([str(quorum[3])], now_ms=NOW)
    request = read.asked(PlanRequest(surveys=(), now_ms=NOW))
    request = with_settings(replace(request, accepted=frozenset({"ahead"})), ["lost=1,2"])
    return plan_for(request)


def test_a_plan_has_the_names_of_what_it_gives_up(quorum: Quorum) -> None:
    for snapshot in quorum.snapshots(3):
        snapshot.unlink()
    damaged = flip_in_batch(quorum.segment(3), 10)
    plan = planned(quorum)
    (lost,) = plan.loss.records
    assert lost.has_names
    assert lost.first_offset == damaged.base_offset
    names = {one.kind: set(one.names) for one in lost.objects}
    behind = values(quorum, "TopicRecord", "name", damaged.last_offset + 1)
    assert behind
    assert behind <= names["topics"]
    assert "It is unknown which topics" in plan.loss.text, "of what no directory has"
    assert plan_from_yaml(plan_to_yaml(plan)) == plan


def test_records_that_cannot_be_decoded_are_named_as_such(quorum: Quorum) -> None:
    """A record of a later Kafka, and a batch that does not hold as many records as it says."""
    path = quorum.segment(3)
    last = batches(path)[-1]
    later = bytes((1, 3, 99)) + b"later"
    made = [encode_record("NoOpRecord", 0, {}), later]
    whole = encode_batch(
        ((None, value) for value in made),
        base_offset=last.last_offset + 1,
        epoch=last.epoch,
        timestamp=NOW,
    )
    path.write_bytes(path.read_bytes() + whole)
    lost = lost_in(quorum, last.last_offset + 1, last.last_offset + 3)
    assert lost["records that cannot be decoded"].names == (
        f"PARTITION_RECORD at offset {last.last_offset + 2}",
    )
    assert list(lost) == ["records that cannot be decoded"]


def test_records_with_flipped_bits_are_not_passed_over(quorum: Quorum) -> None:
    """The survey can read them, for it knows the bit. The log itself cannot be read there."""
    flipped = flip_in_batch(quorum.segment(3), 10)
    count = flipped.last_offset + 1 - flipped.base_offset
    (directory,) = read_directories(str(quorum[3]), now_ms=NOW)
    records = LostRecords(
        host="node-3",
        first_offset=flipped.base_offset,
        end_offset=flipped.last_offset + 1,
        types=(RecordCount(type="PARTITION_RECORD", count=count),),
    )
    (objects,) = with_objects(records, directory.segments).objects
    assert objects.names[0].endswith("with flipped bits")
