"""`kraftool pipeline tables` as it is called: what it prints, and how it ends."""

import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")


from kraftool.commands import main, pipeline_options
from kraftool.decoders.errors import KraftoolError
from tests.spark import tables_support as support
from tests.spark.tables_support import batches, directory
from tests.support.json_contract import hold_document

pytestmark = pytest.mark.spark


Tables = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Tables:
    """Runs the command without a JVM: its exit code, stdout and stderr."""

    @contextmanager
    def in_process(*_: Any, **__: Any) -> Iterator[Any]:
        yield support.InProcess()

    monkeypatch.setattr(pipeline_options, "spark_run", in_process)

    def call(*arguments: object) -> tuple[int, str, str]:
        given = ["kraftool", "pipeline", "tables", *map(str, arguments)]
        monkeypatch.setattr("sys.argv", given)
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return call


def test_the_report_fits_its_schema(tables: Tables, tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    one = directory(root / "one", batches(0, 4))
    for is_new in (True, False):
        code, output, _ = tables(root, "--out", out, "-o", "json")
        document = json.loads(output)
        hold_document("pipeline-tables", document)
        assert (code, document["isNew"]) == (0, is_new)
    (one / support.LOG).write_bytes(batches(0, 2))
    document = json.loads(tables(root, "--out", out, "-o", "json")[1])
    hold_document("pipeline-tables", document)
    assert document["logChanges"] == {"TRUNCATED": 1}
    rows = {table["name"]: table for table in document["tables"]}
    assert (rows["records"]["removedRowCount"], rows["records"]["after"]["rowCount"]) == (20, 10)


def test_people_are_told_what_is_new(tables: Tables, tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "out"
    directory(root / "one", batches(0, 400))
    code, output, _ = tables(root, "--out", out)
    assert code == 0
    assert f"{out}: 1 cluster, 1 directory; 1 changed" in " ".join(output.split())
    assert "2,000" in next(line for line in output.splitlines() if line.startswith("records"))
    assert "nothing is new" in tables(root, "--out", out)[1]


def test_what_is_refused_ends_with_5(tables: Tables, tmp_path: Path) -> None:
    root, out = directory(tmp_path / "one", batches(0, 4)), tmp_path / "out"
    assert tables(root, "--out", root)[0] == 5
    assert tables(root, "--out", out)[0] == 0
    assert tables(root, "--out", out, "--show-secrets")[0] == 5
    with (out / "_kraftool/lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, _, errors = tables(root, "--out", out)
    assert code == 5
    assert "another run is writing" in errors


def test_what_cannot_be_read_ends_with_3(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.arrow.fleet import FleetFile

    root, out = directory(tmp_path / "one", batches(0, 4)), tmp_path / "out"
    real = FleetFile.open

    def refuse(file: FleetFile) -> Any:
        if file.name.endswith(".log"):
            raise KraftoolError(f"{file.name}: Permission denied")
        return real(file)

    monkeypatch.setattr(FleetFile, "open", refuse)
    for _ in range(2):
        code, _, errors = tables(root, "--out", out)
        assert code == 3
        assert "could not be read" in errors
    assert tables(tmp_path / "nothing", "--out", out)[0] == 3


def test_a_root_without_any_directory_is_no_silent_success(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, _, errors = tables(tmp_path / "empty", "--out", tmp_path / "out")
    assert code == 3
    assert "no Kafka data directory was found" in errors
