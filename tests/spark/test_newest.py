"""The column `newest`: the same directories in the sources as in the tables."""

from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("deltalake")

from kraftool.arrow.table import KraftTable
from tests.spark import tables_support as support
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark


def test_the_newest_states_of_the_sources_are_those_of_the_tables(tmp_path: Path) -> None:
    root = FIXTURES / "kafka-4.3.0/upgrade"
    support.run(root, tmp_path)
    columns = ["cluster_id", "directory", "newest", "end_offset", "end_epoch"]
    for rows in ("topics", "partitions"):
        table = import_module("deltalake").DeltaTable(str(tmp_path / rows)).to_pyarrow_table()
        expected = {tuple(row.values()) for row in table.select(columns).to_pylist()}
        source = KraftTable(root, rows, columns=columns).read()
        assert {tuple(row.values()) for row in source.to_pylist()} == expected
        assert {newest for _, _, newest, _, _ in expected} == {True, False}
    states = KraftTable(root, "states").read().to_pylist()
    assert sum(row["newest"] for row in states) == 1
