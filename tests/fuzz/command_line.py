"""The command line of the checks below tests/fuzz: how many cases, and of which seed."""

from __future__ import annotations

import argparse
import secrets


def seed_and_cases(description: str | None, cases: int) -> tuple[int, int]:
    """Return the seed, which is printed before anything runs, and the number of cases."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", default="1", help="a number, or new")
    chosen = parser.parse_args()
    seed = secrets.randbits(32) if chosen.seed == "new" else int(chosen.seed)
    print(f"seed {seed}", flush=True)
    return seed, chosen.cases
