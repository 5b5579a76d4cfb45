"""What later runs read: growth, torn tails, truncation, deleted segments, directories that go.

Each test compares with the tables that one run over the same directories writes.
"""

import itertools
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import UnusableError
from kraftool.spark.tables import work
from kraftool.spark.tables.run import TablesReport
from kraftool.spark.tables.state import TablesRefusedError
from tests.spark import tables_support as support
from tests.spark.tables_support import batches, directory, listing, read_tables, run
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark


def _at_once(root: Path, out: Path, **more: Any) -> support.Tables:
    run(root, out, **more)
    return _without_changes(out)


def _without_changes(out: Path) -> support.Tables:
    return {name: rows for name, rows in read_tables(out).items() if name != "changes"}


def _added(report: TablesReport, name: str) -> int:
    return sum(table.added_rows for table in report.tables if table.name == name)


def _files_of_cluster(out: Path, cluster: str) -> set[Path]:
    """The files of the latest versions that have rows of a cluster."""
    pq: Any = import_module("pyarrow.parquet")
    files = (path for name in support.tables_of(out) for path in support.files_of(out, name))
    return {
        path
        for path in files
        if cluster in pq.read_table(path, columns=["cluster_id"])["cluster_id"].to_pylist()
    }


def _log(path: Path) -> Path:
    return path / support.LOG


def _append(path: Path, data: bytes) -> None:
    with _log(path).open("ab") as log:
        log.write(data)


def test_what_a_log_has_grown_by_is_all_that_is_read(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 40))
    directory(root / "two", batches(0, 40), node=2)
    first = run(root, out)
    before = listing(out)
    _append(one, batches(200, 3, day=1))
    second = run(root, out)
    assert (_added(first, "records"), _added(second, "records")) == (400, 15)
    assert second.bytes_read == len(batches(200, 3, day=1))
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")
    for name, entry in before.items():
        if name.startswith(("records", "batches", "NoOpRecord", "ConfigRecord")):
            assert listing(out)[name] == entry


def test_runs_over_growth_in_many_steps_give_what_one_run_gives(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", b"")
    whole = batches(0, 12)
    # Cut anywhere: most runs find a batch that is half written.
    cuts = [*range(0, len(whole), len(whole) // 7), len(whole)]
    for start, stop in itertools.pairwise(cuts):
        _append(one, whole[start:stop])
        run(root, out)
        assert _without_changes(out) == _at_once(root, tmp_path / f"anew{stop}")
    assert len(read_tables(out)["records"]) == 60


def test_a_cluster_that_has_not_changed_is_left_alone(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    two = directory(root / "two", batches(0, 4), cluster="other")
    run(root, out)
    before = _files_of_cluster(out, "abc")
    assert before
    _append(two, batches(20, 2))
    report = run(root, out)
    assert (report.clusters, report.changed_clusters) == (2, 1)
    assert _files_of_cluster(out, "abc") == before
    assert len(_files_of_cluster(out, "other")) > len(before), "what the second run added"


@pytest.mark.parametrize("size", [4, 40])
def test_rows_of_what_was_truncated_go(tmp_path: Path, size: int) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, size))
    directory(root / "two", batches(0, size), node=2)
    run(root, out)
    kept = batches(0, size - 2)
    _log(one).write_bytes(kept + batches((size - 2) * 5, 3, epoch=2, day=1))
    report = run(root, out)
    assert report.log_changes == {"TRUNCATED": 1}
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")
    changes = read_tables(out)["changes"]
    assert len(changes) == 1
    assert f"truncated to offset {(size - 2) * 5}" in changes[0]
    settled = listing(out)
    run(root, out)
    assert listing(out) == settled


def test_a_log_that_begins_anew_replaces_all_its_rows(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 30))
    run(root, out)
    _log(one).write_bytes(batches(0, 7, epoch=9, day=2))
    run(root, out)
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")
    assert not any('"date": "2023-11-14"' in row for row in read_tables(out)["records"])


def test_a_truncation_over_segments_takes_the_later_ones_rows(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 4))
    later = _log(one).with_name(f"{20:020}.log")
    later.write_bytes(batches(20, 4))
    run(root, out)
    later.unlink()
    _log(one).write_bytes(batches(0, 3) + batches(15, 2, epoch=3))
    run(root, out)
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")


def test_segments_that_were_deleted_leave_their_rows(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 4))
    _log(one).with_name(f"{20:020}.log").write_bytes(batches(20, 4))
    run(root, out)
    before = read_tables(out)
    _log(one).unlink()
    report = run(root, out)
    after = read_tables(out)
    assert report.log_changes == {}
    assert after["records"] == before["records"]
    assert len(after["files"]) == len(before["files"]) - 1


def test_a_directory_that_is_gone_is_told_once_and_keeps_its_rows(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    two = directory(root / "two", batches(0, 4), cluster="other")
    run(root, out)
    before = read_tables(out)
    two.rename(tmp_path / "aside")
    assert run(root, out).log_changes == {"GONE": 1}
    after = read_tables(out)
    assert len(after.pop("changes")) == 1
    assert after == before
    settled = listing(out)
    assert run(root, out).is_new is False
    assert listing(out) == settled
    (tmp_path / "aside").rename(two)
    _append(two, batches(20, 1))
    run(root, out)
    assert len(read_tables(out)["records"]) == len(before["records"]) + 5


def test_a_run_that_leaves_a_root_out_is_refused_and_takes_nothing_for_gone(tmp_path: Path) -> None:
    a, b, out = tmp_path / "a", tmp_path / "b", tmp_path / "out"
    node = directory(a / "one", batches(0, 4))
    directory(b / "two", batches(0, 4), cluster="other")
    run(a, out)
    both = run((a, b), out)
    assert (both.log_changes, both.changed_clusters) == ({}, 1)
    before = read_tables(out)
    for less in ((b,), (_log(node), b)):
        with pytest.raises(TablesRefusedError, match="would not read"):
            run(less, out)
    with pytest.raises(UnusableError, match="is one file"):
        run(_log(node), tmp_path / "of-a-file")
    assert read_tables(out) == before
    assert len(before["records"]) == 40


def test_damage_that_grows_into_batches_is_read_anew(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 3) + b"\xff" * 70)
    run(root, out)
    assert any("problem" in row for row in read_tables(out)["records"])
    _append(one, batches(15, 3))
    run(root, out)
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")


def test_a_checkpoint_that_changes_is_replaced(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    source = next(
        (FIXTURES / "kafka-4.3.0/static-single/node-1/data").rglob("0*[1-9]-*.checkpoint")
    )
    one = directory(root / "one", batches(0, 3))
    copy = _log(one).with_name(source.name)
    copy.write_bytes(source.read_bytes()[:-40])
    run(root, out, snapshots=True)
    copy.write_bytes(source.read_bytes())
    run(root, out, snapshots=True)
    assert _without_changes(out) == _at_once(root, tmp_path / "anew", snapshots=True)
    before = read_tables(out)["records"]
    copy.unlink()
    run(root, out, snapshots=True)
    assert read_tables(out)["records"] == before


def test_a_log_that_vanishes_while_it_is_read_leaves_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 20))
    directory(root / "two", batches(0, 20), node=2)
    real = work._lost

    def after_the_read(splits: Any) -> set[str]:
        if _log(one).exists():
            _log(one).rename(tmp_path / "kept.log")
        return real(splits)

    monkeypatch.setattr(work, "_lost", after_the_read)
    report = run(root, out)
    assert report.unreadable
    tables = read_tables(out)
    assert len(tables["records"]) == 100
    assert not any("/one/" in row for row in tables["records"])
    assert any("KT-" in row and "/one/" in row for row in tables["findings"])
    monkeypatch.undo()
    (tmp_path / "kept.log").rename(_log(one))
    run(root, out)
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")


def test_a_log_that_is_cut_while_it_is_read_is_read_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 20))
    run(root, out)
    _append(one, batches(100, 20))
    real = work._lost

    def after_the_read(splits: Any) -> set[str]:
        os.truncate(_log(one), len(batches(0, 10)))
        return real(splits)

    monkeypatch.setattr(work, "_lost", after_the_read)
    run(root, out)
    assert len(read_tables(out)["records"]) == 100
    monkeypatch.undo()
    assert run(root, out).log_changes == {"TRUNCATED": 1}
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")


def test_a_file_that_cannot_be_opened_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.arrow.fleet import FleetFile

    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 4))
    later = _log(one).with_name(f"{20:020}.log")
    later.write_bytes(batches(20, 4))
    directory(root / "two", batches(0, 4), node=2)
    real = FleetFile.open

    def refuse(file: FleetFile) -> Any:
        if file.name == str(later):
            raise KraftoolError(f"{file.name}: Permission denied")
        return real(file)

    monkeypatch.setattr(FleetFile, "open", refuse)
    report = run(root, out)
    assert report.unreadable == (str(later),)
    settled = listing(out)
    again = run(root, out)
    assert (again.is_new, again.unreadable) == (False, (str(later),))
    assert listing(out) == settled
    monkeypatch.undo()
    assert run(root, out).unreadable == ()
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")


def test_what_workers_still_cannot_read_is_no_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a folder is seen by the driver only: each run tries, and writes nothing anew."""
    from kraftool.arrow.fleet import FleetFile
    from kraftool.spark.tables import plan

    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    two = directory(root / "two", batches(0, 4), cluster="other")
    real = FleetFile.open

    def refuse(file: FleetFile) -> Any:
        if file.name.startswith(f"{two}/__"):
            raise KraftoolError(f"{file.name}: No such file or directory")
        return real(file)

    monkeypatch.setattr(FleetFile, "open", refuse)
    monkeypatch.setattr(plan, "_can_be_read_now", lambda group, names: bool(names))
    first = run(root, out)
    assert first.unreadable
    settled = listing(out)
    again = run(root, out)
    assert (again.is_new, again.run_number, again.unreadable) == (
        False,
        first.run_number,
        first.unreadable,
    )
    assert listing(out) == settled
    _append(two, batches(20, 1))
    assert run(root, out).is_new
    monkeypatch.undo()
    run(root, out)
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")


def test_a_folder_that_cannot_be_listed_is_a_finding_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.arrow.local_folders import LocalFiles

    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 4))
    two = directory(root / "two", batches(0, 4), cluster="other")
    run(root, out)
    rows = read_tables(out)["records"]
    real = LocalFiles.listed

    def refuse(files: LocalFiles, path: str = "") -> Any:
        if files.shown(path) == str(two):
            raise KraftoolError(f"{two}: Permission denied")
        return real(files, path)

    monkeypatch.setattr(LocalFiles, "listed", refuse)
    report = run(root, out)
    assert (report.unreadable, report.log_changes) == ((str(two),), {})
    assert any("Permission denied" in row for row in read_tables(out)["findings"])
    assert read_tables(out)["records"] == rows
    settled = listing(out)
    assert run(root, out).unreadable == (str(two),)
    assert listing(out) == settled
    monkeypatch.undo()
    run(root, out)
    assert _without_changes(out) == _at_once(root, tmp_path / "anew")


def test_large_logs_are_cut_and_small_ones_put_together(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    directory(root / "big", batches(0, 400))
    for number in range(20):
        directory(root / f"small{number}", batches(0, 2), cluster=f"c{number}")
    session = support.InProcess()
    run(root, tmp_path / "cut", session, split_bytes=5_000)
    assert session.jobs == 2
    cut = _files_of_cluster(tmp_path / "cut", "abc")
    assert sum("/records/" in str(path) for path in cut) > 3
    assert _without_changes(tmp_path / "cut") == _at_once(root, tmp_path / "whole")


@pytest.mark.parametrize("alone", [True, False])
def test_a_directory_that_becomes_another_clusters_leaves_no_rows_behind(
    tmp_path: Path, alone: bool
) -> None:
    """As when its meta.properties is damaged, and when it is mended again."""
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 4) + b"\xff" * 30)
    if not alone:
        directory(root / "two", batches(0, 3), node=2)
    source = next((FIXTURES / "kafka-4.3.0").rglob("0*[1-9]-*.checkpoint"))
    _log(one).with_name(source.name).write_bytes(source.read_bytes())
    run(root, out, snapshots=True)
    before = read_tables(out)
    for number, text in enumerate(("", "version=1\ncluster.id=abc\nnode.id=1\n")):
        (one / "meta.properties").write_text(text)
        assert run(root, out, snapshots=True).log_changes == {}
        anew = _at_once(root, tmp_path / f"anew{number}", snapshots=True)
        assert _without_changes(out) == anew
        assert run(root, out, snapshots=True).is_new is False
    assert read_tables(out)["records"] == before["records"]


def test_a_url_is_read_like_the_path_it_stands_for(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 4))
    url = f"file://{root}"
    run(url, out)
    settled = listing(out)
    assert run(url, out).is_new is False
    assert listing(out) == settled
    _append(one, batches(20, 2) + b"\xff" * 30)
    run(url, out)
    local = _at_once(root, tmp_path / "local")
    expected = {name: [row.replace("file://", "") for row in rows] for name, rows in local.items()}
    remote = _without_changes(out)
    for name in ("records", "batches", "ConfigRecord", "topic_history"):
        rows = [row.replace("file://", "") for row in remote.get(name, [])]
        assert sorted(rows) == sorted(expected.get(name, [])), name
