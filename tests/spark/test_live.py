"""`kraftool pipeline stream`: what it prints and writes, and how it ends.

Only what is about the process has one of its own; the rest runs the command here, on the session
that the tests share.
"""

import json
import os
import random
import shutil
import signal
import stat
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

from tests.spark.live_fleet import BATCHES, Live, next_offset
from tests.spark.pipeline_processes import SMALL, Pipeline, To, ended
from tests.spark.pipelines_here import StartHere, stream_here
from tests.support.json_contract import hold_document
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ds: Any = import_module("pyarrow.dataset")

pytestmark = pytest.mark.spark

Row = dict[str, Any]


def _rows_in(path: Path) -> list[Row]:
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def streaming(folder: Path, *arguments: object) -> AbstractContextManager[Pipeline]:
    return ended(Pipeline(folder, "stream", *arguments, *SMALL))


@pytest.fixture
def here(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> StartHere:
    return stream_here(spark, monkeypatch)


@pytest.fixture
def live(tmp_path: Path) -> Live:
    made = Live(tmp_path / "fleet/node-1")
    made.append(*BATCHES[:10])
    return made


def _offsets(rows: list[Row]) -> list[int]:
    return [row["offset"] for row in rows if row["kind"] == "record"]


def test_what_happens_to_a_fleet_is_told_as_it_happens(
    live: Live, tmp_path: Path, here: StartHere
) -> None:
    fleet, rows_path = live.path.parent, tmp_path / "told"
    arguments = (fleet, "-o", "jsonl", "--interval", "0.1")
    with rows_path.open("w") as stdout, here(stdout, *arguments) as stream:

        def wait_for(wanted: Callable[[Row], bool]) -> None:
            stream.wait_for(lambda: any(map(wanted, _rows_in(rows_path))))

        wait_for(lambda row: row.get("offset") == next_offset(BATCHES[9]) - 1)
        live.append(*BATCHES[10:12], BATCHES[12][:30])
        wait_for(lambda row: row.get("offset") == next_offset(BATCHES[11]) - 1)
        os.truncate(live.log, sum(map(len, BATCHES[:11])))
        wait_for(lambda row: row.get("type") == "TRUNCATED")
        shutil.copy(FIXTURES / "damaged/broken-quorum-state/quorum-state", live.folder)
        wait_for(lambda row: row.get("code") == "KT-DIR-QUORUM-STATE")
        other = Live(fleet / "node-2")
        other.append(*BATCHES[:2], b"\xff" * 40, BATCHES[2])
        wait_for(lambda row: row["kind"] == "problem")
        shutil.rmtree(other.path)
        wait_for(lambda row: row.get("type") == "GONE")
        stream.asked.terminated = True
        assert stream.end() == 0
    rows = _rows_in(rows_path)
    for row in rows:
        hold_document("pipeline-stream", row)
    mine = [row for row in rows if row["directory"] == str(live.path)]
    assert _offsets(mine) == list(range(next_offset(BATCHES[11])))
    changes = [(row["type"], row["directory"]) for row in rows if row["kind"] == "change"]
    assert changes == [
        ("TRUNCATED", str(live.path)),
        ("APPEARED", str(other.path)),
        ("GONE", str(other.path)),
    ]


def test_a_reader_that_has_had_enough_ends_a_stream_without_news(
    live: Live, here: StartHere
) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stdout, here(stdout, live.path, "--interval=0.1") as stream:
        with os.fdopen(reading, "rb") as shown:
            assert b"LeaderChange" in shown.read(500)
        assert stream.end() == 0


def test_ctrl_c_ends_with_130_and_leaves_nothing(live: Live, tmp_path: Path) -> None:
    with streaming(tmp_path / "run", live.path, "-o", "jsonl", "--type", "TopicRecord") as stream:
        stream.wait_for("rows", lambda: bool(_rows_in(stream.stdout)))
        assert stream.end(signal.SIGINT, To.GROUP) == 130
        assert stream.leftovers() == []
        assert stream.stderr.read_text() == ""
        rows = _rows_in(stream.stdout)
        assert {row["type"] for row in rows if row["kind"] == "record"} == {"TopicRecord"}


def _table(folder: Path) -> list[tuple[Any, ...]]:
    """What any reader of Parquet finds, not only Spark."""
    if not any(folder.glob("batch=*")):
        return []
    table = ds.dataset(folder, format="parquet", partitioning="hive").to_table()
    columns = ("directory", "kind", "type", "generation", "epoch", "offset", "position", "code")
    return [tuple(row[name] for name in columns) for row in table.to_pylist()]


def test_parquet_has_each_row_once_though_the_run_is_killed(
    live: Live, tmp_path: Path, here: StartHere
) -> None:
    fleet, out = live.path.parent, tmp_path / "out"
    other = Live(fleet / "node-2")
    chance = random.Random(7)
    arguments = (fleet, f"--to=parquet:{out}", "--interval=0.1", "--rate=2000")
    at, first = 10, (str(live.path), next_offset(BATCHES[9]) - 1)
    with streaming(tmp_path / "run", *arguments) as stream:
        stream.wait_for("a batch", lambda: first in {(row[0], row[5]) for row in _table(out)})
        deadline = time.monotonic() + chance.uniform(0.2, 2)
        while time.monotonic() < deadline and at < 80:
            live.append(BATCHES[at])
            other.append(BATCHES[at - 10])
            at += 1
            time.sleep(chance.uniform(0, 0.1))
        stream.process.kill()
        stream.leftovers()  # the JVM sees that we are gone, and ends; until then it may write
        assert stream.processes() == {}
    for path in (out, *out.rglob("*")):
        allowed = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == allowed, path
    os.truncate(live.log, sum(map(len, BATCHES[:8])))
    shutil.copy(FIXTURES / "damaged/broken-quorum-state/quorum-state", live.folder)
    with (tmp_path / "told").open("w") as stdout, here(stdout, *arguments, "--once") as last:
        assert last.end() == 0

    rows = _table(out)
    assert max(Counter(rows).values()) == 1
    records = [row for row in rows if row[1] == "record"]
    of_other = sorted(row[5] for row in records if row[0] == str(other.path))
    assert of_other == list(range(next_offset(BATCHES[at - 11])))
    of_live = Counter(row[5] for row in records if row[0] == str(live.path))
    assert set(of_live) >= set(range(next_offset(BATCHES[9])))
    assert {row[1] for row in rows} >= {"record", "change", "finding"}
    assert Counter(row[2] for row in rows if row[1] == "change")["TRUNCATED"] == 1
