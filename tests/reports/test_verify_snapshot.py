"""verify-snapshot over what real Kafka left: alone, in directories, against logs and each other.

The fixtures met an error of Kafka's that loses SCRAM credentials from snapshots; they are listed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.decoders.names import FileState
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from tests.reports.snapshot_cases import (
    NODE,
    SCRAM_LOST,
    Snapshot,
    above_info,
    codes,
    findings,
    snapshot_of,
    states,
    verify,
)
from tests.support.copies import writable
from tests.support.places import FIXTURES, PARTITION

HEALTHY = sorted([*FIXTURES.glob("kafka-*/*/node-*/data*"), *FIXTURES.glob("built/*/node-*/data")])

DAMAGED = {
    "empty-files": {"FORM"},
    "snapshot-without-footer": {"FORM"},
    "truncated-snapshot": {"DAMAGE"},
    "wrong-file-name": {"FILE-NAME"},
}


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A directory of real Kafka's that may be changed; its log begins at 0."""
    return writable(NODE, tmp_path / "data")


# --- real Kafka ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", HEALTHY, ids=lambda path: "/".join(path.relative_to(FIXTURES).parts)
)
def test_in_what_kafka_left_only_its_own_error_is_found(path: Path) -> None:
    report = verify(path)
    offsets, user = SCRAM_LOST.get(str(path.relative_to(FIXTURES)), (set(), ""))
    reported = above_info(report)
    assert {finding.code for finding in reported} == ({"KT-SNAP-SCRAM-LOST"} if offsets else set())
    assert {finding.offset for finding in reported} == offsets
    assert {finding.expected for finding in reported} == ({user} if offsets else set())


@pytest.mark.parametrize(
    "path", HEALTHY, ids=lambda path: "/".join(path.relative_to(FIXTURES).parts)
)
def test_every_snapshot_that_the_log_reaches_is_compared_with_it(path: Path) -> None:
    of_state = states(verify(path))
    compared = {offset for offset, snapshot in of_state.items() if snapshot.compared_with}
    if (path / PARTITION / f"{0:020}.log").exists():
        assert compared == set(of_state)
    elif of_state:
        assert compared == set(of_state) - {min(of_state)}
        first = of_state[min(of_state)]
        assert [finding.code for finding in first.findings] == ["KT-SNAP-NOT-COMPARED"]
    assert all(snapshot.state_hash for snapshot in of_state.values())


@pytest.mark.parametrize(
    "scenario", sorted({path.parents[1] for path in HEALTHY}), ids=lambda path: path.parent.name
)
def test_the_snapshots_of_a_cluster_agree(scenario: Path) -> None:
    report = verify(*sorted(scenario.glob("node-*/data*")), replay=False)
    reported = above_info(report)
    assert {finding.code for finding in reported} <= {"KT-SNAP-SCRAM-LOST"}
    for finding in reported:
        node = Path(finding.file).parents[1].relative_to(FIXTURES)
        offsets, user = SCRAM_LOST[str(node)]
        assert finding.offset in offsets
        assert finding.expected == user


def test_a_lost_credential_is_told_once() -> None:
    scenario = FIXTURES / "kafka-4.4.0/upgrade"
    report = verify(*sorted(scenario.glob("node-*/data")))
    (finding,) = above_info(report)
    assert finding.offset == 140


def test_nodes_that_lost_credentials_are_told_from_those_that_did_not(tmp_path: Path) -> None:
    # Both nodes have a snapshot at 57; one is made to lack what the other has.
    snapshot = Snapshot()
    lost = snapshot.values("UserScramCredentialRecord")[0]
    kept = tmp_path / "kept"
    kept.mkdir()
    one = snapshot.write(kept)
    snapshot.records = [record for record in snapshot.records if record[2] is not lost]
    other = snapshot.write(tmp_path)
    for paths in ((one, other), (other, one)):
        (finding,) = findings(*paths)
        assert finding.code == "KT-SNAP-SCRAM-LOST"
        assert finding.file == str(other)
        assert str(one) in finding.text


def test_without_replay_no_state_is_compared() -> None:
    path = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-4/data"
    report = verify(path, replay=False)
    assert not report.all_findings
    assert not any(snapshot.compared_with for snapshot in report.rows)


def test_a_snapshot_by_itself_is_verified_and_has_the_same_hash() -> None:
    whole = states(verify(NODE))
    for offset in (85, 153, 203):
        (alone,) = verify(snapshot_of(NODE, offset)).rows
        assert alone.state_hash == whole[offset].state_hash
        assert alone.records == whole[offset].records > 40


def test_bootstrap_checkpoints_are_verified_as_such() -> None:
    report = verify(NODE)
    first = report.rows[0]
    assert (first.is_bootstrap, first.records, first.state_hash != "") == (True, 6, True)
    assert not above_info(verify(NODE / "bootstrap.checkpoint"))


def test_a_bootstrap_checkpoint_without_metadata_version_is_found(tmp_path: Path) -> None:
    path = tmp_path / "bootstrap.checkpoint"
    frame = SnapshotFrame(epoch=0, last_contained_log_timestamp=0, timestamp=1)
    value = {"name": "group.version", "featureLevel": 1}
    path.write_bytes(
        b"".join(encode_snapshot([encode_record("FeatureLevelRecord", 0, value)], frame))
    )
    assert set(codes(path)) == {"METADATA-VERSION", "ORDER"}


def test_leftovers_are_listed_and_not_judged(node: Path) -> None:
    part = snapshot_of(node, 210)
    part.with_name(f"{210:020}-{3:010}-abc.checkpoint.part").write_bytes(b"garbage")
    old = snapshot_of(node, 85)
    old.rename(old.with_name(f"{old.name}.deleted")).write_bytes(b"garbage")
    report = verify(node)
    assert not above_info(report)
    listed = [snapshot.state for snapshot in report.rows if snapshot.state is not FileState.LIVE]
    assert sorted(listed, key=str) == [FileState.DELETED, FileState.PART]


def test_a_deleted_snapshot_that_is_named_is_verified(tmp_path: Path) -> None:
    source = next(FIXTURES.glob("kafka-4.3.0/log-cleaning/**/*.deleted"))
    (snapshot,) = verify(source).rows
    assert snapshot.state_hash
    assert not snapshot.findings
    damaged = tmp_path / source.name
    damaged.write_bytes(source.read_bytes()[:-100])
    assert "DAMAGE" in codes(damaged)


def test_a_file_that_is_no_snapshot_is_refused() -> None:
    with pytest.raises(KraftoolError, match="is not a snapshot: log"):
        verify(NODE / PARTITION / f"{0:020}.log")


# --- damaged ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_damage_is_found_by_its_code_and_by_no_other(name: str) -> None:
    (path,) = (FIXTURES / "damaged" / name).glob("*.checkpoint")
    assert set(codes(path)) == DAMAGED[name]


def test_every_damaged_snapshot_has_its_codes() -> None:
    names = {path.parent.name for path in FIXTURES.glob("damaged/*/*.checkpoint")}
    assert names == set(DAMAGED)


@pytest.mark.parametrize("position", range(0, 7000, 331))
def test_any_flipped_bit_is_found(position: int, node: Path) -> None:
    path = snapshot_of(node, 203)
    data = bytearray(path.read_bytes())
    data[position] ^= 0x10
    path.write_bytes(data)
    assert codes(node, replay=False)


@pytest.mark.parametrize("keep", [0, 1, 60, 61, 200, 500, 5000, 6900])
def test_any_cut_is_found(keep: int, node: Path) -> None:
    path = snapshot_of(node, 203)
    path.write_bytes(path.read_bytes()[:keep])
    assert {"FORM", "DAMAGE"} & set(codes(node))
