"""Reassignments as clients of a node see them: who may ask, who answers, and what a list shows."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import (
    RequestFrame,
    ResponseFrame,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kraftool.node.machine import ImageMachine
from kraftool.node.serving import APIS, Serving
from tests.node.quorum import ANYBODY, authorization
from tests.node.test_controlling import Controllers, creation, heartbeat, registration, run

ALTER, LIST = "AlterPartitionReassignments", "ListPartitionReassignments"
EVERYTHING = {"timeoutMs": 1_000, "topics": None}


def serving(controllers: Controllers, node_id: int, *, is_allowed: bool = True) -> Serving:
    runner = controllers.quorum.running[node_id]
    machine = runner.consumer
    assert isinstance(machine, ImageMachine)
    return Serving(
        runner,
        lambda: machine.image,
        features={},
        authorization=authorization(is_open=is_allowed),
        controlling=controllers.of[node_id],
    )


async def asked(node: Serving, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request, both by way of Kafka's bytes."""
    version = APIS[name].high
    frame = RequestFrame(name=name, version=version, correlation_id=1, client_id="t", body=body)
    answer = await node.answer(ANYBODY, decode_request(encode_request(frame)))
    assert answer is not None
    back = ResponseFrame(name=name, version=version, correlation_id=1, body=answer)
    return dict(decode_response(encode_response(back), name, version).body)


def moved(replicas: list[int] | None) -> dict[str, Any]:
    partition = {"partitionIndex": 0, "replicas": replicas}
    return {"timeoutMs": 10_000, "topics": [{"name": "foo", "partitions": [partition]}]}


def moving(answer: dict[str, Any]) -> dict[str, list[int]]:
    """The brokers that each topic's partition 0 is getting."""
    assert answer["errorCode"] == Error.NONE
    return {topic["name"]: topic["partitions"][0]["addingReplicas"] for topic in answer["topics"]}


async def with_topic(controllers: Controllers) -> int:
    """Let two brokers register and one of them have a topic; the active controller."""
    node_id = await controllers.active()
    for broker_id in (1, 2):
        answer = await controllers.of[node_id].ask("BrokerRegistration", 4, registration(broker_id))
        await controllers.of[node_id].ask(
            "BrokerHeartbeat", 1, heartbeat(broker_id, answer["brokerEpoch"])
        )
    body = creation(partitions=-1, replicas=-1)
    body["topics"][0]["assignments"] = [{"partitionIndex": 0, "brokerIds": [1]}]
    made = await controllers.of[node_id].ask("CreateTopics", 7, body)
    assert made["topics"][0]["errorCode"] == Error.NONE
    return node_id


def test_a_reassignment_that_was_answered_is_listed_by_the_leader_at_once_and_by_others_soon(
    tmp_path: Path,
) -> None:
    async def lists(controllers: Controllers) -> None:
        node_id = await with_topic(controllers)
        leader = serving(controllers, node_id)
        for target, shown in ([2], {"foo": [2]}), (None, {}), ([1, 2], {"foo": [2]}):
            answer = await asked(leader, ALTER, moved(target))
            assert answer["responses"][0]["partitions"][0]["errorCode"] == Error.NONE
            assert moving(await asked(leader, LIST, EVERYTHING)) == shown
        standby = min({1, 2, 3} - {node_id})
        runner = controllers.quorum.running[node_id]
        await controllers.quorum.caught_up(runner, standby)
        async with asyncio.timeout(20):
            while moving(await asked(serving(controllers, standby), LIST, EVERYTHING)) != shown:
                await asyncio.sleep(0.01)

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=50), lists))


def test_a_standby_moves_nothing(tmp_path: Path) -> None:
    async def refuses(controllers: Controllers) -> None:
        standby = min({1, 2, 3} - {await controllers.active()})
        answer = await asked(serving(controllers, standby), ALTER, moved([1]))
        [partition] = answer["responses"][0]["partitions"]
        assert (answer["errorCode"], partition["errorCode"]) == (Error.NOT_CONTROLLER,) * 2

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=None), refuses))


@pytest.mark.parametrize(
    ("name", "body", "operation"),
    [(ALTER, moved([1]), "ALTER"), (LIST, EVERYTHING, "DESCRIBE")],
)
def test_a_client_may_need_the_right_to_alter_or_to_describe_the_cluster(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    name: str,
    body: dict[str, Any],
    operation: str,
) -> None:
    async def refuses(controllers: Controllers) -> None:
        node = serving(controllers, await controllers.active(), is_allowed=False)
        answer = await asked(node, name, body)
        assert answer["errorCode"] == Error.CLUSTER_AUTHORIZATION_FAILED

    with caplog.at_level(logging.WARNING):
        asyncio.run(run(Controllers(tmp_path, 1, max_idle_ms=None), refuses))
    refused = [vars(item)["fields"] for item in caplog.records if item.message == "not authorized"]
    assert [(item["request"], item["operation"]) for item in refused] == [(name, operation)]


@pytest.mark.parametrize("name", [ALTER, LIST])
def test_brokers_may_send_both_requests_on_for_clients(name: str) -> None:
    assert APIS[name].is_forwardable
