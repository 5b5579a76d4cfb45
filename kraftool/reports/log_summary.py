"""What one pass over a segment or checkpoint shows: the values that `log_reader.py` fills.

Owns no reading. They are what one file says by itself; what it means beside its neighbours is
`metadata_summary.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kraftool.decoders.segment import DamageKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCount:
    """How many records of one type and version. Unknown ones have an empty name."""

    name: str
    type: str
    version: int | None
    count: int
    is_control: bool
    type_id: int | None
    """The api key, or the control record type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochStart:
    """A leader epoch and its first offset in the file."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLevel:
    """A FeatureLevelRecord."""

    name: str
    level: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The last that is said about a broker or a controller: registered, or no longer."""

    role: str
    id: int
    offset: int
    registered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecord:
    """A control record that later ones of its type replace."""

    offset: int
    epoch: int
    timestamp: int
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogProblem:
    """What is wrong at one place. `kind` is a word of PROBLEM_KINDS, or a kind of damage."""

    kind: str
    text: str
    position: int
    offset: int | None = None
    size: int = 0
    field: str = ""
    expected: str = ""
    found: str = ""


CRC, RECORDS, UNKNOWN, EPOCH_BACK, GAP = "crc", "records", "unknown", "epoch-back", "gap"
PROBLEM_KINDS = (CRC, RECORDS, UNKNOWN, EPOCH_BACK, GAP, *(each.value for each in DamageKind))
CUTTING = frozenset({CRC, *(each.value for each in DamageKind)})
"""At these Kafka cuts the log when it starts. It looks at each batch by itself: offsets that do not
follow on each other, or an epoch that goes back, it does not notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary:
    """What one pass over a segment or checkpoint shows."""

    batches: int = 0
    records: int = 0
    control_records: int = 0
    start_offset: int | None = None
    end_offset: int | None = None
    """One beyond the last offset."""
    intact_end_offset: int | None = None
    """Where Kafka would cut the log: the end of the last batch before anything that it refuses."""
    epochs: tuple[EpochStart, ...] = ()
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    compressions: tuple[str, ...] = ()
    types: tuple[TypeCount, ...] = ()
    features: tuple[FeatureLevel, ...] = ()
    """The last of each feature, without those of aborted and open transactions."""
    registrations: tuple[Registration, ...] = ()
    leader_changes: int = 0
    leader_change: ControlRecord | None = None
    kraft_version: ControlRecord | None = None
    voters: ControlRecord | None = None
    voters_changes: int = 0
    committed_transactions: int = 0
    aborted_transactions: int = 0
    open_transaction: int | None = None
    """The offset of a BeginTransactionRecord that nothing in this file ends."""
    open_features: tuple[FeatureLevel, ...] = ()
    ends_earlier_transaction: str = ""
    """`committed` or `aborted` when the file ends a transaction that an earlier one began."""
    header_timestamp: int | None = None
    """The SnapshotHeader's lastContainedLogTimestamp."""
    has_header: bool = False
    has_footer: bool = False
    is_metadata: bool = True
    """False for a segment of another topic, whose values are no metadata records."""
    problems: tuple[LogProblem, ...] = ()
    more_problems: int = 0

    @property
    def last_epoch(self) -> int | None:
        return self.epochs[-1].epoch if self.epochs else None

    @property
    def is_whole(self) -> bool:
        return not self.problems
