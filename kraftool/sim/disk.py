"""A node's disk: what is on it for good, and what a crash may take.

Owns quorum-state, log and snapshots as they are when the power comes back. A flush makes durable
what was written before; a write of quorum-state or of a snapshot is whole or not there. After a
crash the log keeps some of what was not flushed, perhaps with a last batch torn, which recovery
trims; a truncation that no flush followed may be undone. Whoever opens the disk flushes what it
finds, as a node must before it says how long its log is.
"""

from __future__ import annotations

from copy import copy
from random import Random

from kraftool.raft.control_history import ControlHistory
from kraftool.raft.log_view import LogView
from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    ElectionState,
    OffsetAndEpoch,
    ReplicaKey,
    VoterSet,
)
from kraftool.raft.records import Batch
from kraftool.sim.batches import Batches
from kraftool.sim.machine import Snapshot


def stored_form(state: ElectionState, kraft_version: int) -> ElectionState:
    """Return what a file keeps of an election state: version 0 has no directory ids."""
    if kraft_version or state.voted is None or state.voted.directory_id is None:
        return state
    return ElectionState(
        epoch=state.epoch, leader_id=state.leader_id, voted=ReplicaKey(state.voted.id)
    )


class Disk:
    """One disk, from its format to its end."""

    def __init__(self, directory_id: str, bootstrap: Snapshot | None = None) -> None:
        self.directory_id = directory_id
        self.election: ElectionState | None = None
        self.log = Batches()
        self.durable = 0
        """Everything below is safe."""
        self.snapshots: dict[OffsetAndEpoch, Snapshot] = {}
        if bootstrap is not None:
            self.snapshots[BOOTSTRAP_SNAPSHOT] = bootstrap
        self.downloads: dict[OffsetAndEpoch, bytearray] = {}
        self._undone: list[Batch] = []
        """What a truncation dropped that was flushed before, until the next flush."""

    def copy(self) -> Disk:
        """Another disk with the same content; what happens to one does not change the other."""
        other = copy(self)
        other.log = Batches(self.log.items, self.log.start)
        other.snapshots = dict(self.snapshots)
        other.downloads = {key: bytearray(data) for key, data in self.downloads.items()}
        return other

    @property
    def newest(self) -> Snapshot | None:
        return self.snapshots[max(self.snapshots)] if self.snapshots else None

    @property
    def last_epoch(self) -> int:
        """Of the last record; of the snapshot that an empty log begins after."""
        if self.log.items:
            return self.log.items[-1].epoch
        start = self.log.start
        return max(
            (snapshot.epoch for snapshot in self.snapshots if snapshot.offset == start), default=0
        )

    def append(self, batches: tuple[Batch, ...]) -> None:
        for batch in batches:
            self.log.append(batch)

    def truncate(self, offset: int) -> None:
        dropped = [batch for batch in self.log.truncate(offset) if batch.last_offset < self.durable]
        if dropped:
            self._undone = dropped
        self.durable = min(self.durable, self.log.end)

    def flush(self, end_offset: int) -> None:
        self._undone = []
        self.durable = max(self.durable, min(end_offset, self.log.end))

    def install(self, snapshot: Snapshot) -> None:
        """Put a downloaded snapshot in its place, and begin the log anew after it."""
        self.add(snapshot)
        self._begin_after(snapshot)

    def add(self, snapshot: Snapshot) -> None:
        self.snapshots[snapshot.id] = snapshot

    def _begin_after(self, snapshot: Snapshot) -> None:
        self.log = Batches(start=snapshot.id.offset)
        self.durable = snapshot.id.offset
        self.snapshots = {snapshot.id: snapshot}
        self.downloads, self._undone = {}, []

    def clean(self, start_offset: int) -> None:
        self.log.clean(start_offset)
        self.snapshots = {
            key: snapshot for key, snapshot in self.snapshots.items() if key.offset >= start_offset
        }

    def read_batches(self, offset: int, max_bytes: int) -> tuple[Batch, ...]:
        """Whole batches, one at least, as long as they fit; nothing where the log was cleaned."""
        batches: list[Batch] = []
        if offset < self.log.start:
            return ()
        for batch in self.log.between(offset, self.log.end):
            max_bytes -= batch.size
            if batches and max_bytes < 0:
                break
            batches.append(batch)
        return tuple(batches)

    def read_snapshot(
        self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int
    ) -> tuple[int, bytes] | None:
        """A snapshot's size and a slice of it; None for one that is not here."""
        content = self.snapshots.get(snapshot_id)
        if content is None:
            return None
        data = content.encoded()
        return len(data), data[position : position + max_bytes]

    def lose_power(self, random: Random) -> str:
        """Lose what was not flushed: all of it or some, the last batch of that torn."""
        self.downloads = {}
        if self._undone and random.random() < 0.5:
            at = self._undone[0].base_offset
            self.log.truncate(at)
            self.append(tuple(self._undone))
            self.durable, self._undone = self.log.end, []
            return f"the truncation to {at} is undone"
        self._undone = []
        unflushed = self.log.between(self.durable, self.log.end)
        kept = random.randrange(len(unflushed) + 1)
        if kept == len(unflushed):
            return "nothing is lost"
        torn = ", torn" if random.random() < 0.5 else ""
        self.log.truncate(unflushed[kept].base_offset)
        return f"lost from {unflushed[kept].base_offset} on{torn}"

    def open(self, static_voters: VoterSet) -> tuple[LogView, ControlHistory]:
        """Recover, flush, and read everything up to the log's end."""
        newest = self.newest
        if newest is not None and newest.id != BOOTSTRAP_SNAPSHOT:
            is_behind = (newest.id.epoch, newest.id.offset) > (self.last_epoch, self.log.end)
            if is_behind:
                self._begin_after(newest)
        self.durable = self.log.end
        self.downloads = {}
        view = LogView.of(self.log.items, snapshots=self.snapshots, start=self.log.start)
        control = ControlHistory(static_voters=static_voters)
        after = 0
        if newest is not None:
            after = newest.id.offset
            control.begin_after(after, newest.kraft_version, newest.voters)
        for batch in self.log.between(after, self.log.end):
            control.append(batch)
        return view, control
