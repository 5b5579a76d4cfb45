"""The result of a change of levels: its requests, blockers, cautions, losses, and what to run.

Owns the whole of the answer to `--to`, and how far each feature can go without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftool.decoders.json_marks import Hidden, in_json
from kraftool.image.metadata_version import (
    ELR_VERSION,
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    release_levels,
)
from kraftool.reports.features.cautions import cautions
from kraftool.reports.features.losses import FeatureLoss, NewerRecords, losses, newer_records
from kraftool.reports.features.model import ClusterFeatures, FeatureReach, name_of
from kraftool.reports.features.rules import Blocker, RefusalRule, blockers
from kraftool.reports.features.software import not_run_by, order
from kraftool.reports.features.target import Direction, FeaturesRun, request


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange:
    """One feature of a request: from where to where."""

    feature: str
    current_level: int
    target_level: int
    direction: Direction

    @property
    @in_json
    def current_level_name(self) -> str:
        return name_of(self.feature, self.current_level)

    @property
    @in_json
    def target_level_name(self) -> str:
        return name_of(self.feature, self.target_level)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturePlan:
    """The result of a change."""

    target: str
    """As it was asked for."""
    changes: tuple[LevelChange, ...]
    blockers: tuple[Blocker, ...]
    """Why Kafka 4.3's controller would refuse it."""
    cautions: tuple[str, ...]
    """The side effects that Kafka would not refuse."""
    losses: tuple[FeatureLoss, ...] = ()
    newer_records: tuple[NewerRecords, ...] = ()
    runs: Hidden[tuple[FeaturesRun, ...]] = ()

    @property
    @in_json
    def is_blocked(self) -> bool:
        return bool(self.blockers)

    @property
    @in_json
    def commands(self) -> tuple[str, ...]:
        """The commands to run, in this order; if the change is blocked, the part that would
        succeed."""
        return tuple(" ".join(run.words()) for run in self.runs)


def plan(cluster: ClusterFeatures, to: str, features: Sequence[str]) -> FeaturePlan:
    """Work out a change. Raises KraftoolError where nobody can tell what is asked for."""
    requests = request(cluster, to, features)
    all_blockers = tuple(
        blocker
        for one in requests
        for blocker in (*blockers(cluster, one), *not_run_by(cluster, one))
    )
    levels = {name: level for run in requests for name, level in run.levels.items()}
    current = cluster.metadata_version or 0
    target = levels.get(METADATA_VERSION, current)
    lower = target < current
    had_elr = cluster.level(ELR_VERSION)
    # What an earlier level left in partitions is no loss where the feature is off already.
    elr = levels.get(ELR_VERSION, had_elr) if had_elr else 1
    loses = lower or elr < had_elr
    return FeaturePlan(
        target=" ".join([*([to] if to else []), *features]),
        changes=tuple(
            LevelChange(
                feature=name,
                current_level=cluster.level(name),
                target_level=level,
                direction=run.direction,
            )
            for run in requests
            for name, level in run.levels.items()
        ),
        blockers=all_blockers,
        cautions=(*order(cluster, requests, all_blockers), *cautions(cluster, requests)),
        losses=losses(cluster.image, target, elr) if loses else (),
        newer_records=newer_records(cluster.logged, target) if lower else (),
        runs=_part(cluster, requests, all_blockers)
        if all_blockers
        else tuple(run for run in requests if _does_something(cluster, run)),
    )


def _does_something(cluster: ClusterFeatures, asked: FeaturesRun) -> bool:
    return any(level != cluster.level(name) for name, level in asked.levels.items())


def _part(
    cluster: ClusterFeatures, requests: Sequence[FeaturesRun], all_blockers: Sequence[Blocker]
) -> tuple[FeaturesRun, ...]:
    """The changes that would go through without the features that are in the way.

    Only where metadata.version itself is not in the way: then the rest is worth little.
    """
    stopped = {blocker.feature for blocker in all_blockers}
    if METADATA_VERSION in stopped or any(
        blocker.rule is RefusalRule.NOT_REGISTERED for blocker in all_blockers
    ):
        return ()
    rest = [
        FeaturesRun(
            direction=run.direction,
            levels={
                name: level
                for name, level in run.levels.items()
                if name not in stopped and level != cluster.level(name)
            },
        )
        for run in requests
    ]
    return tuple(
        run
        for run in rest
        if run.levels and not (blockers(cluster, run) or any(not_run_by(cluster, run)))
    )


def reach(cluster: ClusterFeatures) -> tuple[FeatureReach, ...]:
    """Return how far each feature could go with the registered nodes; nothing where none is
    known.
    """
    if not cluster.nodes:
        return ()
    names = [
        METADATA_VERSION,
        KRAFT_VERSION,
        *(feature for feature in FEATURES if feature != KRAFT_VERSION),
    ]
    names += sorted(
        {name for node in cluster.nodes for name in node.supported if name not in names}
    )
    highest = {name: min(support.range_of(name).max for support in cluster.nodes) for name in names}
    defaults = release_levels(highest[METADATA_VERSION])
    reaches = []
    for name in names:
        ends = [(support.range_of(name).max, support.label) for support in cluster.nodes]
        most = max(ends)[0]
        if most == 0 and not cluster.level(name):
            continue
        reaches.append(
            FeatureReach(
                name=name,
                level=cluster.level(name),
                highest_level=highest[name],
                expected_level=min(highest[name], defaults.get(name, 0)),
                limited_by=tuple(label for end, label in ends if highest[name] == end < most),
            )
        )
    return tuple(reaches)
