"""DescribeQuorum: how far every replica is, as the leader knows it."""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import leadership
from kraftool.raft.events import Reply, RequestReceived
from kraftool.raft.messages import DescribeQuorumRequest, DescribeQuorumResponse, ReplicaState
from kraftool.raft.names import UNKNOWN
from kraftool.raft.raft import Raft
from kraftool.raft.replicas import Replica
from kraftool.raft.roles import Leader


def request(raft: Raft, event: RequestReceived, asked: DescribeQuorumRequest) -> None:
    raft.emit(Reply(request_id=event.request_id, response=describe(raft, asked)))


def describe(raft: Raft, asked: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """The table; of a node that leads nothing, only that."""
    if not asked.is_for_metadata:
        return DescribeQuorumResponse(error=Error.UNKNOWN_TOPIC_OR_PARTITION)
    leader = raft.role
    if not isinstance(leader, Leader):
        leader_id, epoch = leadership.who_leads(raft)
        return DescribeQuorumResponse(
            error=Error.NOT_LEADER_OR_FOLLOWER,
            leader_id=leader_id,
            leader_epoch=epoch,
            message="this node does not lead the quorum",
        )
    leader.replicas.expire(raft.now_ms)
    known = leader.high_watermark
    return DescribeQuorumResponse(
        leader_id=leader.local.id,
        leader_epoch=leader.epoch,
        high_watermark=UNKNOWN if known is None else known,
        voters=tuple(_state(raft, leader, voter) for voter in leader.replicas.voters.values()),
        observers=tuple(
            _state(raft, leader, observer) for observer in leader.replicas.observers.values()
        ),
        nodes={voter.key.id: voter.endpoints for voter in raft.control.voters},
    )


def _state(raft: Raft, leader: Leader, replica: Replica) -> ReplicaState:
    is_self = replica.key.id == leader.local.id
    return ReplicaState(
        replica=replica.key,
        log_end_offset=UNKNOWN if replica.end_offset is None else replica.end_offset,
        last_fetch_timestamp=raft.now_ms if is_self else replica.last_fetch_ms,
        last_caught_up_timestamp=raft.now_ms if is_self else replica.last_caught_up_ms,
    )
