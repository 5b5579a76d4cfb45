"""The report on a cluster's features, as values.

Owns the read model: it is the same however the facts were obtained, from directories or from a
running node. It refuses to decide what a change would meet; that is `plan.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from kraftool.decoders.dataclass import dataclass
from kraftool.image.cluster import FeatureRange
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION, release_of
from kraftool.reports.findings.finding import Finding

NOT_SUPPORTED = FeatureRange(0, 0)
"""What Kafka takes a feature's range to be that a node does not name."""


class ProcessRole(StrEnum):
    """The role with which a node registered; a node with both roles does so twice."""

    BROKER = "broker"
    CONTROLLER = "controller"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSupport:
    """A registration with the ranges that it names."""

    role: ProcessRole
    id: int
    ranges: Mapping[str, FeatureRange]
    fenced: bool = False
    directories: int = 0
    """How many log directories it registered; 0 where it did not say."""

    @property
    def label(self) -> str:
        return f"{self.role.value} {self.id}"

    def range_of(self, feature: str) -> FeatureRange:
        return self.ranges.get(feature, NOT_SUPPORTED)

    @property
    def software(self) -> str:
        """The release that it runs, by the highest metadata.version that it supports."""
        return release_of(self.range_of(METADATA_VERSION).max)


class LevelSource(StrEnum):
    """The source of a level."""

    LOG = "log"
    SNAPSHOT = "snapshot"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizedLevel:
    """A finalized level. `offset` and `timestamp` are those of the record that last set it, None
    where the log does not reach back to it."""

    name: str
    level: int
    evidence: LevelSource = LevelSource.DEFAULT
    file: str = ""
    offset: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedType:
    """Records of one type and version that the log still has."""

    name: str
    version: int
    count: int
    first_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticVoters:
    """The voters in controller.quorum.voters of a server.properties."""

    ids: tuple[int, ...]
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One PATH: how far its state goes and which levels it has."""

    path: str
    missing: str = ""
    """The directory that its settings name, and that is not there."""
    node_id: int | None = None
    cluster_id: str | None = None
    end_offset: int = 0
    epoch: int = -1
    timestamp: int = -1
    metadata_version: int | None = None
    newest: bool = False
    """True if the report is made from it."""
    broker: bool = False
    log_dirs: int = 0
    """Of its server.properties; 0 where none was given."""
    static_voters: StaticVoters | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureReach:
    """The range in which a feature can change with the nodes as they are."""

    name: str
    level: int
    highest: int
    """The level that all registered nodes support."""
    expected: int
    """The default of the highest metadata.version that all of them support, where they allow it."""
    limited_by: tuple[str, ...] = ()
    """Nodes whose range ends there, where others' goes further."""

    @property
    def is_below(self) -> bool:
        return self.level < self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFeatures:
    """Everything that a plan is made from."""

    image: MetadataImage
    sources: tuple[Source, ...]
    levels: Mapping[str, FinalizedLevel]
    nodes: tuple[NodeSupport, ...]
    voters: tuple[int, ...] = ()
    """Of the KRaftVoters record; empty for a static quorum."""
    voter_ranges: Mapping[int, FeatureRange] | None = None
    static_voters: StaticVoters | None = None
    leader_id: int | None = None
    logged: tuple[LoggedType, ...] = ()
    whole: bool = True
    """True if nothing was found that bears on the state."""
    findings: tuple[Finding, ...] = ()

    @property
    def metadata_version(self) -> int | None:
        return self.image.features.metadata_version

    @property
    def kraft_version(self) -> int:
        return self.levels[KRAFT_VERSION].level

    def level(self, feature: str) -> int:
        finalized_level = self.levels.get(feature)
        return finalized_level.level if finalized_level is not None else 0

    @property
    def newest(self) -> Source:
        return next(source for source in self.sources if source.newest)

    def of(self, role: ProcessRole) -> tuple[NodeSupport, ...]:
        return tuple(node for node in self.nodes if node.role is role)
