"""Play many seeds of the quorum simulator on all cores, and say what became of them.

    python tools/simulate.py                    10,000 seeds with all faults
    python tools/simulate.py --seeds 4711       one seed; with --trace, everything that happened
    python tools/simulate.py --seeds 0..500 --faults crash,partition

A seed that violates an invariant is printed first, with the last things that happened in it. The
same seed has the same history, byte for byte, wherever it is played.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from tests.simulator.options import FAULTS, Options
from tests.simulator.runner import SeedResult, run

_LAST_LINES = 40
_PART = 50
"""Seeds that a process plays before it tells of them."""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=_Formatter)
    options.add_argument("--seeds", default="0..10000", help="one seed, or FIRST..END")
    options.add_argument("--faults", default=",".join(FAULTS), help="of: " + ", ".join(FAULTS))
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("--controllers", action="store_true", help="with controllers and brokers")
    options.add_argument(
        "--cut-turns", action="store_true", help="other things happen during a controller's turn"
    )
    options.add_argument("--trace", action="store_true", help="print all of a single seed")
    options.add_argument("--keep-going", action="store_true", help="play on after a violation")
    given = options.parse_args()
    first, _, end = given.seeds.partition("..")
    seeds = range(int(first), int(end) if end else int(first) + 1)
    faults = tuple(filter(None, given.faults.split(",")))
    played = Options(faults=faults, controllers=given.controllers, cuts_turns=given.cut_turns)
    if given.trace:
        return _tell_all(run(seeds[0], replace(played, trace=True)))
    return _play(seeds, played, given.jobs, keep_going=given.keep_going)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    pass


def part(seeds: range, options: Options) -> tuple[int, int, Counter[str], list[SeedResult]]:
    """Play some seeds: events, virtual milliseconds, counts, and what failed."""
    events = played_ms = 0
    counts: Counter[str] = Counter()
    failed = []
    for seed in seeds:
        verdict = run(seed, options)
        events += verdict.events
        played_ms += verdict.ended_at_ms
        counts += verdict.counts
        if not verdict.is_fine:
            failed.append(verdict)
    return events, played_ms, counts, failed


def _play(seeds: range, options: Options, jobs: int, *, keep_going: bool) -> int:
    began = time.perf_counter()
    events = played_ms = done = failures = 0
    counts: Counter[str] = Counter()
    parts = [seeds[at : at + _PART] for at in range(0, len(seeds), _PART)]
    with ProcessPoolExecutor(jobs) as pool:
        for number, result in enumerate(pool.map(part, parts, [options] * len(parts))):
            events, played_ms = events + result[0], played_ms + result[1]
            counts += result[2]
            done += len(parts[number])
            for verdict in result[3]:
                failures += 1
                _tell_failure(verdict, options)
            if failures and not keep_going:
                pool.shutdown(cancel_futures=True)
                break
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{done:,} of {len(seeds):,} seeds ")
    wall = time.perf_counter() - began
    sys.stdout.write(
        f"{done:,} seeds, {failures} with a violated invariant; {events:,} events of the core,"
        f" {played_ms / 3_600_000:,.1f} hours of virtual time, in {wall:,.0f} s"
        f" ({events / wall:,.0f} events a second)\n"
    )
    for what, count in sorted(counts.items()):
        sys.stdout.write(f"  {count:>11,}  {what}\n")
    return 1 if failures else 0


def _tell_failure(verdict: SeedResult, options: Options) -> None:
    again = run(verdict.seed, replace(options, trace=True))
    sys.stdout.write(f"seed {verdict.seed}\n{verdict.text}\n")
    for line in again.trace[-_LAST_LINES:]:
        sys.stdout.write(f"  {line}\n")
    sys.stdout.flush()


def _tell_all(verdict: SeedResult) -> int:
    sys.stdout.write(f"seed {verdict.seed}\n")
    for line in verdict.trace:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{verdict.text or 'fine'}\n")
    return 0 if verdict.is_fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
