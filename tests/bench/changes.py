"""Measures that a change costs by what changed, and not by all there is.

    make bench-changes
    python tests/bench/changes.py --fetches 1000

An append of a leader for which fetches wait: in time a fetch. Seconds are the process's own; the
median of the rounds. It refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.raft.parked_fetches import append, leader, park

ROUNDS = 9


def measured(work: Callable[[], object]) -> float:
    """CPU milliseconds of this process."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1_000


def append_ms(fetches: int) -> float:
    """An append that answers that many fetches."""
    times = []
    for _ in range(ROUNDS):
        raft = leader()
        park(raft, fetches)
        times.append(measured(partial(append, raft)))
    return statistics.median(times)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fetches", type=int, default=1_000, help="the most that wait")
    chosen = parser.parse_args(arguments)
    for fetches in (chosen.fetches // 10, chosen.fetches):
        took = append_ms(fetches)
        print(f"append for {fetches:>7,} fetches {took:10.2f} ms {took / fetches:8.4f} ms a fetch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
