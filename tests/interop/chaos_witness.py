"""Rounds of killing the leader of two Kafkas and a witness, which then has the newest records.

Owns one round: the other Kafka is stopped (SIGSTOP) while records are committed, the leader is
killed, and the other Kafka goes on. It measures the time until that Kafka leads and commits.
"""

from __future__ import annotations

import os
import random
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from tests.interop import kafka
from tests.interop.chaos import Ledger
from tests.interop.clusters import Cluster, Node
from tests.interop.our_nodes import end_of, metric, start_ours

PATIENCE_S = 60.0
WITNESS = ("--role", "voter", "--witness")
_LED = re.compile(r"WARNING leads without a controller")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round."""

    took_s: float
    """From the kill until a Kafka led and had committed."""
    has_witness_led: bool
    was_ahead: bool
    """True if the witness had records that the survivor lacked."""


class WitnessChaos:
    """Kafkas 1 and 2, and witness 3."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster, self.random = cluster, random.Random(seed)
        self.ledger = Ledger()
        self.rounds: list[Round] = []
        one, two, self.witness = cluster.controllers
        self.kafkas = (one, two)

    def begin(self) -> None:
        self.cluster.start(*self.kafkas)
        start_ours(self.cluster, self.witness, options=WITNESS)
        self._settled()

    def round(self) -> Round:
        """Kill the leader while the witness is ahead, and wait until the other Kafka leads."""
        leader = self._leader()
        [survivor] = (node for node in self.kafkas if node is not leader)
        epoch = metric(self.witness, "current_epoch")
        assert survivor.process is not None
        assert self.witness.process is not None
        before = len(_LED.findall(self.witness.process.output()))
        os.kill(survivor.process.pid, signal.SIGSTOP)
        try:
            for _ in range(self.random.randint(3, 6)):
                self._write(leader)
            self.cluster.kill(leader)
            killed = time.monotonic()
            was_ahead = end_of(self.witness) > end_of(survivor)
        finally:
            os.kill(survivor.process.pid, signal.SIGCONT)

        def leads() -> bool:
            return (
                metric(self.witness, "current_leader") == survivor.id
                and metric(self.witness, "current_epoch") > epoch
                and metric(self.witness, "high_watermark") > self.ledger.watermark
            )

        kafka.wait_for(f"node {survivor.id} to lead", leads, timeout=PATIENCE_S, every=0.05)
        took_s = time.monotonic() - killed
        led = len(_LED.findall(self.witness.process.output())) > before
        done = Round(took_s=took_s, has_witness_led=led, was_ahead=was_ahead)
        self.rounds.append(done)
        self._write(survivor)
        self.cluster.start(leader)
        self._settled()
        return done

    def _leader(self) -> Node:
        def probe() -> Node | None:
            leader_id = metric(self.witness, "current_leader")
            return next((node for node in self.kafkas if node.id == leader_id), None)

        return kafka.wait_for("a Kafka to lead", probe, every=0.1)

    def _write(self, leader: Node) -> None:
        """Commit a record; the next is written when this one is committed."""
        value = str(self.random.randint(1, 9))
        self.cluster.session.call(
            {
                "op": "configs", "at": leader.at("CONTROLLER"), "via": "controller",
                "type": "BROKER", "name": "", "set": {"log.cleaner.threads": value},
            }
        )  # fmt: skip

    def _settled(self) -> None:
        """Wait until all have what is committed, and compare it with what was committed before."""
        nodes = self.cluster.controllers

        def probe() -> int | None:
            shown = self.cluster.quorum()
            if shown is None or shown["highWatermark"] < self.ledger.watermark:
                return None
            ends = {voter["id"]: voter["logEndOffset"] for voter in shown["voters"]}
            at = int(shown["highWatermark"])
            return at if all(ends.get(node.id, -1) >= at for node in nodes) else None

        watermark = kafka.wait_for("a quorum", probe, timeout=90, every=0.2)
        self.ledger.take(nodes, watermark)


def run(folder: Path, *, rounds: int, seed: int) -> WitnessChaos:
    """So many rounds; raises at the first in which no Kafka leads or a committed record is lost."""
    with Cluster(kafka.TOOLS_VERSION, folder) as cluster:
        for node_id in (1, 2, 3):
            cluster.add_node(node_id, ("controller",))
        cluster.use_bootstrap_servers()
        cluster.format(cluster.controllers, "--initial-controllers", cluster.initial_controllers())
        chaos = WitnessChaos(cluster, seed)
        chaos.begin()
        for _ in range(rounds):
            done = chaos.round()
            print(
                f"{len(chaos.rounds):>3}: {done.took_s:.1f} s,"
                f" witness led: {done.has_witness_led}, was ahead: {done.was_ahead}",
                flush=True,
            )
        return chaos


def shown(rounds: list[Round]) -> str:
    """The distribution in a line."""
    times = sorted(chaos_round.took_s for chaos_round in rounds)
    led = sum(chaos_round.has_witness_led for chaos_round in rounds)
    p90 = times[min(int(0.9 * len(times)), len(times) - 1)]
    return (
        f"{len(times)} rounds: a Kafka led after {times[len(times) // 2]:.1f} s (median),"
        f" {p90:.1f} s (p90), {times[-1]:.1f} s (max); the witness led in {led}"
    )
