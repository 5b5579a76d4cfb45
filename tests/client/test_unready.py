"""A controller that would log an error at a question is not asked it."""

from __future__ import annotations

import asyncio

import pytest

from kraftool.client.asking import Access, answered, question
from kraftool.client.failures import NO_METADATA_YET, OLD_METADATA_VERSION
from kraftool.client.model import NodeAnswer
from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.image.metadata_version import CONTROLLER_REGISTRATION_LEVEL, METADATA_VERSION
from kraftool.net.connection import connect
from kraftool.net.server import Peer
from tests.net.serving import plain, serving

ACCESS = Access(timeout_s=10)
NAMED = {"brokerId": 7, "host": "named", "port": 1, "rack": None}


class Controller:
    """Answers as Kafka's, at a level that the test sets; notes what it was asked."""

    def __init__(self, level: int | None, epoch: int) -> None:
        self.level, self.epoch = level, epoch
        self.asked: list[str] = []

    async def handle(self, peer: Peer, request: RequestFrame) -> Value | None:
        self.asked.append(request.name)
        if request.name == "DescribeCluster":
            return {"errorCode": 0, "clusterId": "cluster", "brokers": [NAMED]}
        body = await plain(peer, request)
        if request.name == "ApiVersions" and body is not None:
            feature: Value = {"name": METADATA_VERSION}
            feature |= {"maxVersionLevel": self.level, "minVersionLevel": self.level}
            features = [] if self.level is None else [feature]
            body |= {"finalizedFeatures": features, "finalizedFeaturesEpoch": self.epoch}
        return body


def _asked(controller: Controller) -> NodeAnswer:
    async def run() -> NodeAnswer:
        async with serving(controller.handle) as (_, where):
            return await question(where, ACCESS)

    return asyncio.run(run())


@pytest.mark.parametrize("level", [1, 7, None], ids=["3.9.1", "4.3.1", "4.4.0"])
def test_a_controller_without_metadata_is_not_asked_for_the_others(level: int | None) -> None:
    """Each release reports another level then."""
    controller = Controller(level=level, epoch=-1)
    answer = _asked(controller)
    assert answer.is_reached
    assert "DescribeCluster" not in controller.asked
    assert "has not read any metadata yet" in answer.problem
    assert NO_METADATA_YET in answer.advice


def test_nor_is_one_of_a_metadata_version_at_which_it_cannot_know_them() -> None:
    controller = Controller(level=CONTROLLER_REGISTRATION_LEVEL - 1, epoch=12)
    answer = _asked(controller)
    assert "DescribeCluster" not in controller.asked
    assert OLD_METADATA_VERSION in answer.advice


def test_it_is_asked_over_the_same_connection_once_it_has_read_metadata() -> None:
    controller = Controller(level=7, epoch=-1)

    async def run() -> tuple[NodeAnswer, NodeAnswer]:
        async with serving(controller.handle) as (_, where):
            connection = await connect(where)
            blank = NodeAnswer(endpoint=where, asked_ms=0, offered=connection.offered)
            before = await answered(connection, blank, ACCESS.timeout_s)
            controller.level, controller.epoch = CONTROLLER_REGISTRATION_LEVEL, 3
            after = await answered(connection, blank, ACCESS.timeout_s)
            await connection.close()
            return before, after

    before, after = asyncio.run(run())
    assert (before.cluster_id, before.controllers) == (None, {})
    assert after.cluster_id == "cluster"
    assert [*after.controllers] == [7]
    assert after.offered.finalized[METADATA_VERSION] == CONTROLLER_REGISTRATION_LEVEL
