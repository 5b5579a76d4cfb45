"""Measures the tables of large logs and of many directories: CPU by phase, longest task, memory.

    python tests/bench/sizes.py --log 2GB
    python tests/bench/sizes.py --log 2GB --small 5000
    python tests/bench/sizes.py --small 20000

One process is the driver. A second one does the tasks one after the other, as a Python worker of
Spark does. So the figures are those of kraftool, without Spark. Seconds are CPU (user and system),
which other programs on the machine hardly change. The longest task limits the gain of two cores.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from kraftool.spark.tables.run import TablesRequest, write_tables
from tests.bench.pipeline import _end_offset, make_large, make_small, options_of_tasks
from tests.bench.processes import memory_mb
from tests.spark.tables_support import Frame, InProcess


class TaskResult(NamedTuple):
    """The results of a task, and the CPU seconds of each of its units."""

    results: list[bytes]
    units: list[tuple[str, float]]
    peak_mb: float


def do_task(function: Any, held: bytes) -> TaskResult:
    """Do the units of one task, one after the other."""
    (of_each,) = function.args
    (task,) = of_each.args[0].args  # results_of has it return pickles, as rows
    results, units = [], []
    for unit in pickle.loads(held):
        before = time.process_time()
        results += [pickle.dumps(result) for result in task((unit,))]
        units.append((type(unit).__name__, time.process_time() - before))
    high, _ = memory_mb(os.getpid()) or (0.0, 0.0)
    return TaskResult(results, units, high)


class Measured(InProcess):
    """The parts of a SparkSession that a run uses, with one worker."""

    def __init__(self, worker: Pool, cores: int) -> None:
        super().__init__()
        self.sparkContext.defaultParallelism = cores
        self._worker = worker
        self.tasks: list[TaskResult] = []

    def create_data_frame(self, table: Any) -> MeasuredFrame:
        return MeasuredFrame(table.column("held").to_pylist(), self)

    createDataFrame = create_data_frame

    def do(self, function: Any, held: bytes) -> list[bytes]:
        """Have the worker do a task."""
        done = self._worker.apply(do_task, (function, held))
        self.tasks.append(done._replace(results=[]))
        return list(done.results)


class MeasuredFrame(Frame):
    """The values of a run's tasks."""

    def __init__(self, held: Any, session: Measured) -> None:
        super().__init__(held)
        self._session = session

    def map_in_arrow(self, function: Callable[[Any], Iterator[Any]], schema: str) -> MeasuredFrame:
        held = [result for held in self._held for result in self._session.do(function, held)]
        return MeasuredFrame(held, self._session)

    mapInArrow = map_in_arrow


def make(root: Path, log: int, small: int) -> int:
    """Write one directory with a log of so many bytes, and many small ones. Return the number of
    records in the large log."""
    if small:
        make_small(root, small)
    if not log:
        return 0
    make_large(root / "large", log)
    (directory,) = (path for path in (root / "large").glob("*/*") if path.is_dir())
    return _end_offset(directory)


def measure(root: Path, out: Path, cores: int) -> tuple[Measured, float]:
    """Write the tables; return the measured session, and the CPU seconds of the driver."""
    with get_context("spawn").Pool(1) as worker:
        session = Measured(worker, cores)

        @contextmanager
        def start() -> Iterator[Any]:
            yield session

        before = time.process_time()
        write_tables(TablesRequest(roots=(str(root),), out=str(out)), start)
        return session, time.process_time() - before


def main(arguments: list[str] | None = None) -> int:
    chosen = options_of_tasks(__doc__).parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kraftool-sizes-") as temporary:
        root, out = Path(temporary) / "fleet", Path(temporary) / "tables"
        root.mkdir()
        with get_context("spawn").Pool(1) as maker:  # so that its memory is not the driver's
            records = maker.apply(make, (root, chosen.log, chosen.small))
        session, driver_s = measure(root, out, chosen.cores)
        high, _ = memory_mb(os.getpid()) or (0.0, 0.0)
        spent: dict[str, float] = {}
        for task in session.tasks:
            for kind, seconds in task.units:
                spent[kind] = spent.get(kind, 0.0) + seconds
        total = sum(spent.values())
        longest = max(session.tasks, key=lambda task: sum(seconds for _, seconds in task.units))
        longest_s = sum(seconds for _, seconds in longest.units)
        kinds = ", ".join(f"{kind} {seconds:.1f}" for kind, seconds in sorted(spent.items()))
        print(f"{records:,} records in the large log; {len(session.tasks)} tasks")
        print(f"driver {driver_s:.1f} s, {high:.0f} MB at most")
        print(f"tasks {total:.1f} s ({kinds})")
        print(f"worker {max(task.peak_mb for task in session.tasks):.0f} MB at most")
        print(f"longest task {longest_s:.1f} s ({', '.join({kind for kind, _ in longest.units})})")
        print(f"two cores at best {total / max(total / 2, longest_s):.2f} times as fast")
        shutil.rmtree(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
