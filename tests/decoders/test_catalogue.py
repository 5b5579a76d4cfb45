"""The catalogue says what Kafka's own definitions say, and its notation reads back."""

import ast
import re
from importlib import import_module

import pytest

from kraftool.decoders import schema
from kraftool.decoders.schema.notation import CatalogueError, Versions, parse
from kraftool.image.metadata_version import (
    LATEST_LEVEL,
    METADATA_VERSION,
    RELEASE_RANGES,
    release_of,
)
from tests.support.places import ROOT

CONTROL_RECORDS = [
    "LeaderChangeMessage",
    "SnapshotHeaderRecord",
    "SnapshotFooterRecord",
    "KRaftVersionRecord",
    "VotersRecord",
]


def test_all_modules_describe_the_same_kafka() -> None:
    for name in ("metadata_records", "data_messages", "rpc_messages"):
        module = import_module(f"kraftool.decoders.schema.{name}")
        assert f" of Kafka {schema.KAFKA}" in (module.__doc__ or "")


def test_the_newest_release_is_that_of_the_feature_levels_and_of_the_documents() -> None:
    assert release_of(LATEST_LEVEL) == schema.NEWEST_RELEASE == list(RELEASE_RANGES)[-1]
    assert RELEASE_RANGES[schema.NEWEST_RELEASE][METADATA_VERSION][1] == LATEST_LEVEL
    assert f"Every message of Kafka {schema.KAFKA} " in (ROOT / "README.md").read_text()


def test_no_text_of_the_product_has_the_newest_release_typed_by_hand() -> None:
    typed = re.compile(r"\b(?:no|newer than|known to|feature of) Kafka (?:up to )?\d|newer than \d")
    places = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in ("kraftool", "decoders", "commands", "tui")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and typed.search(node.value)
    ]
    assert not places


def test_every_block_parses_and_names_are_unique() -> None:
    names = schema.names()
    assert len(names) == len(set(names)) == 231
    assert [schema.message(name).name for name in names] == names


def test_the_records_of_the_digest_are_there_with_their_api_keys() -> None:
    # Digest controller 1.2 lists the keys; 29 came with Kafka 4.4.
    keys = {schema.message(name).api_key for name in schema.names("metadata")}
    assert keys == set(range(30)) - {6, 13, 16}


def test_control_records_and_quorum_state_are_there() -> None:
    data = schema.names("data")
    assert set(CONTROL_RECORDS) <= set(data)
    assert schema.message("QuorumStateData").versions == Versions(0, 1)


def test_record_types_are_spelled_as_kafka_spells_them() -> None:
    assert schema.record_type("PartitionRecord") == "PARTITION_RECORD"
    assert schema.record_type("NoOpRecord") == "NO_OP_RECORD"
    assert schema.record_type("RemoveAccessControlEntryRecord") == (
        "REMOVE_ACCESS_CONTROL_ENTRY_RECORD"
    )


def test_facts_of_one_record_are_those_of_kafka() -> None:
    message = schema.message("PartitionRecord")
    assert (message.api_key, str(message.versions), str(message.flexible)) == (3, "0-2", "0+")
    fields = {field.name: field for field in message.fields}
    assert fields["leaderRecoveryState"].tag == 0
    assert fields["replicas"].entity == "brokerId"
    assert str(fields["eligibleLeaderReplicas"].nullable) == "2+"
    assert fields["eligibleLeaderReplicas"].default == "null"


def test_shared_structs_stand_below_the_fields_that_name_them() -> None:
    topology = next(
        field
        for field in schema.message("StreamsGroupHeartbeatRequest").fields
        if field.name == "activeTasks"
    )
    assert [field.name for field in topology.fields] == ["subtopologyId", "partitions"]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(schema.UnknownMessage):
        schema.message("NoSuchRecord")


@pytest.mark.parametrize(
    "block",
    [
        "A metadata 1 versions 0 surprise 3",
        "A metadata 1 versions 0\n  f int32 0+ oops",
        "A metadata 1 versions x",
        "A metadata 1 versions 0\n    deep int32 0+",
    ],
)
def test_what_is_not_in_the_notation_is_refused(block: str) -> None:
    with pytest.raises(CatalogueError):
        parse(block)


@pytest.mark.parametrize("text", ["0+", "1-3", "2", "none"])
def test_version_ranges_write_back(text: str) -> None:
    assert str(Versions.parse(text)) == text
