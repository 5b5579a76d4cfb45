"""Damaged directories of a real quorum, mended by plan and apply: all three controllers start on
them, elect a leader, and the mended one has what the others have.

The quorum is made once, killed, and kept; each case damages a copy of it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import kafka
import pytest
import scenarios
from clusters import Cluster, Node

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import scan
from kraftool.repair.plan import Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from kraftool.reports.state.load import load_state

pytestmark = [pytest.mark.interop, pytest.mark.soak]
ROOT = Path(__file__).resolve().parents[2]
PARTITION = "__cluster_metadata-0"


def kraftool(*arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kraftool", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", params=["4.3.0", "4.4.0", "4.1.1", "3.9.1"])
def quorum(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    if problem := kafka.available(request.param, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    root = tmp_path_factory.mktemp("mending") / "nodes"
    with Cluster(request.param, root, common=scenarios.SMALL_SNAPSHOTS) as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        broker = cluster.add_node(11, ("broker",))
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        cluster.format([broker])
        cluster.start(*nodes, broker)
        for number in range(40):
            cluster.admin("create-topic", topic=f"t{number}", partitions=3, replication=1)
        cluster.wait_caught_up(*nodes)
        kafka.wait_for("a snapshot on each", lambda: all(map(cluster.snapshots, nodes)))
        cluster.kill(broker)
        cluster.kill(*nodes)
        for each in nodes:
            shutil.copytree(each.metadata_log_dir, each.directory / "kept")
        yield cluster


@pytest.fixture
def nodes(quorum: Cluster) -> Iterator[list[Node]]:
    """The controllers, with their directories as they were."""
    found = [quorum.nodes[number] for number in (1, 2, 3)]
    for each in found:
        shutil.rmtree(each.metadata_log_dir)
        shutil.copytree(each.directory / "kept", each.metadata_log_dir)
    yield found
    for each in found:
        if each.process is not None:
            each.process.close()
            each.process = None


def partition(node: Node) -> Path:
    return node.metadata_log_dir / PARTITION


def segment(node: Node) -> Path:
    return min(partition(node).glob("*.log"))


def batches(path: Path) -> list[RecordBatch]:
    data = path.read_bytes()
    found = scan(lambda position, size: data[position : position + size])
    return [each for each in found if isinstance(each, RecordBatch)]


def snapshots(node: Node) -> list[Path]:
    found = sorted(partition(node).glob("*.checkpoint"))
    return [each for each in found if not each.name.startswith("0" * 20)]


def flip(path: Path, position: int) -> None:
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[position] ^= 0x40
    path.write_bytes(bytes(data))


def mended(
    quorum: Cluster, nodes: list[Node], tmp_path: Path, *options: str
) -> tuple[Plan, set[int]]:
    """Plan and apply by the command line, and start all of them; the plan, and who was mended."""
    file = tmp_path / "plan.yaml"
    paths = [each.metadata_log_dir for each in nodes]
    kraftool("recover", "plan", *paths, *options, "--out", file)
    plan = plan_from_yaml(file.read_bytes())
    sources = [f"--source=node-{each.id}={each.metadata_log_dir}" for each in nodes]
    words = [word for each in plan.risks for word in ("--accept", each.word)]
    done = set()
    for each in nodes:
        host = plan.host(f"node-{each.id}")
        assert host is not None
        if not host.edits:
            continue
        wanted = {piece.source for edit in host.edits for piece in edit.pieces} - {""}
        given = [one for one in sources if one.split("=")[1] in wanted]
        options_ = ("--dir", each.metadata_log_dir, "--yes", plan.id, *words, *given)
        kraftool("recover", "apply", file, *options_)
        done.add(each.id)
    quorum.start(*nodes)
    quorum.wait_leader()
    quorum.wait_caught_up(*nodes)
    return plan, done


def topics(quorum: Cluster, node: Node) -> int:
    """How many topics a node's directory has, once it is killed."""
    quorum.kill(node)
    return len(load_state(str(node.metadata_log_dir)).image.topics.by_id)


def lost_promise(node: Node) -> None:
    (partition(node) / "quorum-state").write_bytes(b"")


def damaged_middle(node: Node) -> None:
    for each in snapshots(node):
        each.unlink()
    path = segment(node)
    batch = batches(path)[25]
    flip(path, batch.position + batch.size - 3)


def damaged_below_a_snapshot(node: Node) -> None:
    path = segment(node)
    batch = batches(path)[10]
    flip(path, batch.position + batch.size - 3)


def damaged_snapshot(node: Node) -> None:
    newest = snapshots(node)[-1]
    flip(newest, newest.stat().st_size // 2)


def junk_snapshot(node: Node) -> None:
    (partition(node) / "00000000000000099999-0000000009.checkpoint").write_bytes(b"what is this")


def false_epochs(node: Node) -> None:
    (partition(node) / "leader-epoch-checkpoint").write_text("0\n2\n1 0\n77 20\n")


def foreign_partition(node: Node) -> None:
    text = "version: 0\ntopic_id: BBBBBBBBBBBBBBBBBBBBBQ\n"
    (partition(node) / "partition.metadata").write_text(text)


def stray_name(node: Node) -> None:
    (partition(node) / "notes.log").write_bytes(b"x")


@pytest.mark.parametrize(
    ("damage", "case"),
    [
        (lost_promise, "quorum-state"),
        (damaged_middle, "rebuilt"),
        (damaged_below_a_snapshot, "rebuilt"),
        (damaged_snapshot, "snapshot-damaged"),
        (junk_snapshot, "junk-snapshot"),
        (false_epochs, "leader-epochs"),
        (foreign_partition, "partition-metadata"),
        (stray_name, "stray-names"),
    ],
)
def test_one_of_three_is_mended_and_all_start(
    quorum: Cluster,
    nodes: list[Node],
    tmp_path: Path,
    damage: Callable[[Node], None],
    case: str,
) -> None:
    damage(nodes[1])
    plan, done = mended(quorum, nodes, tmp_path)
    assert plan.cases == (case,)
    assert done == {2}
    assert topics(quorum, nodes[1]) == 40


def test_endpoints_of_all_voters_changed(
    quorum: Cluster, nodes: list[Node], tmp_path: Path
) -> None:
    """Nobody can reach anybody by the old record; the new one is in force at once."""
    ports = {each.id: each.ports["CONTROLLER"] for each in nodes}
    swapped = {1: ports[2], 2: ports[3], 3: ports[1]}
    options: list[str] = []
    for each in nodes:
        each.ports["CONTROLLER"] = swapped[each.id]
        each.settings["listeners"] = f"CONTROLLER://{each.at('CONTROLLER')}"
        each.write_properties()
        options += ("--set", f"endpoint.{each.id}=CONTROLLER://{each.at('CONTROLLER')}")
    plan, done = mended(quorum, nodes, tmp_path, *options)
    assert plan.cases == ("endpoints",)
    assert done == {1, 2, 3}
    for each in nodes:
        each.ports["CONTROLLER"] = ports[each.id]
        each.settings["listeners"] = f"CONTROLLER://{each.at('CONTROLLER')}"
        each.write_properties()


def test_a_poison_record_gives_way(quorum: Cluster, nodes: list[Node], tmp_path: Path) -> None:
    change = {"partitionId": 0, "topicId": "9PTPM4xATAiPu0uKMvmPmg", "leader": 11}
    for each in nodes:
        path = segment(each)
        last = batches(path)[-1]
        value = encode_record("PartitionChangeRecord", 0, change)
        offset, time = last.last_offset + 1, last.header.max_timestamp
        data = encode_batch([(None, value)], base_offset=offset, epoch=last.epoch, timestamp=time)
        with path.open("ab") as file:
            file.write(data)
    plan, done = mended(quorum, nodes, tmp_path, "--set", f"poison={offset}")
    assert plan.cases == ("poison",)
    assert done == {1, 2, 3}
    assert topics(quorum, nodes[1]) == 40
