"""What the state machine above the log may see, and when it is told who leads.

Owns the order (Kafka's listener contract): a snapshot or the log's start first, then what is
committed, one delivery at a time. That this node leads is told only once everything from before
its epoch was consumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.raft.events import Deliver, LeaderChanged
from kraftool.raft.roles import Leader, Resigned

if TYPE_CHECKING:
    from kraftool.raft.raft import Raft


class StateMachine:
    """How far the state machine is, and what it was told."""

    def __init__(self) -> None:
        self.next_offset: int | None = None
        """None until it was given anything."""
        self._is_busy = False
        self._told: tuple[int, int | None] = (0, None)

    def consumed(self, next_offset: int) -> None:
        self.next_offset, self._is_busy = next_offset, False

    def update(self, raft: Raft) -> None:
        self._deliver(raft)
        self._tell_leader(raft)

    def _deliver(self, raft: Raft) -> None:
        committed = raft.role.high_watermark
        if committed is None:  # the role forgot it, and the log did not
            committed = raft.log.high_watermark or None
        if committed is None or self._is_busy:
            return
        newest = raft.log.newest_snapshot
        behind = self.next_offset is not None and self.next_offset < raft.log.start_offset
        if newest is not None and (self.next_offset is None or behind):
            self._is_busy = True
            raft.emit(
                Deliver(from_offset=newest.offset, to_offset=newest.offset, snapshot_id=newest)
            )
            return
        start = self.next_offset or 0
        if start < committed:
            self._is_busy = True
            raft.emit(Deliver(from_offset=start, to_offset=committed))
        elif self.next_offset is None:
            self.next_offset = 0

    def _tell_leader(self, raft: Raft) -> None:
        role = raft.role
        if isinstance(role, Resigned):
            return
        if isinstance(role, Leader) and (self.next_offset or 0) <= role.epoch_start_offset:
            return
        now = (role.epoch, role.leader_id)
        epoch, leader = self._told
        if now[0] > epoch or (now[0] == epoch and leader is None and now[1] is not None):
            self._told = now
            raft.emit(LeaderChanged(epoch=now[0], leader_id=now[1]))
