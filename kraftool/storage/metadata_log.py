"""The metadata partition on the disk, as a running node keeps it: the log, the promise, snapshots.

Owns the order in which all of it becomes durable, and what opening it does. One thread calls it,
and it blocks; only a snapshot of the node's own may be written by another. What may be appended,
cut or forgotten is the core's to say; what breaks the log itself (a gap, a cut inside a batch) is
refused here with a ProtocolError, after which the node ends. An OSError leaves the files ahead of
what is in memory: the node ends then, too.

The core's view of the log runs ahead of the disk, so `view` and `control` are the core's own from
the moment it has them; nothing here looks at them again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace as changed
from threading import Lock

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_FOLDER
from kraftool.decoders.segment import LARGEST_BATCH
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.events import SnapshotInstalled
from kraftool.raft.log_view import LogView
from kraftool.raft.names import ElectionState, OffsetAndEpoch, ProtocolError, VoterSet
from kraftool.raft.records import Batch
from kraftool.raft.wire.batches import encode
from kraftool.storage import opening, snapshots, witness_marker
from kraftool.storage.cleaning import Doomed, Retained, new_start
from kraftool.storage.election_store import ElectionStore
from kraftool.storage.files import Files
from kraftool.storage.lock_taking import DirectoryLock
from kraftool.storage.log_config import LogConfig
from kraftool.storage.recovery import Recovery
from kraftool.storage.segment_writer import Segment
from kraftool.storage.snapshots import PartFile, SnapshotContent, SnapshotWriter
from kraftool.storage.witness_marker import WitnessMarker


class OffsetOutOfRange(KraftoolError):
    """A read beyond the log's end."""


class MetadataLog:
    """An open log. `close` gives the directory back."""

    def __init__(
        self,
        files: Files,
        lock: DirectoryLock,
        config: LogConfig,
        elections: ElectionStore,
        opened: opening.OpenedPartition,
    ) -> None:
        """Use `open`."""
        self.folder = opened.folder
        self.config = config
        self.recovery: Recovery = opened.recovery
        """What opening it did."""
        self.view: LogView = opened.view
        self.control: ControlHistory = opened.control
        self.election: ElectionState | None = opened.election
        """What quorum-state says; None without one."""
        self._files, self._lock, self._elections = files, lock, elections
        self._segments: list[Segment] = opened.segments
        self._log = changed(
            opened.view,
            epochs=list(opened.view.epochs),
            uncommitted=list(opened.view.uncommitted),
            snapshots=list(opened.view.snapshots),
        )
        self._snapshots_changing = Lock()
        """A snapshot is written by a thread of its own."""
        self._doomed = Doomed(files)
        self._download: PartFile | None = None
        self.witness: WitnessMarker | None = None
        """Written after each quorum-state, where the node that runs has no controller."""

    @classmethod
    def open(
        cls,
        directory: str,
        config: LogConfig,
        *,
        static_voters: VoterSet,
        files: Files | None = None,
        lock: DirectoryLock | None = None,
        accept: opening.Accept = opening.accept_any,
    ) -> MetadataLog:
        """Open the metadata partition of a data directory, which is made if there is none.

        Takes the directory's lock, or the one that the caller has taken; `close` releases either.
        `accept` gets who votes by the log, and where the log has to be cut. It raises if the caller
        does not want to open this log.
        Raises KraftoolError where Kafka would not start, or would destroy what can be saved: the
        directory is then as it was.
        """
        files = files if files is not None else Files()
        held = lock if lock is not None else DirectoryLock(directory)
        try:
            folder = os.path.join(directory, METADATA_FOLDER)
            elections = ElectionStore(files, folder, static_voters.ids)
            opened = opening.opened(files, folder, config, static_voters, elections, accept)
        except BaseException as error:
            if lock is None:
                held.release()
            if isinstance(error, OSError):
                raise _unopened(directory, error) from error
            raise
        return cls(files, held, config, elections, opened)

    @property
    def start_offset(self) -> int:
        return self._log.start_offset

    @property
    def end_offset(self) -> int:
        return self._log.end_offset

    @property
    def end(self) -> OffsetAndEpoch:
        """Return where the log ends on the disk, and the epoch of its last record."""
        return self._log.end

    @property
    def flushed_offset(self) -> int:
        """Everything below is durable."""
        return self._log.flushed_offset

    @property
    def size(self) -> int:
        """The bytes of all segments."""
        return sum(segment.size for segment in self._segments)

    @property
    def snapshots(self) -> tuple[OffsetAndEpoch, ...]:
        return tuple(self._log.snapshots)

    # The log

    def append(self, batches: Sequence[Batch]) -> None:
        """Write batches at the end, the bytes as they came. They are durable after `flush`."""
        if not batches:
            raise ProtocolError("an append of nothing")
        epoch = self._log.last_epoch
        waiting: list[bytes] = []
        position = self._active.size
        for batch in batches:
            data = encode(batch)
            if len(data) > LARGEST_BATCH:
                raise KraftoolError(
                    f"a batch of {len(data)} bytes at offset {batch.base_offset};"
                    f" at most {LARGEST_BATCH} are taken"
                )
            if batch.epoch < self._log.last_epoch:
                raise ProtocolError(
                    f"a batch of epoch {batch.epoch} at offset {batch.base_offset},"
                    f" after epoch {self._log.last_epoch}"
                )
            self._log.append(batch)
            if self._wants_roll(batch, len(data)):
                self._write(position, waiting)
                self._roll(batch.base_offset)
                position, waiting = 0, []
            self._active.note(batch.last_offset, batch.timestamp_ms, len(data))
            waiting.append(data)
        self._write(position, waiting)
        if self._log.last_epoch != epoch:
            self._write_epochs()

    def flush(self, end_offset: int) -> None:
        """Make everything below an offset durable."""
        if end_offset > self._log.end_offset:
            raise ProtocolError(
                f"a flush up to {end_offset} of a log that ends at {self._log.end_offset}"
            )
        if end_offset > self._log.flushed_offset:
            # What lies in earlier segments became durable when they ended.
            self._active.flush()
            self._log.flushed(self._log.end_offset)

    def commit(self, offset: int) -> None:
        """Remember the high watermark for the life of the process. It is not written."""
        self._log.commit(offset)

    def truncate(self, offset: int) -> None:
        """Drop everything from an offset on, durably; CommittedTruncation drops nothing."""
        self._log.refuse_loss(offset)
        if offset >= self._log.end_offset:
            return
        ends_at = next(
            segment for segment in reversed(self._segments) if segment.base_offset <= offset
        )
        place = ends_at.find(offset)
        if place is not None and place.base_offset != offset:
            raise ProtocolError(f"truncation to {offset}, inside the batch at {place.base_offset}")
        # From the end on, so that a loss of power leaves no gap.
        while self._active is not ends_at:
            self._segments.pop().remove()
        if place is not None:
            ends_at.truncate(place)
        self._log.truncate(offset)
        self._write_epochs()

    def read(self, offset: int, max_bytes: int, *, below: int | None = None) -> bytes:
        """Whole batches from an offset on, the first one however large; they end with a segment.

        An offset inside a batch gives that batch. With `below`, nothing that has an offset from
        there on. What was cleaned meanwhile is empty: who asks for it is told of a snapshot when it
        asks again.
        """
        if offset < self._log.start_offset:
            return b""
        if offset > self._log.end_offset:
            raise OffsetOutOfRange(
                f"offset {offset} is not in the log, which holds"
                f" {self._log.start_offset} to {self._log.end_offset}"
            )
        return self._segment_of(offset).read(offset, max_bytes, below)

    def read_batches(self, offset: int, max_bytes: int) -> tuple[Batch, ...]:
        """Return what `read` gives as one batch: the bytes go out as they are, and nobody looks at
        the batches on the way.
        """
        data = self.read(offset, max_bytes)
        if not data:
            return ()
        return (Batch(base_offset=offset, last_offset=offset, epoch=0, data=data),)

    def is_batch_border(self, offset: int) -> bool:
        """True if a snapshot may end at an offset: a batch begins there, or the log ends."""
        if offset == self._log.end_offset:
            return True
        if not self._log.start_offset <= offset < self._log.end_offset:
            return False
        place = self._segment_of(offset).find(offset)
        return place is not None and place.base_offset == offset

    # The promise

    def persist_election(self, state: ElectionState, kraft_version: int) -> None:
        """Write quorum-state, durably."""
        self._elections.write(state, kraft_version)
        self.election = state
        if self.witness is not None:
            self.witness.write(self._files, os.path.dirname(self.folder))

    def end_witness(self) -> None:
        """Remove the marker: the node stops in order."""
        if self.witness is not None:
            self.witness = None
            witness_marker.remove(self._files, os.path.dirname(self.folder))

    # Snapshots of others

    def begin_download(self, snapshot_id: OffsetAndEpoch) -> None:
        """Begin a partial file; one that was on its way is given up."""
        self.drop_download()
        self._download = PartFile(self._files, self.folder, snapshot_id)

    def append_to_download(self, snapshot_id: OffsetAndEpoch, chunk: bytes) -> None:
        self._downloaded(snapshot_id).append(chunk)

    def drop_download(self, snapshot_id: OffsetAndEpoch | None = None) -> None:
        """Give up what is on its way: the one named, or whichever."""
        part = self._download
        if part is not None and snapshot_id in (None, part.snapshot_id):
            self._download = None
            part.delete()

    def install_snapshot(self, snapshot_id: OffsetAndEpoch) -> SnapshotInstalled:
        """Make a download a snapshot, durably, and begin the log anew after it; what to tell the
        core. Raises SnapshotDamaged where it is not whole; log and snapshots are as they were.
        """
        part = self._downloaded(snapshot_id)
        if not self._log.is_behind(snapshot_id):
            raise ProtocolError(f"the log does not need snapshot {snapshot_id}")
        self._log.refuse_loss(snapshot_id.offset)
        self._download = None
        content = part.freeze()
        self._segments = opening.begin_after(
            self._files, self.folder, self._segments, snapshot_id, self.config
        )
        with self._snapshots_changing:
            forgotten = [snapshot for snapshot in self._log.snapshots if snapshot != snapshot_id]
            self._log.begin_after(snapshot_id)
        self._write_epochs()
        self._mark_deleted(forgotten, _now_ms())
        return SnapshotInstalled(
            snapshot_id=snapshot_id, kraft_version=content.kraft_version, voters=content.voters
        )

    # Snapshots of its own

    def new_snapshot(
        self,
        snapshot_id: OffsetAndEpoch,
        timestamp_ms: int,
        kraft_version: int,
        voters: VoterSet | None,
        *,
        now_ms: int | None = None,
    ) -> SnapshotWriter:
        """Begin a snapshot. `timestamp_ms` is when the leader appended the last record in it;
        `now_ms`, the clock's if it is left out, stands in its batches. Whether it may be written is
        the core's to say (`raft.snapshots.refusal`)."""
        frame = snapshots.frame_of(
            snapshot_id,
            timestamp_ms,
            kraft_version,
            voters,
            _now_ms() if now_ms is None else now_ms,
        )
        part = PartFile(self._files, self.folder, snapshot_id)
        return SnapshotWriter(part, frame, self._frozen)

    def read_snapshot(
        self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int
    ) -> tuple[int, bytes] | None:
        """The size of a snapshot and a slice of it, which is empty beyond its end; None for one
        that is not here (any more)."""
        if snapshot_id not in self._log.snapshots:
            return None
        file = self._files.open_to_read(self.snapshot_path(snapshot_id))
        try:
            return file.size(), file.read_at(position, max_bytes)
        finally:
            file.close()

    def snapshot_path(self, snapshot_id: OffsetAndEpoch) -> str:
        return snapshots.path_of(self.folder, snapshot_id)

    # Retention

    def clean(self, now_ms: int, *, committed: int | None = None) -> int | None:
        """Drop what retention no longer keeps; where the log starts now, None where it did before.

        Kafka does it each minute. Files are renamed `.deleted`, and unlinked by a later call. The
        start does not pass the high watermark where that is known; all that is in a snapshot is
        committed in any case. Raises SnapshotDamaged where an old one cannot be read.
        """
        self._doomed.unlink_due(now_ms)
        retained = Retained(
            snapshots=[
                snapshot
                for snapshot in self._log.snapshots
                if committed is None or snapshot.offset <= committed
            ],
            start_offset=self._log.start_offset,
            snapshot_size=lambda end: os.path.getsize(self.snapshot_path(end)),
            snapshot_timestamp=lambda end: snapshots.header_timestamp(
                self._files, self.snapshot_path(end)
            ),
            log_size_from=lambda start: sum(segment.size for segment in self._from(start)),
        )
        start = new_start(
            retained,
            retention_bytes=self.config.retention_bytes,
            retention_ms=self.config.retention_ms,
            now_ms=now_ms,
        )
        if start is None:
            return None
        kept = self._from(start)
        for segment in self._segments[: len(self._segments) - len(kept)]:
            self._doomed.add(segment.mark_deleted(), now_ms)
        self._segments = kept
        with self._snapshots_changing:
            forgotten = [snapshot for snapshot in self._log.snapshots if snapshot.offset < start]
            self._log.clean(start)
        self._write_epochs()
        self._mark_deleted(forgotten, now_ms)
        return start

    def close(self, clean: bool = True) -> None:
        """Give the directory back. A clean close flushes, and leaves the indexes and the folder as
        Kafka does; the other only lets go, as at a crash.

        `.kafka_cleanshutdown` is left as it is: it speaks of a broker's partitions, of which a
        metadata log knows nothing, and Kafka reads its metadata log from end to end without it.
        Closing again does nothing.
        """
        if not self._lock.is_held:
            return
        try:
            if clean:
                self.drop_download()
                self._active.flush()
                self._active.end()
                self._doomed.unlink_due()
        finally:
            for segment in self._segments:
                segment.close()
            self._lock.release()

    # Its own

    @property
    def _active(self) -> Segment:
        return self._segments[-1]

    def _segment_of(self, offset: int) -> Segment:
        return next(
            (segment for segment in reversed(self._segments) if segment.base_offset <= offset),
            self._segments[0],
        )

    def _from(self, start: int) -> list[Segment]:
        """The segments that are left when the log starts at an offset: the active one always, and
        none that the next one's base is not beyond."""
        kept = self._segments
        while len(kept) > 1 and kept[1].base_offset <= start:
            kept = kept[1:]
        return kept

    def _wants_roll(self, batch: Batch, size: int) -> bool:
        return self._active.wants_roll(
            size,
            batch.last_offset,
            batch.timestamp_ms,
            segment_bytes=self.config.segment_bytes,
            segment_ms=self.config.segment_ms,
            index_bytes=self.config.index_bytes,
        )

    def _write(self, position: int, waiting: list[bytes]) -> None:
        if waiting:
            self._active.write(position, b"".join(waiting))

    def _roll(self, base_offset: int) -> None:
        """End the active segment and begin the next. The old one is durable before the new one has
        a name, so that a log never goes on behind a gap."""
        self._active.flush()
        self._active.end()
        self._segments.append(
            Segment.create(self._files, self.folder, base_offset, self.config.index_interval_bytes)
        )

    def _write_epochs(self) -> None:
        opening.write_epochs(self._files, self.folder, self._log.epochs)

    def _downloaded(self, snapshot_id: OffsetAndEpoch) -> PartFile:
        part = self._download
        if part is None or part.snapshot_id != snapshot_id:
            raise ProtocolError(f"no download of snapshot {snapshot_id} was begun")
        return part

    def _frozen(self, snapshot_id: OffsetAndEpoch, _: SnapshotContent) -> None:
        with self._snapshots_changing:
            self._log.add_snapshot(snapshot_id)

    def _mark_deleted(self, snapshot_ids: Sequence[OffsetAndEpoch], now_ms: int) -> None:
        """Take snapshots' names away. A loss of power may undo it, which does no harm."""
        for snapshot_id in snapshot_ids:
            path = self.snapshot_path(snapshot_id)
            self._files.rename(path, path + ".deleted")
            self._doomed.add([path + ".deleted"], now_ms)


def _unopened(directory: str, error: OSError) -> KraftoolError:
    hint = "run as the user that Kafka runs as" if isinstance(error, PermissionError) else ""
    return KraftoolError(
        f"{error.filename or directory} cannot be opened: {error.strerror or error}", hint=hint
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
