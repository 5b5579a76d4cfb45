"""When a node registers with the active controller, with what, and what becomes of failures.

Its quorum is real. The leader's address leads to a server that answers registrations by a script,
and the metadata is the test's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.image.cluster import ClusterImage, ControllerRegistration
from kraftool.image.features import FeaturesImage
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.net.connection import Connection, connect
from kraftool.net.guests import Listener
from kraftool.net.security import SecurityProtocol
from kraftool.net.server import Peer, Server
from kraftool.node import registration
from kraftool.node.identity import QuorumRole
from kraftool.node.machine import BlindMachine
from kraftool.node.options import NodeOptions
from kraftool.node.registration import Registrar, backoff_s
from kraftool.node.runner import Runner
from kraftool.raft.events import Resign, TimePassed
from kraftool.raft.names import Endpoint, VersionRange
from tests.node.quorum import Quorum, quorum_of

pytestmark = pytest.mark.slow

NAME, SUPPORTED = "ControllerRegistration", 15
_KEYS = {"ApiVersions": 18, NAME: 70}
_SERVED = {"ApiVersions": (0, 4), NAME: (0, 0)}
SILENT = -2
"""A scripted answer that does not come."""


@dataclass
class Controllers:
    """The active controllers, all of them behind one server."""

    has_api: bool = True
    script: list[int] = field(default_factory=list)
    """Error codes of the first answers; the others are acknowledgements."""
    message: str | None = None
    asked: list[Value] = field(default_factory=list)
    reached: list[int] = field(default_factory=list)
    """The leaders whose addresses were taken, in order."""
    bound: Endpoint = field(default_factory=lambda: Endpoint("", 0))
    image: MetadataImage = EMPTY

    async def answer(self, peer: Peer, request: RequestFrame) -> Value | None:
        if request.name == "ApiVersions":
            served = [
                {"apiKey": _KEYS[name], "minVersion": low, "maxVersion": high}
                for name, (low, high) in _SERVED.items()
                if name != NAME or self.has_api
            ]
            return {"errorCode": 0, "apiKeys": served}
        self.asked.append(request.body)
        code = self.script.pop(0) if self.script else int(Error.NONE)
        if code == SILENT:
            await asyncio.Event().wait()
        return {"errorCode": code, "errorMessage": self.message if code else None}

    async def reach(self, endpoint: Endpoint) -> Connection:
        self.reached.append(endpoint.port)
        return await connect(self.bound)

    def finalize(self, level: int) -> None:
        self.image = replace(self.image, features=FeaturesImage(metadata_version=level))

    def record(self, node_id: int, incarnation_id: str) -> None:
        known = ControllerRegistration(id=node_id, incarnation_id=incarnation_id)
        self.image = replace(self.image, cluster=ClusterImage(controllers={node_id: known}))


@dataclass
class Case:
    """A follower's registration, not yet started."""

    controllers: Controllers
    quorum: Quorum
    leader: Runner
    follower: Runner
    registration: Registrar

    async def until_asked(self, count: int) -> None:
        await self.quorum.until(f"{count} requests", lambda: len(self.controllers.asked) >= count)

    async def steps(self, runner: Runner) -> None:
        """Let everything that is due be done: a few steps of the core."""
        for _ in range(3):
            began = runner.raft.now_ms
            await self.quorum.until("a step", partial(_has_stepped, runner, began))


def _has_stepped(runner: Runner, began_ms: int) -> bool:
    runner.post(TimePassed())
    return runner.raft.now_ms > began_ms


def registered_by(runner: Runner, controllers: Controllers) -> Registrar:
    return Registrar(
        runner,
        lambda: controllers.image,
        controllers.reach,
        protocols={"CONTROLLER": SecurityProtocol.SASL_SSL},
        features={"metadata.version": VersionRange(7, 30), "kraft.version": VersionRange(0, 1)},
    )


@asynccontextmanager
async def case(root: Path, controllers: Controllers | None = None) -> AsyncIterator[Case]:
    """Three nodes, of which 3 never leads and is the one that registers."""
    made = controllers or Controllers()
    made.finalize(SUPPORTED)
    listener = Listener(name="CONTROLLER", host="127.0.0.1", port=0)
    server = Server([listener], made.answer, _SERVED)
    await server.start()
    made.bound = server.bound["CONTROLLER"]
    async with quorum_of(root, 1, 2, 3, witnesses=(3,)) as quorum:
        leader = await quorum.leader()
        follower = quorum.running[3]
        await quorum.caught_up(leader, 3)
        prepared = Case(made, quorum, leader, follower, registered_by(follower, made))
        try:
            yield prepared
        finally:
            await prepared.registration.close()
            await server.close()


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[tuple[str, str, Any]]]:
    """Level, text and reason of every line about registrations."""
    caplog.set_level(logging.INFO, "kraftool.node")

    def lines() -> list[tuple[str, str, Any]]:
        return [
            (record.levelname, record.getMessage(), record.__dict__["fields"].get("reason"))
            for record in caplog.records
            if "regist" in record.getMessage()
        ]

    return lines


def test_it_sends_what_kafkas_controllers_do_and_once(tmp_path: Path) -> None:
    async def run() -> tuple[Case, list[Value]]:
        async with case(tmp_path) as node:
            node.registration.start()
            await node.until_asked(1)
            node.controllers.record(3, node.registration.incarnation_id)
            await node.steps(node.follower)
            return node, node.controllers.asked

    node, asked = asyncio.run(run())
    [body] = asked
    assert node.controllers.reached == [node.leader.settings.node_id]
    assert body == {
        "controllerId": 3,
        "incarnationId": node.registration.incarnation_id,
        "zkMigrationReady": False,
        "listeners": [{"name": "CONTROLLER", "host": "node", "port": 3, "securityProtocol": 3}],
        "features": [
            {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30},
            {"name": "kraft.version", "minSupportedVersion": 0, "maxSupportedVersion": 1},
        ],
    }


def test_protocols_have_kafkas_numbers() -> None:
    numbers = {
        security_protocol.name: security_protocol.id for security_protocol in SecurityProtocol
    }
    assert numbers == {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


def test_another_run_in_its_place_has_it_register_again(tmp_path: Path) -> None:
    async def run() -> int:
        async with case(tmp_path) as node:
            own = node.registration.incarnation_id
            node.controllers.record(3, own)
            node.registration.start()
            await node.steps(node.follower)
            before = len(node.controllers.asked)
            node.controllers.record(3, "AAAAAAAAAAAAAAAAAAAAAQ")
            await node.until_asked(1)
            return before

    assert asyncio.run(run()) == 0


@pytest.mark.parametrize("level", [None, SUPPORTED - 1])
def test_nothing_is_sent_below_the_metadata_version_that_has_it(
    tmp_path: Path, level: int | None
) -> None:
    async def run() -> int:
        async with case(tmp_path) as node:
            node.controllers.image = EMPTY
            if level is not None:
                node.controllers.finalize(level)
            node.registration.start()
            await node.steps(node.follower)
            before = len(node.controllers.reached)
            node.controllers.finalize(SUPPORTED)
            await node.until_asked(1)
            return before

    assert asyncio.run(run()) == 0


def test_a_refusal_is_told_once_and_it_is_sent_until_it_is_taken(
    tmp_path: Path, said: Callable[[], list[tuple[str, str, Any]]]
) -> None:
    script = [Error.NOT_CONTROLLER, Error.NOT_CONTROLLER, 31, 20_000]

    async def run() -> None:
        controllers = Controllers(script=[int(code) for code in script], message="not now")
        async with case(tmp_path, controllers) as node:
            node.registration.start()
            await node.until_asked(5)
            await node.quorum.until("it to be registered", lambda: said()[-1][1] == "registered")

    asyncio.run(run())
    assert said() == [
        ("INFO", "registration refused", "NOT_CONTROLLER: not now"),
        ("WARNING", "registration refused", "CLUSTER_AUTHORIZATION_FAILED: not now"),
        ("WARNING", "registration refused", "error 20000: not now"),
        ("INFO", "registered", None),
    ]


def test_a_leader_without_the_api_is_told_of_and_the_next_one_is_asked(
    tmp_path: Path,
    said: Callable[[], list[tuple[str, str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At once: however long it would have waited for the old one."""
    monkeypatch.setattr(registration, "backoff_s", lambda failures: 1_000.0)

    async def run() -> tuple[int, int, list[int]]:
        controllers = Controllers(has_api=False)
        async with case(tmp_path, controllers) as node:
            old = node.leader.settings.node_id or 0
            node.registration.start()
            await node.quorum.until("a failure", said)
            controllers.has_api = True
            await node.quorum.stop(old)
            await node.quorum.until("another leader", lambda: any(node.quorum.leaders()))
            new = next(node.quorum.leaders()).settings.node_id or 0
            await node.until_asked(1)
            await node.quorum.until("it to be registered", lambda: said()[-1][1] == "registered")
            return old, new, controllers.reached

    old, new, reached = asyncio.run(run())
    assert reached == [old, new]
    assert old != new
    [failure, success] = said()
    assert failure[:2] == ("WARNING", "not registered")
    assert NAME in failure[2]
    assert success[:2] == ("INFO", "registered")


def test_a_leader_that_is_out_of_reach_is_tried_again(
    tmp_path: Path, said: Callable[[], list[tuple[str, str, Any]]]
) -> None:
    async def run() -> None:
        async with case(tmp_path) as node:
            there = node.controllers.bound
            node.controllers.bound = Endpoint("127.0.0.1", 1)
            node.registration.start()
            await node.quorum.until("failures", lambda: len(node.controllers.reached) >= 2)
            node.controllers.bound = there
            await node.until_asked(1)
            await node.quorum.until("it to be registered", lambda: said()[-1][1] == "registered")

    asyncio.run(run())
    assert [entry[:2] for entry in said()] == [
        ("WARNING", "not registered"),
        ("INFO", "registered"),
    ]


def test_a_leader_registers_with_nobody_until_another_leads(tmp_path: Path) -> None:
    async def run() -> tuple[int, list[int], list[int]]:
        async with case(tmp_path) as node:
            node.registration = registered_by(node.leader, node.controllers)
            node.registration.start()
            await node.steps(node.leader)
            before = list(node.controllers.reached)
            own = node.leader.settings.node_id or 0
            while not node.controllers.asked:  # it may be elected again
                if node.leader.leads:
                    await node.leader.order(Resign(epoch=node.leader.raft.epoch))
                await asyncio.sleep(0.01)
            return own, before, node.controllers.reached

    own, before, reached = asyncio.run(run())
    assert before == []
    assert own not in reached


def test_it_ends_while_an_answer_is_awaited(tmp_path: Path) -> None:
    async def run() -> bool:
        async with case(tmp_path, Controllers(script=[SILENT])) as node:
            node.registration.start()
            await node.until_asked(1)
            async with asyncio.timeout(5):
                await node.registration.close()
            return await node.follower.until(lambda raft: raft.has_remote_leader, 5)

    assert asyncio.run(run()), "the node goes on"


def test_a_node_that_ends_registers_no_more(tmp_path: Path) -> None:
    """Its leader is still known then."""

    async def run() -> tuple[bool, list[int]]:
        async with case(tmp_path) as node:
            node.follower.shut_down()
            await node.quorum.until("its end", lambda: node.follower.raft.is_stopped)
            node.registration.start()
            async with asyncio.timeout(5):
                await asyncio.sleep(0)
                await node.registration.close()
            return node.follower.raft.has_remote_leader, node.controllers.reached

    assert asyncio.run(run()) == (True, [])


def test_the_wait_doubles_to_two_minutes_as_kafkas() -> None:
    for failures, expected in ((0, 0.1), (1, 0.2), (5, 3.2), (10, 102.4)):
        for _ in range(20):
            assert abs(backoff_s(failures) - expected) <= expected * 0.02 + 1e-9
    assert max(backoff_s(attempt) for attempt in range(11, 5_000, 7)) <= 120
    assert min(backoff_s(attempt) for attempt in range(11, 5_000, 7)) >= 117


def test_who_only_observes_or_has_no_image_does_not_register() -> None:
    assert NodeOptions().registers
    assert NodeOptions(part=QuorumRole.VOTER).registers
    assert not NodeOptions(part=QuorumRole.OBSERVER).registers
    assert not NodeOptions(replays=False).registers
    assert not NodeOptions(consumer=BlindMachine).registers
