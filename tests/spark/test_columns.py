"""Schemas: every record type has one, in Kafka's names, and Arrow agrees with Spark about it."""

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructType, VariantType

from kraftool.arrow.columns import (
    IDENTITY,
    column_of,
    record_types,
    typed_fields,
    types_of,
)
from kraftool.decoders import schema
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.columns import spark_schema

pytestmark = pytest.mark.spark


def test_every_metadata_and_control_record_of_the_catalogue_has_a_source() -> None:
    control = {record_type.message for record_type in ControlRecordType}
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
    voters = spark_schema("kraft.VotersRecord")["voters"].dataType
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


def test_the_type_of_a_record_is_its_name_in_kafkas_sources() -> None:
    assert types_of("PartitionRecord") == {"PartitionRecord"}
    assert types_of("LeaderChangeMessage") == {"LeaderChange"}
    assert types_of("EndTxnMarker") == {"Abort", "Commit"}


def test_columns_are_chosen_by_name_in_any_case() -> None:
    assert spark_schema("kraft", ("Payload", " offset")).names == ["payload", "offset"]
    with pytest.raises(KraftoolError, match="no column ofset"):
        spark_schema("kraft", ("ofset",))


def test_a_variant_is_there_when_asked_for() -> None:
    assert "data" not in spark_schema("kraft").names
    assert spark_schema("kraft", variant=True)["data"].dataType == VariantType()
