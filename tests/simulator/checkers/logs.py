"""Logs agree: a place and its epoch mean the same records everywhere, and what is committed
stays."""

from __future__ import annotations

from kraftool.raft.events import Event
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch
from kraftool.raft.roles import Leader, Role
from tests.simulator.checkers.base import Checker
from tests.simulator.node import Node


class LogMatching(Checker):
    """A batch is identified by its offset and epoch, and has the same one before it in every log:
    so two logs that have it agree up to it. Epochs rise along a log."""

    name = "log-matching"

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Batch, Batch | None]] = {}

    def written(self, node: Node, batches: tuple[Batch, ...]) -> None:
        items = node.disk.log.items
        at = len(items) - len(batches)
        before = items[at - 1] if at > 0 else None
        for batch in batches:
            key = (batch.base_offset, batch.epoch)
            known = self._known.get(key)
            if known is None:
                self._known[key] = (batch, before)
            elif known[0] is not batch:
                self.violated(f"{node.name} has other records at {key} than another node")
            elif before is not None and known[1] is not before:
                if known[1] is not None:
                    self.violated(f"{node.name} has other records before {key} than another node")
                self._known[key] = (batch, before)
            if before is not None and (
                before.epoch > batch.epoch or before.last_offset + 1 != batch.base_offset
            ):
                self.violated(f"{node.name} has {key} after {before.last_offset}@{before.epoch}")
            before = batch

    def appended(self, node: Node, batches: tuple[Batch, ...]) -> None:
        self._compare(node)
        if batches[-1].epoch > node.raft.epoch:
            self.violated(f"{node.name} is in epoch {node.raft.epoch}, and takes later records")

    def truncated(self, node: Node, offset: int, dropped: list[Batch]) -> None:
        self._compare(node)

    def _compare(self, node: Node) -> None:
        if node.raft.log.end_offset != node.log.end:
            self.violated(f"{node.name} takes its log to end at {node.raft.log.end_offset}")


class Committed(Checker):
    """Checks that what a leader has called committed is in the log of every later leader, and below
    the high watermark of every node. No node that knows the leader's epoch cuts it off, and no
    snapshot replaces it by anything else.

    A node of an earlier epoch may cut it off for the leader of that epoch, who leads no more. The
    node was not counted when the records were committed, and fetches them again.
    """

    name = "committed"

    def __init__(self) -> None:
        self._by_epoch: dict[int, int] = {}
        """Up to where the leader of an epoch has committed."""

    def watermark(self, node: Node, role: Role, before: int | None, after: int | None) -> None:
        if after is None:
            return
        committed, log = self.world.committed, node.log
        start = log.start if before is None else before
        if after > log.end:
            self.violated(f"{node.name} has {after} committed, and a log up to {log.end}")
        batches = log.between(start, after)
        if batches and batches[-1].last_offset + 1 != after:
            self.violated(f"the high watermark {after} of {node.name} lies within a batch")
        is_leader = isinstance(role, Leader)
        if after > committed.end and not is_leader:
            self.violated(f"{node.name} follows, and has {after} committed before any leader")
        for batch in batches:
            if batch.base_offset >= committed.end:
                committed.append(batch)
                self.world.counts["batches committed"] += 1
            elif committed.holding(batch.base_offset) is not batch:
                self.violated(
                    f"{node.name} has other records committed at {batch.base_offset}"
                    f" of epoch {batch.epoch}"
                )
        if is_leader:
            self._by_epoch[role.epoch] = after

    def truncated(self, node: Node, offset: int, dropped: list[Batch]) -> None:
        epoch = node.raft.epoch
        known = max((end for led, end in self._by_epoch.items() if led <= epoch), default=0)
        for batch in dropped:
            committed = self.world.committed.holding(batch.base_offset)
            if batch.base_offset < known and committed is batch:
                self.violated(f"{node.name} cuts off {batch.base_offset}, which is committed")

    def installed(self, node: Node, snapshot_id: OffsetAndEpoch) -> None:
        base = self.world.base
        if base is not None and snapshot_id == base.id:
            return
        last = self.world.committed.holding(snapshot_id.offset - 1)
        if last is None or last.epoch != snapshot_id.epoch:
            self.violated(f"{node.name} begins after {snapshot_id}, which is not committed")

    def role_changed(
        self, node: Node, before: Role | None, after: Role, event: Event | None
    ) -> None:
        if not isinstance(after, Leader):
            return
        needed = max(
            (end for epoch, end in self._by_epoch.items() if epoch < after.epoch), default=0
        )
        if needed <= node.log.start:
            return
        last = self.world.committed.holding(needed - 1)
        if node.log.holding(needed - 1) is not last:
            self.violated(f"{node.name} leads epoch {after.epoch} without {needed - 1}, committed")
