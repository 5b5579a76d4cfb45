"""A change whose leader is lost before the request is sent: another one is waited for."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kraftool.client import asking_changes
from kraftool.client.asking import Access
from kraftool.client.asking_changes import LeaderLostError, at_leader, with_leader
from kraftool.client.change import LeaderAnswer, QuorumChange, finished
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.net.connection import Connection
from tests.client.scripted_quorum import Quorum

ACCESS = Access(timeout_s=10)


async def _change(quorum: Quorum, target: Target, sent: list[int | None]) -> QuorumChange:
    """A change that is prepared while the leader goes."""

    async def send(connection: Connection) -> LeaderAnswer:
        sent.append(next(id_ for id_, at in quorum.bound.items() if at == connection.endpoint))
        return LeaderAnswer()

    async def change(view: QuorumView) -> QuorumChange:
        if quorum.leader == 1:
            await quorum.servers[1].close()
            quorum.leader, quorum.epoch = 2, 6
        planned = QuorumChange(kind="add-controller", subject="controller 4", checks=())
        return finished(planned, await at_leader(view, ACCESS, send))

    return await with_leader(target, change)


def test_the_next_leader_is_asked_once() -> None:
    """Only the lost leader's address was given."""
    sent: list[int | None] = []

    async def run() -> QuorumChange:
        quorum = Quorum(leader=1)
        async with quorum.running():
            target = Target(bootstrap=(quorum.bound[1],), access=ACCESS)
            return await _change(quorum, target, sent)

    assert asyncio.run(run()).outcome.value == "done"
    assert sent == [2]


def test_without_another_leader_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking_changes, "_ELECTION_S", 0.0)
    sent: list[int | None] = []

    async def run() -> None:
        quorum = Quorum(leader=1)
        async with quorum.running():
            target = Target(bootstrap=(quorum.bound[1],), access=ACCESS)
            await _change(quorum, target, sent)

    with pytest.raises(LeaderLostError, match="refused"):
        asyncio.run(run())
    assert sent == []


def test_nothing_is_sent_to_a_broker_in_the_leaders_place() -> None:
    """As a port-forward that leads elsewhere by now."""

    async def never(connection: Connection) -> LeaderAnswer:
        raise AssertionError("a broker was asked to change the quorum")

    async def run() -> None:
        quorum = Quorum(leader=1)
        async with quorum.with_broker() as broker:
            target = Target(bootstrap=(quorum.bound[1],), access=ACCESS)
            view = await target.survey()
            leader = view.leader
            assert leader is not None
            moved = QuorumView(nodes=(replace(leader, endpoint=broker),))
            await at_leader(moved, ACCESS, never)

    with pytest.raises(LeaderLostError, match="is a broker"):
        asyncio.run(run())
