"""What the tests of the tables share: logs that grow, a Spark that is none, tables read back.

Run as a script it is a run that the system kills: `tables_support.py ROOT OUT STEP` writes the
tables and ends without any cleaning up at the STEP-th call that changes the file system below OUT.
With a fourth argument, `commits`, only commits of Delta tables count.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote

from kraftool.arrow.untyped import pa
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.spark.tables import delta
from kraftool.spark.tables.run import TablesReport, TablesRequest, write_tables

LOG = "__cluster_metadata-0/00000000000000000000.log"
WHEN_MS = 1_700_000_000_000
DAY_MS = 86_400_000
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
OPERATIONS = ("open", "mkdir", "replace", "unlink", "rmdir")

Row = dict[str, Any]
Tables = dict[str, list[str]]


class Frame:
    """As much of a DataFrame as work needs: a column of pickles, each a task of its own."""

    def __init__(self, held: Iterable[bytes], attempts: int = 1) -> None:
        self._held, self._attempts = list(held), attempts

    def repartition_by_id(self, partitions: int, column: str) -> Frame:
        assert (partitions, column) == (len(self._held), "number")
        return self

    repartitionById = repartition_by_id

    def select(self, column: str) -> Frame:
        assert column == "held"
        return self

    def map_in_arrow(self, function: Callable[[Any], Iterator[Any]], schema: str) -> Frame:
        assert schema == "held BINARY"
        function = pickle.loads(pickle.dumps(function))
        return Frame(result for held in self._held for result in self._task(function, held))

    mapInArrow = map_in_arrow

    def _task(self, function: Callable[[Any], Iterator[Any]], held: bytes) -> list[bytes]:
        """The results of the last attempt; those of the others are lost, as Spark loses them."""
        results: list[bytes] = []
        for _ in range(self._attempts):
            batch = pa.RecordBatch.from_pydict({"held": pa.array([held], pa.binary())})
            made = function(iter([batch]))
            results = [value for one in made for value in one.column("held").to_pylist()]
        return results

    def to_arrow(self) -> Any:
        return pa.table({"held": pa.array(self._held, pa.binary())})

    toArrow = to_arrow


class InProcess:
    """As much of a SparkSession as a run uses. What travels to workers is pickled."""

    def __init__(self, attempts: int = 1) -> None:
        self.attempts, self.jobs = attempts, 0
        self.sparkContext = SimpleNamespace(defaultParallelism=2)

    def create_data_frame(self, table: Any) -> Frame:
        self.jobs += 1
        return Frame(table.column("held").to_pylist(), self.attempts)

    createDataFrame = create_data_frame


def run(
    root: Path | str | tuple[Path, ...],
    out: Path | str,
    session: InProcess | None = None,
    **more: Any,
) -> TablesReport:
    """Write tables without a JVM."""
    roots = root if isinstance(root, tuple) else (root,)

    @contextmanager
    def start() -> Iterator[Any]:
        yield session or InProcess()

    return write_tables(TablesRequest(roots=tuple(map(str, roots)), out=str(out), **more), start)


def values_of(first: int, count: int) -> list[bytes]:
    """Records of three types."""
    made = []
    for number in range(first, first + count):
        match number % 3:
            case 0:
                value: Any = {"partitionId": number, "topicId": TOPIC_ID, "leader": number % 5}
                made.append(encode_record("PartitionChangeRecord", 0, value))
            case 1:
                made.append(encode_record("NoOpRecord", 0, {}))
            case _:
                value = {"resourceType": 2, "resourceName": f"t{number}", "name": "a", "value": "b"}
                made.append(encode_record("ConfigRecord", 0, value))
    return made


def batches(first: int, count: int, *, epoch: int = 1, day: int = 0, size: int = 5) -> bytes:
    """Batches of some records each, `count` of them, from an offset on."""
    made = b""
    for number in range(count):
        base = first + number * size
        made += encode_batch(
            ((None, value) for value in values_of(base, size)),
            base_offset=base,
            epoch=epoch,
            timestamp=WHEN_MS + day * DAY_MS + base,
        )
    return made


def directory(path: Path, data: bytes, *, cluster: str = "abc", node: int = 1) -> Path:
    """A data directory with one segment."""
    log = path / LOG
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(data)
    (path / "meta.properties").write_text(f"version=1\ncluster.id={cluster}\nnode.id={node}\n")
    return path


def files_of(out: Path | str, table: str, **more: Any) -> list[Path]:
    """The files of the latest version of a table, in the order of their names."""
    delta_table = import_module("deltalake").DeltaTable(str(Path(out) / table), **more)
    return sorted(Path(unquote(file)) for file in delta_table.file_uris())


def tables_of(out: Path) -> list[str]:
    """The tables that have rows."""
    return [name for name in _tables_in(out) if files_of(out, name)]


def _tables_in(out: Path) -> list[str]:
    """The tables that are there, with or without rows."""
    names = sorted(path.parent.name for path in out.glob("*/_delta_log"))
    return [name for name in names if not name.startswith("_")]


def state_of(out: Path | str, **more: Any) -> dict[str, Any]:
    """The latest whole run, and the version of each table that it left: the recipe of the docs."""
    state = import_module("deltalake").DeltaTable(f"{out}/_kraftool/state", **more)
    known = next(made for made in state.history() if "kraftool.state" in made)
    return dict(json.loads(known["kraftool.state"]))


def versions_of(out: Path) -> dict[str, int]:
    """The version of each table that the latest whole run left."""
    return {name: table["version"] for name, table in state_of(out)["tables"].items()}


def read_tables(
    out: Path,
    *,
    without: frozenset[str] = frozenset({"generation"}),
    versions: Mapping[str, int] | None = None,
) -> Tables:
    """All rows of all tables, or of some versions of them; sorted, for comparisons."""
    pq: Any = import_module("pyarrow.parquet")

    tables: Tables = {}
    for name in _tables_in(out) if versions is None else versions:
        for path in files_of(out, name, version=None if versions is None else versions[name]):
            with pq.ParquetFile(path) as file:
                for row in file.read(use_threads=False).to_pylist():
                    kept = {name: value for name, value in row.items() if name not in without}
                    tables.setdefault(name, []).append(
                        json.dumps(kept, default=str, sort_keys=True)
                    )
    return {name: sorted(rows) for name, rows in tables.items()}


def listing(out: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with the time of its latest change and its bytes."""
    return {
        str(path.relative_to(out)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


@contextmanager
def stopped_at(
    step: int, below: Path, stop: Callable[[], None], operations: Sequence[str] = OPERATIONS
) -> Iterator[list[str]]:
    """Call `stop` in place of the step-th change to the file system below a folder, or just after
    it if that is a commit of a Delta table; yields a list of the changes that were made."""
    made: list[str] = []
    kept = {name: getattr(os, name) for name in operations}

    def replaced(name: str) -> Callable[..., Any]:
        def call(path: Any, *more: Any, **named: Any) -> Any:
            if str(path).startswith(str(below)):
                if len(made) == step:
                    stop()
                made.append(name)
            return kept[name](path, *more, **named)

        return call

    kept_commit = delta.commit

    def commit(place: Any, *more: Any) -> int:
        version = -1
        for when in ("commit", "committed"):
            if place.root.startswith(str(below)):
                if len(made) == step:
                    stop()
                made.append(when)
            if when == "commit":
                version = kept_commit(place, *more)
        return version

    try:
        for name in operations:
            setattr(os, name, replaced(name))
        with patch.object(delta, "commit", commit):
            yield made
    finally:
        for name, function in kept.items():
            setattr(os, name, function)


def main() -> None:
    root, out, step = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    operations = () if sys.argv[4:] == ["commits"] else OPERATIONS
    with stopped_at(step, out, lambda: os._exit(9), operations):
        run(root, out, snapshots="SNAPSHOTS" in os.environ)


if __name__ == "__main__":
    main()
