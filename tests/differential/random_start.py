"""Random beginnings: who the node is, who votes, and what is in the directory."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from random import Random

from kraftool.raft.control_history import ControlHistory
from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    ElectionState,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from kraftool.raft.records import Batch, KRaftVersion, LeaderChange, Voters
from kraftool.raft.settings import NodeSettings, Timing
from kraftool.raft.wire import batches as wire_batches
from tests.differential.start import Snapshot, Start

CLUSTER = "AAAAAAAAAAAAAAAAAAAAcQ"
ME = 1
UNKNOWN_NODES = (6, 7)
"""Nodes that no trial begins with as voters."""
_BOTH = VersionRange(0, 1)
LAST_EPOCH = (1 << 31) - 1


def directory_id(number: int) -> str:
    raw = bytes([0] * 8 + [7] * 7 + [number])
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """The nodes of a trial, and where they can be reached."""

    ids: tuple[int, ...]
    """The voters at the beginning."""
    listener: str
    """The default listener."""
    external: bool
    """True if nodes have a second listener."""
    is_dynamic: bool

    @property
    def others(self) -> list[int]:
        return [node_id for node_id in self.ids if node_id != ME] or [UNKNOWN_NODES[0]]

    def endpoint(self, node_id: int) -> Endpoint:
        return Endpoint(f"h{node_id}", 9000 + node_id)

    def endpoints(self, node_id: int) -> dict[str, Endpoint]:
        endpoints = {self.listener: self.endpoint(node_id)}
        if self.external:
            endpoints["EXTERNAL"] = Endpoint(f"x{node_id}", 9100 + node_id)
        return endpoints

    def voter(self, node_id: int, supported: VersionRange = _BOTH) -> Voter:
        return Voter(
            key=ReplicaKey(node_id, directory_id(node_id)),
            endpoints=self.endpoints(node_id),
            kraft_version=supported,
        )


def random_start(random: Random) -> tuple[Start, Cast]:
    """Return a beginning that a real cluster could have."""
    is_observer = random.random() < 0.2
    first = ME + 1 if is_observer else ME
    cast = Cast(
        ids=tuple(range(first, first + random.choice([1, 2, 3, 3, 3, 4, 5]))),
        listener=random.choice(["CONTROLLER", "CONTROLLER", "QUORUM"]),
        external=random.random() < 0.3,
        is_dynamic=random.random() < 0.6,
    )
    members = VoterSet.of(
        *(
            cast.voter(
                node_id, VersionRange(0, 1) if random.random() < 0.95 else VersionRange(0, 0)
            )
            for node_id in cast.ids
        )
    )
    settings = _settings(random, cast, is_observer)
    log = _Log(random, cast, members)
    election = _election(random, cast, settings, log) if random.random() < 0.7 else None
    start = Start(
        settings=settings,
        chance=random.randrange(1 << 30),
        before=tuple(log.before),
        batches=tuple(wire_batches.encode(batch) for batch in log.batches),
        after=tuple(log.after),
        election=election,
        kraft_version=log.kraft_version(settings.static_voters),
    )
    return start, cast


def _settings(random: Random, cast: Cast, is_observer: bool) -> NodeSettings:
    static = VoterSet.of(
        *(
            Voter(key=ReplicaKey(node_id), endpoints={cast.listener: cast.endpoint(node_id)})
            for node_id in cast.ids
        )
    )
    bootstrap: tuple[Endpoint, ...] = ()
    if cast.is_dynamic or random.random() < 0.9:
        bootstrap = tuple(
            cast.endpoint(node_id) for node_id in cast.ids if node_id != ME or random.random() < 0.3
        )
    if cast.is_dynamic and not bootstrap:
        bootstrap = tuple(map(cast.endpoint, cast.ids))
    has_no_id = is_observer and random.random() < 0.15
    listeners = cast.endpoints(ME)
    if random.random() < 0.1:
        listeners[cast.listener] = Endpoint("moved", 9999)
    is_controller = not has_no_id and (not is_observer or random.random() < 0.7)
    return NodeSettings(
        node_id=None if has_no_id else ME,
        directory_id=directory_id(ME if random.random() < 0.95 else 77),
        cluster_id=CLUSTER,
        listeners={} if has_no_id else listeners,
        default_listener=cast.listener,
        static_voters=VoterSet() if cast.is_dynamic else static,
        bootstrap_servers=bootstrap,
        is_controller=is_controller,
        auto_join=is_controller and random.random() < 0.4,
        timing=Timing(
            election_timeout_ms=random.choice([1000, 1000, 500]),
            election_backoff_max_ms=random.choice([1000, 100]),
            append_linger_ms=random.choice([0, 25]),
            request_timeout_ms=random.choice([2000, 700]),
            fetch_max_wait_ms=random.choice([500, 0]),
        ),
        fetch_max_bytes=random.choice([1 << 20, 1 << 20, 1024]),
        fetch_snapshot_max_bytes=random.choice([1 << 20, 150]),
    )


class _Log:
    """A log with its snapshots."""

    def __init__(self, random: Random, cast: Cast, members: VoterSet) -> None:
        self.random, self.cast, self.members = random, cast, members
        self.before: list[Snapshot] = []
        self.after: list[Snapshot] = []
        self.batches: list[Batch] = []
        self.epoch = 0
        if random.random() < 0.06:
            # So near to the last epoch that the trial may meet it, or the limit of a jump.
            self.epoch = LAST_EPOCH - random.choice([2, 6, 30, 1_100, (1 << 20) + 2, 1 << 22])
        self._first_snapshots()
        for _ in range(random.choice([0, 0, 1, 2, 4, 8])):
            raw = wire_batches.encode(self._batch())
            self.batches.append(wire_batches.decode_batches(raw)[0])
        if not self._wiped and len(self.batches) > 1 and random.random() < 0.3:
            end = random.choice(self.batches[:-1])
            self.after.append(self._snapshot(OffsetAndEpoch(end.next_offset, end.epoch)))

    @property
    def _wiped(self) -> Snapshot | None:
        return next((snapshot for snapshot in self.before if snapshot.wipes), None)

    @property
    def end(self) -> int:
        if self.batches:
            return self.batches[-1].next_offset
        return self._wiped.id.offset if self._wiped else 0

    @property
    def last_epoch(self) -> int:
        if self.batches:
            return self.batches[-1].epoch
        return self._wiped.id.epoch if self._wiped else 0

    def kraft_version(self, static: VoterSet) -> int:
        """Return the level at the end of the log."""
        control = ControlHistory(static_voters=static)
        for batch in self.batches:
            control.append(batch)
        return 1 if self.before or self.after else control.kraft_version

    def _snapshot(self, place: OffsetAndEpoch, wipes: bool = False) -> Snapshot:
        level = 1 if self.cast.is_dynamic else 0
        return Snapshot(
            id=place, kraft_version=level, voters=self.members if level else None, wipes=wipes
        )

    def _first_snapshots(self) -> None:
        if self.cast.is_dynamic:
            self.before.append(self._snapshot(BOOTSTRAP_SNAPSHOT))
        if self.random.random() < 0.15:
            self.epoch += self.random.randrange(1, 4)
            self.epoch = min(self.epoch, LAST_EPOCH - 1)
            place = OffsetAndEpoch(self.random.randrange(1, 30), self.epoch)
            self.before.append(self._snapshot(place, wipes=True))

    def _batch(self) -> Batch:
        random = self.random
        base = self.end
        if not self.batches or random.random() < 0.3:
            self.epoch = min(self.epoch + random.choice([1, 1, 1, 2, 3]), LAST_EPOCH - 1)
            records = [LeaderChange(random.choice(self.cast.ids), self.cast.ids, self.cast.ids)]
            control: list[LeaderChange | KRaftVersion | Voters] = [*records]
            if self.cast.is_dynamic and base == 0:
                control += [KRaftVersion(1), Voters(self.members)]
            return Batch(
                base_offset=base,
                last_offset=base + len(control) - 1,
                epoch=self.epoch,
                timestamp_ms=5,
                control=tuple(control),
            )
        return data_batch(random, base, self.epoch)


def data_batch(random: Random, base: int, epoch: int) -> Batch:
    count = random.randrange(1, 4)
    records = tuple(
        bytes([97 + random.randrange(26)]) * random.randrange(1, 40) for _ in range(count)
    )
    return Batch(
        base_offset=base,
        last_offset=base + count - 1,
        epoch=epoch,
        timestamp_ms=7,
        data=records,
    )


def _election(random: Random, cast: Cast, settings: NodeSettings, log: _Log) -> ElectionState:
    """Return what quorum-state says: of the last epoch of the log, or a little off."""
    epoch = min(max(0, log.last_epoch + random.choice([0, 0, 0, 1, 1, 2, -1])), LAST_EPOCH)
    if epoch == 0:
        return ElectionState()
    leader = random.choice([None, *cast.ids, ME, *([9] if random.random() < 0.1 else [])])
    voted = random.choice([None, *cast.ids, ME])
    if settings.node_id is None:
        leader, voted = (None if leader == ME else leader), None
    if leader == ME:
        voted = None
    key = None
    if voted is not None:
        has_directory = log.kraft_version(settings.static_voters) and random.random() < 0.9
        key = ReplicaKey(voted, directory_id(voted) if has_directory else None)
    return ElectionState(epoch=epoch, leader_id=leader, voted=key)
