"""The values of a timeline: events, nodes, disagreements, and the whole.

Owns what an event is. How events come from records is `quorum.py`, `registrations.py` and
`partitions.py`; it refuses to format a time, which is for whoever shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kraftool.decoders.json_marks import Count, Hidden, Moment, in_json
from kraftool.decoders.quorum_state import QuorumState
from kraftool.reports.findings.finding import Finding, Severity


class Category(StrEnum):
    """The subject of an event; `--only` names these."""

    ELECTIONS = "elections"
    VOTERS = "voters"
    FEATURES = "features"
    BROKERS = "brokers"
    CONTROLLERS = "controllers"
    TRANSACTIONS = "transactions"
    SNAPSHOTS = "snapshots"
    PARTITIONS = "partitions"
    TOPICS = "topics"
    CONFIGS = "configs"
    QUOTAS = "quotas"
    ACLS = "acls"
    USERS = "users"
    TOKENS = "tokens"
    GAPS = "gaps"
    NODES = "nodes"
    DAMAGE = "damage"
    """Damage and disagreements: never left out, whatever `--only` says."""


class Visibility(StrEnum):
    """Visibility of an event to readers of the metadata (KIP-868)."""

    VISIBLE = "visible"
    ABORTED = "aborted"
    OPEN = "open"
    """In a transaction that nothing ends."""


class Rank:
    """The order of events at one offset: a log that ends there ends before its record."""

    SNAPSHOT, LOG_END, LOG_START, GAP, RECORD, DAMAGE = range(6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened, at an offset.

    `what` says it in a few words, `details` the rest in phrases, `data` the same for programs.
    `nodes` are indexes of the nodes whose logs have it. `disputed` says that other nodes have
    something else at this offset, or after one at which the logs part.
    """

    category: Category
    type: str
    offset: int
    what: str
    epoch: int | None = None
    timestamp: int | None = None
    details: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity = Severity.INFO
    good: bool = False
    """True if it is the end of something bad, such as a broker that is unfenced."""
    nodes: tuple[int, ...] = ()
    visibility: Visibility = Visibility.VISIBLE
    disputed: bool = False
    topics: frozenset[str] = frozenset()
    """Names and ids of all topics that it is about; `data` lists only the first partitions."""
    rank: int = Rank.RECORD
    transactional: bool = False
    """True if it comes from a data record, which a metadata transaction may hide."""

    @property
    def text(self) -> str:
        return "; ".join((self.what, *self.details))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A node as its directory shows it."""

    label: str
    """The name of the node in events: its node.id, or its path if that is unknown or not unique."""
    path: str
    node_id: int | None = None
    directory_id: str | None = None
    cluster_id: str | None = None
    start_offset: int | None = None
    """The first offset of the log; null where there is none."""
    end_offset: int | None = None
    """One beyond the last offset."""
    last_epoch: int | None = None
    last_timestamp: Moment | None = None
    quorum_state: Hidden[QuorumState | None] = None
    is_live: Hidden[bool] = False

    @property
    @in_json
    def leader_epoch(self) -> int | None:
        """Of quorum-state, as are leaderId and votedId."""
        return None if self.quorum_state is None else self.quorum_state.leader_epoch

    @property
    @in_json
    def leader_id(self) -> int | None:
        """-1 for none."""
        return None if self.quorum_state is None else self.quorum_state.leader_id

    @property
    @in_json
    def voted_id(self) -> int | None:
        """-1 for none."""
        return None if self.quorum_state is None else self.quorum_state.voted_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a disagreement: which nodes have this batch at the offset."""

    nodes: tuple[int, ...]
    epoch: int
    last_offset: int
    crc: int
    end_offset: int
    """Where the longest log of this side ends."""
    last_epoch: int
    snapshot: int | None = None
    """The offset of a snapshot beyond the disagreement, which proves that this side's records
    were committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An offset from which on logs differ."""

    offset: int
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reign:
    """The time for which one leader led in one epoch, as far as the log shows."""

    leader_id: int
    epoch: int
    offset: int
    led_ms: int
    is_last: bool
    """True if it is the log's last: it may have continued."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The totals of the events."""

    event_counts: Mapping[Category, int]
    elections: Count = 0
    elections_won_by_leader: Mapping[int, int] = field(default_factory=dict)
    """By the leader's id."""
    led_ms_by_leader: Mapping[int, int] = field(default_factory=dict)
    """By the leader's id, as far as the log shows."""
    longest_reign: Reign | None = None
    most_elections_in_an_hour: int = 0
    """Without the election that formed the quorum."""
    elections_per_hour: float | None = None
    """null where the log spans less than an hour."""
    skipped_epochs: Count = 0
    """Epochs that left no record."""
    span_ms: int | None = None
    """From the first record to the last."""
    created_topics: Count = 0
    deleted_topics: Count = 0
    created_partitions: Count = 0

    @property
    @in_json
    def is_worrying(self) -> bool:
        """More than one election within an hour."""
        return self.most_elections_in_an_hour > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All of it."""

    nodes: tuple[NodeView, ...]
    events: tuple[Event, ...]
    statistics: Statistics
    disagreements: tuple[Disagreement, ...] = ()
    findings: tuple[Finding, ...] = ()

    def labels(self, nodes: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self.nodes[index].label for index in nodes)
