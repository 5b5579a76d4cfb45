"""Starts `kraftool node run` in a Kafka's stead, on the same folder, and looks at it from outside.

Owns the process and what can be asked of its metrics page and its files. A Cluster treats it like
any other of its nodes.
"""

from __future__ import annotations

import sys
import time
import urllib.request
from pathlib import Path

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import Damage, scan
from kraftool.raft.names import OffsetAndEpoch
from kraftool.storage.source import BytesSource
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.support.places import PARTITION, ROOT
from tests.support.ports import free_ports

_LEADER = Path(__file__).with_name("our_leader.py")
_metrics: dict[int, int] = {}
"""The metrics port of each process."""


def start_ours(
    cluster: Cluster, *nodes: Node, options: tuple[str, ...] = (), keeps_leading: bool = False
) -> None:
    """Start nodes as kraftool's, and wait until each listens. With `keeps_leading` a node may be
    elected and does not hand leadership to a Kafka."""
    for node in nodes:
        assert node.process is None, f"node {node.id} already runs"
        [port] = free_ports(1)
        command = [
            "env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "kraftool", "node", "run",
            "--config", "server.properties", "--metrics-listen", f"{node.host}:{port}", *options,
        ]  # fmt: skip
        if keeps_leading:
            command = [sys.executable, str(_LEADER), "server.properties", str(port)]
        log = cluster.logs / f"node-{node.id}.log"
        node.process = kafka.Process([*node.within, *command], log, cwd=node.directory)
        _metrics[node.process.pid] = port
    for node in nodes:
        assert node.process is not None
        node.process.wait_for_line(rf" started node={node.id} ")


def is_ours(node: Node) -> bool:
    """True if a running node is kraftool's."""
    assert node.process is not None
    return node.process.pid in _metrics


def metrics_at(node: Node) -> str:
    """Where one of ours serves its metrics."""
    assert node.process is not None
    return f"{node.host}:{_metrics[node.process.pid]}"


def metric(node: Node, name: str) -> int:
    """A raft metric of one of ours, by Kafka's name."""
    assert node.process is not None
    node.process.require_alive()
    url = f"http://{metrics_at(node)}/metrics"
    with urllib.request.urlopen(url, timeout=60) as page:
        lines = page.read().decode().splitlines()
    line = next(line for line in lines if line.startswith(f"kafka_server_raft_metrics_{name} "))
    return int(float(line.split()[1]))


def batches(node: Node) -> dict[int, bytes]:
    """The whole batches in a node's log, their bytes by base offset."""
    return batches_in(node.metadata_log_dir / PARTITION)


def batches_in(folder: Path) -> dict[int, bytes]:
    """The whole batches in a partition's folder, their bytes by base offset."""
    data_by_offset: dict[int, bytes] = {}
    for path in sorted(folder.glob("*.log")):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue  # a running node has removed it since
        for item in scan(BytesSource("", data).read_at):
            if isinstance(item, Damage):
                break  # what a running node is writing at the moment
            assert isinstance(item, RecordBatch)
            if item.is_valid:
                data_by_offset[item.base_offset] = item.data
    return data_by_offset


def end_of(node: Node) -> OffsetAndEpoch:
    """The offset after the last whole batch, and its epoch."""
    every = batches(node)
    if not every:
        return OffsetAndEpoch(0, 0)
    last = RecordBatch.read(every[max(every)], 0)
    return OffsetAndEpoch(last.last_offset + 1, last.epoch)


def assert_same_log(one: Node, other: Node, *, below: int) -> int:
    """The batches that both have below an offset are the same bytes; how many there were."""
    ours, theirs = batches(one), batches(other)
    common = {offset for offset in ours.keys() & theirs.keys() if offset < below}
    start = max(min(ours, default=below), min(theirs, default=below))
    for base in sorted(ours.keys() | theirs.keys()):
        if start <= base < below:
            assert base in ours, f"node {one.id} lacks the batch at {base}"
            assert base in theirs, f"node {other.id} lacks the batch at {base}"
            assert ours[base] == theirs[base], f"the batch at {base} differs"
    assert common, f"nodes {one.id} and {other.id} have no batch in common below {below}"
    return len(common)


def wait_same_end(*nodes: Node) -> OffsetAndEpoch:
    """Where the logs of all of these end, once that is one place."""

    def probe() -> OffsetAndEpoch | None:
        ends = {end_of(node) for node in nodes}
        return ends.pop() if len(ends) == 1 else None

    return kafka.wait_for("one log", probe, every=0.2)


def high_watermark(cluster: Cluster) -> int:
    """As the leader tells it."""
    shown = kafka.wait_for("an answer to describe-quorum", cluster.quorum)
    return int(shown["highWatermark"])


def wait_committed(cluster: Cluster, beyond: int, *, timeout: float = kafka.PATIENCE_S) -> int:
    """Wait until the high watermark is beyond an offset."""

    def probe() -> int | None:
        shown = cluster.quorum()
        at = int(shown["highWatermark"]) if shown is not None else -1
        return at if at > beyond else None

    return kafka.wait_for(f"a commit beyond {beyond}", probe, timeout=timeout, every=0.2)


def stands_still(cluster: Cluster, seconds: float) -> bool:
    """Whether nothing is committed for so long; a quorum that lives writes twice a second."""
    before = [end_of(controller).offset for controller in cluster.controllers]
    until = time.monotonic() + seconds
    watermarks = set()
    while time.monotonic() < until:
        shown = cluster.quorum()
        if shown is not None:
            watermarks.add(shown["highWatermark"])
        time.sleep(0.2)
    assert before, "controllers have logs"
    return len(watermarks) <= 1
