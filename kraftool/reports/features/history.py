"""The log's history of features: when each was last set, and which record types it has.

Owns one pass over the whole log, before the newest snapshot too. It refuses to say which levels
hold: that is the image. Records beyond the image's end, and those of transactions that were
aborted or have no end, set nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.control import ControlRecordType, decode_value, read_key
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import decode_record, read_frame, record_format
from kraftool.decoders.walk import Faulty, Walk
from kraftool.image.loader import ABORT, BEGIN, END
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.reports.features.model import LoggedType
from kraftool.reports.logs.source import LogFile, log_files
from kraftool.storage.paths import Location

_FEATURE = "FeatureLevelRecord"
_WANTED = frozenset({_FEATURE, BEGIN, END, ABORT})


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
    events: list[_Event] = []
    counts: dict[tuple[str, int], list[int]] = {}
    claimed: list[LevelRecord] = []

    def unreadable(text: str) -> None:
        """The state was loaded from the same files, and said so already."""

    for file in log_files([path], unreadable, snapshots=True):
        if not file.is_log and file.name != snapshot:
            continue
        for batch, record in _records(file, progress):
            if file.is_log and record.offset >= end_offset:
                break
            event = _event(file, batch, record, counts if file.is_log else {})
            if event is None:
                continue
            setting = event.setting
            if setting is not None and setting.name == KRAFT_VERSION and event.kind == _FEATURE:
                claimed.append(setting)
            elif file.is_log:
                events.append(event)
    return FeatureHistory(
        settings=_settled(events),
        claimed_kraft_version=claimed[-1] if claimed else None,
        types=tuple(
            LoggedType(name=name, version=version, count=count, first_offset=first)
            for (name, version), (count, first) in sorted(counts.items())
        ),
    )


def _records(
    file: LogFile, progress: Callable[[str, int], None]
) -> Iterator[tuple[RecordBatch, Record]]:
    """The records up to the first damage."""
    with file.open() as source:
        for each in Walk(source.read_at):
            if isinstance(each, Faulty):
                if each.fault.cuts:
                    return
                continue
            try:
                for record in each.records():
                    yield each, record
            except KraftoolError:
                continue
            progress(file.name, each.position + each.size)


def _event(
    file: LogFile, batch: RecordBatch, record: Record, counts: dict[tuple[str, int], list[int]]
) -> _Event | None:
    try:
        if batch.is_control:
            return _control(file, record)
        if record.value is None:
            return None
        api_key, version, _ = read_frame(record.value)
        known = record_format(api_key, version)
        if known is None:
            return None
        counted = counts.setdefault((known.name, version), [0, record.offset])
        counted[0] += 1
        counted[1] = min(counted[1], record.offset)
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
    found: dict[str, LevelRecord] = {}
    before: dict[str, LevelRecord] | None = None
    for event in sorted(events, key=lambda one: one.offset):
        if event.setting is not None:
            found[event.setting.name] = event.setting
            if before is not None and event.kind == "control":
                before[event.setting.name] = event.setting  # control records know no transaction
        elif event.kind == BEGIN:
            before = dict(found)
        elif before is not None:
            found, before = (before if event.kind == ABORT else found), None
    return found if before is None else before
