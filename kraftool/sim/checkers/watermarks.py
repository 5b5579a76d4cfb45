"""The high watermark rises: of a leader, of a node, and of the quorum from leader to leader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.raft.roles import Leader, Role
from kraftool.sim.checkers.base import Checker

if TYPE_CHECKING:
    from kraftool.sim.node import Node


class HighWatermarks(Checker):
    """It never goes back. A leader has none before a record of its own epoch is committed, and its
    first is beyond everything that earlier leaders committed."""

    name = "high-watermark"

    def __init__(self) -> None:
        self._highest: dict[int, int] = {}

    def watermark(self, node: Node, role: Role, before: int | None, after: int | None) -> None:
        if after is None:
            return
        if before is not None and after < before:
            self.violated(f"the high watermark of {node.name} goes back from {before} to {after}")
        if not isinstance(role, Leader):
            return
        if after != before:
            last = node.log.holding(after - 1)
            if last is None or last.epoch != role.epoch:
                self.violated(
                    f"{node.name} commits up to {after}, and nothing of its epoch {role.epoch}"
                )
        earlier = max(
            (end for epoch, end in self._highest.items() if epoch < role.epoch), default=0
        )
        if after < earlier:
            self.violated(f"leader {node.name} commits {after}, less than {earlier} before it")
        if after < self._highest.get(role.epoch, 0):
            self.violated(f"leader {node.name} goes back to {after}")
        self._highest[role.epoch] = after
