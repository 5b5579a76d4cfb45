"""Directories that Kafka wrote, watched while they change: only what is new is read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.lock import Lock, LockState
from kraftool.storage.paths import open_path
from kraftool.storage.source import FileSource
from kraftool.watching import watched_segment
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import quorum_report
from kraftool.watching.voter_state import Commit

QUORUM = "kafka-4.3.0/dynamic-quorum/node-{}/data"
LOG = f"__cluster_metadata-0/{0:020}.log"


@pytest.fixture
def directory(fixtures_dir: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    shutil.copytree(fixtures_dir / QUORUM.format(2), tmp_path / "data")
    return tmp_path / "data"


def _readings(fixtures_dir: Path, *nodes: int) -> tuple[DirectoryReading, ...]:
    return tuple(DirectoryWatch(str(fixtures_dir / QUORUM.format(node))).read() for node in nodes)


def _positions(path: Path) -> list[int]:
    with FileSource(str(path)) as source:
        return [item.position for item in scan(source.read_at)]


def test_a_look_tells_what_dump_tells(fixtures_dir: Path) -> None:
    look = _readings(fixtures_dir, 2)[0]
    assert look.node.node_id == 2
    assert look.node.directory_id == "vuSe5hpCRzWlSfeete_vAw"
    assert look.quorum_state is not None
    assert (look.quorum_state.leader_id, look.quorum_state.leader_epoch) == (2, 3)
    assert (look.log_end_offset, look.last_epoch) == (224, 3)
    assert look.snapshots == ((0, 0), (85, 3), (153, 3), (203, 3))
    assert [
        (leader_change.epoch, leader_change.leader_id) for leader_change in look.leader_changes
    ] == [
        (1, 2),
        (2, 3),
        (3, 2),
    ]
    assert look.voters is not None
    assert sorted(voter.id for voter in look.voters.voters) == [2, 3, 4]
    assert look.voters.offset == 80, "where the log has it, not the snapshots that repeat it"
    assert look.previous_voters is not None
    assert sorted(voter.id for voter in look.previous_voters.voters) == [1, 2, 3, 4]
    assert look.is_complete
    assert look.problem == ""


def test_directories_together_tell_of_the_quorum(fixtures_dir: Path) -> None:
    report = quorum_report(Picture(at_ms=0, directories=_readings(fixtures_dir, 1, 2, 3, 4)))
    assert not report.is_live
    assert (report.leader_id, report.epoch) == (2, 3)
    assert report.voters.commit is Commit.COMMITTED
    assert sorted(voter.id for voter in report.voters.now) == [2, 3, 4]
    rows = {replica.id: replica for replica in report.replicas}
    assert rows[1].role == "observer", "it was removed"
    assert rows[1].lag == 224 - 81
    assert rows[2].role == "voter"
    assert report.tolerance.failures is None
    reasons = [statement.reason for statement in report.statements]
    assert len(reasons) == 1, "all know of the newest voters"
    assert "node-1/data is stale: ends at 81, 143 behind " in reasons[0]


def test_a_voter_set_that_only_one_directory_has_is_not_committed(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    """Every voter's directory is there, and most end before the record."""
    looks = []
    for number in (2, 3, 4):
        copy = tmp_path / f"node-{number}"
        shutil.copytree(fixtures_dir / QUORUM.format(number), copy)
        for path in (copy / "__cluster_metadata-0").glob("*.checkpoint"):
            if not path.name.startswith(f"{0:020}"):
                path.unlink()
        log = copy / LOG
        if number != 2 and log.exists():
            with FileSource(str(log)) as source:
                cut = batch_with(source, 80)
            os.truncate(log, cut.position)
        looks.append(DirectoryWatch(str(copy)).read())
    report = quorum_report(Picture(at_ms=0, directories=tuple(looks)))
    assert report.voters.commit is Commit.UNCOMMITTED
    assert sorted(voter.id for voter in report.voters.before) == [1, 2, 3, 4]
    assert any(
        "The directories have different voters" in statement.reason
        for statement in report.statements
    )


def test_only_what_is_new_is_read(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = directory / LOG
    whole = log.read_bytes()
    seen, middle = _positions(log)[-4:-2]
    log.write_bytes(whole[:middle])
    read: list[tuple[int, int]] = []
    plain = FileSource.read_at

    def noted(self: FileSource, position: int, size: int) -> bytes:
        data = plain(self, position, size)
        if self.name.endswith(".log"):
            read.append((position, len(data)))
        return data

    monkeypatch.setattr(FileSource, "read_at", noted)
    watch = DirectoryWatch(str(directory))
    first = watch.read()
    read.clear()
    again = watch.read()
    assert read == [], "nothing changed"
    assert again.stamp == first.stamp
    with log.open("ab") as file:
        file.write(whole[middle:])
    last = watch.read()
    assert last.log_end_offset == 224
    assert last.stamp != first.stamp
    assert first.log_end_offset is not None
    assert first.log_end_offset < 224
    assert all(position >= seen for position, _ in read), "from the last batch that was seen on"


def batch_with(source: FileSource, offset: int) -> RecordBatch:
    """The first batch that ends at an offset or behind it."""
    for batch in scan(source.read_at):
        assert isinstance(batch, RecordBatch)
        if batch.last_offset >= offset:
            return batch
    raise AssertionError(f"no batch ends at offset {offset} or behind it")


def test_a_log_that_was_truncated_is_read_again(directory: Path) -> None:
    watch = DirectoryWatch(str(directory))
    assert watch.read().log_end_offset == 224
    log = directory / LOG
    with FileSource(str(log)) as source:
        first = batch_with(source, 69)
    os.truncate(log, first.position)
    look = watch.read()
    assert look.log_end_offset == 69
    assert [leader_change.epoch for leader_change in look.leader_changes] == [1, 2], (
        "and forgets what was in it"
    )


def test_a_last_batch_that_lost_its_end_is_no_longer_counted(directory: Path) -> None:
    """Its header is still there, as after a loss of power."""
    watch = DirectoryWatch(str(directory))
    assert watch.read().log_end_offset == 224
    log = directory / LOG
    os.truncate(log, log.stat().st_size - 10)
    look = watch.read()
    assert look.log_end_offset == 223
    assert "is damaged from position" in look.problem


def test_a_torn_end_is_told_and_goes_when_the_rest_comes(directory: Path) -> None:
    log = directory / LOG
    whole = log.read_bytes()
    log.write_bytes(whole[:-10])
    watch = DirectoryWatch(str(directory))
    look = watch.read()
    assert look.log_end_offset == 223
    assert "is damaged from position" in look.problem
    log.write_bytes(whole)
    look = watch.read()
    assert (look.log_end_offset, look.problem) == (224, "")


def test_half_a_batch_of_a_running_node_is_damage_once_two_looks_see_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Lock(state=LockState.HELD)
    monkeypatch.setattr("kraftool.watching.directory.lock_holder", lambda path: held)
    log = directory / LOG
    whole = log.read_bytes()
    last = _positions(log)[-1]
    log.write_bytes(whole[:last])
    watch = DirectoryWatch(str(directory))
    assert watch.read().problem == ""
    for more in (10, 20):
        log.write_bytes(whole[: last + more])
        problem = watch.read().problem
        assert problem == ("" if more == 10 else f"{log.name} is damaged from position {last} on")
    log.write_bytes(whole)
    assert watch.read().problem == ""


def test_a_large_segment_shows_its_end_at_once_and_its_elections_in_time(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by the index, as Kafka finds it; the rest is looked through in slices."""
    monkeypatch.setattr(watched_segment, "_TAIL", 1000)
    monkeypatch.setattr(watched_segment, "_SLICE", 4000)
    watch = DirectoryWatch(str(directory))
    first = watch.read(budget_s=0)
    assert first.log_end_offset == 224
    assert not first.is_complete
    assert first.leader_changes == ()
    look = first
    while not look.is_complete:
        look = watch.read()
    assert [leader_change.epoch for leader_change in look.leader_changes] == [1, 2, 3]
    assert look.voters is not None
    assert look.voters.offset == 80


def test_a_batch_with_a_wrong_crc_ends_the_log(directory: Path) -> None:
    """As Kafka's next start has it, which cuts the log before the batch."""
    log = directory / LOG
    damaged, following = _positions(log)[-3:-1]
    data = bytearray(log.read_bytes())
    data[following - 1] ^= 1
    log.write_bytes(data)
    look = DirectoryWatch(str(directory)).read()
    assert look.log_end_offset == 204
    assert f"is damaged from position {damaged} on" in look.problem


def test_damage_before_the_end_of_a_large_segment_is_reported(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_segment, "_TAIL", 1000)
    monkeypatch.setattr(watched_segment, "_SLICE", 4000)
    log = directory / LOG
    damaged, following = _positions(log)[1:3]
    data = bytearray(log.read_bytes())
    data[following - 1] ^= 1
    log.write_bytes(data)
    look = (watch := DirectoryWatch(str(directory))).read(budget_s=0)
    assert look.log_end_offset == 224
    while not look.is_complete:
        look = watch.read()
    assert f"is damaged from position {damaged} on" in look.problem


def test_an_index_that_lies_is_not_believed(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_segment, "_TAIL", 1000)
    index = directory / LOG.replace(".log", ".index")
    index.write_bytes((100).to_bytes(4, "big") + (777).to_bytes(4, "big"))
    assert DirectoryWatch(str(directory)).read().log_end_offset == 224


def test_what_is_no_directory_is_a_problem_and_may_come_later(
    directory: Path, tmp_path: Path
) -> None:
    watch = DirectoryWatch(str(tmp_path / "later"))
    assert watch.read().problem == "no such file or directory"
    shutil.move(directory, tmp_path / "later")
    assert watch.read().problem == ""
    file = DirectoryWatch(str(tmp_path / "later" / LOG)).read()
    assert (file.problem, file.is_readable) == ("it is not a directory", False)


@pytest.mark.parametrize(
    "damaged", ["garbage-log", "broken-quorum-state", "empty-files", "zero-filled-tail"]
)
def test_damage_is_a_problem_and_no_error(
    damaged: str, fixtures_dir: Path, directory: Path
) -> None:
    for path in (fixtures_dir / "damaged" / damaged).rglob("*"):
        if path.is_file() and path.name != "SOURCE":
            target = next(directory.rglob(path.name), directory / LOG)
            shutil.copy(path, target)
    look = DirectoryWatch(str(directory)).read()
    assert look.problem
    assert look.node.node_id in (2, None)


def test_every_directory_that_kafka_left_can_be_looked_at(fixtures_dir: Path) -> None:
    seen = 0
    for path in sorted(fixtures_dir.glob("kafka-*/*/node-*/data")):
        look = DirectoryWatch(str(path)).read()
        listed = [entry for entry in open_path(str(path)).entries() if isinstance(entry, Entry)]
        assert any(entry.place is EntryPlace.ROOT for entry in listed)
        assert look.node.node_id is not None, path
        assert look.problem == "", path
        seen += 1
    assert seen > 20
