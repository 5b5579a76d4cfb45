"""The opening of a metadata partition, step by step: look, check, then repair.

Owns the order. Whatever speaks against starting is found before anything is changed; then the log
is cut where it ends, leftovers go, a log that its newest snapshot is beyond begins anew after it,
and the small files are made to say what the log does. At the end all of it is durable, since a node
that says how long its log is must not be wrong about it later.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kraftool.decoders import checkpoint_files
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_TOPIC_ID
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.log_view import LogView
from kraftool.raft.names import ElectionState, OffsetAndEpoch, VoterSet
from kraftool.raft.wire.batches import decode
from kraftool.storage import recovery, snapshots
from kraftool.storage.election_store import ElectionStore
from kraftool.storage.files import Files, read_whole, replace
from kraftool.storage.log_config import LogConfig
from kraftool.storage.recovery import Cut, Layout, Recovery
from kraftool.storage.segment_writer import Segment
from kraftool.storage.snapshots import SnapshotContent

_MOST_METADATA = 1 << 10


@dataclass(slots=True, kw_only=True)
class OpenedPartition:
    """A partition folder that was found good, or mended."""

    folder: str
    segments: list[Segment]
    view: LogView
    control: ControlHistory
    election: ElectionState | None
    recovery: Recovery


@dataclass(slots=True)
class _Gathered:
    """The values that one pass over the log leaves in memory."""

    after: int
    """Control records below are in the snapshot."""
    epochs: list[EpochEntry] = field(default_factory=list)
    control: list[RecordBatch] = field(default_factory=list)

    def take(self, batch: RecordBatch) -> None:
        if not self.epochs or batch.epoch > self.epochs[-1].epoch:
            self.epochs.append(EpochEntry(batch.epoch, batch.base_offset))
        if batch.is_control and batch.base_offset >= self.after:
            self.control.append(batch)


Accept = Callable[[ControlHistory, Cut | None], object]
"""Called with who votes by the log, and where the log has to be cut. Raises to change nothing."""


def accept_any(control: ControlHistory, cut: Cut | None) -> None:
    """Open whatever Kafka would open."""


def opened(
    files: Files,
    folder: str,
    config: LogConfig,
    static_voters: VoterSet,
    elections: ElectionStore,
    accept: Accept = accept_any,
) -> OpenedPartition:
    """Open a partition's folder, which is made if there is none.

    `accept` gets who votes, and where the log has to be cut, before anything is changed.
    """
    files.make_folder(folder)
    has_metadata = _has_partition_metadata(files, folder)
    layout = recovery.layout(files, folder)
    start = min(layout.segments, default=0)
    kept = sorted(snapshot for snapshot in layout.snapshots if snapshot.offset >= start)
    if start > 0 and not kept:
        raise KraftoolError(
            f"{folder}: the log starts at offset {start}, and no snapshot holds what was before",
            hint="put the snapshot back (one may be there as .deleted), or restore the segments",
        )
    newest = kept[-1] if kept else None
    content = _checked(files, folder, newest) if newest is not None else None
    election = elections.read()
    gathered = _Gathered(after=newest.offset if newest is not None else 0)
    segments, cut = recovery.read_segments(
        files, folder, layout.segments, config.index_interval_bytes, gathered.take
    )
    try:
        view = LogView(start_offset=start, epochs=gathered.epochs, snapshots=kept)
        view.end_offset = cut.offset if cut is not None else start
        if cut is None and segments:
            view.end_offset = segments[-1].next_offset
        control = _control(folder, gathered, newest, content, static_voters)
        is_behind = newest is not None and newest.offset > 0 and view.is_behind(newest)
        if is_behind:
            control = _control(folder, _Gathered(after=0), newest, content, static_voters)
        accept(control, cut)
        report = Recovery(cut=cut)
        if cut is not None:
            recovery.cut_off(segments, cut)
        if newest is not None and is_behind:
            report.wiped_to = newest
            segments = begin_after(files, folder, segments, newest, config)
            view.begin_after(newest)
        if not segments:
            segments = [Segment.create(files, folder, start, config.index_interval_bytes)]
        _tidy(files, folder, layout, view, report)
        _mend(files, folder, segments, view, report)
        if not has_metadata:
            path = os.path.join(folder, checkpoint_files.PARTITION_METADATA)
            replace(files, path, checkpoint_files.encode_partition_metadata(METADATA_TOPIC_ID))
    except BaseException:
        for segment in segments:
            segment.close()
        raise
    view.flushed_offset = view.end_offset
    return OpenedPartition(
        folder=folder,
        segments=segments,
        view=view,
        control=control,
        election=election,
        recovery=report,
    )


def begin_after(
    files: Files,
    folder: str,
    segments: list[Segment],
    snapshot_id: OffsetAndEpoch,
    config: LogConfig,
) -> list[Segment]:
    """Drop a whole log for one that begins after a snapshot, which is durable already.

    The segments go from the end on: whenever the power fails, what is left is a log without a gap
    that is behind the snapshot, and the next start does the rest.
    """
    while segments:
        segments.pop().remove()
    return [Segment.create(files, folder, snapshot_id.offset, config.index_interval_bytes)]


def write_epochs(files: Files, folder: str, epochs: Sequence[EpochEntry]) -> bool:
    """Have leader-epoch-checkpoint say what the log does; say if it said otherwise."""
    data = checkpoint_files.encode_leader_epochs(tuple(epochs))
    path = os.path.join(folder, checkpoint_files.LEADER_EPOCH_CHECKPOINT)
    if read_whole(files, path, len(data) + 1) == data:
        return False
    replace(files, path, data)
    return True


def _has_partition_metadata(files: Files, folder: str) -> bool:
    path = os.path.join(folder, checkpoint_files.PARTITION_METADATA)
    data = read_whole(files, path, _MOST_METADATA)
    if data is None:
        return False
    partition_metadata, _ = checkpoint_files.decode_partition_metadata(data)
    if partition_metadata.topic_id != METADATA_TOPIC_ID:
        raise KraftoolError(
            f"{path} names the topic id {partition_metadata.topic_id}, and not {METADATA_TOPIC_ID}",
            hint="the folder belongs to another topic, or the file is damaged. If you remove the"
            " file, it is recreated",
        )
    return True


def _checked(files: Files, folder: str, newest: OffsetAndEpoch) -> SnapshotContent:
    path = snapshots.path_of(folder, newest)
    try:
        return snapshots.checked_at(files, path)
    except snapshots.SnapshotDamaged as error:
        raise KraftoolError(
            f"the newest snapshot is damaged: {error.message}",
            hint="see kraftool verify-snapshot and doctor; a log from 0 on needs no snapshot",
        ) from error


def _control(
    folder: str,
    gathered: _Gathered,
    newest: OffsetAndEpoch | None,
    content: SnapshotContent | None,
    static_voters: VoterSet,
) -> ControlHistory:
    control = ControlHistory(static_voters=static_voters)
    if newest is not None and content is not None:
        control.begin_after(newest.offset, content.kraft_version, content.voters)
    for raw in gathered.control:
        batch = decode(raw)
        if not batch.is_valid:
            raise KraftoolError(
                f"{folder}: the control records at offset {raw.base_offset} are unknown here"
            )
        control.append(batch)
    return control


def _tidy(files: Files, folder: str, layout: Layout, view: LogView, report: Recovery) -> None:
    """Remove what no log has any more."""
    old = [snapshot for snapshot in layout.snapshots if snapshot not in view.snapshots]
    names = [os.path.basename(snapshots.path_of(folder, snapshot_id)) for snapshot_id in old]
    names += [name for end, name in layout.producer_states if end > view.end_offset]
    for name in (*layout.stray, *layout.parts, *names):
        files.unlink(os.path.join(folder, name))
        report.removed.append(name)


def _mend(
    files: Files, folder: str, segments: list[Segment], view: LogView, report: Recovery
) -> None:
    """Make indexes and epochs say what the log does, and all of it durable."""
    for segment in segments:
        segment.entries.add_time()
        if segment.write_indexes():
            report.rebuilt.append(os.path.basename(segment.path(".index")))
        segment.log.sync()
    if write_epochs(files, folder, view.epochs):
        report.rebuilt.append(checkpoint_files.LEADER_EPOCH_CHECKPOINT)
    files.sync_folder(folder)
