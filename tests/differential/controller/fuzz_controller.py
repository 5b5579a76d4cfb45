"""Runs trials of the two controllers: `make controller-differential SEEDS=0..1000`.

Owns the command line. The first failures are printed with their seeds and last steps. Exit code 1
if there is a difference.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.differential.controller.controller_trial import STEPS, report, run_seed
from tests.differential.controller.kafka_controller import KafkaController
from tests.differential.fuzz import seeds_of
from tests.differential.kafka_client import RELEASES
from tests.support import proof


@dataclass(slots=True, kw_only=True)
class ControllerTally:
    """The results of many trials."""

    trials: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    """A report of each trial with a difference."""

    @property
    def requests(self) -> int:
        return self.seen["request"]

    def summary(self) -> str:
        lines = [
            f"{self.trials} trials, {self.requests} requests, {len(self.failures)} differences",
            *(f"  {count:>7}  {name}" for name, count in sorted(self.seen.items())),
        ]
        return "\n".join(lines)


def fuzz(
    kafka: KafkaController,
    release: str,
    seeds: Iterable[int],
    *,
    steps: int = STEPS,
    seconds: float | None = None,
    fewest_requests: int = 0,
    wanted: frozenset[str] = frozenset(),
    most_failures: int = 3,
) -> ControllerTally:
    """Run trials until the time is up, but not before so many requests, and not before all that is
    `wanted` was seen; for that at most ten times as many requests are made."""
    tally = ControllerTally()
    end = time.monotonic() + seconds if seconds is not None else None
    for seed in seeds:
        has_all = wanted <= tally.seen.keys() or tally.requests >= 10 * fewest_requests
        is_enough = tally.requests >= fewest_requests and has_all
        if end is not None and time.monotonic() > end and is_enough:
            break
        result = run_seed(kafka, release, seed, steps)
        tally.trials += 1
        proof.count("seeds of the controller")
        proof.count("requests compared", result.seen["request"])
        tally.seen += result.seen
        if result.difference:
            tally.failures.append(report(seed, result))
            if len(tally.failures) >= most_failures:
                break
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0..200", help="4711, 0..1000, or new: unused ones")
    parser.add_argument("--kafka", choices=sorted(RELEASES), default="4.3.0")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seconds", type=float, help="stop after this time")
    given = parser.parse_args()
    log = Path(tempfile.mkstemp(prefix="controller-differential-", suffix=".log")[1])
    with KafkaController(given.kafka, log) as kafka:
        tally = fuzz(
            kafka, given.kafka, seeds_of(given.seeds), steps=given.steps, seconds=given.seconds
        )
    print("\n".join([*tally.failures, f"Kafka {given.kafka}", tally.summary()]))
    log.unlink()
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
