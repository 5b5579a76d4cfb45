"""Records what real quorums answer when they are watched, below fixtures/watch.

    python tests/interop/watch_record.py --out fixtures/watch

Owns what is done to the quorums, and SOURCE. The answers are kept as they were given; the form is
`tests/tui/recording.py`'s.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.client.model import QuorumView
from kraftool.client.target import Target, target_of
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Watcher
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.tui.recording import recorded

VERSION = "4.3.0"
EVERY_S = 0.5
Looks = list[tuple[int, QuorumView]]


def target(*nodes: Node) -> Target:
    return target_of(",".join(node.at("CONTROLLER") for node in nodes), (), "", 2.0)


class Recorder:
    """Looks at a quorum on a loop of its own, while things are done to it."""

    def __init__(self, at: Target) -> None:
        self.looks: Looks = []
        self._watcher = Watcher(Sources(target=at), interval_s=EVERY_S)
        self._loop = asyncio.new_event_loop()

    def look(self, count: int) -> None:
        for _ in range(count):
            began = time.monotonic()
            picture = self._loop.run_until_complete(self._watcher.poll())
            assert picture.view is not None, "a live quorum is watched"
            self.looks.append((picture.at_ms, picture.view))
            rest = EVERY_S - (time.monotonic() - began)
            self._loop.run_until_complete(asyncio.sleep(max(rest, 0)))

    def until(self, wanted: str, count: int = 60) -> None:
        """Look until there is a leader, or none."""
        for _ in range(count):
            self.look(1)
            if (self.looks[-1][1].leader is not None) == (wanted == "leader"):
                return
        raise SystemExit(f"not {wanted} after {count} looks")

    def take(self) -> Looks:
        taken, self.looks = self.looks, []
        return taken

    def close(self) -> None:
        self._loop.run_until_complete(self._watcher.close())
        self._loop.close()


def three_and_a_standby(cluster: Cluster, *, broker: bool) -> list[Node]:
    nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
    fourth = cluster.add_node(4, ("controller",))
    others = [cluster.add_node(11, ("broker",))] if broker else []
    cluster.use_bootstrap_servers()
    initial = ",".join(cluster.initial_controllers().split(",")[:3])
    cluster.format(nodes, "--initial-controllers", initial)
    cluster.format([fourth, *others], "--no-initial-controllers")
    cluster.start(*nodes, fourth, *others)
    cluster.wait_caught_up(*nodes, fourth, *others)
    return [*nodes, fourth]


def elections(root: Path) -> dict[str, tuple[Looks, list[str]]]:
    """Healthy; then the leader is killed; then the next one too, and nobody can lead."""
    looks: dict[str, tuple[Looks, list[str]]] = {}
    with Cluster(VERSION, root / "elections") as cluster:
        nodes = three_and_a_standby(cluster, broker=True)
        recorder = Recorder(target(*nodes[:3]))
        recorder.look(20)
        looks["healthy"] = recorder.take(), [*cluster.steps]
        epoch = cluster.leader_epoch()
        recorder.look(4)
        cluster.kill(cluster.wait_leader())
        recorder.until("none")
        recorder.until("leader")
        recorder.look(8)
        looks["leader-killed"] = recorder.take(), [*cluster.steps]
        recorder.look(2)
        cluster.kill(cluster.wait_leader(above_epoch=epoch))
        recorder.until("none")
        recorder.look(16)
        looks["no-leader"] = recorder.take(), [*cluster.steps]
        recorder.close()
    return looks


def uncommitted(root: Path) -> dict[str, tuple[Looks, list[str]]]:
    """A voter is added while the others cannot answer: its record is in the leader's log alone."""
    patient = {
        "controller.quorum.fetch.timeout.ms": "60000",
        "controller.quorum.request.timeout.ms": "4000",
    }
    with Cluster(VERSION, root / "uncommitted", common=patient) as cluster:
        nodes = three_and_a_standby(cluster, broker=False)
        leader, fourth = cluster.wait_leader(), nodes[3]
        frozen = [node for node in nodes[:3] if node is not leader]
        recorder = Recorder(target(leader, *frozen))
        recorder.look(4)
        for node in frozen:
            assert node.process is not None
            os.kill(node.process.pid, signal.SIGSTOP)
            cluster.note(f"node {node.id}: SIGSTOP")
        endpoint = {"name": "CONTROLLER", "host": "127.0.0.1", "port": fourth.ports["CONTROLLER"]}
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(
                cluster.refused, "add-voter", at_leader=False, id=4,
                directory=fourth.directory_id, endpoints=[endpoint],
            )  # fmt: skip
            recorder.look(16)
            case = recorder.take(), [*cluster.steps]
            for node in frozen:
                assert node.process is not None
                os.kill(node.process.pid, signal.SIGCONT)
            asked.result()
        recorder.close()
    return {"uncommitted-voter": case}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", choices=("elections", "uncommitted"))
    asked = parser.parse_args()
    if problem := kafka.available(VERSION, kafka.TOOLS_VERSION):
        raise SystemExit(problem)
    asked.out.mkdir(parents=True, exist_ok=True)
    source = [
        f"Answers of quorums of Apache Kafka {VERSION}, watched every {EVERY_S:g} s.\n",
        "Command: python tests/interop/watch_record.py --out fixtures/watch\n",
        f"Date: {datetime.now(UTC):%Y-%m-%d}\n",
    ]
    for run in (elections, uncommitted):
        if asked.only and run.__name__ != asked.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name, (looks, steps) in run(Path(folder)).items():
                (asked.out / f"{name}.json").write_text(recorded(looks))
                source.append(f"\n{name}.json, {len(looks)} looks. Steps, in order:\n")
                source += [f"  {step}\n" for step in steps]
    if not asked.only:
        (asked.out / "SOURCE").write_text("".join(source))


if __name__ == "__main__":
    main()
