"""The voters: who they are by the log, and that they change one at a time."""

from __future__ import annotations

from kraftool.raft.events import Event, SnapshotInstalled
from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.raft.records import Batch, KRaftVersion, Voters
from kraftool.sim.machine import Snapshot
from tests.simulator.checkers.base import Checker
from tests.simulator.node import Node


class VoterSets(Checker):
    """A node goes by the newest voters in its log, committed or not. The next set has at most one
    voter more or less, and is begun only when the one before is committed, and something of the
    leader's epoch is. A snapshot has the newest of what it takes the place of. (Keeps `voters` of
    every node, by which other checkers count.)"""

    name = "voter-sets"

    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()
        """Offset and epoch of what was judged."""

    def starts(self, node: Node) -> None:
        self._read(node)

    def stepped(self, node: Node, event: Event | None) -> None:
        if event is None or isinstance(event, SnapshotInstalled):
            self._compare(node)

    def appended(self, node: Node, batches: tuple[Batch, ...]) -> None:
        for batch in batches:
            if batch.control:
                self._note(node, batch)
        self._compare(node)

    def _note(self, node: Node, batch: Batch) -> None:
        for offset, record in enumerate(batch.control, batch.base_offset):
            if isinstance(record, Voters):
                key = (offset, batch.epoch)
                if key not in self.seen:
                    self.seen.add(key)
                    self._weigh(node, record.voters)
                node.voters, node.voters_offset = record.voters, offset

    def _weigh(self, node: Node, after: VoterSet) -> None:
        """Judge a set that a leader has just written."""
        before = node.voters
        self.world.count("voter sets")
        if any(voter.key.directory_id is None for voter in before):
            self.world.count("upgrades to kraft.version 1")
            if before.ids != after.ids:
                self.violated(f"{node.name} writes the first voters, and not the static ones")
            return
        old, new = before.keys, after.keys
        if old == new:
            return
        if len(old - new) + len(new - old) > 1:
            self.violated(f"{node.name} changes more than one voter")
        if node.voters_offset >= self.world.committed.end:
            self.violated(f"{node.name} changes voters that are not committed")
        if node.watermark is None:
            self.violated(f"{node.name} changes the voters with nothing of its epoch committed")

    def truncated(self, node: Node, offset: int, dropped: list[Batch]) -> None:
        if any(batch.control for batch in dropped):
            self._read(node)
            self._compare(node)

    def installed(self, node: Node, snapshot_id: OffsetAndEpoch) -> None:
        for content in self.world.contents.values():
            if content.id == snapshot_id:
                node.voters = content.voters or node.settings.static_voters
                node.voters_offset = snapshot_id.offset - 1

    def wrote(self, node: Node, snapshot: Snapshot) -> None:
        level, voters = self._committed(snapshot.id.offset)
        if (snapshot.kraft_version, snapshot.voters) != (level, voters):
            self.violated(
                f"{node.name} writes snapshot {snapshot.id} with voters of another offset"
            )

    def _committed(self, offset: int) -> tuple[int, VoterSet | None]:
        """kraft.version and voters as the committed records before an offset have them."""
        level, voters, base = 0, None, self.world.base
        if base is not None:
            level, voters = base.kraft_version, base.voters
        for batch in self.world.committed.between(0, offset):
            for record in batch.control:
                if isinstance(record, KRaftVersion):
                    level = record.level
                elif isinstance(record, Voters):
                    voters = record.voters
        return level, voters

    def _read(self, node: Node) -> None:
        """Find the newest voters in a node's log, or else in its snapshot."""
        for batch in reversed(node.log.items):
            for offset in range(batch.last_offset, batch.base_offset - 1, -1):
                record = batch.control[offset - batch.base_offset] if batch.control else None
                if isinstance(record, Voters):
                    node.voters, node.voters_offset = record.voters, offset
                    return
        newest = node.disk.newest
        if newest is not None and newest.voters is not None:
            node.voters, node.voters_offset = newest.voters, newest.id.offset - 1
        else:
            node.voters, node.voters_offset = node.settings.static_voters, -1

    def _compare(self, node: Node) -> None:
        if node.raft.control.voters.voters != node.voters.voters:
            self.violated(f"{node.name} does not go by the voters at {node.voters_offset}")
