"""The results of one pass over a segment or checkpoint: the values that `log_reader.py` fills.

Owns the step from counted frames to the names of record types, and no reading. A frame is the three
bytes that open a usual record, or 0xff with both numbers as int16 where one of them takes more than
a byte. What a file means beside its neighbours is `metadata_summary.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kraftool.decoders import schema
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.control import BY_ID
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.framing import record_format
from kraftool.decoders.json_marks import Count, Hidden, Moment, in_json_before
from kraftool.decoders.log_record import LogRecord
from kraftool.decoders.walk import BEGINNING, WalkState

FIRST_OFFSET = 1
"""A log that begins here or before has its beginning: offset 0 is the LeaderChange of the first
leader, and a leader that has a snapshot never sends a batch that holds only that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCount:
    """The number of records of a type and version."""

    type: str | None
    """As in Kafka's sources, such as PartitionRecord; None for one that no known release has."""
    type_id: int | None
    """The api key, or the type of a control record; None for anything that is not a metadata
    record."""
    version: int | None
    is_control: bool
    records: Count
    first_offset: Hidden[int | None] = None
    """Of the first one; None for control records and for what is no record of Kafka's."""

    @property
    def rank(self) -> tuple[int, str]:
        """The order of a list: the most frequent first, then by the names of Kafka's converters."""
        name = self.type or ""
        return -self.records, name if self.is_control or not name else schema.record_type(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLevel:
    """A FeatureLevelRecord."""

    name: str
    level: int
    offset: int
    timestamp: Hidden[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The last that is said about a broker or a controller: registered, or no longer."""

    role: str
    id: int
    offset: int
    registered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecord:
    """A control record, with its payload as Kafka's JSON converter writes it."""

    offset: int
    epoch: int
    timestamp: Moment
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary:
    """A segment or a checkpoint."""

    batches: Count = 0
    records: Count = 0
    control_records: Count = 0
    start_offset: int | None = None
    epochs: tuple[EpochEntry, ...] = ()
    first_timestamp: Moment | None = None
    last_timestamp: Moment | None = None
    compressions: tuple[str, ...] = ()
    record_types: tuple[TypeCount, ...] = ()
    features: tuple[FeatureLevel, ...] = ()
    """The last level of each feature, without those of aborted and open transactions."""
    registrations: tuple[Registration, ...] = ()
    leader_changes: Count = 0
    voters_changes: Count = 0
    leader_change_record: ControlRecord | None = None
    """The last one."""
    kraft_version_record: ControlRecord | None = None
    """The last one."""
    voters_record: ControlRecord | None = None
    """The last one."""
    committed_transactions: Count = 0
    aborted_transactions: Count = 0
    open_transaction_offset: int | None = None
    """Of a BeginTransactionRecord that nothing in this file ends."""
    open_features: tuple[FeatureLevel, ...] = ()
    """Levels inside the open transaction."""
    ends_earlier_transaction: str = ""
    """committed or aborted, where the file ends a transaction that an earlier one began; else
    empty."""
    header_timestamp: Moment | None = None
    """lastContainedLogTimestamp of the SnapshotHeader."""
    has_header: bool = False
    has_footer: bool = False
    is_metadata: bool = True
    """False for a segment of another topic, whose values are no metadata records."""
    omitted_problems: Count = 0
    """Damaged places beyond those among the findings."""
    problems: Hidden[tuple[LogFault, ...]] = ()
    walked: Hidden[WalkState] = BEGINNING
    """The state of the walk at the end of the file."""

    @property
    @in_json_before("epochs")
    def end_offset(self) -> int | None:
        """One beyond the last offset."""
        return self.walked.end_offset

    @property
    @in_json_before("epochs")
    def intact_end_offset(self) -> int | None:
        """The offset at which Kafka would cut the log."""
        return self.walked.intact_end_offset

    @property
    def is_whole(self) -> bool:
        return not self.problems

    @property
    def is_whole_snapshot(self) -> bool:
        """True if the file has the form of a snapshot, from its header to its footer."""
        return self.has_header and self.has_footer and self.is_whole and self.start_offset == 0


_LONG = b"\xff"


def long_frame(api_key: int, version: int) -> bytes:
    """The key under which a record with a number beyond 127 is counted."""
    return _LONG + api_key.to_bytes(2, "big") + version.to_bytes(2, "big")


def _numbers(frame: bytes) -> tuple[int, int]:
    if len(frame) == 3:
        return frame[1], frame[2]
    return int.from_bytes(frame[1:3], "big"), int.from_bytes(frame[3:5], "big")


def unknown_types(
    counts: Mapping[bytes, int], first_seen: Mapping[bytes, tuple[int, int]]
) -> Iterator[LogFault]:
    """The types and versions that the catalogue lacks, each with the place of its first record."""
    for frame, (position, offset) in first_seen.items():
        api_key, version = _numbers(frame)
        if record_format(api_key, version) is not None:
            continue
        message = schema.metadata_record(api_key)
        records = "1 record" if counts[frame] == 1 else f"{counts[frame]} records"
        text = f"{records} of a type that Kafka {schema.KAFKA} lacks, the first here"
        if message is not None:
            text = f"{records} of {message.name} in a version that Kafka {schema.KAFKA} lacks"
        yield LogFault(
            kind=FaultKind.UNKNOWN,
            reason=text,
            position=position,
            offset=offset,
            expected=f"version {message.versions}" if message is not None else "",
            found=f"version {version}" if message is not None else f"api key {api_key}",
        )


def count_types(
    counts: Mapping[bytes, int],
    first_seen: Mapping[bytes, tuple[int, int]],
    controls: Mapping[int, int],
    not_framed: int,
) -> tuple[TypeCount, ...]:
    """All types with their counts, the most frequent first. `first_seen` has the place and the
    offset of the first record of each."""
    type_counts = [_control(type_id, count) for type_id, count in controls.items()]
    type_counts += [
        _record(*_numbers(frame), count, first_seen[frame][1]) for frame, count in counts.items()
    ]
    if not_framed:
        type_counts.append(
            TypeCount(type=None, type_id=None, version=None, is_control=False, records=not_framed)
        )
    return tuple(
        sorted(
            type_counts,
            key=lambda type_count: (type_count.rank, type_count.version or 0),
        )
    )


def _control(type_id: int, count: int) -> TypeCount:
    kind = BY_ID.get(type_id)
    return TypeCount(
        type=kind.label if kind is not None else None,
        type_id=type_id,
        version=None,
        is_control=True,
        records=count,
    )


def _record(api_key: int, version: int, count: int, first_offset: int) -> TypeCount:
    message = schema.metadata_record(api_key)
    return TypeCount(
        type=message.name if message is not None else None,
        type_id=api_key,
        version=version,
        is_control=False,
        records=count,
        first_offset=first_offset,
    )


def record_label(item: LogRecord) -> str:
    """The type of a record for people: as in Kafka's sources, with its version where that is not 0,
    and by its number where the catalogue lacks it."""
    name = item.type if item.is_control else item.name
    if not name and item.api_key is None:
        name = "unknown record"
    elif not name:
        name = f"{'control type' if item.is_control else 'record type'} {item.api_key}"
    return f"{name} v{item.version}" if item.version else name
