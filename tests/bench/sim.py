"""How fast the simulator plays: events of the core with all checkers on, and elections of three.

    make bench-sim

One process, so one core; seconds are the process's own, so that a busy machine counts less. A cold
start is mostly fetches: who knows of no leader asks the others for one as fast as they answer, as
Kafka's does, until the first election timeout. An election after a resignation has only its own
messages. A run of simulate-election starts three voters from the directories of a fixture, without
checkers; most of its messages repeat an exchange, and the core handles the others. The nodes start
together, or one after another. Each line is the fastest of three rounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random

from kraftool.raft.events import Resign
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.read import read_case
from kraftool.sim.conditions import Conditions, StartPace
from kraftool.sim.parallel import Runs
from kraftool.sim.patience import horizon_ms
from tests.simulator.checkers import CHECKERS
from tests.simulator.checkers.base import checked_world
from tests.simulator.options import Options
from tests.simulator.runner import run
from tests.simulator.world import World

_QUORUM = Path(__file__).resolve().parents[2] / "fixtures/kafka-4.3.0/dynamic-quorum"
_ROUNDS = 3
_THREE = Options(faults=(), voters=3, observers=0, dynamic=True)
_COLD = Options(faults=(), voters=3, observers=0, dynamic=True, until_leader=True)


def play(seeds: int) -> tuple[int, int]:
    """Whole runs with all faults: runs and events."""
    return seeds, sum(run(seed).events for seed in range(seeds))


def start_cold(seeds: int) -> tuple[int, int]:
    """Three nodes that have never met, until a leader has something committed."""
    verdicts = [run(seed, _COLD) for seed in range(seeds)]
    assert all(verdict.is_fine for verdict in verdicts), [verdict.text for verdict in verdicts]
    return seeds, sum(verdict.events for verdict in verdicts)


def elect(times: int, seed: int = 0) -> tuple[int, int]:
    """One quorum whose leader resigns, as soon as it has something committed, again and again."""
    world = checked_world(_THREE, Random(seed), [checker() for checker in CHECKERS])
    for node in world.nodes.values():
        node.start()
    before = 0
    for number in range(times + 1):
        held = world.run(world.now + 60_000, lambda: _leads(world))
        assert held, f"no leader the {number}. time"
        if number == 0:
            before = world.events
        leader = next(node for node in world.nodes.values() if node.leads)
        leader.step(Resign(epoch=leader.raft.epoch))
    return times, world.events - before


def simulate_elections(seeds: int, pace: StartPace = StartPace.TOGETHER) -> tuple[int, int]:
    """The runs of simulate-election, until a leader has committed."""
    case, conditions = _quorum(), Conditions(starts=(pace,))
    runs = Runs(case, conditions, horizon_ms(case, conditions))
    outcomes = list(runs.outcomes(range(seeds)))
    assert all(outcome.leader is not None for outcome in outcomes), "a run without a leader"
    return seeds, sum(outcome.events for outcome in outcomes)


@cache
def _quorum() -> ElectionCase:
    """The case of the runs. It is read once; the fastest round does not include that."""
    return read_case([str(_QUORUM / f"node-{node_id}/data") for node_id in (2, 3, 4)])


def _leads(world: World) -> bool:
    return any(node.leads and node.watermark is not None for node in world.nodes.values())


def measured(what: Callable[[int], tuple[int, int]], count: int) -> tuple[float, float, float]:
    """Of each: how many a second, events a second, events of one."""
    seconds = float("inf")
    for _ in range(_ROUNDS):
        began = time.process_time()
        done, events = what(count)
        seconds = min(seconds, time.process_time() - began)
    return done / seconds, events / seconds, events / done


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--factor", type=float, default=1.0, help="how much longer to measure")
    factor = options.parse_args().factor
    for what, play_it, count in (
        ("runs with all faults", play, 40),
        ("elections after a resignation", elect, 600),
        ("cold starts to the first commit", start_cold, 40),
        ("runs of simulate-election", simulate_elections, 200),
        ("the same, started apart", partial(simulate_elections, pace=StartPace.APART), 200),
    ):
        rate, events, size = measured(play_it, max(1, int(count * factor)))
        sys.stdout.write(
            f"{what:<34}{rate:>9,.1f} a second   {events:>9,.0f} events a second"
            f"   {size:>7,.0f} events each\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
