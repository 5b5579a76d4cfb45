"""Tables in an object store: the same rows as in a folder, whatever stops a run.

moto serves S3's protocol in a process of its own, since delta-rs holds the interpreter while it
waits. A commit is a conditional put there.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("deltalake")
pytest.importorskip("moto.server", reason="pip install 'moto[server]'")

from kraftool.arrow.untyped import pa
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.tables import delta
from kraftool.spark.tables.commit import TableStore
from kraftool.spark.tables.place import TablePlace
from kraftool.spark.tables.run import TablesReport
from kraftool.spark.tables.state import TablesRefusedError
from tests.spark import tables_support as support
from tests.spark.tables_support import batches, directory

pytestmark = pytest.mark.spark

SECRET = "canary-of-the-store"
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
"""
CHANGING = frozenset({"noticed", "modified", "identity"})


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, str]]:
    """delta-rs's options for a store with an empty bucket."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        host, port = server.stdout.readline().split()
        made = {
            "aws_access_key_id": "AKIACANARY",
            "aws_secret_access_key": SECRET,
            "aws_endpoint_url": f"http://{host}:{port}",
            "aws_region": "us-east-1",
            "aws_allow_http": "true",
        }
        client = import_module("boto3").client(
            "s3",
            endpoint_url=made["aws_endpoint_url"],
            region_name="us-east-1",
            aws_access_key_id="AKIACANARY",
            aws_secret_access_key=SECRET,
        )
        client.create_bucket(Bucket="lake")
        yield made
        server.kill()


@pytest.fixture
def out(request: pytest.FixtureRequest) -> str:
    return f"s3://lake/{request.node.name.replace('[', '-').strip(']')}/tables"


def _rows(out: str | Path, options: dict[str, str] | None = None) -> dict[str, list[str]]:
    """All rows of all tables, by Delta's own reader."""
    delta_table: Any = import_module("deltalake").DeltaTable
    names = import_module("kraftool.spark.tables.layout").TABLES
    by_table = {}
    for name in names:
        try:
            table = delta_table(f"{out}/{name}", storage_options=options)
        except import_module("deltalake.exceptions").TableNotFoundError:
            continue
        rows = table.to_pyarrow_table().drop_columns(
            list(CHANGING & set(table.to_pyarrow_table().column_names))
        )
        if rows.num_rows:
            by_table[name] = sorted(map(repr, rows.to_pylist()))
    return by_table


def _fleet(root: Path) -> None:
    directory(root / "one", batches(0, 4) + b"\xff" * 30)
    directory(root / "two", batches(0, 5), node=2)


def _grown(root: Path) -> None:
    directory(root / "one", batches(0, 4) + batches(20, 2, day=1))
    directory(root / "two", batches(0, 3) + batches(15, 1, epoch=2), node=2)


def _write(root: Path, out: str, options: dict[str, str], **more: Any) -> TablesReport:
    return support.run(root, out, out_options=options, **more)


def _keys(out: str, options: dict[str, str]) -> set[str]:
    store: Any = import_module("deltalake.fs").DeltaStorageHandler(out, options)
    files: Any = import_module("pyarrow.fs")
    infos = files.PyFileSystem(store).get_file_info(files.FileSelector("", recursive=True))
    return {info.path for info in infos if info.is_file}


def test_tables_in_a_bucket_are_those_in_a_folder(
    options: dict[str, str], out: str, tmp_path: Path
) -> None:
    root, here = tmp_path / "fleet", tmp_path / "out"
    for change in (_fleet, _grown):
        change(root)
        report = _write(root, out, options, snapshots=True)
        support.run(root, here, snapshots=True)
        assert report.is_new
        assert _rows(out, options) == _rows(here)
    assert report.log_changes == {"TRUNCATED": 1}
    before = _keys(out, options)
    session = support.InProcess()
    assert _write(root, out, options, snapshots=True, session=session).is_new is False
    assert session.jobs == 0
    assert _keys(out, options) == before


def test_a_run_that_is_stopped_at_any_commit_is_simply_run_again(
    options: dict[str, str], out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(BaseException):
        pass

    root = tmp_path / "fleet"
    _fleet(root)
    support.run(root, tmp_path / "before")
    was = _rows(tmp_path / "before")
    _grown(root)
    support.run(root, tmp_path / "before")
    expected = _rows(tmp_path / "before")
    real, seen = delta.commit, list[str]()

    def stopping(when: str, count: int) -> Callable[..., int]:
        def commit(place: Any, name: str, *more: Any) -> int:
            seen.append(name)
            if when == "before" and len(seen) == count:
                raise Stopped
            version = real(place, name, *more)
            if when == "after" and len(seen) == count:
                raise Stopped
            return version

        return commit

    for when, count, state in (
        ("before", 1, was), ("after", 1, None), ("before", 4, None), ("after", 9, None),
    ):  # fmt: skip
        own = f"{out}-{when}-{count}"
        _fleet(root)
        _write(root, own, options)
        _grown(root)
        seen.clear()
        monkeypatch.setattr(delta, "commit", stopping(when, count))
        with pytest.raises(Stopped):
            _write(root, own, options)
        monkeypatch.setattr(delta, "commit", real)
        if state is not None:
            assert _rows(own, options) == state
        _write(root, own, options)
        assert _rows(own, options) == expected, (when, count)
        assert _write(root, own, options).is_new is False


@pytest.mark.parametrize("when", ["before-the-commits", "in-the-commits"])
def test_of_two_runs_at_the_same_time_one_counts(
    options: dict[str, str], out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Both have done all work when the first commits."""
    root = tmp_path / "fleet"
    _fleet(root)
    other = list[TablesReport | None]()
    real_run, real_commit = TableStore.commit, delta.commit

    def meanwhile(*_: Any) -> None:
        if not other:
            other.append(None)
            other[0] = _write(root, out, options)

    def commit_run(*given: Any) -> None:
        meanwhile()
        real_run(*given)

    def commit(*given: Any) -> int:
        if given[6] == 1 and given[1] == "files":
            meanwhile()
        return real_commit(*given)

    if when == "before-the-commits":
        monkeypatch.setattr(TableStore, "commit", commit_run)
    else:
        monkeypatch.setattr(delta, "commit", commit)
    with pytest.raises(TablesRefusedError, match="another run has written to") as caught:
        _write(root, out, options)
    assert caught.value.hint == "run it again"
    [first] = other
    assert first is not None
    assert first.is_new
    support.run(root, tmp_path / "out")
    assert _rows(out, options) == _rows(tmp_path / "out")
    named = {
        f"{name}/{path}"
        for name in _rows(out, options)
        for path in pa.table(
            import_module("deltalake")
            .DeltaTable(f"{out}/{name}", storage_options=options)
            .get_add_actions()
        )["path"].to_pylist()
    }
    data = {key for key in _keys(out, options) if not key.startswith("_") and "_delta" not in key}
    assert data == named, "nothing is left of the run that lost"


def test_a_bucket_with_something_else_is_refused(
    options: dict[str, str], out: str, tmp_path: Path
) -> None:
    with TablePlace(out, options).create("other/file") as other:
        import_module("pyarrow.parquet").write_table(pa.table({"a": [1]}), other)
    root = directory(tmp_path / "fleet", batches(0, 1))
    with pytest.raises(TablesRefusedError, match="something other than tables"):
        _write(root, out, options)
    assert _keys(out, options) == {"other/file"}


def test_credentials_are_in_no_message_and_in_no_file(
    options: dict[str, str], out: str, tmp_path: Path
) -> None:
    root = directory(tmp_path / "fleet", batches(0, 2))
    _write(root, out, options)
    files: Any = import_module("pyarrow.fs")
    store = files.PyFileSystem(import_module("deltalake.fs").DeltaStorageHandler(out, options))
    for key in _keys(out, options):
        with store.open_input_file(key) as written:
            assert SECRET.encode() not in written.read(), key
    dead = {**options, "aws_endpoint_url": f"http://127.0.0.1:9/{SECRET}", "max_retries": "0"}
    with pytest.raises(KraftoolError) as refused:
        _write(root, out, dead)
    message = repr(refused.value) + refused.value.message + refused.value.hint
    assert out in message
    assert "\n" not in refused.value.message
    assert "\x1b" not in message
    assert SECRET not in message
    assert "AKIACANARY" not in message
