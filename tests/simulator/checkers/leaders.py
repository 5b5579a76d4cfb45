"""At most one leader in an epoch, in memory and on disk, and never twice the same one."""

from __future__ import annotations

from kraftool.raft.names import ElectionState
from kraftool.raft.roles import Leader
from tests.simulator.checkers.base import Checker
from tests.simulator.node import Node


class Leaders(Checker):
    """Everyone who names the leader of an epoch names the same one. A node that has written down
    that it leads does not lead that epoch again after a restart, when it may have lost records.

    A role counts once its election state is durable. Before that, nobody has heard of it, and a
    crash takes it back: the epoch can still get another leader.
    """

    name = "single-leader"

    def __init__(self) -> None:
        self._named: dict[int, int] = {}
        self._led: dict[int, tuple[int, int]] = {}

    def rested(self, node: Node) -> None:
        role = node.raft.role
        if role.leader_id is not None:
            self._name(node, role.epoch, role.leader_id, "knows")
        if isinstance(role, Leader):
            self._lead(node, role.epoch)

    def persisted(self, node: Node, before: ElectionState | None, after: ElectionState) -> None:
        if after.leader_id is None:
            return
        self._name(node, after.epoch, after.leader_id, "has written down")
        role = node.raft.role
        if after.leader_id == node.id and isinstance(role, Leader) and role.epoch == after.epoch:
            self._lead(node, after.epoch)

    def _name(self, node: Node, epoch: int, leader: int, how: str) -> None:
        known = self._named.setdefault(epoch, leader)
        if known != leader:
            self.violated(f"{node.name} {how} leader {leader} of epoch {epoch}; others say {known}")

    def _lead(self, node: Node, epoch: int) -> None:
        life = (node.id, node.incarnation)
        if self._led.setdefault(epoch, life) != life:
            self.violated(f"{node.name} leads epoch {epoch}, which was led before")
