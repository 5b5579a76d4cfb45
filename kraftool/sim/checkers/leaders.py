"""At most one leader in an epoch, in memory and on disk, and never twice the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.raft.events import Event
from kraftool.raft.names import ElectionState
from kraftool.raft.roles import Leader, Role
from kraftool.sim.checkers.base import Checker

if TYPE_CHECKING:
    from kraftool.sim.node import Node


class Leaders(Checker):
    """Whoever names a leader of an epoch names the same one. One that has written down that it
    leads does not begin to lead that epoch again after a restart, when records may be lost."""

    name = "single-leader"

    def __init__(self) -> None:
        self._named: dict[int, int] = {}
        self._led: dict[int, tuple[int, int]] = {}

    def role_changed(
        self, node: Node, before: Role | None, after: Role, event: Event | None
    ) -> None:
        if after.leader_id is not None:
            self._name(node, after.epoch, after.leader_id, "knows")
        if isinstance(after, Leader):
            life = (node.id, node.incarnation)
            if self._led.get(after.epoch, life) != life:
                self.violated(f"{node.name} leads epoch {after.epoch}, which was led before")

    def persisted(self, node: Node, before: ElectionState | None, after: ElectionState) -> None:
        if after.leader_id is not None:
            self._name(node, after.epoch, after.leader_id, "has written down")
            if after.leader_id == node.id and isinstance(node.raft.role, Leader):
                self._led.setdefault(after.epoch, (node.id, node.incarnation))

    def _name(self, node: Node, epoch: int, leader: int, how: str) -> None:
        known = self._named.setdefault(epoch, leader)
        if known != leader:
            self.violated(f"{node.name} {how} leader {leader} of epoch {epoch}; others say {known}")
