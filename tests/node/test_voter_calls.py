"""A voter calls the other voters, and its metrics report which of them answered."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kraftool.net.connection import connect
from kraftool.node import voter_calls
from kraftool.node.metrics_page import exposition
from kraftool.node.voter_calls import VoterCalls
from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.raft import Raft
from tests.net.serving import serving, until
from tests.support.ports import HOST, free_ports

_VOTER = re.compile(r'^kraftool_node_(voter_\w+)\{voter="(\d)"\} (\S+)$', re.MULTILINE)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voter_calls, "EVERY_S", 0.01)


def _raft(endpoints: dict[int, Endpoint], *, is_voter: bool = True) -> Raft:
    """What of a node 1 is asked for: its voters and where they listen."""
    voters = [
        Voter(key=ReplicaKey(voter_id), endpoints={"CONTROLLER": where})
        for voter_id, where in endpoints.items()
    ]
    settings = SimpleNamespace(node_id=1, default_listener="CONTROLLER")
    control = SimpleNamespace(voters=VoterSet.of(*voters))
    return cast(Raft, SimpleNamespace(is_voter=is_voter, settings=settings, control=control))


def _shown(calls: VoterCalls) -> dict[tuple[str, int], float]:
    page = exposition(calls.samples()).decode()
    found: Iterator[Any] = _VOTER.finditer(page)
    return {(match[1], int(match[2])): float(match[3]) for match in found}


def test_each_other_voter_is_called_and_the_last_answer_is_remembered() -> None:
    async def run() -> None:
        here, nobody = (Endpoint(HOST, port) for port in free_ports(2))
        async with serving() as (server, where):
            calls = VoterCalls(lambda: _raft({1: here, 2: where, 3: nobody}), connect)
            calls.start()
            await until(lambda: len(_shown(calls)) == 4)
            shown = _shown(calls)
            assert shown["voter_connected", 2] == 1
            assert shown["voter_connected", 3] == 0
            assert shown["voter_last_answer_age_ms", 2] >= 0
            assert shown["voter_last_answer_age_ms", 3] == -1, "it never answered"

            await server.close()
            await until(lambda: _shown(calls)["voter_connected", 2] == 0)
            assert _shown(calls)["voter_last_answer_age_ms", 2] >= 0, "it answered once"
            await calls.close()

    asyncio.run(run())


def test_a_voter_that_was_removed_is_no_longer_reported() -> None:
    async def run() -> None:
        async with serving() as (server, where):
            endpoints = {1: where, 2: where, 3: where}
            calls = VoterCalls(lambda: _raft(endpoints), connect)
            calls.start()
            await until(lambda: {voter for _, voter in _shown(calls)} == {2, 3})
            del endpoints[3]
            await until(lambda: {voter for _, voter in _shown(calls)} == {2})
            await calls.close()
            await until(lambda: server.connections == 0)

    asyncio.run(run())


def test_a_node_that_does_not_vote_calls_nobody() -> None:
    async def run() -> None:
        rounds: list[Raft] = []

        def raft() -> Raft:
            rounds.append(_raft({2: Endpoint(HOST, 1)}, is_voter=False))
            return rounds[-1]

        calls = VoterCalls(raft, connect)
        calls.start()
        await until(lambda: len(rounds) > 3)
        assert _shown(calls) == {}
        await calls.close()

    asyncio.run(run())
