"""Snapshots of the metadata on the disk: written, downloaded, checked, read in slices.

Owns the passing `.part` file and how it becomes a snapshot: durable, read-only, renamed, the folder
durable. One that is not whole never gets a snapshot's name, since Kafka believes the name and drops
its log for it. When old ones go is `cleaning.py`'s.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kraftool.decoders import codec
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import BY_ID, ControlRecordType, decode_value, read_key
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.fault import FaultKind
from kraftool.decoders.names import write_checkpoint_name, write_part_name
from kraftool.decoders.segment import ReadAt
from kraftool.decoders.snapshot import LIST_SIZE, SnapshotBatches, SnapshotFrame
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.raft.wire.batches import voter_set, voters_record
from kraftool.storage.files import Files, OpenFile


class SnapshotDamaged(KraftoolError):
    """A snapshot that is not whole. Nothing was changed because of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotContent:
    """The control records of a whole snapshot."""

    last_contained_log_timestamp: int
    kraft_version: int
    voters: VoterSet | None
    size: int


def path_of(folder: str, snapshot_id: OffsetAndEpoch) -> str:
    return os.path.join(folder, write_checkpoint_name(snapshot_id.offset, snapshot_id.epoch))


def batches_of(read_at: ReadAt, path: str) -> Iterator[RecordBatch]:
    """The batches of a snapshot, from offset 0 on. Raises SnapshotDamaged at the first fault."""
    for item in Walk(read_at, WalkState(next_offset=0), file=path):
        if not isinstance(item, Faulty):
            yield item
        elif item.fault.kind is not FaultKind.EPOCH_BACK:  # Kafka takes the epoch from the name
            raise SnapshotDamaged(item.fault.describe())


def checked(file: OpenFile) -> SnapshotContent:
    """Read a snapshot from end to end. Raises SnapshotDamaged where it is not whole."""
    timestamp: int | None = None
    kraft_version, voters, ended = 0, None, False
    for batch in batches_of(file.read_at, file.path):
        if ended:
            raise SnapshotDamaged(
                f"{file.path}: position {batch.position}: a batch after the footer"
            )
        if not batch.is_control:
            if timestamp is None:
                break
            continue
        for kind, value in _control_records(file.path, batch):
            match kind:
                case ControlRecordType.SNAPSHOT_HEADER:
                    timestamp = value["lastContainedLogTimestamp"]
                case ControlRecordType.KRAFT_VERSION:
                    kraft_version = value["kRaftVersion"]
                case ControlRecordType.KRAFT_VOTERS:
                    voters = voter_set(value)
                case ControlRecordType.SNAPSHOT_FOOTER:
                    ended = True
                case _:
                    raise SnapshotDamaged(f"{file.path} has a control record {kind.label}")
    if timestamp is None:
        raise SnapshotDamaged(f"{file.path} does not begin with a snapshot's header")
    if not ended:
        raise SnapshotDamaged(f"{file.path} ends without a footer")
    return SnapshotContent(
        last_contained_log_timestamp=timestamp,
        kraft_version=kraft_version,
        voters=voters,
        size=file.size(),
    )


def checked_at(files: Files, path: str) -> SnapshotContent:
    """The same, of a file that is opened for it."""
    file = files.open_to_read(path)
    try:
        return checked(file)
    finally:
        file.close()


def header_timestamp(files: Files, path: str) -> int:
    """When the last record was appended that a snapshot contains, from its first batch alone."""
    file = files.open_to_read(path)
    try:
        first = next(batches_of(file.read_at, path), None)
        if first is not None and first.is_control:
            for kind, value in _control_records(path, first):
                if kind is ControlRecordType.SNAPSHOT_HEADER:
                    return int(value["lastContainedLogTimestamp"])
    finally:
        file.close()
    raise SnapshotDamaged(f"{path} does not begin with a snapshot's header")


def _control_records(
    path: str, batch: RecordBatch
) -> Iterator[tuple[ControlRecordType, codec.Value]]:
    try:
        for record in batch.records():
            kind = BY_ID.get(read_key(record.key))
            if kind is None:
                raise SnapshotDamaged(f"{path} has a control record of an unknown type")
            yield kind, decode_value(kind, record.value)[1]
    except DecodeError as error:
        raise SnapshotDamaged(f"{path}: {error.at(batch.position).describe()}") from error


class PartFile:
    """A snapshot on its way, downloaded or written."""

    def __init__(self, files: Files, folder: str, snapshot_id: OffsetAndEpoch) -> None:
        self.snapshot_id = snapshot_id
        self._files, self._folder = files, folder
        name = write_part_name(snapshot_id.offset, snapshot_id.epoch, str(secrets.randbits(63)))
        self._path = os.path.join(folder, name)
        self._file = files.create(self._path, 0o600)
        self.size = 0

    def append(self, data: bytes) -> None:
        self._file.write_at(self.size, data)
        self.size += len(data)

    def freeze(self) -> SnapshotContent:
        """Make it the snapshot that it is named for, durably. Raises SnapshotDamaged, and leaves
        nothing, where it is not whole."""
        try:
            content = checked(self._file)
        except SnapshotDamaged:
            self.delete()
            raise
        self._file.sync()
        self._file.make_read_only()
        self._file.close()
        self._files.rename(self._path, path_of(self._folder, self.snapshot_id))
        self._files.sync_folder(self._folder)
        return content

    def delete(self) -> None:
        """Give it up."""
        self._file.close()
        self._files.unlink(self._path)


class SnapshotWriter:
    """A snapshot that this node writes of its own state. It counts from `freeze` on."""

    def __init__(
        self,
        part: PartFile,
        frame: SnapshotFrame,
        frozen: Callable[[OffsetAndEpoch, SnapshotContent], None],
    ) -> None:
        self._part, self._frozen = part, frozen
        self._records: list[bytes] = []
        self._batches = SnapshotBatches(frame)
        part.append(self._batches.header())

    @property
    def snapshot_id(self) -> OffsetAndEpoch:
        return self._part.snapshot_id

    @property
    def size(self) -> int:
        """The bytes that are in the file so far."""
        return self._part.size

    def append(self, record: bytes) -> None:
        """Take a record as `framing.encode_record` gives it."""
        self._records.append(record)
        if len(self._records) == LIST_SIZE:
            self._hand_over()

    def _hand_over(self) -> None:
        whole = self._batches.add(self._records)
        self._records = []
        if whole:
            self._part.append(whole)

    def freeze(self) -> None:
        """Write the footer, and make it a snapshot, durably."""
        if self._records:
            self._hand_over()
        for encoded_batch in self._batches.end():
            self._part.append(encoded_batch)
        self._frozen(self.snapshot_id, self._part.freeze())

    def delete(self) -> None:
        """Give it up; nothing of it stays."""
        self._part.delete()


def frame_of(
    snapshot_id: OffsetAndEpoch,
    last_contained_log_timestamp: int,
    kraft_version: int,
    voters: VoterSet | None,
    now_ms: int,
) -> SnapshotFrame:
    """Return what a snapshot holds besides its records. Static voters are never written."""
    return SnapshotFrame(
        epoch=snapshot_id.epoch,
        last_contained_log_timestamp=last_contained_log_timestamp,
        timestamp=now_ms,
        kraft_version=kraft_version,
        voters=voters_record(voters) if voters is not None and kraft_version > 0 else None,
    )
