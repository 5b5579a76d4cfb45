"""One pass over the files of a directory, with an eye on each batch as it passes.

Owns which checks see which file, and what a check needs from another file: an index is kept until
its segment passes, the offsets of snapshots are looked for among the batches. On disk the files
come in the order that suits this; in a stream what came too late is said. Memory does not grow with
the log: indexes, the image, and a bounded trace.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from struct import Struct

from kraftool.decoders import indexes
from kraftool.decoders.batch import CONTROL, LOG_OVERHEAD, RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import (
    CheckpointName,
    FileState,
    SegmentName,
    parse_checkpoint_name,
    parse_segment_name,
)
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item
from kraftool.directory.file_report import (
    LARGEST_WHOLE,
    EntryList,
    FileReport,
)
from kraftool.directory.log_reader import SpanObserver
from kraftool.directory.native_reader import Taken
from kraftool.reports.files.file_findings import FileView, file_findings
from kraftool.reports.files.finding_limits import FileFindings
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.state.placed_records import kept_records
from kraftool.reports.state.replay import Replay
from kraftool.reports.verify.log_form import check_batch, check_records
from kraftool.reports.verify.log_history import ControlRecordChecks, epoch_start
from kraftool.reports.verify.log_indexes import (
    MOST_TRACED,
    OffsetIndexCheck,
    TimeIndexCheck,
    Trace,
)
from kraftool.reports.verify.log_replay import DirectoryReplay, NewestSnapshot, SnapshotReplay
from kraftool.reports.verify.log_times import HeaderTimes
from kraftool.storage.entry import Entry

IndexCheck = OffsetIndexCheck | TimeIndexCheck
_NEVER = 1 << 64
_FIELDS = Struct(">qiibIhiqq").unpack_from
"""The first fields of a batch's header, up to the maximum timestamp."""
_MOST_INDEXES = 64 << 20
"""Bytes of indexes that wait for their segments; Kafka's own are 10 MiB at most."""


_NO_PRODUCERS = {
    FileKind.TXN_INDEX: "a metadata log has no aborted transactions of producers",
    FileKind.PRODUCER_STATE: "a metadata log has no producers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPlace:
    """The place of a snapshot's offset in the log."""

    file: str
    position: int
    inside: bool
    """True if it falls between the records of one batch."""
    epoch: int
    timestamp: int


@dataclass(slots=True)
class DirectoryPass:
    """The values that are kept of one directory while its files pass."""

    is_stream: bool = False
    compares: bool = True
    """True if the newest snapshot's state is compared with the log's."""
    history: ControlRecordChecks = field(default_factory=ControlRecordChecks)
    replay: DirectoryReplay = field(default_factory=DirectoryReplay)
    places: dict[int, SnapshotPlace] = field(default_factory=dict)
    times: HeaderTimes = field(default_factory=HeaderTimes)
    late: list[Finding] = field(default_factory=list)
    """What was found in a file after its turn."""
    short_indexes: list[Finding] = field(default_factory=list)
    """Offset indexes with gaps, which Kafka 4 does not leave."""
    left_indexes: dict[str, bool] = field(default_factory=dict)
    """Indexes of which all that does not fit may be what a truncation left behind, and whether they
    have preallocated space."""
    is_metadata: bool = True
    _wanted: list[int] = field(default_factory=list)
    """The offsets of the snapshots so far."""
    _indexes: dict[int, list[IndexCheck]] = field(default_factory=dict)
    _traces: dict[int, Trace] = field(default_factory=dict)
    _waiting: int = 0
    """Bytes of the indexes kept so far whose segments have not passed."""
    _room: int = MOST_TRACED
    _newest: int = 0
    """The offset of the newest snapshot; 0 where none is known to come."""

    @classmethod
    def without_replay(cls) -> DirectoryPass:
        """A pass that neither replays the log nor compares a state with it."""
        idle = DirectoryReplay(replay=Replay(), next=1, ended="not asked for")
        return cls(replay=idle, compares=False)

    def expect(self, entries: Iterable[Entry]) -> None:
        """Look at the names of all files before the first one passes."""
        segments, snapshots = [], []
        for entry in entries:
            segment, snapshot = _segment(entry), _snapshot(entry)
            if segment is not None and segment.suffix == ".log":
                segments.append(segment.base_offset)
            elif snapshot is not None:
                snapshots.append(snapshot.offset)
        self._newest = max(snapshots, default=0)
        self.replay.log_start = min(segments, default=None)
        if self.replay.states is not None:
            self.replay.states.want(snapshots)

    def view(self, entry: Entry) -> FileView:
        """Return the observers that this pass adds to the reading of the next file."""
        segment, snapshot = _segment(entry), _snapshot(entry)
        if segment is not None and segment.suffix == ".log":
            return self._log(entry, segment)
        if snapshot is not None:
            return self._snapshot(entry, snapshot)

        def end(file: FileReport) -> Sequence[Finding]:
            if file.kind is FileKind.LOG and file.is_live:
                return ()
            return self._beside(entry, segment, file)

        return FileView(end=end)

    def _snapshot(self, entry: Entry, name: CheckpointName) -> FileView:
        insort(self._wanted, name.offset)
        begins = self.replay.wants(name)
        is_newest = self.compares and name.offset and name.offset == self._newest
        loading = None
        if begins or is_newest:
            loading = SnapshotReplay(name, kept_records(entry.name))

        def end(file: FileReport) -> Sequence[Finding]:
            if loading is not None:
                self._loaded(entry, file, loading, begins=begins)
            if file.log is not None and file.log.header_timestamp is not None:
                self.times.header(name.offset, file.log.header_timestamp)
            return ()

        return FileView((loading,) if loading is not None else (), end)

    def _loaded(
        self, entry: Entry, report: FileReport, loading: SnapshotReplay, *, begins: bool
    ) -> None:
        """Start the replay with a snapshot that was read, or keep it to compare it with the log."""
        if report.log is None or not report.log.has_header:
            return
        image = loading.image()
        if image is not None and begins:
            self.replay.take(loading.name, image, entry.name)
        elif image is not None and report.log.has_footer:
            self.replay.compared = NewestSnapshot(entry, loading.name, image)

    def _beside(
        self, entry: Entry, name: SegmentName | None, file: FileReport
    ) -> Sequence[Finding]:
        """The files beside a segment, of which a metadata log has only two that say anything."""
        content = file.content
        if not isinstance(content, EntryList) or not file.is_live:
            return ()
        text = _NO_PRODUCERS.get(file.kind)
        if text is not None and content.entries:
            count = str(content.entries)
            return (log_kinds.PRODUCERS.at(file.file, text, expected="0", found=count),)
        if name is not None and not file_findings(file):
            self._index(entry, name, file.kind)
        return ()

    def _index(self, entry: Entry, name: SegmentName, kind: FileKind) -> None:
        """Keep an index for its segment, or compare it with what was kept of that."""
        check: IndexCheck
        try:
            with entry.open() as source:
                data = source.read_at(0, LARGEST_WHOLE)
        except KraftoolError as error:
            self.late.append(log_kinds.NOT_CHECKED.at(entry.name, error.message))
            return
        if kind is FileKind.OFFSET_INDEX:
            check = OffsetIndexCheck(
                entry.name, indexes.decode_offset_index(data, name.base_offset)[0]
            )
        elif kind is FileKind.TIME_INDEX:
            check = TimeIndexCheck(entry.name, indexes.decode_time_index(data, name.base_offset)[0])
        else:
            return
        trace = self._traces.get(name.base_offset)
        if trace is None and self._waiting + len(data) > _MOST_INDEXES:
            text = "too many indexes wait for their segments"
            self.late.append(log_kinds.NOT_CHECKED.at(entry.name, text))
            return
        if trace is None:
            self._waiting += len(data)
            self._indexes.setdefault(name.base_offset, []).append(check)
            return
        trace.show(check)
        self._checked(check, whole=trace.is_whole and not trace.has_damage)
        if not trace.is_whole:
            text = "compared only with the first batches: in the stream it comes after its segment"
            self.late.append(log_kinds.NOT_CHECKED.at(entry.name, text))

    def _log(self, entry: Entry, name: SegmentName) -> FileView:
        checks = self._indexes.pop(name.base_offset, [])
        if not self._indexes:
            self._waiting = 0
        trace = Trace(self._room) if self.is_stream and len(checks) < 2 else None
        findings = FileFindings(entry.name)
        self.replay.segment(name)
        passing = _SegmentPass(self, findings, checks, trace, name.base_offset)

        def end(file: FileReport) -> Sequence[Finding]:
            return self._passed(name, file, passing, findings, checks, trace)

        return FileView((passing,), end)

    def _passed(
        self,
        name: SegmentName,
        file: FileReport,
        passing: _SegmentPass,
        findings: FileFindings,
        checks: list[IndexCheck],
        trace: Trace | None,
    ) -> Sequence[Finding]:
        """Take the result of a segment that was read."""
        if file.log is None or not file.log.is_metadata:
            self.is_metadata = False
            return ()
        if trace is not None:
            trace.has_damage = passing.damaged
            self._room -= len(trace)
            self._traces[name.base_offset] = trace
        for check in checks:
            check.end(whole=not passing.damaged)
            self._checked(check, whole=not passing.damaged)
        return findings.all()

    def _checked(self, check: IndexCheck, *, whole: bool) -> None:
        self.late += check.findings.all()
        if isinstance(check, OffsetIndexCheck) and whole and (short := check.short()):
            self.short_indexes.append(short)
        if check.fitting.may_be_left:
            self.left_indexes[check.findings.file] = check.fitting.is_preallocated

    def wanted_from(self, offset: int) -> list[int]:
        """The offsets of snapshots that end in a segment or at its end."""
        return self._wanted[bisect_left(self._wanted, offset + 1) :]


class _SegmentPass(SpanObserver):
    """Sees the batches of one segment."""

    def __init__(
        self,
        directory: DirectoryPass,
        findings: FileFindings,
        checks: list[IndexCheck],
        trace: Trace | None,
        base_offset: int,
    ) -> None:
        self.damaged = False
        self._directory = directory
        self._findings = findings
        self._watchers: list[Callable[[int, int, int, int], None]] = [
            check.batch for check in checks
        ]
        if trace is not None:
            self._watchers.append(trace.batch)
        # In a segment by itself the first epoch began before it, unless that is the log's start.
        self._epoch: int | None = -1 if base_offset == 0 else None
        self._wanted = directory.wanted_from(base_offset)
        self._wanted.reverse()
        self._due = self._wanted.pop() if self._wanted else _NEVER

    def __call__(self, item: Item) -> None:
        directory = self._directory
        if isinstance(item, Faulty):
            if item.fault.cuts:
                self.damaged = True
                directory.replay.damage(item)
                directory.times.stop()
            return
        self._sound(item)
        check_batch(self._findings, item)
        check_records(self._findings, item)
        opens_epoch = self._opens_epoch(item.epoch)
        if item.header.attributes & CONTROL:
            try:
                directory.history.batch(self._findings, item, opens_epoch=opens_epoch)
            except KraftoolError:
                return  # the summary tells what is wrong with the records
        elif opens_epoch:
            epoch_start(self._findings, item)

    def plain(self, span: BatchSpan, taken: Taken) -> None:
        """Take batches of a span whose form is right, and which hold data."""
        at, end = taken.at, taken.end
        if self._opens_epoch(span.epoch):
            epoch_start(self._findings, span.batch(at))
        self._directory.replay.span(self._findings.file, span, at, end)
        if self._looks_at_batches or span.last_offset + 1 >= self._due:
            self._look_at(span, at, end)

    def _look_at(self, span: BatchSpan, at: int, end: int) -> None:
        """Show each batch of a span to the watchers."""
        data, times = span.data, self._directory.times
        watchers = () if self.damaged else self._watchers
        while at < end:
            base, length, _, _, _, _, delta, _, timestamp = _FIELDS(data, at)
            last = base + delta
            if times.is_waiting or last + 1 >= self._due:
                self._passed(span.batch(at))
            else:
                for watch in watchers:
                    watch(span.data_position + at, base, last, timestamp)
            at += LOG_OVERHEAD + length

    @property
    def _looks_at_batches(self) -> bool:
        is_watched = bool(self._watchers and not self.damaged)
        return is_watched or self._directory.times.is_waiting

    def _opens_epoch(self, epoch: int) -> bool:
        opens_epoch = self._epoch is not None and epoch != self._epoch
        self._epoch = epoch
        return opens_epoch

    def _sound(self, item: RecordBatch) -> None:
        self._directory.replay.batch(self._findings.file, item)
        self._passed(item)

    def _passed(self, item: RecordBatch) -> None:
        directory, header = self._directory, item.header
        last = item.last_offset
        if not self.damaged:
            for watch in self._watchers:
                watch(item.position, header.base_offset, last, header.max_timestamp)
        if directory.times.is_waiting or last + 1 >= self._due:
            directory.times.batch(item)
        if last + 1 >= self._due:
            self._place(item)

    def _place(self, batch: RecordBatch) -> None:
        """A snapshot ends with this batch, or within it."""
        after = batch.last_offset + 1
        while self._due <= after:
            if self._due > batch.base_offset:
                self._directory.places[self._due] = SnapshotPlace(
                    file=self._findings.file,
                    position=batch.position,
                    inside=self._due < after,
                    epoch=batch.epoch,
                    timestamp=batch.header.max_timestamp,
                )
            self._due = self._wanted.pop() if self._wanted else _NEVER


def _segment(entry: Entry) -> SegmentName | None:
    name = parse_segment_name(entry.basename)
    if name is None or name.state is not FileState.LIVE:
        return None
    return name if name.padded or name.suffix != ".log" else None


def _snapshot(entry: Entry) -> CheckpointName | None:
    name = parse_checkpoint_name(entry.basename)
    return name if name is not None and name.state is FileState.LIVE else None


def suited(entries: Iterable[Entry]) -> list[Entry]:
    """Files in the order of a pass: segments last, by offset, each behind its indexes."""

    def key(entry: Entry) -> tuple[int, int, bool]:
        name = _segment(entry)
        if name is None:
            return 0, 0, False
        return 1, name.base_offset, name.suffix == ".log"

    return sorted(entries, key=key)
