"""Requests and responses of the protocol, one pair a family; field names are Kafka's.

Owns their form between nodes' cores. It refuses versions and bytes, which are `wire.py`'s: a field
that a version lacks has the default that its absence means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    NO_HIGH_WATERMARK_FIELD,
    NO_ID,
    UNKNOWN,
    Endpoints,
    Error,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
)
from kraftool.raft.records import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What all requests have in common."""

    cluster_id: str | None = None
    is_for_metadata: bool = True
    """Whether it names the metadata partition, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What all responses have in common. `error` is of the partition, `top_error` of the whole."""

    top_error: Error = Error.NONE
    error: Error = Error.NONE
    leader_id: int = NO_ID
    leader_epoch: int = UNKNOWN
    endpoints: Endpoints = field(default_factory=dict)
    """Of the leader, by the listener that the request came in on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRequest(Message):
    replica_epoch: int
    replica: ReplicaKey
    voter: ReplicaKey | None = None
    """Whom it is meant for; None in version 0."""
    last_offset: int
    last_offset_epoch: int
    pre_vote: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteResponse(Answer):
    vote_granted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginQuorumEpochRequest(Message):
    leader_id: int
    leader_epoch: int
    voter: ReplicaKey | None = None
    leader_endpoints: Endpoints = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginQuorumEpochResponse(Answer):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class EndQuorumEpochRequest(Message):
    leader_id: int
    leader_epoch: int
    preferred_candidates: tuple[ReplicaKey, ...] = ()
    leader_endpoints: Endpoints = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndQuorumEpochResponse(Answer):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest(Message):
    replica: ReplicaKey | None
    """The fetching replica; None, or a key without an id, for a reader that is not a replica."""
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    max_wait_ms: int = 500
    max_bytes: int = 1 << 20
    high_watermark: int = NO_HIGH_WATERMARK_FIELD


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRange:
    """What whoever runs the core is to read from the log into an answer."""

    offset: int
    max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResponse(Answer):
    high_watermark: int = UNKNOWN
    log_start_offset: int = UNKNOWN
    diverging_epoch: OffsetAndEpoch | None = None
    snapshot_id: OffsetAndEpoch | None = None
    batches: tuple[Batch, ...] = ()
    read: ReadRange | None = None
    """On its way out: to be replaced by `batches`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSnapshotRequest(Message):
    replica: ReplicaKey | None
    current_leader_epoch: int
    snapshot_id: OffsetAndEpoch
    position: int
    max_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRange:
    """What is to be read from a snapshot's file into an answer."""

    snapshot_id: OffsetAndEpoch
    position: int
    max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSnapshotResponse(Answer):
    snapshot_id: OffsetAndEpoch = BOOTSTRAP_SNAPSHOT
    size: int = 0
    position: int = 0
    chunk: bytes = b""
    read: SnapshotRange | None = None
    """On its way out: to be replaced by `chunk`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeQuorumRequest(Message):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaState:
    """How far a replica is, as the leader knows it; -1 where it does not."""

    replica: ReplicaKey
    log_end_offset: int = UNKNOWN
    last_fetch_timestamp: int = UNKNOWN
    last_caught_up_timestamp: int = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeQuorumResponse(Answer):
    high_watermark: int = UNKNOWN
    voters: tuple[ReplicaState, ...] = ()
    observers: tuple[ReplicaState, ...] = ()
    nodes: Mapping[int, Endpoints] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddVoterRequest(Message):
    voter: ReplicaKey | None
    """None where id or directory id is missing."""
    listeners: Endpoints
    timeout_ms: int = 0
    ack_when_committed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveVoterRequest(Message):
    voter: ReplicaKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterChangeResponse(Answer):
    """Of AddRaftVoter and RemoveRaftVoter: a code and a sentence."""

    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateVoterRequest(Message):
    current_leader_epoch: int
    voter: ReplicaKey | None
    listeners: Endpoints
    kraft_version: VersionRange


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateVoterResponse(Answer):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersionsRequest(Message):
    """Asked of a node that shall become a voter, and by a leader without a controller."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
