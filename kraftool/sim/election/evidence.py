"""The evidence of real starts for a simulated share: when a percentage is stated, and otherwise the
word.

Owns which quorums count as the same situation, and the rule: a share is stated only if real
controllers were started on such directories, in that way, and led as often as the simulation says,
within the sampling error, on every Kafka version that was measured. It refuses to simulate; the
measurements are in `measured.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

from kraftool.raft.settings import Timing
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.sim.election.conditions import Conditions, StartPace

LIKELY = 0.5
"""Above this share of the runs at every pace, by more than chance, a leader is called likely."""
SIGNIFICANT = 0.05
"""Below this probability, the real starts contradict the simulated shares."""
FEWEST_STARTS = 10
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
class MeasuredStarts:
    """Real starts of one situation, on one Kafka version, at one pace."""

    situation: str
    version: str
    pace: StartPace
    date: str
    signature: str
    starts: int
    led: tuple[tuple[str, int], ...]
    """By the kind of node: in how many starts one of them was the first that could commit."""
    predicted: tuple[tuple[str, float], ...]
    """By the kind of node: the simulated share of all nodes of this kind."""
    probability: float
    """Of real starts that fit the prediction no better, if the prediction is right."""
    pooled: float
    """The same for all starts of this signature at this pace, on every version."""

    @property
    def agrees(self) -> bool:
        worst = min(self.probability, self.pooled)
        return worst >= SIGNIFICANT and self.starts >= FEWEST_STARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedShare:
    """One node's share of the runs at one pace."""

    pace: StartPace
    runs: int
    """Runs at this pace that had a leader."""
    wins: int
    stated: float | None = None
    """The share of a node of its kind, as it was compared with real starts; None where these do
    not confirm it, so that no share may be stated."""

    @property
    def share(self) -> float:
        return self.wins / self.runs if self.runs else 0.0

    @property
    def is_measured(self) -> bool:
        return self.stated is not None

    @property
    def words(self) -> str:
        """The stated share in words, never as certain: no run is a proof."""
        if self.stated is None:
            return ""
        percent = 100 * self.stated
        if percent < 5:
            return "under 5%"
        return "over 95%" if percent > 95 else f"about {5 * round(percent / 5)}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The statement on one node's chance."""

    node: int
    likelihood: Likelihood
    shares: tuple[SimulatedShare, ...] = ()

    @property
    def is_measured(self) -> bool:
        return any(share.is_measured for share in self.shares)


def kinds(case: ElectionCase, conditions: Conditions) -> dict[int, str]:
    """Return by node how it starts: what its quorum-state says of it, and how its log compares.

    Empty where a node is anything but a voter with Kafka's default timeouts.
    """
    nodes = [node for node in case.nodes if node.id not in conditions.down]
    if any(not _is_plain(node, case) for node in nodes):
        return {}
    ends = sorted({(node.end.epoch, node.end.offset) for node in nodes}, reverse=True)
    epochs = sorted({_epoch(node) for node in nodes}, reverse=True)
    node_kinds = {}
    for node in nodes:
        kind = _state(node)
        if behind := ends.index((node.end.epoch, node.end.offset)):
            kind += f", log {behind} behind"
        if earlier := epochs.index(_epoch(node)):
            kind += f", epoch {earlier} earlier"
        node_kinds[node.id] = kind
    return node_kinds


def signature(case: ElectionCase, conditions: Conditions) -> str:
    """Return what makes two quorums the same situation; nothing for one that cannot be compared."""
    plain = Conditions()
    if (conditions.cut, conditions.delay_ms, conditions.skew_ms, conditions.paces) != (
        plain.cut, plain.delay_ms, plain.skew_ms, plain.paces,
    ):  # fmt: skip
        return ""
    counts = Counter(kinds(case, conditions).values())
    if not counts:
        return ""
    parts = [f"{count} {kind}" for kind, count in sorted(counts.items())]
    return f"{len(case.voters)} voters, kraft.version {case.kraft_version}: {'; '.join(parts)}"


def _is_plain(node: NodeCase, case: ElectionCase) -> bool:
    is_voter = node.is_voter and case.voters.has(node.key) and node.voters == case.voters
    return is_voter and not node.is_witness and node.settings.timing == Timing()


def _epoch(node: NodeCase) -> int:
    return max(node.election.epoch if node.election is not None else 0, node.end.epoch)


def _state(node: NodeCase) -> str:
    """Return what the node's quorum-state makes of it at its start."""
    state = node.election
    if state is None or state.epoch < node.end.epoch:
        return "unattached"
    if state.leader_id is not None:
        return "old leader" if state.leader_id == node.id else "follower"
    if state.voted is None:
        return "unattached"
    return "candidate" if state.voted.id == node.id else "voted"


def _is_likely(share: SimulatedShare) -> bool:
    if share.runs < FEWEST_RUNS:
        return False
    by_chance = 1 / sqrt(share.runs)  # two standard errors of a share of one half
    return share.share - by_chance >= LIKELY


def stated_share(
    case: ElectionCase,
    conditions: Conditions,
    node: int,
    pace: StartPace,
    measured: tuple[MeasuredStarts, ...],
) -> float | None:
    """Return the share of the node that real starts confirm; None if they do not."""
    of = signature(case, conditions)
    if not is_measured(of, pace, measured):
        return None
    kind = kinds(case, conditions)
    row = next(starts for starts in measured if (starts.signature, starts.pace) == (of, pace))
    return dict(row.predicted)[kind[node]] / Counter(kind.values())[kind[node]]


def is_measured(signature: str, pace: StartPace, measured: tuple[MeasuredStarts, ...]) -> bool:
    """True if every measurement of this situation at this pace agrees, on two versions at least."""
    same = [starts for starts in measured if (starts.signature, starts.pace) == (signature, pace)]
    versions = {starts.version for starts in same}
    return bool(signature) and len(versions) > 1 and all(starts.agrees for starts in same)


def outlooks(
    case: ElectionCase,
    conditions: Conditions,
    leaders: tuple[int, ...],
    wins: Mapping[StartPace, Mapping[int, int]],
    measured: tuple[MeasuredStarts, ...],
) -> tuple[Outlook, ...]:
    """Return what is said of each node's chance; `leaders` are the nodes that can lead."""
    runs = {pace: sum(counts.values()) for pace, counts in wins.items()}
    node_outlooks = []
    for node in case.nodes:
        if node.id not in leaders:
            node_outlooks.append(Outlook(node=node.id, likelihood=Likelihood.NO))
            continue
        shares = tuple(
            SimulatedShare(
                pace=pace,
                runs=runs[pace],
                wins=counts.get(node.id, 0),
                stated=stated_share(case, conditions, node.id, pace, measured)
                if node.id not in conditions.down
                else None,
            )
            for pace, counts in wins.items()
        )
        likelihood = Likelihood.POSSIBLE
        if len(leaders) == 1:
            likelihood = Likelihood.ONLY
        elif shares and all(map(_is_likely, shares)):
            likelihood = Likelihood.LIKELY
        node_outlooks.append(Outlook(node=node.id, likelihood=likelihood, shares=shares))
    return tuple(node_outlooks)
