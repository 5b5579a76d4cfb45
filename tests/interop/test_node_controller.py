"""A stock broker in a cluster whose controllers are kraftool's."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.framing import decode_record
from kraftool.storage.random_ids import random_uuid
from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.interop.our_nodes import batches_in, start_ours
from tests.interop.shared_jvms import tool_session
from tests.support.places import PARTITION, ROOT
from tests.support.ports import HOST, free_ports

pytestmark = pytest.mark.interop
KILLS = 20 if os.environ.get("KRAFTOOL_SOAK") == "1" else 2
BOOTSTRAP = [
    "BeginTransactionRecord",
    *["FeatureLevelRecord"] * 6,
    "ConfigRecord",
    "EndTransactionRecord",
]
"""What a Kafka 4.3.0 that was formatted with --standalone writes first (digest, section 9.1)."""
JOINING = [
    "RegisterControllerRecord",
    "RegisterBrokerRecord",
    "BrokerRegistrationChangeRecord",
    "BrokerRegistrationChangeRecord",
]


def tool(version: str, name: str, *arguments: str, stdin: bytes = b"") -> str:
    """Return the output of a command line tool of Kafka. One with stdin needs its own JVM."""
    target = f"org.apache.kafka.tools.{name}"
    if stdin:
        return kafka.run(version, target, *arguments, stdin=stdin, check=True).stdout.decode()
    done = tool_session(kafka.tools_version(version)).run(target, *arguments)
    assert done.code == 0, done.err
    return done.out


# test_controller_chaos.py has stock brokers of 4.3.0, with clients that produce and consume.
@pytest.mark.parametrize("version", [pytest.param("4.3.0", marks=pytest.mark.soak), "4.4.0"])
def test_one_command_and_a_stock_broker_exchange_records(version: str, tmp_path: Path) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    port, broker_port = free_ports(2)
    command = [
        "env", f"PYTHONPATH={ROOT}", "PYTHONUNBUFFERED=1", sys.executable, "-m", "kraftool",
        "node", "standalone", str(tmp_path / "controller"), "--listen", f"{HOST}:{port}",
    ]  # fmt: skip
    with kafka.Process(command, tmp_path / "controller.log") as controller:
        controller.wait_for_line("active controller epoch=1")
        output = controller.output()
        lines = re.findall(r"^    (\S+)$", output, re.MULTILINE)
        cluster_id = re.search(r"format -t (\S+)", output)
        assert cluster_id is not None, output
        folder = tmp_path / "broker"
        folder.mkdir()
        text = "\n".join(lines).replace(f"{HOST}:9092", f"{HOST}:{broker_port}")
        text = text.replace("/tmp/broker-1", str(folder / "data"))
        (folder / "server.properties").write_text(f"{text}\noffsets.topic.num.partitions=1\n")
        kafka.run(
            version, "kafka.tools.StorageTool", "format", "-t", cluster_id[1], "-c",
            "server.properties", cwd=folder, check=True,
        )  # fmt: skip
        serve = kafka.java_command(version, "kafka.Kafka", "server.properties", level="INFO")
        with kafka.Process(serve, tmp_path / "broker.log", cwd=folder) as broker:
            broker.wait_for_line("Kafka Server started")
            at = ("--bootstrap-server", f"{HOST}:{broker_port}")
            tool(version, "TopicCommand", *at, "--create", "--topic", "words", "--partitions", "2")
            words = "".join(f"word-{number}\n" for number in range(50))
            tool(version, "ConsoleProducer", *at, "--topic", "words", stdin=words.encode())
            read = tool(
                version, "consumer.ConsoleConsumer", *at, "--topic", "words", "--group", "readers",
                "--from-beginning", "--max-messages", "50", "--timeout-ms", "60000",
            )  # fmt: skip
            assert sorted(read.split()) == sorted(words.split())
            administer(version, at)
            assert broker.stop() in (0, 143)
        names = record_names(tmp_path / "controller" / "data" / PARTITION)
    assert names[: len(BOOTSTRAP)] == BOOTSTRAP
    rest = [name for name in names[len(BOOTSTRAP) :] if name != "NoOpRecord"]
    assert rest[: len(JOINING)] == JOINING
    # Leadership has moved from the broker that stops, and then it is fenced.
    assert rest[-1] == "BrokerRegistrationChangeRecord"


def administer(version: str, at: tuple[str, str]) -> None:
    """What Kafka's tools ask of a controller through a broker, and what they then show."""
    topic = ("--topic", "words")
    tool(version, "TopicCommand", *at, "--alter", *topic, "--partitions", "3")
    configs = ("--entity-type", "topics", "--entity-name", "words")
    alter = ("--alter", "--add-config", "retention.ms=7000,cleanup.policy=[compact,delete]")
    session = tool_session(kafka.TOOLS_VERSION)
    config_command = ("kafka.admin.ConfigCommand", *at, *configs)
    altered = session.run(*config_command, *alter)
    assert altered.code == 0, altered.err
    for words in ("PartitionCount: 3", "retention.ms=7000", "cleanup.policy=compact,delete"):
        wait_shown(version, at, "--describe", *topic, words=words)
    refused = session.run(*config_command, "--alter", "--add-config", "retention.ms=soon")
    assert "InvalidConfigurationException" in refused.out + refused.err
    elected = tool(
        version, "LeaderElectionCommand", *at, "--election-type", "preferred", *topic,
        "--partition", "2",
    )  # fmt: skip
    assert "Valid replica already elected" in elected
    tool(version, "TopicCommand", *at, "--create", "--topic", "gone")
    wait_shown(version, at, "--list", words="gone")
    tool(version, "TopicCommand", *at, "--delete", "--topic", "gone")
    wait_shown(version, at, "--list", words="gone", shown=False)


def wait_shown(
    version: str, at: tuple[str, str], *asked: str, words: str, shown: bool = True
) -> None:
    """A broker knows what its controller decided a moment after the controller has answered."""

    def probe() -> bool:
        return (words in tool(version, "TopicCommand", *at, *asked)) is shown

    kafka.wait_for(f"{words!r} to be {'shown' if shown else 'gone'}", probe)


def record_names(directory: Path) -> list[str]:
    """The types of the metadata records of a log, in their order."""
    whole = [RecordBatch.read(data, 0) for _, data in sorted(batches_in(directory).items())]
    return [
        decode_record(record.value)[0]
        for batch in whole
        if not batch.is_control
        for record in batch.records()
        if record.value is not None
    ]


def test_controllers_are_killed_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """Three of ours, a broker of Kafka's: topics are created and records produced all the time."""
    if problem := kafka.available("4.3.0"):
        pytest.skip(problem)
    with Cluster("4.3.0", tmp_path / "cluster") as cluster:
        controllers = [cluster.add_node(number, ["controller"]) for number in (1, 2, 3)]
        broker = cluster.add_node(11, ["broker"])
        cluster.use_bootstrap_servers()
        voters = ("--initial-controllers", cluster.initial_controllers())
        cluster.format(controllers, *voters, "--release-version", "4.3")
        cluster.format([broker], "--release-version", "4.3")
        start_ours(cluster, *controllers)
        cluster.start(broker)
        made = [create(cluster, 0)]
        producer = kafka.java_command(
            "4.3.0", "org.apache.kafka.tools.VerifiableProducer", "--bootstrap-server",
            broker.at("BROKER"), "--topic", "topic-0", "--throughput", "100", "--acks", "-1",
        )  # fmt: skip
        with kafka.Process(producer, tmp_path / "producer.log") as producing:
            producing.wait_for_line("producer_send_success")
            for round_number in range(1, KILLS + 1):
                leader = cluster.wait_leader()
                cluster.kill(leader)
                made.append(create(cluster, round_number))
                start_ours(cluster, leader)
                cluster.wait_caught_up(leader)
            producing.stop()
            output = producing.output()
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        sent = [line["value"] for line in lines if line["name"] == "producer_send_success"]
        errors = [line for line in lines if line["name"] == "producer_send_error"]
        assert sent
        assert not errors
        assert broker.process is not None
        broker.process.require_alive()
        wait_listed(cluster, made)
        read = tool(
            "4.3.0", "consumer.ConsoleConsumer", "--bootstrap-server", broker.at("BROKER"),
            "--topic", "topic-0", "--group", random_uuid(), "--from-beginning", "--max-messages",
            str(len(sent)), "--timeout-ms", "60000",
        )  # fmt: skip
        assert set(sent) <= set(read.split())


def wait_listed(cluster: Cluster, names: list[str]) -> None:
    """Wait until the broker, which reads the metadata a little later, shows all of these."""

    def are_listed() -> bool:
        return set(names) <= set(cluster.admin("list-topics"))

    kafka.wait_for(f"topics {names}", are_listed, every=0.2)


def create(cluster: Cluster, number: int) -> str:
    """A new topic, by whichever controller leads by the time the broker finds it."""
    name = f"topic-{number}"
    cluster.admin("create-topic", topic=name, partitions=3, replicas=1)
    return name


@pytest.mark.soak
@pytest.mark.parametrize(("version", "release"), [("3.9.1", "3.9"), ("4.1.1", "4.1")])
def test_older_brokers_join_a_cluster_of_their_release(
    version: str, release: str, tmp_path: Path
) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    with Cluster(version, tmp_path / "cluster") as cluster:
        controller = cluster.add_node(1, ["controller"])
        broker = cluster.add_node(11, ["broker"])
        cluster.use_bootstrap_servers()
        cluster.format([controller], "--standalone", "--release-version", release)
        cluster.format([broker], "--release-version", release)
        start_ours(cluster, controller)
        cluster.start(broker)
        wait_listed(cluster, [create(cluster, 0)])
        cluster.stop(broker)


@pytest.mark.soak
def test_leadership_moves_between_kafkas_controllers_and_ours(tmp_path: Path) -> None:
    """Each goes on with what the others have written."""
    if problem := kafka.available("4.3.0"):
        pytest.skip(problem)
    with Cluster("4.3.0", tmp_path / "cluster") as cluster:
        ours, *theirs = [cluster.add_node(number, ["controller"]) for number in (1, 2, 3)]
        broker = cluster.add_node(11, ["broker"])
        cluster.use_bootstrap_servers()
        voters = ("--initial-controllers", cluster.initial_controllers())
        cluster.format([ours, *theirs], *voters, "--release-version", "4.3")
        cluster.format([broker], "--release-version", "4.3")
        start_ours(cluster, ours)
        cluster.start(*theirs)
        cluster.start(broker)
        made: list[str] = []
        led: set[int] = set()
        while not (ours.id in led and led & {node.id for node in theirs}) or len(made) < 6:
            leader = cluster.wait_leader()
            led.add(leader.id)
            made.append(create(cluster, len(made)))
            cluster.kill(leader)
            cluster.wait_leader()
            if leader is ours:
                start_ours(cluster, leader)
            else:
                cluster.start(leader)
            cluster.wait_caught_up(leader)
            assert len(made) < 40, f"only nodes {led} were elected"
        wait_listed(cluster, made)
        assert broker.process is not None
        broker.process.require_alive()
