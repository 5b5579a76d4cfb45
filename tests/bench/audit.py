"""Measures the tasks of an audit without Spark: CPU, longest task, memory of a worker.

    python tests/bench/audit.py --even 21 --size 4MB
    python tests/bench/audit.py --log 1GB
    python tests/bench/audit.py --small 200

A second process does the tasks one after the other, as a Python worker of Spark does. Seconds are
CPU. The first task also pays for imports and for decoders that are compiled on first use.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.build import write_cluster
from fleets.cluster import cluster_spec

from kraftool.reports.findings.mutes import NOTHING_LEFT_OUT
from kraftool.spark.audit.examined import NumberedDirectory, _examine_all, deal
from kraftool.spark.audit.roots import find
from tests.bench.pipeline import (
    _SEED,
    _SEGMENT,
    NODES,
    make_large,
    make_small,
    options_of_tasks,
    size_of,
)
from tests.bench.processes import memory_mb


class AuditTaskCost(NamedTuple):
    """The cost of one task."""

    cpu_s: float
    peak_mb: float


def make(root: Path, *, even: int, size: int, log: int, small: int) -> None:
    """Write directories with logs of one size, one with a large log, and small ones."""
    for number in range(-(-even // NODES)):
        spec = cluster_spec(_SEED, number, NODES, bulk_bytes=size, segment_bytes=_SEGMENT)
        write_cluster(root / "even", spec)
    if log:
        make_large(root / "large", log)
    if small:
        make_small(root / "small", small)


def do_task(directories: list[NumberedDirectory]) -> AuditTaskCost:
    """Examine the directories of one task."""
    before = time.process_time()
    for _ in _examine_all(directories, NOTHING_LEFT_OUT):
        pass
    high, _ = memory_mb(os.getpid()) or (0.0, 0.0)
    return AuditTaskCost(time.process_time() - before, high)


def measure(root: Path, cores: int) -> list[AuditTaskCost]:
    """Do all tasks of an audit in one worker."""
    tasks = deal(list(find([str(root)]).directories), cores)
    with get_context("spawn").Pool(1) as worker:
        return [worker.apply(do_task, (task,)) for task in tasks]


def main(arguments: list[str] | None = None) -> int:
    parser = options_of_tasks(__doc__)
    parser.add_argument("--even", type=int, default=0, help="number of directories of one size")
    parser.add_argument(
        "--size", type=size_of, default=size_of("4MB"), help="size of their logs (default: 4MB)"
    )
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kraftool-audit-") as temporary:
        root = Path(temporary)
        make(root, even=chosen.even, size=chosen.size, log=chosen.log, small=chosen.small)
        costs = measure(root, chosen.cores)
    total, longest = sum(cost.cpu_s for cost in costs), max(cost.cpu_s for cost in costs)
    print(f"{len(costs)} tasks: {total:.2f} s; the longest {longest:.2f} s")
    print(f"worker {max(cost.peak_mb for cost in costs):.0f} MB at most")
    print(f"two cores at best {total / max(total / 2, longest):.2f} times as fast")
    return 0


if __name__ == "__main__":
    sys.exit(main())
