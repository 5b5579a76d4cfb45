"""Messages of the core, at random, as far as the newest version of their family can carry them."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import (
    AddVoterRequest,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RemoveVoterRequest,
    ReplicaState,
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoterChangeResponse,
    VoteRequest,
    VoteResponse,
)
from kraftool.raft.names import Endpoint, OffsetAndEpoch, ReplicaKey, VersionRange
from kraftool.raft.records import Batch
from kraftool.raft.wire import batches

LISTENER = "CONTROLLER"

int16s = st.integers(-(1 << 15), (1 << 15) - 1)
int32s = st.integers(-(1 << 31), (1 << 31) - 1)
int64s = st.integers(-(1 << 63), (1 << 63) - 1)
ids = st.integers(0, (1 << 31) - 1)
epochs = st.integers(0, (1 << 31) - 1)
offsets = st.integers(0, (1 << 63) - 1)
texts = st.text(max_size=12)
directory_ids = st.sampled_from(("MdRhfACsRPiofMy1vbsCkA", "AAAAAAAAAAAAAAAAAAAACQ"))
keys = st.builds(ReplicaKey, ids, st.none() | directory_ids)
whole_keys = st.builds(ReplicaKey, ids, directory_ids)
endpoints = st.builds(Endpoint, st.text(max_size=12), st.integers(0, (1 << 16) - 1))
listeners = st.dictionaries(st.sampled_from((LISTENER, "OTHER", "SSL_1")), endpoints, max_size=3)
ranges = st.builds(VersionRange, int16s, int16s)
places = st.builds(OffsetAndEpoch, offsets, epochs)
errors = st.sampled_from([error for error in Error if error is not Error.NONE])
cluster_ids = st.none() | texts
flags = st.booleans()


def _batch(base: int, values: list[bytes], epoch: int, timestamp: int) -> Batch:
    data = encode_batch(
        [(None, value) for value in values], base_offset=base, epoch=epoch, timestamp=timestamp
    )
    return batches.decode(RecordBatch.read(data))


some_batches = st.lists(
    st.builds(
        _batch,
        st.integers(0, 1 << 40),
        st.lists(st.binary(max_size=20), min_size=1, max_size=3),
        epochs,
        st.integers(0, 1 << 41),
    ),
    max_size=2,
).map(tuple)

REQUESTS: dict[str, SearchStrategy[Any]] = {
    "Vote": st.builds(
        VoteRequest,
        cluster_id=cluster_ids,
        replica_epoch=int32s,
        replica=keys,
        voter=st.none() | keys,
        last_offset=int64s,
        last_offset_epoch=int32s,
        pre_vote=flags,
    ),
    "BeginQuorumEpoch": st.builds(
        BeginQuorumEpochRequest,
        cluster_id=cluster_ids,
        leader_id=int32s,
        leader_epoch=int32s,
        voter=st.none() | keys,
        leader_endpoints=listeners,
    ),
    "EndQuorumEpoch": st.builds(
        EndQuorumEpochRequest,
        cluster_id=cluster_ids,
        leader_id=int32s,
        leader_epoch=int32s,
        preferred_candidates=st.lists(keys, max_size=3).map(tuple),
        leader_endpoints=listeners,
    ),
    "Fetch": st.builds(
        FetchRequest,
        cluster_id=cluster_ids,
        replica=keys,
        current_leader_epoch=int32s,
        fetch_offset=int64s,
        last_fetched_epoch=int32s,
        max_wait_ms=int32s,
        max_bytes=int32s,
        high_watermark=int64s,
    ),
    "FetchSnapshot": st.builds(
        FetchSnapshotRequest,
        cluster_id=cluster_ids,
        replica=keys,
        current_leader_epoch=int32s,
        snapshot_id=st.builds(OffsetAndEpoch, int64s, int32s),
        position=int64s,
        max_bytes=int32s,
    ),
    "DescribeQuorum": st.builds(DescribeQuorumRequest),
    "AddRaftVoter": st.builds(
        AddVoterRequest,
        cluster_id=cluster_ids,
        voter=st.none() | whole_keys,
        listeners=listeners,
        timeout_ms=int32s,
        ack_when_committed=flags,
    ),
    "RemoveRaftVoter": st.builds(
        RemoveVoterRequest, cluster_id=cluster_ids, voter=st.none() | whole_keys
    ),
    "UpdateRaftVoter": st.builds(
        UpdateVoterRequest,
        cluster_id=cluster_ids,
        current_leader_epoch=int32s,
        voter=st.none() | whole_keys,
        listeners=listeners,
        kraft_version=ranges,
    ),
}

_led: dict[str, SearchStrategy[Any]] = {
    "error": st.just(Error.NONE) | errors,
    "leader_id": ids,
    "leader_epoch": int32s,
    "endpoints": st.dictionaries(st.just(LISTENER), endpoints, max_size=1),
}


def _answers(kind: type, **fields: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Of a partition, with a leader or none; or only an error as a whole."""
    none = {**_led, "leader_id": st.just(-1), "endpoints": st.just({})}
    return (
        st.builds(kind, **{**_led, **fields})
        | st.builds(kind, **{**none, **fields})
        | st.builds(kind, top_error=errors)
    )


def _replica(key: ReplicaKey, offset: int, fetched: int, caught_up: int) -> ReplicaState:
    return ReplicaState(
        replica=key,
        log_end_offset=offset,
        last_fetch_timestamp=fetched,
        last_caught_up_timestamp=caught_up,
    )


_replicas = st.lists(st.builds(_replica, keys, int64s, int64s, int64s), max_size=3).map(tuple)

RESPONSES: dict[str, SearchStrategy[Any]] = {
    "Vote": _answers(VoteResponse, vote_granted=flags),
    "BeginQuorumEpoch": _answers(BeginQuorumEpochResponse),
    "EndQuorumEpoch": _answers(EndQuorumEpochResponse),
    "Fetch": _answers(
        FetchResponse,
        high_watermark=int64s,
        log_start_offset=int64s,
        diverging_epoch=st.none() | places,
        snapshot_id=st.none() | places,
        batches=some_batches,
    ),
    "FetchSnapshot": _answers(
        FetchSnapshotResponse,
        snapshot_id=st.builds(OffsetAndEpoch, int64s, int32s),
        size=int64s,
        position=int64s,
        chunk=st.binary(max_size=20),
    ),
    "DescribeQuorum": st.builds(
        DescribeQuorumResponse,
        leader_id=ids,
        leader_epoch=int32s,
        high_watermark=int64s,
        voters=_replicas,
        observers=_replicas,
        nodes=st.dictionaries(ids, listeners, max_size=2),
        message=texts,
    )
    | st.builds(DescribeQuorumResponse, error=errors, message=texts)
    | st.builds(DescribeQuorumResponse, top_error=errors),
    "AddRaftVoter": st.builds(VoterChangeResponse, error=errors, message=texts)
    | st.just(VoterChangeResponse()),
    "UpdateRaftVoter": st.builds(UpdateVoterResponse, **_led),
}
RESPONSES["RemoveRaftVoter"] = RESPONSES["AddRaftVoter"]
