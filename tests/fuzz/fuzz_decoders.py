"""Mutates real files for as long as asked, and keeps the one on which something went wrong.

    python tests/fuzz/fuzz_decoders.py --seconds 300 --seed 7

Prints the seed first. On a failure it writes the file to build/fuzz/, prints how to run
that one case again, and ends with 1. It owns the loop; mutations.py and checks.py do the work.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fuzz import checks
from tests.fuzz.mutations import Sample, corpus, mutate
from tests.support.places import ROOT

FAILURES = ROOT / "build" / "fuzz"
MEMORY_EVERY = 10
"""Tracing memory is slow: one file in so many."""


def check(folder: Path, number: int, sample: Sample) -> None:
    if number % MEMORY_EVERY == 0:
        with checks.bounded_time(3 * checks.SECONDS), checks.bounded_memory():
            checks.check_decoders(sample)
            checks.check_formats(sample)
    checks.check_all(folder, sample, number)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--case", type=int, help="run only this case of the seed")
    chosen = parser.parse_args()
    seed = chosen.seed if chosen.seed is not None else time.time_ns() % 1_000_000_000
    print(f"seed {seed}", flush=True)
    samples = corpus(ROOT / "fixtures")
    deadline = time.monotonic() + chosen.seconds
    number = chosen.case or 0
    with tempfile.TemporaryDirectory(prefix="kraftool-fuzz-") as temporary:
        while True:
            sample = mutate(Random(f"{seed}/{number}"), samples)
            try:
                check(Path(temporary), number, sample)
            except Exception:
                traceback.print_exc()
                FAILURES.mkdir(parents=True, exist_ok=True)
                kept = FAILURES / f"{seed}-{number}-{sample.name}"
                kept.write_bytes(sample.data)
                print(f"kept as {kept.relative_to(ROOT)}; again: --seed {seed} --case {number}")
                return 1
            number += 1
            if chosen.case is not None or time.monotonic() > deadline:
                break
    print(f"{number} files, nothing wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
