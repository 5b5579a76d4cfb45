"""One rule for all pipelines: how they end where they cannot, or will not, begin.

2 is a command line that cannot be carried out, 3 what cannot be read, 5 what would be lost or mixed
up. None of it starts a JVM, and none of it leaves a trace.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from kraftool.commands import main, pipeline_options

pytestmark = pytest.mark.spark
Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Runs a pipeline, which may not come to a JVM: its exit code and stderr."""
    monkeypatch.setattr(
        "kraftool.spark.jvm.find_java", lambda _: pytest.fail("a JVM would have been started")
    )

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["kraftool", "pipeline", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), capfd.readouterr().err

    return run


@pytest.fixture
def place(tmp_path: Path, fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a data directory, a file, and a folder of somebody's."""
    shutil.copytree(fixtures_dir / "kafka-4.3.0/static-single/node-1/data", tmp_path / "data")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/letter").write_text("mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def _everything(place: Path) -> list[str]:
    return sorted(str(path) for path in place.rglob("*"))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        # What cannot be done whatever is there.
        (("stream", "data", "--checkpoint", "s3://bucket/c"), 2, "not a URL"),
        (("tables", "data", "--out", "file/below"), 2, "Not a directory"),
        (("stream", "data", "--to", "parquet:s3://bucket/x"), 2, "not a URL"),
        (("stream", "data", "--to", "parquet:file/below"), 2, "Not a directory"),
        (("stream", "data", "--checkpoint", "file/below"), 2, "Not a directory"),
        (("audit", "data", "--html", "nowhere/x.html"), 2, "cannot be written"),
        (("audit", "data", "--out", "nowhere/x.json"), 2, "cannot be written"),
        (("audit", "data", "--spark-log", "file/below"), 2, "cannot be written"),
        (("audit", "data", "--html", "x", "--out", "./x"), 2, "--out and --html name the same"),
        (("audit", "data", "--html", "x", "--spark-log", "./x"), 2, "name the same file"),
        (("stream", "data", "--master", "sc://host"), 2, "Spark Connect cannot be used"),
        (("tables", "data", "--out", "new", "--master", "host:7"), 2, "is not a Spark master"),
        (
            ("tables", "data", "--out", "new", "--conf", "spark.master=host:7"),
            2,
            "not a Spark master",
        ),
        (("audit", ""), 2, "a ROOT has an empty name"),
        (("tables", "", "--out", "new"), 2, "a ROOT has an empty name"),
        (("stream", "data", ""), 2, "a ROOT has an empty name"),
        (("stream", "data", "--type", "TopicRecrod"), 2, "did you mean TopicRecord"),
        (("stream", "data", "--type", "XYZZY"), 2, "AbortTransactionRecord, "),
        (("tables", "data/meta.properties", "--out", "new"), 2, "is one file"),
        # What cannot be read.
        (("tables", "dta", "--out", "new"), 3, "did you mean {}/data?"),
        (("stream", "dta"), 3, "did you mean {}/data?"),
        (("stream", "data/node-7/x"), 3, "{}/data exists, but has no node-7"),
        # What would be lost, or mixed up.
        (("tables", "data", "--out", "file"), 5, "is no folder"),
        (("tables", "data", "--out", "full"), 5, "something other"),
        (("tables", "data", "--out", "~/data/new"), 5, "is in the data directory"),
        (("stream", "data", "--to", "parquet:file"), 5, "is no folder"),
        (("stream", "data", "--to", "parquet:full"), 5, "something other"),
        (("stream", "data", "--to", "parquet:data/new"), 5, "is in the data directory"),
        (("stream", "data", "--checkpoint", "file"), 5, "is no folder"),
        (("stream", "data", "--checkpoint", "full"), 5, "something other"),
        (("stream", "data", "--checkpoint", "data/new"), 5, "is in the data directory"),
        (("audit", "data", "--out", "file"), 5, "exists already"),
        (("audit", "data", "--html", "file"), 5, "exists already"),
        (("audit", "data", "--html", "data/x.html"), 5, "is in the data directory"),
        (("audit", "data", "--out", "data/x.json"), 5, "is in the data directory"),
        (("stream", "data", "--spark-log", "data/x.log"), 5, "is in the data directory"),
    ],
)
def test_mistakes_of_one_kind_end_in_one_way(
    arguments: tuple[str, ...],
    code: int,
    message: str,
    call: Call,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Tests that ran before in this process may have left theirs open; none of these starts one.
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    before = _everything(place)
    ended, output = call(*arguments)
    assert message.format(place) in output
    assert "internal error" not in output
    assert ended == code
    left = [path for path in _everything(place) if path not in before]
    assert all("/new" in path and "/data/" not in path for path in left)


def test_names_are_made_whole_before_anything_is_looked_up(place: Path) -> None:
    given = ["~/data", "data/../data", "s3://bucket/~/x"]
    assert pipeline_options.absolute(given) == (
        f"{place}/data", f"{place}/data", "s3://bucket/~/x",
    )  # fmt: skip


_NOT_STARTED = (
    "An error occurred while calling o99.collectToPython.\n: org.apache.spark.SparkException: "
    "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: "
    "Lost task 0.3: org.apache.spark.SparkException: Python worker failed to connect back.\n"
    "\tat org.apache.spark.api.python.PythonWorkerFactory.createSimpleWorker"
)


@pytest.mark.parametrize("arguments", [("audit", "data"), ("tables", "data", "--out", "new")])
def test_a_worker_that_does_not_start_is_tried_once_more_and_then_is_no_fault_of_the_input(
    arguments: tuple[str, ...], call: Call, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.errors import PySparkException

    from kraftool.spark.failures import explained

    tries = 0

    @contextmanager
    def failing(*_: object) -> Iterator[None]:
        nonlocal tries
        tries += 1
        with explained():
            raise PySparkException(_NOT_STARTED)
        yield

    monkeypatch.setattr(pipeline_options, "spark_session", failing)
    code, output = call(*arguments)
    assert (code, tries) == (70, 2)
    assert output.count("trying once more") == 1
    assert "--master 'local[1]' starts one worker" in output
