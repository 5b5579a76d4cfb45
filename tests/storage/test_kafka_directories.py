"""Directories that real Kafka left, opened as our own: every batch stays, nothing is to mend."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch
from kraftool.decoders.names import segment_offset
from kraftool.raft.names import OffsetAndEpoch
from kraftool.reports.findings.finding import Severity
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.log_config import LogConfig
from kraftool.storage.metadata_log import MetadataLog
from kraftool.storage.paths import open_path
from kraftool.storage.snapshots import checked_at
from tests.storage.metadata_logs import (
    VOTERS,
    NoSync,
    batch,
    batches_in,
    batches_of,
    content,
    opened,
)
from tests.support import proof
from tests.support.places import FIXTURES, PARTITION, fixture_name

DIRECTORIES = sorted(
    path.parent
    for path in FIXTURES.glob(f"kafka-*/*/node-*/*/{PARTITION}")
    if any(segment_offset(file.name) is not None for file in path.iterdir())
)


def copied(path: Path, target: Path) -> Path:
    """The metadata half of a directory, to be written to."""
    target.mkdir()
    proof.saw(proof.DIRECTORIES, fixture_name(path))
    shutil.copytree(path / PARTITION, target / PARTITION)
    for entry in path.iterdir():
        if entry.is_file():
            shutil.copy(entry, target)
    os.chmod(target / PARTITION, 0o755)
    return target


def worth_telling(path: Path) -> set[tuple[str, str, str]]:
    findings = verify_logs([open_path(str(path))]).rows
    return {
        (finding.code, Path(finding.file).name, finding.text)
        for finding in findings
        if finding.severity is not Severity.INFO
    }


@pytest.mark.parametrize("path", DIRECTORIES, ids=fixture_name)
def test_what_kafka_wrote_is_opened_whole(path: Path, tmp_path: Path) -> None:
    directory = copied(path, tmp_path / "data")
    before = content(directory)
    logs = {name: data for name, data in before.items() if name.endswith(".log")}
    snapshots = {name for name in before if name.endswith(".checkpoint") and PARTITION in name}
    log = MetadataLog.open(str(directory), LogConfig(), static_voters=VOTERS, files=NoSync())
    cut = log.recovery.cut
    assert cut is None, "Kafka's own log needs no cutting"
    assert log.recovery.wiped_to is None
    served = b"".join(record_batch.data for record_batch in batches_of(log))
    assert served == b"".join(logs.values())
    assert {Path(log.snapshot_path(snapshot)).name for snapshot in log.snapshots} == {
        Path(snapshot).name for snapshot in snapshots
    }
    assert (log.election is None) == (f"{PARTITION}/quorum-state" not in before)
    view = log.view
    assert view.flushed_offset == view.end_offset == log.end_offset
    assert view.epochs
    assert len(log.control.voters) > 0
    log.close()
    after = content(directory)
    assert {name: after[name] for name in logs} == logs
    # All that is written anew is made of the log, as Kafka makes it at its next start.
    changed = {Path(name).name for name in after if before.get(name) != after[name]}
    may_change = {name for name in changed if name.endswith((".index", ".timeindex"))}
    if view.start_offset:
        # Kafka wrote the start that its cleaner had chosen, inside the first segment; it forgets
        # that when it ends.
        may_change.add("leader-epoch-checkpoint")
    assert changed <= may_change
    assert worth_telling(directory) <= worth_telling(path)


@pytest.mark.parametrize("path", DIRECTORIES[::5], ids=fixture_name)
def test_a_log_of_kafkas_goes_on(path: Path, tmp_path: Path) -> None:
    directory = copied(path, tmp_path / "data")
    log = opened(directory)
    end, epoch = log.view.end
    log.append([batch(end, 3, epoch=epoch), batch(end + 3, 2, epoch=epoch + 1)])
    log.flush(end + 5)
    log.truncate(end + 3)
    log.close()
    again = opened(directory)
    assert list(again.recovery.sentences()) == []
    assert again.view.end == (end + 3, epoch)
    assert batches_of(again)[-1].base_offset == end
    again.close()


SNAPSHOTS = sorted(
    path
    for path in FIXTURES.glob(f"kafka-4.[34].0/*/node-*/*/{PARTITION}/*.checkpoint")
    if int(path.name[:20])
)[::3]


@pytest.mark.parametrize("path", SNAPSHOTS, ids=fixture_name)
def test_a_snapshot_of_the_same_records_has_the_same_bytes(path: Path, tmp_path: Path) -> None:
    """As Kafka's, when it is written record by record."""
    data = path.read_bytes()
    content_of = checked_at(NoSync(), str(path))
    whole = batches_in(data)
    log = opened(tmp_path)
    key = OffsetAndEpoch(int(path.name[:20]), int(path.name[21:31]))
    writer = log.new_snapshot(
        key,
        content_of.last_contained_log_timestamp,
        content_of.kraft_version,
        content_of.voters,
        now_ms=whole[0].header.max_timestamp,
    )
    for record_batch in whole:
        if not record_batch.is_control:
            for record in record_batch.records():
                assert record.value is not None
                writer.append(record.value)
    writer.freeze()
    ours = Path(log.snapshot_path(key)).read_bytes()
    log.close()
    if {record_batch.header.max_timestamp for record_batch in whole} == {
        whole[0].header.max_timestamp
    }:
        assert ours == data
    assert [_timeless(record_batch) for record_batch in batches_in(ours)] == [
        _timeless(kept_batch) for kept_batch in whole
    ]


def _timeless(batch: RecordBatch) -> tuple[object, ...]:
    """A batch without the time at which it was written, and the CRC that has it in it."""
    header = batch.header._replace(base_timestamp=0, max_timestamp=0, crc=0)
    return header, batch.data[HEADER_SIZE:]
