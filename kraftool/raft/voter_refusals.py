"""The reasons for which a change of the voters is refused: one for each, in words.

Kafka has one text for several of them. Programs read the error code; these are for operators.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import ApiVersionsResponse
from kraftool.raft.names import ReplicaKey, VoterSet
from kraftool.raft.raft import Raft
from kraftool.raft.roles import AddingVoter, Leader, RemovingVoter


def not_leader(raft: Raft, error: Error) -> str:
    if error is Error.BROKER_NOT_AVAILABLE:
        return "this node is shutting down"
    leads = "" if raft.leader_id is None else f": node {raft.leader_id} leads epoch {raft.epoch}"
    return f"this node does not lead the quorum{leads}"


def is_voter_already(voters: VoterSet, key: ReplicaKey) -> str:
    voter = voters.get(key.id)
    assert voter is not None, "another voter has this id"
    if voter.key == key:
        return f"node {key.id} is a voter already"
    return (
        f"node {key.id} is a voter already, with directory id {voter.key.directory_id}: remove that"
        " voter first"
    )


def not_removable(voters: VoterSet, key: ReplicaKey) -> str:
    """Return why a set without this voter cannot be had."""
    voter = voters.get(key.id)
    if voter is None:
        ids = ", ".join(map(str, sorted(voters.ids)))
        return f"node {key.id} is not a voter: the voters are {ids}"
    if voter.key != key:
        return (
            f"node {key.id} is a voter with directory id {voter.key.directory_id}, not"
            f" {key.directory_id}"
        )
    return f"node {key.id} is the only voter, and a quorum needs one"


def without_versions(node_id: int, error: Error) -> str:
    return f"node {node_id} did not answer which versions it supports: {error.name}"


def without_support(node_id: int, answer: ApiVersionsResponse, level: int) -> str:
    supported = answer.kraft_version
    if supported is None:
        return f"node {node_id} does not support kraft.version, and the quorum is at {level}"
    return (
        f"node {node_id} supports kraft.version {supported.min} to {supported.max}, and the quorum"
        f" is at {level}"
    )


def not_caught_up(leader: Leader, key: ReplicaKey) -> str:
    if key not in leader.replicas.observers:
        return f"{key} does not fetch from this leader: start the node with this directory first"
    return f"{key} has not reached the end of the log yet"


def late(change: AddingVoter | RemovingVoter) -> str:
    """Return what a change whose time is over was waiting for."""
    if change.offset is None:
        assert isinstance(change, AddingVoter), "only a new voter is asked first"
        return f"node {change.voter.key.id} did not answer which versions it supports in time"
    return f"the voters record at offset {change.offset} was not committed in time"
