"""A change whose leader is lost before the request is sent: another one is waited for."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kraftool.client import asking_changes
from kraftool.client.asking import Access
from kraftool.client.asking_changes import (
    LeaderLostError,
    at_leader,
    once_committed,
    with_leader,
)
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


def _accepted(quorum: Quorum, *, epoch: int = 5) -> LeaderAnswer | None:
    """What is said of a change that the leader of epoch 5 accepted, where `epoch` is led by now."""

    async def run() -> LeaderAnswer | None:
        async with quorum.running():
            target = Target(bootstrap=(quorum.bound[1],), access=ACCESS)
            view = await target.survey()
            quorum.epoch = epoch
            return await once_committed(target, view, LeaderAnswer())

    return asyncio.run(run())


def test_what_is_accepted_is_done_once_it_is_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader answers UpdateRaftVoter when the record is appended. Before it is committed, the
    next change is refused: "waiting for voters to commit the latest voter change"."""
    monkeypatch.setattr(asking_changes, "_BETWEEN_LOOKS_S", 0.0)
    quorum = Quorum(leader=1)
    quorum.high_watermarks = [99, 99, 99, 100]
    assert _accepted(quorum) == LeaderAnswer()
    assert quorum.high_watermarks == [100], "it looked until then"


def test_what_nobody_sees_committed_is_not_called_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking_changes, "_BETWEEN_LOOKS_S", 0.0)
    assert _accepted(Quorum(leader=1), epoch=6) is None, "another leader may have discarded it"
    monkeypatch.setattr(asking_changes, "CHANGE_S", 0.1)
    never = Quorum(leader=1)
    never.high_watermarks = [99]
    assert _accepted(never) is None
    refused = LeaderAnswer(error="INVALID_REQUEST")
    view = QuorumView(nodes=())
    target = Target(bootstrap=(), access=ACCESS)
    assert asyncio.run(once_committed(target, view, refused)) is refused
