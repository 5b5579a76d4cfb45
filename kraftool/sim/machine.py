"""The state machine above the log: it adds up what is committed, and writes that as snapshots.

Owns what a snapshot contains and its bytes. Two nodes that have consumed the same offsets have the
same sum, whether from records or from a snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.raft.records import Batch

_MODULUS = (1 << 61) - 1
_CHUNKS = 3
CHUNK_BYTES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot's content."""

    id: OffsetAndEpoch
    kraft_version: int
    voters: VoterSet | None
    total: int

    def encoded(self) -> bytes:
        """Bytes that take several answers to be fetched."""
        named = f"{self.id.offset}-{self.id.epoch}:{self.kraft_version}:{self.total}"
        keys = "" if self.voters is None else ",".join(str(voter.key) for voter in self.voters)
        return f"{named}:{keys}".encode().ljust(CHUNK_BYTES * _CHUNKS - 7, b".")


@dataclass(slots=True)
class Machine:
    """The state that one node has made from the log."""

    next_offset: int = 0
    total: int = 0
    last_epoch: int = 0
    snapshot_offset: int = 0

    def load(self, snapshot: Snapshot) -> None:
        self.next_offset = self.snapshot_offset = snapshot.id.offset
        self.last_epoch, self.total = snapshot.id.epoch, snapshot.total

    def consume(self, batch: Batch) -> None:
        if batch.data is not None:
            for value in batch.data:
                self.total = (self.total * 1_000_003 + value) % _MODULUS
        self.next_offset, self.last_epoch = batch.last_offset + 1, batch.epoch
