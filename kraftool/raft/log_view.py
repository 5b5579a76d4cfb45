"""The protocol's view of the log: where it starts and ends, its epochs, its snapshots.

Owns the answers that follow from those (Kafka's RaftLog and LeaderEpochFileCache), without a byte
of the log itself. Whoever runs the core keeps the log; the core says what to do to it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    CommittedTruncation,
    OffsetAndEpoch,
    ProtocolError,
)
from kraftool.raft.records import Batch


class Validity(Enum):
    """The relation of a place to a log."""

    VALID = "valid"
    DIVERGING = "diverging"
    SNAPSHOT = "snapshot"


@dataclass(slots=True, kw_only=True)
class LogView:
    """One log. Its epochs and their start offsets both rise."""

    start_offset: int = 0
    end_offset: int = 0
    flushed_offset: int = 0
    epochs: list[EpochEntry] = field(default_factory=list)
    snapshots: list[OffsetAndEpoch] = field(default_factory=list)
    uncommitted: list[int] = field(default_factory=list)
    """The base offsets of the batches that this process appended and does not know as committed."""
    high_watermark: int = 0
    """The highest that this process has known. A role may forget its own; the log never does."""
    protects_snapshots: bool = True
    """False where a Kafka node is modelled: after a restart it truncates below its newest snapshot,
    down to the log start (seen on 3.9.1 and 4.3.0)."""

    @property
    def committed_offset(self) -> int:
        """All records below this offset are committed, as far as this process knows. After a
        restart it knows that only of the log start and the newest snapshot."""
        newest = self.newest_snapshot if self.protects_snapshots else None
        return max(self.high_watermark, self.start_offset, newest.offset if newest else 0)

    @property
    def newest_snapshot(self) -> OffsetAndEpoch | None:
        return self.snapshots[-1] if self.snapshots else None

    @property
    def oldest_snapshot(self) -> OffsetAndEpoch | None:
        return self.snapshots[0] if self.snapshots else None

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; of the snapshot that an empty log begins after, else 0."""
        if self.epochs:
            return self.epochs[-1].epoch
        for snapshot in reversed(self.snapshots):
            if snapshot.offset == self.start_offset:
                return snapshot.epoch
        return 0

    @property
    def end(self) -> OffsetAndEpoch:
        return OffsetAndEpoch(self.end_offset, self.last_epoch)

    def start_epoch(self, epoch: int) -> None:
        """Note that the next record is of an epoch. One that began here without a record gives
        way."""
        if self.epochs and self.epochs[-1].epoch >= epoch:
            return
        while self.epochs and self.epochs[-1].start_offset >= self.end_offset:
            self.epochs.pop()
        self.epochs.append(EpochEntry(epoch, self.end_offset))

    def append(self, batch: Batch) -> None:
        """Take a batch at the end. One that leaves a gap, or goes back, breaks the log."""
        if batch.base_offset != self.end_offset or batch.last_offset < batch.base_offset:
            raise ProtocolError(
                f"a batch of offsets {batch.base_offset} to {batch.last_offset}"
                f" cannot follow offset {self.end_offset - 1}"
            )
        self.start_epoch(batch.epoch)
        self.uncommitted.append(batch.base_offset)
        self.end_offset = batch.next_offset

    def base_offset_of(self, offset: int) -> int:
        """Return the base offset of the uncommitted batch around an offset; else the offset."""
        if offset >= self.end_offset:
            return offset
        at = bisect_right(self.uncommitted, offset)
        return self.uncommitted[at - 1] if at else offset

    def flushed(self, offset: int) -> None:
        self.flushed_offset = min(max(self.flushed_offset, offset), self.end_offset)

    def commit(self, offset: int) -> None:
        """Remember that all records below an offset are committed."""
        self.high_watermark = max(self.high_watermark, offset)
        del self.uncommitted[: bisect_left(self.uncommitted, self.high_watermark)]

    def refuse_loss(self, offset: int) -> None:
        """Raise CommittedTruncation if a committed record is at an offset or after it."""
        if offset < self.committed_offset:
            raise CommittedTruncation(offset, self.committed_offset)

    def truncate(self, offset: int) -> None:
        """Drop everything from an offset on. Raises CommittedTruncation."""
        self.refuse_loss(offset)
        self.end_offset = min(self.end_offset, offset)
        self.flushed_offset = min(self.flushed_offset, self.end_offset)
        while self.epochs and self.epochs[-1].start_offset >= self.end_offset:
            self.epochs.pop()
        del self.uncommitted[bisect_left(self.uncommitted, self.end_offset) :]

    def is_behind(self, snapshot: OffsetAndEpoch) -> bool:
        """True if a snapshot is beyond the log, so that the log has to begin anew after it."""
        end = self.end
        return snapshot.epoch > end.epoch or (
            snapshot.epoch == end.epoch and snapshot.offset > end.offset
        )

    def begin_after(self, snapshot: OffsetAndEpoch) -> None:
        """Forget the whole log; it starts where a snapshot ends. Raises CommittedTruncation."""
        self.refuse_loss(snapshot.offset)
        self.start_offset = self.end_offset = self.flushed_offset = snapshot.offset
        self.epochs.clear()
        self.uncommitted.clear()
        self.snapshots = [snapshot]

    def add_snapshot(self, snapshot: OffsetAndEpoch) -> None:
        if snapshot not in self.snapshots:
            self.snapshots = sorted([*self.snapshots, snapshot])

    def clean(self, start_offset: int) -> None:
        """Move the start up to a snapshot; what lies below is gone."""
        self.start_offset = start_offset
        self.snapshots = [
            snapshot for snapshot in self.snapshots if snapshot.offset >= start_offset
        ]
        kept = [epoch for epoch in self.epochs if epoch.start_offset > start_offset]
        dropped = self.epochs[: len(self.epochs) - len(kept)]
        begins_inside = not kept or kept[0].start_offset > start_offset
        if dropped and begins_inside and start_offset < self.end_offset:
            kept.insert(0, EpochEntry(dropped[-1].epoch, start_offset))
        self.epochs = kept

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Return where the largest epoch up to a given one ends, and which epoch that is.

        An epoch above all that are known ends where the log does; below all, at its start.
        """
        if not self.epochs:
            return OffsetAndEpoch(self.end_offset, self.last_epoch)
        at = bisect_right(self.epochs, epoch, key=lambda entry: entry.epoch)
        if at == len(self.epochs):
            snapshot_id = OffsetAndEpoch(self.end_offset, self.epochs[-1].epoch)
        elif at == 0:
            snapshot_id = OffsetAndEpoch(self.epochs[0].start_offset, epoch)
        else:
            snapshot_id = OffsetAndEpoch(self.epochs[at].start_offset, self.epochs[at - 1].epoch)
        oldest = self.oldest_snapshot
        if (
            oldest is not None
            and snapshot_id.offset == oldest.offset
            and snapshot_id.epoch == epoch
        ):
            return oldest
        return snapshot_id

    def validate(self, offset: int, last_epoch: int) -> tuple[Validity, OffsetAndEpoch]:
        """Return if an offset after records of an epoch is a place in this log."""
        newest, oldest = self.newest_snapshot, self.oldest_snapshot
        if self.start_offset == 0 and offset == 0:
            return Validity.VALID, OffsetAndEpoch(0, 0)
        if oldest is not None and newest is not None and (
            offset < self.start_offset
            or (offset == self.start_offset and last_epoch != oldest.epoch)
            or last_epoch < oldest.epoch
        ):  # fmt: skip
            return Validity.SNAPSHOT, newest
        end = self.end_of_epoch(last_epoch)
        if end.epoch != last_epoch or end.offset < offset:
            return Validity.DIVERGING, end
        return Validity.VALID, OffsetAndEpoch(offset, last_epoch)

    def truncation_point(self, diverging: OffsetAndEpoch) -> int:
        """Return where a follower cuts its log that parts from the leader's."""
        if diverging.epoch == 0:
            return min(diverging.offset, self.end_offset)
        end = self.end_of_epoch(diverging.epoch)
        return min(end.offset, diverging.offset) if end.epoch == diverging.epoch else end.offset

    @classmethod
    def of(
        cls, batches: Iterable[Batch], *, snapshots: Iterable[OffsetAndEpoch] = (), start: int = 0
    ) -> LogView:
        """A log that was read from its start to its end, all of it flushed. One that ends before
        its newest snapshot (a crash came between the two) is wiped by whoever opens it."""
        view = cls(
            start_offset=start, end_offset=start, flushed_offset=start, snapshots=sorted(snapshots)
        )
        for batch in batches:
            view.append(batch)
        view.flushed_offset = view.end_offset
        newest = view.newest_snapshot
        if newest is not None and newest != BOOTSTRAP_SNAPSHOT and view.is_behind(newest):
            view.begin_after(newest)
        return view
