"""Schemas: every record type has one, in Kafka's names, and Arrow agrees with Spark about it."""

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructType, VariantType

from kraftool.arrow.columns import (
    IDENTITY,
    arrow_schema,
    column_of,
    record_of,
    record_types,
    sources,
    typed_fields,
)
from kraftool.arrow.enum_names import words_of
from kraftool.decoders import schema
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.columns import spark_schema
from kraftool.spark.tables.layout import TABLES, commented_schema, file_schema

pytestmark = pytest.mark.spark

OTHER_ROWS = {("features", "kraft.state.features"), ("brokers", "kraft.state.brokers")}
"""Tables whose rows are events, and not entities."""


def test_every_metadata_and_control_record_of_the_catalogue_has_a_source() -> None:
    control = {record_type.label for record_type in ControlRecordType}
    assert set(record_types()) == {*schema.names("metadata"), *control}


@pytest.mark.parametrize("record", record_types())
def test_a_record_type_has_a_column_for_each_field_and_no_name_twice(record: str) -> None:
    columns = spark_schema(f"kraft.{record}")
    names = [name.lower() for name in columns.names]
    assert len(names) == len(set(names))
    assert set(IDENTITY) <= set(names)
    for field in typed_fields(record):
        assert column_of(field.name) in columns.names
    to_arrow_schema(columns, timezone="UTC")


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


def test_a_field_with_the_name_of_a_log_column_is_told_apart() -> None:
    """FenceBrokerRecord has an epoch of its own: the broker's."""
    assert "record_epoch" in spark_schema("kraft.FenceBrokerRecord").names


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


def test_every_column_has_a_comment() -> None:
    schemas = [arrow_schema(source) for source in sources()]
    for known in (*schemas, *map(commented_schema, TABLES)):
        for field in known:
            assert field.metadata[b"comment"], field.name


def test_columns_are_chosen_by_name_in_any_case() -> None:
    assert spark_schema("kraft", ("Payload", " offset")).names == ["payload", "offset"]
    with pytest.raises(KraftoolError, match="no column ofset"):
        spark_schema("kraft", ("ofset",))


def test_a_variant_is_there_when_asked_for() -> None:
    assert "data" not in spark_schema("kraft").names
    assert spark_schema("kraft", variant=True)["data"].dataType == VariantType()
