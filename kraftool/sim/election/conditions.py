"""What is down, cut off or slow, and what an operator does: the what-ifs of a simulated election.

Owns the conditions and how they are written on the command line and in scenarios. It refuses to
know what they lead to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from kraftool.decoders.errors import KraftoolError

MOST_NODES = 64
_LONGEST_DELAY_MS = 60_000
_GROUP = re.compile(r"[0-9]{1,9}(?:,[0-9]{1,9})*")


class ConditionError(KraftoolError):
    """A what-if that cannot be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The circumstances of an election."""

    down: frozenset[int] = frozenset()
    cut: frozenset[tuple[int, int]] = frozenset()
    """(from, to) between which nothing gets through."""
    delay_ms: int = 5
    """What a message takes on average, one way."""
    skew_ms: int = 1000
    """Within how long all nodes start."""
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    partitions: tuple[str, ...] = field(default=(), compare=False)
    """As they were written."""

    @property
    def shortest_ms(self) -> int:
        """What a message takes at least; 1, as nothing takes no time."""
        return max(self.delay_ms // 2, 1)

    @property
    def longest_ms(self) -> int:
        return max(self.delay_ms + (self.delay_ms + 1) // 2, 1)

    def without(self, nodes: Iterable[int]) -> Conditions:
        return replace(self, down=self.down | frozenset(nodes))

    def passes(self, source: int, destination: int) -> bool:
        return (source, destination) not in self.cut


def partition(text: str, nodes: Iterable[int]) -> frozenset[tuple[int, int]]:
    """The pairs that `1|2,3` (both ways) or `1>2` (from 1 to 2 alone) cuts.

    Nodes that `|` does not name are on no side: they reach everyone.
    """
    for mark in "|", ">":
        groups = text.replace(" ", "").split(mark)
        if len(groups) < 2:
            continue
        if not all(_GROUP.fullmatch(each) for each in groups) or (mark == ">" and len(groups) > 2):
            break
        sides = [tuple(map(int, each.split(","))) for each in groups]
        named = [each for side in sides for each in side]
        if len(set(named)) != len(named):
            raise ConditionError(f"{text}: a node is on both sides")
        unknown = sorted(set(named) - set(nodes))
        if unknown:
            raise ConditionError(f"{text}: there is no node {unknown[0]}")
        both = mark == "|"
        return frozenset(
            (first, second)
            for here, one in enumerate(sides)
            for there, other in enumerate(sides)
            if here != there and (both or here == 0)
            for first in one
            for second in other
        )
    raise ConditionError(
        f"{text}: not a partition", hint="write 1|2,3 (no way between) or 1>2 (from 1 to 2 alone)"
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
