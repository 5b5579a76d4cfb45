"""All of a run or nothing of it, whatever stops it; one run at a time; foreign folders."""

import fcntl
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.arrow.untyped import pa
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import OccupiedError, UnusableError
from kraftool.spark.tables import sink as sink_module
from kraftool.spark.tables.commit import TablesRefusedError
from kraftool.spark.tables.layout import arrow_schema, folder_of, partition
from kraftool.spark.tables.sink import Sink, SinkError, staging
from tests.spark import tables_support as support
from tests.spark.tables_support import batches, directory, listing, read_tables, run, stopped_at

pytestmark = pytest.mark.spark

# Runs differ by when they noticed a change.
PASSING = frozenset({"generation", "noticed"})


def _grown(root: Path) -> None:
    """A second state of a fleet: growth, a truncation, a directory that is gone."""
    directory(root / "one", batches(0, 4) + batches(20, 2, day=1))
    directory(root / "two", batches(0, 3) + batches(15, 1, epoch=2), node=2)
    (root / "gone").rename(root.with_name(f"{root.name}-aside"))


def _first(root: Path) -> None:
    directory(root / "one", batches(0, 4) + b"\xff" * 30)
    directory(root / "two", batches(0, 5), node=2)
    directory(root / "gone", batches(0, 1), cluster="other")


def _told(out: Path) -> support.Tables:
    return read_tables(out, without=PASSING)


class Stopped(BaseException):
    """As an interrupt would."""


def _stop() -> None:
    raise Stopped


def _steps(root: Path, out: Path) -> int:
    """How many changes to the file system a run makes."""
    with stopped_at(-1, out, _stop) as made:
        run(root, out)
    return len(made)


def test_a_run_that_is_stopped_anywhere_is_finished_or_forgotten(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    _first(root)
    before = tmp_path / "before"
    run(root, before)
    was = _told(before)
    _grown(root)
    whole = tmp_path / "whole"
    subprocess.run(["cp", "-a", before, whole], check=True)
    steps = _steps(root, whole)
    expected = _told(whole)
    assert steps > 60
    states = set()
    for step in range(0, steps, 3):
        out = tmp_path / f"out{step}"
        subprocess.run(["cp", "-a", before, out], check=True)
        with stopped_at(step, out, _stop), pytest.raises(Stopped):
            run(root, out)
        committed = (out / "_kraftool/journal.jsonl").exists()
        states.add(committed)
        if not committed:
            assert _told(out) in (was, expected), step
        run(root, out)
        assert _told(out) == expected, step
        assert sorted(os.listdir(out / "_kraftool")) == ["lock", "memory", "tables.json"]
        settled = listing(out)
        assert run(root, out).is_new is False
        assert listing(out) == settled
    assert states == {True, False}


def test_a_process_that_is_killed_leaves_a_folder_that_the_next_run_mends(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    _first(root)
    run(root, tmp_path / "whole")
    expected = _told(tmp_path / "whole")
    steps = _steps(root, tmp_path / "counted")
    for step in (0, 1, 3, 5, 20, steps // 2, steps - 40, steps - 20, steps - 5, steps - 1):
        out = tmp_path / f"out{step}"
        command = [sys.executable, support.__file__, str(root), str(out), str(step)]
        environment = {**os.environ, "PYTHONPATH": str(support.FIXTURES.parent)}
        killed = subprocess.run(command, env=environment, check=False, capture_output=True)
        assert killed.returncode == 9, killed.stderr.decode()
        run(root, out)
        assert _told(out) == expected, step
        assert sorted(os.listdir(out / "_kraftool")) == ["lock", "memory", "tables.json"]


def test_no_reader_sees_a_part_of_a_file(tmp_path: Path) -> None:
    """Whatever has a table's name was whole before it got it."""
    root, out = tmp_path / "fleet", tmp_path / "out"
    _first(root)
    for step in range(0, _steps(root, tmp_path / "counted"), 9):
        with stopped_at(step, out, _stop), pytest.raises(Stopped):
            run(root, out)
        if out.exists():
            read_tables(out)  # raises for a file without its footer
            subprocess.run(["rm", "-r", out], check=True)


def test_a_second_run_at_the_same_time_is_refused(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    run(root, out)
    with (out / "_kraftool/lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = listing(out)
        with pytest.raises(TablesRefusedError, match="another run is writing to"):
            run(root, out)
        assert listing(out) == before
    run(root, out)


def test_a_folder_with_anything_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    root = directory(tmp_path / "fleet", batches(0, 4))
    before = listing(root)
    with pytest.raises(OccupiedError, match="is in the data directory"):
        run(root, root)
    assert listing(root) == before
    (tmp_path / "file").write_text("x")
    with pytest.raises(OccupiedError, match="is no folder"):
        run(root, tmp_path / "file")
    with pytest.raises(UnusableError, match="file/below cannot be written: Not a directory"):
        run(root, tmp_path / "file/below")
    with pytest.raises(UnusableError, match="not to a URL"):
        run(root, "s3://bucket/tables")


def test_a_root_that_leads_nowhere_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(KraftoolError, match="no such file or directory"):
        run(tmp_path / "nothing", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_options_than_before_are_refused(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    run(root, out)
    with pytest.raises(TablesRefusedError, match="written without --show-secrets") as caught:
        run(root, out, show_secrets=True)
    assert caught.value.hint == "leave out --show-secrets, or name another folder"
    with pytest.raises(TablesRefusedError, match="written without --snapshots"):
        run(root, out, snapshots=True)
    run(root, out, depth=7)
    with (out / "_kraftool/tables.json").open() as marker:
        assert json.load(marker)["depth"] == 6  # nothing was new, and nothing was written
    directory(root / "two", batches(0, 1), node=2)
    run(root, out, depth=7)
    with pytest.raises(TablesRefusedError, match="would count as removed") as caught:
        run(root, out)
    assert caught.value.hint == "give --depth 7, or name another folder"


def test_a_table_that_somebody_has_removed_is_missed(tmp_path: Path) -> None:
    root, out = directory(tmp_path / "fleet", batches(0, 4)), tmp_path / "out"
    run(root, out)
    (out / "records").rename(tmp_path / "records")
    with pytest.raises(TablesRefusedError, match="has lost its table records, with 20 rows"):
        run(root, out)
    (tmp_path / "records").rename(out / "records")
    assert not run(root, out).is_new


def test_who_reads_with_a_shared_lock_sees_a_run_whole(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    run(root, out)
    before = _told(out)
    directory(root / "one", batches(0, 2) + batches(10, 3, epoch=2))
    reader = os.open(out / "_kraftool", os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    with ThreadPoolExecutor(1) as other:
        writing = other.submit(run, root, out)
        while not (out / "_kraftool/journal.jsonl").exists():
            assert not writing.done()
        assert _told(out) == before
        assert not writing.done()
        os.close(reader)
        assert writing.result().log_changes == {"TRUNCATED": 1}
    assert _told(out) != before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"layout": 2}, "written by a newer kraftool"),
        ({"layout": 0}, "written by another kraftool"),
        ({"run": None, "tables": 3}, "cannot be read"),
    ],
)
def test_a_folder_of_another_kraftool_is_refused(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    root, out = directory(tmp_path / "fleet", batches(0, 4)), tmp_path / "out"
    run(root, out)
    marker = out / "_kraftool/tables.json"
    marker.write_text(json.dumps({**json.loads(marker.read_bytes()), **change}))
    with pytest.raises(TablesRefusedError, match=said):
        run(root, out)


def test_a_folder_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, out = directory(tmp_path / "fleet", batches(0, 4)), tmp_path / "out"

    def full(*_: Any, **__: Any) -> Any:
        raise OSError("[Errno 28] Error writing bytes to file. Detail: [errno 28] No space left")

    monkeypatch.setattr(sink_module.pq.ParquetWriter, "write_table", full)
    with pytest.raises(SinkError, match="cannot be written by a Spark worker: No space left on"):
        run(root, out)
    monkeypatch.undo()
    assert read_tables(out) == {}
    assert sorted(os.listdir(out / "_kraftool")) == ["lock", "tables.json"]
    with pytest.raises(SinkError, match="all workers must see --out under the same name"):
        staging(str(tmp_path / "elsewhere"), "1")


def test_only_the_attempts_that_the_driver_saw_succeed_count(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    _first(root)
    run(root, tmp_path / "once")
    # Every task runs twice, as when Spark loses a worker or suspects one to be slow.
    run(root, tmp_path / "twice", support.InProcess(attempts=2))
    assert _told(tmp_path / "twice") == _told(tmp_path / "once")
    assert sorted(os.listdir(tmp_path / "twice/_kraftool")) == ["lock", "memory", "tables.json"]


# The sink by itself.


def _batch(count: int, text: str = "x") -> Any:
    schema = arrow_schema("changes")
    arrays = [
        pa.array([text] * count, each.type) if each.name == "text" else pa.nulls(count, each.type)
        for each in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def test_many_clusters_need_few_open_files_and_little_memory(tmp_path: Path) -> None:
    sink = Sink(str(tmp_path), "u", held=100_000, most_open=3)
    open_at_once, waiting = 0, 0
    for _ in range(4):
        for number in range(40):
            sink.write("changes", f"c{number}", None, _batch(50, "y" * 100))
            open_at_once = max(open_at_once, len(sink._open))
            waiting = max(waiting, sink._size)
    files = sink.close()
    assert open_at_once == 3
    assert waiting < 100_000
    assert sum(file.rows for file in files) == 4 * 40 * 50
    assert len({file.path for file in files}) == len(files)
    assert {file.staged for file in files} == {str(path) for path in tmp_path.rglob("*.parquet")}


def test_what_is_discarded_leaves_no_file(tmp_path: Path) -> None:
    sink = Sink(str(tmp_path), "u", held=1_000)
    for number in range(5):
        sink.write("changes", f"c{number}", None, _batch(50))
    sink.discard()
    assert sink.close() == []
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize(
    "value", ["", "a/b", "..", "a=b%", "\n", "x" * 300, "ü" * 150, "\udc80", "__x", "{[*?"]
)
def test_a_cluster_id_of_any_form_is_one_folder(tmp_path: Path, value: str) -> None:
    name = partition("cluster_id", value)
    assert "/" not in name
    (tmp_path / name).mkdir()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert folder_of("records", value, "2026-01-01") == f"records/{name}/date=2026-01-01"


def test_ids_that_need_escapes_are_read_back_by_pyarrow(tmp_path: Path) -> None:
    ds: Any = import_module("pyarrow.dataset")

    root, out = tmp_path / "fleet", tmp_path / "out"
    ids = ["a/b", "a b+c", "x=y", "100%", "[x]"]
    for number, each in enumerate(ids):
        directory(root / str(number), batches(0, 1), cluster=each, node=number)
    run(root, out)
    found = ds.dataset(out / "batches", partitioning="hive").to_table()
    assert sorted(found["cluster_id"].to_pylist()) == sorted(ids)
