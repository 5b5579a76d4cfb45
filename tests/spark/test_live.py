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
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pytest

pytest.importorskip("pyspark")

from jsonschema import Draft202012Validator

from kraftool.commands import pipeline_stream_run
from kraftool.spark.live import stopping
from tests.spark.live_fleet import BATCHES, Live, next_offset
from tests.spark.pipeline_processes import PATIENCE_S, SMALL, Pipeline, To, ended
from tests.support.places import FIXTURES, ROOT

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


class Here:
    """The command in a thread of this process. SIGTERM is only said to have come."""

    def __init__(self, asked: stopping.Stopping, *arguments: object) -> None:
        self.asked = asked
        self._arguments = ["pipeline", "stream", *map(str, arguments)]
        self._ended: list[object] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        from kraftool.commands.app import app

        try:
            app(self._arguments, standalone_mode=False)
        except BaseException as error:
            self._ended.append(error.code if isinstance(error, SystemExit) else error)

    def wait_for(self, probe: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not probe():
            assert self._thread.is_alive(), self._ended
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def end(self) -> object:
        """What it ends with."""
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        (code,) = self._ended
        return code


StartHere = Callable[..., AbstractContextManager[Here]]


@pytest.fixture
def here(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> StartHere:
    """Starts the command with a stdout of its own."""

    @contextmanager
    def start(stdout: TextIO, *arguments: object) -> Iterator[Here]:
        asked = stopping.Stopping()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", stdout)
            patch.setattr(pipeline_stream_run, "spark_session", lambda *_: nullcontext(spark))
            patch.setattr(stopping, "stopping", lambda: nullcontext(asked))
            run = Here(asked, *arguments)
            try:
                yield run
            finally:
                asked.terminated = True
                run.end()

    return start


@pytest.fixture
def live(tmp_path: Path) -> Live:
    made = Live(tmp_path / "fleet/node-1")
    made.append(*BATCHES[:10])
    return made


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    loaded = json.loads((ROOT / "docs/schemas/pipeline-stream.json").read_text())
    Draft202012Validator.check_schema(loaded)
    return Draft202012Validator(loaded)


def _offsets(rows: list[Row]) -> list[int]:
    return [row["offset"] for row in rows if row["kind"] == "record"]


def test_what_happens_to_a_fleet_is_told_as_it_happens(
    live: Live, tmp_path: Path, schema: Draft202012Validator, here: StartHere
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
        schema.validate(row)
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
