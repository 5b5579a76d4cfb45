"""A log that does not start at 0 starts at a snapshot."""

from __future__ import annotations

from kraftool.raft.events import Event, LogCleaned, SnapshotInstalled, SnapshotWritten
from kraftool.raft.log_view import Validity
from tests.simulator.checkers.base import Checker
from tests.simulator.node import Node


class LogStart(Checker):
    """The start of a log coincides with a snapshot, which is a place in that log."""

    name = "log-start"

    def stepped(self, node: Node, event: Event | None) -> None:
        if event is None or isinstance(event, LogCleaned | SnapshotInstalled | SnapshotWritten):
            view = node.raft.log
            if view.start_offset == 0:
                return
            if view.start_offset not in [snapshot.offset for snapshot in view.snapshots]:
                self.violated(f"the log of {node.name} starts at {view.start_offset}, no snapshot")
            if view.start_offset != node.log.start:
                self.violated(f"{node.name} takes its log to start at {view.start_offset}")
            oldest = view.snapshots[0]
            if view.validate(oldest.offset, oldest.epoch)[0] is not Validity.VALID:
                self.violated(f"{node.name} has snapshot {oldest} beside another log")
