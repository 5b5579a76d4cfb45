"""What a running node says, and at which level: a reader of warnings alone learns what is wrong."""

from __future__ import annotations

import asyncio
import logging
import random
from pathlib import Path
from typing import Any

import pytest

from kraftool.net.connection import Connection
from kraftool.net.errors import ConnectError
from kraftool.node.metrics import RaftMetrics
from kraftool.node.narration import Narration
from kraftool.node.peers import Peers
from kraftool.node.runner import Runner
from kraftool.raft import core
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.events import (
    Append,
    Effect,
    Event,
    RequestReceived,
    ResponseReceived,
    Send,
    TimePassed,
)
from kraftool.raft.log_view import LogView
from kraftool.raft.messages import FetchRequest
from kraftool.raft.names import Endpoint, ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.settings import NodeSettings
from tests.node.quorum import CLUSTER_ID, Quorum, directory_id, quorum_of, voters

pytestmark = pytest.mark.slow


class _Watching:
    """Narrates a node that runs already: told its role at once, it cannot miss the next change."""

    def __init__(self, runner: Runner) -> None:
        self._narration = Narration()
        self._narration.stepped(runner.raft, None, [])

    def stepped(
        self, raft: Raft, event: Event | None, effects: list[Effect], took_s: float
    ) -> None:
        self._narration.stepped(raft, event, effects)

    def refused(self, event: RequestReceived | ResponseReceived, error: ProtocolError) -> None:
        self._narration.refused(event, error)


def said(caplog: pytest.LogCaptureFixture, level: int) -> list[tuple[str, dict[str, Any]]]:
    return [
        (record.message, vars(record)["fields"])
        for record in caplog.records
        if record.levelno == level
    ]


def samples(runner: Runner) -> dict[str, float]:
    return {sample.name: sample.value for sample in RaftMetrics(0).samples(runner.raft)}


def test_who_loses_its_leader_warns_and_names_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kraftool.node")

    async def run() -> int:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            gone: int = leader.settings.node_id
            follower = next(runner for runner in quorum.running.values() if runner is not leader)
            follower.watcher = _Watching(follower)
            await quorum.caught_up(leader, 1, 2, 3)
            assert not said(caplog, logging.WARNING)
            await quorum.stop(gone, clean=False)
            await quorum.until("the loss", lambda: said(caplog, logging.WARNING))
            return gone

    lost = asyncio.run(run())
    _, fields = said(caplog, logging.WARNING)[0]
    assert (fields["lostLeader"], fields["leader"]) == (lost, None)


def test_an_end_that_was_asked_for_is_no_loss(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kraftool.node")

    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            await quorum.caught_up(leader, 1, 2, 3)
            leader.watcher = _Watching(leader)
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
            witness.watcher = _Watching(witness)
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


def _sole_leader(*, hands_over: bool) -> Raft:
    """A voter that leads alone."""
    settings = NodeSettings(
        node_id=1,
        directory_id=directory_id(1),
        cluster_id=CLUSTER_ID,
        listeners={"CONTROLLER": Endpoint("node", 1)},
        static_voters=voters(1),
        hands_over=hands_over,
    )
    control = ControlHistory(static_voters=voters(1))
    raft = Raft(settings, random.Random(1), LogView(), control, None)
    core.start(raft, 1_000)
    return raft


def test_a_leader_without_a_controller_warns_when_it_wins_and_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "kraftool.node")
    raft, narration = _sole_leader(hands_over=True), Narration()
    warned = []
    for now_ms in range(1_000, 122_000, 1_000):
        effects = core.step(raft, now_ms, TimePassed())
        narration.stepped(raft, None, effects)
        warned.append(len(said(caplog, logging.WARNING)))
    assert (warned[0], warned[59], warned[60], warned[119], warned[120]) == (1, 1, 2, 2, 3)
    text, fields = said(caplog, logging.WARNING)[0]
    assert text == "leads without a controller"
    assert fields["epoch"] == raft.epoch
    shown = {sample.name: sample.value for sample in RaftMetrics(0).samples(raft)}
    assert shown["kraftool_node_leads_without_controller"] == 1


def test_a_leader_with_a_controller_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kraftool.node")
    raft = _sole_leader(hands_over=False)
    Narration().stepped(raft, None, [])
    assert not said(caplog, logging.WARNING)
    shown = {sample.name: sample.value for sample in RaftMetrics(0).samples(raft)}
    assert shown["kraftool_node_leads_without_controller"] == 0


def test_a_witness_that_leads_names_its_successor_and_loses_no_leader(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """3 is a witness and has a record that 2 lacks; 1 is lost."""
    caplog.set_level(logging.INFO, "kraftool.node")

    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3, witnesses=(3,)) as quorum:
            leader = await quorum.leader()
            first: int = leader.settings.node_id
            other = 3 - first
            await quorum.caught_up(leader, 1, 2, 3)
            quorum.isolated.add(other)
            append = Append(epoch=leader.raft.epoch, records=(b"record",), size=6)
            appended = await leader.order(append)
            last = appended.last_offset
            await quorum.until("the commit", lambda: leader.raft.role.high_watermark > last)
            assert quorum.running[3].raft.log.end_offset > last
            witness = quorum.running[3]
            witness.watcher = _Watching(witness)
            await quorum.stop(first, clean=False)
            quorum.isolated.clear()
            await quorum.until("the successor", lambda: quorum.running[other].leads)

    asyncio.run(run())
    lines = [*said(caplog, logging.INFO), *said(caplog, logging.WARNING)]
    assert all(fields.get("leader") is None for _, fields in lines if fields.get("lostLeader"))
    [resigned] = [fields for text, fields in lines if text == "Resigned"]
    assert resigned["successor"] in (1, 2)
    assert resigned["lostLeader"] is None
