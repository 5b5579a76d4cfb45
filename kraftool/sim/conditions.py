"""The what-ifs of a simulated election: nodes that are down, cut off or slow, and changes of
voters.

Owns the conditions and how they are written on the command line and in scenarios.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, NamedTuple

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import IDS, Hidden, Ids

MOST_NODES = 64
_LONGEST_DELAY_MS = 60_000
_GROUP = re.compile(r"[0-9]{1,9}(?:,[0-9]{1,9})*")


class ConditionError(KraftoolError):
    """A what-if that cannot be understood."""


class StartPace(StrEnum):
    """The ways in which the nodes of a run start."""

    TOGETHER = "together"
    """At random within `start_within_ms`."""
    APART = "apart"
    """One after another, in any order, with `GAP_MS` between two of them."""


class CutLink(NamedTuple):
    """A direction in which nothing gets through."""

    from_id: int
    to_id: int


GAP_MS = (500, 4000)
"""Between two starts by hand, by systemd on several hosts, or on a slow machine."""
_LONGEST_START_MS = 20_000
"""All nodes of a large quorum start within this time, too."""
LISTENING_MS = (100, 1000)
"""From the first step of a controller's raft thread until its listener is open, as measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The circumstances of the election."""

    down: Annotated[frozenset[int], IDS] = frozenset()
    """Nodes that are down."""
    cut: frozenset[CutLink] = frozenset()
    delay_ms: int = 5
    """The average time of a message, one way."""
    start_within_ms: int = 2500
    """All nodes of a run start within this time, if they start together."""
    starts: tuple[StartPace, ...] = (StartPace.TOGETHER, StartPace.APART)
    """The way in which the nodes of a run start; the runs alternate between them. apart: one after
    another."""
    added_voters: Ids = ()
    removed_voters: Ids = ()
    partitions: Hidden[tuple[str, ...]] = field(default=(), compare=False)
    """As they were written."""

    @property
    def shortest_ms(self) -> int:
        """Return what a message takes at least; 1, as nothing takes no time."""
        return max(self.delay_ms // 2, 1)

    @property
    def longest_ms(self) -> int:
        return max(self.delay_ms + (self.delay_ms + 1) // 2, 1)

    def pace_of(self, seed: int) -> StartPace:
        """Return how the nodes of the run with this seed start."""
        return self.starts[seed % len(self.starts)]

    def longest_start_ms(self, nodes: int) -> int:
        """Return the latest time at which the last of so many nodes starts."""
        apart = self.gap_ms(nodes)[1] * max(nodes - 1, 0) if StartPace.APART in self.starts else 0
        return max(self.start_within_ms, apart)

    def gap_ms(self, nodes: int) -> tuple[int, int]:
        """Return the shortest and the longest time between two starts of so many nodes."""
        least, most = GAP_MS
        most = min(most, _LONGEST_START_MS // max(nodes - 1, 1))
        return min(least, most), most

    def without(self, nodes: Iterable[int]) -> Conditions:
        return replace(self, down=self.down | frozenset(nodes))

    def passes(self, source: int, destination: int) -> bool:
        return (source, destination) not in self.cut


def partition(text: str, nodes: Iterable[int]) -> frozenset[CutLink]:
    """The pairs that `1|2,3` (both ways) or `1>2` (from 1 to 2 alone) cuts.

    Nodes that `|` does not name are on no side: they reach everyone.
    """
    for mark in "|", ">":
        groups = text.replace(" ", "").split(mark)
        if len(groups) < 2:
            continue
        if not all(_GROUP.fullmatch(group) for group in groups) or (
            mark == ">" and len(groups) > 2
        ):
            break
        sides = [tuple(map(int, group.split(","))) for group in groups]
        named = [node_id for side in sides for node_id in side]
        if len(set(named)) != len(named):
            raise ConditionError(f"{text}: a node is on both sides")
        unknown = sorted(set(named) - set(nodes))
        if unknown:
            raise ConditionError(f"{text}: there is no node {unknown[0]}")
        both = mark == "|"
        return frozenset(
            CutLink(first, second)
            for here, one in enumerate(sides)
            for there, other in enumerate(sides)
            if here != there and (both or here == 0)
            for first in one
            for second in other
        )
    raise ConditionError(
        f"{text}: not a partition",
        hint="write 1|2,3 (no connection between them) or 1>2 (only from 1 to 2)",
    )


def checked_delay(value: int) -> int:
    if not 0 <= value <= _LONGEST_DELAY_MS:
        raise ConditionError(f"a delay of {value} ms is not between 0 and {_LONGEST_DELAY_MS}")
    return value


def known(ids: Sequence[int], nodes: Iterable[int], option: str) -> frozenset[int]:
    """The nodes that an option names; each has to be there."""
    unknown = sorted(set(ids) - set(nodes))
    if unknown:
        raise ConditionError(f"{option} {unknown[0]}: there is no such node here")
    return frozenset(ids)
