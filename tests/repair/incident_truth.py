"""What directories are worth: what a start of Kafka makes of them, and the most that they have.

Owns a model of Kafka's start that is small enough to be right at sight, every election that is then
possible, and the best state that any choice of the given files has, batch by batch. It refuses to
use any of the judgement that it is there to judge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kraftool.decoders import meta_properties
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.decoders.segment import scan
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.raft.names import OffsetAndEpoch, ReplicaKey, VoterSet
from kraftool.raft.records import Batch, Voters
from kraftool.raft.wire import batches as wire
from kraftool.reports.state.load import load_state
from kraftool.sim.batches import Batches
from kraftool.storage.election_store import ElectionStore
from kraftool.storage.snapshots import SnapshotDamaged, checked_at
from kraftool.storage.source import BytesSource
from tests.repair.repair_cases import NoSync
from tests.repair.simulated_directories import CLUSTER, Records
from tests.support.places import PARTITION


class NotStarted(Exception):
    """Kafka would not start on this directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A node after Kafka has read its directory."""

    node: int
    directory_id: str | None
    end: OffsetAndEpoch
    voters: VoterSet
    numbers: frozenset[int]
    odd: str = ""
    """Damage that Kafka does not notice."""

    @property
    def rank(self) -> tuple[int, int]:
        return self.end.epoch, self.end.offset

    def is_in(self, voters: VoterSet) -> bool:
        """Whether these voters have this replica; static ones have no directory ids."""
        return any(
            voter.key.id == self.node and voter.key.directory_id in (None, self.directory_id)
            for voter in voters
        )


def empty(node: int, directory_id: str | None, static: VoterSet) -> Started:
    """A node whose disk is gone, on a new one that is formatted with the old directory id."""
    return Started(
        node=node,
        directory_id=directory_id,
        end=OffsetAndEpoch(0, 0),
        voters=static,
        numbers=frozenset(),
    )


# --- a start -------------------------------------------------------------------------------------


def started(node: int, data: Path, static: VoterSet, records: Records) -> Started:
    """Start Kafka on a directory. Raises NotStarted."""
    meta = _meta(data)
    if meta.node_id != node or meta.cluster_id != CLUSTER:
        raise NotStarted(f"meta.properties is of node {meta.node_id}")
    folder = data / PARTITION
    log = _Log()
    snapshots: list[OffsetAndEpoch] = []
    if folder.is_dir():
        try:
            ElectionStore(NoSync(), str(folder), ()).read()
        except KraftoolError as error:
            raise NotStarted(error.message) from None
        log = _read_log(folder)
        snapshots = sorted(
            _snapshots(folder), key=lambda snapshot: (snapshot.epoch, snapshot.offset)
        )
    numbers: set[int] = set()
    voters, voters_at = static, -1
    newest = snapshots[-1] if snapshots else None
    if log.start > 0 and (newest is None or newest.offset < log.start):
        raise NotStarted(f"the log begins at {log.start} without a snapshot")
    first = 0
    if newest is not None and newest.offset > 0:
        if (newest.epoch, newest.offset) > (log.last_epoch, log.end):
            log = _Log(start=newest.offset, end=newest.offset, last_epoch=newest.epoch)
        numbers |= _content(folder, newest, records)
        first = newest.offset
    if newest is not None:
        voter_set = _voters(folder, newest)
        if voter_set is not None:
            voters, voters_at = voter_set, newest.offset - 1
    for batch in log.batches:
        if batch.base_offset < first:
            continue
        numbers |= set(_numbers(batch, records))
        for control in wire.decode(batch).control:
            if isinstance(control, Voters) and batch.base_offset > voters_at:
                voters = control.voters
    return Started(
        node=node,
        directory_id=meta.directory_id,
        end=OffsetAndEpoch(log.end, max(log.last_epoch, 0)),
        voters=voters,
        numbers=frozenset(numbers),
        odd=log.odd,
    )


def _meta(data: Path) -> meta_properties.MetaProperties:
    try:
        content = (data / "meta.properties").read_bytes()
    except OSError:
        raise NotStarted("meta.properties is missing") from None
    meta, findings = meta_properties.decode(content)
    if findings:
        raise NotStarted("meta.properties is damaged")
    return meta


@dataclass(slots=True)
class _Log:
    start: int = 0
    end: int = 0
    last_epoch: int = -1
    batches: tuple[RecordBatch, ...] = ()
    odd: str = ""


def _read_log(folder: Path) -> _Log:
    """The log up to the first damage that Kafka notices: an offset is none, and no epoch."""
    log, batches = _Log(), list[RecordBatch]()
    paths = sorted(folder.glob("*.log"))
    if paths:
        log.start = log.end = int(paths[0].stem)
    state = WalkState.at(0)
    for path in paths:
        data = path.read_bytes()
        walk = Walk(BytesSource("", data).read_at, state)
        for item in walk:
            if isinstance(item, Faulty):
                if item.fault.cuts:
                    log.batches = tuple(batches)
                    return log
                log.odd = f"{path.name}: {item.fault.reason}"
                continue
            batches.append(item)
            log.end, log.last_epoch = item.last_offset + 1, max(log.last_epoch, item.epoch)
        state = walk.state.next_segment()
    log.batches = tuple(batches)
    return log


def _snapshots(folder: Path) -> Iterator[OffsetAndEpoch]:
    for path in folder.glob("*.checkpoint"):
        named = parse_checkpoint_name(path.name)
        if named is not None and named.canonical:
            yield OffsetAndEpoch(named.offset, named.epoch)


def _path(folder: Path, snapshot: OffsetAndEpoch) -> Path:
    return folder / f"{snapshot.offset:020d}-{snapshot.epoch:010d}.checkpoint"


def _content(folder: Path, snapshot: OffsetAndEpoch, records: Records) -> set[int]:
    path = _path(folder, snapshot)
    try:
        checked_at(NoSync(), str(path))
        return set(records.of_image(load_state(str(path)).image))
    except (SnapshotDamaged, KraftoolError, ValueError) as error:
        raise NotStarted(f"{path.name} is damaged: {error}") from None


def _voters(folder: Path, snapshot: OffsetAndEpoch) -> VoterSet | None:
    try:
        return checked_at(NoSync(), str(_path(folder, snapshot))).voters
    except SnapshotDamaged as error:
        raise NotStarted(str(error)) from None


def _numbers(batch: RecordBatch, records: Records) -> Iterator[int]:
    if batch.is_control:
        return
    for record in batch.records():
        yield records.number(record.value or b"")


# --- elections -----------------------------------------------------------------------------------


def leaders(nodes: Mapping[int, Started], up: Collection[int]) -> list[Started]:
    """Every node that can win while these nodes are up: all of them, or only some."""
    candidates = []
    for node in nodes.values():
        if node.node not in up or not node.is_in(node.voters):
            continue
        votes = [
            one
            for one in nodes.values()
            if one.node in up and one.is_in(node.voters) and one.rank <= node.rank
        ]
        if len(votes) > len(node.voters) // 2:
            candidates.append(node)
    return candidates


# --- the best possible ---------------------------------------------------------------------------


def best_state(folders: Iterable[Path], committed: Batches, records: Records) -> set[int]:
    """The most committed records that any choice of batches and snapshots has, without a gap."""
    known: set[tuple[int, int, int]] = set()
    reach, base = 0, set[int]()
    for folder in folders:
        for path in folder.glob("*.log"):
            data = path.read_bytes()
            for item in scan(BytesSource("", data).read_at):
                if isinstance(item, RecordBatch) and item.is_valid:
                    known.add((item.base_offset, item.last_offset, item.epoch))
        for snapshot in _snapshots(folder):
            try:
                numbers = _content(folder, snapshot, records) if snapshot.offset else set[int]()
            except NotStarted:
                continue
            if snapshot.offset > reach:
                reach, base = snapshot.offset, numbers
    best: set[int] = set(base)
    for batch in committed.items:
        if batch.base_offset < reach:
            continue
        if _id(batch) not in known:
            break
        best |= set(batch.data or ())
    return best


def _id(batch: Batch) -> tuple[int, int, int]:
    return batch.base_offset, batch.last_offset, batch.epoch


__all__ = ["NotStarted", "ReplicaKey", "Started", "best_state", "empty", "leaders", "started"]
