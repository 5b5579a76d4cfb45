"""Voter histories of what real Kafka left, and of logs and snapshots that are built or damaged."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.segment import Damage, scan
from kraftool.directory.metadata_summary import VoterSource
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import Commitment, Origin
from kraftool.reports.findings.finding import Severity
from kraftool.storage.source import BytesSource
from tests.reports.voter_cases import (
    add_snapshot,
    copied,
    make_node,
    started,
    version,
    voter,
    voters,
)
from tests.reports.voter_nodes import compared
from tests.support.places import FIXTURES, LOG, PARTITION

CLUSTERS = sorted(
    str(path.relative_to(FIXTURES)) for path in Path(__file__).parents[2].glob("fixtures/kafka-*/*")
)


def one(path: object) -> NodeDirectory:
    (source,) = compared(path).sources
    return source.directory


def changes(source: NodeDirectory) -> list[tuple[int, int, str]]:
    return [
        (entry.offset, entry.epoch, "; ".join(entry.differences))
        for entry in source.history.entries
    ]


# What real Kafka left.


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("name", ["server.properties", "data"])
def test_the_nodes_of_every_real_cluster_agree(fixtures_dir: Path, cluster: str, name: str) -> None:
    paths = sorted(fixtures_dir.glob(f"{cluster}/node-*/{name}"))
    diff = compared(*paths)
    assert not diff.has_differences
    odd = {finding.code for finding in diff.findings if finding.severity is not Severity.INFO}
    # 3.9.1 only claimed its upgrade, and every node's log has the claim.
    assert odd == ({"KT-LOG-FALSE-UPGRADE"} if cluster == "kafka-3.9.1/upgrade" else set())
    infos = [finding.code for finding in diff.findings if finding.severity is Severity.INFO]
    removed = ["KT-DIR-NOT-A-VOTER"] if cluster.endswith("dynamic-quorum") else []
    assert infos == removed
    assert len(diff.sources) == len(paths)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_histories_are_the_records_of_the_log(fixtures_dir: Path, cluster: str) -> None:
    """Against a reading of the records themselves, file by file."""
    compared_some = False
    for node in sorted(fixtures_dir.glob(f"{cluster}/node-*/data")):
        expected = []
        for log in sorted(node.glob(f"{PARTITION}/*.log")):
            data = log.read_bytes()
            for batch in scan(BytesSource("", data).read_at):
                assert not isinstance(batch, Damage)
                expected += [
                    (item.record.offset, batch.epoch, _shape(item.data))
                    for item in decode_batch(batch)
                    if item.type in ("KRaftVoters", "KRaftVersion")
                ]
        source = one(node)
        logged = [entry for entry in source.history.entries if entry.origin is Origin.LOG]
        entries = [
            (
                entry.offset,
                entry.epoch,
                entry.kraft_version
                if entry.voters is None
                else sorted((voter.id, voter.directory_id) for voter in entry.voters),
            )
            for entry in logged
        ]
        assert entries == expected
        offsets = [voter_set.offset for voter_set in source.voter_sets]
        assert offsets == sorted(set(offsets))
        compared_some = compared_some or bool(expected)
    dynamic = not cluster.startswith(("kafka-3.3", "kafka-3.7", "kafka-3.9.1/upgrade"))
    assert compared_some == (dynamic and cluster.endswith(("dynamic-quorum", "upgrade")))


def _shape(data: Any) -> Any:
    if "kRaftVersion" in data:
        return data["kRaftVersion"]
    return sorted((entry["voterId"], entry["voterDirectoryId"]) for entry in data["voters"])


def test_a_dynamic_quorum_has_one_history_on_all_its_nodes(fixtures_dir: Path) -> None:
    folder = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    diff = compared(*(folder / f"node-{id}/data" for id in (1, 2, 3, 4)))
    first, *_, fourth = (source.directory for source in diff.sources)
    assert changes(first) == [
        (-1, 0, "kraft.version 1"),
        (-1, 0, "voters 1, 2, 3"),
        (1, 1, "the same again"),
        (2, 1, "the same again"),
        (72, 3, "voter 4 added"),
        (80, 3, "voter 1 removed"),
    ]
    # Node 4 joined later: it was formatted without voters and fetched the log.
    assert changes(fourth)[:2] == [(1, 1, "kraft.version 1"), (2, 1, "voters 1, 2, 3")]
    assert diff.voters is not None
    assert [replica.id for replica in diff.voters.voters] == [2, 3, 4]
    entry = first.newest
    assert entry is not None
    assert entry.voters is not None
    third = [*entry.voters][2]
    assert third.directory_id == "6Zz9f7_tnXU2JaSjHqPdiQ"
    assert third.endpoints == {"CONTROLLER": ("127.0.0.1", 52501)}
    assert third.kraft_version == (0, 1)


def test_the_removed_voter_knows_that_it_was_removed(fixtures_dir: Path) -> None:
    """Its log ends with the record that removed it: the same set, and no contradiction."""
    diff = compared(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-1/data")
    (source,) = (compared_source.directory for compared_source in diff.sources)
    assert source.end == 81
    assert [entry.offset for entry in source.history.entries][-1] == 80
    (finding,) = diff.findings
    assert (finding.code, finding.severity) == ("KT-DIR-NOT-A-VOTER", Severity.INFO)
    assert "no longer one of the voters 2, 3, 4" in finding.text


def test_an_upgrade_from_static_voters_begins_the_history(fixtures_dir: Path) -> None:
    source = one(fixtures_dir / "kafka-4.3.0/upgrade/node-3/data")
    assert changes(source) == [(71, 2, "kraft.version 1"), (72, 2, "voters 1, 2, 3")]
    assert source.log is not None
    assert source.log.start == 47
    assert source.history.entries[0].repeated_in[0].endswith("144-0000000006.checkpoint")


def test_static_voters_are_those_of_the_settings_else_of_the_last_leader(
    fixtures_dir: Path,
) -> None:
    folder = fixtures_dir / "kafka-3.7.2/static-quorum/node-1"
    by_settings, by_log = one(folder / "server.properties"), one(folder / "data")
    assert by_settings.in_force is not None
    assert by_settings.in_force.source is VoterSource.PROPERTIES
    assert by_log.in_force is not None
    assert by_log.in_force.source is VoterSource.LEADER_CHANGE
    assert by_settings.kraft_version == by_log.kraft_version == 0
    other = fixtures_dir / "kafka-3.7.2/static-quorum/node-2/data"
    assert not compared(folder / "server.properties", other).has_differences


def test_a_snapshot_in_another_order_is_the_same_set(fixtures_dir: Path) -> None:
    """3.9.1 wrote 4, 1, 3 into the snapshot and 1, 3, 4 into the log."""
    folder = fixtures_dir / "kafka-3.9.1/dynamic-quorum/node-1/data"
    snapshot = folder / PARTITION / "00000000000000000167-0000000005.checkpoint"
    alone = one(snapshot)
    assert alone.newest is not None
    assert alone.newest.voters is not None
    assert [replica.id for replica in alone.newest.voters] == [4, 1, 3]
    assert alone.newest.offset == 166
    assert not compared(folder, snapshot).has_differences


def test_an_old_snapshot_is_behind_and_no_contradiction(fixtures_dir: Path) -> None:
    folder = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    old = folder / f"node-1/data/{PARTITION}/00000000000000000056-0000000002.checkpoint"
    diff = compared(old, folder / "node-2/data")
    behind, newest = diff.sources
    assert behind.is_behind
    assert behind.differences == ("voter 4 missing here", "voter 1 only here")
    assert not newest.differences
    assert diff.has_differences
    assert [(finding.code, finding.severity) for finding in diff.findings] == [
        ("KT-DIR-VOTERS-BEHIND", Severity.INFO)
    ]


def test_a_snapshot_from_before_the_upgrade_is_behind(fixtures_dir: Path) -> None:
    folder = fixtures_dir / "kafka-4.3.0/upgrade/node-1/data"
    static = folder / PARTITION / "00000000000000000047-0000000002.checkpoint"
    diff = compared(folder, static)
    assert diff.sources[1].is_behind
    assert diff.sources[1].differences == ("kraft.version 0 → 1",)
    assert [finding.code for finding in diff.findings] == ["KT-DIR-VOTERS-BEHIND"]


def test_a_segment_that_begins_later_does_not_claim_kraft_version_0(fixtures_dir: Path) -> None:
    node = fixtures_dir / "kafka-3.9.1/dynamic-quorum/node-4/data" / PARTITION
    later = one(node / f"{57:020}.log")
    assert changes(later) == [(63, 5, "voters 1, 2, 3, 4"), (71, 5, "voter 2 removed")]
    assert later.kraft_version == 1
    cleaned = fixtures_dir / "kafka-3.7.2/log-cleaning/node-1/data" / PARTITION
    segments = sorted(cleaned.glob("*.log"))
    assert [one(segment).kraft_version for segment in segments] == [None] * len(segments)


def test_a_tar_of_several_nodes_is_as_many_sources(fixtures_dir: Path, tmp_path: Path) -> None:
    folder = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    with tarfile.open(tmp_path / "nodes.tar", "w") as archive:
        for id in (2, 3):
            archive.add(folder / f"node-{id}/data", f"node-{id}/data")
    diff = compared(tmp_path / "nodes.tar", folder / "node-4/data")
    assert [source.directory.node.node_id for source in diff.sources] == [2, 3, 4]
    assert not diff.has_differences
    assert not diff.findings


def test_one_directory_named_twice_is_one_source(fixtures_dir: Path) -> None:
    folder = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2"
    diff = compared(folder / "data", folder / "server.properties", folder / "data")
    (only,) = diff.sources
    assert only.directory.settings is not None
    assert not diff.findings


# Damage.


def batch_at(data: bytes, offset: int) -> RecordBatch:
    for batch in scan(BytesSource("", data).read_at):
        assert isinstance(batch, RecordBatch)
        if batch.base_offset == offset:
            return batch
    raise AssertionError(f"no batch begins at offset {offset}")


def test_history_before_and_after_damage_is_kept_with_the_finding(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    node = copied(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2", tmp_path / "node-2")
    for snapshot in node.glob(f"data/{PARTITION}/*.checkpoint"):
        snapshot.unlink()
    log = node / "data" / PARTITION / LOG
    data = bytearray(log.read_bytes())
    at = batch_at(bytes(data), 72)
    data[at.position + 80] ^= 1
    log.write_bytes(data)
    diff = compared(node / "data")
    (source,) = (compared_source.directory for compared_source in diff.sources)
    assert [(entry.offset, entry.after_damage) for entry in source.history.entries] == [
        (1, False),
        (2, False),
        (80, True),
    ]
    (finding,) = [finding for finding in diff.findings if finding.severity is not Severity.INFO]
    assert finding.code == "KT-LOG-CRC"
    assert finding.offset == 72
    assert "a change of voters may be missing" in finding.text
    # Beside an intact node, the gap is no contradiction.
    diff = compared(node / "data", fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-3/data")
    assert not diff.has_differences
    assert [finding.code for finding in diff.findings if finding.severity is not Severity.INFO] == [
        "KT-LOG-CRC"
    ]


def test_a_snapshot_fills_in_what_damage_took(tmp_path: Path) -> None:
    log = started().control(1, voters(1, 2, 3, 4)).noops(1, 4)
    node = make_node(tmp_path / "n", 1, log)
    add_snapshot(node, 11, 1, version(), voters(4, 3, 2, 1))
    intact = one(node)
    assert changes(intact)[-1] == (8, 1, "voter 4 added")
    assert intact.newest is not None
    assert len(intact.newest.repeated_in) == 1
    data = bytearray(log.data)
    batch = batch_at(bytes(data), 8)
    data[batch.position + 70] ^= 1
    (node / PARTITION / LOG).write_bytes(data)
    damaged = one(node)
    assert changes(damaged)[-1] == (10, 1, "voter 4 added")
    assert damaged.newest is not None
    assert damaged.newest.origin is Origin.SNAPSHOT


def test_a_snapshot_that_contradicts_the_log_is_an_error(tmp_path: Path) -> None:
    node = make_node(tmp_path / "n", 1, started())
    add_snapshot(node, 6, 1, version(), voters(1, 2, 3))
    assert not compared(node).findings
    add_snapshot(node, 7, 1, version(), voters(1, 2, voter(3, port=1)))
    diff = compared(node)
    (finding,) = diff.findings
    assert (finding.code, finding.severity) == ("KT-SNAP-LOG-VOTERS", Severity.ERROR)
    assert finding.file.endswith("7-0000000001.checkpoint")
    assert finding.offset == 6
    # Kafka starts from that snapshot.
    assert diff.voters is not None
    third = diff.voters.of(3)
    assert third is not None
    assert third.endpoints == {"CONTROLLER": ("localhost", 1)}


def test_an_intact_snapshot_without_voters_contradicts_a_log_that_has_them(tmp_path: Path) -> None:
    node = make_node(tmp_path / "n", 1, started())
    add_snapshot(node, 6, 1)
    (finding,) = compared(node).findings
    assert (finding.code, finding.count) == ("KT-SNAP-LOG-VOTERS", 2)


@pytest.mark.parametrize("folder", ["truncated-snapshot", "garbage-log", "empty-files"])
def test_damaged_files_by_themselves_are_findings(fixtures_dir: Path, folder: str) -> None:
    for path in (fixtures_dir / "damaged" / folder).iterdir():
        if path.suffix in (".log", ".checkpoint"):
            findings = compared(path).findings
            assert any(finding.undecoded or finding.code == "KT-SNAP-FORM" for finding in findings)


def test_a_path_that_leads_nowhere_leaves_the_others(fixtures_dir: Path, tmp_path: Path) -> None:
    diff = compared(tmp_path / "gone", fixtures_dir / "kafka-4.3.0/upgrade/node-1/data")
    assert [finding.code for finding in diff.findings] == ["KT-DIR-READ"]
    assert diff.kraft_version == 1


def test_a_file_without_anything_about_voters_says_so(tmp_path: Path) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_text("0\n0\n")
    (finding,) = compared(tmp_path / "leader-epoch-checkpoint").findings
    assert finding.code == "KT-DIR-EMPTY"


def test_a_stream_of_bytes_is_read_once(fixtures_dir: Path, tmp_path: Path) -> None:
    """A gzipped tar cannot be sought in; the history comes from the same pass as the summary."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(fixtures_dir / "kafka-4.3.0/upgrade/node-2/data", "data")
    (tmp_path / "n.tar.gz").write_bytes(buffer.getvalue())
    assert changes(one(tmp_path / "n.tar.gz")) == [
        (71, 2, "kraft.version 1"),
        (72, 2, "voters 1, 2, 3"),
    ]


def test_every_verdict_of_the_fixtures_is_proved(fixtures_dir: Path) -> None:
    """Snapshots, later changes or the majority prove every change that a real quorum made."""
    for cluster in CLUSTERS:
        for entry in (
            entry
            for source in compared(*fixtures_dir.glob(f"{cluster}/node-*/data")).sources
            for entry in source.directory.history.entries
        ):
            assert entry.commitment in (Commitment.COMMITTED, Commitment.FORMATTED)
