"""The report on a cluster's features, as values.

Owns the read model: it is the same however the facts were obtained, from directories or from a
running node. It refuses to decide what a change would meet; that is `plan.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders.json_marks import Count, Hidden, Ids, Moment, in_json
from kraftool.directory.log_summary import TypeCount
from kraftool.directory.metadata_summary import NodeIds
from kraftool.directory.node_directory import NodeDirectory
from kraftool.image.cluster import FeatureRange
from kraftool.image.image import MetadataImage, Provenance
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION, level_name, release_of
from kraftool.reports.findings.finding import Finding
from kraftool.reports.state.load import LoadedState

NOT_SUPPORTED = FeatureRange(0, 0)
"""What Kafka takes a feature's range to be that a node does not name."""


def name_of(feature: str, level: int) -> str:
    """The name of a level of metadata.version, such as 4.3-IV0; empty for the rest."""
    return level_name(level) if feature == METADATA_VERSION else ""


class ProcessRole(StrEnum):
    """The role with which a node registered; a node with both roles does so twice."""

    BROKER = "broker"
    CONTROLLER = "controller"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedLevels:
    """The levels of a feature that a node supports."""

    feature: str
    min: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSupport:
    """A registration with the ranges that it names."""

    role: ProcessRole
    id: int
    supported: Hidden[Mapping[str, FeatureRange]]
    is_fenced: bool = False
    log_directories: Count = 0
    """The number that it registered; 0 if it did not say."""

    @property
    def label(self) -> str:
        return f"{self.role.value} {self.id}"

    def range_of(self, feature: str) -> FeatureRange:
        return self.supported.get(feature, NOT_SUPPORTED)

    @property
    @in_json
    def software(self) -> str:
        """The release that its range of metadata.version is of; empty for an unknown one."""
        return release_of(self.range_of(METADATA_VERSION).max)

    @property
    @in_json
    def ranges(self) -> tuple[SupportedLevels, ...]:
        """A feature that is not among them is not supported."""
        return tuple(
            SupportedLevels(feature=name, min=levels.min, max=levels.max)
            for name, levels in sorted(self.supported.items())
        )


class LevelSource(StrEnum):
    """The source of a level."""

    LOG = "log"
    SNAPSHOT = "snapshot"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizedLevel:
    """A finalized level; kraft.version is of control records."""

    name: str
    level: int
    """0 where it was taken back, or never set."""
    source: LevelSource = LevelSource.DEFAULT
    """The source of the level; default: no record has it, so it is 0."""
    file: str = ""
    offset: int | None = None
    """Of the record that last set it; null where the log does not reach back to it, or sets the
    feature again after damage."""
    timestamp: Moment | None = None
    """Of that record."""

    @property
    @in_json
    def level_name(self) -> str:
        """Of metadata.version, such as 4.3-IV0; empty for the rest."""
        return name_of(self.name, self.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticVoters:
    """controller.quorum.voters of a server.properties."""

    voters: Ids
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSource:
    """A PATH: how far its state goes and which levels it has. Settings alone have no state."""

    directory: Hidden[NodeDirectory]
    state: Hidden[LoadedState | None] = None
    findings: Hidden[tuple[Finding, ...]] = ()
    """Those that bear on the state."""
    is_newest: bool = False
    """True if the report is made from it."""

    @property
    @in_json
    def path(self) -> str:
        return self.directory.name

    @property
    @in_json
    def missing(self) -> str:
        """The directory that a server.properties names, if it is not there; else empty."""
        return self.directory.missing

    @property
    @in_json
    def node_id(self) -> int | None:
        node, settings = self.directory.node, self.directory.settings
        return settings.node_id if settings is not None and node == NodeIds() else node.node_id

    @property
    @in_json
    def cluster_id(self) -> str | None:
        return self.directory.node.cluster_id

    @property
    @in_json
    def end_offset(self) -> int:
        """One beyond the last record that was read; 0 for settings alone."""
        return self.state.end_offset if self.state is not None else 0

    @property
    @in_json
    def epoch(self) -> int:
        """Of the last record that is visible; -1 where there is none."""
        return self.last.last_epoch

    @property
    @in_json
    def timestamp(self) -> Moment:
        """Of the last record that is visible."""
        return self.last.last_timestamp

    @property
    def last(self) -> Provenance:
        """The last record of the state."""
        return self.state.image.provenance if self.state is not None else Provenance()

    @property
    @in_json
    def metadata_version(self) -> int | None:
        return self.state.image.features.metadata_version if self.state is not None else None

    @property
    @in_json
    def is_broker(self) -> bool:
        """True if its server.properties makes it a broker."""
        return bool(self.directory.plays("broker"))

    @property
    @in_json
    def log_directories(self) -> Count:
        """Of its server.properties; 0 where none was given."""
        settings = self.directory.settings
        return settings.log_directories if settings is not None else 0

    @property
    @in_json
    def controller_quorum_voters(self) -> StaticVoters | None:
        settings = self.directory.settings
        if settings is None or not settings.static_voters:
            return None
        return StaticVoters(voters=tuple(sorted(settings.static_voters.ids)), file=settings.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureReach:
    """The range in which a feature can change with the nodes as they are."""

    name: str
    level: int
    highest_level: int
    """The level that all registered nodes support."""
    expected_level: int
    """The default of the highest metadata.version that all of them support."""
    limited_by: tuple[str, ...] = ()
    """Nodes that hold the others back."""

    @property
    @in_json
    def highest_level_name(self) -> str:
        return name_of(self.name, self.highest_level)

    @property
    @in_json
    def is_below(self) -> bool:
        """True if the level is below the expected one."""
        return self.level < self.expected_level


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
        return next(source for source in self.sources if source.is_newest)

    def of(self, role: ProcessRole) -> tuple[NodeSupport, ...]:
        return tuple(node for node in self.nodes if node.role is role)
