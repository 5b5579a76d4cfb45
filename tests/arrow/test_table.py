"""The door without Spark: the rows of every source for DuckDB, Polars, pandas and pyarrow."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("polars")
pytest.importorskip("pandas")

import duckdb
import polars as pl

from kraftool.arrow import read
from kraftool.arrow.choices import Choices, option_texts, row_name
from kraftool.arrow.columns import COMMENT, sources
from kraftool.arrow.local_folders import LocalFiles
from kraftool.decoders import fast_path
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.programs import program
from tests.fuzz.native_cases import pure
from tests.support.places import FIXTURES

SINGLE = FIXTURES / "kafka-4.3.0/static-single"


@pytest.mark.parametrize("source", sources())
def test_every_source_gives_valid_arrow_over_healthy_and_damaged_files(source: str) -> None:
    table = read([SINGLE, FIXTURES / "damaged"], row_name(source))
    whole = table.read()
    whole.validate(full=True)
    assert whole.schema == table.schema
    assert table.reader().schema == table.schema


def test_every_engine_sees_the_same_rows_however_often_it_asks() -> None:
    records = read(SINGLE, columns=["offset", "type", "position"])
    count = records.read().num_rows
    assert count > 100
    # DuckDB finds the variable by its name.
    for _ in range(2):
        assert duckdb.execute("SELECT count(*) FROM records").fetchall() == [(count,)]
    twice = 'SELECT count(*) FROM records a JOIN records b USING (position, "offset")'
    assert duckdb.execute(twice).fetchall() == [(count,)]
    frame = pl.DataFrame(records)
    assert frame.height == count
    assert frame.columns == ["offset", "type", "position"]
    assert list(records.to_pandas()["offset"]) == frame["offset"].to_list()


def test_a_reader_gives_batch_after_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """One batch is in memory at a time: the second is not made before it is asked for."""
    monkeypatch.setattr("kraftool.arrow.rows.ROWS", 50)
    gc.enable()  # a command that ran in this process has turned it off
    reader = read(SINGLE).reader()
    sizes = []
    for batch in reader:
        sizes.append(batch.num_rows)
        assert gc.isenabled()  # for the code between two batches
    assert len(sizes) > 2
    assert max(sizes) < 100


def test_choices_are_the_options_of_the_same_names() -> None:
    choices: Choices = {
        "type": ["TopicRecord", "ConfigRecord"],
        "node": [1, 2],
        "offsets": range(5, 10),
        "epoch": (3, None),
        "since": datetime(2026, 11, 21, 4, tzinfo=UTC),
        "directory": ["/a,b"],
        "show_secrets": True,
        "storage_options": {"key": "x"},
    }
    assert option_texts(choices) == {
        "type": "TopicRecord,ConfigRecord",
        "node": "1,2",
        "offsets": "5..9",
        "epoch": "3..",
        "since": "2026-11-21T04:00:00+00:00",
        "directory": '["/a,b"]',
        "showSecrets": "true",
        "storageOptions": '{"key":"x"}',
    }


def test_a_range_of_nodes_is_a_choice_of_each() -> None:
    assert option_texts({"node": range(1, 4), "epoch": range(1, 4)}) == {
        "node": "1,2,3",
        "epoch": "1..3",
    }


def test_choices_narrow_the_rows() -> None:
    table = read(SINGLE, type="TopicRecord", kind="record", offsets=(0, 60), columns="type,offset")
    rows = table.read().to_pylist()
    assert rows
    assert {row["type"] for row in rows} == {"TopicRecord"}
    assert all(row["offset"] <= 60 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": "partition"}, "kraft has no rows 'partition'"),
        ({"rows": "topics", "type": "TopicRecord"}, "kraft.state.topics has no option type"),
        ({"columns": "ofset"}, "kraft has no column ofset"),
        ({"offsets": range(0, 10, 2)}, "has no numbers, or leaves some out"),
        ({"starting_offsets": "latest"}, "read has no keyword starting_offsets"),
        ({"variant": True}, "read has no keyword variant"),
        ({"path": []}, "no path is given"),
        ({"path": "/nowhere"}, "no such file or directory"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(KraftoolError, match=message):
        read(**{"path": SINGLE, **arguments})


def test_numbers_have_their_words_beside_them() -> None:
    rows = read(SINGLE, "ConfigRecord", columns="resourceType,resourceTypeName").read().to_pylist()
    words = {row["resourceType"]: row["resourceTypeName"] for row in rows}
    assert words == {2: "TOPIC", 4: "BROKER"} | {
        number: word for number, word in words.items() if number in (16, 32)
    }
    schema = read(SINGLE, "ConfigRecord").schema
    at = schema.get_field_index("resourceType")
    assert schema.field(at + 1).name == "resourceTypeName"


@pytest.mark.parametrize(
    ("record", "words"),
    [
        # -1 is no change, which has no word.
        ("PartitionChangeRecord", {(None, None), (1, "RECOVERING")}),
        ("PartitionRecord", {(None, "RECOVERED")}),
    ],
)
def test_a_field_at_its_default_has_the_word_of_its_default(record: str, words: set[Any]) -> None:
    """Kafka's JSON form leaves such a field out."""
    columns = ["leaderRecoveryState", "leaderRecoveryStateName"]
    rows = read(FIXTURES / "kafka-4.3.0", record, columns=columns).read().to_pylist()
    assert {tuple(row.values()) for row in rows} == words


def test_every_column_of_records_has_a_comment() -> None:
    for source in ("records", "PartitionRecord"):
        for field in read(SINGLE, source).schema:
            assert field.metadata[COMMENT.encode()], field.name


def test_neither_pyarrow_nor_pyspark_is_loaded_by_the_import_of_the_door() -> None:
    code = "import kraftool.arrow, sys; print(*{'pyarrow', 'pyspark'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    code = (
        f"from kraftool.arrow import read; read({str(SINGLE)!r}).read();"
        "import sys; print('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ("records", ["offset", "kind", "timestamp", "size", "damage", "control", "position"]),
        ("records", ["position", "type", "error"]),
        ("records", ["payload"]),
        ("batches", ["crc"]),
        ("PartitionRecord", ["leader", "leaderRecoveryStateName", "offset"]),
        ("files", ["path", "kind"]),
        ("files", ["state", "size", "modified", "identity"]),
        ("files", ["worst", "path"]),
        ("partitions", ["isr", "topic"]),
    ],
)
def test_chosen_columns_are_those_of_all_columns(rows: str, columns: list[str]) -> None:
    """Over damaged files too: what need not be decoded for them changes no row."""
    roots = [SINGLE, FIXTURES / "damaged"]
    for kind in (None, "record") if rows == "records" else (None,):
        choices: Choices = {} if kind is None else {"kind": kind}
        whole = read(roots, rows, **choices).read()
        choices["columns"] = columns
        assert read(roots, rows, **choices).read() == whole.select(columns)


def test_neither_records_nor_files_that_nobody_wants_are_decoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What options leave out costs nothing: counted, not timed."""
    from kraftool.arrow.fleet import FleetFile
    from kraftool.decoders import log_record

    opened: list[str] = []
    decoded: list[int] = []
    plain_open, plain_decode = FleetFile.open, log_record.decode_batch

    def counted_open(file: FleetFile) -> Any:
        opened.append(file.basename)
        return plain_open(file)

    def counted_decode(batch: Any) -> Any:
        decoded.append(batch.base_offset)
        return plain_decode(batch)

    monkeypatch.setattr(FleetFile, "open", counted_open)
    monkeypatch.setattr("kraftool.arrow.entries.decode_batch", counted_decode)

    with pure():
        _assert_that_options_prune(opened, decoded)


def _assert_that_options_prune(opened: list[str], decoded: list[int]) -> None:
    assert read(SINGLE, node=99).read().num_rows == 0
    assert opened == []
    assert read(SINGLE, "files", columns=["path", "kind", "state", "size"]).read().num_rows > 10
    assert opened == []
    files = read(SINGLE, "files", columns=["path", "findings", "worst"]).read().num_rows
    assert len(opened) == files
    assert read(SINGLE, columns=["offset"], kind="record").read().num_rows > 100
    assert decoded == []
    assert read(SINGLE, kind="record", offsets=(100, 110)).read().num_rows == 11
    assert decoded == []
    read(SINGLE).read()
    assert len(decoded) > 20


@pytest.mark.skipif(not fast_path.is_native(), reason="needs the native module")
def test_native_columns_leave_out_the_types_and_fields_that_nobody_wants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kraftool.arrow import native_columns

    learned: list[int] = []
    fields: list[str] = []
    plain_program, plain_take = program, native_columns.NativeColumns.take

    def counted_program(api_key: int, version: int, *, masked: bool) -> bytes | None:
        learned.append(api_key)
        return plain_program(api_key, version, masked=masked)

    def counted_take(self: Any) -> Any:
        chunk = plain_take(self)
        fields.extend(name for rows in chunk.types for name in rows.fields)
        return chunk

    monkeypatch.setattr(native_columns, "program", counted_program)
    monkeypatch.setattr(native_columns.NativeColumns, "take", counted_take)
    assert read(SINGLE, columns=["offset"], kind="record").read().num_rows > 100
    assert learned == []
    assert read(SINGLE, kind="record", offsets=(100, 110)).read().num_rows == 11
    some = len(learned)
    read(SINGLE).read()
    assert len(learned) - some > some
    assert fields == []
    topics = read(SINGLE, "TopicRecord", columns=["topicId", "offset"])
    assert topics.read().num_rows > 0
    assert set(fields) == {"topicId"}


def test_the_options_of_sparks_kafka_source_mean_the_same_here() -> None:
    from kraftool.arrow.settings import check_batch, check_stream, read_settings

    def narrowed(**options: str) -> Any:
        return read_settings({"path": "x", **options}).narrowing

    assert narrowed(startingOffsets="10", endingOffsets="20") == narrowed(offsets="10..19")
    text = '{"__cluster_metadata": {"0": 10}}'
    assert narrowed(startingOffsets=text) == narrowed(offsets="10..")
    text = '{"__cluster_metadata": {"0": -1}}'
    assert narrowed(startingOffsets="earliest", endingOffsets=text) == narrowed()
    assert narrowed(startingTimestamp="1795234265000", endingTimestamp="1795234266000") == narrowed(
        since="1795234265000", until="1795234265999"
    )
    # Before 2001, epoch milliseconds have fewer digits than a time has to have as a number.
    assert narrowed(endingTimestamp="2000-01-01").selection.until == 946_684_799_999
    for options, message in (
        ({"endingOffsets": "earliest"}, "not earliest"),
        ({"endingOffsets": '{"topic": {"0": 1}}'}, "earliest, latest or an offset"),
        ({"startingOffsets": '{"__cluster_metadata": {"0": []}}'}, "latest or an offset"),
        ({"startingTimestamp": "5"}, "startingTimestamp '5' is not a time"),
        ({"endingTimestamp": "5"}, "endingTimestamp '5' is not a time"),
        ({"depth": "\u00b2"}, "depth must be an integer"),
        ({"depth": "9" * 5000}, "depth must be an integer"),
        ({"startingOffsets": "20", "endingOffsets": "20"}, "no later than startingOffsets"),
        ({"startingOffsets": "20", "offsets": "1.."}, "are both given"),
    ):
        with pytest.raises(KraftoolError, match=message):
            narrowed(**options)
    with pytest.raises(KraftoolError, match=r"kraft\.files has no option offsets"):
        read_settings({"path": "x", "endingOffsets": "5"}, "kraft.files")
    with pytest.raises(KraftoolError, match="a table would be empty"):
        check_batch(read_settings({"path": "x", "startingOffsets": "latest"}))
    with pytest.raises(KraftoolError, match="a stream has no endingOffsets"):
        check_stream(read_settings({"path": "x", "endingOffsets": "5"}))


def test_a_folder_that_cannot_be_listed_is_a_row_and_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        shutil.copytree(SINGLE / "node-1/data", tmp_path / name)
    refused = {str(tmp_path / "two"), str(tmp_path / "three/__cluster_metadata-0")}
    listed = LocalFiles.listed

    def refusing(files: LocalFiles, path: str = "") -> Any:
        shown = files.shown(path)
        if shown in refused:
            raise KraftoolError(f"{shown}: permission denied")
        return listed(files, path)

    monkeypatch.setattr(LocalFiles, "listed", refusing)
    for rows in ("records", "batches"):
        table = read(tmp_path, rows)
        problems = [row for row in table.read().to_pylist() if row["kind"] == "problem"]
        assert {row["file"] for row in problems} == refused
        assert {row["error"] for row in problems} == {
            f"{name}: permission denied" for name in refused
        }
        sound = read(tmp_path, rows, kind=["record" if rows == "records" else "batch"])
        assert "problem" not in sound.read()["kind"].to_pylist()
    states = {row["directory"]: row for row in read(tmp_path, "states").read().to_pylist()}
    assert set(states) == {str(tmp_path / name) for name in ("one", "two", "three")}
    assert (
        states[str(tmp_path / "three")]["cluster_id"] == states[str(tmp_path / "one")]["cluster_id"]
    )
    assert states[str(tmp_path / "two")]["error"] == f"{tmp_path}/two: permission denied"
    assert [row["complete"] for _, row in sorted(states.items())] == [True, False, False]
    assert read(tmp_path, "states", cluster="another").read().num_rows == 0
