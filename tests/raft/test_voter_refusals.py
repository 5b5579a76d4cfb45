"""Each reason for which a change of the voters is refused has a sentence of its own."""

from __future__ import annotations

from dataclasses import replace

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import ApiVersionsResponse
from kraftool.raft.names import ReplicaKey, VersionRange, Voter, VoterSet
from kraftool.raft.roles import AddingVoter, RemovingVoter
from kraftool.raft.voter_refusals import (
    is_voter_already,
    late,
    not_removable,
    without_support,
)

X, Y = "x" * 22, "y" * 22
THREE = VoterSet.of(*(Voter(key=ReplicaKey(number, X), endpoints={}) for number in (1, 2, 3)))
ONE = VoterSet.of(Voter(key=ReplicaKey(1, X), endpoints={}))


def test_an_unknown_voter_another_directory_and_the_last_voter_are_told_apart() -> None:
    reasons = {
        not_removable(THREE, ReplicaKey(4, X)),
        not_removable(THREE, ReplicaKey(2, Y)),
        not_removable(ONE, ReplicaKey(1, X)),
    }
    assert reasons == {
        "node 4 is not a voter: the voters are 1, 2, 3",
        f"node 2 is a voter with directory id {X}, not {Y}",
        "node 1 is the only voter, and a quorum needs one",
    }


def test_a_voter_that_was_formatted_again_is_told_apart_from_one_that_is_there() -> None:
    assert is_voter_already(THREE, ReplicaKey(2, X)) == "node 2 is a voter already"
    assert f"with directory id {X}: remove that voter first" in is_voter_already(
        THREE, ReplicaKey(2, Y)
    )


def test_a_node_that_does_not_answer_is_told_apart_from_a_record_that_is_not_committed() -> None:
    adding = AddingVoter(
        request_id=1,
        voter=Voter(key=ReplicaKey(4, X), endpoints={}),
        ack_when_committed=True,
        deadline_ms=5,
    )
    removing = RemovingVoter(request_id=1, key=ReplicaKey(2, X), deadline_ms=5, offset=9)
    assert "node 4 did not answer" in late(adding)
    assert "offset 8 was not committed" in late(replace(adding, offset=8))
    assert "offset 9 was not committed" in late(removing)


def test_a_node_without_kraft_version_is_told_apart_from_one_with_other_levels() -> None:
    none = ApiVersionsResponse(top_error=Error.NONE, error=Error.NONE, kraft_version=None)
    other = replace(none, kraft_version=VersionRange(0, 0))
    assert "does not support kraft.version" in without_support(4, none, 1)
    assert "supports kraft.version 0 to 0" in without_support(4, other, 1)
