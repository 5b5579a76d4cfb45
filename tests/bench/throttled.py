"""Throttles the leader of three controllers, Kafka's and then ours, and gives it much to decide.

    python tests/bench/throttled.py --work create --partitions 5000 --share 0.1 --tries 3
    python tests/bench/throttled.py --work fence --partitions 27000
    python tests/bench/throttled.py --work snapshot --partitions 200000

The leader's process is stopped for the rest of each 100 ms. `create`: one CreateTopics. `fence`: a
broker that leads all partitions asks to be fenced. `snapshot`: one record more, after which a
snapshot of all partitions is written. It prints the elections of each side and how long it took.
It refuses to judge: `tests/interop/test_throttled_leader.py` does, of elections alone.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.error_codes import Error
from kraftool.net.connection import Connection, connect
from kraftool.net.errors import NetError
from kraftool.raft.names import Endpoint
from tests.bench.controller import Broker
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_nodes import metrics_at, start_ours
from tests.interop.throttling import throttled
from tests.support.ports import HOST

WORKS = ("create", "fence", "snapshot")
PATIENCE_S = 120.0
_MOST = 9_000
"""Partitions of a request: with its topic, it may make 10,000 records."""
_REPLICAS = 2
_QUORUM = {"topics": [{"topicName": "__cluster_metadata", "partitions": [{"partitionIndex": 0}]}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One piece of work under a throttle."""

    took_s: float
    elections: int
    """By how much the epoch had grown at its end."""
    codes: tuple[str, ...]
    """What was answered: the last one is NONE if the work was done."""

    @property
    def is_done(self) -> bool:
        return self.codes[-1:] == ("NONE",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All trials of one side."""

    trials: list[Trial]
    waited_ms: float | None = None
    """The longest that the core of one of our nodes waited."""


def measure(
    root: Path, version: str, *, work: str, partitions: int, share: float, tries: int, is_ours: bool
) -> Outcome:
    """One side, from an empty folder on."""
    common = {"broker.session.timeout.ms": "600000"}
    if work == "snapshot":
        common["metadata.log.max.record.bytes.between.snapshots"] = "100"
    with Cluster(version, root, common=common) as cluster:
        nodes = [cluster.add_node(node_id, ["controller"]) for node_id in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        voters = ("--initial-controllers", cluster.initial_controllers())
        cluster.format(nodes, *voters, "--release-version", version.rpartition(".")[0])
        if is_ours:
            start_ours(cluster, *nodes)
        else:
            cluster.start(*nodes, heap="-Xmx1g")
        cluster.wait_leader()
        clients = _Clients(cluster, version)
        trials = asyncio.run(clients.trials(work, partitions, share, tries))
        waited = max(map(_waited_ms, nodes)) if is_ours else None
        return Outcome(trials=trials, waited_ms=waited)


def _waited_ms(node: Node) -> float:
    with urllib.request.urlopen(f"http://{metrics_at(node)}/metrics", timeout=60) as page:
        found = re.search(r"^kraftool_node_raft_wait_ms_max (\S+)$", page.read().decode(), re.M)
    assert found is not None, "it is always there"
    return float(found[1])


class _Clients:
    """Brokers 101 and 102, and an admin, as the controllers of a cluster see them."""

    def __init__(self, cluster: Cluster, version: str) -> None:
        self._cluster, self._version = cluster, version
        self._topics = 0

    async def trials(self, work: str, partitions: int, share: float, tries: int) -> list[Trial]:
        brokers = [Broker(number) for number in (101, 102)]
        leader, _ = await self._leader()
        for broker in brokers:
            await broker.join(self._endpoint(leader), self._cluster.id, self._version)
        warm = await self._create(500)
        assert warm[-1] == "NONE", warm
        trials = []
        if work == "snapshot":
            await self._create_all(partitions)
        for _ in range(tries):
            if work == "fence":
                await self._beat(brokers[0], want_fence=False)
                await self._create_all(partitions)
            leader, before = await self._leader()
            process = self._cluster.nodes[leader].process
            assert process is not None, "it leads"
            began = time.monotonic()
            with throttled(process.pid, share):
                if work == "fence":
                    codes = await self._beat(brokers[0], want_fence=True)
                else:
                    codes = await self._create(1 if work == "snapshot" else partitions)
                took_s = time.monotonic() - began
                if work == "snapshot":
                    await self._snapshot_after(self._cluster.nodes[leader])
            _, after = await self._leader()
            trials.append(Trial(took_s=took_s, elections=after - before, codes=tuple(codes)))
        for broker in brokers:
            await broker.close()
        return trials

    def _endpoint(self, node_id: int) -> Endpoint:
        return Endpoint(HOST, self._cluster.nodes[node_id].ports["CONTROLLER"])

    async def _leader(self) -> tuple[int, int]:
        """The node that says that it leads, and in which epoch."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for node in self._cluster.controllers:
                try:
                    answer = await self._ask(node.id, "DescribeQuorum", _QUORUM, timeout_s=5)
                except NetError:
                    continue
                [partition] = answer["topics"][0]["partitions"]
                if partition["errorCode"] == Error.NONE:
                    return partition["leaderId"], partition["leaderEpoch"]
            await asyncio.sleep(0.1)
        raise AssertionError(f"no leader within {PATIENCE_S:g} s")

    async def _ask(
        self, node_id: int, name: str, body: dict[str, Any], *, timeout_s: float = PATIENCE_S
    ) -> Any:
        connection: Connection = await connect(self._endpoint(node_id), timeout_s=timeout_s)
        try:
            return await connection.request(name, None, body, timeout_s=timeout_s)
        finally:
            await connection.close()

    async def _create(self, partitions: int) -> list[str]:
        """Ask for a topic until there is one; what was answered each time."""
        self._topics += 1
        topic = {
            "name": f"topic-{self._topics}",
            "numPartitions": -1,
            "replicationFactor": -1,
            "assignments": [
                {"partitionIndex": number, "brokerIds": [101, 102]} for number in range(partitions)
            ],
            "configs": [],
        }
        body = {"topics": [topic], "timeoutMs": int(PATIENCE_S * 1000), "validateOnly": False}
        return await self._until_done(
            "CreateTopics", body, lambda answer: answer["topics"][0]["errorCode"]
        )

    async def _until_done(
        self, name: str, body: dict[str, Any], error_code: Callable[[Any], int]
    ) -> list[str]:
        """Ask whoever leads, as a broker does, until something is done or refused."""
        codes: list[str] = []
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            leader, _ = await self._leader()
            try:
                answer = await self._ask(leader, name, body)
            except NetError as error:
                codes.append(type(error).__name__)
                continue
            code = Error(error_code(answer)).name
            is_there = code == "TOPIC_ALREADY_EXISTS" and codes
            codes.append("NONE" if is_there else code)
            if code not in ("NOT_CONTROLLER", "REQUEST_TIMED_OUT"):
                break
        return codes

    async def _create_all(self, partitions: int) -> None:
        for first in range(0, partitions, _MOST):
            codes = await self._create(min(_MOST, partitions - first))
            assert codes[-1] == "NONE", codes

    async def _beat(self, broker: Broker, *, want_fence: bool) -> list[str]:
        body = {
            "brokerId": broker.id,
            "brokerEpoch": broker.epoch,
            "currentMetadataOffset": 1 << 40,
            "wantFence": want_fence,
            "wantShutDown": False,
        }
        return await self._until_done("BrokerHeartbeat", body, lambda answer: answer["errorCode"])

    async def _snapshot_after(self, node: Node) -> None:
        """Wait for one more: the record that was just made was enough for it."""
        newest = max(self._cluster.snapshots(node), default="")
        deadline = time.monotonic() + 10 * PATIENCE_S
        while max(self._cluster.snapshots(node), default="") <= newest:
            assert time.monotonic() < deadline, "a snapshot is written"
            await asyncio.sleep(0.2)


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--work", choices=WORKS, default="create")
    options.add_argument("--partitions", type=int, default=5_000)
    options.add_argument("--share", type=float, default=0.1, help="of a core, for the leader")
    options.add_argument("--tries", type=int, default=3, help="of each side")
    options.add_argument("--version", default=kafka.TOOLS_VERSION, help="of Kafka")
    options.add_argument("--only", choices=["ours", "kafka"], help="one side")
    given = options.parse_args()
    if problem := kafka.available(given.version):
        sys.stderr.write(f"{problem}\n")
        return 3
    medians = {}
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as folder:
        for side in ("kafka", "ours"):
            if given.only not in (None, side):
                continue
            outcome = measure(
                Path(folder) / side,
                given.version,
                work=given.work,
                partitions=given.partitions,
                share=given.share,
                tries=given.tries,
                is_ours=side == "ours",
            )
            medians[side] = statistics.median(trial.took_s for trial in outcome.trials)
            waited = "" if outcome.waited_ms is None else f", raft waited {outcome.waited_ms} ms"
            sys.stdout.write(
                f"{side:<6} elections {[trial.elections for trial in outcome.trials]}, seconds"
                f" {[round(trial.took_s, 1) for trial in outcome.trials]}, answers"
                f" {sorted({code for trial in outcome.trials for code in trial.codes})}{waited}\n"
            )
            sys.stdout.flush()
    if len(medians) == 2:
        sys.stdout.write(f"ratio of the medians {medians['ours'] / medians['kafka']:.2f}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
