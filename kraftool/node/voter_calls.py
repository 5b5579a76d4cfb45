"""Calls the other voters, also those that this voter need not call now, and reports the results.

A follower calls only the leader. That it cannot call the others shows in an election, which is too
late. Owns these calls, each over a connection of its own, and their samples.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kraftool.decoders.errors import DecodeError
from kraftool.net.connection import Connection
from kraftool.net.errors import NetError
from kraftool.node.metrics import OWN_PREFIX, MetricSample
from kraftool.raft.names import Endpoint
from kraftool.raft.raft import Raft

EVERY_S = 2.0
"""Seconds between calls. `may-stop` looks at the last ones, and should see a cut link soon."""
NEVER = -1

Connect = Callable[[Endpoint], Coroutine[Any, Any, Connection]]


@dataclass(slots=True)
class _Calls:
    """The results of the calls to a voter."""

    is_connected: bool = False
    answered: float | None = None
    """When it last answered, by the monotonic clock."""


class VoterCalls:
    """Calls the other voters until it is closed. A node that is no voter calls nobody."""

    def __init__(self, raft: Callable[[], Raft], connect: Connect) -> None:
        self._raft, self._connect = raft, connect
        self._calls: dict[int, _Calls] = {}
        self._calling: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._calling = asyncio.get_running_loop().create_task(self._call_for_ever())

    async def close(self) -> None:
        if self._calling is not None:
            self._calling.cancel()
            await asyncio.gather(self._calling, return_exceptions=True)

    def samples(self) -> Iterator[MetricSample]:
        """Yield what a scrape sees; nothing of a voter before the first call to it is over."""
        now = time.monotonic()
        others = [(voter, self._calls[voter]) for voter in sorted(self._calls)]
        for voter, calls in others:
            yield MetricSample(
                OWN_PREFIX + "voter_connected", "gauge",
                "1 if this voter reached the other voter at its last call",
                float(calls.is_connected), (("voter", str(voter)),),
            )  # fmt: skip
        for voter, calls in others:
            age_ms = NEVER if calls.answered is None else round((now - calls.answered) * 1000)
            yield MetricSample(
                OWN_PREFIX + "voter_last_answer_age_ms", "gauge",
                "Milliseconds since the other voter last answered a call; -1 if it never did",
                age_ms, (("voter", str(voter)),),
            )  # fmt: skip

    async def _call_for_ever(self) -> None:
        while True:
            voters = self._others()
            for gone in self._calls.keys() - voters.keys():
                del self._calls[gone]
            await asyncio.gather(*(self._call(voter, where) for voter, where in voters.items()))
            await asyncio.sleep(EVERY_S)

    def _others(self) -> Mapping[int, Endpoint | None]:
        raft = self._raft()
        if not raft.is_voter:
            return {}
        listener, own = raft.settings.default_listener, raft.settings.node_id
        return {
            voter_id: voter.endpoints.get(listener)
            for voter_id, voter in raft.control.voters.voters.items()
            if voter_id != own
        }

    async def _call(self, voter_id: int, endpoint: Endpoint | None) -> None:
        """Connect, which ends with the answer to ApiVersions, and close again."""
        is_connected = False
        if endpoint is not None:
            with suppress(NetError, DecodeError, OSError):
                connection = await self._connect(endpoint)
                is_connected = True
                await connection.close()
        calls = self._calls.setdefault(voter_id, _Calls())
        calls.is_connected = is_connected
        if is_connected:
            calls.answered = time.monotonic()
