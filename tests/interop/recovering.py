"""A quorum of real Kafka, killed under load, kept, and put back for each trial of recovery.

Owns the cluster's making and end, photographs of its directories, the command lines of `recover`,
and the trees of Kafka's own shell by which an outcome is judged. What is tried is for the tests.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kraftool.repair.edits import sources_needed
from kraftool.repair.plan import HostPlan, Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.interop import kafka, operations, our_commands, scenarios
from tests.interop.clusters import Cluster, Node
from tests.interop.ondisk import differences, gathered, segments, trees
from tests.interop.our_nodes import end_of
from tests.interop.shared_jvms import AdminRefused, AdminSession, admin_client, tool_session
from tests.support.places import PARTITION, ROOT

MESSAGES = 40
OURS, THEIRS = 1_111_111, 2_222_222
"""What the recovered quorum says, and what the old majority does (`Kept.say`)."""
STAYS = "pope"
"""Has credentials, and the first place in every hash map: Kafka's snapshots do not lose those of
others then, whatever it takes up at once (test_scram_loss.py)."""
SAID = "/image/configs/BROKER/message.max.bytes"
"""Where Kafka's shell shows it."""


VERSIONS = (kafka.TOOLS_VERSION, "4.3.1", kafka.NEWEST, "4.1.1", "3.9.1")
"""The releases that recovery is for."""


def on(
    fixture: str, versions: Sequence[str] = VERSIONS, *, always: bool = False
) -> pytest.MarkDecorator:
    """A fixture on each release: always with Kafka 4.3.0 if it is said so, all else in soak."""
    params = [
        pytest.param(
            version, marks=() if always and version == kafka.TOOLS_VERSION else pytest.mark.soak
        )
        for version in versions
    ]
    return pytest.mark.parametrize(fixture, params, indirect=True)


# --- the command line ---------------------------------------------------------------------------


def kraftool(*arguments: object, code: int = 0, cwd: Path = ROOT) -> str:
    """What it prints, when it ends with this exit code."""
    done = our_commands.kraftool(*arguments, cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


# --- the cluster --------------------------------------------------------------------------------


@contextmanager
def cluster_of(version: str, folder: Path) -> Iterator[Cluster]:
    """One that has snapshots soon, or a test that is skipped without that Kafka."""
    if problem := kafka.available(version, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(version, folder / "nodes", common=scenarios.SMALL_SNAPSHOTS) as cluster:
        yield cluster


def begin(
    cluster: Cluster, *, controllers: int = 3, dynamic: bool = True
) -> tuple[list[Node], Node]:
    """Start controllers and a broker, with messages in the topic `kept`."""
    made = [cluster.add_node(number + 1, ("controller",)) for number in range(controllers)]
    broker = cluster.add_node(11, ("broker",))
    if dynamic:
        cluster.use_bootstrap_servers()
        cluster.format(made, "--initial-controllers", cluster.initial_controllers())
        cluster.format([broker])
    else:
        cluster.use_static_voters()
        cluster.format([*made, broker])
    cluster.start(*made, broker)
    cluster.admin("create-topic", topic="kept", partitions=2, replication=1)
    cluster.admin("produce", topic="kept", count=MESSAGES)
    return made, broker


@contextmanager
def load(cluster: Cluster, broker: Node) -> Iterator[None]:
    """Topics are created by another process all the while."""
    session = AdminSession(admin_client(cluster.version), cluster.logs / "load.log")
    at, ended = broker.at("BROKER"), threading.Event()

    def create() -> None:
        number = 0
        with suppress(OSError, ValueError):  # the session is gone
            while not ended.is_set():
                topic = f"load-{number}"
                question = {"op": "create-topic", "at": at, "topic": topic}
                with suppress(
                    kafka.KafkaFailed
                ):  # a leader may commit one and die before it says so
                    session.call(question | {"partitions": 1, "replication": 1}, timeout=20)
                number += 1

    thread = threading.Thread(target=create)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        session.process.kill()
        thread.join()
        session.process.close()


def wait_for_topics(cluster: Cluster, number: int) -> None:
    """Wait until the load has created so many more topics: its JVM takes seconds to start."""
    wanted = len(cluster.admin("list-topics")) + number
    kafka.wait_for("the load to go on", lambda: len(cluster.admin("list-topics")) >= wanted)


def strike(cluster: Cluster, broker: Node) -> tuple[Node, list[str]]:
    """Kill the leader, let the others go on, kill them all.

    The first one, which is behind in an older epoch, and the topics that there were shortly before.
    """
    survivor = cluster.wait_leader()
    with load(cluster, broker):
        cluster.kill(survivor)
        assert cluster.wait_leader() is not survivor
        wait_for_topics(cluster, 4)
        topics = sorted(cluster.admin("list-topics"))
        cluster.kill(*cluster.running())
    return survivor, topics


def small_segments(version: str) -> dict[str, str]:
    """Settings with which a log has several segments, and loses the first ones soon."""
    size = (
        {"internal.metadata.log.segment.bytes": "6000"}
        if kafka.at_least(version, "4.0")
        else {"metadata.log.segment.min.bytes": "1000", "metadata.log.segment.bytes": "6000"}
    )
    return {**size, "metadata.max.retention.bytes": "12000"}


def voters(cluster: Cluster) -> list[int]:
    shown = kafka.wait_for("an answer to describe-quorum", cluster.quorum)
    return sorted(voter["id"] for voter in shown["voters"])


@dataclass(frozen=True, slots=True)
class Photograph:
    """What a trial may change of a node besides its directory."""

    settings: dict[str, str]
    ports: dict[str, int]


class Kept:
    """Controllers and a broker with every kind of metadata, struck down, to be put back at will.

    `survivor` led first, and was killed before the others: it is behind, in an older epoch. The
    `others` and the broker went on without it.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        dynamic: bool = True,
        controllers: int = 3,
        cleaned: bool = False,
    ) -> None:
        self.cluster = cluster
        if cleaned:
            cluster.common |= small_segments(cluster.version)
        self.plan_file = cluster.root.parent / "plan.yaml"
        self.copies = cluster.root.parent / "copies"
        self.controllers, self.broker = begin(cluster, controllers=controllers, dynamic=dynamic)
        self._photographs: dict[str, dict[int, Photograph]] = {}
        self._trees: dict[tuple[int, str], dict[str, str]] = {}
        self.survivor, self.topics = self._struck(cleaned=cleaned)
        self.others = [
            controller for controller in self.controllers if controller is not self.survivor
        ]
        self.photograph("struck")

    def _struck(self, *, cleaned: bool) -> tuple[Node, list[str]]:
        """Fill the metadata and kill all; the survivor, and the topics that there were."""
        cluster = self.cluster
        cluster.admin("upsert-scram", user=STAYS, password="CANARY-stays", salt="CANARY-salt")
        operations.everything(cluster, self.broker, "a")
        cluster.wait_caught_up(*self.controllers, self.broker)
        if cleaned:
            for tag in "bc":
                operations.topics(cluster, [self.broker], tag)
                operations.acls(cluster, tag)
                operations.quotas(cluster, tag)
            self._wait_cleaned()
        return strike(cluster, self.broker)

    def _wait_cleaned(self) -> None:
        """Until Kafka's own cleaning, which runs once a minute, has moved every log's start."""
        kafka.wait_for(
            "the first segments to be cleaned",
            lambda: all(int(segments(controller)[0].stem) > 0 for controller in self.controllers),
            timeout=150,
        )

    # Photographs

    @property
    def nodes(self) -> list[Node]:
        return [*self.controllers, self.broker]

    def photograph(self, name: str, *nodes: Node) -> None:
        """Keep the directories of some nodes, else of all, as they are, with the settings."""
        kept = nodes or self.nodes
        for node in kept:
            shutil.copytree(node.metadata_log_dir, node.directory / name, symlinks=True)
        self._photographs[name] = {
            node.id: Photograph(dict(node.settings), dict(node.ports)) for node in kept
        }

    def kept(self, node: Node, name: str = "struck") -> Path:
        """A node's directory as it was."""
        return node.directory / name

    def put_back(self, name: str = "struck") -> None:
        """Everything as it was in a photograph, and nothing else."""
        self.end()
        for node in [node for node in self.cluster.nodes.values() if node not in self.nodes]:
            shutil.rmtree(node.directory)
        self.cluster.nodes = {node.id: node for node in self.nodes}
        for node in self.nodes:
            photograph = self._photographs[name][node.id]
            node.settings, node.ports = dict(photograph.settings), dict(photograph.ports)
            node.write_properties()
            shutil.rmtree(node.metadata_log_dir, ignore_errors=True)
            shutil.copytree(self.kept(node, name), node.metadata_log_dir, symlinks=True)

    def end(self) -> None:
        """kill -9 of whatever runs."""
        for node in self.cluster.nodes.values():
            if node.process is not None:
                node.process.close()
                node.process = None

    def level(self) -> None:
        """Put back a photograph in which the logs of all controllers end alike; made once."""
        if "level" in self._photographs:
            self.put_back("level")
            return
        self.put_back()

        def are_level() -> bool:
            self.cluster.start(*self.nodes)
            self.cluster.wait_caught_up(*self.nodes)
            leader = self.cluster.wait_leader()
            self.cluster.kill(leader, *(node for node in self.nodes if node is not leader))
            return len({end_of(node) for node in self.nodes}) == 1

        kafka.wait_for("all logs to end alike", are_level, timeout=180)
        self.photograph("level")

    def tree(self, node: Node, name: str) -> dict[str, str]:
        """What Kafka's shell shows of a node in a photograph; asked once."""
        if (node.id, name) not in self._trees:
            [tree] = trees([self.gathered(self.kept(node, name))])
            self._trees[node.id, name] = tree
        return self._trees[node.id, name]

    def gathered(self, directory: Path, *, below: int | None = None) -> Path:
        """A directory's metadata as one file."""
        name = "-".join(directory.parts[-2:])
        return gathered(directory, self.plan_file.with_name(f"{name}.gathered"), below=below)

    def planned_tree(self, plan: Plan, seed: Node) -> dict[str, str]:
        """The tree of the state that a plan names, in the directory that it was taken of, which is
        that of the checkpoint that was written, too."""
        host = plan.host(plan.seed or "")
        assert host is not None
        recipe = next(edit.snapshot for edit in host.edits if edit.snapshot is not None)
        source = plan.host(recipe.source) if recipe.source else host
        assert source is not None
        origin = self.kept(self.node_of(source))
        planned = self.gathered(origin, below=recipe.state_offset)
        wanted, written = trees([planned, self.gathered(seed.metadata_log_dir)])
        assert not differences(wanted, written)
        return wanted

    def assert_tree(self, wanted: Mapping[str, str], *nodes: Node) -> None:
        """Whatever still runs is killed, and the shell shows this tree of each node's directory."""
        self.end()
        shown = trees([self.gathered(member.metadata_log_dir) for member in nodes])
        for node, tree in zip(nodes, shown, strict=True):
            differing = differences(tree, wanted)
            assert not differing, f"node {node.id}: {differing}"

    def assert_alike(self) -> None:
        """All controllers have one tree, with every topic of before."""
        self.end()
        [first, *rest] = trees(
            [self.gathered(controller.metadata_log_dir) for controller in self.controllers]
        )
        for other in rest:
            assert not differences(first, other)
        topics = {path.split("/")[4] for path in first if path.startswith("/image/topics/byName/")}
        assert set(self.topics) <= topics

    # Plan and apply

    def plan(self, nodes: Iterable[Node], *options: str) -> Plan:
        """`recover plan` on the directories of some nodes."""
        paths = [node.directory / "server.properties" for node in nodes]
        version = ("--kafka-version", self.cluster.version)
        self.plan_file.unlink(missing_ok=True)
        kraftool("recover", "plan", *paths, *version, *options, "--out", self.plan_file)
        plan = plan_from_yaml(self.plan_file.read_bytes())
        self._copy(plan)
        return plan

    def plan_lost(self, lost: Iterable[Node], *options: str) -> Plan:
        """The plan where some controllers are lost, and everybody else is there."""
        gone = list(lost)
        ids = ",".join(str(node.id) for node in gone)
        left = [node for node in self.cluster.nodes.values() if node not in gone]
        return self.plan(left, "--set", f"lost={ids}", *options)

    def node_of(self, host: HostPlan) -> Node:
        """By the name, which it has from server.properties where meta.properties is lost."""
        return self.cluster.nodes[int(host.name.removeprefix("node-"))]

    def apply(self, plan: Plan) -> set[int]:
        """`recover apply` on every host that has edits, from copies where it takes another's files.

        The ids of those.
        """
        done, words = set(), [word for risk in plan.risks for word in ("--accept", risk.word)]
        for host in plan.hosts:
            if not host.edits:
                continue
            node = self.node_of(host)
            wanted = sources_of(plan, host.name)
            given = [f"--source={name}={self.copies / name}" for name in wanted]
            where = ("--dir", node.metadata_log_dir, "--host", host.name)
            kraftool("recover", "apply", self.plan_file, *where, "--yes", plan.id, *words, *given)
            done.add(node.id)
        return done

    def _copy(self, plan: Plan) -> None:
        """What the plan's copy steps say, while the directories are as it found them."""
        shutil.rmtree(self.copies, ignore_errors=True)
        wanted = {name for host in plan.hosts for name in sources_of(plan, host.name)}
        for host in plan.hosts:
            if host.name in wanted:
                directory = self.node_of(host).metadata_log_dir
                target = self.copies / host.name
                shutil.copytree(directory / PARTITION, target / PARTITION)
                shutil.copy(directory / "meta.properties", target)

    def configure(self, plan: Plan) -> None:
        """Set in each server.properties what the plan says."""
        for host in plan.hosts:
            node = self.node_of(host)
            for setting in host.settings:
                node.settings.pop(setting.key, None)
                if setting.value:
                    node.settings[setting.key] = setting.value
            node.write_properties()

    # What is said and seen while nodes run

    def say(self, node: Node, value: int) -> None:
        """Have the quorum that a node belongs to commit a record that can be told from others."""
        question = {"op": "configs", "type": "BROKER", "name": "", "via": "controller"}
        settings = {"message.max.bytes": str(value)}

        def probe() -> bool:
            with suppress(AdminRefused):  # as long as the node has not loaded the metadata
                self.cluster.session.call(question | {"at": node.at("CONTROLLER"), "set": settings})
                return True
            return False

        kafka.wait_for(f"node {node.id} to take {value}", probe, every=0.2)

    def leads(self, node: Node) -> None:
        """Wait until a node calls itself the leader."""

        def probe() -> bool:
            shown = self.cluster.peek("describe-quorum", node)
            return shown is not None and shown["leaderId"] == node.id

        kafka.wait_for(f"node {node.id} to lead", probe, every=0.1)

    def elected(self, *nodes: Node) -> Node:
        """Wait until one of these calls one of these the leader."""

        def probe() -> Node | None:
            for node in nodes:
                shown = self.cluster.peek("describe-quorum", node) or {"leaderId": -1}
                leaders = [one for one in nodes if one.id == shown["leaderId"]]
                if leaders:
                    return leaders[0]
            return None

        return kafka.wait_for("the old voters to have a leader", probe, every=0.1)

    def follow(self, leader: Node, *nodes: Node) -> None:
        """Wait until a leader sees all of these fetch to its end, and none of them as a voter."""

        def probe() -> bool:
            for node in (leader, *nodes):
                assert node.process is not None
                node.process.require_alive()
            shown = self.cluster.peek("describe-quorum", leader)
            if shown is None:
                return False
            assert [voter["id"] for voter in shown["voters"]] == [leader.id]
            ends = {observer["id"]: observer["logEndOffset"] for observer in shown["observers"]}
            return all(ends.get(node.id, -1) >= shown["highWatermark"] for node in nodes)

        kafka.wait_for(f"{[node.id for node in nodes]} to follow {leader.id}", probe, every=0.1)

    def is_voter(self, node: Node) -> bool:
        """Whether the leader counts a node, under the name that its directory has, as a voter."""
        shown = kafka.wait_for("an answer to describe-quorum", self.cluster.quorum)
        name = (node.id, node.directory_id)
        return name in {(voter["id"], voter["directory"]) for voter in shown["voters"]}

    def has_everything(self) -> None:
        """The topics and messages of before, by way of the broker."""
        kafka.wait_for(
            "the broker to know of every topic",
            lambda: set(self.topics) <= set(self.cluster.admin("list-topics")),
        )
        consumed(self.cluster, self.broker)


def consumed(cluster: Cluster, broker: Node) -> None:
    """Every message of before is read by Kafka's consumer."""
    tool = "org.apache.kafka.tools.consumer.ConsoleConsumer"
    options = [*("--bootstrap-server", broker.at("BROKER"), "--topic", "kept", "--partition", "0")]
    options += ["--offset", "earliest", "--max-messages", str(MESSAGES), "--timeout-ms", "60000"]
    done = tool_session(cluster.version).run(tool, *options)
    assert done.code == 0, done.err
    assert f"Processed a total of {MESSAGES} messages" in done.out + done.err


def return_while_the_leader_dies(kept: Kept) -> None:
    """Old voters come back one by one, and each time the leader is killed and starts again."""
    cluster, survivor = kept.cluster, kept.survivor
    for number, other in enumerate(kept.others, 1):
        cluster.start(other)
        cluster.kill(survivor)
        cluster.start(survivor)
        kept.leads(survivor)
        kept.follow(survivor, *kept.others[:number])
    cluster.start(kept.broker)
    kept.has_everything()
    kept.follow(survivor, *kept.others, kept.broker)


def sources_of(plan: Plan, name: str) -> list[str]:
    """The other hosts whose directories a host's new files are made from."""
    host = plan.host(name)
    assert host is not None, name
    return sorted(sources_needed(plan, host))


@pytest.fixture(scope="module")
def kept(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    """One for the tests of a module, of the release that they are parametrized with."""
    yield from made(request.param, tmp_path_factory.mktemp("kept"))


def made(version: str, folder: Path, **more: Any) -> Iterator[Kept]:
    with cluster_of(version, folder) as cluster:
        yield Kept(cluster, **more)
