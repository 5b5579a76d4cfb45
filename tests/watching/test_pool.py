"""Nodes asked again and again: one connection each, patience, and quiet tries."""

from __future__ import annotations

import asyncio
import socket
from typing import NoReturn

import pytest

from kraftool.client.asking import Access
from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net.errors import ConnectError
from kraftool.net.guests import Listener
from kraftool.net.security import ServerSecurity
from kraftool.net.server import Peer, Server
from kraftool.raft.names import Endpoint
from kraftool.watching import pool as pool_module
from kraftool.watching.pool import Pool
from tests.net.serving import KNOWN, plain, serving
from tests.support.ports import free_ports

ACCESS = Access(timeout_s=30)
PATIENT = 30.0
"""A busy machine is not what is tried."""
NOWHERE = Endpoint("127.0.0.1", 1)


async def _told(peer: Peer, request: RequestFrame) -> Value | None:
    if request.name == "DescribeCluster":
        return {"errorCode": 0, "clusterId": "cluster", "brokers": []}
    return await plain(peer, request)


def test_a_connection_is_kept_between_looks() -> None:
    peers: list[Peer] = []
    agreed = 0

    async def handler(peer: Peer, request: RequestFrame) -> Value | None:
        nonlocal agreed
        agreed += request.name == "ApiVersions"
        if peer not in peers:
            peers.append(peer)
        return await _told(peer, request)

    async def run() -> None:
        async with serving(handler) as (_, where):
            pool = Pool(patience_s=PATIENT)
            for _ in range(pool_module.AGREE_EVERY + 1):
                assert (await pool.ask(where, ACCESS)).is_reached
            await pool.close()

    asyncio.run(run())
    assert len(peers) == 1
    assert agreed == 2, "at the beginning, and once more for the features"


def test_a_node_that_started_again_is_reached_at_once() -> None:
    async def start(port: int) -> Server:
        listener = Listener(
            name="CONTROLLER", host="127.0.0.1", port=port, security=ServerSecurity()
        )
        server = Server([listener], _told, KNOWN, None)
        await server.start()
        return server

    async def run() -> None:
        server = await start(*free_ports(1))
        where = server.bound["CONTROLLER"]
        pool = Pool(patience_s=PATIENT)
        assert (await pool.ask(where, ACCESS)).is_reached
        await server.close()
        server = await start(where.port)
        assert (await pool.ask(where, ACCESS)).is_reached
        await pool.close()
        await server.close()

    asyncio.run(run())


def test_a_name_that_moved_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is looked up for every new connection, as a pod that moved has a new address."""
    there = NOWHERE
    system = socket.getaddrinfo

    def resolve(host: str, port: int, *more: int, **options: int) -> object:
        where = there if host == "ctl-1.example" else Endpoint(host, port)
        return system(where.host, where.port, *more, **options)

    async def run() -> None:
        nonlocal there
        named = Endpoint("ctl-1.example", 9093)
        pool = Pool(patience_s=PATIENT)
        async with serving(_told) as (_, there):
            assert (await pool.ask(named, ACCESS)).is_reached
        assert not (await pool.ask(named, ACCESS)).is_reached
        async with serving(_told) as (_, there):
            assert (await pool.ask(named, ACCESS)).is_reached
        await pool.close()

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    asyncio.run(run())


def test_a_slow_node_holds_nobody_up_and_counts_later() -> None:
    async def run() -> None:
        may_answer = asyncio.Event()

        async def handler(peer: Peer, request: RequestFrame) -> Value | None:
            if request.name == "DescribeCluster":
                await may_answer.wait()
            return await _told(peer, request)

        async with serving(handler) as (_, where):
            pool = Pool(patience_s=0.01)
            first = await pool.ask(where, ACCESS, node_id=3)
            assert not first.is_reached
            assert first.problem.endswith("has not answered yet")
            assert first.node_id == 3
            may_answer.set()
            pool.patience_s = PATIENT
            answer = await pool.ask(where, ACCESS, node_id=3)
            assert answer.is_reached
            assert answer.cluster_id == "cluster"
            await pool.close()

    asyncio.run(run())


def test_a_node_that_is_down_is_tried_less_and_less(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = 0
    now = 0.0

    async def connect(*_: object, **__: object) -> NoReturn:
        nonlocal tries
        tries += 1
        raise ConnectError("127.0.0.1:1: connection refused")

    async def run() -> list[int]:
        nonlocal now
        pool = Pool(patience_s=PATIENT)
        seen = []
        for second in range(60):
            now = float(second)
            answer = await pool.ask(NOWHERE, ACCESS, node_id=7)
            assert answer.problem == "127.0.0.1:1: connection refused", "told all the time"
            assert answer.node_id == 7
            seen.append(tries)
        await pool.close()
        return seen

    monkeypatch.setattr(pool_module, "connect", connect)
    monkeypatch.setattr(pool_module, "_now", lambda: now)
    seen = asyncio.run(run())
    assert seen[:4] == [1, 2, 3, 4], "at first every second, as a restart is soon over"
    assert seen[-1] - seen[29] == 3, "then every 10 s"


def test_closing_ends_a_question_that_is_under_way() -> None:
    async def run() -> None:
        async def handler(peer: Peer, request: RequestFrame) -> Value | None:
            if request.name == "DescribeCluster":
                await asyncio.Event().wait()
            return await plain(peer, request)

        async with serving(handler) as (_, where):
            pool = Pool(patience_s=0.01)
            await pool.ask(where, ACCESS)
            await pool.close()
            assert [task for task in asyncio.all_tasks() if "Pool" in repr(task)] == []

    asyncio.run(run())
