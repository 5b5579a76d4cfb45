"""Replica keys, voter sets and places in the log: what they mean to each other."""

import pytest

from kraftool.raft.names import Endpoint, OffsetAndEpoch, ReplicaKey, VersionRange, Voter, VoterSet


def voters(*keys: ReplicaKey | int) -> VoterSet:
    return VoterSet.of(
        *(Voter(key=ReplicaKey(key, f"d{key}") if isinstance(key, int) else key) for key in keys)
    )


def test_a_replica_is_known_by_id_and_directory_and_by_the_id_where_no_directory_is_recorded() -> (
    None
):
    replica = ReplicaKey(1, "a")
    assert replica.is_known_as(ReplicaKey(1, "a"))
    assert replica.is_known_as(ReplicaKey(1, None))
    assert not replica.is_known_as(ReplicaKey(1, "b"))
    assert not replica.is_known_as(ReplicaKey(2, "a"))


def test_a_replica_without_a_directory_is_not_one_that_was_recorded_with_one() -> None:
    assert not ReplicaKey(1, None).is_known_as(ReplicaKey(1, "a"))
    assert ReplicaKey(1, None).is_known_as(ReplicaKey(1, None))


def test_logs_are_compared_by_epoch_and_then_by_offset() -> None:
    end = OffsetAndEpoch(10, 3)
    assert OffsetAndEpoch(10, 3).is_at_least(end)
    assert OffsetAndEpoch(1, 4).is_at_least(end)
    assert not OffsetAndEpoch(9, 3).is_at_least(end)
    assert not OffsetAndEpoch(100, 2).is_at_least(end)


def test_membership_asks_for_the_directory_where_it_is_recorded() -> None:
    members = voters(1, ReplicaKey(2, None))
    assert members.has(ReplicaKey(1, "d1"))
    assert not members.has(ReplicaKey(1, "other"))
    assert members.has(ReplicaKey(2, "any"))
    assert not members.has(ReplicaKey(3, "d3"))


def test_the_only_voter_is_alone_and_is_meant() -> None:
    assert voters(1).is_only(ReplicaKey(1, "d1"))
    assert not voters(1).is_only(ReplicaKey(1, "other"))
    assert not voters(1, 2).is_only(ReplicaKey(1, "d1"))


def test_a_voter_is_added_under_an_id_that_nobody_has() -> None:
    newcomer = Voter(key=ReplicaKey(3, "d3"))
    assert voters(1, 2).with_voter(newcomer) == voters(1, 2, 3)
    assert voters(1, 2, 3).with_voter(newcomer) is None
    assert voters(1, ReplicaKey(3, "old")).with_voter(newcomer) is None


def test_a_voter_is_removed_by_exactly_its_key_and_never_the_last() -> None:
    assert voters(1, 2).without(ReplicaKey(2, "d2")) == voters(1)
    assert voters(1, 2).without(ReplicaKey(2, "other")) is None
    assert voters(1, ReplicaKey(2, None)).without(ReplicaKey(2, "d2")) is None
    assert voters(1, 2).without(ReplicaKey(3, "d3")) is None
    assert voters(1).without(ReplicaKey(1, "d1")) is None


def test_an_update_is_for_a_member_and_by_id_alone_where_directories_are_ignored() -> None:
    there = {"CONTROLLER": Endpoint("there", 1)}
    update = Voter(key=ReplicaKey(2, "d2"), endpoints=there, kraft_version=VersionRange(0, 1))
    updated = voters(1, 2).updated(update)
    assert updated is not None
    assert updated.endpoints_of(2) == there
    assert voters(1, ReplicaKey(2, "old")).updated(update) is None
    assert voters(1).updated(update) is None
    assert voters(1, ReplicaKey(2, "old")).updated_ignoring_directories(update) == updated
    assert voters(1).updated_ignoring_directories(update) is None


def test_nobody_is_reached_who_is_no_member() -> None:
    assert voters(1).endpoints_of(2) == {}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (voters(1, 2), True),
        (voters(1, 2, 3), True),
        (voters(1, 2, 3, 4), True),
        (voters(1, 2, 4), True),
        (voters(1, 2, ReplicaKey(3, "new")), True),
        (voters(1, 4, 5), False),
        (voters(1), False),
        (voters(1, ReplicaKey(2, "new"), ReplicaKey(3, "new")), False),
    ],
)
def test_sets_overlap_if_at_most_one_key_differs_each_way(other: VoterSet, expected: bool) -> None:
    assert voters(1, 2, 3).overlaps(other) is expected
    assert other.overlaps(voters(1, 2, 3)) is expected


@pytest.mark.parametrize(("count", "majority"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_a_majority_is_more_than_half(count: int, majority: int) -> None:
    assert voters(*range(1, count + 1)).majority == majority


def test_a_range_of_versions_holds_its_ends() -> None:
    assert [VersionRange(1, 2).holds(level) for level in range(4)] == [False, True, True, False]
