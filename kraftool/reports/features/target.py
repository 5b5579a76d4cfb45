"""The change that is asked for: a release, levels of features, and the request of kafka-features.

Owns the words of `--to` and `--feature`. A release stands for its metadata.version and for the
default of every other feature at that level; an upgrade leaves out those whose default is 0, as
kafka-features does. Its 3.x versions know `--metadata` only, which sends metadata.version alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders.errors import KraftoolError
from kraftool.image.metadata_version import (
    KAFKA_4_LEVEL,
    LATEST_LEVEL,
    METADATA_VERSION,
    OLDEST_KRAFT_LEVEL,
    level_name,
    level_of,
    release_levels,
)
from kraftool.reports.features.model import ClusterFeatures

_HIGHEST = (1 << 15) - 1


class Direction(StrEnum):
    """The direction of a request: one request has one for all its features."""

    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturesRun:
    """The request of one run of kafka-features. `release` is its argument, where one is meant."""

    direction: Direction
    levels: Mapping[str, int]
    release: str = ""
    release_option: str = ""

    def words(self) -> tuple[str, ...]:
        """Return how it is run, in pieces that belong together. HOST is left to the reader."""
        head = f"kafka-features.sh --bootstrap-server HOST:9092 {self.direction.value}"
        if self.release:
            return head, f"{self.release_option} {self.release}"
        return head, *(f"--feature {name}={level}" for name, level in self.levels.items())


def parse_release(text: str) -> int:
    """The metadata.version that a release or a level's name stands for."""
    level = level_of(text.strip())
    if level is None:
        oldest, newest = level_name(OLDEST_KRAFT_LEVEL), level_name(LATEST_LEVEL)
        raise KraftoolError(
            f"no Kafka up to {newest} has a metadata.version {text!r}",
            hint=f"for example 4.3, or a level from 3.0-IV1 and {oldest} to {newest}",
        )
    return level


def parse_level(text: str) -> tuple[str, int]:
    """`NAME=LEVEL`; a metadata.version may be named."""
    name, mark, level = (part.strip() for part in text.partition("="))
    if name == METADATA_VERSION and mark and not level.isdecimal():
        return name, parse_release(level)
    if not (name and level.isascii() and level.isdecimal() and int(level) <= _HIGHEST):
        raise KraftoolError(
            f"--feature {text!r} is not NAME=LEVEL", hint="for example --feature share.version=1"
        )
    return name, int(level)


def request(cluster: ClusterFeatures, to: str, features: Sequence[str]) -> tuple[FeaturesRun, ...]:
    """Return what would be sent. Features that go both ways take two requests, the downgrade
    first.
    """
    wanted: dict[str, int] = {}
    for feature in features:
        name, level = parse_level(feature)
        if name in wanted:
            raise KraftoolError(f"--feature {name} is given twice")
        wanted[name] = level
    if to:
        return (_release(cluster, to, wanted),)
    down = {
        name: level
        for name, level in wanted.items()
        if level < max(cluster.level(name), 1)  # to 0 is a downgrade, from 0 too
    }
    up = {name: level for name, level in wanted.items() if name not in down}
    both = ((Direction.DOWNGRADE, down), (Direction.UPGRADE, up))
    return tuple(FeaturesRun(direction=way, levels=levels) for way, levels in both if levels)


def _release(cluster: ClusterFeatures, to: str, wanted: Mapping[str, int]) -> FeaturesRun:
    level = parse_release(to)
    current = cluster.metadata_version or 0
    direction = Direction.DOWNGRADE if level < current else Direction.UPGRADE
    old_tools = _has_old_tools(cluster)
    levels = {METADATA_VERSION: level} if old_tools else release_levels(level)
    if direction is Direction.UPGRADE:
        levels = {name: new_level for name, new_level in levels.items() if new_level > 0}
    levels |= wanted
    return FeaturesRun(
        direction=direction,
        levels=levels,
        release="" if wanted else to.strip(),
        release_option="--metadata" if old_tools else "--release-version",
    )


def _has_old_tools(cluster: ClusterFeatures) -> bool:
    """True if all nodes run Kafka 3, whose kafka-features has no --release-version."""
    highest = [node.range_of(METADATA_VERSION).max for node in cluster.nodes]
    return bool(highest) and max(highest) < KAFKA_4_LEVEL
