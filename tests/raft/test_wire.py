"""Messages of the core through Kafka's values and bytes and back, in every version that is usable.

What a version cannot carry is in the tables of losses: a field that is read as its default. What
it cannot say at all is not sent. Kafka's own bytes are in test_golden.py and test_wire_batches.py.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import codec, rpc_frames
from kraftool.decoders.error_codes import Error
from kraftool.decoders.errors import KraftoolError
from kraftool.raft.messages import (
    AddVoterRequest,
    BeginQuorumEpochRequest,
    DescribeQuorumResponse,
    EndQuorumEpochRequest,
    FetchRequest,
    FetchResponse,
    FetchSnapshotResponse,
    UpdateVoterResponse,
    VoterChangeResponse,
    VoteRequest,
    VoteResponse,
)
from kraftool.raft.names import NO_HIGH_WATERMARK_FIELD, UNKNOWN, Endpoint, ReplicaKey
from kraftool.raft.wire import requests, responses, shapes
from tests.raft.wire_strategies import LISTENER, REQUESTS, RESPONSES

VERSIONS = {
    "Vote": range(3),
    "BeginQuorumEpoch": range(2),
    "EndQuorumEpoch": range(2),
    "Fetch": range(12, 19),
    "FetchSnapshot": range(2),
    "DescribeQuorum": range(3),
    "AddRaftVoter": range(2),
    "RemoveRaftVoter": range(1),
    "UpdateRaftVoter": range(1),
}
EACH = [(name, version) for name, versions in VERSIONS.items() for version in versions]
EACH_FAMILY = list(VERSIONS)

Loss = Callable[[Any], Any]


def bare(key: ReplicaKey | None) -> ReplicaKey | None:
    """A key without its directory id."""
    return None if key is None else ReplicaKey(key.id)


REQUEST_LOSSES: dict[tuple[str, int], list[Loss]] = {
    ("Vote", 0): [lambda m: replace(m, replica=bare(m.replica), voter=None)],
    ("BeginQuorumEpoch", 0): [lambda m: replace(m, voter=None, leader_endpoints={})],
    ("EndQuorumEpoch", 0): [
        lambda m: replace(m, leader_endpoints={}),
        lambda m: replace(m, preferred_candidates=tuple(map(bare, m.preferred_candidates))),
    ],
    # Version 12 names the topic, which is not how Kafka 4 knows the metadata partition.
    ("Fetch", 12): [lambda m: replace(m, is_for_metadata=False)],
    ("FetchSnapshot", 0): [lambda m: replace(m, replica=bare(m.replica))],
}
for _version in range(12, 17):
    REQUEST_LOSSES.setdefault(("Fetch", _version), []).append(
        lambda m: replace(m, replica=bare(m.replica))
    )
for _version in range(12, 18):
    REQUEST_LOSSES.setdefault(("Fetch", _version), []).append(
        lambda m: replace(m, high_watermark=NO_HIGH_WATERMARK_FIELD)
    )


def _without_replica_fields(version: int) -> Loss:
    def state(replica_state: Any) -> Any:
        if version < 2:
            replica_state = replace(replica_state, replica=bare(replica_state.replica))
        if version < 1:
            replica_state = replace(
                replica_state, last_fetch_timestamp=UNKNOWN, last_caught_up_timestamp=UNKNOWN
            )
        return replica_state

    def lose(message: Any) -> Any:
        return replace(
            message,
            nodes={},
            message="",
            voters=tuple(map(state, message.voters)),
            observers=tuple(map(state, message.observers)),
        )

    return lose


def _without_endpoints(message: Any) -> Any:
    return replace(message, endpoints={})


def _without_empty_host(message: Any) -> Any:
    """Its one struct has a host, or it has no endpoint."""
    return replace(message, endpoints={n: e for n, e in message.endpoints.items() if e.host})


RESPONSE_LOSSES: dict[tuple[str, int], list[Loss]] = {
    ("Vote", 0): [_without_endpoints],
    ("BeginQuorumEpoch", 0): [_without_endpoints],
    ("EndQuorumEpoch", 0): [_without_endpoints],
    ("FetchSnapshot", 0): [_without_endpoints],
    ("DescribeQuorum", 0): [_without_replica_fields(0)],
    ("DescribeQuorum", 1): [_without_replica_fields(1)],
    ("UpdateRaftVoter", 0): [_without_empty_host],
    **{("Fetch", version): [_without_endpoints] for version in range(12, 17)},
}


def _lost(losses: dict[tuple[str, int], list[Loss]], where: tuple[str, int], message: Any) -> Any:
    for lose in losses.get(where, []):
        message = lose(message)
    return message


@pytest.mark.parametrize(("name", "version"), EACH)
@given(data=st.data())
def test_a_request_comes_back_as_it_went_but_for_the_losses(
    name: str, version: int, data: st.DataObject
) -> None:
    message = data.draw(REQUESTS[name])
    try:
        value = requests.to_kafka(message, version)
    except shapes.NotSendable:
        assert _cannot_be_said(message, version)
        return

    frame = rpc_frames.RequestFrame(
        name=name, version=version, correlation_id=7, client_id="raft-client-1", body=value
    )
    back = rpc_frames.decode_request(rpc_frames.encode_request(frame))

    assert (back.name, back.version, back.correlation_id) == (name, version, 7)
    assert requests.from_kafka(name, back.body) == _lost(REQUEST_LOSSES, (name, version), message)
    assert not _cannot_be_said(message, version)


def _cannot_be_said(message: Any, version: int) -> bool:
    return (isinstance(message, VoteRequest) and message.pre_vote and version < 2) or (
        isinstance(message, AddVoterRequest) and not message.ack_when_committed and version < 1
    )


@pytest.mark.parametrize(("name", "version"), EACH)
@given(data=st.data())
def test_a_response_comes_back_as_it_went_but_for_the_losses(
    name: str, version: int, data: st.DataObject
) -> None:
    message = data.draw(RESPONSES[name])
    body = responses.to_kafka(name, message, version)
    frame = rpc_frames.ResponseFrame(name=name, version=version, correlation_id=7, body=body)
    back = rpc_frames.decode_response(rpc_frames.encode_response(frame), name, version)

    assert back.correlation_id == 7
    assert responses.from_kafka(name, back.body, LISTENER) == _lost(
        RESPONSE_LOSSES, (name, version), message
    )


def _written(message: Any, version: int | None = None) -> tuple[str, int, dict[str, Any]]:
    name = requests.NAMES[type(message)]
    version = VERSIONS[name][-1] if version is None else version
    data = codec.encode(f"{name}Request", version, requests.to_kafka(message, version))
    return name, version, codec.decode(f"{name}Request", version, data)[0]


WITH_PARTITIONS = [name for name in EACH_FAMILY if not name.endswith("RaftVoter")]


def _other_partitions(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The same request for another topic, another partition, for several, and for none."""
    [topic] = value["topics"]
    [part] = topic["partitions"]
    index = next(field for field in ("partitionIndex", "partition") if field in part)
    named = {field: topic[field] for field in ("topicName", "name", "topicId") if field in topic}
    other = dict.fromkeys(named, "AAAAAAAAAAAAAAAAAAAACQ")
    listed = [
        [],
        [topic, topic],
        [{**topic, **other}],
        [{**topic, "partitions": []}],
        [{**topic, "partitions": [part, part]}],
        [{**topic, "partitions": [{**part, index: 1}]}],
    ]
    return [{**value, "topics": topics} for topics in listed]


@pytest.mark.parametrize("name", WITH_PARTITIONS)
@given(data=st.data())
def test_a_request_for_anything_but_the_metadata_partition_says_so(
    name: str, data: st.DataObject
) -> None:
    message = data.draw(REQUESTS[name])
    name, version, value = _written(message)

    for partition in _other_partitions(value):
        encoded = codec.encode(f"{name}Request", version, partition)
        decoded, _ = codec.decode(f"{name}Request", version, encoded)
        read = requests.from_kafka(name, decoded)
        assert type(read) is type(message)
        assert not read.is_for_metadata
        assert read.cluster_id == message.cluster_id


@pytest.mark.parametrize("name", WITH_PARTITIONS)
def test_a_response_for_another_partition_is_an_unexpected_error(name: str) -> None:
    version = VERSIONS[name][-1]
    topics = "responses" if name == "Fetch" else "topics"
    empty = codec.encode(f"{name}Response", version, {"errorCode": 0, topics: []})
    value, _ = codec.decode(f"{name}Response", version, empty)

    read = responses.from_kafka(name, value, LISTENER)

    assert read.top_error is Error.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("error", list(Error))
def test_an_error_code_is_kafka_s(error: Error) -> None:
    assert shapes.error_of(int(error)) is error


@pytest.mark.parametrize("code", [2, 1000, -2])
def test_an_error_that_the_protocol_does_not_know_is_an_unexpected_one(code: int) -> None:
    assert shapes.error_of(code) is Error.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("name", ["AddRaftVoter", "RemoveRaftVoter", "UpdateRaftVoter"])
def test_where_there_is_one_error_the_whole_s_comes_first(name: str) -> None:
    kind = UpdateVoterResponse if name == "UpdateRaftVoter" else VoterChangeResponse
    top = kind(top_error=Error.INCONSISTENT_CLUSTER_ID, error=Error.VOTER_NOT_FOUND)

    value = responses.to_kafka(name, top, 0)

    assert value["errorCode"] == Error.INCONSISTENT_CLUSTER_ID


def test_a_pre_vote_cannot_be_asked_for_below_version_2() -> None:
    asked = VoteRequest(
        replica_epoch=1,
        replica=ReplicaKey(1),
        last_offset=0,
        last_offset_epoch=0,
        pre_vote=True,
    )

    for version in (0, 1):
        with pytest.raises(shapes.NotSendable, match=f"Vote version {version}"):
            requests.to_kafka(asked, version)


def test_only_version_1_adds_a_voter_without_waiting_for_the_commit() -> None:
    asked = AddVoterRequest(voter=ReplicaKey(4, "d"), listeners={}, ack_when_committed=False)

    with pytest.raises(shapes.NotSendable, match="AddRaftVoter version 0"):
        requests.to_kafka(asked, 0)


def test_half_a_voter_is_none() -> None:
    whole = AddVoterRequest(
        voter=ReplicaKey(4, "AAAAAAAAAAAAAAAAAAAACQ"), listeners={LISTENER: Endpoint("h", 1)}
    )
    name, _, value = _written(whole)

    for half in ({"voterId": -1}, {"voterDirectoryId": "AAAAAAAAAAAAAAAAAAAAAA"}):
        read = requests.from_kafka(name, {**value, **half})
        assert isinstance(read, AddVoterRequest)
        assert read.voter is None
        assert read.listeners == whole.listeners


def test_listener_names_are_compared_in_upper_case() -> None:
    request = BeginQuorumEpochRequest(
        leader_id=1, leader_epoch=1, leader_endpoints={"Controller": Endpoint("h", 1)}
    )
    name, _, value = _written(request)

    read = requests.from_kafka(name, value)

    assert isinstance(read, BeginQuorumEpochRequest)
    assert read.leader_endpoints == {"CONTROLLER": Endpoint("h", 1)}


def test_a_reader_that_is_no_replica_has_no_key() -> None:
    asked = FetchRequest(replica=None, current_leader_epoch=1, fetch_offset=0, last_fetched_epoch=0)

    for version in VERSIONS["Fetch"]:
        name, _, value = _written(asked, version)
        read = requests.from_kafka(name, value)
        assert isinstance(read, FetchRequest)
        assert read.replica is None


def test_successors_without_an_id_are_left_out() -> None:
    request = EndQuorumEpochRequest(
        leader_id=1, leader_epoch=1, preferred_candidates=(ReplicaKey(2), ReplicaKey(-1))
    )
    for version in (0, 1):
        name, _, value = _written(request, version)
        read = requests.from_kafka(name, value)
        assert isinstance(read, EndQuorumEpochRequest)
        assert read.preferred_candidates == (ReplicaKey(2),)


def test_the_endpoint_of_another_node_than_the_leader_is_no_endpoint() -> None:
    answer = VoteResponse(leader_id=1, leader_epoch=3, endpoints={LISTENER: Endpoint("h", 1)})
    value = responses.to_kafka("Vote", answer, 2)
    data = codec.encode("VoteResponse", 2, value)
    decoded, _ = codec.decode("VoteResponse", 2, data)
    decoded["nodeEndpoints"][0]["nodeId"] = 2

    assert responses.from_kafka("Vote", decoded, LISTENER).endpoints == {}


def test_a_snapshot_s_leader_is_always_written_since_its_default_would_be_node_0() -> None:
    value = responses.to_kafka("FetchSnapshot", FetchSnapshotResponse(), 1)
    decoded, _ = codec.decode(
        "FetchSnapshotResponse", 1, codec.encode("FetchSnapshotResponse", 1, value)
    )

    read = responses.from_kafka("FetchSnapshot", decoded, LISTENER)
    assert (read.leader_id, read.leader_epoch) == (-1, -1)


def test_half_a_snapshot_id_in_a_fetch_response_is_told_as_it_came() -> None:
    """Which the core answers by pausing; only if both parts are absent there is none."""
    value = responses.to_kafka("Fetch", FetchResponse(leader_id=1, leader_epoch=1), 18)
    data = codec.encode("FetchResponse", 18, value)
    decoded, _ = codec.decode("FetchResponse", 18, data)
    decoded["responses"][0]["partitions"][0]["snapshotId"] = {"endOffset": -1, "epoch": 3}

    read = responses.from_kafka("Fetch", decoded, LISTENER)

    assert isinstance(read, FetchResponse)
    assert read.snapshot_id == (-1, 3)


def test_an_error_of_describe_quorum_names_no_leader() -> None:
    answer = DescribeQuorumResponse(
        error=Error.NOT_LEADER_OR_FOLLOWER, leader_id=3, leader_epoch=4, message="no"
    )

    value = responses.to_kafka("DescribeQuorum", answer, 2)

    [part] = value["topics"][0]["partitions"]
    assert set(part) == {"partitionIndex", "errorCode", "errorMessage"}


def test_a_success_has_no_sentence_and_an_error_has_one() -> None:
    for name in ("AddRaftVoter", "RemoveRaftVoter"):
        assert responses.to_kafka(name, VoterChangeResponse(), 0)["errorMessage"] is None
        refused = VoterChangeResponse(error=Error.VOTER_NOT_FOUND)
        assert responses.to_kafka(name, refused, 0)["errorMessage"] == ""


@given(st.binary(max_size=200))
def test_bytes_that_are_no_frame_are_refused_and_nothing_else_happens(data: bytes) -> None:
    try:
        rpc_frames.decode_request(data)
    except KraftoolError:
        return
    assert rpc_frames.peek(data)[0] in rpc_frames.apis()


@pytest.mark.parametrize("name", EACH_FAMILY)
def test_a_version_that_the_catalogue_lacks_is_refused(name: str) -> None:
    key = next(key for key, api_name in rpc_frames.apis().items() if api_name == name)
    frame = key.to_bytes(2, "big") + (99).to_bytes(2, "big") + bytes(20)

    with pytest.raises(KraftoolError):
        rpc_frames.decode_request(frame)


def test_bytes_after_a_message_are_refused() -> None:
    asked = VoteRequest(replica_epoch=1, replica=ReplicaKey(1), last_offset=0, last_offset_epoch=0)
    body = requests.to_kafka(asked, 2)
    frame = rpc_frames.encode_request(
        rpc_frames.RequestFrame(name="Vote", version=2, correlation_id=1, client_id=None, body=body)
    )

    assert rpc_frames.decode_request(frame).client_id is None
    with pytest.raises(KraftoolError, match="bytes left"):
        rpc_frames.decode_request(frame + b"\0")


@pytest.mark.parametrize(
    ("name", "version", "header"),
    [
        ("BeginQuorumEpoch", 0, (1, 0)),
        ("BeginQuorumEpoch", 1, (2, 1)),
        ("EndQuorumEpoch", 0, (1, 0)),
        ("Vote", 0, (2, 1)),
        ("Fetch", 11, (1, 0)),
        ("Fetch", 12, (2, 1)),
        ("ApiVersions", 2, (1, 0)),
        ("ApiVersions", 4, (2, 0)),
    ],
)
def test_which_headers_an_api_has(name: str, version: int, header: tuple[int, int]) -> None:
    assert rpc_frames.header_versions(name, version) == header
