"""Rounds of faults on a quorum of Kafkas and of ours, and what has to hold after each.

Owns the faults (kill -9, SIGSTOP, connections cut), which of them a round has, and the ledger of
what was committed: nothing in it may change or vanish on any node. Who restarts comes back as a
Kafka or as one of ours, by chance. A seed makes the same faults again; the timing is the machine's.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.interop import kafka
from tests.interop.clusters import Node
from tests.interop.our_nodes import batches, start_ours
from tests.interop.wireproxy import Proxy
from tests.interop.wirequorum import Quorum

OPTIONS = ("--role", "voter", "--shutdown-timeout", "10")


@dataclass(slots=True)
class Ledger:
    """What was committed, by base offset, as the first leader had it that said so."""

    committed: dict[int, bytes] = field(default_factory=dict)
    watermark: int = 0

    def take(self, nodes: list[Node], watermark: int) -> None:
        """Compare every node with it, then learn what is committed now."""
        logs = {node.id: batches(node) for node in nodes}
        for node_id, log in logs.items():
            start = min(log, default=0)
            for base, data in self.committed.items():
                if base >= start:
                    assert base in log, f"node {node_id} has lost the committed batch at {base}"
                    assert log[base] == data, f"node {node_id} has another batch at {base}"
        longest = max(logs.values(), key=lambda log: max(log, default=-1))
        below = {base: data for base, data in longest.items() if base < watermark}
        for node_id, log in logs.items():
            start = min(log, default=0)
            wrong = {
                base for base, data in below.items() if base >= start and log.get(base) != data
            }
            assert not wrong, f"node {node_id} differs below {watermark} at {min(wrong)}"
        assert watermark >= self.watermark, f"the high watermark fell to {watermark}"
        self.committed |= below
        self.watermark = watermark


class Chaos:
    """A quorum of three, and its faults."""

    def __init__(self, quorum: Quorum, seed: int) -> None:
        self.quorum, self.random = quorum, random.Random(seed)
        self.ledger = Ledger()
        self.told: list[str] = []
        self.is_ours: dict[int, bool] = {}

    def begin(self) -> None:
        """Two Kafkas and one of ours."""
        one, two, three = self.quorum.controllers
        self.is_ours = {one.id: False, two.id: False, three.id: True}
        self.quorum.start(one, two)
        start_ours(self.quorum, three, options=OPTIONS)
        self.settled()

    def round(self) -> None:
        """Faults, their end, and then all that has to hold."""
        ended = [self._fault(victim) for victim in self._victims()]
        time.sleep(self.random.uniform(0.1, 3.0))
        self._load()
        for finish in ended:
            finish()
        self.settled()

    def settled(self) -> None:
        """Wait until there is a leader and everyone has what is committed, and compare."""
        self._load()
        nodes = self.quorum.controllers

        def probe() -> int | None:
            for node in nodes:
                assert node.process is not None
                node.process.require_alive()
            shown = self.quorum.quorum()
            if shown is None or shown["highWatermark"] < self.ledger.watermark:
                return None
            ends = {voter["id"]: voter["logEndOffset"] for voter in shown["voters"]}
            at = int(shown["highWatermark"])
            return at if all(ends.get(node.id, -1) >= at for node in nodes) else None

        watermark = kafka.wait_for(f"a quorum after {self.told[-3:]}", probe, timeout=90, every=0.2)
        self.ledger.take(nodes, watermark)

    def _victims(self) -> list[Node]:
        """One node mostly; sometimes more than the quorum stands."""
        many = self.random.choice((1, 1, 1, 2, 2, 3))
        return self.random.sample(self.quorum.controllers, many)

    def _fault(self, node: Node) -> Callable[[], None]:
        """Begin a fault; how to end it."""
        fault = self.random.choice((self._killed, self._paused, self._cut))
        self.told.append(f"{fault.__name__[1:]} {node.id}")
        return fault(node)

    def _killed(self, node: Node) -> Callable[[], None]:
        self.quorum.kill(node)

        def again() -> None:
            self.is_ours[node.id] = self.random.random() < 0.5
            if self.is_ours[node.id]:
                start_ours(self.quorum, node, options=OPTIONS)
            else:
                self.quorum.start(node)

        return again

    def _paused(self, node: Node) -> Callable[[], None]:
        assert node.process is not None
        pid = node.process.pid
        os.kill(pid, signal.SIGSTOP)
        return lambda: os.kill(pid, signal.SIGCONT)

    def _cut(self, node: Node) -> Callable[[], None]:
        self.quorum.proxy.cut_off(node.id)
        return self.quorum.proxy.cut_off

    def _load(self) -> None:
        """Records beside no-op records; only a Kafka takes these."""
        for number in range(3):
            self.quorum.refused(
                "configs", quiet=True, type="BROKER", name="", timeoutMs=1500,
                set={"log.cleaner.threads": str(number + self.random.randint(1, 9))},
            )  # fmt: skip


def run(folder: Path, *, rounds: int, seed: int) -> Chaos:
    """So many rounds; raises at the first that does not hold, with what was done."""
    with Proxy() as proxy, Quorum(kafka.TOOLS_VERSION, folder, proxy) as quorum:
        nodes = [quorum.add_controller(node_id) for node_id in (1, 2, 3)]
        quorum.use_bootstrap_servers()
        quorum.format(nodes, "--initial-controllers", quorum.initial_controllers())
        chaos = Chaos(quorum, seed)
        try:
            chaos.begin()
            for _ in range(rounds):
                chaos.round()
                proxy.exchanges.clear()
        except BaseException as error:
            error.add_note(f"seed {seed}: {', '.join(chaos.told)}")
            raise
        return chaos
