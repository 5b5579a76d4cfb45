"""What apply and undo leave is Kafka's: it starts on it, and does not see what they keep there.

One server that is controller and broker, whose only voter jumps to a checkpoint: a broker looks at
every folder in its data directories, and ends at one that it does not know.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kraftool.decoders.names import write_checkpoint_name
from kraftool.raft.names import Endpoint, ReplicaKey, Voter
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION
from kraftool.repair.backup import FOLDER
from kraftool.repair.plan import Plan
from kraftool.repair.plan_file import target_of
from kraftool.repair.plan_yaml import plan_from_yaml, plan_to_yaml
from kraftool.reports.election.read import read_case
from tests.commands.recover_files import signalled
from tests.interop import damages, kafka, our_commands
from tests.interop.clusters import Cluster, Node
from tests.interop.ondisk import differences, gathered, segments, snapshots, trees
from tests.interop.recovering import on
from tests.repair.repair_cases import contents, jump_of
from tests.support.places import PARTITION

pytestmark = pytest.mark.interop
recover = partial(our_commands.kraftool, "recover")


class Server:
    """A cluster of one, with a topic that must never be lost."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.node: Node = cluster.add_node(1, ("controller", "broker"))
        cluster.use_bootstrap_servers()
        cluster.format([self.node], "--standalone")
        self.directory = self.node.metadata_log_dir
        self.start()
        cluster.admin("create-topic", topic="kept", partitions=1, replication=1)

    def start(self) -> None:
        self.cluster.start(self.node)
        self.cluster.wait_leader()

    def plan(self, jump: int = 1_000_000) -> Path:
        """A plan for the directory as it is."""
        end = read_case([str(self.directory)]).nodes[0].end
        host, _, port = self.node.at("CONTROLLER").partition(":")
        voter = Voter(
            key=ReplicaKey(1, self.node.directory_id),
            endpoints={"CONTROLLER": Endpoint(host, int(port))},
            kraft_version=SUPPORTED_KRAFT_VERSION,
        )
        name = write_checkpoint_name(end.offset + jump, end.epoch + 1000)
        made: Plan = jump_of(
            self.directory, state_offset=end.offset, voter=voter, snapshot=target_of(name)
        )
        self.id = made.id
        path = self.directory.parent / "plan.yaml"
        path.write_bytes(plan_to_yaml(made))
        return path


@pytest.fixture
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    if problem := kafka.available(request.param):
        pytest.skip(problem)
    with Cluster(request.param, tmp_path / "nodes") as cluster:
        yield Server(cluster)


@on("server", always=True)
def test_kafka_starts_on_what_was_undone_and_on_what_was_applied(server: Server) -> None:
    cluster, directory = server.cluster, server.directory
    plan = server.plan()
    done = recover("apply", plan, "--dir", directory, "--yes", server.id)
    assert done.returncode == 5, "Kafka runs"
    assert "in use" in done.stderr or "not what it was" in " ".join(done.stderr.split())
    cluster.stop(server.node)
    before = contents(directory)

    plan = server.plan()
    options = (plan, "--dir", directory, "--yes", server.id)
    assert recover("apply", *options).returncode == 0
    done = recover("verify", *options[:3])
    assert done.returncode == 0, done.stdout
    assert recover("undo", *options).returncode == 0
    assert contents(directory) == before
    server.start()
    assert "kept" in cluster.admin("list-topics")
    assert (directory / PARTITION / FOLDER).exists(), "and Kafka passes it over"
    cluster.stop(server.node)

    plan = server.plan()
    options = (plan, "--dir", directory, "--yes", server.id)
    assert recover("apply", *options).returncode == 0
    server.start()
    assert "kept" in cluster.admin("list-topics")
    live = ("--bootstrap-controller", server.node.at("CONTROLLER"))
    done = recover("verify", *options[:3], *live)
    assert done.returncode == 0, done.stdout
    assert "a node has run on it since" in " ".join(done.stdout.split())
    assert "already applied" in " ".join(recover("apply", *options).stdout.split())
    cluster.stop(server.node)
    done = recover("undo", *options)
    assert done.returncode == 5
    assert "a node has run on" in " ".join(done.stderr.split())


@on("server", (kafka.TOOLS_VERSION, kafka.NEWEST, "3.9.1"))
def test_started_on_any_half_applied_directory_kafka_loses_nothing(server: Server) -> None:
    """A supervisor starts it after apply was killed: it goes on as before, or as planned."""
    cluster, directory = server.cluster, server.directory
    cluster.stop(server.node)
    kept = directory.with_name("kept")
    shutil.copytree(directory, kept, symlinks=True)
    plan = server.plan()
    entries = 0
    while True:
        words = ("recover", "apply", plan, "--dir", directory, "--yes", server.id)
        done = signalled(words, entries, signal.SIGKILL)
        if done.code != -signal.SIGKILL:
            break
        server.start()
        assert "kept" in cluster.admin("list-topics"), entries
        cluster.stop(server.node)
        entries += 1
        shutil.rmtree(directory)
        shutil.copytree(kept, directory, symlinks=True)
    assert done.code == 0, done.err
    assert entries > 8, "every entry of the journal was tried"


@on("server", always=True)
def test_a_flipped_bit_is_put_back_and_kafka_starts_with_all_records(server: Server) -> None:
    """Kafka would cut the log there without a word. The image is the intact copy's."""
    cluster, directory = server.cluster, server.directory
    for number in range(20):
        cluster.admin("create-topic", topic=f"topic-{number}", partitions=1, replication=1)
    cluster.stop(server.node)
    for snapshot in snapshots(server.node):
        if int(snapshot.name[:20]):
            snapshot.unlink()
    intact = gathered(directory, directory.parent / "intact.gathered")
    before = segments(server.node)[0].read_bytes()
    damages.flip_one_bit(server.node)
    plan = directory.parent / "flipped.yaml"
    done = recover("plan", directory, "--out", plan)
    assert done.returncode == 0, done.stderr
    assert "One flipped bit explains that" in " ".join(done.stderr.split())
    made = plan_from_yaml(plan.read_bytes())
    done = recover("apply", plan, "--dir", directory, "--yes", made.id)
    assert done.returncode == 0, done.stdout + done.stderr
    assert segments(server.node)[0].read_bytes() == before
    mended = gathered(directory, directory.parent / "mended.gathered")
    wanted, repaired = trees([intact, mended])
    assert not differences(wanted, repaired)
    server.start()
    assert {f"topic-{number}" for number in range(20)} <= set(cluster.admin("list-topics"))
    cluster.stop(server.node)
