"""Where Kafka's choice of the first role would end a process, the core chooses otherwise."""

from __future__ import annotations

from random import Random

import pytest

from kraftool.raft import core
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.log_view import LogView
from kraftool.raft.names import ElectionState, Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.raft import Raft
from kraftool.raft.records import Batch
from kraftool.raft.roles import Candidate, Follower, Unattached
from kraftool.raft.settings import NodeSettings

LISTENER = "CONTROLLER"
VOTERS = VoterSet.of(
    *(
        Voter(key=ReplicaKey(voter_id), endpoints={LISTENER: Endpoint(f"n{voter_id}", 9093)})
        for voter_id in (1, 2, 3)
    )
)


def _started(stored: ElectionState, last_epoch: int, *, stands_again: bool = False) -> Raft:
    settings = NodeSettings(
        node_id=1,
        directory_id="d1",
        cluster_id="c",
        listeners={LISTENER: Endpoint("n1", 9093)},
        static_voters=VOTERS,
        stands_again=stands_again,
    )
    log = LogView.of([Batch(base_offset=0, last_offset=4, epoch=last_epoch)])
    raft = Raft(settings, Random(0), log, ControlHistory(static_voters=VOTERS), stored)
    core.start(raft, 1)
    return raft


@pytest.mark.parametrize(("leader", "role"), [(None, Unattached), (2, Follower)])
def test_who_has_records_of_the_epoch_does_not_stand_in_it_again(
    leader: int | None, role: type
) -> None:
    """Its request would be called invalid, as nominees of an epoch have no records of it."""
    stored = ElectionState(epoch=5, leader_id=leader, voted=ReplicaKey(1, "d1"))
    raft = _started(stored, last_epoch=5)
    assert isinstance(raft.role, role)
    assert raft.role.election == stored


def test_a_node_like_kafka_stands_again_with_records_of_the_epoch() -> None:
    stored = ElectionState(epoch=5, leader_id=2, voted=ReplicaKey(1, "d1"))
    raft = _started(stored, last_epoch=5, stands_again=True)
    assert isinstance(raft.role, Candidate)
    assert raft.epoch == 5


def test_who_has_no_record_of_the_epoch_stands_again() -> None:
    raft = _started(ElectionState(epoch=5, voted=ReplicaKey(1, "d1")), last_epoch=4)
    assert isinstance(raft.role, Candidate)
    assert raft.epoch == 5
