"""A voter's Fetch moves the high watermark in every version that the metadata partition has."""

from typing import Any

import pytest

from kraftool.decoders import rpc_frames
from kraftool.raft.messages import FetchRequest
from kraftool.raft.names import UNKNOWN
from kraftool.raft.roles import Leader
from kraftool.raft.wire import requests
from tests.raft.transcript_node import Node

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def body(version: int, replica_id: int) -> dict[str, Any]:
    """What Kafka sends, with the replica's id where the version has it."""
    partition = {
        "partition": 0,
        "currentLeaderEpoch": 1,
        "fetchOffset": 1,
        "lastFetchedEpoch": 1,
        "logStartOffset": -1,
        "partitionMaxBytes": 0,
    }
    if version >= 18:
        partition["highWatermark"] = UNKNOWN
    sender = (
        {"replicaState": {"replicaId": replica_id, "replicaEpoch": -1}}
        if version >= 15
        else {"replicaId": replica_id}
    )
    topics = [{"topicId": TOPIC_ID, "partitions": [partition]}]
    whole = {"clusterId": "c", "maxWaitMs": 0, "minBytes": 0, "maxBytes": 1 << 20}
    return {**whole, **sender, "topics": topics}


def received(version: int, replica_id: int) -> FetchRequest:
    frame = rpc_frames.RequestFrame(
        name="Fetch",
        version=version,
        correlation_id=1,
        client_id="raft-client-2",
        body=body(version, replica_id),
    )
    back = rpc_frames.decode_request(rpc_frames.encode_request(frame))
    asked = requests.from_kafka("Fetch", back.body)
    assert isinstance(asked, FetchRequest)
    return asked


@pytest.mark.parametrize(("replica_id", "committed"), [(2, 1), (4, None), (-1, None)])
@pytest.mark.parametrize("version", range(13, 19))
def test_a_voter_s_fetch_commits_whatever_its_version(
    version: int, replica_id: int, committed: int | None
) -> None:
    node = Node()
    node.block(["static 1 2", "start", "become leader"])
    node.step(node.received("2", received(version, replica_id)))
    assert isinstance(node.raft.role, Leader)
    assert node.raft.role.high_watermark == committed
