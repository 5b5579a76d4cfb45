"""The document of `features -o json`."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.json_marks import Ids
from kraftool.reports.features.model import (
    ClusterFeatures,
    FeatureReach,
    FeatureSource,
    FinalizedLevel,
    NodeSupport,
    StaticVoters,
)
from kraftool.reports.features.plan import FeaturePlan
from kraftool.reports.features.rules import unregistered_voters
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_forms import FindingCounts, finding_counts


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
