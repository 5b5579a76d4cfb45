"""Histories of random steps: after each run the tables are those of one run over the same fleet.

Between two runs logs grow, are truncated, damaged and removed, clusters are new, another program
puts files of the tables together, and runs are killed: while they write files, between and after
their commits, and from outside, wherever they are. Tasks run twice, as when Spark loses a worker.
Real workers are killed in test_killed_worker.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("deltalake")

from tests.spark import tables_support as support
from tests.spark.tables_support import batches, directory, read_tables, run
from tests.support.places import FIXTURES, ROOT

pytestmark = pytest.mark.spark

_PASSING = frozenset({"generation", "noticed"})
_CHECKPOINT = next((FIXTURES / "kafka-4.3.0").rglob("0*[1-9]-*.checkpoint"))


class _History:
    """A fleet, its tables, and what happens to both."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = Random(seed)
        self._root, self._out, self._aside = folder / "fleet", folder / "out", folder / "aside"
        self._fresh = folder / "fresh"
        self._ends: dict[Path, int] = {}
        """The next offset of each log."""
        self._epoch, self._clusters = 1, 0
        self._aside.mkdir()
        for step in (self.new_cluster, self.new_cluster, self.run):
            step()

    def step(self) -> str:
        name = self._random.choice(_STEPS)
        getattr(self, name)()
        return name

    def _one(self) -> Path:
        return self._random.choice(sorted(self._ends))

    def new_cluster(self) -> None:
        self._clusters += 1
        cluster = None if self._random.random() < 0.2 else f"c{self._clusters}"
        for node in range(self._random.choice((1, 1, 3)) if cluster else 1):
            count = self._random.randrange(1, 9)
            path = self._root / f"c{self._clusters}" / f"node-{node}"
            directory(path, batches(0, count), cluster=cluster or "", node=node)
            if cluster is None:
                (path / "meta.properties").unlink()
            self._ends[path] = 5 * count

    def append(self) -> None:
        path = self._one()
        count = self._random.randrange(1, 4)
        data = batches(self._ends[path], count, epoch=self._epoch, day=self._random.randrange(3))
        with (path / support.LOG).open("ab") as log:
            log.write(data)
        self._ends[path] += 5 * count

    def tear(self) -> None:
        """A batch that is half written; what comes next stands in its place."""
        path = self._one()
        torn = batches(self._ends[path], 1, epoch=self._epoch)[:-30]
        log = path / support.LOG
        whole = log.read_bytes()
        log.write_bytes(whole + torn)
        self.run()
        log.write_bytes(whole)

    def truncate(self) -> None:
        path = self._one()
        self._epoch += 1
        count = max(1, self._ends[path] // 5 - self._random.randrange(1, 4))
        log = path / support.LOG
        data, end = log.read_bytes(), 0
        for _ in range(count):  # to the border of a batch: what was read is not read again
            end += 12 + int.from_bytes(data[end + 8 : end + 12], "big")
        log.write_bytes(data[:end] + batches(5 * count, 1, epoch=self._epoch))
        self._ends[path] = 5 * (count + 1)

    def checkpoint(self) -> None:
        """A snapshot that is cut, and then whole."""
        target = (self._one() / support.LOG).with_name(_CHECKPOINT.name)
        data = _CHECKPOINT.read_bytes()
        target.write_bytes(data if target.exists() else data[:-40])

    def remove(self) -> None:
        """A cluster with one directory goes, and keeps its rows."""
        alone = [path for path in self._ends if len(list(path.parent.iterdir())) == 1]
        if len(alone) > 1:
            path = self._random.choice(sorted(alone))
            path.parent.rename(self._aside / path.parent.name)
            del self._ends[path]

    def optimize(self) -> None:
        """Another program puts the files of some tables together, or a run all of them."""
        if self._random.random() < 0.3:
            self._run(optimize=True)
            return
        for name in support.tables_of(self._out):
            if self._random.random() < 0.6:
                table: Any = import_module("deltalake").DeltaTable(str(self._out / name))
                table.optimize.compact()

    def task_twice(self) -> None:
        self.append()
        self._run(session=support.InProcess(attempts=2))

    def kill_at_a_file(self) -> None:
        self.append()
        self._kill(str(self._random.randrange(120)))

    def kill_at_a_commit(self) -> None:
        self.truncate()
        self._kill(str(self._random.randrange(40)), "commits")

    def kill_from_outside(self) -> None:
        self.append()
        before = len(self._commits())
        more = self._random.randrange(1, 12)
        with subprocess.Popen(self._command("-1"), env=self._environment()) as process:
            while process.poll() is None and len(self._commits()) < before + more:
                pass
            process.kill()

    def _commits(self) -> list[Path]:
        return list(self._out.rglob("_delta_log/*.json"))

    def _kill(self, *arguments: str) -> None:
        done = subprocess.run(
            self._command(*arguments), env=self._environment(), check=False, capture_output=True
        )
        assert done.returncode in (0, 9), done.stderr.decode()

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, support.__file__, str(self._root), str(self._out), *arguments]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), "SNAPSHOTS": "1"}

    def run(self) -> None:
        self._run()

    def _run(self, **more: Any) -> None:
        run(self._root, self._out, snapshots=True, **more)

    def check(self) -> None:
        """Run, and compare with one run over the fleet; what was removed is there again for it."""
        self.run()
        aside = sorted(self._aside.iterdir())
        for path in aside:
            path.rename(self._root / path.name)
        try:
            run(self._root, self._fresh, snapshots=True)
        finally:
            for path in aside:
                (self._root / path.name).rename(path)
        expected = read_tables(self._fresh, without=_PASSING)
        subprocess.run(["rm", "-r", self._fresh], check=True)
        tables = read_tables(self._out, without=_PASSING)
        tables.pop("changes", None)
        for name in expected.keys() | tables.keys():
            assert tables.get(name) == expected.get(name), name
        versions = support.versions_of(self._out)
        assert read_tables(self._out, versions=versions) == read_tables(self._out)
        assert run(self._root, self._out, snapshots=True).is_new is False


_STEPS = (
    "append", "append", "tear", "truncate", "checkpoint", "remove", "new_cluster", "optimize",
    "task_twice", "kill_at_a_file", "kill_at_a_commit", "kill_from_outside",
)  # fmt: skip


def _lived(folder: Path, seed: int, count: int) -> None:
    history = _History(folder, seed)
    steps = []
    for _ in range(count):
        steps.append(history.step())
        try:
            history.check()
        except BaseException:
            print(f"seed {seed}: {' '.join(steps)}")
            raise


def test_a_short_history_leaves_the_tables_of_one_run(tmp_path: Path) -> None:
    history = _History(tmp_path, 1)
    for name in ("tear", "optimize", "truncate", "kill_at_a_commit", "kill_at_a_file"):
        getattr(history, name)()
    history.check()


@pytest.mark.soak
def test_a_history_of_200_random_steps_leaves_the_tables_of_one_run(tmp_path: Path) -> None:
    _lived(tmp_path, seed=43, count=200)
