"""Random requests of other nodes and of operators."""

from __future__ import annotations

from kraftool.decoders import codec
from kraftool.raft.messages import (
    AddVoterRequest,
    BeginQuorumEpochRequest,
    DescribeQuorumRequest,
    EndQuorumEpochRequest,
    FetchRequest,
    FetchSnapshotRequest,
    RemoveVoterRequest,
    Request,
    UpdateVoterRequest,
    VoteRequest,
)
from kraftool.raft.names import (
    NO_HIGH_WATERMARK_FIELD,
    UNKNOWN,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
)
from kraftool.raft.roles import Leader
from kraftool.raft.wire import requests as wire_requests
from tests.differential.random_start import CLUSTER, ME, directory_id
from tests.differential.steps import VERSIONS, Action, Ask, Pause
from tests.differential.world import World

_KINDS = {
    "vote": 10,
    "pre_vote": 10,
    "begin": 6,
    "end": 4,
    "fetch": 26,
    "fetch_snapshot": 5,
    "add": 4,
    "remove": 4,
    "update": 3,
    "describe": 4,
}


class Requests:
    def __init__(self, world: World) -> None:
        self.world = world
        self.random = world.random

    def random_request(self) -> Action:
        """Return a request; a pause where the kind makes no sense."""
        weights = dict(_KINDS)
        if isinstance(self.world.raft.role, Leader):
            weights["fetch_snapshot"] += 15
        kind = self.random.choices(list(weights), list(weights.values()))[0]
        chosen: tuple[Request, int | None] | None = getattr(self, f"_{kind}")()
        if chosen is None:
            return Pause()
        request, version = chosen
        name = wire_requests.NAMES[type(request)]
        version = VERSIONS[name] if version is None else version
        value = wire_requests.to_kafka(request, version)
        self.world.next_request += 1
        return Ask(
            request_id=self.world.next_request,
            name=name,
            version=version,
            data=codec.encode(f"{name}Request", version, value),
            listener=self.world.listener(),
        )

    def _cluster(self) -> str | None:
        return self.random.choices([CLUSTER, None, "other", ""], [30, 5, 1, 1])[0]

    def _receiver(self) -> ReplicaKey | None:
        """Return the key that the sender takes this node's for."""
        own = self.world.raft.settings.key
        other = ReplicaKey(5, directory_id(5))
        keys = [own, None, ReplicaKey(ME), other, ReplicaKey(ME, directory_id(99))]
        return self.random.choices(keys, [20, 2, 2, 1, 1])[0]

    def _is_leader(self, epoch: int) -> bool:
        return epoch == self.world.raft.epoch and self.world.raft.leader_id == ME

    def _vote(self, pre_vote: bool = False) -> tuple[Request, int | None]:
        world, random = self.world, self.random
        end = world.place()
        epoch = world.epoch() + (1 if random.random() < 0.3 else 0)
        last = end.epoch
        if random.random() < 0.85:
            last = min(last, epoch if pre_vote else max(epoch - 1, 0))
        asked = VoteRequest(
            cluster_id=self._cluster(),
            replica_epoch=min(epoch, (1 << 31) - 1),
            replica=world.key(world.other()),
            voter=self._receiver(),
            last_offset=end.offset if random.random() < 0.98 else -1,
            last_offset_epoch=last,
            pre_vote=pre_vote,
        )
        return asked, None if pre_vote or random.random() < 0.7 else random.choice([0, 1])

    def _pre_vote(self) -> tuple[Request, int | None]:
        return self._vote(pre_vote=True)

    def _old_version(self, leader: int) -> int | None:
        """Return version 0, which has no endpoints, where the leader's are known."""
        known = leader in self.world.raft.control.voters.ids
        return 0 if known and self.random.random() < 0.15 else None

    def _begin(self) -> tuple[Request, int | None] | None:
        epoch = self.world.epoch()
        if self._is_leader(epoch):
            return None
        leader = self.world.leader_of(epoch)
        request = BeginQuorumEpochRequest(
            cluster_id=self._cluster(),
            leader_id=leader,
            leader_epoch=epoch,
            voter=self._receiver(),
            leader_endpoints=self.world.endpoints(leader),
        )
        return request, self._old_version(leader)

    def _end(self) -> tuple[Request, int | None] | None:
        random, world = self.random, self.world
        epoch = world.epoch()
        if self._is_leader(epoch):
            return None
        leader = world.leader_of(epoch)
        candidates = [
            world.key(node_id)
            for node_id in world.cast.ids
            if node_id != leader and random.random() < 0.8
        ]
        random.shuffle(candidates)
        names_itself = random.random() < 0.3 or leader not in world.raft.control.voters.ids
        request = EndQuorumEpochRequest(
            cluster_id=self._cluster(),
            leader_id=leader,
            leader_epoch=epoch,
            preferred_candidates=tuple(candidates) if random.random() < 0.8 else (),
            leader_endpoints=world.endpoints(leader) if names_itself else {},
        )
        return request, self._old_version(leader)

    def _fetch(self) -> tuple[Request, int | None]:
        random, world = self.random, self.world
        place, epoch = world.place(), world.epoch()
        committed = world.raft.role.high_watermark
        last = min(place.epoch, epoch) if random.random() < 0.93 else place.epoch
        is_replica = random.random() < 0.97
        asked = FetchRequest(
            cluster_id=self._cluster(),
            replica=world.key(world.other()) if is_replica else None,
            current_leader_epoch=epoch,
            fetch_offset=place.offset,
            last_fetched_epoch=last,
            max_wait_ms=random.choice([500, 500, 0, 100]),
            max_bytes=random.choice([1 << 20, 100, 1]),
            high_watermark=random.choice(
                [UNKNOWN if committed is None else committed, UNKNOWN, NO_HIGH_WATERMARK_FIELD]
            ),
        )
        return asked, random.choice([18, 18, 18, 17, 15, 14, 13])

    def _fetch_snapshot(self) -> tuple[Request, int | None]:
        random, world = self.random, self.world
        node = world.pair.node
        assert node is not None, "the node runs"
        known = [end for end in world.raft.log.snapshots if end.offset > 0]
        snapshot = random.choice([*known * 5, OffsetAndEpoch(3, 1), OffsetAndEpoch(0, 0)])
        read = node.log.read_snapshot(snapshot, 0, 0)
        size = read[0] if read else 10
        asked = FetchSnapshotRequest(
            cluster_id=self._cluster(),
            replica=world.key(world.other()),
            current_leader_epoch=world.epoch() if random.random() < 0.3 else world.raft.epoch,
            snapshot_id=snapshot,
            position=random.choice([0, 0, size // 2, size, size - 1]),
            max_bytes=random.choice([1 << 20, 10]),
        )
        return asked, random.choice([0, 1])

    def _add(self) -> tuple[Request, int | None]:
        random, world = self.random, self.world
        added = random.choice([6, 6, 7, *world.cast.ids])
        is_reachable = random.random() < 0.95
        asked = AddVoterRequest(
            cluster_id=self._cluster(),
            voter=world.key(added),
            listeners=world.endpoints(added) if is_reachable else {"X": Endpoint("x", 1)},
            timeout_ms=1000,
            ack_when_committed=random.random() < 0.7,
        )
        return asked, None

    def _remove(self) -> tuple[Request, int | None]:
        random, world = self.random, self.world
        keys = [member.key for member in world.raft.control.voters] + [
            ReplicaKey(6, directory_id(6))
        ]
        other = world.key(random.choice([*world.cast.ids, ME, 6, 7]))
        voter = random.choice(keys) if random.random() < 0.9 else other
        return RemoveVoterRequest(cluster_id=self._cluster(), voter=voter), None

    def _update(self) -> tuple[Request, int | None]:
        random, world = self.random, self.world
        is_reachable = random.random() < 0.95
        listener = world.cast.listener if is_reachable else "X"
        asked = UpdateVoterRequest(
            cluster_id=self._cluster(),
            current_leader_epoch=world.epoch(),
            voter=world.key(world.other()),
            listeners={listener: Endpoint(f"u{random.randrange(3)}", 5)},
            kraft_version=random.choice(
                [
                    *[VersionRange(0, 1)] * 6,
                    VersionRange(0, 0),
                    VersionRange(1, 0),
                    VersionRange(1, 1),
                ]
            ),
        )
        return asked, None

    def _describe(self) -> tuple[Request, int | None]:
        return DescribeQuorumRequest(), self.random.choice([0, 1, 2, 2])
