"""Quorums with witnesses: one that alone has the newest records leads until a Kafka has them."""

from __future__ import annotations

from random import Random

import pytest

from tests.simulator.checkers import CHECKERS
from tests.simulator.checkers.base import checked_world
from tests.simulator.node import Node
from tests.simulator.options import Options
from tests.simulator.runner import run

pytestmark = pytest.mark.slow

FAULTS = (
    "crash", "kill", "partition", "loss", "duplication", "delay", "corruption", "skew", "slow-disk",
    "pause", "resign",
)  # fmt: skip
"""Those that change neither disks nor voters."""
LONGEST_MS = 11_000


class Stalemate:
    """Witness 3 and a leader commit records that the other controller lacks; the leader is lost."""

    def __init__(self, seed: int) -> None:
        options = Options(voters=3, observers=0, dynamic=True, witnesses=1, faults=(), trace=False)
        self.world = checked_world(options, Random(seed), [checker() for checker in CHECKERS])
        self.witness = self.world.nodes[3]
        for node in self.world.nodes.values():
            self.world.after(self.world.random.randrange(30), node.start)
        self._until("leader that commits", 20_000, lambda: self._committing() is not None)
        self.lost = self._leader()
        [self.survivor] = (
            member
            for member in self.world.nodes.values()
            if member not in (self.lost, self.witness)
        )
        self._until("equal logs", 20_000, lambda: len(set(self._ends())) == 1)

    def begin(self) -> None:
        """Cut the survivor off, commit, and kill the leader."""
        cut = {(self.lost.id, self.survivor.id), (self.survivor.id, self.lost.id)}
        self.world.network.cut |= cut
        committed = self.world.committed.end
        self.world.append(self.lost)
        self._until("commit", 1_400, lambda: self.world.committed.end > committed)
        self.lost.end(power=True)
        self.world.network.heal()
        assert self.witness.log.end > self.survivor.log.end, "the witness is ahead"

    def ended(self) -> int:
        """Wait until a controller leads, with all that was committed; how long it took."""
        began, committed = self.world.now, self.world.committed.end
        self._until(
            "controller that commits",
            60_000,
            lambda: self._committing() is self.survivor and self.survivor.log.end > committed,
        )
        return self.world.now - began

    def _until(self, what: str, for_ms: int, holds: object) -> None:
        assert callable(holds)
        assert self.world.run(self.world.now + for_ms, holds), f"no {what}"

    def _ends(self) -> list[int]:
        return [node.log.end for node in self.world.nodes.values()]

    def _committing(self) -> Node | None:
        nodes = self.world.nodes.values()
        return next((node for node in nodes if node.leads and node.watermark), None)

    def _leader(self) -> Node:
        leader = self._committing()
        assert leader is not None
        return leader


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_a_witness_ahead_of_the_survivor_leads_and_hands_over(first: int) -> None:
    for seed in range(first, first + 25):
        play = Stalemate(seed)
        play.begin()
        took_ms = play.ended()
        assert play.world.counts["led without a controller"] == 1, f"seed {seed}"
        assert took_ms <= LONGEST_MS, f"seed {seed}: {took_ms} ms"


def test_it_is_the_refusals_that_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the last resort nobody is elected, however long one waits."""
    monkeypatch.setattr("kraftool.raft.raft.LAST_RESORT_REFUSALS", 1 << 30)
    play = Stalemate(0)
    play.begin()
    with pytest.raises(AssertionError, match="no controller that commits"):
        play.ended()


@pytest.mark.parametrize(("voters", "witnesses"), [(3, 1), (3, 2), (5, 2)])
def test_no_invariant_is_violated_where_witnesses_vote(voters: int, witnesses: int) -> None:
    for seed in range(20):
        options = Options(voters=voters, witnesses=witnesses, faults=FAULTS, run_ms=6_000)
        verdict = run(seed, options)
        assert verdict.is_fine, f"seed {seed}\n{verdict.text}"
