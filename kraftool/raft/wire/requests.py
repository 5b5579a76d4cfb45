"""Requests: from the core to Kafka's values and back, by version.

Owns what a version cannot carry. A request that names another partition, or several, keeps that as
a flag, and has whatever else it says read as far as it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kraftool.decoders.codec import Value
from kraftool.decoders.names import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftool.decoders.wire import ZERO_UUID
from kraftool.raft.messages import (
    AddVoterRequest,
    BeginQuorumEpochRequest,
    DescribeQuorumRequest,
    EndQuorumEpochRequest,
    FetchRequest,
    FetchSnapshotRequest,
    RemoveVoterRequest,
    Request,
    UpdateVoterRequest,
    VoteRequest,
)
from kraftool.raft.names import NO_ID, OffsetAndEpoch, ReplicaKey, VersionRange
from kraftool.raft.wire.shapes import (
    NotSendable,
    endpoints,
    id_of,
    key_of,
    listeners,
    one_partition,
    the_partition,
    uuid_of,
)

_NOBODY = ReplicaKey(NO_ID)


def _vote(asked: VoteRequest, version: int) -> Value:
    if asked.pre_vote and version < 2:
        raise NotSendable(f"Vote version {version} has no pre-vote")
    partition: Value = {
        "replicaEpoch": asked.replica_epoch,
        "replicaId": asked.replica.id,
        "lastOffsetEpoch": asked.last_offset_epoch,
        "lastOffset": asked.last_offset,
    }
    value: Value = {"clusterId": asked.cluster_id}
    if version >= 1:
        value["voterId"] = id_of(asked.voter)
        partition["replicaDirectoryId"] = uuid_of(asked.replica)
        partition["voterDirectoryId"] = uuid_of(asked.voter)
    if version >= 2:
        partition["preVote"] = asked.pre_vote
    return {**value, "topics": one_partition(partition)}


def _read_vote(value: Value) -> VoteRequest:
    part = the_partition(value)
    partition = part if part is not None else {}
    return VoteRequest(
        cluster_id=value["clusterId"],
        is_for_metadata=part is not None,
        replica_epoch=partition.get("replicaEpoch", -1),
        replica=key_of(
            partition.get("replicaId", -1), partition.get("replicaDirectoryId", ZERO_UUID)
        )
        or _NOBODY,
        voter=key_of(value.get("voterId", NO_ID), partition.get("voterDirectoryId", ZERO_UUID)),
        last_offset=partition.get("lastOffset", -1),
        last_offset_epoch=partition.get("lastOffsetEpoch", -1),
        pre_vote=partition.get("preVote", False),
    )


def _begin(request: BeginQuorumEpochRequest, version: int) -> Value:
    partition: Value = {"leaderId": request.leader_id, "leaderEpoch": request.leader_epoch}
    value: Value = {"clusterId": request.cluster_id}
    if version >= 1:
        value["voterId"] = id_of(request.voter)
        value["leaderEndpoints"] = listeners(request.leader_endpoints)
        partition["voterDirectoryId"] = uuid_of(request.voter)
    return {**value, "topics": one_partition(partition)}


def _read_begin(value: Value) -> BeginQuorumEpochRequest:
    part = the_partition(value)
    partition = part if part is not None else {}
    return BeginQuorumEpochRequest(
        cluster_id=value["clusterId"],
        is_for_metadata=part is not None,
        leader_id=partition.get("leaderId", -1),
        leader_epoch=partition.get("leaderEpoch", -1),
        voter=key_of(value.get("voterId", NO_ID), partition.get("voterDirectoryId", ZERO_UUID)),
        leader_endpoints=endpoints(value.get("leaderEndpoints", [])),
    )


def _end(request: EndQuorumEpochRequest, version: int) -> Value:
    partition: Value = {"leaderId": request.leader_id, "leaderEpoch": request.leader_epoch}
    value: Value = {"clusterId": request.cluster_id}
    if version >= 1:
        partition["preferredCandidates"] = [
            {
                "candidateId": preferred_candidate.id,
                "candidateDirectoryId": uuid_of(preferred_candidate),
            }
            for preferred_candidate in request.preferred_candidates
        ]
        value["leaderEndpoints"] = listeners(request.leader_endpoints)
    else:
        partition["preferredSuccessors"] = [
            preferred_candidate.id for preferred_candidate in request.preferred_candidates
        ]
    return {**value, "topics": one_partition(partition)}


def _read_end(value: Value) -> EndQuorumEpochRequest:
    part = the_partition(value)
    partition = part if part is not None else {}
    listed = [
        key_of(candidate["candidateId"], candidate["candidateDirectoryId"])
        for candidate in partition.get("preferredCandidates", [])
    ]
    listed += [key_of(successor_id) for successor_id in partition.get("preferredSuccessors", [])]
    return EndQuorumEpochRequest(
        cluster_id=value["clusterId"],
        is_for_metadata=part is not None,
        leader_id=partition.get("leaderId", -1),
        leader_epoch=partition.get("leaderEpoch", -1),
        preferred_candidates=tuple(key for key in listed if key is not None),
        leader_endpoints=endpoints(value.get("leaderEndpoints", [])),
    )


def _fetch(asked: FetchRequest, version: int) -> Value:
    partition: Value = {
        "partition": 0,
        "currentLeaderEpoch": asked.current_leader_epoch,
        "fetchOffset": asked.fetch_offset,
        "lastFetchedEpoch": asked.last_fetched_epoch,
        "logStartOffset": -1,
        "partitionMaxBytes": 0,
    }
    if version >= 17:
        partition["replicaDirectoryId"] = uuid_of(asked.replica)
    if version >= 18:
        partition["highWatermark"] = asked.high_watermark
    value: Value = {
        "clusterId": asked.cluster_id,
        "maxWaitMs": asked.max_wait_ms,
        "minBytes": 0,
        "maxBytes": asked.max_bytes,
        "topics": [
            {"topicId": METADATA_TOPIC_ID, "partitions": [partition]}
            if version >= 13
            else {"topic": METADATA_TOPIC, "partitions": [partition]}
        ],
    }
    if version >= 15:
        value["replicaState"] = {"replicaId": id_of(asked.replica), "replicaEpoch": -1}
    else:
        value["replicaId"] = id_of(asked.replica)
    return value


def _read_fetch(value: Value) -> FetchRequest:
    by_id = all("topicId" in topic for topic in value["topics"])
    name, wanted = ("topicId", METADATA_TOPIC_ID) if by_id else ("topic", METADATA_TOPIC)
    part = the_partition(value, index="partition", name=name, wanted=wanted)
    partition = part if part is not None else {}
    asker = value.get("replicaId", NO_ID)
    if "replicaState" in value:
        asker = value["replicaState"]["replicaId"]
    return FetchRequest(
        cluster_id=value.get("clusterId"),
        # Version 12 names the topic, which Kafka 4 does not take for the metadata partition.
        is_for_metadata=part is not None and by_id,
        replica=key_of(asker, partition.get("replicaDirectoryId", ZERO_UUID)),
        current_leader_epoch=partition.get("currentLeaderEpoch", -1),
        fetch_offset=partition.get("fetchOffset", -1),
        last_fetched_epoch=partition.get("lastFetchedEpoch", -1),
        max_wait_ms=value["maxWaitMs"],
        max_bytes=value["maxBytes"],
        **({"high_watermark": partition["highWatermark"]} if "highWatermark" in partition else {}),
    )


def _fetch_snapshot(asked: FetchSnapshotRequest, version: int) -> Value:
    partition: Value = {
        "currentLeaderEpoch": asked.current_leader_epoch,
        "snapshotId": {"endOffset": asked.snapshot_id.offset, "epoch": asked.snapshot_id.epoch},
        "position": asked.position,
    }
    if version >= 1:
        partition["replicaDirectoryId"] = uuid_of(asked.replica)
    return {
        "clusterId": asked.cluster_id,
        "replicaId": id_of(asked.replica),
        "maxBytes": asked.max_bytes,
        "topics": one_partition(partition, index="partition", name="name"),
    }


def _read_fetch_snapshot(value: Value) -> FetchSnapshotRequest:
    part = the_partition(value, index="partition", name="name")
    partition = part if part is not None else {}
    snapshot = partition.get("snapshotId", {"endOffset": -1, "epoch": -1})
    return FetchSnapshotRequest(
        cluster_id=value["clusterId"],
        is_for_metadata=part is not None,
        replica=key_of(value["replicaId"], partition.get("replicaDirectoryId", ZERO_UUID)),
        current_leader_epoch=partition.get("currentLeaderEpoch", -1),
        snapshot_id=OffsetAndEpoch(snapshot["endOffset"], snapshot["epoch"]),
        position=partition.get("position", -1),
        max_bytes=value["maxBytes"],
    )


def _describe(asked: DescribeQuorumRequest, version: int) -> Value:
    return {"topics": one_partition({})}


def _read_describe(value: Value) -> DescribeQuorumRequest:
    return DescribeQuorumRequest(is_for_metadata=the_partition(value) is not None)


def _voter(value: Value) -> ReplicaKey | None:
    """The voter of a change; None unless both its parts are there."""
    key = key_of(value["voterId"], value["voterDirectoryId"])
    return key if key is not None and key.directory_id is not None else None


def _add(asked: AddVoterRequest, version: int) -> Value:
    value: Value = {
        "clusterId": asked.cluster_id,
        "timeoutMs": asked.timeout_ms,
        "voterId": id_of(asked.voter),
        "voterDirectoryId": uuid_of(asked.voter),
        "listeners": listeners(asked.listeners),
    }
    if version >= 1:
        value["ackWhenCommitted"] = asked.ack_when_committed
    elif not asked.ack_when_committed:
        raise NotSendable("AddRaftVoter version 0 is answered after the commit")
    return value


def _read_add(value: Value) -> AddVoterRequest:
    return AddVoterRequest(
        cluster_id=value["clusterId"],
        timeout_ms=value["timeoutMs"],
        voter=_voter(value),
        listeners=endpoints(value["listeners"]),
        ack_when_committed=value.get("ackWhenCommitted", True),
    )


def _remove(asked: RemoveVoterRequest, version: int) -> Value:
    return {
        "clusterId": asked.cluster_id,
        "voterId": id_of(asked.voter),
        "voterDirectoryId": uuid_of(asked.voter),
    }


def _read_remove(value: Value) -> RemoveVoterRequest:
    return RemoveVoterRequest(cluster_id=value["clusterId"], voter=_voter(value))


def _update(request: UpdateVoterRequest, version: int) -> Value:
    return {
        "clusterId": request.cluster_id,
        "currentLeaderEpoch": request.current_leader_epoch,
        "voterId": id_of(request.voter),
        "voterDirectoryId": uuid_of(request.voter),
        "listeners": listeners(request.listeners),
        "kRaftVersionFeature": {
            "minSupportedVersion": request.kraft_version.min,
            "maxSupportedVersion": request.kraft_version.max,
        },
    }


def _read_update(value: Value) -> UpdateVoterRequest:
    feature = value["kRaftVersionFeature"]
    return UpdateVoterRequest(
        cluster_id=value["clusterId"],
        current_leader_epoch=value["currentLeaderEpoch"],
        voter=_voter(value),
        listeners=endpoints(value["listeners"]),
        kraft_version=VersionRange(feature["minSupportedVersion"], feature["maxSupportedVersion"]),
    )


_Write = Callable[[Any, int], Value]
_FAMILIES: dict[type, tuple[str, _Write, Callable[[Value], Request]]] = {
    VoteRequest: ("Vote", _vote, _read_vote),
    BeginQuorumEpochRequest: ("BeginQuorumEpoch", _begin, _read_begin),
    EndQuorumEpochRequest: ("EndQuorumEpoch", _end, _read_end),
    FetchRequest: ("Fetch", _fetch, _read_fetch),
    FetchSnapshotRequest: ("FetchSnapshot", _fetch_snapshot, _read_fetch_snapshot),
    DescribeQuorumRequest: ("DescribeQuorum", _describe, _read_describe),
    AddVoterRequest: ("AddRaftVoter", _add, _read_add),
    RemoveVoterRequest: ("RemoveRaftVoter", _remove, _read_remove),
    UpdateVoterRequest: ("UpdateRaftVoter", _update, _read_update),
}
NAMES = {kind: name for kind, (name, _, _) in _FAMILIES.items()}
"""Kafka's name of each family."""
_READERS = {name: read for name, _, read in _FAMILIES.values()}


def to_kafka(request: Request, version: int) -> Value:
    """A request as the catalogue encodes it. Raises NotSendable where the version cannot say it."""
    return _FAMILIES[type(request)][1](request, version)


def from_kafka(name: str, value: Value) -> Request:
    """A request of one of the families, as it was decoded."""
    return _READERS[name](value)
