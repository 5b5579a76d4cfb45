"""The active controller in nodes: what becomes of its requests, its failures, and its long work."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kraftool.controller.controller import NewBatch
from kraftool.controller.heartbeats import Session
from kraftool.controller.settings import ControllerSettings
from kraftool.decoders.error_codes import Error
from kraftool.decoders.framing import encode_record
from kraftool.image.topics import PartitionRegistration
from kraftool.node import controlling as module
from kraftool.node.controlling import Controlling
from kraftool.node.machine import ImageMachine
from kraftool.node.runner import Runner
from kraftool.raft.events import Append, Event, Resign, Send
from kraftool.raft.messages import (
    DescribeQuorumRequest,
    EndQuorumEpochRequest,
    RemoveVoterRequest,
)
from kraftool.raft.roles import Leader
from tests.controller.bench import bootstrap, decide_by, directory, incarnation, ranges
from tests.node.quorum import CLUSTER_ID, QUICK, Quorum

pytestmark = pytest.mark.slow

_LEVELS = {"kraft.version": (0, 1), "metadata.version": (7, 33)}


class Controllers:
    """A quorum of nodes that run the controller while they lead."""

    def __init__(
        self, root: Path, *ids: int, preferred: frozenset[int] = frozenset(), **settings: Any
    ) -> None:
        self.quorum = Quorum(root, ids, consumer=self._consumer)
        self.preferred, self.settings = preferred, settings
        self.of: dict[int, Controlling] = {}
        self.machines: dict[int, ImageMachine] = {}

    def _consumer(self, runner: Runner) -> ImageMachine:
        node_id = runner.settings.node_id or 0
        machine = self.machines[node_id] = ImageMachine(runner)
        settings = ControllerSettings(
            node_id=node_id, cluster_id=CLUSTER_ID, bootstrap=bootstrap(), **self.settings
        )
        self.of[node_id] = Controlling(runner, machine, settings, successors=lambda: self.preferred)
        return machine

    async def active(self, *, but: int = 0) -> int:
        """The node whose controller is active."""

        def found() -> int | None:
            ids = (node_id for node_id, controller in self.of.items() if controller.is_active)
            return next((node_id for node_id in ids if node_id != but), None)

        node_id: int = await self.quorum.until("an active controller", found)
        return node_id

    async def stop(self) -> None:
        for controller in self.of.values():
            controller.close()
        await self.quorum.stop(*self.quorum.running)


def registration(broker_id: int) -> dict[str, Any]:
    return {
        "brokerId": broker_id,
        "clusterId": CLUSTER_ID,
        "incarnationId": incarnation(broker_id, 1),
        "listeners": [],
        "features": ranges(dict.fromkeys(dict(bootstrap_levels()), (0, 9)) | _LEVELS),
        "rack": None,
        "isMigratingZkBroker": False,
        "logDirs": [directory(broker_id)],
        "previousBrokerEpoch": -1,
    }


def creation(*, partitions: int, replicas: int) -> dict[str, Any]:
    topic = {
        "name": "foo",
        "numPartitions": partitions,
        "replicationFactor": replicas,
        "assignments": [],
        "configs": [],
    }
    return {"topics": [topic], "timeoutMs": 10_000, "validateOnly": False}


def bootstrap_levels() -> list[tuple[str, int]]:
    return [(value["name"], value["featureLevel"]) for _, _, value in bootstrap()]


async def run(controllers: Controllers, what: Any) -> None:
    await controllers.quorum.start(*controllers.quorum.ids)
    try:
        await what(controllers)
    finally:
        await controllers.stop()


def test_qc21_a_controller_that_fails_gives_up_the_leadership_to_whom_it_prefers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Voters 1 to 3 have the same log, so that only the preference decides."""

    async def fails(controllers: Controllers) -> None:
        failing = await controllers.active()
        controllers.preferred = frozenset({max({1, 2, 3} - {failing})})
        [successor] = controllers.preferred
        leader = controllers.quorum.running[failing]
        await controllers.quorum.until(
            "the leader to have its first records, and to know that the others have them",
            lambda: (
                bootstrapped(leader) and fetched_offsets(leader) == {leader.raft.log.end_offset}
            ),
        )

        def broken(*_: object) -> None:
            raise ZeroDivisionError("broken on purpose")

        ends, wire = [], leader.sender
        assert wire is not None

        def send(effect: Send) -> None:
            if isinstance(effect.request, EndQuorumEpochRequest):
                ends.append(effect.request)
            wire.send(effect)

        monkeypatch.setattr(leader, "sender", SimpleNamespace(send=send))
        active = controllers.of[failing].active
        assert active is not None
        decide_by(monkeypatch, active, "BrokerRegistration", broken)
        asked = controllers.of[failing].ask("BrokerRegistration", 4, registration(1))
        answer = await asyncio.wait_for(asked, 20)
        assert answer["errorCode"] == Error.UNKNOWN_SERVER_ERROR
        assert controllers.of[failing].failures == 1
        await controllers.quorum.until("the others to be told", lambda: ends)
        assert ends[0].preferred_candidates[0].id == successor
        after = await controllers.active(but=failing)
        registered = await controllers.of[after].ask("BrokerRegistration", 4, registration(1))
        assert registered.get("errorCode", 0) == 0

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=None), fails))


def test_a_leader_whose_replay_takes_too_long_lets_another_lead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CLAIM_WITHIN_MS", 200)

    async def hurries(controllers: Controllers) -> None:
        first = await controllers.active()
        epoch = controllers.quorum.running[first].raft.epoch
        # As if its state machine were told of nothing any more, because it is far behind.
        slow = controllers.of[first]
        slow._end()
        successor = await controllers.active(but=first)
        assert controllers.quorum.running[successor].raft.epoch > epoch

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=50), hurries))


def test_the_loop_has_its_turn_while_a_claim_is_prepared_and_while_a_broker_is_fenced(
    tmp_path: Path,
) -> None:
    """Each turn of a fence of 400 partitions takes 20 records; steps of the core come between."""

    async def fences(controllers: Controllers) -> None:
        node_id = await controllers.active()
        controlling, runner = controllers.of[node_id], controllers.quorum.running[node_id]
        epochs = {}
        for broker_id in (1, 2):
            answer = await controlling.ask("BrokerRegistration", 4, registration(broker_id))
            epochs[broker_id] = answer["brokerEpoch"]
            await controlling.ask("BrokerHeartbeat", 1, heartbeat(broker_id, epochs[broker_id]))
        body = creation(partitions=400, replicas=2)
        answer = await controlling.ask("CreateTopics", 7, body, timeout_ms=10_000)
        assert answer["topics"][0]["errorCode"] == 0
        steps: list[int] = []
        before = runner.after_step

        def stepped(raft: Any) -> None:
            steps.append(controlling.worked.count)
            if before is not None:
                before(raft)

        runner.after_step = stepped
        first = controlling.worked.count
        asked = controlling.ask("UnregisterBroker", 0, {"brokerId": 1})
        waits = asyncio.ensure_future(asked)
        answer = await asyncio.wait_for(waits, 20)
        assert answer.get("errorCode", 0) == 0
        taken = controlling.worked.count - first
        assert taken >= 400 // 20
        assert len(set(steps)) >= 400 // 20, "the core had steps between the turns"

    asyncio.run(run(Controllers(tmp_path, 1, max_idle_ms=None, most_records_at_once=20), fences))


def heartbeat(broker_id: int, epoch: int) -> dict[str, Any]:
    return {
        "brokerId": broker_id,
        "brokerEpoch": epoch,
        "currentMetadataOffset": 1 << 40,
        "wantFence": False,
        "wantShutDown": False,
        "offlineLogDirs": [],
    }


def test_a_claim_begins_with_the_index_of_its_own_image(tmp_path: Path) -> None:
    """Another thread makes it, of what was committed when the claim began."""

    async def claims(controllers: Controllers) -> None:
        node_id = await controllers.active()
        controlling = controllers.of[node_id]
        answer = await controlling.ask("BrokerRegistration", 4, registration(1))
        await controlling.ask("BrokerHeartbeat", 1, heartbeat(1, answer["brokerEpoch"]))
        await controlling.ask("CreateTopics", 7, creation(partitions=30, replicas=1))
        controlling.close()
        await controllers.quorum.stop(node_id)
        await controllers.quorum.start(node_id)
        active = controllers.of[await controllers.active()].active
        assert active is not None
        assert len(active.state.partitions.with_isr(1)) == 30

    asyncio.run(run(Controllers(tmp_path, 1, max_idle_ms=None), claims))


def test_what_the_controller_made_is_kept_once_until_its_claim_ends(tmp_path: Path) -> None:
    """In its state and in the image of what is committed, which all nodes have."""

    async def makes(controllers: Controllers) -> None:
        node_id = await controllers.active()
        controlling, machine = controllers.of[node_id], controllers.machines[node_id]
        answer = await controlling.ask("BrokerRegistration", 4, registration(1))
        await controlling.ask("BrokerHeartbeat", 1, heartbeat(1, answer["brokerEpoch"]))
        await controlling.ask("CreateTopics", 7, creation(partitions=30, replicas=1))

        def committed() -> Mapping[int, PartitionRegistration] | None:
            topic = machine.image.topics.by_name.get("foo")
            return topic.partitions if topic is not None and len(topic.partitions) == 30 else None

        partitions = await controllers.quorum.until("the partitions in the image", committed)
        assert controlling.active is not None
        topic_id = machine.image.topics.by_name["foo"].id
        find = weakref.WeakMethod(controlling.active.state.partition_of)
        its = controlling.active.state.partition_of
        assert all(its(topic_id, number) is made for number, made in partitions.items())
        del its
        controlling.close()
        gc.collect()
        assert find() is None, "the image lets go of that state"

    asyncio.run(run(Controllers(tmp_path, 1, max_idle_ms=None), makes))


def test_qc20_and_qc29_who_waits_is_told_when_the_leadership_moves(tmp_path: Path) -> None:
    """The old leader is cut off with a record that nobody else has, and then follows."""

    async def moves(controllers: Controllers) -> None:
        quorum = controllers.quorum
        old = await controllers.active()
        controlling, runner = controllers.of[old], quorum.running[old]
        leaders = {node_id: controller.leaders for node_id, controller in controllers.of.items()}
        quorum.isolated = {old}
        asked = asyncio.ensure_future(controlling.ask("BrokerRegistration", 4, registration(1)))
        new = await controllers.active(but=old)
        answer = await asyncio.wait_for(asked, 20)
        assert answer["errorCode"] == Error.NOT_CONTROLLER
        assert controlling.failures == 0
        quorum.isolated = set()
        await quorum.caught_up(quorum.running[new], old)
        machine = runner.consumer
        assert isinstance(machine, ImageMachine)
        assert not machine.image.cluster.brokers
        assert not controlling.is_active
        await quorum.until(
            "all to have seen the new leader",
            lambda: all(
                controller.leaders > leaders[node_id]
                for node_id, controller in controllers.of.items()
            ),
        )

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=50), moves))


def test_qc22_and_qc26_a_refusal_changes_nothing_and_a_standby_refuses_all(tmp_path: Path) -> None:
    async def refuses(controllers: Controllers) -> None:
        node_id = await controllers.active()
        standby = min({1, 2, 3} - {node_id})
        answer = await controllers.of[standby].ask("BrokerRegistration", 4, registration(1))
        assert answer["errorCode"] == Error.NOT_CONTROLLER
        controlling = controllers.of[node_id]
        other = registration(1) | {"clusterId": "another-cluster"}
        answer = await controlling.ask("BrokerRegistration", 4, other)
        assert answer["errorCode"] == Error.INCONSISTENT_CLUSTER_ID
        assert controlling.is_active
        assert controlling.failures == 0

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=None), refuses))


def test_qc23_an_append_that_the_core_refuses_ends_the_leadership_and_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if something had been appended between a decision and its records."""

    async def refused(controllers: Controllers) -> None:
        node_id = await controllers.active()
        controlling, epoch = controllers.of[node_id], controllers.quorum.running[node_id].raft.epoch
        event = controlling._event

        def late(batch: NewBatch) -> Event:
            return event(batch._replace(base_offset=batch.base_offset - 1))

        monkeypatch.setattr(controlling, "_event", late)
        answer = await asyncio.wait_for(
            controlling.ask("BrokerRegistration", 4, registration(1)), 20
        )
        assert answer["errorCode"] == Error.NOT_CONTROLLER
        assert controlling.failures == 0
        monkeypatch.undo()
        await controllers.quorum.until(
            "another epoch",
            lambda: any(
                runner.raft.epoch > epoch for runner in controllers.quorum.running.values()
            ),
        )
        await controllers.active()

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=None), refused))


class Held:
    """A decision that a thread is busy with until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, controlling: Controlling, api: str) -> None:
        assert controlling.active is not None
        self.has_begun, self._goes_on = threading.Event(), threading.Event()

        def hold(*arguments: Any) -> Any:
            self.has_begun.set()
            assert self._goes_on.wait(20), "somebody lets it go"
            return decide(*arguments)

        decide = decide_by(monkeypatch, controlling.active, api, hold)

    def let_go(self) -> None:
        self._goes_on.set()


def test_while_a_decision_is_worked_out_the_node_leads_and_answers_what_needs_no_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise both followers would ask for votes."""

    async def leads(controllers: Controllers) -> None:
        node_id = await controllers.active()
        controlling, runner = controllers.of[node_id], controllers.quorum.running[node_id]
        epoch = runner.raft.epoch
        held = Held(monkeypatch, controlling, "BrokerRegistration")
        asked = asyncio.ensure_future(controlling.ask("BrokerRegistration", 4, registration(1)))
        await controllers.quorum.until("the decision", held.has_begun.is_set)
        before = fetched_ms(runner)
        await controllers.quorum.until(
            "fetches of both followers after the time that they wait for an answer",
            lambda: min(fetched_ms(runner)) > max(before) + QUICK.fetch_timeout_ms,
        )
        assert (runner.raft.epoch, asked.done()) == (epoch, False)
        answer = await runner.ask(DescribeQuorumRequest(), "CONTROLLER")
        assert answer.leader_id == node_id
        held.let_go()
        answered = await asyncio.wait_for(asked, 20)
        assert answered.get("errorCode", 0) == 0
        assert runner.raft.epoch == epoch

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=None), leads))


def bootstrapped(runner: Runner) -> bool:
    machine = runner.consumer
    assert isinstance(machine, ImageMachine)
    return machine.image.features.metadata_version is not None


def fetched_offsets(runner: Runner) -> set[int | None]:
    """The ends of the voters' logs, as the leader knows them."""
    role = runner.raft.role
    assert isinstance(role, Leader)
    return {replica.end_offset for replica in role.replicas.voters.values()}


def fetched_ms(runner: Runner) -> list[int]:
    """When the leader last heard a fetch of each of its followers."""
    role = runner.raft.role
    assert isinstance(role, Leader)
    return [
        replica.last_fetch_ms
        for node_id, replica in sorted(role.replicas.voters.items())
        if node_id != runner.settings.node_id
    ]


def test_what_a_turn_comes_to_is_dropped_if_the_leadership_ended_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ends(controllers: Controllers) -> None:
        quorum = controllers.quorum
        node_id = await controllers.active()
        controlling, runner = controllers.of[node_id], quorum.running[node_id]
        held = Held(monkeypatch, controlling, "BrokerRegistration")
        asked = asyncio.ensure_future(controlling.ask("BrokerRegistration", 4, registration(1)))
        await quorum.until("the decision", held.has_begun.is_set)
        await runner.order(Resign(epoch=runner.raft.epoch))
        answer = await asyncio.wait_for(asked, 20)
        assert answer["errorCode"] == Error.NOT_CONTROLLER
        after = await controllers.active(but=node_id)
        held.let_go()
        registered = await controllers.of[after].ask("BrokerRegistration", 4, registration(2))
        assert registered.get("errorCode", 0) == 0
        await quorum.caught_up(quorum.running[after], node_id)
        machine = quorum.running[after].consumer
        assert isinstance(machine, ImageMachine)
        await quorum.until("the image", lambda: 2 in machine.image.cluster.brokers)
        assert set(machine.image.cluster.brokers) == {2}
        assert controlling.failures == 0

    asyncio.run(run(Controllers(tmp_path, 1, 2, 3, max_idle_ms=50), ends))


def test_a_change_of_the_voters_waits_for_the_records_of_the_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its record would have the offset at which the turn's first one is decided."""

    async def waits(controllers: Controllers) -> None:
        node_id = await controllers.active()
        controlling, runner = controllers.of[node_id], controllers.quorum.running[node_id]
        epoch = runner.raft.epoch
        held = Held(monkeypatch, controlling, "BrokerRegistration")
        asked = asyncio.ensure_future(controlling.ask("BrokerRegistration", 4, registration(1)))
        await controllers.quorum.until("the decision", held.has_begun.is_set)
        record = encode_record("NoOpRecord", 0, {})
        order = Append(epoch=epoch, records=(record,), size=len(record))
        other = asyncio.ensure_future(runner.order(order))
        question = RemoveVoterRequest(cluster_id=CLUSTER_ID, voter=None)
        change = asyncio.ensure_future(runner.ask(question, "CONTROLLER"))
        await runner.ask(DescribeQuorumRequest(), "CONTROLLER")
        assert not other.done()
        assert not change.done()
        held.let_go()
        answer = await asyncio.wait_for(asked, 20)
        appended = await asyncio.wait_for(other, 20)
        refused = await asyncio.wait_for(change, 20)
        assert answer.get("errorCode", 0) == 0
        assert appended is not None
        assert appended.last_offset == answer["brokerEpoch"] + 1
        assert refused.error is Error.INVALID_REQUEST
        assert runner.raft.epoch == epoch

    asyncio.run(run(Controllers(tmp_path, 1, max_idle_ms=None), waits))


def test_heartbeats_and_commits_count_while_a_decision_is_worked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that is heard of meanwhile is fenced by no task of the same turn."""

    async def counts(controllers: Controllers) -> None:
        node_id = await controllers.active()
        controlling = controllers.of[node_id]
        answer = await controlling.ask("BrokerRegistration", 4, registration(1))
        beat = heartbeat(1, answer["brokerEpoch"])
        assert not (await controlling.ask("BrokerHeartbeat", 1, beat))["isFenced"]
        held = Held(monkeypatch, controlling, "ControllerRegistration")
        body = {"controllerId": 9, "incarnationId": incarnation(9, 1), "listeners": []}
        body |= {"features": [], "zkMigrationReady": False}
        asked = asyncio.ensure_future(controlling.ask("ControllerRegistration", 0, body))
        await controllers.quorum.until("the decision", held.has_begun.is_set)
        active = controlling.active
        assert active is not None
        session = Session(1, answer["brokerEpoch"])
        assert active._heartbeats.has_valid_session(session, 0)
        at_ms = active._heartbeats._heard_ms[session]
        beating = asyncio.ensure_future(controlling.ask("BrokerHeartbeat", 1, beat))
        await asyncio.sleep(0)
        held.let_go()
        await asyncio.wait_for(asked, 20)
        assert not (await asyncio.wait_for(beating, 20))["isFenced"]
        assert active._heartbeats.has_valid_session(session, at_ms)
        assert active._heartbeats._heard_ms[session] > at_ms

    asyncio.run(run(Controllers(tmp_path, 1, max_idle_ms=None), counts))
