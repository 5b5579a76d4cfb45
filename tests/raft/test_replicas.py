"""The leader's table: who counts, what is committed, who has caught up."""

import pytest

from kraftool.raft.names import ReplicaKey
from kraftool.raft.replicas import Replica, Replicas
from kraftool.raft.settings import CAUGHT_UP_WITHIN_MS, OBSERVER_EXPIRY_MS
from tests.raft.transcript_words import key, voters

STATIC = voters(["1@-", "2@-", "3@-"])


def table(*ends: int | None) -> Replicas:
    """Voters 1, 2 and so on, and how far each is."""
    replicas = Replicas(local=key("1"))
    replicas.split(voters([str(number) for number, _ in enumerate(ends, 1)]))
    for number, end in enumerate(ends, 1):
        replicas.voters[number].end_offset = end
    return replicas


@pytest.mark.parametrize(
    ("ends", "committed"),
    [
        ((15,), None),
        ((16,), 16),
        ((20, 15), None),
        ((20, 16), 16),
        ((20, None, None), None),
        ((20, None, 18), 18),
        ((20, 17, 18), 18),
        ((20, 17, 18, 19), 18),
        ((20, 16, 17, 18, 19), 18),
    ],
)
def test_what_a_majority_has_is_committed_once_it_is_beyond_the_start_of_the_epoch(
    ends: tuple[int | None, ...], committed: int | None
) -> None:
    assert table(*ends).committed(15) == committed


def test_nothing_is_committed_without_voters() -> None:
    assert Replicas(local=key("1")).committed(0) is None


def test_a_voters_id_from_another_directory_is_an_observer() -> None:
    replicas = table(20, 20)
    assert replicas.is_voter(key("2"))
    assert not replicas.is_voter(key("2@other"))
    stranger = replicas.of(key("2@other"))
    assert stranger is not replicas.voters[2]
    assert replicas.observers == {key("2@other"): stranger}
    assert replicas.of(key("2@other")) is stranger


def test_a_replica_keeps_its_entry_when_it_becomes_voter_or_observer() -> None:
    replicas = table(20, 10)
    replicas.of(key("3")).end_offset = 15
    replicas.split(voters(["1", "3"]))
    assert {id_: voter.end_offset for id_, voter in replicas.voters.items()} == {1: 20, 3: 15}
    assert replicas.observers[key("2")].end_offset == 10
    replicas.split(voters(["2", "3"]))
    assert replicas.observers[key("1")].end_offset == 20


def test_a_static_voter_gains_its_directory_and_keeps_its_offset() -> None:
    replicas = Replicas(local=ReplicaKey(1, "d1"))
    replicas.split(STATIC)
    replicas.of(key("2")).end_offset = 7
    replicas.split(voters(["1", "2", "3"]))
    assert replicas.voters[2] == Replica(key=key("2"), end_offset=7)
    assert not replicas.observers


def test_a_static_voters_entry_goes_before_an_observers_of_its_directory() -> None:
    replicas = Replicas(local=ReplicaKey(1, "d1"))
    replicas.of(key("2")).end_offset = 3
    replicas.split(STATIC)
    replicas.voters[2].end_offset = 7
    replicas.split(voters(["1", "2", "3"]))
    assert replicas.voters[2] == Replica(key=key("2"), end_offset=7)
    assert not replicas.observers, "nothing of one replica stands twice in the table"


def test_a_voter_of_another_directory_takes_the_place_of_the_old() -> None:
    replicas = table(20, 10)
    replicas.split(voters(["1", "2@other"]))
    assert replicas.voters[2] == Replica(key=key("2@other"))
    assert not replicas.observers


def test_caught_up_is_who_reaches_the_end_or_where_the_end_was_at_the_fetch_before() -> None:
    replica = Replica(key=key("2"))
    replica.fetched(5, 10, 100)
    assert replica.last_caught_up_ms == -1
    replica.fetched(10, 20, 200)
    assert replica.last_caught_up_ms == 100
    replica.fetched(12, 20, 300)
    assert replica.last_caught_up_ms == 100
    replica.fetched(20, 20, 400)
    assert (replica.last_caught_up_ms, replica.last_fetch_ms) == (400, 400)


def test_an_observer_may_vote_that_caught_up_and_fetched_within_the_hour() -> None:
    replicas, newcomer = table(20), key("4")
    assert not replicas.is_caught_up(newcomer, 100)
    replicas.of(newcomer).fetched(5, 20, 100)
    assert not replicas.is_caught_up(newcomer, 100)
    replicas.of(newcomer).fetched(20, 20, 200)
    assert replicas.is_caught_up(newcomer, 200)
    assert replicas.is_caught_up(newcomer, 199 + CAUGHT_UP_WITHIN_MS)
    assert not replicas.is_caught_up(newcomer, 200 + CAUGHT_UP_WITHIN_MS)
    assert not replicas.is_caught_up(key("4@other"), 200)


def test_observers_that_are_silent_are_forgotten_but_not_the_leader_itself() -> None:
    replicas = table(20)
    replicas.split(voters(["2"]))
    replicas.of(key("4")).fetched(1, 20, 100)
    replicas.expire(99 + OBSERVER_EXPIRY_MS)
    assert set(replicas.observers) == {key("1"), key("4")}
    replicas.expire(100 + OBSERVER_EXPIRY_MS)
    assert set(replicas.observers) == {key("1")}


def test_successors_are_the_others_by_length_and_then_by_id() -> None:
    assert table(20, 5, 9, None, 9).successors() == (key("3"), key("5"), key("2"), key("4"))
