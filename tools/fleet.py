"""Build the data directories of a whole fleet of controllers, healthy or with planted faults.

    python tools/fleet.py OUT --clusters 200 --nodes 3 --seed 1 --faults 40

Every cluster is made from what real controllers wrote (fixtures/), with other ids and more history:
releases from 3.3 to 4.4, static and dynamic voters, several epochs, snapshots, cleaned logs,
followers that are a little behind. OUT/CLUSTER/controller-ID is a data directory. OUT/planted.json
says what was planted where, and which codes may answer it. The same seed makes the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fleets.build import KINDS, FleetPlan, build


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="a folder that is not there yet, or empty")
    parser.add_argument("--clusters", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=3, help="controllers of each cluster")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=0, help="in as many clusters")
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), help="only such faults")
    parser.add_argument(
        "--huge", type=int, default=0, metavar="BYTES", help="of log that the last cluster has"
    )
    chosen = parser.parse_args(arguments)
    out: Path = chosen.out
    if out.exists() and any(out.iterdir()):
        parser.error(f"{out} is there already, and not empty")
    largest = chosen.clusters - bool(chosen.huge)
    if chosen.clusters < 1 or chosen.nodes < 1 or not 0 <= chosen.faults <= largest:
        parser.error("at least one cluster and node, and at most one fault for each small cluster")
    if chosen.faults and chosen.nodes < 2:
        parser.error("faults need clusters of two nodes or more")
    out.mkdir(parents=True, exist_ok=True)
    plan = FleetPlan(
        clusters=chosen.clusters,
        nodes=chosen.nodes,
        seed=chosen.seed,
        huge=chosen.huge,
        faults=chosen.faults,
        kinds=tuple(chosen.kind or KINDS),
    )
    began = time.monotonic()
    shown = sys.stderr.isatty()

    def progress(done: int) -> None:
        if shown:
            print(f"\r{done} of {plan.clusters} clusters", end="", file=sys.stderr, flush=True)

    planted = build(out, plan, progress)
    took = time.monotonic() - began
    clear = "\r" if shown else ""
    summary = (
        f"{plan.clusters} clusters of {plan.nodes}, {len(planted)} faults planted, {took:.1f} s"
    )
    print(f"{clear}{summary}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
