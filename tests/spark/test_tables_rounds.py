"""Many small directories: several runs after one another, and the files of one cluster."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.tables import units, work
from kraftool.spark.tables.commit import TableStore
from kraftool.spark.tables.states import write_states
from tests.spark import tables_support as support
from tests.spark.tables_support import batches, directory, listing, read_tables, run
from tests.support.places import FIXTURES

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
    """A run for every two clusters."""
    monkeypatch.setattr(units, "_MOST_LISTED", 8)


@pytest.mark.usefixtures("few")
def test_several_runs_give_what_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, out, whole = tmp_path / "fleet", tmp_path / "out", tmp_path / "whole"
    _fleet(root)
    for step in (_fleet, _changed):
        step(root)
        session, at_once = support.InProcess(), support.InProcess()
        report = run(root, out, session)
        with monkeypatch.context() as patched:
            patched.setattr(units, "_MOST_LISTED", 1_000)
            other = run(root, whole, at_once)
        assert session.jobs > at_once.jobs
        assert report.run_number > other.run_number
        assert report.changed_clusters == other.changed_clusters
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
def test_what_whole_runs_have_written_stays_when_a_later_one_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_killed: bool
) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    _fleet(root)
    with monkeypatch.context() as patched:
        if is_killed:  # what the last one wrote stays
            patched.setattr(TableStore, "end", lambda _: None)
        with pytest.raises(StoppedError):
            run(root, out, StoppedLater())
    before = read_tables(out)
    assert {row["cluster_id"] for row in map(json.loads, before["records"])} == {
        "c2", "c3", "c4", "c5"
    }  # fmt: skip
    assert run(root, out).changed_clusters == 2
    run(root, tmp_path / "whole")
    assert read_tables(out) == read_tables(tmp_path / "whole")


def test_the_largest_clusters_are_in_the_first_of_several_runs(
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
        monkeypatch.setattr(units, "_MOST_LISTED", most)
        compared_groups = [compare(group, None, reach, owners) for group in groups]
        tasks = [task for task in compared_groups if task is not None]
        rounds = [[task.group.key.name for task in some] for some in units.runs_of(tasks)]
        assert rounds == expected
        assert tasks == []


@pytest.mark.parametrize("fails", [False, True])
def test_the_states_of_a_cluster_are_in_one_file_whatever_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    root, written = FIXTURES / "kafka-4.3.0/upgrade", write_states

    def failing(files: Any, sink: Any, **more: Any) -> None:
        written(files, sink, **more)
        if fails and "node-2" in files[0].name:
            raise KraftoolError("as where a copy has no room")

    monkeypatch.setattr(work, "write_states", failing)
    run(root, tmp_path)
    expected = {"node-1", "node-3", "node-11"} | (set() if fails else {"node-2"})
    for table in ("topics", "partitions", "topic_history", "partition_history"):
        [file] = support.files_of(tmp_path, table)
        rows = import_module("pyarrow.parquet").read_table(file).to_pylist()
        nodes = [(row["directory"].split("/")[-2], *row.values()) for row in rows]
        assert {node for node, *_ in nodes} == expected, table
        assert len(set(map(str, nodes))) == len(nodes), "no row is there twice"
