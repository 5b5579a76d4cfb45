"""What the node answers on its listeners beside the protocol of the quorum."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.controller.settings import ControllerSettings
from kraftool.decoders import codec, schema
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import (
    RequestFrame,
    ResponseFrame,
    decode_response,
    encode_request,
    encode_response,
)
from kraftool.decoders.wire import ZERO_UUID
from kraftool.node.controlling import Controlling
from kraftool.node.machine import ImageMachine
from kraftool.node.runner import Runner
from kraftool.node.serving import APIS, UPDATE_FEATURES, Family, Serving, served
from tests.node.quorum import ANYBODY, authorization, quorum_of

SERVED = served(with_controller=False)
OF_ACTIVE_CONTROLLER = tuple(
    name
    for name in SERVED
    if APIS[name].family in (Family.CONTROLLER, Family.FORWARDED)
    and name != UPDATE_FEATURES  # without a controller a leader still takes kraft.version up
)


def serving(runner: Runner, *, is_allowed: bool = True) -> Serving:
    return Serving(
        runner, lambda: None, features={}, authorization=authorization(is_open=is_allowed)
    )


async def told(node: Serving, name: str, version: int) -> dict[str, Any]:
    """The answer to a request, of which nobody looks at the body, by way of Kafka's bytes."""
    frame = RequestFrame(name=name, version=version, correlation_id=1, client_id="t", body={})
    body = await node.answer(ANYBODY, frame)
    assert body is not None
    back = ResponseFrame(name=name, version=version, correlation_id=1, body=body)
    return dict(decode_response(encode_response(back), name, version).body)


@pytest.mark.parametrize("name", OF_ACTIVE_CONTROLLER)
def test_who_looks_for_the_active_controller_is_sent_on(tmp_path: Path, name: str) -> None:
    """By a leader too, once it leads no more: Kafka's nodes never leave one that lacks the api."""

    async def run() -> list[dict[str, Any]]:
        async with quorum_of(tmp_path, 1, 2) as quorum:
            leader = await quorum.leader()
            other = next(runner for runner in quorum.running.values() if runner is not leader)
            low, high = SERVED[name]
            answers = [
                await told(serving(other), name, version) for version in range(low, high + 1)
            ]
            waiting = asyncio.create_task(told(serving(leader), name, high))
            await asyncio.sleep(0)
            leader.shut_down()
            answers.append(await waiting)
            assert leader.raft.is_stopped or not leader.leads
            answers.append(await told(serving(other, is_allowed=False), name, high))
            return answers

    *sent_on, stranger = asyncio.run(run())
    assert {answer["errorCode"] for answer in sent_on} == {Error.NOT_CONTROLLER}
    assert stranger["errorCode"] == Error.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("DescribeQuorum", "DESCRIBE"),
        ("DescribeCluster", "ALTER"),
        ("UpdateFeatures", "ALTER"),
        ("AddRaftVoter", "ALTER"),
        ("Vote", "CLUSTER_ACTION"),
        ("BrokerRegistration", "CLUSTER_ACTION"),
    ],
)
def test_a_refused_request_is_logged_with_who_asked_for_what(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, operation: str
) -> None:
    """The operations are those of Kafka 4.3's ControllerApis, on the cluster."""
    peer = replace(ANYBODY, principal="User:mallory", host="203.0.113.7")

    async def run(node: Serving) -> None:
        version = SERVED[name][1]
        body: dict[str, Any] = {field: [] for field in ("topics", "featureUpdates", "listeners")}
        body |= {"clusterId": None, "voterId": 2, "voterDirectoryId": ZERO_UUID, "timeoutMs": 1}
        frame = RequestFrame(name=name, version=version, correlation_id=1, client_id="t", body=body)
        await node.answer(peer, frame)

    async def both() -> None:
        async with quorum_of(tmp_path, 1) as quorum:
            leader = await quorum.leader()
            await run(serving(leader, is_allowed=False))

    asyncio.run(both())
    [refused] = [
        vars(record)["fields"] for record in caplog.records if record.message == "not authorized"
    ]
    assert refused == {
        "principal": "User:mallory",
        "operation": operation,
        "resource": "Cluster:kafka-cluster",
        "request": name,
        "listener": "CONTROLLER",
        "address": "203.0.113.7:50000",
    }


def test_api_versions_lists_what_is_served_in_the_order_of_the_keys(tmp_path: Path) -> None:
    async def run() -> dict[str, Any]:
        async with quorum_of(tmp_path, 1) as quorum:
            return await told(serving(await quorum.leader()), "ApiVersions", 4)

    listed = asyncio.run(run())["apiKeys"]
    keys = [api["apiKey"] for api in listed]
    assert keys == sorted(schema.message(f"{name}Request").api_key or 0 for name in SERVED)
    ranges = {api["apiKey"]: (api["minVersion"], api["maxVersion"]) for api in listed}
    assert ranges[1] == (4, 18)
    assert ranges[62] == (0, 4)


@pytest.mark.parametrize(
    ("name", "version", "body", "error"),
    [
        ("DescribeClientQuotas", 1, {"components": [], "strict": True}, Error.UNSUPPORTED_VERSION),
        ("Vote", 2, {"clusterId": None, "voterId": 1, "topics": []}, Error.INVALID_REQUEST),
    ],
)
def test_a_request_in_an_envelope_that_is_not_served_makes_the_client_ask_for_versions_again(
    tmp_path: Path, name: str, version: int, body: dict[str, Any], error: Error
) -> None:
    """A Kafka broker closes its client's connection at UNSUPPORTED_VERSION. At any other error the
    client hears of UNKNOWN_SERVER_ERROR for as long as it is connected."""

    async def run() -> Any:
        async with quorum_of(tmp_path, 1) as quorum:
            runner = await quorum.leader()
            machine = ImageMachine(runner)
            settings = ControllerSettings(node_id=1, cluster_id="c", bootstrap=())
            node = Serving(
                runner,
                lambda: None,
                features={},
                authorization=authorization(),
                controlling=Controlling(runner, machine, settings),
            )
            principal = {"type": "User", "name": "client", "tokenAuthenticated": False}
            inner = RequestFrame(
                name=name, version=version, correlation_id=7, client_id="c", body=body
            )
            envelope = {
                "requestData": encode_request(inner),
                "requestPrincipal": b"\0\0" + codec.encode("DefaultPrincipalData", 0, principal),
                "clientHostAddress": b"\x7f\0\0\1",
            }
            asked = RequestFrame(
                name="Envelope", version=0, correlation_id=1, client_id="b", body=envelope
            )
            return await node.answer(ANYBODY, asked)

    answer = asyncio.run(run())
    assert answer == {"errorCode": int(error), "responseData": None}
