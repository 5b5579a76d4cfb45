"""`kraftool pipeline stream` as a process: what it prints and writes, and how it ends."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow.dataset
from jsonschema import Draft202012Validator
from live_fleet import BATCHES, FIXTURES, Live, next_offset
from processes import PATIENCE_S, ROOT, SMALL, Pipeline, To, ended

pytestmark = pytest.mark.spark

Row = dict[str, Any]


class Stream(Pipeline):
    """A run of the command, and the rows that it has printed."""

    def rows(self) -> list[Row]:
        lines = self.stdout.read_text().splitlines(keepends=True)
        return [json.loads(each) for each in lines if each.endswith("\n")]

    def wait_for_rows(self, wanted: Callable[[Row], bool]) -> list[Row]:
        self.wait_for("rows", lambda: any(map(wanted, self.rows())))
        return self.rows()


def streaming(folder: Path, *arguments: object) -> AbstractContextManager[Stream]:
    return ended(Stream(folder, "stream", *arguments, *SMALL))


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


def test_what_happens_to_a_fleet_is_told_as_it_happens_and_sigterm_ends_it_cleanly(
    live: Live, tmp_path: Path, schema: Draft202012Validator
) -> None:
    fleet = live.path.parent
    run = tmp_path / "run"
    with streaming(run, fleet, "-o", "jsonl", "--interval", "0.2") as stream:
        stream.wait_for_rows(lambda row: row.get("offset") == next_offset(BATCHES[9]) - 1)
        live.append(*BATCHES[10:12], BATCHES[12][:30])
        stream.wait_for_rows(lambda row: row.get("offset") == next_offset(BATCHES[11]) - 1)
        os.truncate(live.log, sum(map(len, BATCHES[:11])))
        stream.wait_for_rows(lambda row: row.get("type") == "TRUNCATED")
        shutil.copy(FIXTURES / "damaged/broken-quorum-state/quorum-state", live.folder)
        stream.wait_for_rows(lambda row: row.get("code") == "KT-DIR-QUORUM-STATE")
        other = Live(fleet / "node-2")
        other.append(*BATCHES[:2], b"\xff" * 40, BATCHES[2])
        stream.wait_for_rows(lambda row: row["kind"] == "problem")
        shutil.rmtree(other.path)
        rows = stream.wait_for_rows(lambda row: row.get("type") == "GONE")
        assert stream.end(signal.SIGTERM, To.ALL) == 0
        assert stream.leftovers() == []
        assert stream.stderr.read_text() == ""
    for row in rows:
        schema.validate(row)
    mine = [row for row in rows if row["directory"] == str(live.path)]
    assert _offsets(mine) == list(range(next_offset(BATCHES[11])))
    told = [(row["type"], row["directory"]) for row in rows if row["kind"] == "change"]
    assert told == [
        ("TRUNCATED", str(live.path)),
        ("APPEARED", str(other.path)),
        ("GONE", str(other.path)),
    ]


def test_ctrl_c_ends_with_130_and_leaves_nothing(live: Live, tmp_path: Path) -> None:
    with streaming(tmp_path / "run", live.path, "-o", "jsonl", "--type", "TopicRecord") as stream:
        rows = stream.wait_for_rows(lambda row: row["kind"] == "finding" or bool(row))
        assert stream.end(signal.SIGINT, To.GROUP) == 130
        assert stream.leftovers() == []
        assert stream.stderr.read_text() == ""
        assert {row["type"] for row in rows if row["kind"] == "record"} == {"TOPIC_RECORD"}


def test_a_reader_that_has_had_enough_ends_a_stream_without_news(
    live: Live, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "kraftool", "pipeline", "stream", str(live.path), *SMALL]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, env=environment)
    os.close(writing)
    with os.fdopen(reading, "rb") as shown:
        assert b"LeaderChange" in shown.read(500)
    _, told = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, told) == (0, b"")


def _table(folder: Path) -> list[tuple[Any, ...]]:
    """What any reader of Parquet finds, not only Spark."""
    if not any(folder.glob("batch=*")):
        return []
    table = pyarrow.dataset.dataset(folder, format="parquet", partitioning="hive").to_table()
    columns = ("directory", "kind", "type", "generation", "epoch", "offset", "position", "code")
    return [tuple(row[name] for name in columns) for row in table.to_pylist()]


def test_parquet_has_each_row_once_however_often_the_run_is_killed(
    live: Live, tmp_path: Path
) -> None:
    fleet, out = live.path.parent, tmp_path / "out"
    other = Live(fleet / "node-2")
    chance = random.Random(7)
    arguments = (fleet, f"--to=parquet:{out}", "--interval=0.1", "--rate=2000")
    at, first = 10, (str(live.path), next_offset(BATCHES[9]) - 1)
    for number in range(2):
        with streaming(tmp_path / f"run-{number}", *arguments) as stream:
            stream.wait_for("a batch", lambda: first in {(row[0], row[5]) for row in _table(out)})
            deadline = time.monotonic() + chance.uniform(0.2, 2)
            while time.monotonic() < deadline and at < 80:
                live.append(BATCHES[at])
                other.append(BATCHES[at - 10])
                at += 1
                time.sleep(chance.uniform(0, 0.1))
            stream.process.kill()
    os.truncate(live.log, sum(map(len, BATCHES[:8])))
    shutil.copy(FIXTURES / "damaged/broken-quorum-state/quorum-state", live.folder)
    with streaming(tmp_path / "last", *arguments, "--once") as stream:
        assert stream.process.wait(PATIENCE_S) == 0, stream.stderr.read_text()
        assert stream.leftovers() == []

    rows = _table(out)
    assert max(Counter(rows).values()) == 1
    records = [row for row in rows if row[1] == "record"]
    of_other = sorted(row[5] for row in records if row[0] == str(other.path))
    assert of_other == list(range(next_offset(BATCHES[at - 11])))
    of_live = Counter(row[5] for row in records if row[0] == str(live.path))
    assert set(of_live) >= set(range(next_offset(BATCHES[9])))
    assert {row[1] for row in rows} >= {"record", "change", "finding"}
    assert Counter(row[2] for row in rows if row[1] == "change")["TRUNCATED"] == 1
    for path in (out, *out.rglob("*")):
        allowed = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == allowed, path
