"""A run that was stopped is simply run again; one run at a time; foreign folders."""

import fcntl
import json
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.arrow.untyped import pa
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import OccupiedError, UnusableError
from kraftool.spark.tables import commit as commit_module
from kraftool.spark.tables import sink as sink_module
from kraftool.spark.tables.layout import arrow_schema
from kraftool.spark.tables.place import TablePlace
from kraftool.spark.tables.sink import Sink, SinkError
from kraftool.spark.tables.state import TablesRefusedError
from tests.spark import tables_support as support
from tests.spark.tables_support import batches, directory, listing, read_tables, run, stopped_at
from tests.support.places import ROOT

pytestmark = pytest.mark.spark

SOAK = os.environ.get("KRAFTOOL_SOAK") == "1"
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


def _run_of(out: Path) -> int:
    """The latest whole run."""
    return int(support.state_of(out)["run"])


class Stopped(BaseException):
    """As an interrupt would."""


def _stop() -> None:
    raise Stopped


def _steps(root: Path, out: Path) -> int:
    """How many changes to the file system a run makes."""
    with stopped_at(-1, out, _stop) as made:
        run(root, out)
    return len(made)


def test_a_run_that_is_stopped_anywhere_is_simply_run_again(tmp_path: Path) -> None:
    """Until then the state names the versions of the run before, which readers can open."""
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
    for step in range(0, steps, 1 if SOAK else 5):
        out = tmp_path / f"out{step}"
        subprocess.run(["cp", "-a", before, out], check=True)
        with stopped_at(step, out, _stop), pytest.raises(Stopped):
            run(root, out)
        committed, versions = _run_of(out) == 2, support.versions_of(out)
        states.add(committed)
        whole_run = read_tables(out, without=PASSING, versions=versions)
        assert whole_run == (expected if committed else was), step
        run(root, out)
        assert _told(out) == expected, step
        assert sorted(os.listdir(out / "_kraftool")) == ["lock", "state"]
        settled = listing(out)
        assert run(root, out).is_new is False
        assert listing(out) == settled
    assert states == {True, False}


def test_a_process_that_is_killed_leaves_a_folder_that_the_next_run_mends(tmp_path: Path) -> None:
    """The test before stops at more places, in this process, where some cleaning up is done."""
    root = tmp_path / "fleet"
    _first(root)
    run(root, tmp_path / "whole")
    expected = _told(tmp_path / "whole")
    steps = _steps(root, tmp_path / "counted")
    for step in range(steps) if SOAK else (1, 20, steps // 2, steps - 5):
        out = tmp_path / f"out{step}"
        command = [sys.executable, support.__file__, str(root), str(out), str(step)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        killed = subprocess.run(command, env=environment, check=False, capture_output=True)
        assert killed.returncode == 9, killed.stderr.decode()
        run(root, out)
        assert _told(out) == expected, step
        assert sorted(os.listdir(out / "_kraftool")) == ["lock", "state"]


def test_no_reader_sees_a_part_of_a_file(tmp_path: Path) -> None:
    """A version of a table has whole files only."""
    root, out = tmp_path / "fleet", tmp_path / "out"
    _first(root)
    files = 0
    for step in range(0, _steps(root, tmp_path / "counted"), 9):
        with stopped_at(step, out, _stop), pytest.raises(Stopped):
            run(root, out)
        if out.exists():
            files += sum(
                map(len, read_tables(out).values())
            )  # raises for a file without its footer
            subprocess.run(["rm", "-r", out], check=True)
    assert files


def test_a_process_that_is_killed_while_delta_rs_commits(tmp_path: Path) -> None:
    """Killed from outside, as soon as so many versions of tables are there."""
    root = tmp_path / "fleet"
    _first(root)
    run(root, tmp_path / "whole")
    expected = _told(tmp_path / "whole")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for count in (1, 3, 8):
        out = tmp_path / f"out{count}"
        command = [sys.executable, support.__file__, str(root), str(out), "-1"]
        with subprocess.Popen(command, env=environment) as process:
            while len(list(out.rglob("_delta_log/*.json"))) < count:
                assert process.poll() is None, "the run was over before it could be killed"
            process.kill()
        assert process.returncode == -9
        run(root, out)
        assert _told(out) == expected, count
        assert sorted(os.listdir(out / "_kraftool")) == ["lock", "state"]


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
    for url, message in (
        ("s3://KEY:CANARY@bucket/tables", "contains credentials or a query"),
        ("s3://", "is no place for tables"),
    ):
        with pytest.raises(UnusableError, match=message) as caught:
            run(root, url)
        assert "CANARY" not in caught.value.message
    with pytest.raises(UnusableError, match="--out-options is for object stores"):
        run(root, tmp_path / "out", out_options={"aws_region": "x"})


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
    assert _run_of(out) == 1  # nothing was new, and nothing was written
    run(root, out)
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


def test_a_reader_keeps_the_version_that_it_has_opened(tmp_path: Path) -> None:
    """Also of files that later runs have replaced or rewritten."""
    delta_table: Any = import_module("deltalake").DeltaTable
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    run(root, out)
    reader = delta_table(str(out / "records"))
    before = reader.to_pyarrow_table().num_rows
    directory(root / "one", batches(0, 2) + batches(10, 3, epoch=2))
    assert run(root, out).log_changes == {"TRUNCATED": 1}
    assert (before, reader.to_pyarrow_table().num_rows) == (20, 20)
    assert delta_table(str(out / "records")).to_pyarrow_table().num_rows == 25
    earlier = delta_table(str(out / "records"), version=0)
    assert earlier.to_pyarrow_table().num_rows == 20
    runs = [made["kraftool.run"] for made in delta_table(str(out / "records")).history()]
    assert runs == ["2", "1"]


def test_files_that_no_version_needs_go_after_a_week(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    run(root, out)
    stray = out / "records/000001-00000000/left.parquet"
    stray.parent.mkdir()
    for path in (stray, out / "records/000001-00000000/new.parquet"):
        path.write_bytes(b"x")
    week_ago = time.time() - 8 * 24 * 3600
    os.utime(stray, (week_ago, week_ago))
    monkeypatch.setattr(commit_module, "_SWEEP_SECONDS", -1)
    directory(root / "one", batches(0, 5))
    run(root, out)
    assert not stray.exists()
    assert stray.with_name("new.parquet").exists(), "another run may be about to commit it"
    assert len(read_tables(out)["records"]) == 25


def test_tables_that_another_program_has_changed_are_refused(tmp_path: Path) -> None:
    delta_table: Any = import_module("deltalake").DeltaTable
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    run(root, out)
    directory(root / "one", batches(0, 5))
    delta_table(str(out / "records")).delete("offset < 3")
    before = read_tables(out)
    delta_table(str(out / "records")).delete()
    with pytest.raises(TablesRefusedError, match="has changed the rows of the table records"):
        run(root, out)
    assert {**read_tables(out), "records": before["records"]} == before
    delta_table(str(out / "records")).restore(0)
    run(root, out)
    assert len(read_tables(out)["records"]) == 25


def test_files_that_another_program_has_put_together_are_accepted(tmp_path: Path) -> None:
    """Also if rows of one cluster in such a file are replaced, or those of a log that was cut."""
    delta_table: Any = import_module("deltalake").DeltaTable
    root, out = tmp_path / "fleet", tmp_path / "out"
    _first(root)
    run(root, out)
    run(root, tmp_path / "plain")
    for name in support.tables_of(out):
        delta_table(str(out / name)).optimize.compact()
        assert len(support.files_of(out, name)) == 1, name
    settled = listing(out)
    assert run(root, out).is_new is False
    assert listing(out) == settled
    _grown(root)
    run(root, tmp_path / "plain")
    assert run(root, out).log_changes == {"GONE": 1, "TRUNCATED": 1}
    assert _told(out) == _told(tmp_path / "plain")


def test_a_run_puts_small_files_together_if_asked(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    for count in range(1, 6):
        directory(root / "one", batches(0, count))
        run(root, out)
    before = _told(out)
    assert len(support.files_of(out, "records")) == 5
    report = run(root, out, optimize=True)
    assert (report.is_new, report.is_optimized) == (False, True)
    assert {table.name: table.after.files for table in report.tables} == dict.fromkeys(before, 1)
    assert _told(out) == before
    settled = listing(out)
    assert run(root, out, optimize=True).is_optimized is False
    assert listing(out) == settled
    assert all(path.stat().st_mode & 0o077 == 0 for path in out.rglob("*"))


def test_the_state_is_one_file_whatever_has_changed(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    for name in ("one", "two"):
        directory(root / name, batches(0, 1), cluster=name)
    for count in range(2, 6):
        directory(root / "one", batches(0, count), cluster="one")
        run(root, out)
        assert len(support.files_of(out, "_kraftool/state")) == 1
    assert run(root, out).is_new is False
    assert len(read_tables(out)["records"]) == 5 * (5 + 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layout": 5}, "it has layout 5; this kraftool writes 4"),
        ({"layout": 0}, "it has layout 0; this kraftool writes 4"),
        ({"run": None, "tables": 3}, "it is damaged"),
    ],
)
def test_a_folder_of_another_kraftool_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    root, out = directory(tmp_path / "fleet", batches(0, 4)), tmp_path / "out"
    run(root, out)
    newest = max((out / "_kraftool/state/_delta_log").glob("*.json"))
    lines = [json.loads(line) for line in newest.read_text().splitlines()]
    info = next(line["commitInfo"] for line in lines if "commitInfo" in line)
    info["kraftool.state"] = json.dumps({**json.loads(info["kraftool.state"]), **change})
    newest.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(TablesRefusedError, match=message):
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
    assert sorted(os.listdir(out / "_kraftool")) == ["lock", "state"]
    sink = Sink(TablePlace(str(tmp_path / "elsewhere")), "1", "u")
    sink.write("changes", "c", None, _batch(1))
    with pytest.raises(SinkError, match="all Spark workers must see --out under the same name"):
        sink.close()


def test_only_the_attempts_that_the_driver_saw_succeed_count(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    _first(root)
    run(root, tmp_path / "once")
    # Every task runs twice, as when Spark loses a worker or suspects one to be slow.
    run(root, tmp_path / "twice", support.InProcess(attempts=2))
    assert _told(tmp_path / "twice") == _told(tmp_path / "once")
    assert sorted(os.listdir(tmp_path / "twice/_kraftool")) == ["lock", "state"]


# The sink by itself.


def _batch(count: int, text: str = "x") -> Any:
    schema = arrow_schema("changes")
    arrays = [
        pa.array([text] * count, field.type)
        if field.name == "text"
        else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def test_many_clusters_need_few_open_files_and_little_memory(tmp_path: Path) -> None:
    sink = Sink(TablePlace(str(tmp_path)), "1", "u", held=100_000, most_open=3)
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
    assert {str(tmp_path / file.table / file.path) for file in files} == {
        str(path) for path in tmp_path.rglob("*.parquet")
    }


def test_a_few_rows_wait_for_more_and_many_do_not(tmp_path: Path) -> None:
    """Rows come by days, and a log may have few of each: every batch takes room."""
    sink = Sink(TablePlace(str(tmp_path)), "1", "u")
    most = 0
    for number in range(10_000):
        sink.write("changes", f"c{number % 5}", None, _batch(1, str(number)))
        most = max(most, sum(len(one.batches) + len(one._few) for one in sink._waiting.values()))
    assert most < 5_000
    sink.write("changes", "c0", None, _batch(2_000))
    assert sink._waiting["changes", "c0", None].batches[-1].num_rows >= 2_000
    for file in sink.close():
        table = import_module("pyarrow.parquet").read_table(tmp_path / file.table / file.path)
        texts = [text for text in table["text"].to_pylist() if text != "x"]
        assert texts == sorted(texts, key=int)
        assert len(texts) == 2_000


def test_what_is_discarded_leaves_no_file(tmp_path: Path) -> None:
    sink = Sink(TablePlace(str(tmp_path)), "1", "u", held=1_000)
    for number in range(5):
        sink.write("changes", f"c{number}", None, _batch(50))
    sink.discard()
    assert sink.close() == []
    assert not list(tmp_path.rglob("*.parquet"))


def test_ids_of_any_form_are_read_back(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    ids = ["a/b", "a b+c", "x=y", "100%", "[x]", "x" * 300, "__x", "{[*?"]
    for number, cluster_id in enumerate(ids):
        directory(root / str(number), batches(0, 1), cluster=cluster_id, node=number)
    run(root, out)
    table = import_module("deltalake").DeltaTable(str(out / "batches")).to_pyarrow_table()
    assert sorted(table["cluster_id"].to_pylist()) == sorted(ids)


def test_a_folder_of_a_name_that_delta_rs_mistakes_is_refused(tmp_path: Path) -> None:
    root = directory(tmp_path / "fleet", batches(0, 4))
    for name in ("a#b", "a?b", "%41"):
        with pytest.raises(UnusableError, match="contains %, # or"):
            run(root, tmp_path / name)
        assert not (tmp_path / name).exists()
    out = tmp_path / "a b [x] é"
    run(root, out)
    assert len(read_tables(out)["records"]) == 20
    assert run(root, out).is_new is False


def test_statistics_say_what_a_file_has(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    for number, cluster_id in enumerate(("a", "b")):
        directory(root / cluster_id, batches(0, 2, day=number), cluster=cluster_id)
    run(root, out)
    table = import_module("deltalake").DeltaTable(str(out / "records"))
    actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    shown = sorted(
        (row["min.cluster_id"], row["max.cluster_id"], str(row["min.date"]), row["max.offset"])
        for row in actions
    )
    assert shown == [("a", "a", "2023-11-14", 9), ("b", "b", "2023-11-15", 9)]
    assert all(row["min.timestamp"] <= row["max.timestamp"] for row in actions)
