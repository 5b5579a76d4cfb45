"""Many small directories: rounds with one commit, the files of one cluster, little memory."""

import tracemalloc
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.tables import states, units
from kraftool.spark.tables.commit import TableStore
from kraftool.spark.tables.delta import Added, Removed
from kraftool.spark.tables.layout import TABLES
from kraftool.spark.tables.memory import Stored
from kraftool.spark.tables.place import place_of
from kraftool.spark.tables.run_changes import RunChanges
from kraftool.spark.tables.settle import Settled
from kraftool.spark.tables.sink import StagedFile
from kraftool.spark.tables.state import (
    STATE,
    RunSummary,
    SharedOptions,
    State,
    StateFile,
    Totals,
)
from tests.spark import tables_support as support
from tests.spark.tables_support import batches, directory, listing, read_tables, run

pytestmark = pytest.mark.spark


class StoppedError(Exception):
    """As an interrupt would."""


class StoppedLater(support.InProcess):
    """A Spark that is stopped when it is asked for so many jobs."""

    def create_data_frame(self, table: Any) -> support.Frame:
        if self.jobs == 5:
            raise StoppedError
        return super().create_data_frame(table)

    createDataFrame = create_data_frame


def _fleet(root: Path) -> None:
    for number in range(6):
        for node in (1, 2):
            data = batches(0, 2 + number)
            directory(root / f"c{number}/node-{node}", data, cluster=f"c{number}", node=node)


def _changed(root: Path) -> None:
    """One cluster is new, one has grown, one was truncated, and one is gone."""
    directory(root / "new", batches(0, 3), cluster="new")
    (root / "c1/node-1" / support.LOG).write_bytes(batches(0, 9))
    (root / "c4/node-2" / support.LOG).write_bytes(batches(0, 2, epoch=2))
    for node in (1, 2):
        (root / f"c5/node-{node}" / support.LOG).unlink()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round for every two clusters."""
    monkeypatch.setattr(units, "_ROUND", 8)


@pytest.mark.usefixtures("few")
def test_several_rounds_give_what_one_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, out, whole = tmp_path / "fleet", tmp_path / "out", tmp_path / "whole"
    _fleet(root)
    for step in (_fleet, _changed):
        step(root)
        session, at_once = support.InProcess(), support.InProcess()
        report = run(root, out, session)
        with monkeypatch.context() as patched:
            patched.setattr(units, "_ROUND", 1_000)
            other = run(root, whole, at_once)
        assert session.jobs > at_once.jobs == 2
        assert (report.run_number, report.changed_clusters) == (
            other.run_number,
            other.changed_clusters,
        )
        assert report.log_changes == other.log_changes
        assert (report.read_logs, report.bytes_read) == (other.read_logs, other.bytes_read)
        sums = [
            [(table.name, table.added_rows, table.removed_rows) for table in tables_report.tables]
            for tables_report in (report, other)
        ]
        assert sums[0] == sums[1]
        assert _without_moments(out) == _without_moments(whole)
        settled = listing(out)
        assert run(root, out).is_new is False
        assert listing(out) == settled


def _without_moments(out: Path) -> support.Tables:
    return read_tables(out, without=frozenset({"noticed"}))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_run_that_ends_between_rounds_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_killed: bool
) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    _fleet(root)
    with monkeypatch.context() as patched:
        if is_killed:  # what it wrote stays
            patched.setattr(TableStore, "end", lambda _: None)
        with pytest.raises(StoppedError):
            run(root, out, StoppedLater())
    assert support.tables_of(out) == []
    staged = list(out.glob("*/*-*/*.parquet"))
    assert bool(staged) == is_killed
    run(root, out)
    run(root, tmp_path / "whole")
    assert read_tables(out) == read_tables(tmp_path / "whole")
    assert not any(path.exists() for path in staged)


def test_the_largest_clusters_are_the_first_of_several_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.arrow.search import find_fleet
    from kraftool.spark.tables.plan import Owners, RootCoverage, compare, grouped

    _fleet(tmp_path)
    fleet = find_fleet([str(tmp_path)])
    groups = grouped(fleet, snapshots=False).values()
    reach, owners = RootCoverage([str(tmp_path)], ()), Owners(groups)
    for most, expected in (
        (100, [["c0", "c1", "c2", "c3", "c4", "c5"]]),
        (8, [["c5", "c4"], ["c3", "c2"], ["c1", "c0"]]),
        (1, [["c5"], ["c4"], ["c3"], ["c2"], ["c1"], ["c0"]]),
    ):
        monkeypatch.setattr(units, "_ROUND", most)
        compared_groups = [compare(group, None, reach, owners) for group in groups]
        tasks = [task for task in compared_groups if task is not None]
        rounds = [[task.group.key.name for task in some] for some in units.rounds_of(tasks)]
        assert rounds == expected
        assert tasks == []


@pytest.mark.parametrize("fails", [False, True])
def test_the_states_of_a_cluster_are_in_one_file_whatever_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    root, written = support.FIXTURES / "kafka-4.3.0/upgrade", states.write_states

    def failing(files: Any, sink: Any, **more: Any) -> None:
        written(files, sink, **more)
        if fails and "node-2" in files[0].name:
            raise KraftoolError("as where a copy has no room")

    monkeypatch.setattr(states, "write_states", failing)
    run(root, tmp_path)
    expected = {"node-1", "node-3", "node-11"} | (set() if fails else {"node-2"})
    for table in ("topics", "partitions", "topic_history", "partition_history"):
        [file] = support.files_of(tmp_path, table)
        rows = import_module("pyarrow.parquet").read_table(file).to_pylist()
        nodes = [(row["directory"].split("/")[-2], *row.values()) for row in rows]
        assert {node for node, *_ in nodes} == expected, table
        assert len(set(map(str, nodes))) == len(nodes), "no row is there twice"


def _staged(number: int) -> StagedFile:
    stats = (
        f'{{"numRecords":{number},"minValues":{{"cluster_id":"c{number}","directory":"/archive/c'
        f'{number}/node-1"}},"maxValues":{{"cluster_id":"c{number}","directory":"/archive/c'
        f'{number}/node-1"}},"nullCount":{{"cluster_id":0,"date":0,"file":0,"directory":0}}}}'
    )
    return StagedFile("topics", f"topics/000001-ab/{number:032x}.parquet", number, 7, stats)


def test_the_files_of_a_run_are_small_in_memory() -> None:
    changes, count = RunChanges(), 10_000
    tracemalloc.start()
    try:
        for number in range(count):
            changes.take(Settled(staged=[_staged(number)]))
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # As objects and text each would take more than 600 bytes.
    assert size / count < 150
    assert [file.path for file in changes.of("topics").added] == [
        f"000001-ab/{number:032x}.parquet" for number in range(count)
    ]


def test_the_files_of_a_run_that_is_finished_later_are_read_one_table_at_a_time(
    tmp_path: Path,
) -> None:
    place = place_of(str(tmp_path), {})
    (tmp_path / STATE).mkdir(parents=True)
    state = State.make(place, RunSummary(kept=SharedOptions()))
    changes, tables, count = RunChanges(), list(TABLES)[:30], 30_000
    for number in range(count):
        staged = _staged(number)._replace(table=tables[number % len(tables)])
        changes.take(Settled(staged=[staged]))
    summary = replace(state.summary, run=1, run_id="000001-ab")
    state = state.commit(summary, StateFile(place, "000001-ab.parquet"), changes.changes())
    del changes
    tracemalloc.start()
    try:
        files = sum(len(change.added) for _, change in state.pending())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert files == count
    assert peak / count < 300, "the text of all files would take more"


def test_a_change_is_what_was_taken() -> None:
    changes = RunChanges()
    staged = [_staged(number) for number in range(1_201)]
    stored = [Stored(f"files/old-{number}", 2, 3) for number in range(501)]
    for file in staged:
        changes.take(Settled(staged=[file]))
    changes.take(Settled(removed=stored))
    assert changes.tables == ["files", "topics"]
    assert [name for name, _ in changes.changes()] == ["files", "topics"]
    assert changes.of("topics").added == [
        Added(file.path.partition("/")[2], file.size, file.stats) for file in staged
    ]
    assert changes.of("files").removed == [Removed(f"old-{number}", 3) for number in range(501)]
    assert changes.of("changes") == ([], [])
    before = {"files": Totals(rows=1_002, files=501, size=1_503), "changes": Totals(rows=1)}
    after = changes.after({**before, "changes": Totals(rows=4, files=1, size=9)})
    assert after == {
        "topics": Totals(rows=sum(range(1_201)), files=1_201, size=7 * 1_201),
        "changes": Totals(rows=4, files=1, size=9),
    }
