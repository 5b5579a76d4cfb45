"""A worker that is killed in the middle of a job: the job finishes, with the same tables.

The killer looks at what the processes have open, so that it strikes in the middle of the work.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.build import FleetPlan, build

from kraftool.spark.engine import with_tries
from tests.spark.audit_cases import audited
from tests.spark.standalone_cluster import Cluster
from tests.spark.tables_support import run
from tests.support.places import LOG, ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
PATIENCE_S = 300
TRIES = 5
SIZE = 4_000_000
"""Enough that the work on one log takes a second or more."""

DRIVER = """
import sys
sys.path.insert(0, {root!r})
from kraftool.spark.engine import session
from kraftool.spark.tables.run import TablesRequest, write_tables

fleet, out, master = sys.argv[1:]
settings = {{"spark.executor.memory": "512m", "spark.driver.memory": "512m"}}
write_tables(TablesRequest(roots=(fleet,), out=out), lambda: session(master, settings))
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("local", "local[1,4]"),
        ("local[2]", "local[2,4]"),
        ("local[*]", "local[*,4]"),
        ("local[*, 1]", "local[*, 1]"),
        ("local-cluster[1,2,1024]", "local-cluster[1,2,1024]"),
        ("spark://host:7077", "spark://host:7077"),
        ("yarn", "yarn"),
    ],
)
def test_tasks_of_this_machine_are_tried_as_often_as_those_of_a_cluster(
    given: str, expected: str
) -> None:
    assert with_tries(given, "4") == expected


def test_a_task_whose_worker_is_killed_is_tried_again_on_this_machine(
    spark: SparkSession, tmp_path: Path
) -> None:
    killed = str(tmp_path / "killed")

    def numbers(part: Iterable[int]) -> Iterator[int]:
        for number in part:
            # Only the first attempt gets here without finding the file.
            if number == 5 and not os.path.exists(killed):
                with open(killed, "w"):
                    pass
                os.kill(os.getpid(), signal.SIGKILL)
            yield number

    collected = spark.sparkContext.parallelize(range(8), 4).mapPartitions(numbers).collect()
    assert collected == list(range(8))
    assert os.path.exists(killed)


# --- tables -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    build(folder, FleetPlan(clusters=2, nodes=1, seed=6, huge=SIZE))
    return folder


@pytest.fixture(scope="module")
def undisturbed(fleet: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The tables without a kill. test_tables.py shows that Spark's workers write the same."""
    out = tmp_path_factory.mktemp("tables") / "undisturbed"
    run(fleet, out)
    return rows(out)


def write(fleet: Path, out: Path, spark: Callable[[], AbstractContextManager[Any]]) -> None:
    from kraftool.spark.tables.run import TablesRequest, write_tables

    write_tables(TablesRequest(roots=(str(fleet),), out=str(out)), spark)


def rows(out: Path) -> dict[str, list[Any]]:
    """Every table's rows, in an order of their own: which file has a row is nobody's business."""
    delta_table: Any = import_module("deltalake").DeltaTable
    by_table = {}
    for folder in sorted(path for path in out.iterdir() if path.is_dir()):
        if folder.name.startswith(("_", ".")):
            continue
        rows_of = delta_table(str(folder)).to_pyarrow_table().to_pylist()
        by_table[folder.name] = sorted(map(repr, rows_of))
    return by_table


class Killer(threading.Thread):
    """Kills one process, once, as soon as one is found that is worth it."""

    def __init__(self, find: Callable[[], int | None]) -> None:
        super().__init__(daemon=True)
        self._find = find
        self._over = threading.Event()
        self.killed: int | None = None

    def run(self) -> None:
        while not self._over.is_set():
            pid = self._find()
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                self.killed = pid
                return
            time.sleep(0.005)

    def __enter__(self) -> Killer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def with_a_kill(find: Callable[[Path], int | None], work: Callable[[Path], None], to: Path) -> Path:
    """Do some work while somebody is looking for a process to kill; return its folder. On a busy
    machine the work may be over before one is found, and is then done once more, elsewhere."""
    for number in range(TRIES):
        out = to / f"try-{number}"
        with Killer(partial(find, out)) as killer:
            work(out)
        if killer.killed is not None:
            return out
    raise AssertionError(f"the work was over {TRIES} times before anybody could be killed")


def descendants() -> dict[int, int]:
    """The processes that come from this one, each with its parent."""
    parents: dict[int, int] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(path.name)] = int(fields[1])
    processes: dict[int, int] = {}
    for pid in parents:
        above = pid
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() and pid != above:
            processes[pid] = parents[pid]
    return processes


def has_open(pid: int, name: str) -> bool:
    try:
        return any(os.readlink(path).endswith(name) for path in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def at_work(out: Path) -> Iterator[int]:
    """The workers that read the large log while rows of it are staged already."""
    if not any(path.is_file() and path.stat().st_size for path in out.rglob("*.parquet*")):
        return
    for pid in descendants():
        if has_open(pid, LOG):
            yield pid


def test_tables_are_the_same_when_a_worker_is_killed_in_the_middle(
    spark: SparkSession, fleet: Path, undisturbed: dict[str, list[Any]], tmp_path: Path
) -> None:
    out = with_a_kill(
        lambda out: next(at_work(out), None),
        lambda out: write(fleet, out, lambda: nullcontext(spark)),
        tmp_path,
    )
    assert rows(out) == undisturbed
    assert len(undisturbed["records"]) > 30_000


def test_an_audit_is_the_same_when_a_worker_is_killed_in_the_middle(
    spark: SparkSession, fleet: Path, tmp_path: Path
) -> None:
    documents: list[dict[str, Any]] = []

    def audit(_: Path) -> None:
        document = audited(spark, fleet).document
        del document["run"], document["counts"]["taskSeconds"]
        for directory in document["directories"]:
            del directory["seconds"]
        documents.append(document)

    audit(tmp_path)
    undisturbed = documents[0]
    assert undisturbed["counts"]["recordCount"] > 30_000
    with_a_kill(lambda _: next(filter(is_busy, descendants()), None), audit, tmp_path)
    again = documents[-1]
    assert again["counts"] == undisturbed["counts"]
    assert again == undisturbed


def is_busy(pid: int) -> bool:
    """Whether a worker has the large log open, and has worked on it for some time: by the
    processor's time, of which others may leave it little."""
    if not has_open(pid, LOG):
        return False
    try:
        begun = ticks(pid)
        while ticks(pid) - begun < 2:
            if not has_open(pid, LOG):
                return False
            time.sleep(0.01)
    except OSError:
        return False
    return has_open(pid, LOG)


def ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13]))


def executor_of(workers: Iterable[int]) -> int | None:
    """The JVM above a worker that is at work."""
    for pid in workers:
        parents = descendants()
        above = pid
        while above in parents:
            command = Path(f"/proc/{above}/cmdline")
            if command.exists() and b"CoarseGrainedExecutorBackend" in command.read_bytes():
                return above
            above = parents[above]
    return None


def run_on(cluster: Cluster, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = cluster.environment | {"PYSPARK_PYTHON": str(cluster.python)}
    return subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def test_tables_are_the_same_when_an_executor_of_a_cluster_is_killed_in_the_middle(
    cluster: Cluster, fleet: Path, undisturbed: dict[str, list[Any]], tmp_path: Path
) -> None:
    (tmp_path / "driver.py").write_text(DRIVER.format(root=str(ROOT)))

    def work(out: Path) -> None:
        done = run_on(cluster, tmp_path, "driver.py", str(fleet), str(out), cluster.master)
        assert done.returncode == 0, done.stderr[-4000:]

    out = with_a_kill(lambda out: executor_of(at_work(out)), work, tmp_path)
    assert rows(out) == undisturbed


@pytest.mark.soak
def test_an_audit_is_the_same_when_an_executor_of_a_cluster_is_killed_in_the_middle(
    cluster: Cluster, spark: SparkSession, fleet: Path, tmp_path: Path
) -> None:
    undisturbed = audited(spark, fleet).document
    memory = ["spark.executor.memory=512m", "spark.driver.memory=512m"]
    command = ["-m", "kraftool", "pipeline", "audit", str(fleet), "--master", cluster.master]
    command += ["-o", "json", *(f"--conf={option}" for option in memory)]

    def audit(out: Path) -> None:
        done = run_on(cluster, tmp_path, *command, "--out", str(out))
        assert done.returncode in (0, 1), done.stderr[-4000:]

    out = with_a_kill(lambda _: executor_of(filter(is_busy, descendants())), audit, tmp_path)
    again = json.loads(out.read_text())
    for document in (undisturbed, again):
        del document["run"], document["counts"]["taskSeconds"]
        for directory in document["directories"]:
            del directory["seconds"]
    assert again == undisturbed
