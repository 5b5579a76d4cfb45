"""Each deep rule of verify-log on a directory that breaks it, and on a near miss that does not.

The directory is one of real Kafka's; what is changed in it is written by the decoders' encoders.
"""

import gzip
import json
import struct
from typing import Any

import pytest

from kraftool.decoders import framing
from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch
from kraftool.decoders.control import ControlRecordType
from kraftool.reports.findings.finding import Severity
from tests.reports.log_node import VOTERS, Node
from tests.support.places import PARTITION

NO_OP = framing.encode_record("NoOpRecord", 0, {})


UNKNOWN_TOPIC = "AAAAAAAAAAAAAAAAAAAAZw"
PARTITION_RECORD: dict[str, Any] = {
    "partitionId": 0,
    "topicId": UNKNOWN_TOPIC,
    "replicas": [11],
    "isr": [11],
    "removingReplicas": [],
    "addingReplicas": [],
    "leader": 11,
    "leaderRecoveryState": 0,
    "leaderEpoch": 0,
    "partitionEpoch": 0,
    "directories": ["AAAAAAAAAAAAAAAAAAAAAQ"],
    "eligibleLeaderReplicas": None,
    "lastKnownElr": None,
}


# --- the form of batches and records ------------------------------------------------------------


def test_a_compressed_batch_is_none_of_krafts(node: Node) -> None:
    batch = node.append(NO_OP, NO_OP)
    assert node.codes() == []
    node.sealed(batch, gzip.compress(batch.data[HEADER_SIZE:]), attributes=1)
    finding = node.found("KT-LOG-BATCH-FORM")
    assert (finding.severity, finding.found) == (Severity.WARNING, "gzip")
    assert (finding.position, finding.offset) == (batch.position, batch.base_offset)
    assert node.codes() == ["KT-LOG-BATCH-FORM"]


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ({"attributes": 0x10}, "attributes"),
        ({"attributes": 0x08}, "attributes"),
        ({"producer_id": 7}, "producerId"),
        ({"last_offset_delta": 3}, "lastOffsetDelta"),
    ],
)
def test_a_header_that_no_leader_writes_is_told(
    node: Node, header: dict[str, Any], field: str
) -> None:
    batch = node.append(NO_OP, NO_OP)
    node.sealed(batch, **header)
    assert node.found("KT-LOG-BATCH-FORM").field == field


def test_a_record_with_a_time_of_its_own_kills_every_reader(node: Node) -> None:
    batch = node.append(NO_OP)
    body = bytearray(batch.data[HEADER_SIZE:])
    assert body[2] == 0, "the timestampDelta"
    body[2] = 2
    node.sealed(batch, bytes(body))
    finding = node.found("KT-LOG-RECORD-FORM")
    assert (finding.severity, finding.field, finding.found) == (
        Severity.ERROR,
        "timestampDelta",
        "1",
    )
    assert finding.position == batch.position + HEADER_SIZE
    assert node.codes() == ["KT-LOG-RECORD-FORM"]


def test_a_record_with_headers_kills_every_reader(node: Node) -> None:
    batch = node.append(NO_OP)
    body = bytearray(batch.data[HEADER_SIZE:])
    assert body[-1] == 0, "the number of headers"
    body[-1:] = b"\x02\x02k\x01"
    body[0] += 6
    node.sealed(batch, bytes(body))
    assert node.found("KT-LOG-RECORD-FORM").field == "headers"


@pytest.mark.parametrize("value", [b"", None])
def test_a_record_without_a_value_is_an_error(node: Node, value: bytes | None) -> None:
    node.append(value)
    assert node.found("KT-LOG-RECORDS").severity is Severity.ERROR


def test_a_transaction_marker_and_a_snapshot_footer_have_no_place_in_a_log(node: Node) -> None:
    node.control((ControlRecordType.SNAPSHOT_FOOTER, {"version": 0}))
    assert node.codes() == ["KT-LOG-BATCH-FORM"]
    node.control((ControlRecordType.COMMIT, {"coordinatorEpoch": 0}))
    assert "KT-LOG-RECORD-FORM" in node.codes()


# --- indexes ------------------------------------------------------------------------------------


def test_an_index_entry_points_to_the_start_of_a_batch(node: Node) -> None:
    index = node.log.with_suffix(".index")
    batches = node.batches()
    first, later = batches[40], batches[45]
    for offset, position in (
        (first.last_offset, first.position),
        # Before Kafka 4 one append of several batches made one entry.
        (later.last_offset, first.position),
    ):
        index.write_bytes(struct.pack(">ii", offset, position))
        assert node.codes() == []
    for offset, position in (
        (first.last_offset, first.position + 1),
        (first.base_offset - 1, first.position),
        (node.end + 5, first.position),
    ):
        index.write_bytes(struct.pack(">ii", offset, position))
        finding = node.found("KT-LOG-INDEX-DIFFERS")
        assert (finding.severity, finding.offset) == (Severity.WARNING, offset)
        assert not finding.undecoded
        assert finding.file.endswith(".index")


def test_a_time_index_entry_has_the_time_of_its_batch(node: Node) -> None:
    index = node.log.with_suffix(".timeindex")
    batch = node.batches()[50]
    time, offset = batch.header.max_timestamp, batch.last_offset
    index.write_bytes(struct.pack(">qi", time, offset))
    assert node.codes() == []
    for wrong in ((time + 1, offset), (time, node.end + 9)):
        index.write_bytes(struct.pack(">qi", *wrong))
        assert node.codes() == ["KT-LOG-INDEX-DIFFERS"]


def with_an_election(node: Node) -> int:
    """Let the next epoch begin at the log's end; return where."""
    at = node.append(b"\x01\x14\x00\x00", epoch=4).base_offset
    for _ in range(5):
        node.append(b"\x01\x14\x00\x00", epoch=4)
    return at


def index_codes(node: Node) -> list[str]:
    return [code for code in node.codes() if "INDEX" in code]


def roomy(entries: bytes, size: int) -> bytes:
    """With preallocated space, as much as Kafka takes for entries of a size; it cuts it off when it
    closes the file, or another one is begun."""
    return entries.ljust((10 << 20) // size * size, b"\0")


def test_entries_of_records_that_were_cut_after_a_lost_election_are_left_in_a_time_index(
    node: Node,
) -> None:
    """A node of a real 4.4.0 quorum, killed, had one at the first offset of the new epoch: when it
    started its index had ended with the record that it cut off later."""
    index = node.log.with_suffix(".timeindex")
    batch = node.batches()[50]
    right = struct.pack(">qi", batch.header.max_timestamp, batch.last_offset)
    at = with_an_election(node)
    left = struct.pack(">qi", node.now - 7, at) + struct.pack(">qi", node.now + 3, at + 90)
    index.write_bytes(roomy(right + left, 12))
    assert index_codes(node) == []
    finding = node.found("KT-LOG-INDEX-DIFFERS")
    (second,) = finding.places
    assert (finding.offset, second.offset, finding.count) == (at, at + 90, 2)
    assert all(
        "truncated after an election was lost" in fault.reason for fault in (finding.fault, second)
    )
    # A file without room was closed since, or is a copy that was cut; one with a right entry behind
    # was written to since.
    index.write_bytes(right + left)
    assert index_codes(node) == ["KT-LOG-INDEX-DIFFERS"]
    last = node.batches()[-1]
    after = struct.pack(">qi", last.header.max_timestamp, last.last_offset)
    index.write_bytes(roomy(right + left[:12] + after, 12))
    assert index_codes(node) == ["KT-LOG-INDEX-DIFFERS"]


def test_before_any_election_of_the_segment_an_index_has_nothing_left_of_one(node: Node) -> None:
    first = node.batches()[0]
    index = node.log.with_suffix(".timeindex")
    index.write_bytes(
        roomy(struct.pack(">qi", first.header.max_timestamp + 5, first.last_offset), 12)
    )
    assert index_codes(node) == ["KT-LOG-INDEX-DIFFERS"]


def test_entries_of_records_that_were_cut_are_left_in_an_offset_index_too(node: Node) -> None:
    index = node.log.with_suffix(".index")
    batch = node.batches()[40]
    right = struct.pack(">ii", batch.last_offset, batch.position)
    at = with_an_election(node)
    size = node.log.stat().st_size
    inside = node.batches()[-3].position + 1
    for left in ((at, inside), (at + 90, size + 4096)):
        index.write_bytes(roomy(right + struct.pack(">ii", *left), 8))
        assert index_codes(node) == []
        assert "KT-LOG-INDEX-DIFFERS" in {finding.code for finding in node.findings()}
        index.write_bytes(right + struct.pack(">ii", *left))
        assert bool(index_codes(node)) is (left[0] != at)


def test_a_metadata_log_has_no_aborted_producers(node: Node) -> None:
    index = node.log.with_suffix(".txnindex")
    index.write_bytes(b"")
    assert node.codes() == []
    index.write_bytes(struct.pack(">hqqqq", 0, 1, 2, 3, 4))
    assert node.codes() == ["KT-LOG-PRODUCERS"]


# --- replay -------------------------------------------------------------------------------------


def partition_of(topic: str) -> bytes:
    return framing.encode_record("PartitionRecord", 2, {**PARTITION_RECORD, "topicId": topic})


def test_a_record_that_does_not_replay_is_told_with_its_place(node: Node) -> None:
    topic = {"name": "new", "topicId": UNKNOWN_TOPIC}
    batch = node.append(NO_OP, partition_of(UNKNOWN_TOPIC))
    finding = node.found("KT-LOG-REPLAY")
    assert finding.severity is Severity.ERROR
    assert finding.offset == batch.base_offset + 1
    assert finding.position == batch.position + [*batch.records()][1].position
    assert "PartitionRecord" in finding.text
    assert node.codes() == ["KT-LOG-REPLAY"]
    node.sealed(
        RecordBatch.read(
            encode_batch(
                [(None, framing.encode_record("TopicRecord", 0, topic)),
                 (None, partition_of(UNKNOWN_TOPIC))],
                base_offset=batch.base_offset, epoch=3, timestamp=node.now,
            ),
            batch.position,
        )
    )  # fmt: skip
    assert node.codes() == []


def test_a_record_below_the_newest_snapshot_is_a_warning_since_kafka_passes_it_by(
    node: Node,
) -> None:
    node.append(partition_of(UNKNOWN_TOPIC))
    node.snapshot_at(node.end)
    finding = node.found("KT-LOG-REPLAY")
    assert finding.severity is Severity.WARNING
    assert f"starts from the snapshot at {node.end}" in finding.text


BEGIN = framing.encode_record("BeginTransactionRecord", 0, {"name": "built"})
END = framing.encode_record("EndTransactionRecord", 0, {})


def test_an_open_transaction_is_told(node: Node) -> None:
    begin = node.append(BEGIN, NO_OP)
    assert node.codes() == ["KT-LOG-TXN-OPEN"]
    assert node.found("KT-LOG-TXN-OPEN").offset == begin.base_offset
    node.append(END)
    assert node.codes() == []


@pytest.mark.parametrize("values", [(END,), (BEGIN, BEGIN, END)])
def test_transactions_begin_and_end_in_turn(node: Node, values: tuple[bytes, ...]) -> None:
    node.append(*values)
    assert node.codes() == ["KT-LOG-REPLAY"]


# --- leaders, voters, kraft.version -------------------------------------------------------------


def leader(id: int) -> tuple[ControlRecordType, Any]:
    voters = [{"voterId": id}]
    value = {"version": 0, "leaderId": id, "voters": voters, "grantingVoters": voters}
    return ControlRecordType.LEADER_CHANGE, value


def test_two_leaders_in_one_epoch_are_an_error(node: Node) -> None:
    node.control(leader(2))
    assert node.codes() == []
    batch = node.control(leader(4))
    finding = node.found("KT-LOG-TWO-LEADERS")
    assert (finding.expected, finding.found, finding.offset) == ("2", "4", batch.base_offset)


def raise_epoch(node: Node, epoch: int, leader_id: int) -> None:
    """What a node writes beside the log when it hears of an epoch."""
    file = node.path / PARTITION / "quorum-state"
    state = json.loads(file.read_text())
    file.write_text(json.dumps({**state, "leaderEpoch": epoch, "leaderId": leader_id}))


def test_quorum_state_names_the_leader_of_its_epoch(node: Node) -> None:
    raise_epoch(node, 3, 4)
    finding = node.found("KT-DIR-QUORUM-LEADER")
    assert (finding.expected, finding.found) == ("2", "4")
    raise_epoch(node, 4, 4)
    assert node.codes() == [], "a later epoch, of which nothing was fetched yet"
    raise_epoch(node, 3, -1)
    assert node.codes() == []


def test_an_epoch_without_a_leader_change_is_info(node: Node) -> None:
    end = node.end
    node.append(NO_OP, epoch=4)
    raise_epoch(node, 4, -1)
    file = node.path / PARTITION / "leader-epoch-checkpoint"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], str(int(lines[1]) + 1), *lines[2:], f"4 {end}", ""]))
    assert node.codes() == []
    assert node.found("KT-LOG-EPOCH-START").severity is Severity.INFO


def test_the_epoch_checkpoint_has_the_epochs_of_the_log(node: Node) -> None:
    file = node.path / PARTITION / "leader-epoch-checkpoint"
    file.write_text(file.read_text().replace("3 ", "4 "))
    assert "KT-DIR-EPOCHS-DIFFER" in node.codes()


def changed(voter: dict[str, Any], id: int) -> dict[str, Any]:
    return {**voter, "voterId": id, "voterDirectoryId": f"{id:022}"[:21] + "A"}


@pytest.mark.parametrize(
    ("gone", "came", "codes"),
    [
        (0, 1, []),
        (1, 0, []),
        (1, 1, ["KT-LOG-VOTERS-JUMP"]),
        (2, 0, ["KT-LOG-VOTERS-JUMP"]),
        (2, 2, ["KT-LOG-VOTERS-JUMP"]),
    ],
)
def test_voters_change_one_at_a_time(node: Node, gone: int, came: int, codes: list[str]) -> None:
    value = node.voters()
    kept = value["voters"][gone:]
    added = [changed(voter, 20 + n) for n, voter in enumerate(value["voters"][:came])]
    node.control((VOTERS, {**value, "voters": kept + added}))
    assert [code for code in node.codes() if code.startswith("KT-LOG")] == codes


def test_a_voter_set_that_kafka_never_writes_is_an_error(node: Node) -> None:
    value = node.voters()
    first = value["voters"][0]
    for voters in (
        [*value["voters"], changed(first, first["voterId"])],
        [{**first, "voterDirectoryId": "A" * 22}, *value["voters"][1:]],
        [{**first, "voterDirectoryId": "A" * 21 + "Q"}, *value["voters"][1:]],
        [{**first, "voterDirectoryId": "A" * 21 + "g"}, *value["voters"][1:]],
        [{**first, "endpoints": []}, *value["voters"][1:]],
    ):
        batch = node.control((VOTERS, {**value, "voters": voters}))
        assert "KT-LOG-VOTERS" in node.codes()
        node.log.write_bytes(node.log.read_bytes()[: batch.position])


def test_kraft_version_never_goes_back(node: Node) -> None:
    version = ControlRecordType.KRAFT_VERSION
    node.control((version, {"version": 0, "kRaftVersion": 1}))
    assert node.codes() == []
    node.control((version, {"version": 0, "kRaftVersion": 0}))
    assert node.found("KT-LOG-KRAFT-VERSION").severity is Severity.ERROR
