"""Finalized features: metadata.version and the features beside it.

kraft.version is no part of it: it lives in control records. Kafka 3.9.1 wrote FeatureLevelRecords
for it all the same, which change nothing.

The state of a migration from ZooKeeper lies here too, as in Kafka 3.4 to 3.9, which put it into
snapshots next to the features. Kafka 4 ignores it, so it is written only below 4.0-IV0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kraftool.image.metadata_version import (
    ELR_VERSION,
    KAFKA_4_LEVEL,
    KRAFT_VERSION,
    METADATA_VERSION,
    ZK_MIGRATION_LEVEL,
)
from kraftool.image.replay import RecordValue, ReplayError, WrittenRecord, replays

_ZK_MIGRATION_STATES = ("NONE", "MIGRATION", "PRE_MIGRATION", "POST_MIGRATION")
"""Kafka's names, by the number in the record."""


def zk_migration_name(state: int) -> str:
    """Return Kafka's name of a migration state, with its number."""
    known = 0 <= state < len(_ZK_MIGRATION_STATES)
    return f"{_ZK_MIGRATION_STATES[state]} ({state})" if known else str(state)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturesImage:
    """The level of each finalized feature; `finalized` is without metadata.version."""

    metadata_version: int | None = None
    finalized: Mapping[str, int] = field(default_factory=dict)
    zk_migration_state: int | None = None

    @property
    def is_elr_enabled(self) -> bool:
        return self.finalized.get(ELR_VERSION, 0) > 0

    def records(self, metadata_version: int) -> Iterator[WrittenRecord]:
        """metadata.version comes first: it tells how to read what follows."""
        yield _record(METADATA_VERSION, metadata_version)
        for name, level in self.finalized.items():
            yield _record(name, level)
        state = self.zk_migration_state
        if state is not None and ZK_MIGRATION_LEVEL <= metadata_version < KAFKA_4_LEVEL:
            yield "ZkMigrationStateRecord", 0, {"zkMigrationState": state}


def _record(name: str, level: int) -> WrittenRecord:
    return "FeatureLevelRecord", 0, {"name": name, "featureLevel": level}


class FeaturesDelta:
    """Changes to the features."""

    def __init__(self, image: FeaturesImage) -> None:
        self._image = image
        self._metadata_version = image.metadata_version
        self._finalized: dict[str, int] | None = None
        self._zk_migration_state = image.zk_migration_state

    @replays("FeatureLevelRecord")
    def feature_level(self, record: RecordValue) -> None:
        name, level = record["name"], record["featureLevel"]
        if name == METADATA_VERSION:
            if level < 1:
                raise ReplayError(f"no Kafka ever had metadata.version {level}")
            self._metadata_version = level
        elif name != KRAFT_VERSION:
            if self._finalized is None:
                self._finalized = dict(self._image.finalized)
            if level == 0:
                self._finalized.pop(name, None)
            else:
                self._finalized[name] = level

    @replays("ZkMigrationStateRecord")
    def zk_migration_state(self, record: RecordValue) -> None:
        self._zk_migration_state = record["zkMigrationState"]

    def apply(self) -> FeaturesImage:
        image = FeaturesImage(
            metadata_version=self._metadata_version,
            finalized=self._image.finalized if self._finalized is None else self._finalized,
            zk_migration_state=self._zk_migration_state,
        )
        return self._image if image == self._image else image
