"""Any bytes in the files of a log: it opens on what is sound, or refuses with a sentence."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.raft.names import ElectionState, OffsetAndEpoch
from kraftool.raft.records import KRaftVersion, LeaderChange, Voters
from tests.storage.metadata_logs import (
    NO_OP,
    VOTERS,
    batch,
    batches_in,
    batches_of,
    content,
    control,
    opened,
)
from tests.support.places import PARTITION


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of several segments with a snapshot, control records, all the small files."""
    directory = tmp_path_factory.mktemp("written")
    log = opened(directory, segment_bytes=600, index_interval_bytes=100)
    log.append([control(0, LeaderChange(1, (1,), (1,)), KRaftVersion(1), Voters(VOTERS))])
    for offset in range(3, 40):
        log.append([batch(offset, epoch=1 + offset // 20)])
    log.append([control(40, Voters(VOTERS), epoch=3)])
    log.flush(41)
    log.persist_election(ElectionState(epoch=3, leader_id=1), 1)
    writer = log.new_snapshot(OffsetAndEpoch(10, 1), 1_000, 1, VOTERS)
    writer.append(NO_OP)
    writer.freeze()
    log.close()
    return directory


@given(data=st.data())
def test_damaged_files_are_cut_or_refused(written: Path, data: st.DataObject) -> None:
    whole = content(written)
    known = [
        _without_epoch(record_batch)
        for log_name in sorted(whole)
        if log_name.endswith(".log")
        for record_batch in batches_in(whole[log_name])
    ]
    name = data.draw(st.sampled_from(sorted(whole)), label="file")
    damaged = bytearray(whole[name])
    for _ in range(data.draw(st.integers(1, 3), label="changes")):
        at = data.draw(st.integers(0, len(damaged)), label="position")
        new = data.draw(st.binary(max_size=12), label="bytes")
        length = data.draw(st.sampled_from((0, 1, len(new), 100)), label="instead of")
        damaged[at : at + length] = new
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "data"
        shutil.copytree(written, directory)
        path = directory / name
        path.chmod(0o600)
        path.write_bytes(damaged)
        before = content(directory)
        try:
            log = opened(directory)
        except KraftoolError:
            assert content(directory) == before, "a refusal changes nothing"
            return
        # All that is served was written. (An epoch is in front of what a CRC is over.)
        served = [_without_epoch(record_batch) for record_batch in batches_of(log)]
        assert served == known[: len(served)]
        if not name.endswith(".log"):
            assert len(served) == len(known)
        end = log.end_offset
        log.append([batch(end, epoch=log.end.epoch)])
        log.close()
        again = opened(directory)
        assert again.end_offset == end + 1
        assert list(again.recovery.sentences()) == []
        again.close()


def _without_epoch(record_batch: RecordBatch) -> bytes:
    return record_batch.data[:12] + record_batch.data[16:]


def test_small_files_that_are_huge_are_not_read_whole(written: Path, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    shutil.copytree(written, directory)
    with (directory / PARTITION / "leader-epoch-checkpoint").open("r+b") as file:
        file.truncate(1 << 33)
    opened(directory).close()
    path = directory / PARTITION / "leader-epoch-checkpoint"
    assert path.read_bytes() == b"0\n3\n1 0\n2 20\n3 40\n"
    for name in ("quorum-state", "partition.metadata"):
        path = directory / PARTITION / name
        whole = path.read_bytes()
        path.write_bytes(b"x" * 100)
        with path.open("r+b") as file:
            file.truncate(1 << 33)
        with pytest.raises(KraftoolError, match=name):
            opened(directory)
        path.write_bytes(whole)
