"""The log's history of features: when each was last set, and which record types it has.

Owns one pass over the whole log, before the newest snapshot too. It refuses to say which levels
hold: that is the image. Records beyond the image's end, and those of transactions that were
aborted or have no end, set nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from kraftool.decoders import schema
from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.control import ControlRecordType, decode_value, read_key
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import decode_record, read_frame, record_format
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Walk
from kraftool.directory.native_reader import Taken, native_reader
from kraftool.image.loader import ABORT, BEGIN, END
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.reports.features.model import LoggedType
from kraftool.reports.logs.source import LogFile, log_files
from kraftool.storage.paths import Location

_FEATURE = "FeatureLevelRecord"
_WANTED = frozenset({_FEATURE, BEGIN, END, ABORT})
_WANTED_TYPES = frozenset(
    key for name in _WANTED if (key := schema.message(name).api_key) is not None
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRecord:
    """A record that set a feature's level."""

    name: str
    level: int
    offset: int
    timestamp: int
    file: str


@dataclass(slots=True)
class FeatureHistory:
    """The history in one PATH's log and the snapshot in use."""

    settings: dict[str, LevelRecord] = field(default_factory=dict)
    """The last of each feature that the log has; kraft.version is of control records."""
    claimed_kraft_version: LevelRecord | None = None
    """A FeatureLevelRecord of kraft.version, which means nothing; snapshots are searched too."""
    types: tuple[LoggedType, ...] = ()


@dataclass(frozen=True, slots=True)
class _Event:
    offset: int
    kind: str
    setting: LevelRecord | None = None


def read_history(
    path: str | Location,
    snapshot: str,
    end_offset: int,
    progress: Callable[[str, int], None] = lambda name, position: None,
) -> FeatureHistory:
    """Read the log of a PATH up to an offset, and the snapshot of this name for false claims."""
    made = _Making(end_offset)

    def unreadable(text: str) -> None:
        """The state was loaded from the same files, and said so already."""

    for file in log_files([path], unreadable, snapshots=True):
        if file.is_log or file.name == snapshot:
            for part in _parts(file, end_offset, progress):
                if isinstance(part, Taken):
                    made.plain(file, part)
                elif not made.record(file, *part):
                    break
    return made.history()


@dataclass(slots=True)
class _Making:
    """A history in the making."""

    end_offset: int
    events: list[_Event] = field(default_factory=list)
    counts: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    claimed: list[LevelRecord] = field(default_factory=list)

    def plain(self, file: LogFile, taken: Taken) -> None:
        """Take what was read natively; all of it is below the end."""
        for api_key, version, count, _, first in taken.counts if file.is_log else ():
            known = record_format(api_key, version)
            assert known is not None, "what the module reads has a format"
            self._count(known.name, version, first, count)
        for _, offset, timestamp, value in taken.watched:
            record = Record(0, 0, 0, offset, timestamp, None, value)
            event = _event(file, record, lambda name, version: None)
            if event is not None:
                self._take(file, event)

    def record(self, file: LogFile, batch: RecordBatch, record: Record) -> bool:
        """Take a record; False if it is beyond the end."""
        if file.is_log and record.offset >= self.end_offset:
            return False

        def count(name: str, version: int) -> None:
            if file.is_log:
                self._count(name, version, record.offset, 1)

        try:
            event = _control(file, record) if batch.is_control else _event(file, record, count)
        except KraftoolError:
            return True
        if event is not None:
            self._take(file, event)
        return True

    def _count(self, name: str, version: int, first: int, count: int) -> None:
        counted = self.counts.setdefault((name, version), [0, first])
        counted[0] += count
        counted[1] = min(counted[1], first)

    def _take(self, file: LogFile, event: _Event) -> None:
        setting = event.setting
        if setting is not None and setting.name == KRAFT_VERSION and event.kind == _FEATURE:
            self.claimed.append(setting)
        elif file.is_log:
            self.events.append(event)

    def history(self) -> FeatureHistory:
        return FeatureHistory(
            settings=_settled(self.events),
            claimed_kraft_version=self.claimed[-1] if self.claimed else None,
            types=tuple(
                LoggedType(name=name, version=version, count=count, first_offset=first)
                for (name, version), (count, first) in sorted(self.counts.items())
            ),
        )


def _parts(
    file: LogFile, end_offset: int, progress: Callable[[str, int], None]
) -> Iterator[tuple[RecordBatch, Record] | Taken]:
    """The records up to the first damage; what is plain, and below the end, is read natively."""
    native = native_reader(_WANTED_TYPES)
    with file.open() as source:
        for span in Walk(source.read_at).spans():
            if isinstance(span, Faulty):
                if span.fault.cuts:
                    return
                continue
            parts: Iterable[RecordBatch | Taken] = (span,) if isinstance(span, RecordBatch) else ()
            if isinstance(span, BatchSpan):
                is_below = not file.is_log or span.last_offset < end_offset
                python = span.read_batches(span.at, span.end)
                parts = native.parts(span) if native is not None and is_below else python
            for part in parts:
                if isinstance(part, Taken):
                    yield part
                    continue
                try:
                    for record in part.records():
                        yield part, record
                except KraftoolError:
                    continue
            progress(file.name, span.position + span.size)


def _event(file: LogFile, record: Record, count: Callable[[str, int], None]) -> _Event | None:
    """Return what a record of the metadata says, once its type was counted."""
    if record.value is None:
        return None
    try:
        api_key, version, _ = read_frame(record.value)
        known = record_format(api_key, version)
        if known is None:
            return None
        count(known.name, version)
        if known.name not in _WANTED:
            return None
        if known.name != _FEATURE:
            return _Event(record.offset, known.name)
        _, _, value = decode_record(record.value)
    except KraftoolError:
        return None
    setting = LevelRecord(
        name=value["name"],
        level=value["featureLevel"],
        offset=record.offset,
        timestamp=record.timestamp,
        file=file.name,
    )
    return _Event(record.offset, _FEATURE, setting)


def _control(file: LogFile, record: Record) -> _Event | None:
    if read_key(record.key) != ControlRecordType.KRAFT_VERSION.id:
        return None
    _, value = decode_value(ControlRecordType.KRAFT_VERSION, record.value)
    setting = LevelRecord(
        name=KRAFT_VERSION,
        level=value["kRaftVersion"],
        offset=record.offset,
        timestamp=record.timestamp,
        file=file.name,
    )
    return _Event(record.offset, "control", setting)


def _settled(events: list[_Event]) -> dict[str, LevelRecord]:
    """The last setting of each feature that is visible. An archive may have segments unordered."""
    settled: dict[str, LevelRecord] = {}
    before: dict[str, LevelRecord] | None = None
    for event in sorted(events, key=lambda one: one.offset):
        if event.setting is not None:
            settled[event.setting.name] = event.setting
            if before is not None and event.kind == "control":
                before[event.setting.name] = event.setting  # control records know no transaction
        elif event.kind == BEGIN:
            before = dict(settled)
        elif before is not None:
            settled, before = (before if event.kind == ABORT else settled), None
    return settled if before is None else before
