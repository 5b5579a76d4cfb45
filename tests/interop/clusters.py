"""Drives Kafka clusters on this machine: formats, starts, kills, waits, carries out operations.

Owns the nodes' folders (`ROOT/node-N/server.properties`, relative `log.dirs`, cwd = the folder),
their loopback ports, and the JVMs that they share. Every step that changes the cluster is noted in
`Cluster.steps`, which becomes part of a fixture's SOURCE. Refuses bare sleeps: each wait names what
it observes. Leaving the context kills whatever still runs.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import socket
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.interop import kafka
from tests.interop.shared_jvms import (
    AdminRefused,
    AdminSession,
    admin_session,
    forget_all,
    storage_session,
)
from tests.support.ports import HOST, free_ports

LISTENERS = ("BROKER", "SASL", "CONTROLLER")
SASL_CLIENT = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="admin" password="CANARY-PLAIN-admin";',
}


def random_uuid() -> str:
    """A uuid as Kafka writes them; never one that a command line would take for an option."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def read_properties(path: Path) -> dict[str, str]:
    """The plain `key=value` lines of a properties file (no escapes: these files have none)."""
    lines = path.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


@dataclass(slots=True, kw_only=True)
class Node:
    """One Kafka process: its folder, its settings and, while it runs, its JVM."""

    id: int
    roles: tuple[str, ...]
    directory: Path
    ports: dict[str, int]
    settings: dict[str, str] = field(default_factory=dict)
    process: kafka.Process | None = None
    version: str = ""
    """The Kafka that runs it, where that is not the cluster's."""
    host: str = HOST
    within: tuple[str, ...] = ()
    """The words before its command line, for one that runs in a namespace."""

    @property
    def broker(self) -> bool:
        return "broker" in self.roles

    @property
    def controller(self) -> bool:
        return "controller" in self.roles

    def at(self, listener: str) -> str:
        return f"{self.host}:{self.ports[listener]}"

    @property
    def metadata_log_dir(self) -> Path:
        first = self.settings["log.dirs"].split(",")[0]
        return self.directory / self.settings.get("metadata.log.dir", first)

    @property
    def directory_id(self) -> str:
        return read_properties(self.metadata_log_dir / "meta.properties")["directory.id"]

    def write_properties(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{key}={value}\n" for key, value in self.settings.items())
        (self.directory / "server.properties").write_text(text)


def _format_by_command(version: str, nodes: Sequence[Node], arguments: Sequence[str]) -> None:
    """Side by side: each is a JVM start."""
    with ThreadPoolExecutor(2) as pool:
        done = [
            pool.submit(
                kafka.run,
                version,
                "kafka.tools.StorageTool",
                *arguments,
                cwd=node.directory,
                check=True,
                heap="-Xmx200m",
            )
            for node in nodes
        ]
    for future in done:
        future.result()


def _format_in_one_jvm(version: str, nodes: Sequence[Node], arguments: Sequence[str]) -> None:
    """The same by a JVM that stays: its start takes more than half as long as a node's.

    It has one working directory, so that it gets a copy of the settings with whole paths.
    """
    for node in nodes:
        here = node.directory
        with tempfile.NamedTemporaryFile("w", suffix=".properties") as whole:
            for name, value in read_properties(here / "server.properties").items():
                if name in ("log.dirs", "metadata.log.dir"):
                    value = ",".join(str(here / folder) for folder in value.split(","))
                whole.write(f"{name}={value}\n")
            whole.flush()
            named = [whole.name if word == "server.properties" else word for word in arguments]
            storage_session(version).call(named)


def _is_too_early(refusal: str, *, at_leader: bool) -> bool:
    """True if the operation was not sent, and can be sent again.

    A controller that has just started refuses until it has read its metadata. And on a busy
    machine another node leads by the time at which Kafka's client has connected.
    """
    is_unassigned = "Timed out waiting for a node assignment" in refusal
    return "Direct-to-controller communication" in refusal or (at_leader and is_unassigned)


class Cluster:
    """Nodes of one Kafka version that form one cluster below `root`."""

    def __init__(
        self, version: str, root: Path, *, common: Mapping[str, str] | None = None
    ) -> None:
        self.version = version
        self.root = root
        self.id = random_uuid()
        self.nodes: dict[int, Node] = {}
        self.steps: list[str] = []
        self.common = dict(common or {})
        self.logs = root.parent / f"{root.name}-logs"
        self.logs.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes.values():
            if node.process is not None:
                node.process.close()
        forget_all(self.version)

    @property
    def session(self) -> AdminSession:
        return admin_session(self.version)

    def note(self, step: str) -> None:
        self.steps.append(step)

    # --- making nodes -------------------------------------------------------------------------

    def add_node(
        self,
        node_id: int,
        roles: Iterable[str],
        settings: Mapping[str, str] | None = None,
        *,
        host: str = HOST,
        within: tuple[str, ...] = (),
    ) -> Node:
        """Choose ports and write down the node's base settings; quorum settings come after."""
        wanted = tuple(roles)
        names = [
            name
            for name in LISTENERS
            if ("controller" if name == "CONTROLLER" else "broker") in wanted
        ]
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        node = Node(
            id=node_id,
            roles=wanted,
            directory=self.root / f"node-{node_id}",
            ports=ports,
            host=host,
            within=within,
        )
        node.settings = {
            "process.roles": ",".join(wanted),
            "node.id": str(node_id),
            "listeners": ",".join(f"{name}://{node.at(name)}" for name in names),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": (
                "BROKER:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
            ),
            "log.dirs": "data",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS;User:admin",
            "delegation.token.secret.key": "CANARY-token-secret-key",
            "num.network.threads": "1",
            "num.io.threads": "2",
            "log.cleaner.dedupe.buffer.size": "4194304",
            "metadata.log.max.snapshot.interval.ms": "0",
            **self.common,
            **(settings or {}),
        }
        if not kafka.at_least(self.version, "3.5"):
            del node.settings["metadata.log.max.snapshot.interval.ms"]
        if not kafka.at_least(self.version, "3.6"):
            del node.settings["delegation.token.secret.key"]
        if node.broker:
            node.settings |= {
                "inter.broker.listener.name": "BROKER",
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.sasl.plain.sasl.jaas.config": (
                    "org.apache.kafka.common.security.plain.PlainLoginModule required "
                    'username="admin" password="CANARY-PLAIN-admin" '
                    'user_admin="CANARY-PLAIN-admin" user_guest="CANARY-PLAIN-guest";'
                ),
                "offsets.topic.num.partitions": "1",
                "offsets.topic.replication.factor": "1",
                "transaction.state.log.num.partitions": "1",
                "transaction.state.log.replication.factor": "1",
                "transaction.state.log.min.isr": "1",
            }
        self.nodes[node_id] = node
        return node

    @property
    def controllers(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.controller]

    def use_static_voters(self) -> None:
        """Every node so far names the controllers so far in controller.quorum.voters."""
        voters = ",".join(f"{n.id}@{n.at('CONTROLLER')}" for n in self.controllers)
        for node in self.nodes.values():
            node.settings["controller.quorum.voters"] = voters
            node.write_properties()

    def use_bootstrap_servers(self) -> None:
        """Every node so far finds the quorum by controller.quorum.bootstrap.servers."""
        servers = ",".join(n.at("CONTROLLER") for n in self.controllers)
        for node in self.nodes.values():
            node.settings.pop("controller.quorum.voters", None)
            node.settings["controller.quorum.bootstrap.servers"] = servers
            node.write_properties()

    def initial_controllers(self) -> str:
        """The value of --initial-controllers for the controllers so far; new directory ids."""
        return ",".join(f"{n.id}@{n.at('CONTROLLER')}:{random_uuid()}" for n in self.controllers)

    def format(self, nodes: Iterable[Node], *options: str) -> None:
        """kafka-storage format of some nodes."""
        arguments = ("format", "--cluster-id", self.id, "--config", "server.properties", *options)
        wanted = list(nodes)
        # Older ones have no entry that gives an exit code and goes on.
        has_entry = kafka.at_least(self.version, "3.9")
        format_nodes = _format_in_one_jvm if has_entry else _format_by_command
        format_nodes(self.version, wanted, arguments)
        for node in wanted:
            self.note(f"node {node.id}: kafka-storage {' '.join(arguments)}")

    # --- running them -------------------------------------------------------------------------

    def start(self, *nodes: Node, heap: str = "-Xmx300m", options: Sequence[str] = ()) -> None:
        """Start nodes together and wait until each answers (brokers: unfenced).

        The JVM has `options` in place of those that suit a short life.
        """
        for node in nodes:
            assert node.process is None, f"node {node.id} already runs"
            version = node.version or self.version
            command = kafka.java_command(
                version, "kafka.Kafka", "server.properties", heap=heap, options=options
            )
            log = self.logs / f"node-{node.id}.log"
            node.process = kafka.Process([*node.within, *command], log, cwd=node.directory)
            self.note(f"node {node.id}: start")
        for node in nodes:
            self.wait_listening(node)
        for node in nodes:
            if node.broker:
                self.wait_unfenced(node)

    def stop(self, *nodes: Node) -> None:
        """Clean shutdown (SIGTERM), one after the other."""
        for node in nodes:
            assert node.process is not None
            node.process.require_alive()
            node.process.stop()
            node.process = None
            self.note(f"node {node.id}: SIGTERM, ended by itself")

    def kill(self, *nodes: Node) -> None:
        """kill -9."""
        for node in nodes:
            assert node.process is not None
            node.process.require_alive()
            node.process.kill()
            node.process = None
            self.note(f"node {node.id}: kill -9")

    @contextlib.contextmanager
    def paused(self, node: Node) -> Iterator[None]:
        """SIGSTOP, and SIGCONT at the end: a node that answers nobody for a while, or is killed."""
        assert node.process is not None
        node.process.require_alive()
        os.kill(node.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            if node.process is not None:
                os.kill(node.process.pid, signal.SIGCONT)

    def running(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.process is not None]

    # --- waiting ------------------------------------------------------------------------------

    def wait_listening(self, node: Node, *, timeout: float = kafka.PATIENCE_S) -> None:
        listener = "BROKER" if node.broker else "CONTROLLER"

        def probe() -> bool:
            assert node.process is not None
            node.process.require_alive()
            with contextlib.suppress(OSError):
                socket.create_connection((node.host, node.ports[listener]), 1).close()
                return True
            return False

        kafka.wait_for(f"node {node.id} to listen", probe, timeout=timeout, every=0.1)

    def wait_unfenced(self, node: Node, *, timeout: float = kafka.PATIENCE_S) -> None:
        def probe() -> bool:
            assert node.process is not None
            node.process.require_alive()
            shown = self.peek("describe-cluster", node)
            return shown is not None and node.id in shown["nodes"]

        kafka.wait_for(f"broker {node.id} to be unfenced", probe, timeout=timeout, every=0.1)

    def peek(self, operation: str, node: Node, **fields: Any) -> Any:
        """An admin answer from one node, or None while it has none."""
        via = {} if node.broker else {"via": "controller"}
        at = node.at("BROKER" if node.broker else "CONTROLLER")
        with contextlib.suppress(AdminRefused):
            question = {"op": operation, "at": at, "timeoutMs": 3000, **via, **fields}
            return self.session.call(question)
        return None

    def quorum(self) -> dict[str, Any] | None:
        """describe-quorum from whichever running node answers with a leader."""
        can_ask_controllers = kafka.at_least(self.version, "3.7")
        for node in sorted(self.running(), key=lambda n: not n.broker):
            if node.broker or can_ask_controllers:
                shown: dict[str, Any] | None = self.peek("describe-quorum", node)
                if shown is not None and shown["leaderId"] >= 0:
                    return shown
        return None

    def wait_leader(self, *, above_epoch: int = -1, timeout: float = kafka.PATIENCE_S) -> Node:
        """The leader once it is a running node in an epoch above the given one."""

        def probe() -> Node | None:
            shown = self.quorum()
            if shown is None or shown["leaderEpoch"] <= above_epoch:
                return None
            leader = self.nodes[shown["leaderId"]]
            return leader if leader.process is not None else None

        return kafka.wait_for(
            f"a leader above epoch {above_epoch}", probe, timeout=timeout, every=0.1
        )

    def leader_epoch(self) -> int:
        shown = kafka.wait_for("an answer to describe-quorum", self.quorum)
        return int(shown["leaderEpoch"])

    def wait_caught_up(self, *nodes: Node, timeout: float = kafka.PATIENCE_S) -> None:
        """Until the leader has seen each node fetch up to the present high watermark."""
        target = kafka.wait_for("an answer to describe-quorum", self.quorum)["highWatermark"]

        def probe() -> bool:
            shown = self.quorum() or {"voters": [], "observers": []}
            ends = {r["id"]: r["logEndOffset"] for r in shown["voters"] + shown["observers"]}
            return all(ends.get(node.id, -1) >= target for node in nodes)

        names = [node.id for node in nodes]
        kafka.wait_for(f"nodes {names} to reach offset {target}", probe, timeout=timeout, every=0.1)

    # --- operations ---------------------------------------------------------------------------

    def admin(
        self, operation: str, *, sasl: bool = False, at_leader: bool = False, **fields: Any
    ) -> Any:
        """One operation through a running broker, or the controllers; noted as a step.

        Voter changes go to the leader itself: a broker that forwards them to an earlier leader
        that is up again keeps getting NOT_LEADER_OR_FOLLOWER, and does not look for the new one.
        """
        brokers = [node for node in self.running() if node.broker]
        question: dict[str, Any] = {"op": operation} | fields
        if sasl:
            question["client"] = SASL_CLIENT

        def probe() -> tuple[Any] | None:
            if at_leader or not brokers:
                nodes = [self.wait_leader()] if at_leader else self.running()
                where = {"at": ",".join(n.at("CONTROLLER") for n in nodes), "via": "controller"}
            else:
                where = {"at": ",".join(n.at("SASL" if sasl else "BROKER") for n in brokers)}
            try:
                return (self.session.call(question | where),)
            except AdminRefused as refusal:
                if _is_too_early(str(refusal), at_leader=at_leader):
                    return None
                raise

        (answer,) = kafka.wait_for(f"an answer to {operation}", probe, every=0.2)
        self.note(f"admin {operation} {self._shown(fields)}")
        return answer

    def refused(self, operation: str, *, quiet: bool = False, **fields: Any) -> str | None:
        """Try an operation that may be refused; the refusal, noted unless quiet, or None."""
        try:
            self.admin(operation, **fields)
        except AdminRefused as refusal:
            if not quiet:
                self.note(f"admin {operation} {self._shown(fields)} refused: {refusal}")
            return str(refusal)
        return None

    @staticmethod
    def _shown(fields: Mapping[str, Any]) -> str:
        return json.dumps({key: value for key, value in fields.items() if key != "hmac"})

    def snapshots(self, node: Node) -> list[str]:
        """Names of the raft snapshots the node has on disk."""
        folder = node.metadata_log_dir / "__cluster_metadata-0"
        return sorted(path.name for path in folder.glob("*.checkpoint"))
