"""The door without Spark: the rows of every source for DuckDB, Polars, pandas and pyarrow."""

from __future__ import annotations

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
from kraftool.decoders.errors import KraftoolError

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
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
    reader = read(SINGLE).reader()
    sizes = [batch.num_rows for batch in reader]
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


def test_choices_narrow_the_rows() -> None:
    found = read(SINGLE, type="TopicRecord", kind="record", offsets=(0, 60), columns="type,offset")
    rows = found.read().to_pylist()
    assert rows
    assert {row["type"] for row in rows} == {"TopicRecord"}
    assert all(row["offset"] <= 60 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rows": "partition"}, "kraft has no rows 'partition'"),
        ({"rows": "topics", "type": "TopicRecord"}, "kraft.state.topics has no option type"),
        ({"columns": "ofset"}, "kraft has no column ofset"),
        ({"offsets": range(0, 10, 2)}, "is no range of neighbours"),
        ({"path": "/nowhere"}, "no such file or directory"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(KraftoolError, match=said):
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
