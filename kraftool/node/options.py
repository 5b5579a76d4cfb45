"""The options of a run of a node in addition to its configuration, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kraftool.node.identity import QuorumRole
from kraftool.node.runner import Consumer, Runner
from kraftool.raft.names import Endpoint

SHUTDOWN_S = 5.0
"""Kafka's patience with its raft client's shutdown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOptions:
    """The options of a run in addition to its configuration."""

    part: QuorumRole | None = None
    """None: what the log says it is."""
    witness: bool = False
    """True for a voter that leads as a last resort only and runs no controller."""
    keeps_leading: bool = False
    """True for an ordinary candidate that leads without a controller and does not hand over: for
    tests of a leader."""
    replays: bool = True
    """True if it replays into an image and writes snapshots of it; a controller needs that."""
    consumer: Callable[[Runner], Consumer] | None = None
    """What consumes in the stead of either, where the log is not for metadata."""
    cuts_batches: bool = False
    """True to cut a damaged log as Kafka does, even if that loses committed records."""
    metrics: Endpoint | None = None
    shutdown_s: float = SHUTDOWN_S

    @property
    def is_member(self) -> bool:
        """True where it votes, or may come to vote."""
        return self.part is not QuorumRole.OBSERVER

    @property
    def runs_controller(self) -> bool:
        """True for a voter that runs the active controller while it leads, as Kafka's do."""
        is_for_metadata = self.replays and self.consumer is None
        return self.is_member and is_for_metadata and not (self.witness or self.keeps_leading)

    @property
    def is_witness(self) -> bool:
        """True for a voter that is a candidate as a last resort only. One that has no image is, for
        it could do nothing while it leads; a log that is not for metadata needs no controller."""
        return not (self.runs_controller or self.keeps_leading or self.consumer is not None)

    @property
    def hands_over(self) -> bool:
        """True unless it runs a controller, or the log is not for metadata, which a controller
        could do nothing with."""
        return self.consumer is None and not self.keeps_leading and not self.runs_controller

    @property
    def registers(self) -> bool:
        """Kafka's controllers do whether they vote or not, and it stays in the metadata: who was
        asked to observe leaves no such trace. Without an image it is not known whether it may."""
        return self.replays and self.consumer is None and self.is_member
