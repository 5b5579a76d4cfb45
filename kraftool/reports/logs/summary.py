"""The results of one pass over a segment or checkpoint: the values that `reader.py` fills.

Owns no reading. They are what one file says by itself; what it means beside its neighbours is
`metadata_summary.py`.
"""

from __future__ import annotations

from typing import Any

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.fault import LogFault
from kraftool.decoders.walk import BEGINNING, WalkState


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCount:
    """The number of records of one type and version. Unknown ones have an empty name."""

    name: str
    type: str
    version: int | None
    count: int
    is_control: bool
    type_id: int | None
    """The api key, or the control record type."""


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
class LogSummary:
    """The results of one pass over a segment or checkpoint."""

    batches: int = 0
    records: int = 0
    control_records: int = 0
    start_offset: int | None = None
    walked: WalkState = BEGINNING
    """The state of the walk at the end of the file."""
    epochs: tuple[EpochEntry, ...] = ()
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
    problems: tuple[LogFault, ...] = ()
    more_problems: int = 0

    @property
    def end_offset(self) -> int | None:
        """One beyond the last offset."""
        return self.walked.end_offset

    @property
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
