"""A quorum of real Kafka, recorded now: frames, core messages and answers as in the golden files.

The recording that tests/raft/test_golden.py reads was made once; this one, in the soak, shows that
today's run says the same kinds of things, and that our core answers them as Kafka did in it.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders import rpc_frames
from kraftool.raft.wire import requests, responses
from tests.interop import kafka, wirerecord
from tests.raft import golden_replay

pytestmark = [pytest.mark.interop, pytest.mark.soak]

SCENARIO = "dynamic"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> wirerecord.Recording:
    if problem := kafka.available(wirerecord.VERSION):
        pytest.skip(problem)
    return wirerecord.record(SCENARIO, tmp_path_factory.mktemp("recorded") / "nodes")


def test_each_frame_and_message_is_read_and_written_the_same(
    recording: wirerecord.Recording,
) -> None:
    answered = [exchange for exchange in recording.exchanges if exchange.response is not None]
    assert len(answered) > 500
    for exchange in answered:
        asked = rpc_frames.decode_request(exchange.request)
        answer = rpc_frames.decode_response(exchange.response or b"", asked.name, asked.version)
        if asked.name in requests.NAMES.values():
            request = requests.from_kafka(asked.name, asked.body)
            asked = replace(asked, body=requests.to_kafka(request, asked.version))
            response = responses.from_kafka(asked.name, answer.body, golden_replay.LISTENER)
            body = responses.to_kafka(asked.name, response, asked.version)
            theirs = answer.body
            if asked.name == "Fetch":
                theirs = golden_replay.with_whole_batches(theirs)
            ours = rpc_frames.encode_response(replace(answer, body=body))
            assert rpc_frames.encode_response(replace(answer, body=theirs)) == ours

        assert rpc_frames.encode_request(asked) == exchange.request
        assert rpc_frames.encode_response(answer) == exchange.response


def test_the_same_kinds_of_requests_are_seen_as_in_the_golden_file(
    recording: wirerecord.Recording,
) -> None:
    golden = {(pair.api, pair.version) for pair in golden_replay.pairs(SCENARIO)}
    seen = {
        (rpc_frames.apis()[exchange.api_key], exchange.version) for exchange in recording.exchanges
    }

    assert seen == golden


def test_the_core_answers_as_kafka_did(recording: wirerecord.Recording, tmp_path: Path) -> None:
    (tmp_path / "recording.json").write_text(wirerecord.written(recording))
    pairs = golden_replay.of_recording(json.loads((tmp_path / "recording.json").read_text()))
    compared = 0
    for pair in pairs:
        if pair.api not in requests.NAMES.values() or not golden_replay.answered_at_once(pair):
            continue
        assert pair.state is not None, f"{pair} is not in the node's log"
        ours, theirs = golden_replay.comparable(pair, golden_replay.replay(pair))
        assert ours == theirs, str(pair)
        compared += 1

    assert compared > 200
