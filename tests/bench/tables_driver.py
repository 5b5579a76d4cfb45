"""Measures the driver of `pipeline tables` with many small directories: memory and CPU.

    python tests/bench/tables_driver.py --directories 20000

The directories are copies of generated ones, three to a cluster: hard links, but for
meta.properties. A first run over some clusters does all work. In the measured run the tasks look at
the logs, but write nothing: each returns what a task of the first run returned. So the driver has
as many files to commit as it would have, in minutes. Seconds are CPU (user and
system) of the driver's process.
"""

from __future__ import annotations

import argparse
import os
import pickle
import re
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.build import FleetPlan, build

from kraftool.spark.tables import run as run_module
from kraftool.spark.tables.run import TablesReport, TablesRequest, write_tables
from kraftool.spark.tables.sink import StagedFile
from kraftool.spark.tables.work import Done, TablesRun, Unit, work
from tests.bench.pipeline import _SEED
from tests.bench.processes import memory_mb
from tests.bench.sizes import Measured

_SAMPLE = 40
"""Clusters that are made, and read by the first run. The others are copies of them."""


def make(made: Path, root: Path, directories: int) -> None:
    """Write the originals, and about so many directories that are copies of them."""
    build(made, FleetPlan(clusters=_SAMPLE, nodes=3, seed=_SEED))
    copied(root, made, round(directories / 3))


def copied(root: Path, made: Path, clusters: int) -> None:
    """Write so many clusters, each with an id of its own."""
    originals = sorted(path for path in made.iterdir() if path.is_dir())
    for number in range(clusters):
        original = originals[number % len(originals)]
        for path in original.rglob("*"):
            target = root / f"{number}" / path.relative_to(original)
            if path.is_dir():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.name == "meta.properties":
                own = f"cluster.id={number:05d}"
                target.write_text(re.sub(r"(?m)^cluster\.id=.{5}", own, path.read_text()))
            else:
                os.link(path, target)


def recorded_work(results: Path, run: TablesRun, units: Sequence[Unit]) -> Iterator[Done]:
    """Do the work, and record the files of each unit."""
    for unit in units:
        for done in work(run, [unit]):
            with results.open("ab") as file:
                pickle.dump((type(unit).__name__, done.files), file)
            yield done


@cache
def _recorded(path: Path) -> dict[str, Iterator[list[StagedFile]]]:
    """Return the recorded files of the units of each kind, again and again."""
    by_kind: dict[str, list[list[StagedFile]]] = {}
    with path.open("rb") as file, suppress(EOFError):
        while True:
            kind, files = pickle.load(file)
            by_kind.setdefault(kind, []).append(files)
    return {kind: cycle(of_units) for kind, of_units in by_kind.items()}


def replayed_work(results: Path, run: TablesRun, units: Sequence[Unit]) -> Iterator[Done]:
    """Return the files of a unit of the first run, under names of this run; write none."""
    for unit in units:
        own = f'"cluster_id":"{unit.key.cluster_id}"'
        files = [
            file._replace(
                path=f"{run.run_id}/{uuid.uuid4().hex[:12]}-{number:06d}.parquet",
                stats=re.sub('"cluster_id":"[^"]*"', own, file.stats),
            )
            for number, file in enumerate(next(_recorded(results)[type(unit).__name__]))
        ]
        yield Done(number=unit.number, files=files)


def write(root: Path, out: Path, worker: Pool, task: Any) -> TablesReport:
    """Write the tables, with another function for the work."""
    session = Measured(worker, 2)

    @contextmanager
    def start() -> Iterator[Any]:
        yield session

    with patch.object(run_module, "work", task):
        return write_tables(TablesRequest(roots=(str(root),), out=str(out)), start)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--directories", type=int, default=20_000)
    directories = parser.parse_args(arguments).directories
    context = get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="kraftool-driver-") as temporary:
        made, root, results = (Path(temporary) / name for name in ("made", "fleet", "recorded"))
        with context.Pool(1) as maker:  # so that its memory is not the driver's
            maker.apply(make, (made, root, directories))
        with context.Pool(1) as worker:
            write(made, Path(temporary) / "first", worker, partial(recorded_work, results))
            first, _ = memory_mb(os.getpid()) or (0.0, 0.0)
            before = time.process_time()
            replayed = partial(replayed_work, results)
            report = write(root, Path(temporary) / "tables", worker, replayed)
        spent = time.process_time() - before
        high, _ = memory_mb(os.getpid()) or (0.0, 0.0)
    added = sum(table.added_files for table in report.tables)
    more = (high - first) * 1000 / report.directories
    print(f"{report.directories:,} directories in {report.clusters:,} clusters: {added:,} files")
    print(f"driver {spent:.1f} s, {high:.0f} MB at most")
    print(f"{first:.0f} MB for the first {_SAMPLE} clusters, and {more:.1f} kB for each directory")
    return 0


if __name__ == "__main__":
    sys.exit(main())
