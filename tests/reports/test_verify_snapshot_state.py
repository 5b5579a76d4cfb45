"""The state that a snapshot holds, against the log around it and the snapshots of other nodes."""

from __future__ import annotations

import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import decode_record, encode_record
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.image.writer import snapshot_records
from kraftool.reports.state.load import load_state
from tests.reports.snapshot_cases import (
    NODE,
    SCRAM_LOST,
    Snapshot,
    above_info,
    batches_of,
    codes,
    snapshot_of,
    states,
    verify,
)
from tests.support.copies import writable
from tests.support.places import FIXTURES, PARTITION


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A directory of real Kafka's that may be changed; its log begins at 0."""
    return writable(NODE, tmp_path / "data")


# --- the log around it --------------------------------------------------------------------------


def test_a_snapshot_of_another_state_is_found_and_said(node: Path) -> None:
    snapshot = Snapshot()
    gone = snapshot.values("TopicRecord")[0]["topicId"]
    name = snapshot.values("TopicRecord")[0]["name"]
    snapshot.records = [record for record in snapshot.records if record[2].get("topicId") != gone]
    snapshot.values("ProducerIdsRecord")[0]["nextProducerId"] += 1000
    snapshot.values("FeatureLevelRecord")[1]["featureLevel"] = 1
    snapshot.write(node / PARTITION)
    (finding,) = [
        finding for finding in above_info(verify(node)) if finding.code == "KT-SNAP-DIFFERS"
    ]
    assert f"topics: 1 missing ({name})" in finding.text
    assert "producer ids: 1 changed (the next one)" in finding.text
    assert finding.offset == 203
    assert codes(node, replay=False) == []


def test_a_credential_that_is_missing_without_any_removal_is_another_error(node: Path) -> None:
    snapshot = Snapshot(snapshot_of(NODE, 85))
    (gone,) = snapshot.values("UserScramCredentialRecord", mechanism=2)
    removed = {
        decode_record(record.value or b"")[2]["mechanism"]
        for batch in batches_of(node / PARTITION / f"{0:020}.log")
        if not batch.is_control
        for record in batch.records()
        if (record.value or b"")[1] == 22
    }
    assert removed == {1}, "the log removes credentials, of the other mechanism"
    snapshot.records = [record for record in snapshot.records if record[2] is not gone]
    snapshot.write(node / PARTITION)
    (finding,) = above_info(verify(node))
    assert finding.code == "KT-SNAP-DIFFERS"
    assert f"SCRAM credentials: 1 missing (SCRAM-SHA-512 of {gone['name']})" in finding.text


def test_what_kafka_leaves_of_a_removed_topic_is_no_difference(node: Path) -> None:
    snapshot = Snapshot()
    snapshot.again("ConfigRecord", resourceType=2, resourceName="gone", name="retention.ms")
    snapshot.write(node / PARTITION)
    report = verify(node)
    assert not above_info(report)
    assert "KT-SNAP-TOPIC-CONFIG" in {finding.code for finding in report.all_findings}


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [(2, "made.up", []), (2, "retention.ms", ["DIFFERS"]), (4, "made.up", ["DIFFERS"])],
    ids=["unknown to a topic", "known to a topic", "of a broker"],
)
def test_a_config_that_kafka_does_not_know_may_be_missing(
    kind: int, name: str, expected: list[str], node: Path
) -> None:
    """Kafka passes over keys of a topic that it does not know, and keeps those of a broker."""
    log = node / PARTITION / f"{0:020}.log"
    last = batches_of(log)[-1]
    end, time = last.last_offset + 1, last.header.max_timestamp
    topic = Snapshot().values("TopicRecord")[0]["name"]
    owner = topic if kind == 2 else "12"
    value = {"resourceType": kind, "resourceName": owner, "name": name, "value": "7"}
    record = encode_record("ConfigRecord", 0, value)
    image = load_state(str(node)).image
    with log.open("ab") as file:
        file.write(encode_batch([(None, record)], base_offset=end, epoch=3, timestamp=time))
    snapshot = Snapshot()
    snapshot.offset = end + 1
    header = snapshot.controls[ControlRecordType.SNAPSHOT_HEADER]
    header["lastContainedLogTimestamp"] = time
    snapshot.records = list(snapshot_records(image))
    snapshot.write(node / PARTITION)
    assert codes(node) == expected


def test_a_snapshot_under_another_offset_is_found_by_the_log(node: Path) -> None:
    path = snapshot_of(node, 203)
    inside = path.with_name(write_checkpoint_name(202, 3))
    path.rename(inside)
    codes_seen = set(codes(node, replay=False))
    assert codes_seen & {"LOG-BOUNDARY", "LOG-TIMESTAMP"}


def test_a_snapshot_under_an_earlier_offset_of_its_leader_is_found_by_its_state(node: Path) -> None:
    """Its header's time is that of a later batch, as a leader may write it: the state decides."""
    log = batches_of(node / PARTITION / f"{0:020}.log")
    (last,) = [batch for batch in log if batch.last_offset + 1 == 203]
    earlier = next(batch for batch in log if batch.epoch == last.epoch and batch.last_offset > 150)
    path = snapshot_of(node, 203)
    path.rename(path.with_name(write_checkpoint_name(earlier.last_offset + 1, 3)))
    assert codes(node) == ["DIFFERS"]


def test_a_snapshot_of_another_epoch_is_found_by_the_log(node: Path) -> None:
    snapshot = Snapshot()
    snapshot.epoch = 2
    snapshot_of(node, 203).unlink()
    snapshot.write(node / PARTITION)
    assert {"LOG-EPOCH", "EPOCH-BACK"} <= set(codes(node))


def test_a_snapshot_with_other_voters_is_found_by_the_log(node: Path) -> None:
    snapshot = Snapshot()
    snapshot.voters.pop()
    snapshot.write(node / PARTITION)
    assert codes(node) == ["LOG-VOTERS"]


def test_a_snapshot_beyond_the_log_is_found(node: Path) -> None:
    snapshot = Snapshot()
    snapshot.offset = 5000
    snapshot.write(node / PARTITION)
    report = verify(node)
    assert [finding.code for finding in above_info(report)] == ["KT-SNAP-AHEAD"]
    not_compared = [
        finding for finding in report.all_findings if finding.code == "KT-SNAP-NOT-COMPARED"
    ]
    assert "the log ends at 224" in not_compared[0].text


def test_a_log_that_no_snapshot_covers_is_found(tmp_path: Path) -> None:
    target = writable(FIXTURES / "kafka-4.3.0/log-cleaning/node-1/data", tmp_path / "data")
    for path in target.glob(f"{PARTITION}/*.checkpoint"):
        path.unlink()
    assert codes(target) == ["MISSING"]


def test_snapshots_behind_damage_in_the_log_are_not_compared(node: Path) -> None:
    log = node / PARTITION / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    batch = next(record_batch for record_batch in batches_of(log) if record_batch.base_offset > 100)
    data[batch.position + 70] ^= 1
    log.write_bytes(data)
    of_state = states(verify(node))
    compared = {offset for offset, snapshot in of_state.items() if snapshot.compared_with}
    assert compared == {85}
    for offset in (153, 203):
        (finding,) = of_state[offset].findings
        assert finding.code == "KT-SNAP-NOT-COMPARED"
        assert "the log is damaged at" in finding.text


def test_what_only_goes_up_goes_up_from_snapshot_to_snapshot(node: Path) -> None:
    newer = Snapshot()
    older = Snapshot(snapshot_of(NODE, 153))
    broker = newer.values("RegisterBrokerRecord")[0]
    known = older.values("RegisterBrokerRecord", brokerId=broker["brokerId"])[0]
    for epoch, wanted in ((known["brokerEpoch"], []), (known["brokerEpoch"] - 1, ["EPOCH-BACK"])):
        broker["brokerEpoch"] = epoch
        newer.write(node / PARTITION)
        assert codes(node, replay=False) == wanted
    newer.write(node / PARTITION)
    newer = Snapshot()
    newer.values("ProducerIdsRecord")[0]["nextProducerId"] = 0
    newer.write(node / PARTITION)
    assert codes(node, replay=False) == ["EPOCH-BACK"]


# --- other nodes --------------------------------------------------------------------------------


def test_snapshots_of_one_offset_that_differ_name_both_files(node: Path) -> None:
    snapshot = Snapshot()
    snapshot.values("ProducerIdsRecord")[0]["nextProducerId"] += 1
    path = snapshot.write(node / PARTITION)
    report = verify(NODE, node, replay=False)
    (finding,) = report.findings
    assert finding.code == "KT-SNAP-DIVERGED"
    assert finding.file == str(path)
    assert str(snapshot_of(NODE, 203)) in finding.text
    assert "producer ids: 1 changed" in finding.text


def test_a_credential_that_one_of_two_snapshots_lacks_is_kafkas_error_where_it_can_be(
    node: Path, tmp_path: Path
) -> None:
    """The log of that quorum removes a credential of SCRAM-SHA-256 before, none of the other."""
    scram = "UserScramCredentialRecord"
    for mechanism, expected in ((1, "SCRAM-LOST"), (2, "DIVERGED")):
        whole, lacking = Snapshot(), Snapshot()
        user = whole.again(scram, name="zoe", mechanism=mechanism)
        lacking.records = [record for record in lacking.records if record[2] is not user]
        folder = tmp_path / str(mechanism)
        folder.mkdir()
        other = lacking.write(folder)
        whole.write(node / PARTITION)
        findings = verify(node, other).findings
        assert [finding.code for finding in findings] == [f"KT-SNAP-{expected}"], mechanism


def test_snapshots_of_one_offset_with_other_voters_or_epochs_differ(tmp_path: Path) -> None:
    snapshot = Snapshot()
    snapshot.voters.reverse()
    same = snapshot.write(tmp_path)
    assert codes(same, snapshot_of(NODE, 203)) == []
    snapshot.voters.pop()
    other = snapshot.write(tmp_path)
    assert codes(other, snapshot_of(NODE, 203)) == ["DIVERGED"]
    snapshot = Snapshot()
    snapshot.epoch = 4
    assert codes(snapshot.write(tmp_path), snapshot_of(NODE, 203)) == ["DIVERGED"]


def test_what_kafka_leaves_of_a_removed_topic_may_differ_from_node_to_node(tmp_path: Path) -> None:
    snapshot = Snapshot()
    snapshot.again("ConfigRecord", resourceType=2, resourceName="gone", name="retention.ms")
    left = snapshot.write(tmp_path)
    assert codes(left, snapshot_of(NODE, 203)) == []
    assert codes(snapshot_of(NODE, 203), left) == []


def test_snapshots_of_different_clusters_are_not_compared(node: Path) -> None:
    Snapshot(snapshot_of(NODE, 85)).write(node / PARTITION)
    changed = Snapshot()
    changed.values("ProducerIdsRecord")[0]["nextProducerId"] += 1
    changed.write(node / PARTITION)
    meta = node / "meta.properties"
    meta.write_text(meta.read_text().replace("cluster.id=", "cluster.id=x"))
    assert not verify(NODE, node, replay=False).findings


@pytest.mark.parametrize("scenario", ["kafka-4.3.0/dynamic-quorum", "kafka-3.7.2/static-quorum"])
def test_snapshots_are_as_another_nodes_log_makes_them(scenario: str) -> None:
    nodes = sorted((FIXTURES / scenario).glob("node-*/data"))
    logs = [(path / PARTITION / f"{0:020}.log") for path in nodes]
    whole = max((path for path in logs if path.exists()), key=lambda log: log.stat().st_size)
    whole = whole.parents[1]
    for path in nodes:
        report = verify(path, against=whole)
        lost, _ = SCRAM_LOST.get(str(path.relative_to(FIXTURES)), (set(), ""))
        assert {finding.offset for finding in above_info(report)} == lost
        reached = [one for one in states(report).values() if one.compared_with]
        assert all(one.compared_with == (str(whole),) for one in reached)
        assert reached or not states(report)


def test_against_a_directory_says_what_differs(node: Path, tmp_path: Path) -> None:
    snapshot = Snapshot()
    snapshot.values("ProducerIdsRecord")[0]["nextProducerId"] += 1
    alone = snapshot.write(tmp_path)
    (finding,) = verify(alone, against=NODE).all_findings
    assert finding.code == "KT-SNAP-DIFFERS"
    assert finding.text == (
        f"it differs from what the log of {NODE} produces: producer ids: 1 changed (the next one)"
    )


def test_against_takes_a_directory_with_a_log(node: Path) -> None:
    with pytest.raises(KraftoolError, match="is not a directory with a log"):
        verify(NODE, against=snapshot_of(NODE, 203))


# --- streams and memory -------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [False, True], ids=["in order", "turned"])
def test_a_stream_is_verified_as_the_directory_is(turned: bool, tmp_path: Path) -> None:
    source = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-4/data"
    files = sorted((path for path in source.rglob("*") if path.is_file()), reverse=turned)
    with tarfile.open(tmp_path / "data.tar", "w") as tar:
        for file in files:
            tar.add(file, arcname=f"data/{file.relative_to(source)}")
    streamed, direct = verify(tmp_path / "data.tar"), verify(source)
    hashes = {offset: state.state_hash for offset, state in states(direct).items()}
    assert {offset: state.state_hash for offset, state in states(streamed).items()} == hashes
    assert [finding.code for finding in streamed.all_findings] == [
        finding.code for finding in direct.all_findings
    ]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A config's value is long, and the same one is set again and again."""
    value: dict[str, Any] = {
        "resourceType": 2, "resourceName": "t", "name": "note", "value": "x" * 100_000,
    }  # fmt: skip
    version = encode_record(
        "FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30}
    )
    peaks = []
    for count in (400, 1000):
        path = tmp_path / write_checkpoint_name(1000 + count, 1)
        frame = SnapshotFrame(epoch=1, last_contained_log_timestamp=1, timestamp=1)
        records = [version, *([encode_record("ConfigRecord", 0, value)] * count)]
        with path.open("wb") as file:
            for chunk in encode_snapshot(records, frame, largest_batch=1 << 20, list_size=1):
                file.write(chunk)
        del records
        tracemalloc.start()
        report = verify(path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report.rows[0].records == count + 1
    assert peaks[1] < peaks[0] + (1 << 20), peaks
