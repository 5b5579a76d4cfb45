"""The leader's table of replicas: how far each voter and observer is, and what is committed.

Owns who of the fetching nodes counts (Kafka's LeaderState.ReplicaState), when a replica is caught
up, and the high watermark rule: what a majority has, once that is beyond the epoch's start.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftool.raft.names import UNKNOWN, ReplicaKey, VoterSet, majority_of
from kraftool.raft.settings import CAUGHT_UP_WITHIN_MS, OBSERVER_EXPIRY_MS


@dataclass(slots=True, kw_only=True)
class Replica:
    """One replica as the leader knows it."""

    key: ReplicaKey
    end_offset: int | None = None
    last_fetch_ms: int = UNKNOWN
    last_fetch_leader_end: int = UNKNOWN
    last_caught_up_ms: int = UNKNOWN

    def fetched(self, offset: int, leader_end: int, now_ms: int) -> None:
        """Take note of a fetch at an offset."""
        if offset >= leader_end:
            self.last_caught_up_ms = max(now_ms, self.last_caught_up_ms)
        elif offset >= self.last_fetch_leader_end > 0:
            self.last_caught_up_ms = max(self.last_fetch_ms, self.last_caught_up_ms)
        self.last_fetch_ms = max(now_ms, self.last_fetch_ms)
        self.last_fetch_leader_end = leader_end
        self.end_offset = offset


@dataclass(slots=True, kw_only=True)
class Replicas:
    """Voters by id, observers by key."""

    local: ReplicaKey
    voters: dict[int, Replica] = field(default_factory=dict)
    observers: dict[ReplicaKey, Replica] = field(default_factory=dict)

    def split(self, voter_set: VoterSet) -> None:
        """Sort everyone anew by who is a voter now; what is known of a replica goes with it."""
        before = self.voters
        self.voters = {voter.key.id: self._known(voter.key) for voter in voter_set}
        for voter in self.voters.values():
            self.observers.pop(voter.key, None)
        for id_, old in before.items():
            if id_ not in self.voters:
                self.observers.setdefault(old.key, old)

    def _known(self, key: ReplicaKey) -> Replica:
        """Return what is known of a replica that is to be a voter. A static voter's entry, which
        fits any directory, is that of the first directory that is named.
        """
        replica = self.voters.get(key.id)
        if replica is None or not key.is_known_as(replica.key):
            replica = self.observers.get(key)
        if replica is None:
            return Replica(key=key)
        replica.key = key
        return replica

    def of(self, key: ReplicaKey) -> Replica:
        """The entry of a fetching node; one that is no voter gets one as an observer."""
        voter = self.voters.get(key.id)
        if voter is not None and key.is_known_as(voter.key):
            return voter
        return self.observers.setdefault(key, Replica(key=key))

    def is_voter(self, key: ReplicaKey) -> bool:
        voter = self.voters.get(key.id)
        return voter is not None and key.is_known_as(voter.key)

    def committed(self, epoch_start_offset: int) -> int | None:
        """Return what a majority of voters has, if that is beyond the start of the leader's
        epoch.
        """
        offsets = sorted(
            (UNKNOWN if voter.end_offset is None else voter.end_offset)
            for voter in self.voters.values()
        )[::-1]
        if not offsets:
            return None
        offset = offsets[majority_of(len(offsets)) - 1]
        return offset if offset > epoch_start_offset else None

    def is_caught_up(self, key: ReplicaKey, now_ms: int) -> bool:
        """True if an observer may become a voter: it reached the end under this leader, lately."""
        replica = self.observers.get(key)
        return (
            replica is not None
            and replica.last_caught_up_ms > 0
            and replica.last_fetch_ms > 0
            and replica.last_fetch_ms > now_ms - CAUGHT_UP_WITHIN_MS
        )

    def expire(self, now_ms: int) -> None:
        """Forget observers that have not fetched for long."""
        self.observers = {
            key: observer
            for key, observer in self.observers.items()
            if key == self.local or now_ms - observer.last_fetch_ms < OBSERVER_EXPIRY_MS
        }

    def successors(self) -> tuple[ReplicaKey, ...]:
        """The other voters, those with the longest log first; whom a resigning leader proposes."""
        others = (voter for voter in self.voters.values() if voter.key.id != self.local.id)

        def rank(replica: Replica) -> tuple[int, int]:
            end = UNKNOWN if replica.end_offset is None else replica.end_offset
            return -end, replica.key.id

        ranked = sorted(others, key=rank)
        return tuple(replica.key for replica in ranked)
