"""The catalogue says what Kafka's own definitions say, and its notation reads back."""

import pytest

from kraftool.decoders import schema
from kraftool.decoders.schema import data_messages, metadata_records, rpc_messages
from kraftool.decoders.schema.notation import CatalogueError, Versions, parse

CONTROL_RECORDS = [
    "LeaderChangeMessage",
    "SnapshotHeaderRecord",
    "SnapshotFooterRecord",
    "KRaftVersionRecord",
    "VotersRecord",
]


def test_all_modules_describe_the_same_kafka():
    found = {module.KAFKA for module in (metadata_records, data_messages, rpc_messages)}
    assert found == {schema.KAFKA}


def test_every_block_parses_and_names_are_unique():
    names = schema.names()
    assert len(names) == len(set(names)) == 231
    assert [schema.message(name).name for name in names] == names


def test_the_records_of_the_digest_are_there_with_their_api_keys():
    # Digest controller 1.2 lists the keys; 29 came with Kafka 4.4.
    keys = {schema.message(name).api_key for name in schema.names("metadata")}
    assert keys == set(range(30)) - {6, 13, 16}


def test_control_records_and_quorum_state_are_there():
    data = schema.names("data")
    assert set(CONTROL_RECORDS) <= set(data)
    assert schema.message("QuorumStateData").versions == Versions(0, 1)


def test_record_types_are_spelled_as_kafka_spells_them():
    assert schema.record_type("PartitionRecord") == "PARTITION_RECORD"
    assert schema.record_type("NoOpRecord") == "NO_OP_RECORD"
    assert schema.record_type("RemoveAccessControlEntryRecord") == (
        "REMOVE_ACCESS_CONTROL_ENTRY_RECORD"
    )


def test_facts_of_one_record_are_those_of_kafka():
    message = schema.message("PartitionRecord")
    assert (message.api_key, str(message.versions), str(message.flexible)) == (3, "0-2", "0+")
    fields = {field.name: field for field in message.fields}
    assert fields["leaderRecoveryState"].tag == 0
    assert fields["replicas"].entity == "brokerId"
    assert str(fields["eligibleLeaderReplicas"].nullable) == "2+"
    assert fields["eligibleLeaderReplicas"].default == "null"


def test_shared_structs_stand_below_the_fields_that_name_them():
    topology = next(
        field
        for field in schema.message("StreamsGroupHeartbeatRequest").fields
        if field.name == "activeTasks"
    )
    assert [field.name for field in topology.fields] == ["subtopologyId", "partitions"]


def test_an_unknown_name_is_refused():
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
def test_what_is_not_in_the_notation_is_refused(block: str):
    with pytest.raises(CatalogueError):
        parse(block)


@pytest.mark.parametrize("text", ["0+", "1-3", "2", "none"])
def test_version_ranges_write_back(text: str):
    assert str(Versions.parse(text)) == text
