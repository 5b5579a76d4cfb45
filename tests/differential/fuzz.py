"""Runs trials of the differential fuzz: `make differential SEEDS=0..1000`.

Owns the command line. Each failure is printed with its seed, the steps that show it, and the
answers of both nodes. Exit code 1 if a difference has no explanation.
"""

from __future__ import annotations

import argparse
import itertools
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.differential.coverage import SITUATIONS
from tests.differential.kafka_client import RELEASES, KafkaClient
from tests.differential.trial import STEPS, report, run_seed, shrink
from tests.support import proof


@dataclass(slots=True, kw_only=True)
class Tally:
    """The results of many trials."""

    trials: int = 0
    steps: int = 0
    both_stopped: Counter[str] = field(default_factory=Counter)
    tolerated: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[int]] = field(default_factory=dict)
    """Seeds by what failed."""

    def summary(self) -> str:
        failed = sum(map(len, self.failures.values()))
        lines = [
            f"{self.trials} trials, {self.steps} steps, {failed} unexplained differences",
            *(f"  {len(seeds):>5}  {kind}  seeds {seeds[:5]}" for kind, seeds in self._worst()),
            "tolerated:",
            *(f"  {count:>5}  {name}" for name, count in self.tolerated.most_common()),
            "both nodes stopped:",
            *(f"  {count:>5}  {reasons}" for reasons, count in self.both_stopped.most_common()),
            "steps by situation:",
            *(f"  {self.seen[name]:>5}  {name}" for name in SITUATIONS),
        ]
        return "\n".join(lines)

    def _worst(self) -> list[tuple[str, list[int]]]:
        return sorted(self.failures.items(), key=lambda item: -len(item[1]))


def fuzz(
    kafka: KafkaClient,
    seeds: Iterable[int],
    *,
    steps: int = STEPS,
    seconds: float | None = None,
    fewest_steps: int = 0,
    shown: int = 2,
) -> Tally:
    """Run trials; print the first failures of each kind. Stops when the time is up, but not before
    so many steps."""
    tally = Tally()
    end = time.monotonic() + seconds if seconds is not None else None
    for seed in seeds:
        is_enough = tally.steps >= fewest_steps or tally.failures
        if end is not None and time.monotonic() > end and is_enough:
            break
        result = run_seed(kafka, seed, steps)
        tally.trials += 1
        proof.count("seeds of the raft core")
        proof.count("steps compared", len(result.steps))
        tally.steps += len(result.steps)
        tally.both_stopped += result.both_stopped
        tally.tolerated += result.tolerated
        tally.seen += result.seen
        if result.unexplained:
            seeds_of_kind = tally.failures.setdefault(result.kind(), [])
            seeds_of_kind.append(seed)
            if len(seeds_of_kind) <= shown:
                print(report(seed, shrink(kafka, result)), flush=True)
    return tally


def seeds_of(text: str) -> Iterator[int]:
    """The seeds that a command line names."""
    if text == "new":
        begin = secrets.randbelow(1 << 40)
        print(f"seeds from {begin} on")
        return itertools.count(begin)
    first, _, last = text.partition("..")
    return iter(range(int(first), int(last or first) + 1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0..1000", help="4711, 0..1000, or new: unused ones")
    parser.add_argument("--kafka", choices=sorted(RELEASES), default="4.3.0")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--shown", type=int, default=2, help="failures of a kind that are printed")
    given = parser.parse_args()
    log = Path(tempfile.mkstemp(prefix="differential-", suffix=".log")[1])
    with KafkaClient(given.kafka, log) as kafka:
        began = time.monotonic()
        tally = fuzz(
            kafka,
            seeds_of(given.seeds),
            steps=given.steps,
            seconds=given.seconds,
            shown=given.shown,
        )
        print(f"Kafka {given.kafka}, {time.monotonic() - began:.0f} s")
        print(tally.summary())
    log.unlink()
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
