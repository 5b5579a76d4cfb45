"""The checks of requests and responses of all families, and what follows from who leads.

Owns the shared order of checks (Kafka's validateVoterOnlyRequest, validateLeaderOnlyRequest,
maybeHandleCommonResponse, maybeTransition). What a family checks beyond them is its own.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import transitions
from kraftool.raft.messages import Answer, Message
from kraftool.raft.names import Endpoints, ProtocolError, ReplicaKey
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader, Unattached


def top_error(raft: Raft, request: Message) -> Error:
    """The first checks of all: the right cluster, if one is named, and the right partition."""
    if request.cluster_id is not None and request.cluster_id != raft.settings.cluster_id:
        return Error.INCONSISTENT_CLUSTER_ID
    return Error.NONE if request.is_for_metadata else Error.INVALID_REQUEST


def voter_error(raft: Raft, sender_id: int, epoch: int) -> Error:
    """Of requests that establish who leads. That the sender is a voter is not asked for."""
    if epoch < raft.epoch:
        return Error.FENCED_LEADER_EPOCH
    return Error.INVALID_REQUEST if sender_id < 0 else Error.NONE


def leader_error(raft: Raft, epoch: int) -> Error:
    """Of requests that are meant for the leader of an epoch."""
    if epoch < raft.epoch:
        return Error.FENCED_LEADER_EPOCH
    if epoch > raft.epoch:
        return Error.UNKNOWN_LEADER_EPOCH
    if not isinstance(raft.role, Leader):
        return Error.NOT_LEADER_OR_FOLLOWER
    return Error.BROKER_NOT_AVAILABLE if raft.is_shutting_down else Error.NONE


def is_meant_for(raft: Raft, voter: ReplicaKey | None) -> bool:
    """True if a request that may name its receiver means this node."""
    if voter is None or voter.id < 0:
        return True
    return voter.id == raft.settings.node_id and voter.directory_id in (
        None, raft.settings.directory_id,
    )  # fmt: skip


def follow(raft: Raft, leader_id: int | None, epoch: int, endpoints: Endpoints) -> None:
    """Take note of who leads an epoch that is not lower than the own.

    Another leader than the known one in the same epoch breaks the protocol, and so does being told
    to lead without having won.
    """
    known = raft.leader_id
    is_self = leader_id is not None and leader_id == raft.settings.node_id
    consistent = (
        isinstance(raft.role, Leader)
        if is_self
        else epoch != raft.epoch or leader_id is None or known is None or leader_id == known
    )
    if not consistent:
        named = "this node" if is_self else leader_id
        own = "this node does not lead that epoch" if is_self else f"this node knows {known}"
        raise ProtocolError(f"another node names {named} leader of epoch {epoch}, but {own}")
    if epoch > raft.epoch:
        if leader_id is None:
            transitions.to_unattached(raft, epoch)
        else:
            transitions.to_follower(raft, epoch, leader_id, endpoints)
    elif leader_id is not None and (
        known is None or len(endpoints) > len(raft.role.leader_endpoints)
    ):
        transitions.to_follower(raft, epoch, leader_id, endpoints)


def common(raft: Raft, answer: Answer, error: Error | None = None) -> bool | None:
    """Return what all answers are good for, before their family looks at them.

    True or False: handled, and the connection is ready or pauses. None: the family goes on.
    """
    error = answer.error if error is None else error
    leader = answer.leader_id if answer.leader_id >= 0 else None
    endpoints = answer.endpoints
    if not endpoints and leader is not None:
        endpoints = raft.control.voters.endpoints_of(leader)
    epoch = answer.leader_epoch
    if epoch < raft.epoch or error is Error.UNKNOWN_LEADER_EPOCH:
        return True
    if epoch > raft.epoch or error in (Error.FENCED_LEADER_EPOCH, Error.NOT_LEADER_OR_FOLLOWER):
        follow(raft, leader, epoch, endpoints)
        return True
    other = leader if endpoints and leader != raft.settings.node_id else None
    if other is not None and raft.leader_id is None:
        return _followed(raft, other, epoch, endpoints, error)
    if error is Error.BROKER_NOT_AVAILABLE:
        return False
    if error is Error.INVALID_VOTER_KEY:
        return True
    if error is Error.INVALID_REQUEST:
        raise ProtocolError("a request of this node was called invalid in its own epoch")
    if other is not None and _knows_only_the_name(raft, other):
        return _followed(raft, other, epoch, endpoints, error)
    return None


def _followed(
    raft: Raft, leader: int, epoch: int, endpoints: Endpoints, error: Error
) -> bool | None:
    """Follow the leader that an answer names. Only an answer without an error goes on."""
    transitions.to_follower(raft, epoch, leader, endpoints)
    return None if error is Error.NONE else True


def _knows_only_the_name(raft: Raft, leader: int) -> bool:
    """True if the node is Unattached and knows this leader without an endpoint. (Kafka 4.3 exits.)

    A Prospective goes on with its pre-vote, and returns to the leader when that is lost.
    """
    return isinstance(raft.role, Unattached) and raft.leader_id == leader


def failed_on_top(error: Error) -> bool:
    """True if an answer is an error as a whole. One that says this node may not take part at all
    ends it."""
    if error is Error.CLUSTER_AUTHORIZATION_FAILED:
        raise ProtocolError("the cluster does not authorize this node")
    return error is not Error.NONE
