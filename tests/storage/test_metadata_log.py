"""The log that a running node keeps: what is appended is read, across rolls, cuts and new starts.

Numbers in brackets are those of the conformance scenarios for log and files.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest

from kraftool.decoders import checkpoint_files, quorum_state
from kraftool.decoders.batch import HEADER_SIZE, RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.indexes import decode_offset_index, decode_time_index
from kraftool.raft.names import (
    ElectionState,
    OffsetAndEpoch,
    ProtocolError,
    ReplicaKey,
    VoterSet,
)
from kraftool.raft.records import KRaftVersion, LeaderChange, Voters
from kraftool.raft.wire.batches import decode_batches, encode
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.log_config import LogConfig
from kraftool.storage.metadata_log import MetadataLog, OffsetOutOfRange
from kraftool.storage.paths import open_path
from tests.storage.metadata_logs import (
    DIRECTORY_ID,
    NO_OP,
    VOTERS,
    batch,
    batches_of,
    content,
    control,
    names,
    offsets,
    opened,
    snapshot,
)
from tests.support.places import PARTITION


def test_a_new_directory_gets_what_kafka_puts_there(tmp_path: Path) -> None:
    log = opened(tmp_path)
    assert (log.start_offset, log.end_offset, log.flushed_offset) == (0, 0, 0)
    assert log.election is None
    assert list(log.recovery.sentences()) == []
    log.close()
    first = f"{0:020}"
    assert names(tmp_path) == [
        f"{first}.index",
        f"{first}.log",
        f"{first}.timeindex",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]
    folder = tmp_path / PARTITION
    assert folder.joinpath("leader-epoch-checkpoint").read_bytes() == b"0\n0\n"
    metadata = folder.joinpath("partition.metadata").read_bytes()
    assert metadata == b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


def test_what_is_appended_is_in_the_file_and_is_read_as_it_came(tmp_path: Path) -> None:
    log = opened(tmp_path)
    first, second = batch(0, 3), batch(3, 2, epoch=2)
    whole = encode(first) + encode(second)
    log.append([first, second])
    assert log.end_offset == 5
    assert log.flushed_offset == 0
    log.flush(5)
    assert log.flushed_offset == 5
    assert log.read(0, 1 << 20) == whole
    assert log.read(5, 1 << 20) == b""
    log.close()
    folder = tmp_path / PARTITION
    assert folder.joinpath(f"{0:020}.log").read_bytes() == whole
    assert folder.joinpath("leader-epoch-checkpoint").read_bytes() == b"0\n2\n1 0\n2 3\n"


def test_bytes_that_came_from_a_leader_are_kept_as_they_are(tmp_path: Path) -> None:
    came = encode(control(0, LeaderChange(1, (1,), (1,)))) + encode(batch(1, 2))
    log = opened(tmp_path)
    log.append(decode_batches(came))
    assert log.read(0, 1 << 20) == came
    log.close()


def test_an_append_that_does_not_follow_is_refused(tmp_path: Path) -> None:
    """[220], [221]; a gap, which Kafka does not notice, is refused as well."""
    log = opened(tmp_path)
    log.append([batch(0, 3, epoch=2)])
    before = content(tmp_path)
    for wrong in ([batch(2, epoch=2)], [batch(4, epoch=2)], [batch(3, epoch=1)], []):
        with pytest.raises(ProtocolError):
            log.append(wrong)
    assert content(tmp_path) == before


def test_a_batch_that_the_next_start_would_take_for_damage_is_refused(tmp_path: Path) -> None:
    """[232]: what a leader may form is the core's to say; 8 MiB fit."""
    log = opened(tmp_path)
    log.append([batch(0, 1, size=8 << 20)])
    with pytest.raises(KraftoolError, match="at most"):
        log.append([batch(1, 5, size=8 << 20)])
    log.close()


def test_segments_end_when_a_batch_would_make_them_too_large(tmp_path: Path) -> None:
    size = len(encode(batch(0, 4)))
    log = opened(tmp_path, segment_bytes=3 * size)
    for offset in range(0, 40, 4):
        log.append([batch(offset, 4)])
    log.close()
    starts = [name for name in names(tmp_path) if name.endswith(".log")]
    assert starts == [f"{base:020}.log" for base in (0, 12, 24, 36)]
    sizes = [os.path.getsize(tmp_path / PARTITION / start) for start in starts]
    assert sizes == [3 * size, 3 * size, 3 * size, size]


def test_one_append_may_fill_several_segments(tmp_path: Path) -> None:
    size = len(encode(batch(0, 4)))
    log = opened(tmp_path, segment_bytes=2 * size)
    log.append([batch(offset, 4) for offset in range(0, 40, 4)])
    assert len([name for name in names(tmp_path) if name.endswith(".log")]) == 5
    assert [record_batch.base_offset for record_batch in batches_of(log)] == list(range(0, 40, 4))
    log.close()


def test_segments_end_when_their_first_batch_is_too_old(tmp_path: Path) -> None:
    log = opened(tmp_path, segment_ms=100)
    for offset, timestamp in enumerate((1_000, 1_100, 1_101, 1_150, 1_202)):
        log.append([batch(offset, timestamp=timestamp)])
    log.close()
    starts = [name for name in names(tmp_path) if name.endswith(".log")]
    assert starts == [f"{base:020}.log" for base in (0, 2, 4)]


def test_segments_end_when_an_index_is_full(tmp_path: Path) -> None:
    log = opened(tmp_path, index_interval_bytes=0, index_bytes=60)
    for offset in range(10):
        log.append([batch(offset)])
    log.close()
    starts = [name for name in names(tmp_path) if name.endswith(".log")]
    # An index of 60 bytes has seven entries; the first batch of a segment has none.
    assert starts == [f"{base:020}.log" for base in (0, 8)]


def test_the_indexes_name_a_batch_about_every_interval(tmp_path: Path) -> None:
    log = opened(tmp_path, index_interval_bytes=300)
    for offset in range(0, 40, 2):
        log.append([batch(offset, 2, timestamp=1_000 + offset)])
    log.close()
    folder = tmp_path / PARTITION
    data = folder.joinpath(f"{0:020}.log").read_bytes()
    index, problems = decode_offset_index(folder.joinpath(f"{0:020}.index").read_bytes())
    assert not problems
    entries = list(index.entries())
    assert len(entries) > 3
    positions = [0]
    for entry in entries:
        at = RecordBatch.read(data[entry.position : entry.position + HEADER_SIZE])
        assert at.last_offset == entry.offset
        positions.append(entry.position)
    gaps = [later - earlier for earlier, later in pairwise(positions)]
    assert all(300 < gap <= 300 + 2 * len(encode(batch(0, 2))) for gap in gaps)
    times, problems = decode_time_index(folder.joinpath(f"{0:020}.timeindex").read_bytes())
    assert not problems
    last = list(times.entries())[-1]
    assert (last.timestamp, last.offset) == (1_038, 39), "the largest stands there at the end"


def test_a_read_begins_at_the_batch_that_has_the_offset(tmp_path: Path) -> None:
    """[225]"""
    log = opened(tmp_path, index_interval_bytes=200, segment_bytes=900)
    for offset in range(0, 60, 3):
        log.append([batch(offset, 3)])
    for offset in range(60):
        base = offset - offset % 3
        assert offsets(log.read(offset, 1))[0] == (base, base + 2)
    log.close()


def test_a_read_gives_whole_batches_and_one_at_least(tmp_path: Path) -> None:
    log = opened(tmp_path)
    log.append([batch(offset, 2) for offset in range(0, 10, 2)])
    size = len(encode(batch(0, 2)))
    assert offsets(log.read(2, 0)) == [(2, 3)]
    assert offsets(log.read(2, 2 * size - 1)) == [(2, 3)]
    assert offsets(log.read(2, 2 * size)) == [(2, 3), (4, 5)]
    log.append([batch(10, 1, size=100_000), batch(11)])
    assert offsets(log.read(10, 50)) == [(10, 10)], "larger than what is asked for"
    assert offsets(log.read(9, 200_000)) == [(8, 9), (10, 10), (11, 11)]
    log.close()


def test_a_read_of_what_is_committed_ends_there(tmp_path: Path) -> None:
    """[226]"""
    log = opened(tmp_path)
    log.append([batch(offset, 2) for offset in range(0, 10, 2)])
    assert offsets(log.read(0, 1 << 20, below=6)) == [(0, 1), (2, 3), (4, 5)]
    assert offsets(log.read(0, 1 << 20, below=5)) == [(0, 1), (2, 3)]
    assert log.read(6, 1 << 20, below=6) == b""
    with pytest.raises(OffsetOutOfRange):
        log.read(11, 1)
    snapshot(log, 10, 1)
    log.append([batch(10, 2)])
    snapshot(log, 12, 1)
    assert log.clean(1 << 60) == 12
    assert log.read(11, 1 << 20) == b"", "cleaned meanwhile: the next fetch gets the snapshot"
    with pytest.raises(OffsetOutOfRange):
        log.read(13, 1)
    log.close()


def test_an_epoch_without_records_gives_way(tmp_path: Path) -> None:
    """[222]: only epochs that have a record are ever written."""
    log = opened(tmp_path)
    log.append([batch(0, epoch=2)])
    log.truncate(0)
    log.append([batch(0, epoch=5)])
    log.close()
    epochs = (tmp_path / PARTITION / "leader-epoch-checkpoint").read_bytes()
    assert epochs == b"0\n1\n5 0\n"


def test_the_core_gets_the_epochs_as_they_lie_in_the_log(tmp_path: Path) -> None:
    """[223]"""
    log = opened(tmp_path)
    log.append([batch(0, 15, epoch=1), batch(15, 5, epoch=3), batch(20, 10, epoch=4)])
    log.close()
    log = opened(tmp_path)
    view = log.view
    log.close()
    assert view.end_of_epoch(2) == OffsetAndEpoch(15, 1)
    assert view.end_of_epoch(5) == OffsetAndEpoch(30, 4)
    assert view.end_of_epoch(0) == OffsetAndEpoch(0, 0)


def test_voters_and_kraft_version_are_read_from_snapshot_and_log(tmp_path: Path) -> None:
    log = opened(tmp_path)
    log.append([control(0, LeaderChange(1, (1,), (1,)), KRaftVersion(1), Voters(VOTERS)), batch(3)])
    log.flush(4)
    log.close()
    log = opened(tmp_path)
    assert log.control.kraft_version == 1
    assert log.control.voter_sets.entries == [(2, VOTERS)]
    writer = log.new_snapshot(OffsetAndEpoch(4, 1), 1_000, 1, VOTERS)
    writer.append(NO_OP)
    writer.freeze()
    log.close()
    log = opened(tmp_path)
    assert log.control.voter_sets.entries == [(3, VOTERS)], "filed before the snapshot's end"
    assert log.control.kraft_version == 1
    log.close()


# The promise


def test_an_election_is_written_as_kafka_writes_it(tmp_path: Path) -> None:
    path = tmp_path / PARTITION / "quorum-state"
    log = MetadataLog.open(str(tmp_path), LogConfig(), static_voters=VOTERS)
    log.persist_election(ElectionState(epoch=3, leader_id=1), 0)
    assert path.read_bytes() == (
        b'{"clusterId":"","leaderId":1,"leaderEpoch":3,"votedId":-1,"appliedOffset":0,'
        b'"currentVoters":[{"voterId":1}],"data_version":0}'
    )
    log.persist_election(ElectionState(epoch=4, voted=ReplicaKey(2, DIRECTORY_ID)), 1)
    assert path.read_bytes() == (
        b'{"leaderId":-1,"leaderEpoch":4,"votedId":2,'
        b'"votedDirectoryId":"xtzWWN4bTjitpL3kfd9s5g","data_version":1}'
    )
    log.close()
    again = opened(tmp_path)
    assert again.election == ElectionState(epoch=4, voted=ReplicaKey(2, DIRECTORY_ID))
    assert names(tmp_path).count("quorum-state.tmp") == 0
    again.persist_election(ElectionState(epoch=5, voted=ReplicaKey(2, DIRECTORY_ID)), 0)
    again.close()
    again = opened(tmp_path)
    assert again.election == ElectionState(epoch=5, voted=ReplicaKey(2))
    again.close()


def test_an_election_of_a_node_that_knows_nothing(tmp_path: Path) -> None:
    log = opened(tmp_path)
    log.persist_election(ElectionState(), 1)
    log.close()
    decoded, problems = quorum_state.decode((tmp_path / PARTITION / "quorum-state").read_bytes())
    assert not problems
    assert decoded.quorum_state is not None
    assert (
        decoded.quorum_state.leader_epoch,
        decoded.quorum_state.leader_id,
        decoded.quorum_state.voted_id,
    ) == (
        0,
        -1,
        -1,
    )


# As a whole


def test_verify_log_finds_nothing_in_what_was_written(tmp_path: Path) -> None:
    meta = "version=1\ncluster.id=Wgw1Xub3QkKLvN3QSFyMzw\nnode.id=1\n"
    (tmp_path / "meta.properties").write_text(f"{meta}directory.id={DIRECTORY_ID}\n")
    log = opened(tmp_path, segment_bytes=4_000, index_interval_bytes=500, retention_bytes=3_000)
    leader = LeaderChange(1, (1,), (1,))
    log.append([control(0, leader, KRaftVersion(1), Voters(VOTERS))])
    epoch = 1
    for offset in range(3, 103):
        if offset == 50:
            epoch = 2
            log.append([control(offset, leader, epoch=epoch)])
        else:
            log.append([batch(offset, epoch=epoch, timestamp=1_000 + offset)])
    log.flush(103)
    log.persist_election(ElectionState(epoch=2, leader_id=1), 1)
    for offset in (60, 80, 100):
        writer = log.new_snapshot(
            OffsetAndEpoch(offset, 2), 999 + offset, 1, VOTERS, now_ms=999 + offset
        )
        writer.freeze()
    for offset in range(103, 150):
        log.append([batch(offset, epoch=epoch, timestamp=1_000 + offset)])
    log.clean(2_000)
    log.truncate(140)
    log.flush(140)
    log.close()
    assert verify_logs([open_path(str(tmp_path))]).rows == ()
    decoded, _ = checkpoint_files.decode_leader_epochs(
        (tmp_path / PARTITION / "leader-epoch-checkpoint").read_bytes()
    )
    assert [(entry.epoch, entry.start_offset) for entry in decoded.entries][-1][0] == 2


def test_a_new_log_of_static_voters_names_them_to_the_core(tmp_path: Path) -> None:
    log = MetadataLog.open(str(tmp_path), LogConfig(), static_voters=VOTERS)
    assert log.control.voters == VOTERS
    assert isinstance(log.control.static_voters, VoterSet)
    log.close()
