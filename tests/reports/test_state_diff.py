"""The difference of two states: what is one thing, what changed of it, and where to compare."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.image.delta import REPLAYED, MetadataDelta
from kraftool.image.image import EMPTY, MetadataImage, Provenance
from kraftool.reports.state import change_times
from kraftool.reports.state.compare import Offsets, load_two
from kraftool.reports.state.diff import (
    IGNORABLE,
    KINDS,
    ChangeType,
    DiffOptions,
    EntityChange,
    changes,
)
from kraftool.reports.state.entities import aspects, partitions
from kraftool.reports.state.load import load_state
from tests.reports.state_logs import Logs, Told, config, level, topic, topic_id
from tests.support.places import FIXTURES

UUID = "3FTLKdJCRwqNMkl3-Vr8mQ"


def image(*records: Told, onto: MetadataImage = EMPTY) -> MetadataImage:
    delta = MetadataDelta(onto)
    for name, _, value in records:
        delta.replay(name, value)
    return delta.apply(Provenance())


def partition(name: str, number: int = 0, **fields: Any) -> Told:
    value = {
        "partitionId": number, "topicId": topic_id(name), "replicas": [1, 2], "isr": [1, 2],
        "removingReplicas": [], "addingReplicas": [], "leader": 1, "leaderRecoveryState": 0,
        "leaderEpoch": 0, "partitionEpoch": 0,
    }  # fmt: skip
    return "PartitionRecord", 0, {**value, **fields}


def partition_change(name: str, **fields: Any) -> Told:
    value = {
        "partitionId": 0, "topicId": topic_id(name), "isr": None, "leader": -2, "replicas": None,
        "removingReplicas": None, "addingReplicas": None, "leaderRecoveryState": -1,
    }  # fmt: skip
    return "PartitionChangeRecord", 0, {**value, **fields}


def broker(id: int = 1, **fields: Any) -> Told:
    value = {
        "brokerId": id, "incarnationId": UUID, "brokerEpoch": 5, "endPoints": [], "features": [],
        "rack": None, "fenced": True,
    }  # fmt: skip
    return "RegisterBrokerRecord", 0, {**value, **fields}


def credential(user: str, salt: bytes = b"salt", iterations: int = 4096) -> Told:
    value = {
        "name": user, "mechanism": 1, "salt": salt, "storedKey": b"stored",
        "serverKey": b"server", "iterations": iterations,
    }  # fmt: skip
    return "UserScramCredentialRecord", 0, value


def told(old: MetadataImage, new: MetadataImage, **options: Any) -> list[tuple[Any, ...]]:
    return [
        (
            change.entity_kind,
            change.change_type.value,
            *((one.field, one.old, one.new) for one in change.fields),
        )
        for change in changes(old, new, DiffOptions(**options))
    ]


def test_the_same_state_has_no_difference() -> None:
    one = image(level(), topic("a"), partition("a"), broker(), credential("u"))
    other = image(credential("u"), broker(), topic("a"), partition("a"), level())
    assert told(one, one) == told(one, other) == []


def test_the_other_way_round_what_was_added_is_removed() -> None:
    old = image(level(), broker())
    new = image(level(25), broker(), topic("a"), partition("a"), credential("u"))
    forth, back = list(changes(old, new)), list(changes(new, old))
    assert [entity_change.entity for entity_change in forth] == [change.entity for change in back]
    flipped = {
        ChangeType.ADDED: ChangeType.REMOVED,
        ChangeType.REMOVED: ChangeType.ADDED,
        ChangeType.CHANGED: ChangeType.CHANGED,
    }
    assert [flipped[entity_change.change_type] for entity_change in forth] == [
        change.change_type for change in back
    ]


def test_a_field_is_told_with_what_it_was_and_what_it_is() -> None:
    base = image(level(), broker(), topic("a"), partition("a"))
    new = image(
        ("UnfenceBrokerRecord", 0, {"id": 1, "epoch": 5}),
        partition_change("a", isr=[2], leader=2),
        onto=base,
    )
    assert told(base, new) == [
        ("broker", "changed", ("isFenced", True, False)),
        (
            "partition", "changed", ("leaderId", 1, 2), ("leaderEpoch", 0, 1),
            ("partitionEpoch", 0, 1), ("isr", (1, 2), (2,)),
        ),
    ]  # fmt: skip


def test_a_topic_made_again_is_another_one_with_partitions_of_its_own() -> None:
    old = image(topic("a"), partition("a"), partition("a", 1))
    new = image(("TopicRecord", 0, {"name": "a", "topicId": UUID}))
    diff = list(changes(old, new))
    assert [
        (entity_change.entity_kind, entity_change.change_type.value, entity_change.with_topic)
        for entity_change in diff
    ] == [
        ("topic", "added", False),
        ("topic", "removed", False),
        ("partition", "removed", True),
        ("partition", "removed", True),
    ]
    assert [entity_change.entity["topicId"] for entity_change in diff[:2]] == [UUID, topic_id("a")]


def test_secrets_are_compared_and_not_shown() -> None:
    old = image(credential("u"), config("1", "ssl.key.password", "CANARY1", kind=4))
    new = image(credential("u", b"pepper"), config("1", "ssl.key.password", "CANARY2", kind=4))
    masked = "[redacted]"
    assert told(old, new) == [
        ("config", "changed", ("value", masked, masked)),
        ("scramCredential", "changed", ("salt", masked, masked)),
    ]
    assert told(old, new, show_secrets=True) == [
        ("config", "changed", ("value", "CANARY1", "CANARY2")),
        ("scramCredential", "changed", ("salt", "c2FsdA==", "cGVwcGVy")),
    ]
    assert "CANARY" not in str(list(changes(EMPTY, new)) + list(changes(new, EMPTY)))


def test_a_change_in_nothing_but_ignored_fields_is_none() -> None:
    base = image(topic("a"), partition("a"))
    same_leader = image(partition_change("a", leader=1), onto=base)
    assert len(told(base, same_leader)) == 1
    assert told(base, same_leader, ignored={"leaderEpoch", "partitionEpoch"}) == []
    shrunk = image(partition_change("a", isr=[1]), onto=base)
    assert told(base, shrunk, ignored={"leaderEpoch", "partitionEpoch"}) == [
        ("partition", "changed", ("isr", (1, 2), (1,)))
    ]


def test_a_migration_state_of_none_is_no_state() -> None:
    """Kafka 3.9 has it in snapshots only."""
    zero, two = (
        image(("ZkMigrationStateRecord", 0, {"zkMigrationState": state})) for state in (0, 2)
    )
    assert told(EMPTY, zero) == []
    assert told(zero, two) == [("zkMigration", "added")]


def test_every_field_that_can_be_ignored_is_one() -> None:
    state = load_state(str(FIXTURES / "kafka-4.3.0/upgrade/node-1/data")).image
    members: set[str] = set()
    for aspect in aspects(state):
        members |= {name for field in aspect.objects(show_secrets=False) for name in field}
        assert aspect.kind in KINDS
    for topic_image in state.topics.by_id.values():
        objects = partitions(topic_image).objects(show_secrets=False)
        members |= {name for field in objects for name in field}
    assert set(IGNORABLE) <= members


def test_the_difference_of_nothing_and_a_state_has_all_of_it() -> None:
    state = load_state(str(FIXTURES / "kafka-4.3.0/upgrade/node-1/data")).image
    by_kind: dict[str, list[EntityChange]] = {}
    for change in changes(EMPTY, state):
        assert change.change_type is ChangeType.ADDED
        by_kind.setdefault(change.entity_kind, []).append(change)
    for aspect in aspects(state):
        assert [entity_change.entity for entity_change in by_kind.get(aspect.kind, [])] == list(
            aspect.objects(show_secrets=False)
        )
    assert len(by_kind["partition"]) == state.topics.partitions


# --- where ----------------------------------------------------------------------------------------


def silent(name: str, position: int) -> None:
    """Nobody watches."""


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Logs, Logs]:
    """Two nodes, the second of which goes on for longer."""
    short, long = Logs(tmp_path / "short"), Logs(tmp_path / "long")
    batches = [[level()], [topic("a")], [topic("b")], [topic("c")]]
    short.segment(0, *batches[:2])
    long.segment(0, *batches)
    return short, long


def test_two_directories_are_compared_where_the_shorter_one_ends(pair: tuple[Logs, Logs]) -> None:
    short, long = pair
    for old, new in ((short, long), (long, short)):
        both = load_two(old.path, new.path, Offsets(), silent)
        assert (both.old.end_offset, both.new.end_offset) == (2, 2)
        assert not list(changes(both.old.image, both.new.image))
        assert both.note == (
            f"compared at offset 2, where {short.path} ends; {long.path} continues to 4:"
            " --at-end shows what changed from then on"
        )
        assert (both.old.path, both.new.path) == (old.path, new.path)


def test_each_at_its_end_on_demand(pair: tuple[Logs, Logs]) -> None:
    both = load_two(pair[0].path, pair[1].path, Offsets(at_end=True), silent)
    assert [change.entity["name"] for change in changes(both.old.image, both.new.image)] == [
        "b",
        "c",
    ]
    assert "each at its end" in both.note


def test_where_no_offset_is_common_it_is_said(pair: tuple[Logs, Logs], tmp_path: Path) -> None:
    late = Logs(tmp_path / "late")
    late.snapshot(3, level(), topic("a"), topic("b"))
    late.segment(3, [topic("c")])
    with pytest.raises(KraftoolError) as raised:
        load_two(pair[0].path, late.path, Offsets(), silent)
    assert "no offset in common" in raised.value.message
    assert "ends at 2" in raised.value.message
    assert "begins at 3" in raised.value.message
    assert "--at-end" in raised.value.hint


def test_one_directory_at_two_offsets(pair: tuple[Logs, Logs]) -> None:
    both = load_two(pair[1].path, None, Offsets(old=2, new=3), silent)
    assert [change.entity["name"] for change in changes(both.old.image, both.new.image)] == ["b"]
    since = load_two(pair[1].path, None, Offsets(old=2), silent)
    assert [change.entity["name"] for change in changes(since.old.image, since.new.image)] == [
        "b",
        "c",
    ]


def test_checkpoints_by_themselves_have_one_offset_each(tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    older, newer = logs.snapshot(2, level(), topic("a")), logs.snapshot(3, level())
    both = load_two(str(older), str(newer), Offsets(), silent)
    assert [
        (change.entity_kind, change.change_type.value)
        for change in changes(both.old.image, both.new.image)
    ] == [("topic", "removed")]
    logs.segment(0, [level()], [topic("a")], [topic("b")])
    against = load_two(str(older), logs.path, Offsets(), silent)
    assert against.new.end_offset == 2


def test_records_of_two_leaders_at_one_offset_are_told(tmp_path: Path) -> None:
    one, other = Logs(tmp_path / "one"), Logs(tmp_path / "other")
    one.segment(0, [level()], [topic("a")])
    other.segment(0, [level()], [topic("b")], epoch=2)
    both = load_two(one.path, other.path, Offsets(), silent)
    (finding,) = both.findings
    assert (finding.code, finding.expected, finding.found) == (
        "KT-LOG-DIVERGED", "epoch 1", "epoch 2"
    )  # fmt: skip
    assert not load_two(one.path, one.path, Offsets(), silent).findings


def test_what_is_wrong_with_one_path_is_told_once(tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    path = logs.segment(0, [level()], [topic("a")])
    path.write_bytes(path.read_bytes() + b"\x00" * 5)
    both = load_two(logs.path, logs.path, Offsets(), silent)
    assert len(both.findings) == 1
    assert replace(both, note="x").findings == both.findings


def test_each_record_that_can_be_replayed_changes_something_that_gets_a_time() -> None:
    for name in REPLAYED - {"NoOpRecord"}:
        assert list(change_times._keys(name, defaultdict(str), {})), name
