"""The high watermark rises: of a leader, of a node, and of the quorum from leader to leader."""

from __future__ import annotations

from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch
from kraftool.raft.roles import Leader, Role
from tests.simulator.checkers.base import Checker
from tests.simulator.node import Node


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


class Truncations(Checker):
    """No process drops a record that it has known as committed, whatever its role has been since.
    Its log remembers that: the core reads it there before it truncates."""

    name = "truncation"

    def __init__(self) -> None:
        self._highest: dict[tuple[int, int], int] = {}
        """By node and start: a restarted process does not know the high watermark."""

    def watermark(self, node: Node, role: Role, before: int | None, after: int | None) -> None:
        life = (node.id, node.incarnation)
        highest = self._highest[life] = max(self._highest.get(life, 0), after or 0)
        known = node.raft.log.committed_offset
        if known < highest:
            self.violated(f"the log of {node.name} knows {known} as committed, not {highest}")

    def truncated(self, node: Node, offset: int, dropped: list[Batch]) -> None:
        self._compare(node, offset)

    def installed(self, node: Node, snapshot_id: OffsetAndEpoch) -> None:
        self._compare(node, snapshot_id.offset)

    def _compare(self, node: Node, offset: int) -> None:
        highest = self._highest.get((node.id, node.incarnation), 0)
        if offset < highest:
            self.violated(f"{node.name} goes back to {offset}, having {highest} committed")
