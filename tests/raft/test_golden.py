"""Our core and wire layer against what real Kafka's controllers said to each other.

Each frame of the recordings is decoded and encoded to the same bytes; and each request of the
protocol is given to a core that stands as Kafka's node did, which must give the same answer, to the
byte. What may differ, and why, is said in golden_replay.py. See tests/raft/golden/SOURCE.
"""

from collections import Counter
from dataclasses import replace

import pytest

from kraftool.decoders import rpc_frames
from kraftool.decoders.error_codes import Error
from kraftool.raft import core
from kraftool.raft.events import (
    AppendBatches,
    Effect,
    LogFlushed,
    Reply,
    RequestReceived,
    ResponseReceived,
    Send,
)
from kraftool.raft.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    RemoveVoterRequest,
    VoterChangeResponse,
)
from kraftool.raft.names import ReplicaKey, VersionRange
from kraftool.raft.raft import Raft
from kraftool.raft.records import Voters
from kraftool.raft.wire import requests, responses
from tests.raft import golden_replay
from tests.raft.golden_replay import (
    LISTENER,
    NOW_MS,
    Pair,
    Replayed,
    answered_at_once,
    comparable,
    replay,
    with_whole_batches,
)

ALL = [*golden_replay.pairs("dynamic"), *golden_replay.pairs("static")]
OF_THE_PROTOCOL = [pair for pair in ALL if pair.api in requests.NAMES.values()]


def ids(pairs: list[Pair]) -> list[str]:
    return [str(pair).replace(" ", "-") for pair in pairs]


@pytest.mark.parametrize("pair", ALL, ids=ids(ALL))
def test_each_frame_is_read_and_written_the_same(pair: Pair) -> None:
    asked = rpc_frames.decode_request(pair.request)
    answer = rpc_frames.decode_response(pair.response, asked.name, asked.version)

    assert rpc_frames.encode_request(asked) == pair.request
    assert rpc_frames.encode_response(answer) == pair.response


@pytest.mark.parametrize("pair", OF_THE_PROTOCOL, ids=ids(OF_THE_PROTOCOL))
def test_each_message_goes_through_the_core_s_form_unchanged(pair: Pair) -> None:
    request = requests.from_kafka(pair.api, pair.asked.body)
    response = responses.from_kafka(pair.api, pair.answer.body, LISTENER)
    asked = replace(pair.asked, body=requests.to_kafka(request, pair.version))
    answer = replace(pair.answer, body=responses.to_kafka(pair.api, response, pair.version))
    theirs = pair.answer
    if pair.api == "Fetch":
        theirs = replace(theirs, body=with_whole_batches(theirs.body))

    assert rpc_frames.encode_request(asked) == pair.request
    assert rpc_frames.encode_response(answer) == rpc_frames.encode_response(theirs)


ANSWERED = [recorded for recorded in OF_THE_PROTOCOL if answered_at_once(recorded)]


@pytest.mark.parametrize("pair", ANSWERED, ids=ids(ANSWERED))
def test_the_core_gives_kafka_s_answer(pair: Pair) -> None:
    done = replay(pair)

    assert done.response is not None
    assert done.waited == pair.waited
    ours, theirs = comparable(pair, done)
    assert ours == theirs


WAITED = [
    recorded
    for recorded in ANSWERED
    if recorded.waited and recorded.state and recorded.api == "Fetch"
]


@pytest.mark.parametrize("pair", WAITED[:1] + WAITED[-1:], ids=str)
def test_a_wait_that_ends_while_the_leader_stops_is_answered_as_kafka_answers_it(
    pair: Pair,
) -> None:
    """Kafka was seen to do so for a fetch whose time was up between its signal and its end."""
    [topic] = pair.answer.body["responses"]
    [part] = topic["partitions"]
    gone = {
        **part,
        "errorCode": Error.BROKER_NOT_AVAILABLE,
        "highWatermark": -1,
        "records": b"",
    }
    body = {**pair.answer.body, "responses": [{**topic, "partitions": [gone]}]}
    seen = replace(pair, response=rpc_frames.encode_response(replace(pair.answer, body=body)))

    ours, theirs = comparable(seen, replay(seen))

    assert ours == theirs


def _changes(api: str, code: int) -> list[Pair]:
    return [e for e in OF_THE_PROTOCOL if e.api == api and e.answer.body["errorCode"] == code]


@pytest.mark.parametrize("pair", _changes("AddRaftVoter", 0), ids=str)
def test_a_voter_is_added_as_kafka_adds_it(pair: Pair) -> None:
    done = replay(pair)
    asked = requests.from_kafka(pair.api, pair.asked.body)
    assert isinstance(asked, AddVoterRequest)
    assert asked.voter is not None

    assert done.response is None
    effects = _versions_told(done, asked, VersionRange(0, 1))
    [appended] = [effect for effect in effects if isinstance(effect, AppendBatches)]
    [record] = appended.batches[0].control
    assert isinstance(record, Voters)
    assert record.voters.has(asked.voter)
    assert _commit(done.raft) == VoterChangeResponse(error=Error.NONE)


@pytest.mark.parametrize("pair", _changes("AddRaftVoter", 7), ids=str)
def test_who_is_not_caught_up_is_not_added(pair: Pair) -> None:
    done = replay(pair)
    asked = requests.from_kafka(pair.api, pair.asked.body)
    assert isinstance(asked, AddVoterRequest)

    assert done.response is None
    [reply] = [e for e in _versions_told(done, asked, VersionRange(0, 1)) if isinstance(e, Reply)]
    assert reply.response.error is Error.REQUEST_TIMED_OUT


@pytest.mark.parametrize("pair", _changes("RemoveRaftVoter", 0), ids=str)
def test_a_voter_is_removed_as_kafka_removes_it(pair: Pair) -> None:
    done = replay(pair)
    asked = requests.from_kafka(pair.api, pair.asked.body)
    assert isinstance(asked, RemoveVoterRequest)
    assert asked.voter is not None

    assert done.response is None
    [appended] = [effect for effect in done.effects if isinstance(effect, AppendBatches)]
    [record] = appended.batches[0].control
    assert isinstance(record, Voters)
    assert not record.voters.has(asked.voter)
    assert _commit(done.raft) == VoterChangeResponse(error=Error.NONE)


def _versions_told(done: Replayed, asked: AddVoterRequest, known: VersionRange) -> list[Effect]:
    """The newcomer answers the question that its adding begins with."""
    [sent] = [
        effect
        for effect in done.effects
        if isinstance(effect, Send) and isinstance(effect.request, ApiVersionsRequest)
    ]
    assert sent.endpoint == asked.listeners[LISTENER]
    return core.step(
        done.raft,
        NOW_MS + 1,
        ResponseReceived(
            source_id=sent.destination_id,
            correlation_id=sent.correlation_id,
            response=ApiVersionsResponse(kraft_version=known),
        ),
    )


def _commit(raft: Raft) -> object:
    """Everyone has everything; the answer to the first request."""
    effects = core.step(raft, NOW_MS + 2, LogFlushed(end_offset=raft.log.end_offset))
    for number, voter in enumerate(raft.control.voters, start=2):
        if voter.key != raft.key:
            effects += core.step(raft, NOW_MS + number, _fetch_at_end(raft, number, voter.key))
    [reply] = [effect for effect in effects if isinstance(effect, Reply) and effect.request_id == 1]
    return reply.response


def _fetch_at_end(raft: Raft, number: int, key: ReplicaKey) -> RequestReceived:
    fetch = FetchRequest(
        cluster_id=raft.settings.cluster_id,
        replica=key,
        current_leader_epoch=raft.epoch,
        fetch_offset=raft.log.end_offset,
        last_fetched_epoch=raft.log.last_epoch,
        high_watermark=-1,
    )
    return RequestReceived(request_id=number, request=fetch, listener=LISTENER)


def test_the_recording_has_every_kind_of_request_and_role() -> None:
    from_nodes = {pair.api for pair in OF_THE_PROTOCOL if pair.asker != "probe"}
    roles = Counter(pair.state["role"] for pair in OF_THE_PROTOCOL if pair.state)

    assert from_nodes == set(requests.NAMES.values())
    assert set(roles) >= {"Unattached", "Prospective", "Follower", "Leader", "Resigned"}
    assert all(pair.state for pair in OF_THE_PROTOCOL)


def test_the_recording_has_what_is_seldom_seen() -> None:
    fetches = [
        part
        for pair in OF_THE_PROTOCOL
        if pair.api == "Fetch" and pair.asker != "probe"
        for topic in pair.answer.body["responses"]
        for part in topic["partitions"]
    ]
    votes = [
        (asked["preVote"], answer["voteGranted"])
        for pair in OF_THE_PROTOCOL
        if pair.api == "Vote" and pair.asker != "probe" and pair.answer.body["topics"]
        for asked, answer in [
            (
                pair.asked.body["topics"][0]["partitions"][0],
                pair.answer.body["topics"][0]["partitions"][0],
            )
        ]
    ]

    assert any(fetch["divergingEpoch"]["epoch"] >= 0 for fetch in fetches)
    assert any(fetch["snapshotId"]["epoch"] >= 0 for fetch in fetches)
    assert {(True, True), (True, False), (False, True)} <= set(votes)
    assert any(pair.waited for pair in OF_THE_PROTOCOL)
