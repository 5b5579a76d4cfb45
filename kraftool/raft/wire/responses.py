"""Responses: from the core to Kafka's values and back, by version.

Owns where each family keeps its error, its leader and the leader's endpoint. A response whose shape
is not what was asked for is an unexpected error as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.names import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftool.raft.messages import (
    BeginQuorumEpochResponse,
    DescribeQuorumResponse,
    EndQuorumEpochResponse,
    FetchResponse,
    FetchSnapshotResponse,
    ReplicaState,
    Response,
    UpdateVoterResponse,
    VoterChangeResponse,
    VoteResponse,
)
from kraftool.raft.names import UNKNOWN, OffsetAndEpoch, ReplicaKey
from kraftool.raft.wire.batches import decode_batches, encode_batches
from kraftool.raft.wire.shapes import (
    endpoint_of,
    endpoints,
    error_of,
    key_of,
    listeners,
    node_endpoints,
    one_partition,
    the_partition,
    uuid_of,
)

_Quorum = VoteResponse | BeginQuorumEpochResponse | EndQuorumEpochResponse


def _quorum(answer: _Quorum, version: int) -> Value:
    value: Value = {"errorCode": answer.top_error}
    if answer.top_error is not Error.NONE:
        return {**value, "topics": []}
    partition: Value = {
        "errorCode": answer.error,
        "leaderId": answer.leader_id,
        "leaderEpoch": answer.leader_epoch,
    }
    if isinstance(answer, VoteResponse):
        partition["voteGranted"] = answer.vote_granted
    if version >= 1:
        value["nodeEndpoints"] = node_endpoints(answer.leader_id, answer.endpoints)
    return {**value, "topics": one_partition(partition)}


def _read_quorum(kind: type[_Quorum]) -> Callable[[Value, str], _Quorum]:
    def read(value: Value, listener: str) -> _Quorum:
        top = error_of(value["errorCode"])
        part = the_partition(value)
        if top is not Error.NONE or part is None:
            return kind(top_error=top if top is not Error.NONE else Error.UNKNOWN_SERVER_ERROR)
        granted = {"vote_granted": part["voteGranted"]} if kind is VoteResponse else {}
        return kind(
            error=error_of(part["errorCode"]),
            leader_id=part["leaderId"],
            leader_epoch=part["leaderEpoch"],
            endpoints=endpoint_of(value.get("nodeEndpoints", []), part["leaderId"], listener),
            **granted,
        )

    return read


def _fetch(answer: FetchResponse, version: int) -> Value:
    value: Value = {"errorCode": answer.top_error, "responses": []}
    if answer.top_error is not Error.NONE:
        return value
    partition: Value = {
        "partitionIndex": 0,
        "errorCode": answer.error,
        "highWatermark": answer.high_watermark,
        "lastStableOffset": -1,
        "logStartOffset": answer.log_start_offset,
        "currentLeader": {"leaderId": answer.leader_id, "leaderEpoch": answer.leader_epoch},
        "abortedTransactions": [],
        "preferredReadReplica": -1,
        "records": encode_batches(answer.batches),
    }
    if answer.diverging_epoch is not None:
        partition["divergingEpoch"] = _offset_and_epoch(answer.diverging_epoch)
    if answer.snapshot_id is not None:
        partition["snapshotId"] = _offset_and_epoch(answer.snapshot_id)
    topic = {"topicId": METADATA_TOPIC_ID} if version >= 13 else {"topic": METADATA_TOPIC}
    value["responses"] = [{**topic, "partitions": [partition]}]
    if version >= 17:
        value["nodeEndpoints"] = node_endpoints(answer.leader_id, answer.endpoints)
    return value


def _read_fetch(value: Value, listener: str) -> FetchResponse:
    top = error_of(value["errorCode"])
    by_id = all("topicId" in response for response in value["responses"])
    part = the_partition(
        value, topics="responses", name="topicId" if by_id else "topic",
        wanted=METADATA_TOPIC_ID if by_id else METADATA_TOPIC,
    )  # fmt: skip
    if top is not Error.NONE or part is None:
        return FetchResponse(top_error=top if top is not Error.NONE else Error.UNKNOWN_SERVER_ERROR)
    leader = part.get("currentLeader", {"leaderId": -1, "leaderEpoch": -1})
    diverging = part.get("divergingEpoch")
    snapshot = part.get("snapshotId")
    return FetchResponse(
        error=error_of(part["errorCode"]),
        leader_id=leader["leaderId"],
        leader_epoch=leader["leaderEpoch"],
        endpoints=endpoint_of(value.get("nodeEndpoints", []), leader["leaderId"], listener),
        high_watermark=part["highWatermark"],
        log_start_offset=part["logStartOffset"],
        diverging_epoch=None if not diverging or diverging["epoch"] < 0
        else OffsetAndEpoch(diverging["endOffset"], diverging["epoch"]),
        snapshot_id=None if not snapshot or max(snapshot["endOffset"], snapshot["epoch"]) < 0
        else OffsetAndEpoch(snapshot["endOffset"], snapshot["epoch"]),
        batches=decode_batches(part["records"] or b""),
    )  # fmt: skip


def _offset_and_epoch(value: OffsetAndEpoch) -> Value:
    return {"endOffset": value.offset, "epoch": value.epoch}


def _fetch_snapshot(answer: FetchSnapshotResponse, version: int) -> Value:
    value: Value = {"errorCode": answer.top_error, "topics": []}
    if answer.top_error is not Error.NONE:
        return value
    # Always written: without it a reader takes leader 0 of epoch 0 for granted.
    leader = {"leaderId": answer.leader_id, "leaderEpoch": answer.leader_epoch}
    partition: Value = {
        "errorCode": answer.error,
        "snapshotId": _offset_and_epoch(answer.snapshot_id),
        "currentLeader": leader,
        "size": answer.size,
        "position": answer.position,
        "unalignedRecords": answer.chunk,
    }
    value["topics"] = one_partition(partition, index="index", name="name")
    if version >= 1:
        value["nodeEndpoints"] = node_endpoints(answer.leader_id, answer.endpoints)
    return value


def _read_fetch_snapshot(value: Value, listener: str) -> FetchSnapshotResponse:
    top = error_of(value["errorCode"])
    part = the_partition(value, index="index", name="name")
    if top is not Error.NONE or part is None:
        return FetchSnapshotResponse(
            top_error=top if top is not Error.NONE else Error.UNKNOWN_SERVER_ERROR
        )
    leader = part.get("currentLeader", {"leaderId": 0, "leaderEpoch": 0})
    return FetchSnapshotResponse(
        error=error_of(part["errorCode"]),
        leader_id=leader["leaderId"],
        leader_epoch=leader["leaderEpoch"],
        endpoints=endpoint_of(value.get("nodeEndpoints", []), leader["leaderId"], listener),
        snapshot_id=OffsetAndEpoch(part["snapshotId"]["endOffset"], part["snapshotId"]["epoch"]),
        size=part["size"],
        position=part["position"],
        chunk=part["unalignedRecords"] or b"",
    )


def _describe(answer: DescribeQuorumResponse, version: int) -> Value:
    partition: Value = {"errorCode": answer.error}
    # As an error Kafka says nothing else, not even who leads: all is left at zero.
    if answer.error is Error.NONE:
        partition |= {
            "leaderId": answer.leader_id,
            "leaderEpoch": answer.leader_epoch,
            "highWatermark": answer.high_watermark,
            "currentVoters": [_replica(voter, version) for voter in answer.voters],
            "observers": [_replica(observer, version) for observer in answer.observers],
        }
    value: Value = {"errorCode": answer.top_error}
    if version >= 2:
        value["errorMessage"] = ""
        partition["errorMessage"] = answer.message
        value["nodes"] = [
            {"nodeId": node_id, "listeners": listeners(known)}
            for node_id, known in answer.nodes.items()
        ]
    if answer.top_error is not Error.NONE:
        return {**value, "topics": []}
    return {**value, "topics": one_partition(partition)}


def _replica(state: ReplicaState, version: int) -> Value:
    value: Value = {"replicaId": state.replica.id, "logEndOffset": state.log_end_offset}
    if version >= 1:
        value["lastFetchTimestamp"] = state.last_fetch_timestamp
        value["lastCaughtUpTimestamp"] = state.last_caught_up_timestamp
    if version >= 2:
        value["replicaDirectoryId"] = uuid_of(state.replica)
    return value


def _read_describe(value: Value, listener: str) -> DescribeQuorumResponse:
    top = error_of(value["errorCode"])
    part = the_partition(value)
    if top is not Error.NONE or part is None:
        return DescribeQuorumResponse(
            top_error=top if top is not Error.NONE else Error.UNKNOWN_SERVER_ERROR
        )
    error, message = error_of(part["errorCode"]), part.get("errorMessage") or ""
    if error is not Error.NONE:
        return DescribeQuorumResponse(error=error, message=message)
    return DescribeQuorumResponse(
        leader_id=part["leaderId"],
        leader_epoch=part["leaderEpoch"],
        high_watermark=part["highWatermark"],
        voters=tuple(_read_replica(current_voter) for current_voter in part["currentVoters"]),
        observers=tuple(_read_replica(observer) for observer in part["observers"]),
        nodes={node["nodeId"]: endpoints(node["listeners"]) for node in value.get("nodes", [])},
        message=message,
    )


def _read_replica(value: Value) -> ReplicaState:
    key = key_of(value["replicaId"], value.get("replicaDirectoryId", uuid_of(None)))
    return ReplicaState(
        replica=key if key is not None else ReplicaKey(value["replicaId"]),
        log_end_offset=value["logEndOffset"],
        last_fetch_timestamp=value.get("lastFetchTimestamp", UNKNOWN),
        last_caught_up_timestamp=value.get("lastCaughtUpTimestamp", UNKNOWN),
    )


def _change(answer: VoterChangeResponse, version: int) -> Value:
    error = answer.top_error if answer.top_error is not Error.NONE else answer.error
    # Kafka leaves the sentence out of a success, and only there.
    return {
        "errorCode": error,
        "errorMessage": None if error is Error.NONE else answer.message,
    }


def _read_change(value: Value, listener: str) -> VoterChangeResponse:
    return VoterChangeResponse(
        error=error_of(value["errorCode"]), message=value["errorMessage"] or ""
    )


def _update(answer: UpdateVoterResponse, version: int) -> Value:
    endpoint = next(iter(answer.endpoints.values()), None)
    return {
        "errorCode": answer.top_error if answer.top_error is not Error.NONE else answer.error,
        "currentLeader": {
            "leaderId": answer.leader_id,
            "leaderEpoch": answer.leader_epoch,
            "host": "" if endpoint is None else endpoint.host,
            "port": 0 if endpoint is None else endpoint.port,
        },
    }


def _read_update(value: Value, listener: str) -> UpdateVoterResponse:
    leader = value.get("currentLeader") or {"leaderId": -1, "leaderEpoch": -1, "host": ""}
    known = [{"nodeId": leader["leaderId"], **leader}] if leader["host"] else []
    return UpdateVoterResponse(
        error=error_of(value["errorCode"]),
        leader_id=leader["leaderId"],
        leader_epoch=leader["leaderEpoch"],
        endpoints=endpoint_of(known, leader["leaderId"], listener),
    )


_Write = Callable[[Any, int], Value]
_Read = Callable[[Value, str], Response]
_FAMILIES: dict[str, tuple[_Write, _Read]] = {
    "Vote": (_quorum, _read_quorum(VoteResponse)),
    "BeginQuorumEpoch": (_quorum, _read_quorum(BeginQuorumEpochResponse)),
    "EndQuorumEpoch": (_quorum, _read_quorum(EndQuorumEpochResponse)),
    "Fetch": (_fetch, _read_fetch),
    "FetchSnapshot": (_fetch_snapshot, _read_fetch_snapshot),
    "DescribeQuorum": (_describe, _read_describe),
    "AddRaftVoter": (_change, _read_change),
    "RemoveRaftVoter": (_change, _read_change),
    "UpdateRaftVoter": (_update, _read_update),
}


def to_kafka(name: str, response: Response, version: int) -> Value:
    """A response of one of the families, as the catalogue encodes it."""
    return _FAMILIES[name][0](response, version)


def from_kafka(name: str, value: Value, listener: str) -> Response:
    """A response as it was decoded, to a request that went to this listener."""
    return _FAMILIES[name][1](value, listener)
