"""Kafka's command line tools against three kraftool controllers, and against three of Kafka's.

Each subcommand runs on both clusters, one after the other, and its outputs are compared. Names
replace addresses, generated ids, offsets and times first. A broker may show a change a moment after
the controller has answered, so a command that changes nothing more is run again until both agree.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop import kafka
from tests.interop.clusters import SASL_CLIENT, Cluster, Node
from tests.interop.our_nodes import start_ours
from tests.interop.shared_jvms import ToolOutput, tool_session

pytestmark = pytest.mark.interop
_VERSION = "4.3.0"
_AGREEMENT_S = 30.0
_TOOLS = {
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
}


_SCRIPT = Path(__file__).with_name("admin_tools.txt")
_STEP = re.compile(r"(?P<marks>(?:\[[^]]+\] ?)*)(?P<command>.*)")


class Run(NamedTuple):
    """A line of the script."""

    marks: frozenset[str]
    command: str

    @property
    def may_run_again(self) -> bool:
        words = ("describe", "--list", "list-endpoints", "--verify", "--if-")
        return bool(self.awaited) or any(word in self.command for word in words)

    @property
    def awaited(self) -> str:
        """The text without which the command is run again; empty if any output will do."""
        marks = (mark for mark in self.marks if mark.startswith("until "))
        return next(marks, "").removeprefix("until ")

    @property
    def listener(self) -> str:
        return "SASL" if {"guest", "sasl"} & {*self.marks} else "BROKER"

    @property
    def asks(self) -> str:
        return "controller" if "controller" in self.marks else "server"


def script() -> list[Run]:
    runs = []
    for line in _SCRIPT.read_text().splitlines():
        if line and not line.startswith("#"):
            step = _STEP.fullmatch(line)
            assert step is not None
            marks = re.findall(r"\[([^]]+)\]", step["marks"])
            runs.append(Run(frozenset(marks), step["command"]))
    return runs


def test_each_subcommand_does_what_it_does_with_kafkas_controllers(tmp_path: Path) -> None:
    if problem := kafka.available(_VERSION):
        pytest.skip(problem)
    different = []
    with (
        cluster_of(tmp_path / "kafka", are_ours=False) as theirs,
        cluster_of(tmp_path / "kraftool", are_ours=True) as ours,
    ):
        for run in script():
            outputs = compared(run, theirs, ours)
            if outputs is not None:
                different.append(f"{run.command}\n--- Kafka: {outputs[0]}\n--- ours: {outputs[1]}")
    assert not different, "\n\n".join(different)


def compared(run: Run, theirs: _Side, ours: _Side) -> tuple[ToolOutput, ToolOutput] | None:
    """Run a command on both sides; return its outputs if they differ."""
    deadline = time.monotonic() + _AGREEMENT_S
    while True:
        kafkas, kraftools = theirs.run(run), ours.run(run)
        if "newer" in run.marks:
            known = {_config_name(line) for line in kafkas.out.splitlines()}
            lines = [line for line in kraftools.out.splitlines() if _config_name(line) in known]
            kraftools = kraftools._replace(out="\n".join(lines))
        if kafkas == kraftools and run.awaited in kafkas.out:
            return None
        if not run.may_run_again or time.monotonic() > deadline:
            return kafkas, kraftools


def _config_name(line: str) -> str:
    return line.partition("=")[0]


@contextlib.contextmanager
def cluster_of(root: Path, *, are_ours: bool) -> Iterator[_Side]:
    """Three controllers and two brokers."""
    with Cluster(_VERSION, root) as cluster:
        controllers = [cluster.add_node(number, ["controller"]) for number in (1, 2, 3)]
        brokers = [cluster.add_node(number, ["broker"]) for number in (11, 12)]
        cluster.use_bootstrap_servers()
        voters = ("--initial-controllers", cluster.initial_controllers())
        cluster.format(controllers, *voters, "--release-version", "4.3")
        cluster.format(brokers, "--release-version", "4.3")
        if are_ours:
            start_ours(cluster, *controllers)
        else:
            cluster.start(*controllers)
        cluster.start(*brokers)
        yield _Side(cluster)


class _Side:
    """The tools, and one of the two clusters."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        leader = cluster.wait_leader()
        self._follower = next(node for node in cluster.controllers if node is not leader)
        self._directory = self._follower.directory_id
        self._partitions = cluster.root / "partitions.json"
        items = [{"topic": "placed", "partition": number} for number in (0, 1)]
        self._partitions.write_text(json.dumps({"partitions": items}))
        self._reassignments = dict(_reassignment_files(cluster.root))
        self._client = cluster.root / "client.properties"
        self._client.write_text("\n".join(f"{key}={value}" for key, value in SASL_CLIENT.items()))
        self._hmac = ""
        """Of the newest delegation token."""
        self._guest = cluster.root / "guest.properties"
        login = {key: value.replace("admin", "guest") for key, value in SASL_CLIENT.items()}
        self._guest.write_text("".join(f"{key}={value}\n" for key, value in login.items()))

    def run(self, run: Run) -> ToolOutput:
        """Return what the tool prints, in a form that does not depend on chance."""
        for mark in run.marks:
            if mark.startswith("stop "):
                self._cluster.stop(self._cluster.nodes[int(mark.split()[1])])
        if not run.command:
            return ToolOutput(0, "", "")
        output = self._run(run)
        if "--create --max-life-time-period" in run.command:
            [self._hmac] = _HMAC.findall(output.out)
        return self._comparable(run, output)

    def _run(self, run: Run) -> ToolOutput:
        tool, *words = self._filled(run.command).split()
        if run.asks == "controller":
            servers = [node.at("CONTROLLER") for node in self._cluster.running() if node.controller]
        else:
            servers = [node.at(run.listener) for node in self._cluster.running() if node.broker]
        if "sasl" in run.marks:
            words += ["--command-config", str(self._client)]
        at = [f"--bootstrap-{run.asks}", ",".join(servers)]
        if "guest" in run.marks:
            at += ["--command-config", str(self._guest)]
        # Subcommands of some take it, others take it before the subcommand.
        takes_it_first = tool in ("kafka-features", "kafka-metadata-quorum")
        words = [*at, *words] if takes_it_first else [*words, *at]
        return tool_session(_VERSION).run(_TOOLS[tool], *words)

    def _filled(self, command: str) -> str:
        words = {
            "FOLLOWER": str(self._follower.id),
            "DIRECTORY": self._directory,
            "CONFIG": str(self._follower.directory / "server.properties"),
            "PARTITIONS": str(self._partitions),
            **self._reassignments,
            "HMAC": self._hmac,
        }
        for word, value in words.items():
            command = command.replace(word, value)
        return command

    def _comparable(self, run: Run, output: ToolOutput) -> ToolOutput:
        if "words" in run.marks:
            return ToolOutput(output.code, "", _errors_of(output, r"\b([A-Z]\w+Exception)\b"))
        if "error" in run.marks:
            return ToolOutput(output.code, "", _errors_of(output, r"\b([A-Z]\w+Exception: .*)"))
        if run.command.startswith("kafka-acls"):
            output = output._replace(out="\n".join(_sorted_acls(output.out.splitlines())))
        return output._replace(out=self._named(output.out), err=self._named(output.err))

    def _named(self, text: str) -> str:
        for node in self._cluster.nodes.values():
            for listener in node.ports:
                text = text.replace(node.at(listener), f"{listener}-{_role(node)}")
                # A whole number: the largest int64 has digits of some port, too.
                port = rf"\b{node.ports[listener]}\b"
                text = re.sub(port, f"{listener}-{_role(node)}", text)
        text = text.replace(self._cluster.id, "CLUSTER").replace(str(self._cluster.root), "ROOT")
        text = re.sub(r"TopicId: \S+", "TopicId: ID", text)
        return "\n".join(_without_chance(text.splitlines()))


def _reassignment_files(folder: Path) -> Iterator[tuple[str, str]]:
    """The files of kafka-reassign-partitions, by the word that stands for each in the script."""
    topics = folder / "topics.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": "placed"}]}))
    yield "TOPICS", str(topics)
    for word, topic, replicas in (
        ("THERE", "moving", [[12], [12]]),
        ("BACK", "moving", [[11]]),
        ("WIDER", "moving", [[11, 12], [11]]),
        ("NOWHERE", "no-such-topic", [[11]]),
    ):
        items = [
            {"topic": topic, "partition": number, "replicas": brokers}
            for number, brokers in enumerate(replicas)
        ]
        path = folder / f"{word.lower()}.json"
        path.write_text(json.dumps({"version": 1, "partitions": items}))
        yield word, str(path)


def _role(node: Node) -> str:
    return str(node.id) if node.broker else "controller"


_CHANCE = re.compile(
    r"\b(LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs|Epoch):(\s+)-?\d+"
)
_NEWEST = re.compile(r"(Feature: (?:metadata|share)\.version.*SupportedMaxVersion:) (UNKNOWN )?\S+")
"""kraftool knows a release more than the brokers' one."""
_HMAC = re.compile(r"[A-Za-z0-9+/]{86}==")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
_DIRECTORY_ID = re.compile(r"[A-Za-z0-9_-]{22}")


def _without_chance(lines: list[str]) -> Iterator[str]:
    """Lines without what elections, clocks and offsets decide; those of replicas by what they are,
    in an order of their own."""
    replicas = []
    is_proposal = False
    for line in lines:
        if is_proposal:  # of two brokers, each of which gets a replica
            line = line.replace("[12,11]", "[11,12]")
        is_proposal = line.startswith("Proposed partition reassignment")
        if re.match(r"(\d+)\s+[A-Za-z0-9_-]{22}\s", line):
            replicas.append(f"replica: {line.split()[-1]}, {len(line.split())} columns")
            continue
        line = _DATE.sub("DATE", _HMAC.sub("HMAC", line))
        line = _DIRECTORY_ID.sub("ID", _CHANCE.sub(r"\1:\2N", line))
        line = re.sub(r"\b(id\W+|controller )[123]\b", r"\1N", line)
        line = _NEWEST.sub(r"\1 N", line)
        line = re.sub(r"(Topic: words.* Replicas: )11,12", r"\g<1>12,11", re.sub(r"\s+", " ", line))
        if line.startswith("CurrentObservers:"):
            line = " ".join(sorted(re.findall(r"\{.*?\}", line)))
        yield line
    yield from sorted(replicas)


def _errors_of(output: ToolOutput, pattern: str) -> str:
    """The errors that a tool tells of."""
    errors = re.findall(pattern, output.err + output.out)
    return "\n".join(dict.fromkeys(errors))


def _sorted_acls(lines: list[str]) -> list[str]:
    """Lines in an order of their own, each ACL with its resource: Kafka's order is that of hash
    maps."""
    heading, found = "", []
    for line in filter(None, map(str.strip, lines)):
        if line.endswith(":"):
            heading = line
        found.append(f"{heading} {line}" if line.startswith("(") else line)
    return sorted(found)
