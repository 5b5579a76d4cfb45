"""The state of a recorded node: when a follower has fetched from its leader, by Kafka's raft log.

Kafka's KafkaRaftClient passes an answer of an earlier epoch over (maybeHandleCommonResponse), and
counts the one by which an unattached node finds its leader.
"""

from __future__ import annotations

import pytest

from tests.interop import wirecontext

_VOTE = (
    "Received inbound message InboundRequest(correlationId=7, apiVersion=2, data=VoteRequestData("
    "clusterId='c', voterId=1), source=null)"
)


def _role(role: str, fields: str) -> str:
    return f"Completed transition to {role}State({fields}) from null"


UNATTACHED = _role("Unattached", "epoch=4, leaderId=OptionalInt.empty, votedKey=Optional.empty")
FOLLOWER = _role("Follower", "epoch=4, leader=2, leaderEndpoints=Endpoints(endpoints={})")


def _answer(epoch: int, error: int = 0) -> str:
    """As Kafka 4.3 writes it."""
    return (
        "Received inbound message InboundResponse(correlationId=3, data=FetchResponseData("
        "throttleTimeMs=0, errorCode=0, sessionId=0, responses=[FetchableTopicResponse(topic='', "
        "topicId=AAAAAAAAAAAAAAAAAAAAAQ, partitions=[PartitionData(partitionIndex=0, "
        f"errorCode={error}, highWatermark=5, lastStableOffset=-1, logStartOffset=0, "
        "divergingEpoch=EpochEndOffset(epoch=-1, endOffset=-1), currentLeader=LeaderIdAndEpoch("
        f"leaderId=2, leaderEpoch={epoch}), snapshotId=SnapshotId(endOffset=-1, epoch=-1), "
        "records=null)])], nodeEndpoints=[]), source=null)"
    )


@pytest.mark.parametrize(
    ("messages", "has_fetched"),
    [
        ([FOLLOWER], False),
        ([FOLLOWER, _answer(4)], True),
        ([FOLLOWER, _answer(3)], False),
        ([FOLLOWER, _answer(4, error=6)], False),
        ([UNATTACHED, _answer(4), FOLLOWER], True),
        ([UNATTACHED, _answer(3), FOLLOWER], False),
        ([UNATTACHED, _answer(4), "Received inbound message other", FOLLOWER], False),
        ([FOLLOWER, _answer(4), FOLLOWER.replace("epoch=4", "epoch=5")], False),
    ],
)
def test_a_follower_has_fetched_once_a_leader_of_its_epoch_has_answered(
    messages: list[str], has_fetched: bool
) -> None:
    lines = [f"{1_700_000_000_000 + at} TRACE o.a.k.r.KafkaRaftClient [RaftManager id=1] {message}"
             for at, message in enumerate([*messages, _VOTE])]  # fmt: skip
    (taken,) = wirecontext.read("\n".join(lines))
    assert taken.state["role"] == "Follower"
    assert taken.state["fetched"] is has_fetched
