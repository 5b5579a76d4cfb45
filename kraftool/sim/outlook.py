"""The word for each node's chance to be the first leader.

A share of simulated runs is no forecast: it hangs on how fast each machine starts its controller.
So it only decides between words, and by more than chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

from kraftool.decoders.json_marks import Count, in_json
from kraftool.reports.election.case import ElectionCase
from kraftool.sim.conditions import StartPace

LIKELY = 0.5
"""Above this share of the runs at every pace, by more than chance, a leader is called likely."""
FEWEST_RUNS = 20
"""At each pace; with fewer, no leader is called likely."""


class Likelihood(StrEnum):
    """The word for a node's chance to be the first leader."""

    ONLY = "only"
    """No other node can lead."""
    LIKELY = "likely"
    POSSIBLE = "possible"
    NO = "no"
    """It cannot lead."""


LIKELIHOODS = {
    Likelihood.ONLY: "the only one that can lead",
    Likelihood.LIKELY: "likely",
    Likelihood.POSSIBLE: "possible",
    Likelihood.NO: "cannot lead",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedShare:
    """A node's share of the runs that had a leader, for one way to start the nodes."""

    start: StartPace
    runs: Count
    wins: Count

    @property
    @in_json
    def share(self) -> float:
        """Simulated: wins of runs. 0 does not say that the node cannot lead."""
        return round(self.wins / self.runs, 4) if self.runs else 0.0

    @property
    def is_likely(self) -> bool:
        if self.runs < FEWEST_RUNS:
            return False
        by_chance = 1 / sqrt(self.runs)  # two standard errors of a share of one half
        return self.wins / self.runs - by_chance >= LIKELY


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The statement on one node's chance."""

    node: int
    likelihood: Likelihood
    shares: tuple[SimulatedShare, ...] = ()


def outlooks(
    case: ElectionCase, leaders: tuple[int, ...], wins: Mapping[StartPace, Mapping[int, int]]
) -> tuple[Outlook, ...]:
    """Return what is said of each node's chance; `leaders` are the nodes that can lead."""
    return tuple(
        _outlook(node.id, leaders, wins)
        if node.id in leaders
        else Outlook(node=node.id, likelihood=Likelihood.NO)
        for node in case.nodes
    )


def _outlook(
    node_id: int, leaders: tuple[int, ...], wins: Mapping[StartPace, Mapping[int, int]]
) -> Outlook:
    shares = tuple(
        SimulatedShare(start=start, runs=sum(counts.values()), wins=counts.get(node_id, 0))
        for start, counts in wins.items()
    )
    likelihood = Likelihood.POSSIBLE
    if len(leaders) == 1:
        likelihood = Likelihood.ONLY
    elif shares and all(share.is_likely for share in shares):
        likelihood = Likelihood.LIKELY
    return Outlook(node=node_id, likelihood=likelihood, shares=shares)
