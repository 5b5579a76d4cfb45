"""While a controller works out records for the next offset, nothing else gets that offset."""

from __future__ import annotations

import pytest

from kraftool.raft.appends import may_append
from kraftool.raft.events import (
    Append,
    Event,
    LogFlushed,
    RequestReceived,
    Resign,
    ResponseReceived,
    StateMachineAt,
    TimePassed,
    UpgradeKRaftVersion,
)
from kraftool.raft.messages import (
    AddVoterRequest,
    ApiVersionsResponse,
    DescribeQuorumRequest,
    FetchResponse,
    RemoveVoterRequest,
)
from kraftool.raft.names import ReplicaKey
from kraftool.raft.roles import Leader
from tests.raft.transcript_node import Node

VOTER = ReplicaKey(4, "d4")
UPDATE = "update-voter from 2 epoch 4 endpoints CONTROLLER=moved:1"


@pytest.mark.parametrize("level", [0, 1])
def test_a_voter_that_updates_itself_is_answered_at_once_and_appends_nothing(level: int) -> None:
    """It does not fetch before its answer. Under kraft.version 0 nothing is appended anyway."""
    node = Node()
    voters = "voters 1 2 3" if level else "static 1 2 3"
    for line in ("node 1", voters, "log 0-9@3", "start", "become leader", "commit"):
        node.run(line)
    leader = node.raft.role
    assert isinstance(leader, Leader)
    before = leader.accumulator.next_offset
    leader.is_held = True
    shown = " ".join(node.run(UPDATE))
    assert ("REQUEST_TIMED_OUT" in shown) == (level == 1), shown
    assert leader.accumulator.next_offset == before
    leader.is_held = False
    node.run(UPDATE)
    assert node.raft.log.end_offset == before + level, "as at any other time"


def test_what_may_append_has_to_wait_and_what_keeps_a_quorum_alive_has_not() -> None:
    waits: list[Event] = [
        Append(epoch=1, records=(b"",)),
        UpgradeKRaftVersion(epoch=1, level=1),
        RequestReceived(request_id=1, request=AddVoterRequest(voter=VOTER, listeners={})),
        RequestReceived(request_id=1, request=RemoveVoterRequest(voter=VOTER)),
        ResponseReceived(source_id=4, correlation_id=1, response=ApiVersionsResponse()),
    ]
    goes_on: list[Event] = [
        TimePassed(),
        Resign(epoch=1),
        LogFlushed(end_offset=1),
        StateMachineAt(next_offset=1),
        RequestReceived(request_id=1, request=DescribeQuorumRequest()),
        ResponseReceived(source_id=4, correlation_id=1, response=FetchResponse()),
    ]
    assert all(map(may_append, waits))
    assert not any(map(may_append, goes_on))
