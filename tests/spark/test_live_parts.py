"""What `pipeline stream` refuses and how its rows look, without a JVM."""

import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from kraftool.commands.exit_code import UsageError
from kraftool.commands.output import Output
from kraftool.commands.pipeline_stream_run import bytes_of, target_of
from kraftool.commands.pipeline_stream_view import COLUMNS, LiveTable
from kraftool.commands.times import time_zone
from kraftool.spark.errors import OccupiedError
from kraftool.spark.live.checkpoint import OtherStream, held, note_of
from kraftool.spark.live.frame import StreamOptions, type_names
from kraftool.spark.live.sinks import ParquetSink, refuse_foreign
from kraftool.spark.tables.run import TablesRequest, write_tables

pytestmark = pytest.mark.spark
SECRET = "CANARY-key"


def _note(*roots: str, **options: Any) -> dict[str, Any]:
    return note_of(StreamOptions(roots=roots, **options), "console")


def test_a_checkpoint_is_taken_up_by_the_stream_that_left_it(tmp_path: Path) -> None:
    with held(tmp_path / "checkpoint", _note("/a")) as first:
        assert first.id
    with held(tmp_path / "checkpoint", _note("/a", from_latest=True)) as again:
        assert again.id == first.id


@pytest.mark.parametrize(
    ("note", "message"),
    [
        (_note("/b"), "other ROOTs: /a, not /b"),
        (_note("/a", findings=False), "other --findings: true, not false"),
        (_note("/a", types=frozenset({"TOPIC_RECORD"})), "other --type: none, not TOPIC_RECORD"),
        ({**_note("/a"), "--to": "parquet:/x"}, "other --to: console, not parquet:/x"),
    ],
)
def test_a_checkpoint_of_another_stream_is_refused(
    tmp_path: Path, note: dict[str, Any], message: str
) -> None:
    with held(tmp_path, _note("/a")):
        pass
    with pytest.raises(OtherStream, match=message), held(tmp_path, note):
        pass


def test_a_folder_with_something_else_and_a_second_run_are_refused(tmp_path: Path) -> None:
    with (
        held(tmp_path / "a", _note("/a")),
        pytest.raises(OtherStream, match="another run"),
        held(tmp_path / "a", _note("/a")),
    ):
        pass
    (tmp_path / "b").mkdir()
    (tmp_path / "b/letter").touch()
    with pytest.raises(OtherStream, match="something other"), held(tmp_path / "b", _note("/a")):
        pass


def test_what_a_url_has_to_log_in_is_not_in_a_checkpoint(tmp_path: Path) -> None:
    url = f"https://user:{SECRET}@host/data"
    with held(tmp_path, _note(url, storage={"key": SECRET})):
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"host/data" in written
    assert SECRET.encode() not in written


def test_a_folder_of_parquet_belongs_to_its_checkpoint(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with held(tmp_path / "a", _note("/a")) as mine, held(tmp_path / "b", _note("/a")) as other:
        ParquetSink(out, mine).close()
        ParquetSink(out, mine).close()
        with pytest.raises(OtherStream, match="another checkpoint"):
            ParquetSink(out, other)
        (tmp_path / "full").mkdir()
        (tmp_path / "full/letter").touch()
        with pytest.raises(OtherStream, match="something other"):
            ParquetSink(tmp_path / "full", mine)


def test_a_batch_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    with held(tmp_path / "a", _note("/a")) as mine:
        sink = ParquetSink(tmp_path / "out", mine)
        (tmp_path / "out/batch=3").mkdir()
        untouched: Any = None  # whatever would be done with the frame would fail
        sink.write(untouched, 3)


@pytest.mark.parametrize(
    "text", ["", "parquet:", "parquet:s3://b/x", "kafka:host/t", "kafka:host:9/", "delta:x"]
)
def test_a_sink_that_is_none_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        target_of(text)


def test_sinks_rates_and_types_are_read() -> None:
    target = target_of("kafka:a:9092,b:9092/meta.data")
    assert (target.servers, target.topic) == ("a:9092,b:9092", "meta.data")
    assert target_of("parquet:out").shown == f"parquet:{Path.cwd() / 'out'}"
    assert [bytes_of(size) for size in ("7", "2k", "64M", "1GiB")] == [7, 2048, 64 << 20, 1 << 30]
    for text in ("0", "-1", "x", "1.5M"):
        with pytest.raises(UsageError):
            bytes_of(text)
    assert type_names("PartitionRecord") == type_names("partition_record") == {"PartitionRecord"}
    assert type_names("LeaderChange") == {"LeaderChange"}
    assert type_names("nothing") == frozenset()


def _row(**values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "directory": "/d", "file": f"/d/{0:020}.log", **values}


def test_rows_are_lines_of_which_none_acts_on_a_terminal(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    output = Output()
    table = LiveTable(output, time_zone("UTC"))
    table.row(
        _row(
            kind="record", cluster_id="c\x1b[2J", node_id=1, offset=7,
            timestamp_ms=1_700_000_000_000, type="TopicRecord", version=0,
            payload='{"name":"a\\u001bb"}', valid=True,
        )
    )  # fmt: skip
    table.row(_row(kind="problem", position=9, error="torn\x1b"))
    table.row(_row(kind="change", type="GONE", error="the log is gone", timestamp_ms=1, offset=3))
    table.row(_row(kind="finding", severity="error", code="KT-X", text="odd", field="f",
                   expected="1", found="2"))  # fmt: skip
    output.flush()
    shown = capfdbinary.readouterr().out.decode()
    assert "\x1b" not in shown
    lines = [line for line in shown.splitlines() if "what" not in line and len(line) > 10]
    assert "22:13:20.000Z c\\u001b[2J" in lines[0]
    assert "0.log:7" in lines[0]
    assert 'TopicRecord  name="a' in lines[0]
    assert "0.log at 9" in lines[1]
    assert "the log is gone (/d)" in lines[2]
    assert "error KT-X  f: odd (expected 1, found 2)" in lines[3]


@pytest.mark.parametrize("name", ["_staging", "_checkpoint", "_other", "data.txt"])
def test_nothing_of_anybody_else_is_touched_whatever_it_is_called(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "dir" / name).mkdir(parents=True)
    (tmp_path / "dir" / name / "important").write_text("keep")
    with pytest.raises(OtherStream, match="something other"):
        refuse_foreign(tmp_path / "dir")
    with held(tmp_path / "c", _note("/a")) as mine, pytest.raises(OtherStream):
        ParquetSink(tmp_path / "dir", mine)
    assert (tmp_path / "dir" / name / "important").read_text() == "keep"
    assert [path.name for path in (tmp_path / "dir").iterdir()] == [name]


def _contents(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_no_pipeline_writes_into_a_data_directory(fixtures_dir: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(fixtures_dir / "kafka-4.3.0/static-single/node-1/data", data)
    (tmp_path / "link").symlink_to(data)
    before = _contents(data)
    for out in (data, data / "new", data / "__cluster_metadata-0/new", tmp_path / "link/new"):
        with pytest.raises(OccupiedError, match="is in the data directory"):
            refuse_foreign(out)
        with pytest.raises(OccupiedError, match="is in the data directory"), held(out, _note("/a")):
            pass
        wanted = TablesRequest(roots=(str(data),), out=str(out))
        with pytest.raises(OccupiedError, match="is in the data directory"):
            write_tables(wanted, lambda: pytest.fail("nothing is to be started"))
    assert _contents(data) == before
    refuse_foreign(tmp_path / "beside")
