"""A quorum of runners in one process, each with a real log on the disk, joined by mere calls.

Owns the wiring. What crosses it goes through Kafka's bytes of the newest versions, so that a value
which no version can carry shows here.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kraftool.controller.authorizer import AuthorizerRules
from kraftool.decoders import schema
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import (
    RequestFrame,
    ResponseFrame,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kraftool.image.acls import ANONYMOUS
from kraftool.net.server import Peer
from kraftool.node.authorization import Authorization
from kraftool.node.config import STANDARD_AUTHORIZER
from kraftool.node.machine import BlindMachine
from kraftool.node.runner import Consumer, NodeFailedError, Runner
from kraftool.raft.events import ResponseReceived, Send
from kraftool.raft.messages import ANSWERED_BY, ApiVersionsRequest, ApiVersionsResponse
from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.roles import Leader
from kraftool.raft.settings import NodeSettings, Timing
from kraftool.raft.wire import requests, responses
from kraftool.storage.log_config import LogConfig
from kraftool.storage.metadata_log import MetadataLog

ANYBODY = Peer(listener="CONTROLLER", principal=ANONYMOUS, host="127.0.0.1", port=50_000)
CLUSTER_ID = "cccccccccccccccccccccA"
PATIENCE_S = 20.0
QUICK = Timing(
    election_timeout_ms=150,
    # A machine that stands still for a moment is to lose no leader.
    fetch_timeout_ms=1_500,
    election_backoff_max_ms=100,
    append_linger_ms=5,
    # With Kafka's half second an idle leader would be given up.
    fetch_max_wait_ms=100,
)


def authorization(*, is_open: bool = True) -> Authorization:
    """Without an authorizer, or with one on a node that reads no ACLs and has no super users."""
    authorizer = "" if is_open else STANDARD_AUTHORIZER
    return Authorization(authorizer, AuthorizerRules(), lambda: None, lambda: True)


def directory_id(node_id: int) -> str:
    return "A" * 20 + f"{node_id}A"


def voters(*ids: int) -> VoterSet:
    return VoterSet.of(
        *(
            Voter(key=ReplicaKey(voter_id), endpoints={"CONTROLLER": Endpoint("node", voter_id)})
            for voter_id in ids
        )
    )


@dataclass
class Wire:
    """Carries one node's requests to the others."""

    quorum: "Quorum"
    source: int

    def send(self, effect: Send) -> None:
        asyncio.get_running_loop().create_task(self._carry(effect))

    async def _carry(self, effect: Send) -> None:
        """By the endpoint, as a network does it."""
        if isinstance(effect.request, ApiVersionsRequest):
            self._tell_versions(effect)
            return
        name = requests.NAMES[type(effect.request)]
        version = schema.message(f"{name}Request").versions.high
        sender = self.quorum.running.get(self.source)
        target = self.quorum.running.get(effect.endpoint.port)
        answer: Any = ANSWERED_BY[type(effect.request)](top_error=Error.BROKER_NOT_AVAILABLE)
        if target is not None and not self.quorum.isolated & {self.source, effect.endpoint.port}:
            frame = RequestFrame(
                name=name, version=version, correlation_id=effect.correlation_id,
                client_id="test", body=requests.to_kafka(effect.request, version),
            )  # fmt: skip
            arrived = decode_request(encode_request(frame))
            try:
                response = await target.ask(requests.from_kafka(name, arrived.body), "CONTROLLER")
            except asyncio.CancelledError:
                return
            body = responses.to_kafka(name, response, version)
            back = encode_response(
                ResponseFrame(name=name, version=version, correlation_id=1, body=body)
            )
            read = decode_response(back, name, version).body
            if effect.endpoint.port in self.quorum.isolated:
                return
            answer = responses.from_kafka(name, read, "CONTROLLER")
        if sender is not None and self.source not in self.quorum.isolated:
            sender.post(_response(effect, answer))

    def _tell_versions(self, effect: Send) -> None:
        """What a connection shows at its beginning."""
        target = self.quorum.running.get(effect.endpoint.port)
        if target is None:
            answer = ApiVersionsResponse(top_error=Error.BROKER_NOT_AVAILABLE)
        else:
            answer = ApiVersionsResponse(runs_controller=target.settings.runs_controller)
        if (sender := self.quorum.running.get(self.source)) is not None:
            sender.post(_response(effect, answer))


def _response(effect: Send, answer: Any) -> ResponseReceived:
    return ResponseReceived(
        source_id=effect.destination_id, correlation_id=effect.correlation_id, response=answer
    )


class Quorum:
    """Nodes by id, some of which run."""

    def __init__(
        self,
        root: Path,
        ids: tuple[int, ...],
        witnesses: tuple[int, ...] = (),
        consumer: Callable[[Runner], Consumer] = BlindMachine,
    ) -> None:
        self.root, self.ids, self.witnesses, self.consumer = root, ids, witnesses, consumer
        self.running: dict[int, Runner] = {}
        self.isolated: set[int] = set()
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def wire(self, runner: Runner) -> Wire:
        """The network, as a node of the quorum has it."""
        return Wire(self, runner.settings.node_id or 0)

    def folder(self, node_id: int) -> Path:
        return self.root / f"node-{node_id}"

    async def start(self, *ids: int) -> None:
        for node_id in ids:
            self.folder(node_id).mkdir(exist_ok=True)
            settings = NodeSettings(
                node_id=node_id,
                directory_id=directory_id(node_id),
                cluster_id=CLUSTER_ID,
                listeners={"CONTROLLER": Endpoint("node", node_id)},
                static_voters=voters(*self.ids),
                timing=QUICK,
                is_witness=node_id in self.witnesses,
            )
            log = MetadataLog.open(
                str(self.folder(node_id)), LogConfig(), static_voters=settings.static_voters
            )
            runner = Runner(settings, log)
            runner.sender, runner.consumer = Wire(self, node_id), self.consumer(runner)
            self.running[node_id] = runner
            self._tasks[node_id] = asyncio.create_task(runner.run())

    async def stop(self, *ids: int, clean: bool = True) -> None:
        """All at once: those that are stopped last are to elect nobody in between."""
        stopped = [(self.running.pop(node_id), self._tasks.pop(node_id)) for node_id in ids]
        for runner, _ in stopped:
            runner.stop_now()
        for runner, task in stopped:
            await task
            await runner.close(clean=clean)

    async def failure(self, node_id: int) -> NodeFailedError:
        """Wait for a node to stop because it cannot go on; its log is closed then."""
        runner, task = self.running.pop(node_id), self._tasks.pop(node_id)
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait({task})
        await runner.close()
        error = task.exception()
        assert isinstance(error, NodeFailedError), error
        return error

    async def until(self, what: str, holds: Callable[[], Any]) -> Any:
        """Wait for something to hold; a node that failed meanwhile is raised."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not (value := holds()):
                    for task in self._tasks.values():
                        if task.done():
                            await task
                    await asyncio.sleep(0.01)
        except TimeoutError:
            states = {node_id: runner.state() for node_id, runner in self.running.items()}
            raise AssertionError(f"waited in vain for {what}: {states}") from None
        return value

    def leaders(self) -> Iterator[Runner]:
        return (runner for runner in self.running.values() if runner.leads)

    async def leader(self) -> Runner:
        """The one that leads and has committed something of its epoch."""

        def found() -> Runner | None:
            for leader in self.leaders():
                role = leader.raft.role
                assert isinstance(role, Leader), "it leads"
                committed = role.high_watermark
                if committed is not None and committed > role.epoch_start_offset:
                    return leader
            return None

        runner: Runner = await self.until("a leader", found)
        return runner

    async def caught_up(self, leader: Runner, *others: int) -> None:
        await self.until(
            f"{others} to have what {leader.settings.node_id} has",
            lambda: all(
                self.running[other].raft.log.flushed_offset == leader.raft.log.end_offset
                and self.running[other].raft.role.high_watermark == leader.raft.log.end_offset
                for other in others
            ),
        )


@asynccontextmanager
async def quorum_of(root: Path, *ids: int, witnesses: tuple[int, ...] = ()) -> Any:
    """A quorum that runs; whatever still does at the end is stopped."""
    made = Quorum(root, ids, witnesses)
    try:
        await made.start(*ids)
        yield made
    finally:
        await made.stop(*made.running)
