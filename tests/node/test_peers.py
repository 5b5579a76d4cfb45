"""The node's connections to others: one for each destination, and each is closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from kraftool.decoders.error_codes import Error
from kraftool.net.connection import Connection, connect
from kraftool.node.peers import Peers
from kraftool.node.runner import Runner
from kraftool.raft.events import ResponseReceived, Send
from kraftool.raft.messages import ApiVersionsRequest
from kraftool.raft.names import Endpoint
from kraftool.raft.settings import Timing
from tests.net.serving import serving, until

DESTINATION = 2


class _Runner:
    """Keeps what is posted to the core."""

    def __init__(self) -> None:
        self.settings = SimpleNamespace(timing=Timing(), default_listener="CONTROLLER")
        self.posted: list[ResponseReceived] = []

    def post(self, event: ResponseReceived) -> None:
        self.posted.append(event)


def _send(endpoint: Endpoint, number: int) -> Send:
    return Send(
        destination_id=DESTINATION,
        endpoint=endpoint,
        correlation_id=number,
        request=ApiVersionsRequest(),
    )


def _peers(runner: _Runner, connecting: Callable[[Endpoint], Any]) -> Peers:
    return Peers(cast(Runner, runner), connecting)


def _others() -> set[asyncio.Task[Any]]:
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}


def test_requests_that_are_sent_at_once_share_one_connection() -> None:
    """Each made one of its own, and all but the last were never closed."""
    made: list[Connection] = []

    async def connecting(endpoint: Endpoint) -> Connection:
        made.append(await connect(endpoint))
        return made[-1]

    async def run() -> None:
        runner = _Runner()
        async with serving() as (server, where):
            before = _others()
            peers = _peers(runner, connecting)
            for number in range(5):
                peers.send(_send(where, number))
            await until(lambda: len(runner.posted) == 5)
            assert len(made) == 1
            assert {answer.response.top_error for answer in runner.posted} == {Error.NONE}
            assert sorted(answer.correlation_id for answer in runner.posted) == list(range(5))
            await peers.close()
            assert not any(connection.is_open for connection in made)
            await until(lambda: server.connections == 0)
            await until(lambda: _others() <= before)  # a pending task would be destroyed

    asyncio.run(run())


def test_a_shutdown_ends_a_connect_that_is_in_progress() -> None:
    ended: list[str] = []
    began = asyncio.Event()

    async def connecting(endpoint: Endpoint) -> Connection:
        began.set()
        try:
            await asyncio.sleep(3600)
            raise AssertionError("nobody waits for it")
        finally:
            ended.append(endpoint.host)

    async def run() -> None:
        runner = _Runner()
        before = _others()
        peers = _peers(runner, connecting)
        peers.send(_send(Endpoint("host", 9093), 1))
        peers.send(_send(Endpoint("host", 9093), 2))
        await began.wait()
        await peers.close()
        assert ended == ["host"]
        peers.send(_send(Endpoint("host", 9093), 3))
        assert _others() == before, "nothing begins after the shutdown"
        assert not runner.posted

    asyncio.run(run())


def test_a_destination_that_moved_is_reached_at_its_new_endpoint_only() -> None:
    """The connect to the old endpoint is given up, with an answer for whoever waited for it."""

    async def connecting(endpoint: Endpoint) -> Connection:
        if endpoint.host == "old":
            await asyncio.sleep(3600)
        return await connect(endpoint)

    async def run() -> None:
        runner = _Runner()
        async with serving() as (server, where):
            peers = _peers(runner, connecting)
            peers.send(_send(Endpoint("old", 9093), 1))
            await asyncio.sleep(0)
            peers.send(_send(where, 2))
            await until(lambda: len(runner.posted) == 2)
            answers = {answer.correlation_id: answer.response.top_error for answer in runner.posted}
            assert answers == {1: Error.NETWORK_EXCEPTION, 2: Error.NONE}
            assert server.connections == 1
            await peers.close()

    asyncio.run(run())
