"""What a running node says, and at which level: a reader of warnings alone learns what is wrong."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from kraftool.net.connection import Connection
from kraftool.net.errors import ConnectError
from kraftool.node.metrics import RaftMetrics
from kraftool.node.narration import Narration
from kraftool.node.peers import Peers
from kraftool.node.runner import Runner
from kraftool.raft.events import Effect, Event, RequestReceived, ResponseReceived, Send
from kraftool.raft.messages import FetchRequest
from kraftool.raft.names import Endpoint, ProtocolError
from kraftool.raft.raft import Raft
from tests.node.quorum import Quorum, quorum_of


class _Watching:
    def __init__(self) -> None:
        self._narration = Narration()

    def stepped(
        self, raft: Raft, event: Event | None, effects: list[Effect], took_s: float
    ) -> None:
        self._narration.stepped(raft, event, effects)

    def refused(self, event: RequestReceived | ResponseReceived, error: ProtocolError) -> None:
        self._narration.refused(event, error)


def said(caplog: pytest.LogCaptureFixture, level: int) -> list[tuple[str, dict[str, Any]]]:
    return [
        (each.message, vars(each)["fields"]) for each in caplog.records if each.levelno == level
    ]


def samples(runner: Runner) -> dict[str, float]:
    return {each.name: each.value for each in RaftMetrics(0).samples(runner.raft)}


def test_who_loses_its_leader_warns_and_names_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kraftool.node")

    async def run() -> int:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            gone: int = leader.settings.node_id
            follower = next(each for each in quorum.running.values() if each is not leader)
            follower.watcher = _Watching()
            await quorum.caught_up(leader, 1, 2, 3)
            assert not said(caplog, logging.WARNING)
            await quorum.stop(gone, clean=False)
            await quorum.until("the loss", lambda: said(caplog, logging.WARNING))
            return gone

    lost = asyncio.run(run())
    _, fields = said(caplog, logging.WARNING)[0]
    assert fields["lostLeader"] == lost


def test_an_end_that_was_asked_for_is_no_loss(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kraftool.node")

    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            await quorum.caught_up(leader, 1, 2, 3)
            leader.watcher = _Watching()
            leader.shut_down()
            await quorum.until("the resignation", lambda: leader.raft.is_stopped)

    asyncio.run(run())
    assert [text for text, _ in said(caplog, logging.INFO) if text == "Resigned"]
    assert not said(caplog, logging.WARNING)


def test_a_witness_is_seen_in_what_it_says_and_in_its_metrics(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kraftool.node")

    async def run() -> tuple[dict[str, float], dict[str, float]]:
        async with quorum_of(tmp_path, 1, 2, witnesses=(2,)) as quorum:
            leader = await quorum.leader()
            witness = quorum.running[2]
            witness.watcher = _Watching()
            await quorum.caught_up(leader, 1, 2)
            await quorum.stop(1, clean=False)
            await quorum.until("the loss", lambda: said(caplog, logging.WARNING))
            return samples(leader), samples(witness)

    leader, witness = asyncio.run(run())
    name = "kafka_server_raft_metrics_witness"
    assert (leader[name], witness[name]) == (0, 1)
    assert all(fields["witness"] for _, fields in said(caplog, logging.WARNING))


def test_who_cannot_be_reached_is_warned_of_once_and_told_when_it_answers_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A bootstrap server has no id: it is named by its address alone."""
    caplog.set_level(logging.INFO, "kraftool.node")

    async def nobody(endpoint: Endpoint) -> Connection:
        raise ConnectError(f"nobody listens at {endpoint.host}")

    def send(destination_id: int, number: int) -> Send:
        request = FetchRequest(
            replica=None, current_leader_epoch=0, fetch_offset=0, last_fetched_epoch=0
        )
        return Send(
            destination_id=destination_id, endpoint=Endpoint("host", 9093),
            correlation_id=number, request=request,
        )  # fmt: skip

    async def run() -> None:
        quorum = Quorum(tmp_path, (1, 2))
        await quorum.start(1)
        peers = Peers(quorum.running[1], nobody)
        for number, destination in enumerate((-2, -2, 2, 2)):
            peers.send(send(destination, number))
        await quorum.until("both", lambda: len(said(caplog, logging.WARNING)) == 2)
        await peers.close()
        await quorum.stop(1)

    asyncio.run(run())
    server, node = (fields for _, fields in said(caplog, logging.WARNING))
    assert server["bootstrapServer"] == "host:9093"
    assert "node" not in server
    assert (node["node"], node["endpoint"]) == (2, "host:9093")
