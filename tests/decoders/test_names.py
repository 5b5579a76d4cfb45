"""File and folder names; the verdicts are those of LocalLog and Snapshots of Kafka 4.3.0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import names
from kraftool.decoders.names import (
    CheckpointName,
    FileState,
    FolderName,
    FolderState,
    SegmentName,
)


@pytest.mark.parametrize("suffix", [".log", ".index", ".timeindex", ".txnindex", ".snapshot"])
def test_a_segment_file_is_named_by_its_base_offset(suffix: str) -> None:
    name = "00000000000000000123" + suffix
    assert names.parse_segment_name(name) == SegmentName(base_offset=123, suffix=suffix)
    assert names.write_segment_name(123, suffix) == name


@pytest.mark.parametrize("state", [FileState.DELETED, FileState.CLEANED, FileState.SWAP])
def test_a_segment_file_may_be_on_its_way_in_or_out(state: FileState) -> None:
    parsed = names.parse_segment_name("00000000000000000123.log" + state.value)
    assert parsed == SegmentName(base_offset=123, suffix=".log", state=state)


def test_a_number_without_padding_is_told() -> None:
    parsed = names.parse_segment_name("5.log")
    assert parsed == SegmentName(base_offset=5, suffix=".log", padded=False)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".log",
        "server.log",
        "00000000000000000123",
        "00000000000000000123.txt",
        "00000000000000000123.log.gz",
        "00000000000000000123.log\n",
        "99999999999999999999.log",
        "-0000000000000000001.log",
        "\u0660.log",
    ],
)
def test_other_names_are_no_segment_files(name: str) -> None:
    assert names.parse_segment_name(name) is None


def test_a_checkpoint_is_named_by_offset_and_epoch() -> None:
    name = "00000000000000000123-0000000004.checkpoint"
    assert names.parse_checkpoint_name(name) == CheckpointName(offset=123, epoch=4)
    assert names.write_checkpoint_name(123, 4) == name


def test_a_checkpoint_may_be_a_part_or_deleted() -> None:
    bare = "00000000000000000123-0000000004"
    assert names.parse_checkpoint_name(bare + "-9876543210.checkpoint.part") == CheckpointName(
        offset=123, epoch=4, state=FileState.PART, random="9876543210"
    )
    assert names.parse_checkpoint_name(bare + ".checkpoint.deleted") == CheckpointName(
        offset=123, epoch=4, state=FileState.DELETED
    )


@pytest.mark.parametrize(
    ("name", "offset", "epoch"),
    [
        ("000000000000000000123-0000000004.checkpoint", 12, 0),
        ("00000000000000000123-00000000040.checkpoint", 123, 4),
        ("00000000000000000123 0000000004.checkpoint", 123, 4),
        ("0000000000000000012300000000001.checkpoint", 123, 1),
        ("00000000000000000123-0000000004.checkpoint.part", 123, 4),
    ],
)
def test_what_kafka_takes_for_a_checkpoint_though_it_never_writes_it_is_told(
    name: str, offset: int, epoch: int
) -> None:
    parsed = names.parse_checkpoint_name(name)
    assert parsed is not None
    assert (parsed.offset, parsed.epoch, parsed.canonical) == (offset, epoch, False)


@pytest.mark.parametrize(
    "name",
    [
        "bootstrap.checkpoint",
        ".checkpoint",
        "00000000000000000123.checkpoint",
        "00000000000000000123-0000000004",
        "00000000000000000123-0000000004.checkpoint.tmp",
        "00000000000000000123-9999999999.checkpoint",
        "99999999999999999999-0000000000.checkpoint",
        "123-4.checkpoint",
    ],
)
def test_other_names_are_no_checkpoints(name: str) -> None:
    assert names.parse_checkpoint_name(name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders.eu-12", FolderName(topic="orders.eu", partition=12)),
        ("__cluster_metadata-0", FolderName(topic="__cluster_metadata", partition=0)),
        ("a-b-1", FolderName(topic="a-b", partition=1)),
        (
            "a.b-1.0f3c-delete",
            FolderName(topic="a.b", partition=1, state=FolderState.DELETE),
        ),
        (
            "a-1.0f3c-future",
            FolderName(topic="a", partition=1, state=FolderState.FUTURE),
        ),
        (
            "a-1.0f3c-stray",
            FolderName(topic="a", partition=1, state=FolderState.STRAY),
        ),
        ("a-0-delete", None),
        ("a.0f3c-delete", None),
        ("a b-1.0f3c-delete", None),
        ("a-", None),
        ("-0", None),
        ("a", None),
        ("", None),
        ("a-x", None),
        ("a-2147483648", None),
        ("lost+found", None),
    ],
)
def test_a_folder_is_read_as_kafka_reads_it(name: str, expected: FolderName | None) -> None:
    assert names.parse_folder_name(name) == expected


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**31 - 1))
def test_written_names_come_back(offset: int, epoch: int) -> None:
    checkpoint = names.parse_checkpoint_name(names.write_checkpoint_name(offset, epoch))
    assert checkpoint == CheckpointName(offset=offset, epoch=epoch)
    part = names.parse_checkpoint_name(names.write_part_name(offset, epoch, "77"))
    assert part == CheckpointName(offset=offset, epoch=epoch, state=FileState.PART, random="77")
    segment = names.parse_segment_name(names.write_segment_name(offset, ".log"))
    assert segment == SegmentName(base_offset=offset, suffix=".log")
    folder = names.parse_folder_name(f"a.b-c-{epoch}")
    assert folder == FolderName(topic="a.b-c", partition=epoch)


@given(st.text(alphabet="0123456789-.abdelrtuyschkpoin", max_size=60))
def test_any_name_is_read_or_not_without_an_error(name: str) -> None:
    names.parse_segment_name(name)
    names.parse_checkpoint_name(name + ".checkpoint")
    names.parse_folder_name(name)
