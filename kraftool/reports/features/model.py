"""The report on a cluster's features, as values.

Owns the read model: it is the same however the facts were obtained, from directories or from a
running node. It refuses to decide what a change would meet; that is `plan.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kraftool.directory.log_summary import TypeCount
from kraftool.directory.metadata_summary import NodeIds
from kraftool.directory.node_directory import NodeDirectory
from kraftool.image.cluster import FeatureRange
from kraftool.image.image import MetadataImage, Provenance
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION, release_of
from kraftool.reports.findings.finding import Finding
from kraftool.reports.state.load import LoadedState

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
    where the log does not reach back to it, or is damaged between it and a later one."""

    name: str
    level: int
    evidence: LevelSource = LevelSource.DEFAULT
    file: str = ""
    offset: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticVoters:
    """The voters in controller.quorum.voters of a server.properties."""

    ids: tuple[int, ...]
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSource:
    """A directory with its last state, which settings alone do not have."""

    directory: NodeDirectory
    state: LoadedState | None = None
    findings: tuple[Finding, ...] = ()
    """Those that bear on the state."""
    newest: bool = False
    """True if the report is made from it."""

    @property
    def path(self) -> str:
        return self.directory.name

    @property
    def node_id(self) -> int | None:
        node, settings = self.directory.node, self.directory.settings
        return settings.node_id if settings is not None and node == NodeIds() else node.node_id

    @property
    def cluster_id(self) -> str | None:
        return self.directory.node.cluster_id

    @property
    def end_offset(self) -> int:
        return self.state.end_offset if self.state is not None else 0

    @property
    def last(self) -> Provenance:
        """The last record of the state."""
        return self.state.image.provenance if self.state is not None else Provenance()

    @property
    def metadata_version(self) -> int | None:
        return self.state.image.features.metadata_version if self.state is not None else None

    @property
    def is_broker(self) -> bool:
        return bool(self.directory.plays("broker"))

    @property
    def log_directories(self) -> int:
        """Of its server.properties; 0 where none was given."""
        settings = self.directory.settings
        return settings.log_directories if settings is not None else 0

    @property
    def static_voters(self) -> StaticVoters | None:
        settings = self.directory.settings
        if settings is None or not settings.static_voters:
            return None
        return StaticVoters(ids=tuple(sorted(settings.static_voters.ids)), file=settings.file)


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
    sources: tuple[FeatureSource, ...]
    levels: Mapping[str, FinalizedLevel]
    nodes: tuple[NodeSupport, ...]
    voters: tuple[int, ...] = ()
    """Of the KRaftVoters record; empty for a static quorum."""
    voter_ranges: Mapping[int, FeatureRange] | None = None
    static_voters: StaticVoters | None = None
    leader_id: int | None = None
    logged: tuple[TypeCount, ...] = ()
    """The record types that the log still has."""
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
    def newest(self) -> FeatureSource:
        return next(source for source in self.sources if source.newest)

    def of(self, role: ProcessRole) -> tuple[NodeSupport, ...]:
        return tuple(node for node in self.nodes if node.role is role)
