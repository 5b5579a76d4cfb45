"""Side effects of a change that Kafka would not refuse, and what only a leader knows.

Owns sentences about order and about what cannot be undone. It refuses to block: a caution is no
reason for Kafka to say no.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.schema import NEWEST_RELEASE
from kraftool.image.metadata_version import (
    CONTROLLER_REGISTRATION_LEVEL,
    DIRECTORIES_LEVEL,
    ELR_VERSION,
    KRAFT_VERSION,
    METADATA_VERSION,
    RELEASE_RANGES,
    changed_between,
    needs_of,
    release_of,
)
from kraftool.reports.features.model import ClusterFeatures, ProcessRole
from kraftool.reports.features.rules import is_known, named
from kraftool.reports.features.target import Direction, FeaturesRun


def cautions(cluster: ClusterFeatures, requests: tuple[FeaturesRun, ...]) -> tuple[str, ...]:
    """In the order in which they matter to somebody about to do it."""
    levels = {name: level for request in requests for name, level in request.levels.items()}
    proposed = {
        name: finalized_level.level for name, finalized_level in cluster.levels.items()
    } | levels
    current = cluster.metadata_version or 0
    target = levels.get(METADATA_VERSION, current)
    return (
        *_unseen(cluster, current, levels),
        *_metadata_version(cluster, current, target),
        *_kraft_version(cluster, requests),
        *_elr(cluster, levels),
        *_left_behind(proposed, target, current),
    )


def _unseen(cluster: ClusterFeatures, current: int, levels: dict[str, int]) -> Iterator[str]:
    if not cluster.whole:
        yield "the log is damaged: records after the damage are unknown here"
    if current < CONTROLLER_REGISTRATION_LEVEL:
        text = (
            "controllers register from metadata.version 15 (3.7-IV0) on. Kafka checks only"
            " brokers, so make sure that every controller runs the new release"
        )
        voters = cluster.static_voters.voters if cluster.static_voters is not None else ()
        yield text + (f" ({', '.join(map(str, voters))})" if voters else "")
    else:
        there = {support.id for support in cluster.of(ProcessRole.CONTROLLER)}
        for id in cluster.voters:
            if id not in there:
                yield (
                    f"voter {id} never registered. With a dynamic quorum Kafka does not check"
                    " that, and the voter stops if it does not support the level"
                )
    for name, level in levels.items():
        if not is_known(name, level) and level <= _highest(cluster, name):
            yield (
                f"{name} {level} is from a Kafka newer than {NEWEST_RELEASE}: its rules are"
                " not known here"
            )


def _highest(cluster: ClusterFeatures, feature: str) -> int:
    return max((node.range_of(feature).max for node in cluster.nodes), default=0)


def _metadata_version(cluster: ClusterFeatures, current: int, target: int) -> Iterator[str]:
    changed = changed_between(current, target)
    if changed:
        lowest = named(METADATA_VERSION, changed[-1])
        yield (
            f"this cannot be undone: records change, so you cannot downgrade below {lowest}"
            " afterwards"
        )
    if current < DIRECTORIES_LEVEL <= target:
        yield (
            "brokers register again at 3.7-IV2, with the directories that they have; brokers with"
            " several log directories fail before that level"
        )
    if target < DIRECTORIES_LEVEL:
        several = [node.label for node in cluster.nodes if node.log_directories > 1]
        several += [
            f"broker {source.node_id}"
            for source in cluster.sources
            if source.is_broker
            and source.log_directories > 1
            and f"broker {source.node_id}" not in several
        ]
        for label in several:
            yield f"{label} has several log directories, which fail below 3.7-IV2"


def _kraft_version(cluster: ClusterFeatures, requests: tuple[FeaturesRun, ...]) -> Iterator[str]:
    raised = (
        request.levels.get(KRAFT_VERSION, 0)
        for request in requests
        if request.direction is Direction.UPGRADE
    )
    if max(raised, default=0) <= cluster.kraft_version:
        return
    yield (
        "kraft.version: only the running leader knows whether every voter has reported its"
        " directory id (UpdateRaftVoter) since the leader's start. Until then Kafka refuses"
        " the whole request. Wait until all voters run the new release and fetch, then try"
        " --dry-run"
    )
    yield (
        "kraft.version cannot be downgraded. Afterwards replace controller.quorum.voters with"
        " controller.quorum.bootstrap.servers on every node"
    )


def _elr(cluster: ClusterFeatures, levels: dict[str, int]) -> Iterator[str]:
    if levels.get(ELR_VERSION, 0) > cluster.level(ELR_VERSION):
        yield (
            "eligible.leader.replicas.version: Kafka also writes a cluster-wide"
            " min.insync.replicas, and removes those of single brokers"
        )


def _left_behind(proposed: dict[str, int], target: int, current: int) -> Iterator[str]:
    """Features that stay where the target's release or the new levels do not carry them."""
    ranges = RELEASE_RANGES.get(release_of(target), {}) if target < current else {}
    for name, level in proposed.items():
        if name == METADATA_VERSION or level == 0:
            continue
        lowest, highest = ranges.get(name, (0, 0))
        # kraft.version cannot be lowered: `rules.py` blocks the change.
        if ranges and name != KRAFT_VERSION and not lowest <= level <= highest:
            yield (
                f"{name} stays at {level}, which Kafka {release_of(target)} does not support:"
                " its nodes would not register. Lower it first"
            )
        for other, needed in needs_of(name, level):
            if other == METADATA_VERSION and proposed.get(other, 0) < needed:
                lowest_level = named(other, needed)
                yield f"{name} {level} needs {other} {lowest_level}, but Kafka does not check that"
