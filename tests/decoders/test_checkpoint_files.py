"""Text checkpoints: real files, Kafka's rules on damaged ones, exact bytes when written.

The verdicts are those of Kafka 4.3.0's own readers, which agreed on 6,000 mutated files of each
kind as well.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import checkpoint_files
from kraftool.decoders.checkpoint_files import EpochEntry, PartitionOffset

# Written by 4.3.0.
LEADER_EPOCHS = b"0\n1\n1 0\n"
OFFSETS = b"0\n3\norders.eu 0 14\n__transaction_state 0 10\norders.eu 1 0\n"
NO_OFFSETS = b"0\n0\n"
PARTITION_METADATA = b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


def test_real_leader_epochs_are_read_and_written_back_to_the_same_bytes() -> None:
    checkpoint, findings = checkpoint_files.decode_leader_epochs(LEADER_EPOCHS)
    assert findings == ()
    assert checkpoint.entries == (EpochEntry(epoch=1, start_offset=0),)
    assert checkpoint_files.encode_leader_epochs(checkpoint.entries) == LEADER_EPOCHS


def test_real_offsets_are_read() -> None:
    for data in (OFFSETS, NO_OFFSETS):
        checkpoint, findings = checkpoint_files.decode_offsets(data)
        assert findings == ()
        assert len(checkpoint.entries) == data.count(b"\n") - 2, "lines but version and count"
    checkpoint, _ = checkpoint_files.decode_offsets(OFFSETS)
    assert checkpoint.entries[0] == PartitionOffset(topic="orders.eu", partition=0, offset=14)


def test_real_partition_metadata_is_read_and_written_back_to_the_same_bytes() -> None:
    metadata, findings = checkpoint_files.decode_partition_metadata(PARTITION_METADATA)
    assert findings == ()
    assert metadata.topic_id == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert checkpoint_files.encode_partition_metadata(metadata.topic_id) == PARTITION_METADATA


@pytest.mark.parametrize(
    "data", [b"", b"0", b"0\n", b"0\n0", b"+0\n01\n1\t0", b"0\r\n1\r\n1 0\r\n", b"0\n1\n1 0 \n"]
)
def test_what_kafka_takes_is_accepted_without_a_finding(data: bytes) -> None:
    checkpoint, findings = checkpoint_files.decode_leader_epochs(data)
    assert checkpoint.accepted
    assert findings == ()


@pytest.mark.parametrize(
    ("data", "position", "path"),
    [
        (b"1\n0\n", 0, "version"),
        (b"\n0\n0\n", 0, "version"),
        (bytes(8), 0, "version"),
        (b"0\n\n", 2, "count"),
        (b"0\n-1\n", 2, "count"),
        (b"0\n 1\n1 0\n", 2, "count"),
        (b"0\n99999999999\n1 0\n", 2, "count"),
        (b"0\n2\n1 0\n", 2, "count"),
        (b"0\n1\n1 0\n\n", 8, "line 4"),
        (b"0\n1\n 1 0\n", 4, "line 3"),
        (b"0\n1\n1\n", 4, "line 3"),
        (b"0\n1\n1 0 0\n", 4, "line 3"),
        (b"0\n1\n2147483648 0\n", 4, "line 3"),
        (b"0\n1\n1 9223372036854775808\n", 4, "line 3"),
        (b"0\n1\n1 " + b"9" * 5000 + b"\n", 4, "line 3"),
        (b"0\n1\n-1 0\n", 4, "line 3"),
        (b"0\n1\n1 0\xff\n", 7, ""),
    ],
)
def test_what_kafka_refuses_is_not_accepted_and_the_first_finding_says_where(
    data: bytes, position: int, path: str
) -> None:
    checkpoint, findings = checkpoint_files.decode_leader_epochs(data)
    assert not checkpoint.accepted
    assert (findings[0].position, findings[0].path) == (position, path)


def test_entries_around_a_bad_line_are_still_returned() -> None:
    checkpoint, findings = checkpoint_files.decode_leader_epochs(b"0\n3\n1 0\nrubbish\n3 15\n")
    assert [entry.epoch for entry in checkpoint.entries] == [1, 3]
    assert [finding.position for finding in findings] == [8]


@pytest.mark.parametrize("second", [b"1 5", b"0 5", b"2 3", b"2 1"])
def test_epochs_and_offsets_that_do_not_rise_are_reported_but_accepted(second: bytes) -> None:
    checkpoint, findings = checkpoint_files.decode_leader_epochs(b"0\n2\n1 3\n" + second + b"\n")
    assert checkpoint.accepted
    assert [finding.position for finding in findings] == [8]


def test_a_count_beyond_the_file_allocates_nothing() -> None:
    checkpoint, findings = checkpoint_files.decode_offsets(b"0\n2147483647\na 0 1\n")
    assert len(checkpoint.entries) == 1
    assert findings[0].expected == "2147483647 entries"


def test_a_partition_listed_twice_is_reported() -> None:
    checkpoint, findings = checkpoint_files.decode_offsets(b"0\n2\na 0 1\na 0 2\n")
    assert checkpoint.accepted
    assert [finding.position for finding in findings] == [10]


def test_a_garbage_file_gives_a_bounded_list_that_says_how_many_are_left_out() -> None:
    _, findings = checkpoint_files.decode_offsets(b"0\n5000\n" + b"x\n" * 5000)
    assert len(findings) == 101
    assert findings[-1].reason == "4900 more findings from here on are not listed"


@pytest.mark.parametrize(
    "data",
    [
        PARTITION_METADATA + b"\n",
        PARTITION_METADATA + b"\nrubbish",
        b"version: 7\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ",
        b"vers\tion:   0\nx: AAAAAAAAAAAAAAAAAAAAAQ==",
        b"version: 0\r\ntopic_id:\tAAAAAAAAAAAAAAAAAAAAAQ",
    ],
)
def test_partition_metadata_that_kafka_takes_is_accepted(data: bytes) -> None:
    metadata, _ = checkpoint_files.decode_partition_metadata(data)
    assert metadata.accepted
    assert metadata.topic_id == "AAAAAAAAAAAAAAAAAAAAAQ"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"version: 0",
        b"version:0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ",
        b"version 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ",
        b"version: -1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ",
        b"version: x\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        b"version: 0\ntopic_id: AAAA",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ ",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n\xff",
        bytes(43),
    ],
)
def test_partition_metadata_that_kafka_refuses_is_not_accepted(data: bytes) -> None:
    metadata, findings = checkpoint_files.decode_partition_metadata(data)
    assert not metadata.accepted
    assert findings


epochs = st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 2**40)), max_size=6)


@given(epochs)
def test_leader_epochs_come_back(steps: list[tuple[int, int]]) -> None:
    entries: list[EpochEntry] = []
    epoch = start_offset = 0
    for more_epochs, more_offsets in steps:
        epoch += more_epochs
        start_offset += more_offsets
        entries.append(EpochEntry(epoch=epoch, start_offset=start_offset))
    data = checkpoint_files.encode_leader_epochs(tuple(entries))
    checkpoint, findings = checkpoint_files.decode_leader_epochs(data)
    assert (checkpoint.entries, findings) == (tuple(entries), ())


@given(
    st.dictionaries(
        st.tuples(st.from_regex(r"[a-zA-Z0-9._-]+", fullmatch=True), st.integers(0, 2**31 - 1)),
        st.integers(0, 2**63 - 1),
        max_size=6,
    )
)
def test_every_offset_is_read(offsets: dict[tuple[str, int], int]) -> None:
    entries = tuple(
        PartitionOffset(topic=topic, partition=partition, offset=offset)
        for (topic, partition), offset in offsets.items()
    )
    lines = [f"{entry.topic} {entry.partition} {entry.offset}\n" for entry in entries]
    data = "".join(["0\n", f"{len(lines)}\n", *lines]).encode()
    checkpoint, findings = checkpoint_files.decode_offsets(data)
    assert (checkpoint.entries, findings) == (entries, ())


@given(
    st.sampled_from([LEADER_EPOCHS, OFFSETS, PARTITION_METADATA]),
    st.integers(0, 60),
    st.integers(0, 3),
    st.binary(max_size=4),
)
def test_mutated_files_never_raise_and_refusals_say_why(
    data: bytes, at: int, cut: int, put: bytes
) -> None:
    mutated = data[:at] + put + data[at + cut :]
    epochs_read, findings = checkpoint_files.decode_leader_epochs(mutated)
    assert epochs_read.accepted or findings
    offsets_read, findings = checkpoint_files.decode_offsets(mutated)
    assert offsets_read.accepted or findings
    metadata, findings = checkpoint_files.decode_partition_metadata(mutated)
    assert metadata.accepted or findings
