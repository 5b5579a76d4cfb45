"""Topics and partitions: what a PartitionChangeRecord does, ELR, directories, removal."""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.image.delta import MetadataDelta
from kraftool.image.image import MetadataImage, Provenance
from kraftool.image.replay import ReplayError
from kraftool.image.topics import PartitionRegistration
from kraftool.image.uuids import MIGRATING, UNASSIGNED, is_reserved_directory
from tests.image.metadata import BAR, DIRECTORY, FOO, change, partition, replayed, topic


def one(image: MetadataImage, number: int = 0) -> PartitionRegistration:
    return image.topics.by_id[FOO].partitions[number]


BASE = replayed(topic(), partition(leaderEpoch=5, partitionEpoch=7))


def test_a_topic_is_found_by_name_and_by_id() -> None:
    assert BASE.topics.by_name["foo"] is BASE.topics.by_id[FOO]
    assert BASE.topics.partitions == 1


@pytest.mark.parametrize(
    "record",
    [topic(), topic("foo", BAR), topic("bar", FOO)],
    ids=["same", "name taken (RT17)", "id taken"],
)
def test_a_topic_that_exists_already_is_an_error(record: Any) -> None:
    with pytest.raises(ReplayError):
        replayed(record, onto=BASE)


@pytest.mark.parametrize(
    "record",
    [
        partition(topic_id=BAR),
        change(1, isr=[1]),
        change(topic_id=BAR, isr=[1]),
        ("RemoveTopicRecord", {"topicId": BAR}),
        ("ClearElrRecord", {"topicName": "bar"}),
        partition(leaderRecoveryState=2),
        change(leaderRecoveryState=2),
        change(directories=[DIRECTORY]),
        partition(directories=[DIRECTORY]),
    ],
    ids=str,
)
def test_a_record_that_does_not_fit_is_an_error_and_changes_nothing(record: Any) -> None:
    delta = MetadataDelta(BASE)
    with pytest.raises(ReplayError):
        delta.replay(*record)
    assert delta.apply(Provenance()).topics == BASE.topics


# PartitionChangeRecord, digest 1.3


def test_a_change_that_says_nothing_raises_the_partition_epoch_alone() -> None:
    assert one(replayed(change(), onto=BASE)) == one(BASE)._replace(partition_epoch=8)


@pytest.mark.parametrize("leader", [1, 2, -1])
def test_any_leader_named_raises_the_leader_epoch_the_same_one_too(leader: int) -> None:
    after = one(replayed(change(leader=leader), onto=BASE))
    assert (after.leader, after.leader_epoch, after.partition_epoch) == (leader, 6, 8)


@pytest.mark.parametrize(
    ("field", "attribute", "value"),
    [
        ("isr", "isr", [2]),
        ("isr", "isr", []),
        ("removingReplicas", "removing_replicas", [3]),
        ("addingReplicas", "adding_replicas", [4]),
        ("eligibleLeaderReplicas", "elr", [2, 3]),
        ("lastKnownElr", "last_known_elr", [-1]),
        ("leaderRecoveryState", "leader_recovery_state", 1),
    ],
)
def test_a_field_replaces_its_own_and_leaves_the_others(
    field: str, attribute: str, value: Any
) -> None:
    wanted = tuple(value) if isinstance(value, list) else value
    changed: dict[str, Any] = {"partition_epoch": 8, attribute: wanted}
    expected = one(BASE)._replace(**changed)
    assert one(replayed(change(**{field: value}), onto=BASE)) == expected


def test_an_empty_list_ends_a_reassignment() -> None:
    under_way = replayed(change(addingReplicas=[4], removingReplicas=[3]), onto=BASE)
    done = one(replayed(change(addingReplicas=[], removingReplicas=[]), onto=under_way))
    assert (done.adding_replicas, done.removing_replicas) == ((), ())


def test_without_directories_each_replica_is_migrating() -> None:
    assert one(BASE).directories == (MIGRATING,) * 3
    fewer = one(replayed(change(replicas=[1, 2]), onto=BASE))
    assert (fewer.replicas, fewer.directories) == ((1, 2), (MIGRATING,) * 2)


def test_directories_that_are_all_migrating_are_made_as_many_as_replicas() -> None:
    after = one(replayed(change(replicas=[1, 2], directories=[MIGRATING]), onto=BASE))
    assert after.directories == (MIGRATING, MIGRATING)


def test_directories_follow_the_change() -> None:
    directories = [DIRECTORY, UNASSIGNED, MIGRATING]
    assert one(replayed(change(directories=directories), onto=BASE)).directories == (*directories,)


def test_a_partition_record_replaces_the_whole_partition() -> None:
    again = partition(replicas=[4], isr=[4], leader=4, leaderEpoch=1, partitionEpoch=2)
    after = one(replayed(again, onto=BASE))
    assert (after.replicas, after.leader, after.leader_epoch, after.partition_epoch) == (
        (4,), 4, 1, 2,
    )  # fmt: skip


# Eligible leader replicas: RL21

WITH_ELR = replayed(
    topic(),
    partition(0, eligibleLeaderReplicas=[2], partitionEpoch=3, leaderEpoch=1),
    partition(1, lastKnownElr=[3]),
    partition(2),
    topic("bar", BAR),
    partition(0, BAR, eligibleLeaderReplicas=[1]),
)


def test_clear_elr_of_a_topic_empties_its_partitions_and_raises_their_epochs() -> None:
    after = replayed(("ClearElrRecord", {"topicName": "foo"}), onto=WITH_ELR)
    cleared = one(WITH_ELR)._replace(elr=(), partition_epoch=4)
    assert one(after) == cleared
    assert one(after, 1).last_known_elr == ()
    assert one(after, 2) == one(WITH_ELR, 2)
    assert after.topics.by_id[BAR] == WITH_ELR.topics.by_id[BAR]


def test_clear_elr_without_a_name_is_for_all_topics_those_of_the_delta_too() -> None:
    new = (topic("new", DIRECTORY), partition(0, DIRECTORY, eligibleLeaderReplicas=[1]))
    after = replayed(*new, ("ClearElrRecord", {"topicName": ""}), onto=WITH_ELR)
    for topic_image in after.topics.by_id.values():
        assert all(
            not one.elr and not one.last_known_elr for one in topic_image.partitions.values()
        )


def test_clear_elr_takes_the_newest_topic_of_a_name() -> None:
    removed = ("RemoveTopicRecord", {"topicId": FOO})
    again = (topic("foo", DIRECTORY), partition(0, DIRECTORY, eligibleLeaderReplicas=[1]))
    after = replayed(removed, *again, ("ClearElrRecord", {"topicName": "foo"}), onto=WITH_ELR)
    assert after.topics.by_name["foo"].partitions[0].elr == ()


# Removal: RT10, RT12


def test_a_removed_topic_is_gone_from_both_indexes_and_its_name_is_free() -> None:
    removed = ("RemoveTopicRecord", {"topicId": FOO})
    gone = replayed(removed, onto=BASE)
    assert not gone.topics.by_id
    assert not gone.topics.by_name
    again = replayed(removed, topic("foo", BAR), partition(0, BAR), onto=BASE)
    assert again.topics.by_name["foo"].id == BAR
    assert list(again.topics.by_id) == [BAR]


def test_a_removed_topic_takes_no_more_records() -> None:
    removed = ("RemoveTopicRecord", {"topicId": FOO})
    for late in (partition(1), change(isr=[1]), removed):
        with pytest.raises(ReplayError):
            replayed(partition(1), removed, late, onto=BASE)


def test_a_topic_made_and_removed_leaves_no_trace() -> None:
    made = (topic("bar", BAR), partition(0, BAR), ("RemoveTopicRecord", {"topicId": BAR}))
    assert replayed(*made, onto=BASE).topics == BASE.topics


# Directory ids, digest 1.4 and 10.2


@pytest.mark.parametrize(
    ("text", "reserved"),
    [
        (MIGRATING, True),
        ("AAAAAAAAAAAAAAAAAAAAYw", True),  # 99
        ("AAAAAAAAAAAAAAAAAAAAZA", False),  # 100
        ("AAAAAAAAAACAAAAAAAAAAA", True),  # the low half is negative
        (DIRECTORY, False),
    ],
)
def test_ids_below_100_are_reserved_as_signed_numbers(text: str, reserved: bool) -> None:
    assert is_reserved_directory(text) is reserved
