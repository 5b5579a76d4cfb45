"""The document of `features -o json`."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.json_marks import Count, Ids, Moment
from kraftool.image.cluster import FeatureRange
from kraftool.image.metadata_version import METADATA_VERSION, level_name
from kraftool.reports.features.losses import FeatureLoss, NewerRecords
from kraftool.reports.features.model import (
    ClusterFeatures,
    FeatureReach,
    FeatureSource,
    FinalizedLevel,
    LevelSource,
    NodeSupport,
    ProcessRole,
    StaticVoters,
)
from kraftool.reports.features.plan import FeaturePlan, LevelChange
from kraftool.reports.features.rules import Blocker, RefusalRule, unregistered_voters
from kraftool.reports.features.target import Direction
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizedLevelObject:
    """A finalized level; kraft.version is of control records."""

    name: str
    level: int
    """0 where it was taken back, or never set."""
    level_name: str
    """Of metadata.version, such as 4.3-IV0; empty for the rest."""
    source: LevelSource
    """The source of the level; default: no record has it, so it is 0."""
    file: str
    offset: int | None
    """Of the record that last set it; null where the log does not reach back to it, or sets the
    feature again after damage."""
    timestamp: Moment | None
    """Of that record."""


def _name(feature: str, level: int) -> str:
    return level_name(level) if feature == METADATA_VERSION else ""


@form
def finalized_level_object(level: FinalizedLevel) -> FinalizedLevelObject:
    return FinalizedLevelObject(
        name=level.name,
        level=level.level,
        level_name=_name(level.name, level.level),
        source=level.evidence,
        file=level.file,
        offset=level.offset,
        timestamp=level.timestamp,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRangeObject:
    """The levels of a feature that a node supports."""

    feature: str
    min: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSupportObject:
    """A registration."""

    role: ProcessRole
    id: int
    is_fenced: bool
    software: str
    """The release that its range of metadata.version is of; empty for an unknown one."""
    log_directories: Count
    """The number that it registered; 0 if it did not say."""
    ranges: tuple[FeatureRangeObject, ...]
    """A feature that is not among them is not supported."""


@form
def node_support_object(node: NodeSupport) -> NodeSupportObject:
    return NodeSupportObject(
        role=node.role,
        id=node.id,
        is_fenced=node.fenced,
        software=node.software,
        log_directories=node.directories,
        ranges=tuple(
            _range(name, feature_range) for name, feature_range in sorted(node.ranges.items())
        ),
    )


def _range(feature: str, levels: FeatureRange) -> FeatureRangeObject:
    return FeatureRangeObject(feature=feature, min=levels.min, max=levels.max)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureReachObject:
    """The range in which a feature can change with the nodes as they are."""

    name: str
    level: int
    highest_level: int
    """The level that all registered nodes support."""
    highest_level_name: str
    expected_level: int
    """The default of the highest metadata.version that all of them support."""
    limited_by: tuple[str, ...]
    """Nodes that hold the others back."""
    is_below: bool
    """True if the level is below the expected one."""


@form
def feature_reach_object(reach: FeatureReach) -> FeatureReachObject:
    return FeatureReachObject(
        name=reach.name,
        level=reach.level,
        highest_level=reach.highest,
        highest_level_name=_name(reach.name, reach.highest),
        expected_level=reach.expected,
        limited_by=reach.limited_by,
        is_below=reach.is_below,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChangeObject:
    """One feature of a request: from where to where."""

    feature: str
    current_level: int
    current_level_name: str
    target_level: int
    target_level_name: str
    direction: Direction


@form
def level_change_object(change: LevelChange) -> LevelChangeObject:
    return LevelChangeObject(
        feature=change.feature,
        current_level=change.current,
        current_level_name=_name(change.feature, change.current),
        target_level=change.target,
        target_level_name=_name(change.feature, change.target),
        direction=change.direction,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockerObject:
    """Why Kafka's controller would refuse a change."""

    rule: RefusalRule
    feature: str
    level: int
    """The level that is asked for."""
    reason: str
    blocking_nodes: tuple[str, ...]
    """The nodes that cause it."""
    blocking_levels: tuple[int, ...]
    """The levels that cause it: a node's range, those that changed records, the one that is
    needed."""


@form
def blocker_object(blocker: Blocker) -> BlockerObject:
    return BlockerObject(
        rule=blocker.rule,
        feature=blocker.feature,
        level=blocker.level,
        reason=blocker.text,
        blocking_nodes=blocker.nodes,
        blocking_levels=blocker.levels,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLossObject:
    """State that a level which is asked for cannot hold."""

    what: str
    feature: str
    needed_level: int
    """The lowest level of the feature that holds it."""
    type_names: tuple[str, ...]
    """The record types whose newer versions or fields hold it."""
    count: int
    examples: tuple[str, ...]


@form
def feature_loss_object(loss: FeatureLoss) -> FeatureLossObject:
    return FeatureLossObject(
        what=loss.what,
        feature=loss.feature,
        needed_level=loss.needs,
        type_names=loss.records,
        count=loss.count,
        examples=loss.examples,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerRecordsObject:
    """Records in the log of a type or version that the target does not write."""

    name: str
    version: int
    needed_level: int
    records: Count
    first_offset: int


@form
def newer_records_object(newer: NewerRecords) -> NewerRecordsObject:
    return NewerRecordsObject(
        name=newer.name,
        version=newer.version,
        needed_level=newer.needs,
        records=newer.count,
        first_offset=newer.first_offset,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturePlanObject:
    """The result of a change."""

    target: str
    """As it was asked for."""
    is_blocked: bool
    changes: tuple[LevelChange, ...]
    blockers: tuple[Blocker, ...]
    """Why Kafka 4.3's controller would refuse it."""
    cautions: tuple[str, ...]
    """The side effects that Kafka would not refuse."""
    losses: tuple[FeatureLoss, ...]
    newer_records: tuple[NewerRecords, ...]
    commands: tuple[str, ...]
    """The commands to run, in this order; if the change is blocked, the part that would succeed."""


@form
def feature_plan_object(plan: FeaturePlan) -> FeaturePlanObject:
    return FeaturePlanObject(
        target=plan.target,
        is_blocked=plan.blocked,
        changes=plan.changes,
        blockers=plan.blockers,
        cautions=plan.cautions,
        losses=plan.losses,
        newer_records=plan.newer_records,
        commands=plan.commands,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerQuorumVoters:
    """controller.quorum.voters of a server.properties."""

    voters: Ids
    file: str


@form
def controller_quorum_voters(static: StaticVoters) -> ControllerQuorumVoters:
    return ControllerQuorumVoters(voters=static.ids, file=static.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceObject:
    """A PATH: how far its state goes and which levels it has."""

    path: str
    missing: str
    """The directory that a server.properties names, if it is not there; else empty."""
    node_id: int | None
    cluster_id: str | None
    end_offset: int
    """One beyond the last record that was read; 0 for settings alone."""
    epoch: int
    """Of the last record that is visible; -1 where there is none."""
    timestamp: Moment
    """Of the last record that is visible."""
    metadata_version: int | None
    is_newest: bool
    """True if the report is made from it."""
    is_broker: bool
    """True if its server.properties makes it a broker."""
    log_directories: Count
    """Of its server.properties; 0 where none was given."""
    controller_quorum_voters: StaticVoters | None


@form
def source_object(source: FeatureSource) -> SourceObject:
    return SourceObject(
        path=source.path,
        missing=source.directory.missing,
        node_id=source.node_id,
        cluster_id=source.cluster_id,
        end_offset=source.end_offset,
        epoch=source.last.last_epoch,
        timestamp=source.last.last_timestamp,
        metadata_version=source.metadata_version,
        is_newest=source.newest,
        is_broker=source.is_broker,
        log_directories=source.log_directories,
        controller_quorum_voters=source.static_voters,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturesDocument:
    """Feature levels of a cluster, who supports what, and what a change would meet."""

    sources: tuple[FeatureSource, ...]
    """The PATHs; an archive of several nodes has several."""
    offset: int
    """The state is that of all records below it."""
    features: tuple[FinalizedLevel, ...]
    nodes: tuple[NodeSupport, ...]
    voters: Ids
    """Of a dynamic quorum; empty for a static one."""
    controller_quorum_voters: StaticVoters | None
    """The values of a server.properties, if one was given and no record names voters."""
    unregistered_voters: Ids
    """Static voters that never registered: until they do, Kafka changes no feature."""
    reach: tuple[FeatureReach, ...]
    """Empty if no node is registered."""
    plan: FeaturePlan | None
    """null where no change was asked for."""
    findings: tuple[Finding, ...]
    finding_counts: FindingCounts

    @property
    def rows(self) -> tuple[FinalizedLevel, ...]:
        return self.features


def features_document(
    cluster: ClusterFeatures, reached: tuple[FeatureReach, ...], plan: FeaturePlan | None
) -> FeaturesDocument:
    return FeaturesDocument(
        sources=cluster.sources,
        offset=cluster.image.provenance.offset,
        features=tuple(cluster.levels.values()),
        nodes=cluster.nodes,
        voters=tuple(cluster.voters),
        controller_quorum_voters=cluster.static_voters,
        unregistered_voters=tuple(unregistered_voters(cluster)),
        reach=reached,
        plan=plan,
        findings=cluster.findings,
        finding_counts=finding_counts(cluster.findings),
    )
