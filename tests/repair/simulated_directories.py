"""Simulated disks as directories that a repair can work on, and back again.

A record of the simulator is a number. On a real disk it is a config of the default broker with that
name; the first is metadata.version, and the next ones register the brokers, as whoever plans wants
to know them. A log has its numbers in rising order, so that an image says all that a sum of them
does. Directory ids are the simulator's names, filled up with zeros.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from kraftool.decoders import checkpoint_files, meta_properties
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.framing import decode_record, encode_record
from kraftool.decoders.names import parse_checkpoint_name, write_checkpoint_name, write_segment_name
from kraftool.decoders.segment import scan
from kraftool.decoders.snapshot import encode_snapshot
from kraftool.image.configs import BROKER, ConfigResource
from kraftool.image.image import MetadataImage
from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    ElectionState,
    OffsetAndEpoch,
    ReplicaKey,
    Voter,
    VoterSet,
)
from kraftool.raft.records import Batch, ControlRecord, Voters
from kraftool.raft.settings import NodeSettings
from kraftool.raft.wire import batches as wire
from kraftool.reports.state.load import load_state
from kraftool.sim.batches import Batches
from kraftool.sim.disk import Disk
from kraftool.sim.machine import Machine, Snapshot
from kraftool.storage.election_store import ElectionStore
from kraftool.storage.snapshots import checked_at, frame_of
from tests.repair.directories import NOW
from tests.repair.repair_cases import NoSync
from tests.support.places import PARTITION

Rename = Callable[[str], str]

CLUSTER = "c2ltdWxhdGVkLWNsdXN0ZQ"
_BEGIN = NOW - 1_000_000
"""When the simulation began, by the clock of a real disk."""
_METADATA_VERSION = 25
_DEFAULT_BROKER = ConfigResource(BROKER, "")
_WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)
_BROKER = {
    "incarnationId": "AAAAAAAAAAAAAAAAAAAAAg",
    "brokerEpoch": 1,
    "endPoints": [],
    "features": [],
    "rack": None,
    "fenced": True,
    "inControlledShutdown": False,
    "isMigratingZkBroker": False,
    "logDirs": [],
}


def uuid_of(name: str) -> str:
    """A directory id as Kafka writes it."""
    return base64.urlsafe_b64encode(name.encode().ljust(16, b"\0")).decode().rstrip("=")


def name_of(uuid: str) -> str:
    return base64.urlsafe_b64decode(uuid + "==").rstrip(b"\0").decode()


def _renamed(voters: VoterSet, name: Rename) -> VoterSet:
    return VoterSet.of(
        *(
            Voter(
                key=_key(voter.key, name),
                endpoints=dict(voter.endpoints),
                kraft_version=voter.kraft_version,
            )
            for voter in voters
        )
    )


def _key(key: ReplicaKey, name: Rename) -> ReplicaKey:
    return key if key.directory_id is None else ReplicaKey(key.id, name(key.directory_id))


def _control(record: ControlRecord, name: Rename) -> ControlRecord:
    return Voters(_renamed(record.voters, name)) if isinstance(record, Voters) else record


def voters_of(planned: VoterSet) -> VoterSet:
    """A plan's voters as the simulator names them."""
    return _renamed(planned, name_of)


# --- records -------------------------------------------------------------------------------------


class Records:
    """What the numbers stand for."""

    def __init__(self, brokers: Sequence[int]) -> None:
        self._brokers = dict(enumerate(brokers, 1))

    def encoded(self, number: int) -> bytes:
        if number == 0:
            level = {"name": "metadata.version", "featureLevel": _METADATA_VERSION}
            return encode_record("FeatureLevelRecord", 0, level)
        if number in self._brokers:
            broker = {"brokerId": self._brokers[number], **_BROKER}
            return encode_record("RegisterBrokerRecord", 3, broker)
        config = {"resourceType": BROKER, "resourceName": "", "name": f"r{number}", "value": "1"}
        return encode_record("ConfigRecord", 0, config)

    def number(self, data: bytes) -> int:
        name, _, value = decode_record(data)
        if name == "FeatureLevelRecord":
            return 0
        if name == "RegisterBrokerRecord":
            return next(key for key, broker in self._brokers.items() if broker == value["brokerId"])
        return int(value["name"][1:])

    def of_image(self, image: MetadataImage) -> list[int]:
        """The numbers that make a state."""
        configs = image.configs.resources.get(_DEFAULT_BROKER, {})
        numbers = [int(config[1:]) for config in configs]
        numbers += [key for key, broker in self._brokers.items() if broker in image.cluster.brokers]
        return sorted([0, *numbers] if image.features.metadata_version is not None else numbers)


def total_of(numbers: Iterable[int]) -> int:
    """What a simulated state machine has made of them."""
    machine = Machine()
    machine.consume(Batch(base_offset=0, last_offset=0, epoch=0, data=tuple(numbers)))
    return machine.total


def numbers_in(batches: Iterable[Batch]) -> list[int]:
    return [number for batch in batches for number in batch.data or ()]


def numbers_of(path: Path, records: Records) -> set[int]:
    """The numbers in all whole batches of a segment."""
    data, numbers = path.read_bytes(), set[int]()
    for item in scan(lambda position, size: data[position : position + size]):
        if isinstance(item, RecordBatch) and item.is_valid and not item.is_control:
            numbers |= {records.number(one.value or b"") for one in item.records()}
    return numbers


# --- to a directory ------------------------------------------------------------------------------


def write(
    disk: Disk,
    root: Path,
    node: NodeSettings,
    records: Records,
    committed: Batches,
    random: Random,
    *,
    cluster: str = CLUSTER,
) -> Path:
    """Write a disk as a node's directory; its server.properties."""
    folder = root / "data" / PARTITION
    folder.mkdir(parents=True)
    meta = meta_properties.MetaProperties(
        cluster_id=cluster, node_id=node.node_id, directory_id=uuid_of(disk.directory_id)
    )
    data = meta_properties.encode(meta, written_at=_WRITTEN)
    (root / "data" / "meta.properties").write_bytes(data)
    partition = checkpoint_files.encode_partition_metadata("AAAAAAAAAAAAAAAAAAAAAQ")
    (folder / checkpoint_files.PARTITION_METADATA).write_bytes(partition)
    _write_election(disk, folder, node.static_voters)
    for snapshot in disk.snapshots.values():
        _write_snapshot(snapshot, folder, records, committed)
    _write_log(disk, folder, records, random)
    return _write_properties(root, node)


def _write_election(disk: Disk, folder: Path, static: VoterSet) -> None:
    state = disk.election
    if state is None:
        return
    voted = _key(state.voted, uuid_of) if state.voted is not None else None
    kept = ElectionState(epoch=state.epoch, leader_id=state.leader_id, voted=voted)
    ElectionStore(NoSync(), str(folder), static.ids).write(kept, 0 if static.ids else 1)


def _write_snapshot(snapshot: Snapshot, folder: Path, records: Records, committed: Batches) -> None:
    offset, epoch = snapshot.id
    numbers = numbers_in(committed.between(0, offset))
    assert total_of(numbers) == snapshot.total or snapshot.id == BOOTSTRAP_SNAPSHOT
    voters = _renamed(snapshot.voters, uuid_of) if snapshot.voters is not None else None
    frame = frame_of(snapshot.id, NOW - 1000, snapshot.kraft_version, voters, NOW)
    data = b"".join(encode_snapshot([records.encoded(number) for number in numbers], frame))
    (folder / write_checkpoint_name(offset, epoch)).write_bytes(data)


def _write_log(disk: Disk, folder: Path, records: Records, random: Random) -> None:
    log = disk.log
    segments: dict[int, bytes] = {}
    epochs: list[checkpoint_files.EpochEntry] = []
    base = log.items[0].base_offset if log.items else log.start
    segments[base] = b""
    for batch in log.items:
        if random.random() < 0.05:
            base = batch.base_offset
            segments[base] = b""
        if not epochs or batch.epoch > epochs[-1].epoch:
            entry = checkpoint_files.EpochEntry(epoch=batch.epoch, start_offset=batch.base_offset)
            epochs.append(entry)
        segments[base] += _encoded(batch, records)
    if log.items and random.random() < 0.2:  # the process ended while it wrote
        segments[base] += _encoded(log.items[-1], records)[: random.randrange(1, 50)]
    for offset, data in segments.items():
        (folder / write_segment_name(offset, ".log")).write_bytes(data)
    known = checkpoint_files.encode_leader_epochs(tuple(epochs))
    (folder / checkpoint_files.LEADER_EPOCH_CHECKPOINT).write_bytes(known)


def _encoded(batch: Batch, records: Records) -> bytes:
    return wire.encode(
        Batch(
            base_offset=batch.base_offset,
            last_offset=batch.last_offset,
            epoch=batch.epoch,
            timestamp_ms=_BEGIN + batch.timestamp_ms,
            control=tuple(_control(record, uuid_of) for record in batch.control),
            data=tuple(records.encoded(number) for number in batch.data or ()),
        )
    )


def _write_properties(root: Path, node: NodeSettings) -> Path:
    listeners = [f"{name}://{at.host}:{at.port}" for name, at in node.listeners.items()]
    voters = [
        f"{static_voter.key.id}@{at.host}:{at.port}"
        for static_voter in node.static_voters
        for at in static_voter.endpoints.values()
    ]
    lines = [
        f"node.id={node.node_id}",
        f"process.roles={'controller' if node.is_controller else 'broker'}",
        f"log.dirs={root / 'data'}",
        "controller.listener.names=CONTROLLER",
        f"listeners={','.join(listeners)}",
        f"controller.quorum.voters={','.join(voters)}"
        if voters
        else f"controller.quorum.bootstrap.servers={listeners[0].rpartition('/')[2]}",
    ]
    path = root / "server.properties"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# --- and back ------------------------------------------------------------------------------------


class Reader:
    """Reads directories; a batch that another disk has, too, is the same object."""

    def __init__(self, records: Records, disks: Iterable[Disk]) -> None:
        self._records = records
        self._known = {_identity(batch): batch for disk in disks for batch in disk.log.items}

    def read(self, data: Path) -> tuple[Disk, str]:
        """A disk, and the cluster that meta.properties says it is of."""
        meta, _ = meta_properties.decode((data / "meta.properties").read_bytes())
        assert meta.directory_id is not None
        assert meta.cluster_id is not None
        disk = Disk(name_of(meta.directory_id))
        folder = data / PARTITION
        election = ElectionStore(NoSync(), str(folder), ()).read() if folder.is_dir() else None
        if election is not None:
            voted = _key(election.voted, name_of) if election.voted is not None else None
            disk.election = ElectionState(
                epoch=election.epoch, leader_id=election.leader_id, voted=voted
            )
        segments = sorted(folder.glob("*.log"))
        if segments:
            items = [batch for path in segments for batch in self._batches(path)]
            disk.log = Batches(items, int(segments[0].stem))
            disk.durable = disk.log.end
        for path in sorted(folder.glob("*.checkpoint")):
            disk.add(self._snapshot(path))
        return disk, meta.cluster_id

    def _batches(self, path: Path) -> list[Batch]:
        data, batches = path.read_bytes(), []
        for item in scan(lambda position, size: data[position : position + size]):
            if not isinstance(item, RecordBatch) or not item.is_valid:
                break
            batches.append(self._batch(item))
        return batches

    def _batch(self, whole: RecordBatch) -> Batch:
        control = wire.decode(whole).control
        numbers = None
        if not whole.is_control:
            numbers = tuple(self._records.number(record.value or b"") for record in whole.records())
        batch = Batch(
            base_offset=whole.base_offset,
            last_offset=whole.last_offset,
            epoch=whole.epoch,
            control=tuple(_control(record, name_of) for record in control),
            size=whole.size,
            data=numbers,
        )
        return self._known.setdefault(_identity(batch), batch)

    def _snapshot(self, path: Path) -> Snapshot:
        named = parse_checkpoint_name(path.name)
        assert named is not None
        content = checked_at(NoSync(), str(path))
        numbers: list[int] = []
        if named.offset > 0:
            numbers = self._records.of_image(load_state(str(path)).image)
        return Snapshot(
            id=OffsetAndEpoch(named.offset, named.epoch),
            kraft_version=content.kraft_version,
            voters=_renamed(content.voters, name_of) if content.voters is not None else None,
            total=total_of(numbers),
        )


def _identity(batch: Batch) -> tuple[object, ...]:
    control = tuple(
        repr(sorted((*voter.key, *voter.endpoints.items()) for voter in record.voters))
        if isinstance(record, Voters)
        else record
        for record in batch.control
    )
    return batch.base_offset, batch.last_offset, batch.epoch, control, batch.data or ()
