"""Measures an active controller beside Kafka's: new partitions, heartbeats, a broker that fails.

    make bench-controller
    python tests/bench/controller.py --partitions 20000 --brokers 300 --moved 5000

Each side is one controller, on one disk and these cores, the other not running meanwhile. Kafka's
JVM has the options of Kafka's start script. The brokers are simulated: each has its connection,
registers, and sends heartbeats every two seconds as a broker does. Creates: topics of 40
partitions, five a request, three replicas each, one request after the other, while the heartbeats
go on. Failover: one broker leads so many partitions and asks to be fenced; the time is taken until
its answer, before which all of them have new leaders and that is committed.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.error_codes import Error
from kraftool.image.metadata_version import RELEASE_RANGES
from kraftool.net.connection import Connection, connect
from kraftool.raft.names import Endpoint
from tests.bench.processes import cpu_s, memory_mb
from tests.controller.bench import directory, incarnation, ranges
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_nodes import start_ours
from tests.support.ports import HOST

HEARTBEAT_S = 2.0
PER_TOPIC, TOPICS_AT_ONCE, REPLICAS = 40, 5, 3
MOVED_PER_TOPIC = 500
WARM_S = 5.0
_FAR = 1 << 40
"""An offset that has everything: a simulated broker replays nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much is asked of a controller."""

    partitions: int
    brokers: int
    moved: int
    seconds: float


@dataclass(slots=True)
class Measured:
    """What one side came to."""

    created_s: float = 0.0
    created_cpu_s: float = 0.0
    alone_ms: list[float] = field(default_factory=list)
    """Heartbeats, with nothing else to do."""
    alone_cpu_percent: float = 0.0
    busy_ms: list[float] = field(default_factory=list)
    """Heartbeats while partitions were created."""
    fenced_ms: float = 0.0
    fenced_heartbeat_ms: float = 0.0
    """The longest of another broker's heartbeats during the failover."""
    memory: float = 0.0


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--partitions", type=int, default=20_000)
    options.add_argument("--brokers", type=int, default=300)
    options.add_argument("--moved", type=int, default=5_000, help="that the failing broker leads")
    options.add_argument("--seconds", type=float, default=20.0, help="of heartbeats alone")
    options.add_argument("--rounds", type=int, default=3, help="of each side, in turns")
    options.add_argument("--version", default=kafka.TOOLS_VERSION, help="of Kafka")
    given = options.parse_args()
    if problem := kafka.available(given.version):
        sys.stderr.write(f"{problem}\n")
        return 3
    load = Load(
        partitions=given.partitions,
        brokers=given.brokers,
        moved=given.moved,
        seconds=given.seconds,
    )
    theirs: list[Measured] = []
    ours: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as folder:
        for number in range(given.rounds):
            root = Path(folder) / str(number)
            theirs.append(measure(root / "kafka", given.version, load, are_ours=False))
            ours.append(measure(root / "kraftool", given.version, load, are_ours=True))
    tell(load, theirs, ours)
    return 0


def tell(load: Load, theirs: list[Measured], ours: list[Measured]) -> None:
    def line(what: str, unit: str, of: Callable[[Measured], float]) -> None:
        their, our = (statistics.median(map(of, side)) for side in (theirs, ours))
        ratio = our / their if their else float("nan")
        sys.stdout.write(
            f"{what:<50}Kafka {their:>9,.1f}   kraftool {our:>9,.1f} {unit:<16}ratio {ratio:.2f}\n"
        )

    sys.stdout.write(f"medians of {len(ours)} rounds each\n")
    line(
        f"{load.partitions:,} partitions created",
        "partitions a s",
        lambda side: load.partitions / side.created_s,
    )
    line("  CPU", "s", lambda side: side.created_cpu_s)
    line(f"heartbeats of {load.brokers} brokers, 99 %", "ms", lambda side: p99(side.alone_ms))
    line("  CPU", "% of a core", lambda side: side.alone_cpu_percent)
    line("  99 % while partitions are created", "ms", lambda side: p99(side.busy_ms))
    line("  the longest then", "ms", lambda side: max(side.busy_ms))
    line(f"a broker fails that leads {load.moved:,} partitions", "ms", lambda side: side.fenced_ms)
    line("  another's heartbeat meanwhile", "ms", lambda side: side.fenced_heartbeat_ms)
    line("memory, the most", "MB", lambda side: side.memory)


def p99(times: list[float]) -> float:
    return sorted(times)[int(0.99 * (len(times) - 1))]


def measure(root: Path, version: str, load: Load, *, are_ours: bool) -> Measured:
    """One side, from an empty folder to the failover."""
    with Cluster(version, root) as cluster:
        node = cluster.add_node(3000, ["controller"])
        cluster.use_bootstrap_servers()
        cluster.format([node], "--standalone", "--release-version", version.rpartition(".")[0])
        if are_ours:
            start_ours(cluster, node)
        else:
            cluster.start(node, options=kafka.AS_SHIPPED)
        cluster.wait_leader()
        return asyncio.run(_measured(cluster, node, version, load))


async def _measured(cluster: Cluster, node: Node, version: str, load: Load) -> Measured:
    assert node.process is not None
    pid, measured = node.process.pid, Measured()
    endpoint = Endpoint(HOST, node.ports["CONTROLLER"])
    brokers = [Broker(number) for number in range(1, load.brokers + 1)]
    for broker in brokers:
        await broker.join(endpoint, cluster.id, version)
    client = await connect(endpoint)
    beats = [asyncio.create_task(broker.beat_on()) for broker in brokers]
    try:
        await asyncio.sleep(WARM_S)
        _take(brokers)
        cpu, began = cpu_s(pid), time.monotonic()
        await asyncio.sleep(load.seconds)
        measured.alone_ms = _take(brokers)
        measured.alone_cpu_percent = (cpu_s(pid) - cpu) / (time.monotonic() - began) * 100
        cpu, began = cpu_s(pid), time.monotonic()
        await _create(client, load.partitions)
        measured.created_s = time.monotonic() - began
        measured.created_cpu_s = cpu_s(pid) - cpu
        await asyncio.sleep(HEARTBEAT_S)
        measured.busy_ms = _take(brokers)
        await _give_leadership(client, load)
        await _fail(brokers, measured)
        memory = memory_mb(pid)
        assert memory is not None, "it runs"
        measured.memory = memory[1]
    finally:
        for beat in beats:
            beat.cancel()
        await asyncio.gather(*beats, return_exceptions=True)
        await asyncio.gather(client.close(), *(broker.close() for broker in brokers))
    return measured


class Broker:
    """What a controller sees of a broker."""

    def __init__(self, number: int) -> None:
        self.id = number
        self.epoch = -1
        self.took_ms: list[float] = []
        self._connection: Connection | None = None

    async def join(self, endpoint: Endpoint, cluster_id: str, version: str) -> None:
        self._connection = await connect(endpoint)
        body = {
            "brokerId": self.id,
            "clusterId": cluster_id,
            "incarnationId": incarnation(self.id, 1),
            "listeners": [
                {"name": "BROKER", "host": HOST, "port": 10_000 + self.id, "securityProtocol": 0}
            ],
            "features": ranges(dict(RELEASE_RANGES[version.rpartition(".")[0]])),
            "rack": None,
            "isMigratingZkBroker": False,
            "logDirs": [directory(self.id)],
            "previousBrokerEpoch": -1,
        }
        answer = await self._connection.request("BrokerRegistration", (0, 4), body)
        assert answer["errorCode"] == Error.NONE, answer
        self.epoch = answer["brokerEpoch"]
        answer = await self.beat()
        assert not answer["isFenced"], answer

    async def beat(self, *, want_fence: bool = False) -> Any:
        assert self._connection is not None, "it has joined"
        body = {
            "brokerId": self.id,
            "brokerEpoch": self.epoch,
            "currentMetadataOffset": _FAR,
            "wantFence": want_fence,
            "wantShutDown": False,
        }
        began = time.perf_counter()
        answer = await self._connection.request("BrokerHeartbeat", (0, 2), body)
        self.took_ms.append((time.perf_counter() - began) * 1000)
        return answer

    async def beat_on(self) -> None:
        """Brokers that started at once do not stay in step."""
        await asyncio.sleep(HEARTBEAT_S * (self.id * 0.618 % 1))
        while True:
            began = time.monotonic()
            await self.beat()
            await asyncio.sleep(max(HEARTBEAT_S - (time.monotonic() - began), 0))

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


def _take(brokers: list[Broker]) -> list[float]:
    """How long heartbeats took since the last look."""
    times = [took for broker in brokers for took in broker.took_ms]
    for broker in brokers:
        broker.took_ms.clear()
    return times


async def _create(client: Connection, partitions: int) -> None:
    topics = [
        {
            "name": f"topic-{number}",
            "numPartitions": min(PER_TOPIC, partitions - number * PER_TOPIC),
            "replicationFactor": REPLICAS,
            "assignments": [],
            "configs": [],
        }
        for number in range(-(-partitions // PER_TOPIC))
    ]
    for first in range(0, len(topics), TOPICS_AT_ONCE):
        await _ask_for(client, topics[first : first + TOPICS_AT_ONCE])


async def _give_leadership(client: Connection, load: Load) -> None:
    """Topics whose partitions the first broker leads."""
    for first in range(0, load.moved, MOVED_PER_TOPIC):
        numbers = range(min(MOVED_PER_TOPIC, load.moved - first))
        topic = {
            "name": f"led-{first}",
            "numPartitions": -1,
            "replicationFactor": -1,
            "assignments": [
                {
                    "partitionIndex": number,
                    "brokerIds": [1, 2 + number % (load.brokers - 2), load.brokers],
                }
                for number in numbers
            ],
            "configs": [],
        }
        await _ask_for(client, [topic])


async def _ask_for(client: Connection, topics: list[dict[str, Any]]) -> None:
    body = {"topics": topics, "timeoutMs": 60_000, "validateOnly": False}
    answer = await client.request("CreateTopics", (2, 7), body)
    assert {topic["errorCode"] for topic in answer["topics"]} == {Error.NONE}, answer["topics"][0]


async def _fail(brokers: list[Broker], measured: Measured) -> None:
    failing, other, *_ = brokers
    began = time.perf_counter()
    fence = asyncio.create_task(failing.beat(want_fence=True))
    longest = 0.0
    while not fence.done():
        asked = time.perf_counter()
        await other.beat()
        longest = max(longest, (time.perf_counter() - asked) * 1000)
    answer = await fence
    assert answer["isFenced"], answer
    measured.fenced_ms = (time.perf_counter() - began) * 1000
    measured.fenced_heartbeat_ms = longest


if __name__ == "__main__":
    raise SystemExit(main())
