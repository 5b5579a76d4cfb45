"""Schemas: Spark has the columns of Arrow, and so have the tables."""

import json
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructType, VariantType

from kraftool.arrow.columns import COMMENT, arrow_schema, record_of, record_types, sources
from kraftool.arrow.enum_names import words_of
from kraftool.arrow.reading import parts_of, read_part
from kraftool.arrow.settings import read_settings
from kraftool.spark.columns import MAKERS, spark_schema
from kraftool.spark.tables.layout import TABLES, commented_schema, file_schema

pytestmark = pytest.mark.spark

SINGLE = Path(__file__).resolve().parents[2] / "fixtures/kafka-4.3.0/static-single"
OTHER_ROWS = {("features", "kraft.state.features"), ("brokers", "kraft.state.brokers")}
"""Tables whose rows are events, and not entities."""


def test_spark_has_the_columns_of_arrow_with_their_types_and_comments() -> None:
    for source in sources():
        arrow, spark = arrow_schema(source), spark_schema(source)
        assert spark.names == arrow.names, source
        again = to_arrow_schema(spark, timezone="UTC")
        assert again.types == arrow.types, source
        comments = [field.metadata[COMMENT.encode()].decode() for field in arrow]
        assert [field.metadata["comment"] for field in spark] == comments, source


def test_arrays_and_structs_keep_their_shape() -> None:
    partition = spark_schema("kraft.PartitionRecord")
    assert partition["replicas"].dataType == ArrayType(IntegerType())
    assert partition["directories"].dataType == ArrayType(StringType())
    voters = spark_schema("kraft.KRaftVoters")["voters"].dataType
    assert isinstance(voters, ArrayType)
    assert isinstance(voters.elementType, StructType)
    assert voters.elementType.names == [
        "voterId", "voterDirectoryId", "endpoints", "kRaftVersionFeature",
    ]  # fmt: skip
    assert isinstance(voters.elementType["endpoints"].dataType, ArrayType)
    assert isinstance(voters.elementType["kRaftVersionFeature"].dataType, StructType)


def test_a_column_has_the_same_type_in_all_sources_and_tables() -> None:
    """The fields of a record type are Kafka's, and may have any type."""
    types: dict[str, set[str]] = {}
    schemas = [arrow_schema(source) for source in sources() if record_of(source) is None]
    schemas += [file_schema(table) for table in TABLES if table not in record_types()]
    for known in schemas:
        for field in known:
            types.setdefault(field.name, set()).add(str(field.type))
    assert {name: kinds for name, kinds in types.items() if len(kinds) > 1} == {}
    assert len(types) > 100


@pytest.mark.parametrize("table", sorted(TABLES))
def test_a_table_has_the_columns_of_the_source_of_its_rows(table: str) -> None:
    names = (f"kraft.{table}", f"kraft.state.{table}", {"records": "kraft"}.get(table, ""))
    source = next((name for name in names if name in sources()), None)
    if source is None or (table, source) in OTHER_ROWS:
        return
    own = {field.name: field.type for field in file_schema(table)}
    words = words_of(table)
    expected = {field.name: field.type for field in arrow_schema(source)}
    assert {name: own.get(name) for name in expected if name not in words} == {
        name: kind for name, kind in expected.items() if name not in words
    }
    assert own.keys() - expected.keys() <= {"date", "generation", "configs"}


def test_every_column_of_a_table_has_a_comment() -> None:
    for known in map(commented_schema, TABLES):
        for field in known:
            assert field.metadata[b"comment"], field.name


def test_a_variant_is_there_when_asked_for() -> None:
    assert "data" not in spark_schema("kraft").names
    assert spark_schema("kraft", variant=True)["data"].dataType == VariantType()


def test_a_variant_has_the_value_of_the_payload() -> None:
    from pyspark.sql.variant_utils import VariantUtils

    settings = read_settings({"path": str(SINGLE), "variant": "true"})
    arrow = to_arrow_schema(spark_schema("kraft", variant=True), timezone="UTC")
    parts = parts_of("kraft", settings)
    rows = [row for part in parts for batch in read_part("kraft", arrow, settings, part, MAKERS)
            for row in batch.to_pylist()]  # fmt: skip
    assert rows
    for row in rows:
        decoded = VariantUtils.to_python(row["data"]["value"], row["data"]["metadata"])
        # Numbers with a point come as decimals, and a variant sorts its names.
        assert json.loads(json.dumps(decoded, default=float)) == json.loads(row["payload"])
