"""Directories go from real Kafka to our storage and back; each starts on what the other left.

Nothing is lost on the way: what was in the log stays in it, byte for byte, as far as it is not
cleaned; and Kafka finds nothing to cut in what was written here, by its log and by kafka-dump-log.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import scan
from kraftool.image.writer import snapshot_records
from kraftool.raft.names import (
    ElectionState,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    Voter,
    VoterSet,
)
from kraftool.raft.records import Batch, LeaderChange
from kraftool.raft.wire.batches import decode_batches
from kraftool.reports.findings.finding import Severity
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.log_config import LogConfig
from kraftool.storage.metadata_log import MetadataLog
from kraftool.storage.paths import open_path
from kraftool.storage.source import BytesSource
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.dumplog import kafka_dump_log
from tests.support.places import PARTITION
from tests.support.ports import HOST

SEGMENT_BYTES = 4_000
NO_OP = encode_record("NoOpRecord", 0, {})
COMPLAINTS = re.compile(r"Corruption found|Found invalid|orphaned|corrupted index|Truncated [1-9]")
SETTINGS = {
    "metadata.max.idle.interval.ms": "20",
    "metadata.log.max.record.bytes.between.snapshots": "1000000",
}


def small_segments(version: str) -> dict[str, str]:
    if kafka.at_least(version, "4.0"):
        return {"internal.metadata.log.segment.bytes": str(SEGMENT_BYTES)}
    return {
        "metadata.log.segment.min.bytes": "1000",
        "metadata.log.segment.bytes": str(SEGMENT_BYTES),
    }


def static_voters(node: Node) -> VoterSet:
    endpoint = Endpoint(HOST, node.ports["CONTROLLER"])
    return VoterSet.of(Voter(key=ReplicaKey(node.id), endpoints={"CONTROLLER": endpoint}))


def opened(node: Node, *, is_dynamic: bool, retention_bytes: int = -1) -> MetadataLog:
    config = LogConfig(
        segment_bytes=SEGMENT_BYTES, retention_bytes=retention_bytes, retention_ms=-1
    )
    voters = VoterSet() if is_dynamic else static_voters(node)
    return MetadataLog.open(str(node.metadata_log_dir), config, static_voters=voters)


def batches(node: Node) -> list[RecordBatch]:
    """What is in a node's segments, read by themselves."""
    read_batches = []
    for path in sorted((node.metadata_log_dir / PARTITION).glob("*.log")):
        data = path.read_bytes()
        for batch in scan(BytesSource("", data).read_at):
            assert isinstance(batch, RecordBatch)
            assert batch.is_valid, path
            read_batches.append(batch)
    return read_batches


def served(log: MetadataLog) -> list[bytes]:
    encoded, at = [], log.start_offset
    while at < log.end_offset:
        some = decode_batches(log.read(at, 2_000))
        encoded += [batch.data for batch in some]
        at = some[-1].next_offset
    return encoded


def led(log: MetadataLog, leader_id: int) -> None:
    """Lead for an epoch: a leader's records, some of which nobody ever flushed and are cut off."""
    end, last_epoch = log.view.end
    epoch, now = last_epoch + 1, int(time.time() * 1000)
    log.persist_election(ElectionState(epoch=epoch, leader_id=leader_id), log.control.kraft_version)
    change = LeaderChange(leader_id, (leader_id,), (leader_id,))
    log.append([
        Batch(base_offset=end, last_offset=end, epoch=epoch, timestamp_ms=now, control=(change,))
    ])  # fmt: skip
    for number in range(100):
        at = log.end_offset
        log.append([
            Batch(
                base_offset=at,
                last_offset=at + 1,
                epoch=epoch,
                timestamp_ms=now + number,
                data=[NO_OP, NO_OP],
            )
        ])  # fmt: skip
    log.flush(log.end_offset)
    log.truncate(log.end_offset - 20)
    log.flush(log.end_offset)


def write_snapshot(node: Node, *, is_dynamic: bool) -> None:
    """Of all that there is."""
    state = load_state(str(node.metadata_log_dir))
    assert state.is_whole
    log = opened(node, is_dynamic=is_dynamic)
    level = log.control.kraft_version
    end = log.view.end
    last = batches(node)[-1].header.max_timestamp
    writer = log.new_snapshot(end, last, level, log.control.voters if level else None)
    for snapshot_record in snapshot_records(state.image):
        writer.append(encode_record(*snapshot_record))
    writer.freeze()
    log.close()


def check_by_kafka(version: str, node: Node) -> None:
    """Kafka's own tool reads the indexes against the log."""
    folder = node.metadata_log_dir / PARTITION
    files = [path.name for path in sorted(folder.glob("*.*index")) if path.stat().st_size]
    assert files
    for name, output in kafka_dump_log(version, files, folder, ("--verify-index-only",)).items():
        assert b"ismatch" not in output, name
        assert b"Found timestamp mismatch" not in output, name
        assert b"Index" not in output or b"corrupt" not in output, name


def worth_telling(node: Node) -> list[str]:
    findings = verify_logs([open_path(str(node.metadata_log_dir))]).rows
    return [finding.sentence() for finding in findings if finding.severity is not Severity.INFO]


@dataclass(frozen=True, slots=True)
class Case:
    version: str
    is_dynamic: bool

    def __str__(self) -> str:
        return f"{self.version}-{'dynamic' if self.is_dynamic else 'static'}"


CASES = (
    pytest.param(Case("3.9.1", False), marks=pytest.mark.soak),
    pytest.param(Case("3.9.1", True), marks=pytest.mark.soak),
    pytest.param(Case("4.3.0", True), marks=pytest.mark.soak),
    Case(kafka.NEWEST, True),
    pytest.param(Case(kafka.NEWEST, False), marks=pytest.mark.soak),
)


def kafka_leads(cluster: Cluster, node: Node, *, above: int, more: int, kill: bool) -> str:
    """Have Kafka start, lead in a new epoch and write; what its log says."""
    size = sum(batch.size for batch in batches(node))
    cluster.start(node)
    cluster.wait_leader(above_epoch=above)
    assert node.process is not None

    def has_grown() -> bool:
        folder = node.metadata_log_dir / PARTITION
        return sum(path.stat().st_size for path in folder.glob("*.log")) > size + more

    kafka.wait_for("Kafka to write", has_grown)
    output = node.process.output()
    if kill:
        cluster.kill(node)
    else:
        cluster.stop(node)
    return output


@pytest.mark.interop
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_log_goes_back_and_forth_and_nothing_is_lost(case: Case, tmp_path: Path) -> None:
    common = SETTINGS | small_segments(case.version)
    with Cluster(case.version, tmp_path / "nodes", common=common) as cluster:
        node = cluster.add_node(1, ("controller",))
        if case.is_dynamic:
            cluster.use_bootstrap_servers()
            cluster.format([node], "--standalone")
        else:
            cluster.use_static_voters()
            cluster.format([node])
        so_far: list[bytes] = []
        epoch = 0
        for turn in range(3):
            output = kafka_leads(cluster, node, above=epoch, more=6_000, kill=turn == 1)
            assert not COMPLAINTS.search(output)
            theirs = [batch.data for batch in batches(node)]
            assert _goes_on(theirs, so_far), "Kafka kept what was written here"
            log = opened(node, is_dynamic=case.is_dynamic)
            assert log.recovery.cut is None
            assert log.recovery.wiped_to is None
            # Kafka begins an empty log anew at its snapshot, and unlinks the old one later.
            assert all(name.endswith(".deleted") for name in log.recovery.removed)
            assert served(log) == theirs
            assert log.election is not None
            assert log.election.epoch == log.view.last_epoch > epoch
            assert log.control.voters.ids == {node.id}
            led(log, node.id)
            epoch = log.end.epoch
            so_far = served(log)
            log.close()
            assert so_far[: len(theirs)] == theirs
            assert [batch.data for batch in batches(node)] == so_far
            assert worth_telling(node) == []
            check_by_kafka(case.version, node)
            write_snapshot(node, is_dynamic=case.is_dynamic)
            if turn:
                log = opened(node, is_dynamic=case.is_dynamic, retention_bytes=0)
                start = log.clean(int(time.time() * 1000))
                assert start == max(log.snapshots).offset
                so_far = [from_segment.data for from_segment in _from_segments(log)]
                log.close()
                assert worth_telling(node) == []
        ours = indexes(node)
        output = kafka_leads(cluster, node, above=epoch, more=100, kill=False)
        assert not COMPLAINTS.search(output)
        assert _goes_on([batch.data for batch in batches(node)], so_far)
        state = load_state(str(node.metadata_log_dir))
        assert state.is_whole
        # Kafka makes the indexes of whole segments anew when it starts: they are the same.
        theirs_now = indexes(node)
        whole = sorted(ours)[:-2]
        assert {name: theirs_now[name] for name in whole} == {name: ours[name] for name in whole}


def indexes(node: Node) -> dict[str, bytes]:
    folder = node.metadata_log_dir / PARTITION
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.*index"))}


def _from_segments(log: MetadataLog) -> Iterator[RecordBatch]:
    for path in sorted(Path(log.folder).glob("*.log")):
        data = path.read_bytes()
        for batch in scan(BytesSource("", data).read_at):
            assert isinstance(batch, RecordBatch)
            yield batch


def _goes_on(later: list[bytes], earlier: list[bytes]) -> bool:
    return later[: len(earlier)] == earlier


@pytest.mark.interop
@pytest.mark.parametrize(
    "version", [pytest.param(kafka.TOOLS_VERSION, marks=pytest.mark.soak), kafka.NEWEST]
)
def test_a_follower_goes_on_from_a_snapshot_that_was_downloaded_here(
    version: str, tmp_path: Path
) -> None:
    """A third voter's partition is made anew here, of what its leader has, and Kafka follows."""
    common = {
        **SETTINGS,
        "metadata.log.max.record.bytes.between.snapshots": "3000",
    }
    with Cluster(version, tmp_path / "nodes", common=common) as cluster:
        nodes = [cluster.add_node(id_, ("controller",)) for id_ in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        cluster.start(*nodes)
        leader = cluster.wait_leader()
        kafka.wait_for("a snapshot", lambda: len(cluster.snapshots(leader)) > 1)
        follower = next(node for node in reversed(nodes) if node is not leader)
        cluster.stop(follower)
        shutil.rmtree(follower.metadata_log_dir / PARTITION)
        folder = leader.metadata_log_dir / PARTITION
        newest = max(folder.glob("*.checkpoint"))
        key = OffsetAndEpoch(int(newest.name[:20]), int(newest.name[21:31]))
        data = newest.read_bytes()

        def behind_it() -> list[Batch] | None:
            behind = [
                batch
                for path in sorted(folder.glob("*.log"))
                for batch in decode_batches(path.read_bytes())
                if batch.base_offset >= key.offset
            ]
            return behind[:5] if len(behind) >= 5 else None

        fetched = kafka.wait_for("records behind the snapshot", behind_it)
        log = MetadataLog.open(
            str(follower.metadata_log_dir), LogConfig(), static_voters=VoterSet()
        )
        epoch = cluster.leader_epoch()
        log.persist_election(ElectionState(epoch=epoch, leader_id=leader.id), 1)
        log.begin_download(key)
        for at in range(0, len(data), 500):
            log.append_to_download(key, data[at : at + 500])
        installed = log.install_snapshot(key)
        assert installed.kraft_version == 1
        assert installed.voters is not None
        assert installed.voters.ids == {1, 2, 3}
        log.append(fetched)
        log.flush(log.end_offset)
        log.close()
        cluster.start(follower)
        cluster.wait_caught_up(follower)
        assert follower.process is not None
        assert not COMPLAINTS.search(follower.process.output())
        cluster.stop(follower)
        cluster.stop(*cluster.running())
        own = batches(follower)
        assert own[0].base_offset == key.offset
        others = {batch.base_offset: batch.data for batch in batches(leader)}
        assert {batch.base_offset: batch.data for batch in own}.items() <= others.items()
        assert own[-1].base_offset > fetched[-1].base_offset
        again = MetadataLog.open(
            str(follower.metadata_log_dir), LogConfig(), static_voters=VoterSet()
        )
        assert list(again.recovery.sentences()) == []
        assert again.control.voters == installed.voters
        assert again.control.kraft_version == 1
        again.close()
        assert ControlRecordType.KRAFT_VOTERS in load_state(str(follower.metadata_log_dir)).controls
