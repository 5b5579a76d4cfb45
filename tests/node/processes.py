"""Two nodes as real processes on loopback: 1 leads, 2 votes and follows and never stands.

Owns their folders, ports and ends, and asking them. What they say on stderr is kept beside them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kraftool.net.connection import connect
from kraftool.net.errors import NetError
from kraftool.raft.names import Endpoint
from tests.node.quorum import CLUSTER_ID, directory_id
from tests.support.places import ROOT
from tests.support.ports import HOST, free_ports

PATIENCE_S = 60.0
_LEADS = ("--role", "voter")
_FOLLOWS = ("--role", "voter", "--witness")
_ASKED = {"topics": [{"topicName": "__cluster_metadata", "partitions": [{"partitionIndex": 0}]}]}


def allow_files(count: int) -> int:
    """Have this process and its children open so many files, as far as the system lets them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


@dataclass
class NodeProcess:
    """One node."""

    id: int
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(HOST, self.port)

    @property
    def config(self) -> Path:
        return self.folder / "server.properties"

    @property
    def said(self) -> str:
        return (self.folder / "stderr").read_text()

    def files(self) -> int:
        """How many it has open."""
        assert self.process is not None
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def start(self, *options: str) -> None:
        command = [sys.executable, "-m", "kraftool", "node", "run", "-c", str(self.config)]
        with (self.folder / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen([*command, *options], cwd=ROOT, stderr=stderr)

    def require_alive(self) -> None:
        assert self.process is not None
        assert self.process.poll() is None, f"node {self.id} has ended:\n{self.said}"

    async def ask(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """An answer on a connection of its own."""
        connection = await connect(self.endpoint, timeout_s=PATIENCE_S)
        try:
            return dict(await connection.request(name, None, body, timeout_s=PATIENCE_S))
        finally:
            await connection.close()

    async def describe(self) -> dict[str, Any]:
        """What it answers to DescribeQuorum, of the one partition."""
        description = await self.ask("DescribeQuorum", _ASKED)
        partition: dict[str, Any] = description["topics"][0]["partitions"][0]
        return partition


@dataclass
class Pair:
    """The quorum."""

    leader: NodeProcess
    follower: NodeProcess
    nodes: list[NodeProcess] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes = [self.leader, self.follower]

    async def until(self, what: str, holds: Callable[[], Awaitable[Any]]) -> Any:
        """Wait for something of nodes that live."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    for node in self.nodes:
                        node.require_alive()
                    with contextlib.suppress(NetError, OSError):
                        if value := await holds():
                            return value
                    await asyncio.sleep(0.05)
        except TimeoutError:
            output = "\n".join(node.said[-2_000:] for node in self.nodes)
            raise AssertionError(f"waited in vain for {what}:\n{output}") from None

    async def followed(self) -> dict[str, Any]:
        """The leader's word, once its follower has all of its log."""

        async def probe() -> dict[str, Any] | None:
            description = await self.leader.describe()
            ends = {
                voter["replicaId"]: voter["logEndOffset"]
                for voter in description["currentVoters"] or ()
            }
            is_well = description["errorCode"] == 0 and description["highWatermark"] > 0
            return description if is_well and ends[1] == ends[2] else None

        description: dict[str, Any] = await self.until("a leader that is followed", probe)
        return description


def fetched_ms(description: dict[str, Any]) -> int:
    """When the leader last heard a fetch of its follower."""
    [follower] = (voter for voter in description["currentVoters"] if voter["replicaId"] == 2)
    return int(follower["lastFetchTimestamp"])


@contextlib.asynccontextmanager
async def pair(root: Path) -> AsyncIterator[Pair]:
    """Both nodes, formatted and running; what still runs at the end is killed."""
    made = [
        NodeProcess(id=node_id, folder=root / f"node-{node_id}", port=port)
        for node_id, port in zip((1, 2), free_ports(2), strict=True)
    ]
    initial = ",".join(f"{node.id}@{HOST}:{node.port}:{directory_id(node.id)}" for node in made)
    servers = ",".join(f"{HOST}:{node.port}" for node in made)
    for node_process in made:
        node_process.folder.mkdir(parents=True)
        node_process.config.write_text(
            f"process.roles=controller\nnode.id={node_process.id}\n"
            f"controller.quorum.bootstrap.servers={servers}\n"
            "controller.listener.names=CONTROLLER\n"
            f"listeners=CONTROLLER://{HOST}:{node_process.port}\n"
            f"log.dirs={node_process.folder / 'data'}\n"
            # A machine under load is to lose no leader.
            "controller.quorum.fetch.timeout.ms=10000\n"
        )
        command = [
            sys.executable,
            "-m",
            "kraftool",
            "storage",
            "format",
            "-c",
            str(node_process.config),
        ]
        options = ["-t", CLUSTER_ID, "--initial-controllers", initial, "-r", "4.4", "--quiet"]
        subprocess.run([*command, *options], cwd=ROOT, check=True, capture_output=True)
    nodes = Pair(*made)
    try:
        nodes.leader.start(*_LEADS)
        nodes.follower.start(*_FOLLOWS)
        await nodes.followed()
        yield nodes
    finally:
        for node_process in made:
            if node_process.process is not None and node_process.process.poll() is None:
                node_process.process.kill()
                node_process.process.wait(30)


async def end(node: NodeProcess) -> int:
    """Ask a node to end, and wait for it."""
    assert node.process is not None
    node.process.send_signal(signal.SIGTERM)
    return await asyncio.to_thread(node.process.wait, PATIENCE_S)
