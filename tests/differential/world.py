"""The other nodes of a trial, as far as this one's messages show them.

Owns what is plausible: one leader an epoch, offsets near the log's, epochs near this node's.
"""

from __future__ import annotations

from random import Random

from kraftool.raft.names import Endpoint, OffsetAndEpoch, ReplicaKey, VoterSet
from kraftool.raft.raft import Raft
from tests.differential.pair import Pair
from tests.differential.random_start import (
    LAST_EPOCH,
    ME,
    UNKNOWN_NODES,
    Cast,
    directory_id,
)


class World:
    """The other nodes, with one leader an epoch."""

    def __init__(self, random: Random, cast: Cast, pair: Pair) -> None:
        self.random, self.cast, self.pair = random, cast, pair
        self.leaders: dict[int, int] = {}
        """The leader of each epoch."""
        self.next_request = 0

    @property
    def raft(self) -> Raft:
        return self.pair.raft

    def key(self, node_id: int) -> ReplicaKey:
        """Return a node's key; rarely one without a directory id, or with another one."""
        ids = [directory_id(node_id), None, directory_id(node_id + 50)]
        return ReplicaKey(node_id, self.random.choices(ids, [10, 1, 1])[0])

    def other(self) -> int:
        random = self.random
        return random.choice(self.cast.others if random.random() < 0.9 else UNKNOWN_NODES)

    def epoch(self) -> int:
        """Return an epoch near this node's."""
        step = self.random.choices([0, 1, -1, 2, 3], [14, 4, 2, 1, 1])[0]
        if self.random.random() < 0.004:
            step = self.random.choice([1_000, 1_001, 1 << 20, LAST_EPOCH])
        return min(max(0, self.raft.epoch + step), LAST_EPOCH)

    def leader_of(self, epoch: int) -> int:
        """Return the one leader of an epoch, which is another node."""
        known = self.raft.leader_id
        if epoch == self.raft.epoch and known not in (None, ME):
            assert known is not None, "a leader is known"
            self.leaders.setdefault(epoch, known)
        return self.leaders.setdefault(epoch, self.random.choice(self.cast.others))

    def place(self) -> OffsetAndEpoch:
        """Return a place in a log like this node's."""
        random, log = self.random, self.raft.log
        starts = [start for _, start in log.epochs[-3:]]
        offset = random.choice(
            [*starts, *[log.end_offset] * 6, log.start_offset, log.end_offset + random.randrange(4)]
        )
        if random.random() < 0.1:
            offset = random.randrange(log.end_offset + 1)
        last = log.last_epoch
        epoch = random.choice([last, last, last, max(0, last - 1), last + 1, self.raft.epoch])
        if random.random() < 0.5:  # the epoch that this log has there
            epoch = next((epoch for epoch, start in reversed(log.epochs) if start < offset), epoch)
        return OffsetAndEpoch(offset, min(epoch, LAST_EPOCH))

    def changed_voters(self) -> VoterSet:
        """Return the voter set with one member more or less, or as it is."""
        random = self.random
        members = {voter.key.id: voter for voter in self.raft.control.voters}
        kind = random.random()
        if (kind < 0.4 and len(members) > 1) or not members:
            members.pop(random.choice(list(members)), None) if members else None
        elif kind < 0.8:
            added = random.randrange(1, 8)
            members[added] = self.cast.voter(added)
        if not members:
            members = {node_id: self.cast.voter(node_id) for node_id in self.cast.ids}
        return VoterSet(members)

    def listener(self) -> str:
        if self.cast.external and self.random.random() < 0.15:
            return "EXTERNAL"
        return self.cast.listener

    def endpoints(self, node_id: int) -> dict[str, Endpoint]:
        return self.cast.endpoints(node_id)
