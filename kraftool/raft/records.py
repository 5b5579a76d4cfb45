"""Batches and control records as the protocol sees them; what lies in data records it never asks.

Owns the split between the two. The bytes of a batch travel along as `data`, whatever they are to
whoever runs the core: encoded batches in a node, small values in a simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from kraftool.raft.names import VoterSet


class LeaderChange(NamedTuple):
    """Opens a leader's epoch in the log."""

    leader_id: int
    voters: tuple[int, ...]
    granting_voters: tuple[int, ...]


class KRaftVersion(NamedTuple):
    """Finalizes a level of kraft.version."""

    level: int


class Voters(NamedTuple):
    """Makes a voter set the one that counts, from its append on."""

    voters: VoterSet


ControlRecord = LeaderChange | KRaftVersion | Voters


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch in a log, or on its way into one."""

    base_offset: int
    last_offset: int
    epoch: int
    timestamp_ms: int = 0
    control: tuple[ControlRecord, ...] = ()
    """In a control batch, its records; their offsets follow on the base offset."""
    is_valid: bool = True
    """True if magic, size and CRC are right, which whoever decoded it has looked at."""
    size: int = 0
    data: Any = None

    @property
    def next_offset(self) -> int:
        return self.last_offset + 1
