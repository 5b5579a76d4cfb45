"""One node's data directory, with all files that a controller keeps beside its log.

Owns segments, indexes and the state files, and that they agree. It takes a history's events in
their order, and leaves out the last of them where the node is behind.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from fleets.cluster import ClusterSpec, Voter, voters_record
from fleets.history import Batch, Event, Snapshot
from fleets.template import BOOTSTRAP, PARTITION
from kraftool.decoders import checkpoint_files, meta_properties, producer_state, quorum_state
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.framing import encode_record
from kraftool.decoders.names import METADATA_TOPIC_ID, write_checkpoint_name
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot

INDEX_INTERVAL = 4096
_META = "meta.properties"
_INDEX_ENTRY, _TIME_ENTRY = struct.Struct(">ii"), struct.Struct(">qi")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """The harmless ways in which one node's directory differs from the cluster's log."""

    behind: int = 0
    """So many batches at the end it has not fetched."""
    skips: frozenset[int] = frozenset()
    """Snapshots, by their number, that it has not taken."""
    keeps: int | None = None
    """So many of its newest snapshots are left, and the log before them is not."""


class _Segment:
    """A segment that is being written, and its indexes."""

    def __init__(self, folder: Path, base: int) -> None:
        self.base = base
        self.size = 0
        self.stem = folder / f"{base:020}"
        self._file: BinaryIO = self.path(".log").open("wb")
        self._index = bytearray()
        self._times = bytearray()
        self._since = 0
        self._newest = (-1, -1)
        self._indexed_ms = -1

    def path(self, suffix: str) -> Path:
        return self.stem.with_name(self.stem.name + suffix)

    def append(self, batch: Batch) -> None:
        if batch.timestamp > self._newest[0]:
            self._newest = (batch.timestamp, batch.last_offset)
        if self._since > INDEX_INTERVAL:
            self._index += _INDEX_ENTRY.pack(batch.last_offset - self.base, self.size)
            self._time_entry()
            self._since = 0
        self._since += len(batch.data)
        self._file.write(batch.data)
        self.size += len(batch.data)

    def _time_entry(self) -> None:
        timestamp, offset = self._newest
        if timestamp > self._indexed_ms:
            self._times += _TIME_ENTRY.pack(timestamp, offset - self.base)
            self._indexed_ms = timestamp

    def close(self) -> None:
        self._time_entry()
        self._file.close()
        self.path(".index").write_bytes(self._index)
        self.path(".timeindex").write_bytes(self._times)

    def delete(self) -> None:
        for suffix in (".log", ".index", ".timeindex", ".snapshot"):
            self.path(suffix).unlink(missing_ok=True)


class NodeWriter:
    """Writes one node's directory while the history of its cluster is made."""

    def __init__(self, root: Path, spec: ClusterSpec, voter: Voter, plan: NodePlan) -> None:
        self._spec, self._voter, self._plan = spec, voter, plan
        self.path = root / spec.folder(voter)
        self.partition = self.path / PARTITION
        self.partition.mkdir(parents=True)
        self._waiting: deque[Event] = deque()
        self._batches_waiting = 0
        self._segments: list[_Segment] = []
        self._snapshots: list[Snapshot] = []
        self._snapshots_met = 0
        self._epochs: list[EpochEntry] = []
        self._last: Batch | None = None
        self._told: Batch | None = None

    def take(self, event: Event) -> None:
        """The next event of the history."""
        self._waiting.append(event)
        if isinstance(event, Batch):
            self._told = event
            self._batches_waiting += 1
        while self._batches_waiting > self._plan.behind:
            first = self._waiting.popleft()
            if isinstance(first, Batch):
                self._batches_waiting -= 1
                self._append(first)
            else:
                self._snapshot(first)
        while self._waiting and isinstance(self._waiting[0], Snapshot):
            first = self._waiting.popleft()
            assert isinstance(first, Snapshot)
            self._snapshot(first)

    def _append(self, batch: Batch) -> None:
        segment = self._segments[-1] if self._segments else None
        if segment is None or segment.size + len(batch.data) > self._spec.segment_bytes:
            if segment is not None:
                segment.close()
            segment = _Segment(self.partition, batch.base_offset)
            self._segments.append(segment)
            if batch.base_offset:
                self._producers(batch.base_offset)
        if not self._epochs or self._epochs[-1].epoch != batch.epoch:
            self._epochs.append(EpochEntry(epoch=batch.epoch, start_offset=batch.base_offset))
        segment.append(batch)
        self._last = batch

    def _producers(self, offset: int) -> None:
        path = self.partition / f"{offset:020}.snapshot"
        path.write_bytes(producer_state.encode(()))

    def _snapshot(self, snapshot: Snapshot) -> None:
        self._snapshots_met += 1
        if self._snapshots_met - 1 in self._plan.skips:
            return
        self._snapshots.append(snapshot)
        name = write_checkpoint_name(snapshot.offset, snapshot.epoch)
        (self.partition / name).write_bytes(snapshot.data)

    def finish(self) -> None:
        """The node has stopped: the state files, and what cleaning leaves."""
        last = self._last
        assert last is not None
        assert self._told is not None
        self._segments[-1].close()
        self._producers(last.last_offset + 1)
        start = self._cleaned()
        if start == 0:
            self._checkpoint_of_0()
        if self._spec.template.bootstrap is not None:
            (self.path / BOOTSTRAP).write_bytes(self._spec.template.bootstrap)
        entries = [epoch for epoch in self._epochs if epoch.start_offset > start]
        first = [epoch for epoch in self._epochs if epoch.start_offset <= start][-1]
        entries.insert(0, EpochEntry(epoch=first.epoch, start_offset=start))
        self._write(
            checkpoint_files.LEADER_EPOCH_CHECKPOINT,
            checkpoint_files.encode_leader_epochs(tuple(entries)),
        )
        self._write(
            checkpoint_files.PARTITION_METADATA,
            checkpoint_files.encode_partition_metadata(METADATA_TOPIC_ID),
        )
        self._write(quorum_state.FILE_NAME, quorum_state.encode(self._quorum_state()))
        self._meta_properties()

    def _cleaned(self) -> int:
        """Delete what lies before the snapshots that are kept; return where the log begins then."""
        keeps = self._plan.keeps
        if keeps is None or not 0 < keeps <= len(self._snapshots):
            return 0
        for snapshot in self._snapshots[:-keeps]:
            (self.partition / write_checkpoint_name(snapshot.offset, snapshot.epoch)).unlink()
        oldest = self._snapshots[-keeps].offset
        while len(self._segments) > 1 and self._segments[1].base <= oldest:
            self._segments.pop(0).delete()
        # A log that still has its beginning keeps it: Kafka deletes whole segments only.
        return oldest if self._segments[0].base > 0 else 0

    def _checkpoint_of_0(self) -> None:
        """What `kafka-storage format` left for the first start."""
        spec = self._spec
        if not spec.is_dynamic and not spec.template.has_features_at_0:
            return
        frame = SnapshotFrame(
            epoch=0,
            last_contained_log_timestamp=0,
            timestamp=spec.began_ms,
            kraft_version=int(spec.is_dynamic),
            voters=voters_record(spec.voters) if spec.is_dynamic else None,
        )
        records = []
        if spec.template.has_features_at_0:
            value = {"name": "metadata.version", "featureLevel": spec.template.levels[0]}
            records.append(encode_record("FeatureLevelRecord", 0, value))
        self._write(write_checkpoint_name(0, 0), b"".join(encode_snapshot(records, frame)))

    def _quorum_state(self) -> quorum_state.QuorumState:
        assert self._told is not None
        is_dynamic = self._spec.is_dynamic
        return quorum_state.QuorumState(
            data_version=int(is_dynamic),
            leader_id=self._told.leader_id,
            leader_epoch=self._told.epoch,
            current_voters=() if is_dynamic else tuple(voter.id for voter in self._spec.voters),
        )

    def _meta_properties(self) -> None:
        directory_id = self._voter.directory_id if self._spec.has_directory_ids else None
        meta = meta_properties.MetaProperties(
            version=1,
            cluster_id=self._spec.cluster_id,
            node_id=self._voter.id,
            directory_id=directory_id,
        )
        written_at = datetime.fromtimestamp(self._spec.began_ms // 1000, UTC)
        data = meta_properties.encode(meta, written_at=written_at)
        (self.path / _META).write_bytes(data)

    def _write(self, name: str, data: bytes) -> None:
        (self.partition / name).write_bytes(data)


def write_nodes(writers: Iterable[NodeWriter], events: Iterable[Event]) -> None:
    """Let several nodes take the same history, in one go."""
    every = list(writers)
    for event in events:
        for node_writer in every:
            node_writer.take(event)
    for node_writer in every:
        node_writer.finish()
