"""Partitions that the native module keeps.

Owns what PartitionRecord and PartitionChangeRecord do to a row. It refuses nothing: `topics.py`
replays the records that do not fit.
"""

from __future__ import annotations

from typing import Any, TypeVar

from kraftool.decoders import fast_path
from kraftool.decoders.native_rows import CompactGroups, RowChanges, RowRules
from kraftool.image.uuids import MIGRATING

_RULES = RowRules(
    cells=(
        ("replicas", "I"),
        ("directories", "U"),
        ("isr", "I"),
        ("removingReplicas", "I"),
        ("addingReplicas", "I"),
        ("eligibleLeaderReplicas", "I"),
        ("lastKnownElr", "I"),
        ("leader", "i"),
        ("leaderRecoveryState", "i"),
        ("leaderEpoch", "i"),
        ("partitionEpoch", "i"),
    ),
    makes="PartitionRecord",
    changes="PartitionChangeRecord",
    does_nothing="NoOpRecord",
    group="topicId",
    number="partitionId",
    choice="leaderRecoveryState",
    arrays=("replicas", "directories"),
    filler=MIGRATING,
    counters=(("leaderEpoch", "leader"), ("partitionEpoch", None)),
    unchanged=(("leader", -2), ("leaderRecoveryState", -1)),
)
"""The cells are in the order of PartitionRegistration."""
COMPACT_RECORDS = frozenset({_RULES.makes, _RULES.changes, _RULES.does_nothing})
"""The records that the native module replays."""
_Item = TypeVar("_Item", bound=tuple[Any, ...])


def compact_topics(kind: type[_Item]) -> CompactGroups[_Item] | None:
    """Return what keeps partitions natively; None if Python keeps them."""
    return CompactGroups(_RULES, kind) if fast_path.is_native() else None


def compact_changes() -> RowChanges | None:
    """Return the native notes on changes of partitions; None if Python notes them."""
    return RowChanges(_RULES, 0) if fast_path.is_native() else None
