"""Measures a node beside Kafka's: failover, a leader's throughput, an idle follower, an observer.

    make bench-node
    python tests/bench/node.py --rounds 11 --seconds 30

Failover: a quorum of three Kafkas and one of three of ours run at once; their leaders are killed
(-9) in turns, and the time is taken until another one has committed something. Throughput: Kafka's
TestRaftServer and our node, each the only voter, append records of 256 bytes as fast as they can,
in turns. Writes: a Kafka leads a quorum of two with many ACLs; the other voter, without which
nothing is committed, is a Kafka and one of ours in turns, on one folder; ACLs are created one by
one. All share this machine's cores, so that on few of them CPU time says more than the rate.
It refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.raft.messages import DescribeQuorumRequest, DescribeQuorumResponse
from kraftool.raft.wire import responses
from tests.bench.processes import cpu_s, memory_mb
from tests.interop import kafka, raft_load
from tests.interop.clusters import Cluster, Node
from tests.interop.our_nodes import start_ours
from tests.interop.wireprobes import Prober

OPTIONS = ("--role", "voter")
_PROBE_S = 0.005
WARM_S = 5.0
"""What a leader may have before it counts; a JVM compiles what it needs."""
ACLS_AT_ONCE = 2_000
WRITES = 100
Start = Callable[[Cluster, Node], None]


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=5, help="kills, and turns at leading")
    options.add_argument("--seconds", type=float, default=10.0, help="of each other measure")
    options.add_argument("--version", default=kafka.TOOLS_VERSION, help="of Kafka")
    options.add_argument("--acls", type=int, default=142_000, help="of the quorum of two")
    given = options.parse_args()
    if problem := kafka.available(given.version):
        sys.stderr.write(f"{problem}\n")
        return 3
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as folder:
        root = Path(folder)
        idle(root, given.version, given.seconds)
        following(root, given.version, given.seconds)
        writing(root, given.version, min(given.rounds, 3), given.acls)
        leading(root, given.version, min(given.rounds, 3), given.seconds)
        failing_over(root, given.version, given.rounds)
    return 0


def tell(what: str, theirs: float, ours: float, unit: str) -> None:
    sys.stdout.write(
        f"{what:<46}Kafka {theirs:>10,.1f}   kraftool {ours:>10,.1f} {unit:<18}"
        f"ratio {ours / theirs if theirs else float('nan'):.2f}\n"
    )
    sys.stdout.flush()


# Failover


def failing_over(root: Path, version: str, rounds: int) -> None:
    """Kill the leaders of two quorums in turns."""
    with (
        Cluster(version, root / "failover-theirs") as theirs,
        Cluster(version, root / "failover-ours") as ours,
    ):
        sides: list[tuple[Cluster, Start, list[float]]] = [
            (theirs, lambda cluster, node: cluster.start(node), []),
            (ours, lambda cluster, node: start_ours(cluster, node, options=OPTIONS), []),
        ]
        for cluster, start, _ in sides:
            three(cluster)
            for node in cluster.controllers:
                start(cluster, node)
            cluster.wait_leader()
        for _ in range(rounds):
            for cluster, start, took in sides:
                cluster.wait_caught_up(*cluster.controllers)
                took.append(failover(cluster, start))
        ours_ms, theirs_ms = sides[1][2], sides[0][2]
    tell(
        f"failover after kill -9, median of {rounds}",
        statistics.median(theirs_ms),
        statistics.median(ours_ms),
        "ms",
    )
    tell("  the shortest", min(theirs_ms), min(ours_ms), "ms")
    tell("  the longest", max(theirs_ms), max(ours_ms), "ms")


def failover(cluster: Cluster, start: Start) -> float:
    """Kill the leader; the ms until another has committed beyond where that one was."""
    old = cluster.wait_leader()
    others = [controller for controller in cluster.controllers if controller is not old]
    before = ask(old)
    assert before is not None, "the leader answers"
    cluster.kill(old)
    began = time.monotonic()
    while not any(
        now is not None
        and now.leader_epoch > before.leader_epoch
        and now.high_watermark > before.high_watermark
        for now in map(ask, others)
    ):
        time.sleep(_PROBE_S)
    took = time.monotonic() - began
    start(cluster, old)
    return took * 1000


def ask(node: Node) -> DescribeQuorumResponse | None:
    """What a node says of the quorum; one that does not lead knows no high watermark."""
    try:
        with Prober(node.ports["CONTROLLER"]) as prober:
            frame = prober.ask(DescribeQuorumRequest())
    except OSError:
        return None
    response = responses.from_kafka("DescribeQuorum", frame.body, "CONTROLLER")
    assert isinstance(response, DescribeQuorumResponse), response
    return response


def three(cluster: Cluster) -> None:
    nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
    cluster.use_bootstrap_servers()
    cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())


# CPU and memory


@dataclass(slots=True)
class Use:
    """What a process used over some seconds."""

    cpu_percent: float
    memory: float
    records: float
    """A second, by how its log grew."""


def used(node: Node, seconds: float) -> Use:
    return both([node], seconds)[0]


def both(nodes: list[Node], seconds: float) -> list[Use]:
    """Watch nodes over the same seconds."""

    def now() -> list[tuple[float, int]]:
        uses = []
        for node in nodes:
            assert node.process is not None
            node.process.require_alive()
            uses.append((cpu_s(node.process.pid), raft_load.written(node)))
        return uses

    began, before = time.monotonic(), now()
    time.sleep(seconds)
    took, after = time.monotonic() - began, now()
    made = []
    for node, (cpu, size), (cpu_then, size_then) in zip(nodes, after, before, strict=True):
        assert node.process is not None
        memory = memory_mb(node.process.pid)
        assert memory is not None, "it runs"
        grown = (size - size_then) / raft_load.IN_THE_LOG
        made.append(Use((cpu - cpu_then) / took * 100, memory[1], grown / took))
    return made


def idle(root: Path, version: str, seconds: float) -> None:
    """A Kafka leads with nothing to do; a Kafka and one of ours follow."""
    with Cluster(version, root / "idle") as cluster:
        three(cluster)
        one, two, ours = cluster.controllers
        cluster.start(one, two)
        start_ours(cluster, ours, options=("--role", "voter", "--witness"))
        leader = cluster.wait_leader()
        theirs = two if leader is one else one
        cluster.wait_caught_up(ours, theirs)
        time.sleep(2 * WARM_S)
        their, our = both([theirs, ours], max(seconds, 20.0))
    tell("an idle follower: CPU", their.cpu_percent, our.cpu_percent, "% of a core")
    tell("  memory", their.memory, our.memory, "MB")


def following(root: Path, version: str, seconds: float) -> None:
    """A TestRaftServer writes 20,000 records a second; another one and ours observe."""
    with Cluster(version, root / "following") as cluster:
        leader = raft_load.form(cluster)
        theirs, ours = (raft_load.add_observer(cluster, node_id) for node_id in (2, 3))
        for node in (leader, theirs):
            raft_load.start(cluster, node, 20_000)
        start_ours(cluster, ours, options=("--role", "observer", "--no-image"))
        time.sleep(2 * WARM_S)
        their, our = both([theirs, ours], seconds)
    tell("an observer of 20,000 records a second", their.records, our.records, "records a second")
    tell("  CPU", their.cpu_percent, our.cpu_percent, "% of a core")
    tell("  memory", their.memory, our.memory, "MB")


# Writes that wait for a follower


def writing(root: Path, version: str, rounds: int, acls: int) -> None:
    """A Kafka leads; what it commits, a Kafka or one of ours has replicated first."""
    took: dict[bool, list[float]] = {False: [], True: []}
    with Cluster(version, root / "writing") as cluster:
        leader, follower = (cluster.add_node(number, ("controller",)) for number in (1, 2))
        cluster.use_static_voters()
        cluster.format([leader, follower])
        cluster.start(leader, follower)
        cluster.wait_leader()
        for first in range(0, acls, ACLS_AT_ONCE):
            create_acls(cluster, leader, range(first, min(first + ACLS_AT_ONCE, acls)))
        for number in range(rounds):
            for is_ours, medians in took.items():
                follow(cluster, leader, follower, is_ours=is_ours)
                time.sleep(WARM_S)
                begin = acls + (2 * number + is_ours) * WRITES
                writes = [
                    create_acls(cluster, leader, range(index, index + 1))
                    for index in range(begin, begin + WRITES)
                ]
                medians.append(statistics.median(writes))
    theirs, ours = (statistics.median(medians) for medians in took.values())
    tell(f"a write with {acls:,} ACLs, the median", theirs, ours, "ms")


def follow(cluster: Cluster, leader: Node, follower: Node, *, is_ours: bool) -> None:
    """Start a follower, again until it is not the one that was elected."""
    while True:
        if follower.process is not None:
            cluster.kill(follower)
        if is_ours:
            start_ours(cluster, follower, options=("--role", "voter", "--witness"))
        else:
            cluster.start(follower)
        if cluster.wait_leader() is leader:
            break
    cluster.wait_caught_up(follower)


def create_acls(cluster: Cluster, leader: Node, numbers: range) -> float:
    """Create ACLs by one request; the ms until the leader said that they are committed."""
    acls = [
        {"type": "TOPIC", "name": f"t{n}", "principal": f"User:u{n % 1000}", "operation": "READ"}
        for n in numbers
    ]
    asked = {"op": "create-acls", "via": "controller", "at": leader.at("CONTROLLER")}
    began = time.monotonic()
    cluster.session.call({**asked, "acls": acls})
    return (time.monotonic() - began) * 1000


# A leader's throughput


def leading(root: Path, version: str, rounds: int, seconds: float) -> None:
    """The only voter appends as fast as it can."""

    fast = 10_000_000
    starts: list[Start] = [
        lambda cluster, node: raft_load.start(cluster, node, fast),
        lambda cluster, node: raft_load.start_writer(cluster, node, fast),
        lambda cluster, node: raft_load.start_writer(cluster, node, fast, records=100),
    ]
    uses: list[list[Use]] = [[] for _ in starts]
    for number in range(rounds):
        for kind, start in enumerate(starts):
            folder = root / f"leading-{number}-{kind}"
            with Cluster(version, folder) as cluster:
                node = raft_load.form(cluster)
                start(cluster, node)
                time.sleep(WARM_S)
                uses[kind].append(used(node, seconds))
            shutil.rmtree(folder)
    theirs, one, many = uses
    for name, measured_uses in (
        ("one record an append", one),
        ("ours 100 records an append", many),
    ):
        tell(
            f"leading, {name}",
            *_medians(theirs, measured_uses, lambda use: use.records),
            "records a second",
        )
        tell(
            "  for each second of CPU",
            *_medians(
                theirs, measured_uses, lambda use: use.records / max(use.cpu_percent / 100, 0.01)
            ),
            "records",
        )


def _medians(theirs: list[Use], ours: list[Use], of: Callable[[Use], float]) -> tuple[float, float]:
    return statistics.median(map(of, theirs)), statistics.median(map(of, ours))


if __name__ == "__main__":
    raise SystemExit(main())
