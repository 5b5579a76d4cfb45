"""The state machines: the same at the same offset, however they came there."""

from __future__ import annotations

from kraftool.raft.events import Deliver
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT
from kraftool.raft.roles import Leader
from kraftool.sim.machine import Snapshot
from tests.simulator.checkers.base import Checker
from tests.simulator.node import Node


class Machines(Checker):
    """All state machines agree, with records and with snapshots. They see nothing that is not
    committed, and one that was told that it leads is never given a snapshot."""

    name = "machines"

    def __init__(self) -> None:
        self._totals: dict[int, int] = {}

    def delivers(self, node: Node, delivery: Deliver) -> None:
        if delivery.to_offset > self.world.committed.end:
            self.violated(f"{node.name} delivers {delivery.to_offset}, which is not committed")
        role = node.raft.role
        if (
            isinstance(role, Leader)
            and node.active_epoch == role.epoch
            and delivery.snapshot_id not in (None, BOOTSTRAP_SNAPSHOT)
        ):
            self.violated(f"{node.name} leads, and is given snapshot {delivery.snapshot_id}")

    def consumed(self, node: Node, delivery: Deliver) -> None:
        self._compare(node, node.machine.next_offset, node.machine.total)

    def wrote(self, node: Node, snapshot: Snapshot) -> None:
        self._compare(node, snapshot.id.offset, snapshot.total)

    def _compare(self, node: Node, offset: int, total: int) -> None:
        if self._totals.setdefault(offset, total) != total:
            self.violated(f"{node.name} is in another state at {offset} than another node")
