"""Requests and responses of the protocol, one pair a family; field names are Kafka's.

Owns their form between nodes' cores. It refuses versions and bytes, which are `wire.py`'s: a field
that a version lacks has the default that its absence means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from kraftool.decoders.error_codes import Error
from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    NO_HIGH_WATERMARK_FIELD,
    NO_ID,
    UNKNOWN,
    Endpoints,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
)
from kraftool.raft.records import Batch
from kraftool.raft.values import value


@value
class Message:
    """The common part of all requests."""

    cluster_id: str | None = None
    is_for_metadata: bool = True
    """True if it names the metadata partition, and nothing else."""


@value
class Answer:
    """The common part of all responses. `error` is of the partition, `top_error` of the whole."""

    top_error: Error = Error.NONE
    error: Error = Error.NONE
    leader_id: int = NO_ID
    leader_epoch: int = UNKNOWN
    endpoints: Endpoints = field(default_factory=dict)
    """Of the leader, by the listener that the request came in on."""


@value
class VoteRequest(Message):
    replica_epoch: int
    replica: ReplicaKey
    voter: ReplicaKey | None = None
    """Whom it is meant for; None in version 0."""
    last_offset: int
    last_offset_epoch: int
    pre_vote: bool = False


@value
class VoteResponse(Answer):
    vote_granted: bool = False


@value
class BeginQuorumEpochRequest(Message):
    leader_id: int
    leader_epoch: int
    voter: ReplicaKey | None = None
    leader_endpoints: Endpoints = field(default_factory=dict)


@value
class BeginQuorumEpochResponse(Answer):
    pass


@value
class EndQuorumEpochRequest(Message):
    leader_id: int
    leader_epoch: int
    preferred_candidates: tuple[ReplicaKey, ...] = ()
    leader_endpoints: Endpoints = field(default_factory=dict)


@value
class EndQuorumEpochResponse(Answer):
    pass


@value
class FetchRequest(Message):
    replica: ReplicaKey | None
    """The fetching replica; None, or a key without an id, for a reader that is not a replica."""
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    max_wait_ms: int = 500
    max_bytes: int = 1 << 20
    high_watermark: int = NO_HIGH_WATERMARK_FIELD


@value
class ReadRange:
    """The range that the caller of the core reads from the log into an answer."""

    offset: int
    max_bytes: int


@value
class FetchResponse(Answer):
    high_watermark: int = UNKNOWN
    log_start_offset: int = UNKNOWN
    diverging_epoch: OffsetAndEpoch | None = None
    snapshot_id: OffsetAndEpoch | None = None
    batches: tuple[Batch, ...] = ()
    read: ReadRange | None = None
    """On its way out: to be replaced by `batches`."""


@value
class FetchSnapshotRequest(Message):
    replica: ReplicaKey | None
    current_leader_epoch: int
    snapshot_id: OffsetAndEpoch
    position: int
    max_bytes: int = 1 << 20


@value
class SnapshotRange:
    """The range that is read from a snapshot's file into an answer."""

    snapshot_id: OffsetAndEpoch
    position: int
    max_bytes: int


@value
class FetchSnapshotResponse(Answer):
    snapshot_id: OffsetAndEpoch = BOOTSTRAP_SNAPSHOT
    size: int = 0
    position: int = 0
    chunk: bytes = b""
    read: SnapshotRange | None = None
    """On its way out: to be replaced by `chunk`."""


@value
class DescribeQuorumRequest(Message):
    pass


@value
class ReplicaState:
    """The position of a replica, as the leader knows it; -1 where it does not."""

    replica: ReplicaKey
    log_end_offset: int = UNKNOWN
    last_fetch_timestamp: int = UNKNOWN
    last_caught_up_timestamp: int = UNKNOWN


@value
class DescribeQuorumResponse(Answer):
    high_watermark: int = UNKNOWN
    voters: tuple[ReplicaState, ...] = ()
    observers: tuple[ReplicaState, ...] = ()
    nodes: Mapping[int, Endpoints] = field(default_factory=dict)
    message: str = ""


@value
class AddVoterRequest(Message):
    voter: ReplicaKey | None
    """None where id or directory id is missing."""
    listeners: Endpoints
    timeout_ms: int = 0
    ack_when_committed: bool = True


@value
class RemoveVoterRequest(Message):
    voter: ReplicaKey | None


@value
class VoterChangeResponse(Answer):
    """Of AddRaftVoter and RemoveRaftVoter: a code and a sentence."""

    message: str = ""


@value
class UpdateVoterRequest(Message):
    current_leader_epoch: int
    voter: ReplicaKey | None
    listeners: Endpoints
    kraft_version: VersionRange


@value
class UpdateVoterResponse(Answer):
    pass


@value
class ApiVersionsRequest(Message):
    """Asked of a node that shall become a voter, and by a leader without a controller."""


@value
class ApiVersionsResponse(Answer):
    kraft_version: VersionRange | None = None
    """The range that it supports; None where it names none."""
    runs_controller: bool = False
    """True if it can be the active controller."""


Request = (
    VoteRequest
    | BeginQuorumEpochRequest
    | EndQuorumEpochRequest
    | FetchRequest
    | FetchSnapshotRequest
    | DescribeQuorumRequest
    | AddVoterRequest
    | RemoveVoterRequest
    | UpdateVoterRequest
    | ApiVersionsRequest
)
Response = (
    VoteResponse
    | BeginQuorumEpochResponse
    | EndQuorumEpochResponse
    | FetchResponse
    | FetchSnapshotResponse
    | DescribeQuorumResponse
    | VoterChangeResponse
    | UpdateVoterResponse
    | ApiVersionsResponse
)

ANSWERED_BY: dict[type, type] = {
    VoteRequest: VoteResponse,
    BeginQuorumEpochRequest: BeginQuorumEpochResponse,
    EndQuorumEpochRequest: EndQuorumEpochResponse,
    FetchRequest: FetchResponse,
    FetchSnapshotRequest: FetchSnapshotResponse,
    DescribeQuorumRequest: DescribeQuorumResponse,
    AddVoterRequest: VoterChangeResponse,
    RemoveVoterRequest: VoterChangeResponse,
    UpdateVoterRequest: UpdateVoterResponse,
    ApiVersionsRequest: ApiVersionsResponse,
}
UNREACHABLE: dict[type, Response] = {
    request: response(top_error=Error.BROKER_NOT_AVAILABLE)
    for request, response in ANSWERED_BY.items()
}
"""What the network answers to a request of each type, if it cannot reach the node."""
