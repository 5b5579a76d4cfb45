"""Incidents of a quorum with a past (`past.py`): what happened, what is asked, what is right.

Owns the table. Each damage is done to directories that no node runs on. A row says what a plan has
to judge, and which copy the quorum serves in the end: the intact one, or exactly what is announced.
It refuses to run anything: `test_recover_incidents.py` does.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kraftool.reports.election.assessment import LossBound
from tests.interop import damages
from tests.interop.clusters import Node
from tests.interop.ondisk import batches, partition, segments
from tests.interop.past import Past
from tests.repair import directories

AHEAD = ("--accept", "ahead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One `recover plan`, and what is right to say."""

    loss: LossBound
    cases: tuple[str, ...]
    given: Callable[[Past], Sequence[Node]] = lambda past: past.controllers
    options: Callable[[Past], Sequence[str]] = lambda past: ()
    is_refused: bool = False
    """True if it is refused without `--accept ahead`."""
    has_emptied: bool = False
    """True if an emptied voter is given with the laggard. The two may have had more if the laggard
    is an old copy, which it is taken for from 6 s on: how long five topics take is up to the
    machine."""

    @property
    def losses(self) -> tuple[LossBound, ...]:
        """The verdicts that are right."""
        return (self.loss, LossBound.POSSIBLE) if self.has_emptied else (self.loss,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What happened to a quorum, and how it comes back."""

    name: str
    damage: Callable[[Past], object]
    questions: tuple[Question, ...]
    """Each plan is applied before the next one is asked for."""
    saved: Callable[[Past], tuple[Node, str]] = lambda past: (past.good, "struck")
    """The copy that the quorum serves in the end: a node, and the moment."""

    def __str__(self) -> str:
        return self.name


# --- what happened --------------------------------------------------------------------------------


def _stale_majority(past: Past) -> None:
    for other in past.others:
        past.restore(other, "level")
    past.restore(past.broker, "lagging")


def _emptied(node: Node) -> None:
    shutil.rmtree(partition(node))


def _swapped(past: Past) -> None:
    one, other = (node.metadata_log_dir for node in past.others)
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def _flip_header(node: Node, byte: int, change: int) -> None:
    """One bit that no CRC covers, in the middle of the log."""
    path = segments(node)[0]
    log_batches = batches(path)
    directories.flip(path, log_batches[len(log_batches) // 2].position + byte, change)


_OFFSET, _EPOCH = 7, 15
"""The lowest bytes of a batch's base offset and of its epoch."""


# --- what is asked --------------------------------------------------------------------------------


def _but_the_leader(past: Past) -> Sequence[Node]:
    return (past.laggard, past.good)


def _leader_lost(past: Past) -> Sequence[str]:
    return ("--set", f"lost={past.others[1].id}")


def _good(past: Past) -> Sequence[Node]:
    return (past.good,)


def _others_lost(past: Past) -> Sequence[str]:
    return ("--set", f"lost={past.laggard.id},{past.others[1].id}")


def _seed(node: Node) -> Sequence[str]:
    return ("--set", f"seed={node.id}")


def _rebuild(node: Node, source: Node) -> Sequence[str]:
    return ("--set", f"rebuild={node.id}", "--set", f"from={source.id}")


def _with_the_leader_lost(name: str, damage: Callable[[Past], object], *cases: str) -> Incident:
    """The good voter is damaged, and only it has what the laggard has not. If the laggard is an old
    copy, then it and the leader may have had more."""
    question = Question(
        loss=LossBound.POSSIBLE, cases=cases, given=_but_the_leader, options=_leader_lost
    )
    return Incident(name=name, damage=damage, questions=(question,))


# --- the table ------------------------------------------------------------------------------------

INCIDENTS = (
    # Forgetful voters count as lost for what they confirmed. What is announced is lost.
    Incident(
        name="stale-majority",
        damage=_stale_majority,
        questions=(
            Question(
                loss=LossBound.UNBOUNDED,
                cases=("rebuilt",),
                given=lambda past: past.nodes,
                is_refused=True,
            ),
        ),
        saved=lambda past: (past.broker, "lagging"),
    ),
    Incident(
        name="stale-majority-and-a-seed",
        damage=_stale_majority,
        questions=(
            Question(
                loss=LossBound.UNBOUNDED,
                cases=("majority-lost",),
                given=lambda past: past.nodes,
                options=lambda past: _seed(past.laggard),
                is_refused=True,
            ),
        ),
        saved=lambda past: (past.broker, "lagging"),
    ),
    # The commonest accident: a copy of before beside a whole voter. An order of starts keeps all.
    Incident(
        name="stale-leader",
        damage=lambda past: past.restore(past.others[1], "level"),
        questions=(Question(loss=LossBound.POSSIBLE, cases=()),),
    ),
    # A lost voter of a living majority, and its ways without loss.
    _with_the_leader_lost("lost-voter", lambda past: _emptied(past.others[1])),
    Incident(
        name="emptied-voter",
        damage=lambda past: _emptied(past.others[1]),
        questions=(
            Question(loss=LossBound.NONE, cases=("rebuilt", "quorum-state"), has_emptied=True),
        ),
    ),
    Incident(
        name="rebuild-that-was-asked-for",
        damage=lambda past: _emptied(past.others[1]),
        questions=(
            Question(
                loss=LossBound.NONE,
                cases=("rebuilt", "quorum-state"),
                options=lambda past: _rebuild(past.others[1], past.good),
                has_emptied=True,
            ),
        ),
    ),
    Incident(
        name="rebuild-of-the-laggard",
        damage=lambda past: _emptied(past.others[1]),
        questions=(
            Question(
                loss=LossBound.POSSIBLE,
                cases=("rebuilt",),
                given=_but_the_leader,
                options=lambda past: (*_leader_lost(past), *_rebuild(past.laggard, past.good)),
            ),
        ),
    ),
    Incident(
        name="seed-that-was-asked-for",
        damage=lambda past: _emptied(past.others[1]),
        questions=(
            Question(
                loss=LossBound.POSSIBLE,
                cases=("majority-lost",),
                given=_but_the_leader,
                options=lambda past: (*_leader_lost(past), *_seed(past.good)),
            ),
        ),
    ),
    # No path gives up what another keeps.
    Incident(
        name="damage-before-a-snapshot",
        damage=lambda past: damages.damage_middle(past.good),
        questions=(
            Question(
                loss=LossBound.UNBOUNDED,
                cases=("majority-lost", "rest-kept"),
                given=_good,
                options=_others_lost,
            ),
        ),
    ),
    Incident(
        name="repaired-and-then-recovered",
        damage=lambda past: damages.damage_middle(past.good),
        questions=(
            Question(loss=LossBound.POSSIBLE, cases=("rest-kept",), given=_good),
            Question(
                loss=LossBound.UNBOUNDED,
                cases=("majority-lost",),
                given=_good,
                options=_others_lost,
            ),
        ),
    ),
    _with_the_leader_lost(
        "two-bits", lambda past: damages.damage_middle(past.good), "restored-runs"
    ),
    Incident(
        name="two-bits-and-a-whole-copy",
        damage=lambda past: damages.damage_middle(past.good),
        questions=(Question(loss=LossBound.NONE, cases=("rebuilt",)),),
    ),
    # A single flipped bit.
    _with_the_leader_lost(
        "flipped-bit", lambda past: damages.flip_one_bit(past.good), "flipped-bit"
    ),
    _with_the_leader_lost(
        "flipped-offset", lambda past: _flip_header(past.good, _OFFSET, 0x40), "flipped-bit"
    ),
    _with_the_leader_lost(
        "flipped-epoch", lambda past: _flip_header(past.good, _EPOCH, 0x08), "flipped-bit"
    ),
    # Swapped disks.
    Incident(
        name="swapped-disks",
        damage=_swapped,
        questions=(Question(loss=LossBound.NONE, cases=("other-nodes-disk",)),),
    ),
)
