"""The rules of Kafka 4.3's controller that block a change of a feature's level.

Owns the rules of FeatureControlManager and of the raft layer for kraft.version, each blocker with
the node or the level that causes it. Where Kafka stops at the first, all are told. What only a
running leader knows is not judged here; `cautions.py` says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders.schema import NEWEST_RELEASE
from kraftool.image.metadata_version import (
    CONTROLLER_REGISTRATION_LEVEL,
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    OLDEST_KRAFT_LEVEL,
    changed_between,
    level_name,
    needs_of,
)
from kraftool.reports.features.model import ClusterFeatures, NodeSupport, ProcessRole
from kraftool.reports.features.target import Direction, FeaturesRun

_KRAFT_UPGRADES_FROM = 26
"""4.1-IV0: the first release that upgrades kraft.version; 3.9 claims to, 4.0 refuses."""


class RefusalRule(StrEnum):
    """Why a change is refused."""

    RANGE = "range of a node"
    NOT_REGISTERED = "voter not registered"
    DIRECTION = "direction"
    FLOOR = "floor"
    CHANGED_RECORDS = "changed records"
    UNKNOWN_LEVEL = "unknown level"
    UNKNOWN_FEATURE = "unknown feature"
    DEPENDENCY = "dependency"
    KRAFT_DOWNGRADE = "kraft.version downgrade"
    KRAFT_STAYS = "kraft.version stays"
    KRAFT_VOTERS = "voters without support"
    KRAFT_SOFTWARE = "software too old for kraft.version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """Why Kafka's controller would refuse a change."""

    rule: RefusalRule
    feature: str
    level: int
    """The level that is asked for."""
    reason: str
    blocking_nodes: tuple[str, ...] = ()
    """The nodes that cause it."""
    blocking_levels: tuple[int, ...] = ()
    """The levels that cause it: a node's range, those that changed records, the one that is
    needed."""


def named(feature: str, level: int) -> str:
    """A level with its name, as `30 (4.3-IV0)`."""
    name = level_name(level) if feature == METADATA_VERSION else ""
    return f"{level} ({name})" if name else str(level)


def blockers(cluster: ClusterFeatures, request: FeaturesRun) -> tuple[Blocker, ...]:
    """Everything that Kafka would refuse the request for."""
    proposed = {
        name: finalized_level.level for name, finalized_level in cluster.levels.items()
    } | dict(request.levels)
    all_blockers: list[Blocker] = []
    for feature, level in request.levels.items():
        case = _Case(cluster, request.direction, proposed, feature, level)
        unknown = list(_known(case))
        all_blockers += unknown
        for rule in _RULES:
            # What no Kafka has, no node has: once is enough.
            if not (unknown and rule is _range):
                all_blockers += rule(case)
    return tuple(all_blockers)


@dataclass(frozen=True, slots=True)
class _Case:
    cluster: ClusterFeatures
    direction: Direction
    proposed: Mapping[str, int]
    feature: str
    level: int

    @property
    def current(self) -> int:
        return self.cluster.level(self.feature)

    def blocker(
        self,
        rule: RefusalRule,
        text: str,
        nodes: tuple[str, ...] = (),
        levels: tuple[int, ...] = (),
    ) -> Blocker:
        return Blocker(
            rule=rule,
            feature=self.feature,
            level=self.level,
            reason=text,
            blocking_nodes=nodes,
            blocking_levels=levels,
        )


def checked_nodes(cluster: ClusterFeatures) -> tuple[NodeSupport, ...]:
    """Return whose ranges Kafka looks at: fenced brokers too, controllers once they register."""
    if (cluster.metadata_version or 0) >= CONTROLLER_REGISTRATION_LEVEL:
        return cluster.nodes
    return cluster.of(ProcessRole.BROKER)


def _range(case: _Case) -> Iterator[Blocker]:
    for node in checked_nodes(case.cluster):
        supported = node.range_of(case.feature)
        if supported.min <= case.level <= supported.max:
            continue
        if supported.max == 0:
            text = f"{node.label} does not support {case.feature}"
        else:
            lowest, highest = (named(case.feature, level) for level in supported)
            text = f"{node.label} supports {case.feature} only from {lowest} to {highest}"
        if node.is_fenced:
            text += (
                ". It is fenced: kafka-cluster.sh unregister removes a broker that is gone for good"
            )
        yield case.blocker(RefusalRule.RANGE, text, nodes=(node.label,), levels=tuple(supported))


def unregistered_voters(cluster: ClusterFeatures) -> tuple[int, ...]:
    """Static voters without a registration. The leader counts as there: it answers for itself."""
    if (cluster.metadata_version or 0) < CONTROLLER_REGISTRATION_LEVEL:
        return ()
    if cluster.static_voters is None:
        return ()
    there = {support.id for support in cluster.of(ProcessRole.CONTROLLER)} | {cluster.leader_id}
    return tuple(
        static_voter_id
        for static_voter_id in cluster.static_voters.voters
        if static_voter_id not in there
    )


def _not_registered(case: _Case) -> Iterator[Blocker]:
    static = case.cluster.static_voters
    for id in unregistered_voters(case.cluster):
        assert static is not None, "its ids were looked at"
        text = f"controller {id} is in controller.quorum.voters but never registered"
        yield case.blocker(RefusalRule.NOT_REGISTERED, text, nodes=(f"controller {id}",))


def _direction(case: _Case) -> Iterator[Blocker]:
    if case.direction is Direction.UPGRADE and case.level < 1:
        text = f"an upgrade does not take {case.feature} to 0: that is a downgrade"
    elif case.direction is Direction.UPGRADE and case.level < case.current:
        text = f"an upgrade does not lower {case.feature}: it is at {case.current}"
    elif case.direction is Direction.DOWNGRADE and case.level > case.current:
        text = f"a downgrade does not raise {case.feature}: it is at {case.current}"
    else:
        return
    yield case.blocker(RefusalRule.DIRECTION, text, levels=(case.current,))


def _floor(case: _Case) -> Iterator[Blocker]:
    if case.feature == METADATA_VERSION and case.level < OLDEST_KRAFT_LEVEL:
        text = f"Kafka 4 starts at metadata.version {named(METADATA_VERSION, OLDEST_KRAFT_LEVEL)}"
        yield case.blocker(RefusalRule.FLOOR, text, levels=(OLDEST_KRAFT_LEVEL,))


def is_known(feature: str, level: int) -> bool:
    """True if a known release of Kafka has this level as a production level."""
    if feature == METADATA_VERSION:
        return bool(level_name(level))
    return level <= max((level_rule.level for level_rule in FEATURES.get(feature, ())), default=-1)


def _known(case: _Case) -> Iterator[Blocker]:
    """A newer Kafka may have it; then its nodes say that they support it."""
    nodes = [checked_node.range_of(case.feature) for checked_node in checked_nodes(case.cluster)]
    supported = any(0 < node.max >= case.level for node in nodes)
    if supported or is_known(case.feature, case.level):
        return
    if case.feature == METADATA_VERSION or case.feature in FEATURES:
        text = f"no Kafka up to {NEWEST_RELEASE} has {case.feature} {case.level}"
        yield case.blocker(RefusalRule.UNKNOWN_LEVEL, text)
    else:
        text = f"no Kafka up to {NEWEST_RELEASE} has a feature {case.feature}"
        yield case.blocker(RefusalRule.UNKNOWN_FEATURE, text)


def _changed_records(case: _Case) -> Iterator[Blocker]:
    if case.feature != METADATA_VERSION or case.level >= case.current:
        return
    changed = changed_between(case.level, case.current)
    if changed:
        names = ", ".join(named(METADATA_VERSION, level) for level in changed)
        text = f"records changed at {names}: Kafka refuses, even with --unsafe; "
        if changed[-1] == case.current:
            text += "there is no lower level from here"
        else:
            text += f"{named(METADATA_VERSION, changed[-1])} is the lowest possible level"
        yield case.blocker(RefusalRule.CHANGED_RECORDS, text, levels=changed)


def _kraft_version(case: _Case) -> Iterator[Blocker]:
    if case.feature != KRAFT_VERSION:
        return
    if case.level < case.current:
        text = "kraft.version cannot be downgraded: the quorum stays dynamic"
        yield case.blocker(RefusalRule.KRAFT_DOWNGRADE, text, levels=(case.current,))
    elif case.level > case.current and case.direction is Direction.UPGRADE:
        yield from _kraft_upgrade(case)


def _kraft_upgrade(case: _Case) -> Iterator[Blocker]:
    for node in case.cluster.of(ProcessRole.CONTROLLER):
        highest = node.range_of(METADATA_VERSION).max
        if 0 < highest < _KRAFT_UPGRADES_FROM:
            text = f"{node.label} runs Kafka {node.software}, which cannot upgrade kraft.version"
            if node.software == "3.9":
                text += " (it reports success, but the quorum stays static)"
            yield case.blocker(
                RefusalRule.KRAFT_SOFTWARE, text, nodes=(node.label,), levels=(highest,)
            )
    for id, supported in (case.cluster.voter_ranges or {}).items():
        if not supported.min <= case.level <= supported.max:
            text = f"voter {id} supports kraft.version only from {supported.min} to {supported.max}"
            yield case.blocker(RefusalRule.KRAFT_VOTERS, text, nodes=(f"voter {id}",))


def _dependencies(case: _Case) -> Iterator[Blocker]:
    if case.feature in (METADATA_VERSION, KRAFT_VERSION) or case.level < 1:
        return
    needs = {METADATA_VERSION: OLDEST_KRAFT_LEVEL, **dict(needs_of(case.feature, case.level))}
    for other, lowest in needs.items():
        there = case.proposed.get(other, 0)
        if there < lowest:
            text = (
                f"{case.feature} {case.level} needs {other} {named(other, lowest)} or higher,"
                f" but it would be {named(other, there)}"
            )
            yield case.blocker(RefusalRule.DEPENDENCY, text, levels=(lowest,))


_RULES: tuple[Callable[[_Case], Iterator[Blocker]], ...] = (
    _floor, _range, _not_registered, _direction, _changed_records, _kraft_version, _dependencies,
)  # fmt: skip
