"""The part of the log that the state machine above it may see, and when it learns who leads.

Owns the order (Kafka's listener contract): a snapshot or the log's start first, then what is
committed, one delivery at a time. That this node leads is told only once everything from before
its epoch was consumed.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftool.raft.events import Deliver, Effect, LeaderChanged
from kraftool.raft.log_view import LogView
from kraftool.raft.roles import Leader, Resigned, Role

Emit = Callable[[Effect], None]


class StateMachine:
    """The position of the state machine, and what it was informed of."""

    def __init__(self) -> None:
        self.next_offset: int | None = None
        """None until it was given anything."""
        self._is_busy = False
        self._told: tuple[int, int | None] = (0, None)

    def consumed(self, next_offset: int) -> None:
        self.next_offset, self._is_busy = next_offset, False

    def update(self, role: Role, log: LogView, emit: Emit) -> None:
        """Emit what the role and the log let the state machine see now."""
        self._deliver(role, log, emit)
        self._tell_leader(role, emit)

    def _deliver(self, role: Role, log: LogView, emit: Emit) -> None:
        committed = role.high_watermark
        if committed is None:  # the role forgot it, and the log did not
            committed = log.high_watermark or None
        if committed is None or self._is_busy:
            return
        newest = log.newest_snapshot
        behind = self.next_offset is not None and self.next_offset < log.start_offset
        if newest is not None and (self.next_offset is None or behind):
            self._is_busy = True
            emit(Deliver(from_offset=newest.offset, to_offset=newest.offset, snapshot_id=newest))
            return
        start = self.next_offset or 0
        if start < committed:
            self._is_busy = True
            emit(Deliver(from_offset=start, to_offset=committed))
        elif self.next_offset is None:
            self.next_offset = 0

    def _tell_leader(self, role: Role, emit: Emit) -> None:
        if isinstance(role, Resigned):
            return
        if isinstance(role, Leader) and (self.next_offset or 0) <= role.epoch_start_offset:
            return
        now = (role.epoch, role.leader_id)
        epoch, leader = self._told
        if now[0] > epoch or (now[0] == epoch and leader is None and now[1] is not None):
            self._told = now
            emit(LeaderChanged(epoch=now[0], leader_id=now[1]))
