"""What is told about damage: its place, what Kafka does about it, and advice that loses nothing."""

import io
import tarfile
from pathlib import Path

import pytest

from kraftool.decoders import framing
from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch
from kraftool.decoders.segment import scan
from kraftool.reports.directory.report import read_location
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.paths import open_path
from tests.reports.log_node import Node
from tests.support.copies import writable
from tests.support.places import FIXTURES, LOG, PARTITION

AWAY = "move the snapshot away"
ANOTHER = "replace it with the same .checkpoint of another node"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(writable(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data", tmp_path / "node-2"))


@pytest.fixture
def cleaned(tmp_path: Path) -> Path:
    return writable(FIXTURES / "kafka-4.3.0/log-cleaning/node-1/data", tmp_path / "cleaned")


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def cut_before(node: Node, offset: int) -> None:
    batch = next(
        record_batch for record_batch in node.batches() if record_batch.base_offset >= offset
    )
    node.log.write_bytes(node.log.read_bytes()[: batch.position])


def without(node: Node, number: int) -> RecordBatch:
    """Take a batch out of the log; return it."""
    batch, data = node.batches()[number], node.log.read_bytes()
    node.log.write_bytes(data[: batch.position] + data[batch.position + batch.size :])
    return batch


def in_its_place(node: Node, number: int, value: bytes) -> RecordBatch:
    """Put records of another value into a batch."""
    batch, data = node.batches()[number], node.log.read_bytes()
    header = batch.header
    other = encode_batch(
        [(None, value)] * header.record_count,
        base_offset=header.base_offset,
        epoch=header.partition_leader_epoch,
        timestamp=header.max_timestamp,
    )
    node.log.write_bytes(data[: batch.position] + other + data[batch.position + batch.size :])
    return batch


def verified(path: Path) -> list[Finding]:
    return list(verify_logs([open_path(str(path))]).rows)


def advice(path: Path, code: str) -> str:
    (finding,) = [finding for finding in verified(path) if finding.code == code]
    return finding.advice


# --- a damaged snapshot -------------------------------------------------------------------------


def test_a_damaged_snapshot_may_go_where_log_and_older_snapshot_give_its_state(node: Node) -> None:
    flip(node.snapshots()[-1], 3000)
    text = advice(node.path, "KT-SNAP-DAMAGE")
    assert AWAY in text
    older = int(node.snapshots()[-2].name[:20])
    assert f"uses the one at {older}" in text
    for snapshot in node.snapshots()[:-1]:
        snapshot.unlink()
    assert "the log is whole from 0" in advice(node.path, "KT-SNAP-DAMAGE")


def test_a_damaged_snapshot_beyond_the_logs_end_must_not_go(node: Node) -> None:
    flip(node.snapshots()[-1], 3000)
    cut_before(node, 190)
    assert ANOTHER in advice(node.path, "KT-SNAP-DAMAGE")
    assert AWAY not in advice(node.path, "KT-SNAP-DAMAGE")


def test_a_damaged_snapshot_must_not_go_where_the_log_has_a_gap(node: Node) -> None:
    flip(node.snapshots()[-1], 3000)
    without(node, 50)
    assert AWAY not in advice(node.path, "KT-SNAP-DAMAGE")


def test_a_damaged_snapshot_must_not_go_where_a_record_cannot_be_decoded(node: Node) -> None:
    flip(node.snapshots()[-1], 3000)
    in_its_place(node, 50, b"\x01\x02\x00\xff\xff")
    assert AWAY not in advice(node.path, "KT-SNAP-DAMAGE")


def test_a_damaged_snapshot_must_not_go_where_a_record_does_not_replay(node: Node) -> None:
    flip(node.snapshots()[-1], 3000)
    in_its_place(
        node,
        50,
        framing.encode_record("RemoveTopicRecord", 0, {"topicId": "AAAAAAAAAAAAAAAAAAABcQ"}),
    )
    codes = {finding.code for finding in verified(node.path)}
    assert "KT-LOG-REPLAY" in codes
    assert AWAY not in advice(node.path, "KT-SNAP-DAMAGE")


def test_an_older_damaged_snapshot_is_needless_only_if_the_newest_is_whole(cleaned: Path) -> None:
    older, newest = sorted((cleaned / PARTITION).glob("*.checkpoint"))
    flip(older, HEADER_SIZE + 200)
    assert "is not needed" in advice(cleaned, "KT-SNAP-DAMAGE")
    flip(newest, HEADER_SIZE + 200)
    advices = [finding.advice for finding in verified(cleaned) if finding.code == "KT-SNAP-DAMAGE"]
    assert len(advices) == 2
    assert not [text for text in advices if "not needed" in text]
    assert not [text for text in advices if AWAY in text]


def test_of_a_file_that_the_archive_cut_only_that_is_told(node: Node) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(node.path / "meta.properties", arcname="n2/meta.properties")
        for name in (LOG, node.snapshots()[-1].name):
            archive.add(node.path / PARTITION / name, arcname=f"n2/{PARTITION}/{name}")
    data = buffer.getvalue()
    stream = node.path.parent / "cut.tar"
    start = data.index(node.snapshots()[-1].read_bytes()[:100])
    stream.write_bytes(data[: start + 3000])
    findings = verified(stream)
    of_snapshot = [finding.code for finding in findings if finding.file.endswith(".checkpoint")]
    assert sorted(of_snapshot) == ["KT-DIR-READ", "KT-LOG-NOT-CHECKED"]
    start = data.index(node.log.read_bytes()[:100])
    stream.write_bytes(data[: start + 3000])
    of_log = [finding.code for finding in verified(stream) if finding.file.endswith(".log")]
    assert of_log == ["KT-DIR-READ"]


# --- what Kafka takes away ----------------------------------------------------------------------


@pytest.mark.parametrize("number", [50, -4])
def test_kafka_does_not_notice_a_gap_and_so_cuts_nothing(node: Node, number: int) -> None:
    batch = without(node, number)
    (finding,) = [finding for finding in verified(node.path) if finding.code == "KT-LOG-GAP"]
    assert finding.severity is Severity.ERROR
    assert finding.offset == batch.last_offset + 1
    assert "Kafka continues without noticing" in finding.advice
    assert "lacks the records of" in finding.advice
    assert "cuts" not in finding.advice
    assert "wipes" not in finding.advice
    (judged,) = read_location(open_path(str(node.path))).directories
    report = judged.directory
    assert report.summary.log is not None
    assert report.summary.log.intact_end == report.summary.log.end


def test_a_batch_that_stands_twice_is_read_twice(node: Node) -> None:
    batch, data = node.batches()[-4], node.log.read_bytes()
    node.log.write_bytes(data[: batch.position] + batch.data + data[batch.position :])
    findings = [finding for finding in verified(node.path) if finding.code == "KT-LOG-GAP"]
    assert "may read records twice" in findings[0].advice


def test_a_gap_between_segments_says_how_many_offsets_are_missing(cleaned: Path) -> None:
    last = sorted((cleaned / PARTITION).glob("*.log"))[-1]
    data = last.read_bytes()
    first = next(iter(scan(lambda at, size: data[at : at + size])))
    last.write_bytes(data[first.size :])
    findings = [finding for finding in verified(cleaned) if finding.code == "KT-LOG-GAP"]
    assert "Kafka continues without noticing" in findings[0].advice


def test_with_a_damaged_snapshot_beyond_the_cut_kafka_wipes_the_log_and_dies(node: Node) -> None:
    batch = node.batches()[40]
    flip(node.log, batch.position + HEADER_SIZE + 5)
    newest = int(node.snapshots()[-1].name[:20])
    assert f"continues from the snapshot at {newest}" in advice(node.path, "KT-LOG-CRC")
    flip(node.snapshots()[-1], 3000)
    text = advice(node.path, "KT-LOG-CRC")
    assert f"deletes the whole log. Then it exits on the snapshot at {newest}" in text


def test_a_poison_record_is_best_replaced_since_cutting_takes_what_follows() -> None:
    text = log_kinds.REPLAY.advice
    assert text.index("NoOps") < text.index("Cutting")
    assert "would lose them" in text


# --- what is missing or empty -------------------------------------------------------------------


def test_a_snapshot_from_another_node_has_to_fit_between_the_logs_ends(cleaned: Path) -> None:
    for path in (cleaned / PARTITION).glob("*.checkpoint*"):
        path.unlink()
    findings = [finding for finding in verified(cleaned) if finding.severity is not Severity.INFO]
    assert [finding.code for finding in findings] == ["KT-SNAP-MISSING"], (
        "the epoch file is cut there too"
    )
    assert "from 63 to 195" in findings[0].advice


def test_an_empty_epoch_file_is_made_anew(node: Node) -> None:
    file = node.path / PARTITION / "leader-epoch-checkpoint"
    file.write_bytes(b"0\n0\n")
    assert node.codes() == []
    assert node.found("KT-DIR-EPOCHS-EMPTY").severity is Severity.INFO
    # Kafka writes the file under another name first, so that it is never without a byte.
    file.write_bytes(b"")
    assert node.codes() == ["KT-DIR-EPOCHS-EMPTY"]
    finding = node.found("KT-DIR-EPOCHS-EMPTY")
    assert (finding.severity, finding.position) == (Severity.WARNING, 0)
    file.write_bytes(b"0\n2\n1 0\n99 50\n")
    assert node.codes() == ["KT-DIR-EPOCHS-DIFFER"]


def test_a_missing_epoch_file_is_told_as_an_empty_one_is(node: Node) -> None:
    """Kafka makes it again; but only a failed copy, or whoever deleted it, leaves none."""
    (node.path / PARTITION / "leader-epoch-checkpoint").unlink()
    assert node.codes() == ["KT-DIR-EPOCHS-MISSING"]
    assert node.found("KT-DIR-EPOCHS-MISSING").severity is Severity.WARNING


def test_a_directory_without_a_log_is_told(node: Node) -> None:
    assert "KT-LOG-NONE" not in {finding.code for finding in node.findings()}
    for path in (node.path / PARTITION).iterdir():
        path.unlink()
    finding = node.found("KT-LOG-NONE")
    assert finding.severity is Severity.INFO
    assert "forgot its vote" in finding.advice
    assert finding.advice.startswith("a directory that was never used needs nothing")


def test_where_no_vote_was_lost_nothing_is_to_be_written(node: Node) -> None:
    for path in (node.path / PARTITION).iterdir():
        if path.name != "quorum-state":
            path.unlink()
    assert node.found("KT-LOG-NONE").advice == "", "the vote is still there"


@pytest.mark.parametrize("garbage", [b"\xa5" * 100, b"\xa5" * 10_000, b"\x7f" * 4096])
def test_garbage_behind_the_last_whole_batch_is_cut_off_as_a_torn_tail_is(
    node: Node, garbage: bytes
) -> None:
    """Real 4.3.0 cut random bytes there down to the last valid batch, and started."""
    end = node.end
    with node.log.open("ab") as file:
        file.write(garbage)
    (finding,) = [finding for finding in node.findings() if finding.code.startswith("KT-LOG-")]
    assert (finding.code, finding.severity) == ("KT-LOG-DAMAGE", Severity.WARNING)
    assert finding.offset == end
    assert finding.text.endswith("no batch follows in the file")
    assert finding.advice == log_kinds.ZERO_TAIL.advice
    assert not finding.undecoded


def test_garbage_in_the_middle_or_instead_of_the_log_is_an_error(node: Node) -> None:
    whole, batch = node.log.read_bytes(), node.batches()[5]
    middle = b"\xa5" * batch.size
    node.log.write_bytes(whole[: batch.position] + middle + whole[batch.position + batch.size :])
    assert node.found("KT-LOG-DAMAGE").severity is Severity.ERROR
    node.log.write_bytes(b"\xa5" * len(whole))
    assert node.found("KT-LOG-DAMAGE").severity is Severity.ERROR


# --- one place for one damage -------------------------------------------------------------------


def test_a_wrong_crc_has_one_place_which_explain_shows(node: Node) -> None:
    batch = node.batches()[40]
    flip(node.log, batch.position + HEADER_SIZE + 5)
    (of_log,) = [finding for finding in verified(node.path) if finding.code == "KT-LOG-CRC"]
    (of_state,) = [
        finding for finding in load_state(str(node.log)).findings if finding.code == "KT-LOG-CRC"
    ]
    assert of_log.position == of_state.position == batch.position + 17
    text, _, evidence = of_log.text.partition("; ")
    assert (text, of_log.expected) == (of_state.text, of_state.expected)
    assert "one flipped bit explains it" in evidence


def test_an_index_entry_behind_the_log_is_told_by_its_offset(node: Node) -> None:
    cut_before(node, 40)
    for snapshot in node.snapshots():
        if int(snapshot.name[:20]) > 40:
            snapshot.unlink()
    times = [finding for finding in node.findings() if finding.file.endswith(".timeindex")]
    assert [(time.code, time.field, time.found) for time in times] == [
        ("KT-LOG-INDEX-DIFFERS", "offset", str(times[0].offset))
    ]


# --- the newest snapshot's state ----------------------------------------------------------------


def changed(path: Path, name: str, **values: object) -> None:
    """A snapshot whose records of one type have another value."""
    data = path.read_bytes()
    batches = [
        part for part in scan(lambda at, size: data[at : at + size])
        if isinstance(part, RecordBatch)
    ]  # fmt: skip
    batch = batches[1]
    records = []
    for record in batch.records():
        type, version, value = framing.decode_record(record.value or b"")
        if type == name:
            value = {**value, **values}
        records.append((record.key, framing.encode_record(type, version, value)))
    other = encode_batch(
        records,
        base_offset=batch.base_offset,
        epoch=batch.epoch,
        timestamp=batch.header.max_timestamp,
    )
    path.write_bytes(data[: batch.position] + other + data[batch.position + batch.size :])


def test_a_newest_snapshot_of_another_state_is_found(node: Node) -> None:
    (before,) = verify_logs([open_path(str(node.path))]).verified
    assert before.checked.compared_snapshot == int(node.snapshots()[-1].name[:20])
    changed(node.snapshots()[-1], "ConfigRecord", value="666")
    assert node.codes() == ["KT-SNAP-DIFFERS"]
    assert "configs" in node.found("KT-SNAP-DIFFERS").text


def test_credentials_that_kafka_lost_are_told_as_that(tmp_path: Path) -> None:
    path = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-4/data"
    (finding,) = [finding for finding in verified(path) if finding.severity is Severity.ERROR]
    assert finding.code == "KT-SNAP-SCRAM-LOST"
    assert finding.expected == "SCRAM-SHA-256 of alice-a"


def test_an_older_snapshot_is_not_compared_and_that_is_known(node: Node) -> None:
    changed(node.snapshots()[0], "ConfigRecord", value="666")
    assert node.codes() == []
    (report,) = verify_logs([open_path(str(node.path))]).verified
    assert report.checked.snapshots > 1
    assert report.checked.compared_snapshot == int(node.snapshots()[-1].name[:20])


def test_nothing_is_compared_that_the_replay_does_not_reach(node: Node) -> None:
    without(node, 50)
    (report,) = verify_logs([open_path(str(node.path))]).verified
    assert report.checked.compared_snapshot is None
