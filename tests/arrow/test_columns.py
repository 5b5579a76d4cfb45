"""Schemas: every record type has one, in Kafka's names. tests/spark has Spark's types."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

from kraftool.arrow.columns import (
    IDENTITY,
    arrow_schema,
    column_of,
    record_of,
    record_types,
    sources,
    typed_fields,
)
from kraftool.decoders import schema
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError


def test_every_metadata_and_control_record_of_the_catalogue_has_a_source() -> None:
    control = {record_type.label for record_type in ControlRecordType}
    assert set(record_types()) == {*schema.names("metadata"), *control}


@pytest.mark.parametrize("record", record_types())
def test_a_record_type_has_a_column_for_each_field_and_no_name_twice(record: str) -> None:
    columns = arrow_schema(f"kraft.{record}").names
    names = [name.lower() for name in columns]
    assert len(names) == len(set(names))
    assert set(IDENTITY) <= set(names)
    for field in typed_fields(record):
        assert column_of(field.name) in columns


def test_a_field_with_the_name_of_a_log_column_is_told_apart() -> None:
    """FenceBrokerRecord has an epoch of its own: the broker's."""
    assert "record_epoch" in arrow_schema("kraft.FenceBrokerRecord").names


def test_a_column_has_the_same_type_in_all_sources() -> None:
    """The fields of a record type are Kafka's, and may have any type."""
    types: dict[str, set[str]] = {}
    for source in sources():
        for field in arrow_schema(source) if record_of(source) is None else ():
            types.setdefault(field.name, set()).add(str(field.type))
    assert {name: kinds for name, kinds in types.items() if len(kinds) > 1} == {}
    assert len(types) > 80


def test_every_column_has_a_comment() -> None:
    for source in sources():
        for field in arrow_schema(source):
            assert field.metadata[b"comment"], field.name


def test_columns_are_chosen_by_name_in_any_case() -> None:
    assert arrow_schema("kraft", ("Payload", " offset")).names == ["payload", "offset"]
    with pytest.raises(KraftoolError, match="no column ofset"):
        arrow_schema("kraft", ("ofset",))
