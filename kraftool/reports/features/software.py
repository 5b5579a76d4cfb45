"""The software that a change of levels needs on the nodes: before it, and after it.

Owns the nodes as they would be after an upgrade of their software, and the one block that is no
refusal of Kafka's. It refuses to know ranges of releases that were not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kraftool.decoders.errors import KraftoolError
from kraftool.image.cluster import FeatureRange
from kraftool.image.metadata_version import (
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    RELEASE_RANGES,
    release_of,
)
from kraftool.reports.features.model import ClusterFeatures
from kraftool.reports.features.rules import Blocker, RefusalRule, blockers
from kraftool.reports.features.target import Direction, FeaturesRun

_MOST_TOLD = 3


def assume_nodes(cluster: ClusterFeatures, release: str) -> ClusterFeatures:
    """The cluster with every node's software at a release, registered as that release does."""
    release_ranges = RELEASE_RANGES.get(_short(release))
    if release_ranges is None:
        raise KraftoolError(
            f"the ranges of Kafka {release!r} are not known",
            hint=f"--assume-nodes takes {', '.join(RELEASE_RANGES)}",
        )
    ranges = {name: FeatureRange(low, high) for name, (low, high) in release_ranges.items()}
    voters = cluster.voter_ranges
    kraft = ranges.get(KRAFT_VERSION, FeatureRange(0, 0))
    return replace(
        cluster,
        nodes=tuple(replace(node, supported=ranges) for node in cluster.nodes),
        voter_ranges=None if voters is None else dict.fromkeys(voters, kraft),
    )


def _short(release: str) -> str:
    return ".".join(release.strip().split("-")[0].split(".")[:2])


def not_run_by(cluster: ClusterFeatures, asked: FeaturesRun) -> Iterator[Blocker]:
    """Kafka takes a level whose own release could not run the quorum as it is."""
    target = asked.levels.get(METADATA_VERSION)
    level = asked.levels.get(KRAFT_VERSION, cluster.kraft_version)
    if target is None or target >= (cluster.metadata_version or 0):
        return
    if any(
        feature.level == level and target < feature.default_from
        for feature in FEATURES[KRAFT_VERSION]
    ):
        release = release_of(target)
        yield Blocker(
            rule=RefusalRule.KRAFT_STAYS,
            feature=METADATA_VERSION,
            level=target,
            reason=f"kraft.version stays at {level} and cannot be downgraded: Kafka {release} does"
            " not support it and cannot run this quorum (the controller would accept the"
            " level)",
            blocking_levels=(level,),
        )


def order(
    cluster: ClusterFeatures, requests: Sequence[FeaturesRun], all_blockers: Sequence[Blocker]
) -> Iterator[str]:
    """Yield where nodes are too old: that this is the last step, and what would block it then."""
    target = max((request.levels.get(METADATA_VERSION, 0) for request in requests), default=0)
    raised = any(request.direction is Direction.UPGRADE for request in requests)
    behind = [
        blocker
        for blocker in all_blockers
        if blocker.rule is RefusalRule.RANGE and blocker.feature == METADATA_VERSION
    ]
    release = release_of(target)
    if not (behind and raised and target > (cluster.metadata_version or 0)):
        return
    words = (
        f"this is the last step of an upgrade: first run Kafka {release} on every node, one"
        " after another. Until then the levels stay as they are"
    )
    if release not in RELEASE_RANGES:
        yield words
        return
    assumed = assume_nodes(cluster, release)
    then = list(
        dict.fromkeys(blocker.reason for one in requests for blocker in blockers(assumed, one))
    )
    if then:
        more = "; …" if len(then) > _MOST_TOLD else ""
        yield f"{words}. It would then be blocked by: {'; '.join(then[:_MOST_TOLD])}{more}"
    else:
        yield f"{words}. No known reason would block it then (--assume-nodes {release})"
