"""Feature levels: metadata.version and the features beside it, as Kafka's releases define them.

Owns the tables: which level came with which release, which of them changed the records, which
version of a record each level writes, what the other features need, and which ranges a release's
nodes register. A level that the tables lack is one of a newer Kafka; it has no name, and its
records are taken to be those of the newest. It refuses levels that no release had as production
levels: their meaning changes (20 and 22 were once ELR's).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"
ELR_VERSION = "eligible.leader.replicas.version"

OLDEST_KRAFT_LEVEL = 7
"""The lowest that Kafka 4.0 and later start with."""

_NAMES = {
    1: "3.0-IV1", 2: "3.1-IV0", 3: "3.2-IV0", 4: "3.3-IV0", 5: "3.3-IV1", 6: "3.3-IV2",
    7: "3.3-IV3", 8: "3.4-IV0", 9: "3.5-IV0", 10: "3.5-IV1", 11: "3.5-IV2", 12: "3.6-IV0",
    13: "3.6-IV1", 14: "3.6-IV2", 15: "3.7-IV0", 16: "3.7-IV1", 17: "3.7-IV2", 18: "3.7-IV3",
    19: "3.7-IV4", 20: "3.8-IV0", 21: "3.9-IV0", 22: "4.0-IV0", 23: "4.0-IV1", 24: "4.0-IV2",
    25: "4.0-IV3", 26: "4.1-IV0", 27: "4.1-IV1", 28: "4.2-IV0", 29: "4.2-IV1", 30: "4.3-IV0",
    31: "4.4-IV0", 32: "4.4-IV1", 33: "4.4-IV2",
}  # fmt: skip

LATEST_LEVEL = max(_NAMES)

CHANGED_RECORDS = frozenset({1, 3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33})
"""Levels that brought new records or fields: a downgrade across one of them is refused."""

SCRAM_LEVEL = 11
NO_EPOCH_BUMP_LEVEL = 12
"""From here on an ISR that loses a member does not raise the leader epoch."""
TRANSACTIONS_LEVEL = 13
DELEGATION_TOKENS_LEVEL = 14
CONTROLLER_REGISTRATION_LEVEL = 15
DIRECTORIES_LEVEL = 17
KAFKA_4_LEVEL = 22
ELR_LEVEL = 23
CORDONED_LEVEL = 30
KAFKA_4_4_LEVEL = 31
CIDR_ACL_LEVEL = 32
CONTROLLER_UNREGISTRATION_LEVEL = 33
ZK_MIGRATION_LEVEL = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLevelRule:
    """One level of a feature: from which metadata.version on it is a new cluster's default, and
    which levels of other features it needs."""

    level: int
    default_from: int
    needs: tuple[tuple[str, int], ...] = ()


FEATURES: dict[str, tuple[FeatureLevelRule, ...]] = {
    KRAFT_VERSION: (FeatureLevelRule(level=1, default_from=21),),
    "transaction.version": (
        FeatureLevelRule(level=1, default_from=24),
        FeatureLevelRule(level=2, default_from=24),
    ),
    "group.version": (FeatureLevelRule(level=1, default_from=22),),
    ELR_VERSION: (
        FeatureLevelRule(level=1, default_from=26, needs=((METADATA_VERSION, ELR_LEVEL),)),
    ),
    "share.version": (
        FeatureLevelRule(level=1, default_from=28),
        FeatureLevelRule(level=2, default_from=31),
    ),
    "streams.version": (FeatureLevelRule(level=1, default_from=29),),
}
"""The features beside metadata.version, by their levels above 0."""

_KRAFT = {KRAFT_VERSION: (0, 1)}
_KAFKA_4 = {**_KRAFT, "transaction.version": (0, 2), "group.version": (0, 1), ELR_VERSION: (0, 1)}
_KAFKA_4_3 = {**_KAFKA_4, "streams.version": (0, 1)}

RELEASE_RANGES: dict[str, Mapping[str, tuple[int, int]]] = {
    "3.3": {METADATA_VERSION: (1, 7)},
    "3.7": {METADATA_VERSION: (1, 19)},
    "3.9": {METADATA_VERSION: (1, 21), **_KRAFT},
    "4.1": {METADATA_VERSION: (7, 27), **_KAFKA_4, "share.version": (0, 1)},
    "4.3": {METADATA_VERSION: (7, 30), **_KAFKA_4_3, "share.version": (0, 1)},
    "4.4": {METADATA_VERSION: (7, 33), **_KAFKA_4_3, "share.version": (0, 2)},
}  # fmt: skip
"""What nodes of a release register, for the releases that were asked. No feature: not supported."""

SUPPORTED_LEVELS: Mapping[str, tuple[int, int]] = {
    METADATA_VERSION: (OLDEST_KRAFT_LEVEL, LATEST_LEVEL),
    **{
        name: (0, max(rule.level for rule in rules))
        for name, rules in FEATURES.items()
        if name != KRAFT_VERSION
    },
}
"""The levels that this software reads and writes. (Those of kraft.version are the raft log's.)"""

_RECORD_LEVELS: dict[str, tuple[int, ...]] = {
    "RegisterBrokerRecord": (1, OLDEST_KRAFT_LEVEL, ZK_MIGRATION_LEVEL, DIRECTORIES_LEVEL,
                             CORDONED_LEVEL),
    "BrokerRegistrationChangeRecord": (6, OLDEST_KRAFT_LEVEL, DIRECTORIES_LEVEL, CORDONED_LEVEL),
    "PartitionRecord": (1, DIRECTORIES_LEVEL, ELR_LEVEL),
    "PartitionChangeRecord": (1, DIRECTORIES_LEVEL, ELR_LEVEL),
    "NoOpRecord": (5,),
    "ZkMigrationStateRecord": (ZK_MIGRATION_LEVEL,),
    "UserScramCredentialRecord": (SCRAM_LEVEL,),
    "RemoveUserScramCredentialRecord": (SCRAM_LEVEL,),
    "BeginTransactionRecord": (TRANSACTIONS_LEVEL,),
    "EndTransactionRecord": (TRANSACTIONS_LEVEL,),
    "AbortTransactionRecord": (TRANSACTIONS_LEVEL,),
    "DelegationTokenRecord": (DELEGATION_TOKENS_LEVEL,),
    "RemoveDelegationTokenRecord": (DELEGATION_TOKENS_LEVEL,),
    "RegisterControllerRecord": (CONTROLLER_REGISTRATION_LEVEL,),
    "ClearElrRecord": (ELR_LEVEL,),
    "UnregisterControllerRecord": (CONTROLLER_UNREGISTRATION_LEVEL,),
}  # fmt: skip
"""The lowest metadata.version that writes each version of a record; others need the first."""


def level_name(level: int) -> str:
    """The name of a metadata.version level, as `3.7-IV2`; empty where it has none."""
    return _NAMES.get(level, "")


def level_of(name: str) -> int | None:
    """The level of a name like `3.7-IV2`; of `3.7`, the highest of that release."""
    key = ".".join(name.split(".")[:2])
    for level in sorted(_NAMES, reverse=True):
        if key in (_NAMES[level], release_of(level)):
            return level
    return None


def release_of(level: int) -> str:
    """The release that brought a metadata.version, as `3.7`; empty where it has no name."""
    return level_name(level).partition("-")[0]


def release_levels(level: int) -> dict[str, int]:
    """The default of each feature at a metadata.version, itself included."""
    return {METADATA_VERSION: level} | {
        name: max((rule.level for rule in rules if rule.default_from <= level), default=0)
        for name, rules in FEATURES.items()
    }


def needs_of(feature: str, level: int) -> tuple[tuple[str, int], ...]:
    """Return what other features have to be at for a level of a feature."""
    rules = FEATURES.get(feature, ())
    return next((rule.needs for rule in rules if rule.level == level), ())


def record_level(name: str, version: int) -> int:
    """The lowest metadata.version that writes this version of a record."""
    steps = _RECORD_LEVELS.get(name, (1,))
    return steps[min(version, len(steps) - 1)]


def release_name(feature: str, level: int) -> str:
    """The release that a level of metadata.version came with; empty for anything else."""
    return level_name(level) if feature == METADATA_VERSION else ""


def changed_between(low: int, high: int) -> tuple[int, ...]:
    """The levels above `low` up to `high` that changed the records."""
    return tuple(
        sorted(changed_record for changed_record in CHANGED_RECORDS if low < changed_record <= high)
    )


def register_broker_version(level: int) -> int:
    """The version of RegisterBrokerRecord that a metadata.version writes."""
    return _version_at("RegisterBrokerRecord", level)


def partition_version(level: int) -> int:
    """The version of PartitionRecord and PartitionChangeRecord that a metadata.version writes."""
    return _version_at("PartitionRecord", level)


@cache
def _version_at(record: str, level: int) -> int:
    return sum(level >= step for step in _RECORD_LEVELS[record][1:])
