"""Which files a state is made of, where it stops, and what it says about what it lacks."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import crc32c
import pytest

from kraftool.decoders.batch import CRC_START, encode_batch
from kraftool.decoders.errors import KraftoolError
from kraftool.image.image import Provenance
from kraftool.image.state_hash import state_hash
from kraftool.reports.findings.finding import Severity
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.load import LoadedState, load_state
from tests.reports.state_logs import BEGIN, END, NO_OP, Logs, batch, level, stamp, topic
from tests.support.places import FIXTURES, LOG, PARTITION

DAMAGED = sorted((FIXTURES / "damaged").glob("*/*.log"))


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path / "data")


def names(state: LoadedState) -> list[str]:
    return sorted(state.image.topics.by_name)


def codes(state: LoadedState) -> list[str]:
    return [finding.code for finding in state.findings]


def refusal(path: object, *, at: int | None = None, at_time: int | None = None) -> str:
    with pytest.raises(KraftoolError) as raised:
        load_state(str(path), at=at, at_time=at_time)
    return f"{raised.value.message}\n{raised.value.hint}"


# --- what a state begins with ---------------------------------------------------------------------


def test_an_empty_log_is_the_empty_state(logs: Logs) -> None:
    path = logs.segment(0)
    for root in (logs.path, str(path)):
        state = load_state(root)
        assert (state.image.provenance.offset, state.end_offset, names(state)) == (0, 0, [])
        assert state.is_whole
    assert "there is no state at 1" in refusal(logs.path, at=1)


def test_an_empty_log_behind_a_snapshot_is_the_snapshots_state(logs: Logs) -> None:
    logs.snapshot(10, level(), topic("a"))
    logs.segment(10)
    state = load_state(logs.path)
    assert names(state) == ["a"]
    assert state.image.provenance == Provenance(
        last_offset=9, last_epoch=1, last_timestamp=stamp(1, 9)
    )
    assert state.is_whole


def test_the_0_0_checkpoint_is_the_state_until_the_log_has_a_record(logs: Logs) -> None:
    """The first leader writes to the log what format put into it."""
    checkpoint = logs.snapshot(0, level(), epoch=0)
    for segment in (None, logs.segment(0)):
        fresh = load_state(logs.path)
        assert (fresh.end_offset, fresh.snapshot) == (0, str(checkpoint)), segment
        assert fresh.image.features.metadata_version == 30
        assert fresh.is_whole
    logs.segment(0, [level()], [topic("a")])
    state = load_state(logs.path)
    assert (names(state), state.start_offset, state.snapshot) == (["a"], 0, "")
    assert state.is_whole


def test_a_damaged_0_0_checkpoint_is_no_state(logs: Logs) -> None:
    checkpoint = logs.snapshot(0, level(), epoch=0)
    checkpoint.write_bytes(checkpoint.read_bytes()[:-9])
    assert load_state(logs.path).image.features.metadata_version is None


def test_the_0_0_checkpoint_is_shown_where_it_is_named_itself(logs: Logs) -> None:
    path = logs.snapshot(0, level(), topic("a"), epoch=0)
    assert names(load_state(str(path))) == ["a"]


def test_the_newest_snapshot_that_is_old_enough_is_taken(logs: Logs) -> None:
    logs.segment(0, [level()], [topic("a")], [topic("b")], [topic("c")], [topic("d")])
    older = logs.snapshot(2, level(), topic("a"))
    newer = logs.snapshot(4, level(), topic("a"), topic("b"), topic("c"))
    taken = {at: load_state(logs.path, at=at).snapshot for at in range(6)}
    assert taken == {
        0: "", 1: "", 2: str(older), 3: str(older), 4: str(newer), 5: str(newer)
    }  # fmt: skip
    assert [names(load_state(logs.path, at=at)) for at in (0, 1, 2, 4, 5)] == [
        [], [], ["a"], ["a", "b", "c"], ["a", "b", "c", "d"]
    ]  # fmt: skip


def test_deleted_and_unfinished_snapshots_are_none(logs: Logs) -> None:
    for suffix in (".deleted", ".part"):
        path = logs.snapshot(2, level(), topic("a"))
        path.rename(f"{path}{suffix}")
    logs.segment(2, [topic("b")])
    state = load_state(logs.path)
    assert codes(state) == ["KT-SNAP-MISSING"]
    assert (state.start_offset, state.snapshot, names(state)) == (2, "", ["b"])
    assert "the log begins at 2" in refusal(logs.path, at=1)


def test_a_damaged_snapshot_is_passed_over_for_an_older_one_and_told(logs: Logs) -> None:
    logs.segment(2, [topic("b")], [topic("c")])
    older = logs.snapshot(2, level(), topic("a"))
    damaged = logs.snapshot(3, level(), topic("a"), topic("b"))
    data = bytearray(damaged.read_bytes())
    data[-100] ^= 1
    damaged.write_bytes(data)
    state = load_state(logs.path)
    assert (state.snapshot, names(state)) == (str(older), ["a", "b", "c"])
    assert "KT-SNAP-DAMAGE" in codes(state)


def test_a_damaged_snapshot_is_better_than_none(logs: Logs) -> None:
    logs.segment(2, [topic("b")])
    path = logs.snapshot(2, level(), topic("a"), footer=False)
    state = load_state(logs.path)
    assert (state.snapshot, names(state)) == (str(path), ["a", "b"])
    assert codes(state) == ["KT-SNAP-FORM"]


def test_a_snapshot_without_a_footer_is_not_whole(fixtures_dir: Path) -> None:
    path = next((fixtures_dir / "damaged/snapshot-without-footer").glob("*.checkpoint"))
    assert codes(load_state(str(path))) == ["KT-SNAP-FORM"]


def test_a_log_that_begins_above_the_newest_snapshot_is_not_put_onto_it(logs: Logs) -> None:
    """Kafka refuses to start there."""
    logs.snapshot(2, level(), topic("a"))
    logs.segment(5, [topic("b")])
    state = load_state(logs.path)
    assert (state.end_offset, names(state)) == (2, ["a"])
    assert codes(state) == ["KT-SNAP-MISSING"]
    assert load_state(logs.path, at=2).is_whole
    message = refusal(logs.path, at=6)
    assert "nothing that joins the snapshot at 2" in message
    assert "there are states at 2" in message


def test_an_offset_between_an_old_snapshot_and_the_log_has_no_state(logs: Logs) -> None:
    logs.snapshot(2, level(), topic("a"))
    logs.snapshot(6, level(), topic("a"), topic("b"))
    logs.segment(5, [topic("b")], [topic("c")])
    assert names(load_state(logs.path)) == ["a", "b", "c"]
    assert names(load_state(logs.path, at=2)) == ["a"]
    message = refusal(logs.path, at=4)
    assert "there is no state at 4" in message
    assert "there are states at 2 and from 6 on" in message
    assert "there is no state at 1: no snapshot is that old" in refusal(logs.path, at=1)


def test_a_snapshot_beyond_the_log_is_the_state_as_kafka_wipes_the_log(logs: Logs) -> None:
    logs.segment(0, [level()], [topic("a")])
    path = logs.snapshot(9, level(), topic("z"))
    state = load_state(logs.path)
    assert (names(state), state.end_offset, codes(state)) == (["z"], 9, ["KT-SNAP-AHEAD"])
    assert state.findings[0].file == str(path)
    earlier = load_state(logs.path, at=2)
    assert (names(earlier), codes(earlier)) == (["a"], [])


def test_a_snapshot_where_the_log_ends_is_not_beyond_it(logs: Logs) -> None:
    logs.segment(0, [level()], [topic("a")])
    logs.snapshot(2, level(), topic("a"))
    assert load_state(logs.path).is_whole


# --- one file -------------------------------------------------------------------------------------


def test_a_segment_by_itself_that_begins_above_0_says_what_it_lacks(logs: Logs) -> None:
    change = {
        "partitionId": 0, "topicId": "AAAAAAAAAAAAAAAAAAFooA", "isr": None, "leader": 1,
        "replicas": None, "removingReplicas": None, "addingReplicas": None,
        "leaderRecoveryState": -1,
    }  # fmt: skip
    path = logs.segment(7, [topic("b")], [("PartitionChangeRecord", 0, change)], [NO_OP])
    state = load_state(str(path))
    assert (state.start_offset, state.end_offset, names(state)) == (7, 10, ["b"])
    assert [(finding.code, finding.severity) for finding in state.findings] == [
        ("KT-SNAP-MISSING", Severity.WARNING),
        ("KT-SNAP-MISSING", Severity.INFO),
    ]
    assert "1 records are about things that it does not have" in state.findings[1].text
    assert "begins at 7; there is no state at 3" in refusal(path, at=3)
    assert "ends at 10; there is no state at 11" in refusal(path, at=11)
    assert "from 7 to 10" in refusal(path, at=11)


def test_a_segment_of_any_name_begins_where_its_first_batch_does(logs: Logs) -> None:
    path = logs.segment(7, [topic("b")])
    copy = path.rename(path.parent / "copy.log")
    state = load_state(str(copy))
    assert (state.start_offset, state.end_offset) == (7, 8)


def test_a_checkpoint_by_itself_has_one_state(logs: Logs) -> None:
    path = logs.snapshot(5, level(), topic("a"))
    assert names(load_state(str(path), at=5)) == ["a"]
    assert names(load_state(str(path), at_time=stamp(1, 4))) == ["a"]
    assert "is the state at 5" in refusal(path, at=4)
    assert "is the state at 2023-11-14T22:13:24.001Z" in refusal(path, at_time=stamp(1, 3))


def test_a_topics_log_holds_no_state(tmp_path: Path) -> None:
    folder = tmp_path / "orders-a-0"
    folder.mkdir()
    data = encode_batch([(b"k", b"hello")], base_offset=0, epoch=1, timestamp=1)
    (folder / LOG).write_bytes(data)
    for path in (folder, folder / LOG):
        assert "is the log of a topic, which has no metadata" in refusal(path)


# --- offsets --------------------------------------------------------------------------------------


def test_an_offset_inside_a_batch_ends_inside_it(logs: Logs) -> None:
    logs.segment(0, [level(), topic("a"), topic("b"), topic("c")], [topic("d")])
    for at in range(6):
        state = load_state(logs.path, at=at)
        assert state.image.provenance.offset == at
        assert state.end_offset == at
        assert names(state) == list("abcd")[: max(at - 1, 0)]
    assert state.image.provenance.last_timestamp == stamp(1, 4)


def test_a_batch_with_fewer_records_than_offsets_ends_where_it_was_asked_to(logs: Logs) -> None:
    path = logs.segment(0, [level(), topic("a"), NO_OP])
    data = bytearray(path.read_bytes())
    data[23:27] = (9).to_bytes(4, "big")  # lastOffsetDelta
    data[17:21] = crc32c.crc32c(bytes(data[21:])).to_bytes(4, "big")
    path.write_bytes(data)
    for at in (2, 5, 10):
        state = load_state(logs.path, at=at)
        assert (state.end_offset, state.image.provenance.offset) == (at, at)
    assert load_state(logs.path).end_offset == 10


def test_a_batch_over_a_snapshots_offset_counts_from_there(logs: Logs) -> None:
    logs.segment(0, [level(), topic("a"), topic("b"), topic("c")])
    logs.snapshot(2, level(), topic("a"))
    state = load_state(logs.path)
    assert names(state) == ["a", "b", "c"], "a topic that is made twice would be a finding"
    assert state.is_whole
    assert state.records == 2 + 2
    at = load_state(logs.path, at=2)
    assert (names(at), at.image.provenance.last_timestamp) == (["a"], stamp(1, 1))


def test_what_an_open_transaction_did_is_not_visible(logs: Logs) -> None:
    logs.segment(0, [level(), topic("a")], [BEGIN, topic("b")], [topic("c")], [END, topic("d")])
    seen = {at: names(load_state(logs.path, at=at)) for at in range(8)}
    assert seen == {
        0: [], 1: [], 2: ["a"], 3: ["a"], 4: ["a"], 5: ["a"],
        6: ["a", "b", "c"], 7: ["a", "b", "c", "d"],
    }  # fmt: skip
    inside = load_state(logs.path, at=5)
    assert inside.open_transaction is not None
    assert (inside.open_transaction.offset, inside.open_transaction.records) == (2, 2)
    assert (inside.image.provenance.offset, inside.end_offset) == (2, 5)
    assert load_state(logs.path, at=6).open_transaction is None


def test_an_offset_beyond_the_end_is_refused_with_the_offsets_that_there_are(logs: Logs) -> None:
    logs.segment(0, [level()], [topic("a")])
    message = refusal(logs.path, at=3)
    assert "the log ends at 2; there is no state at 3" in message
    assert "there are states from 0 to 2" in message


def test_a_time_is_that_of_the_last_batch_appended_by_then(logs: Logs) -> None:
    logs.segment(0, [level()], [topic("a")], [topic("b")], [topic("c")])
    logs.snapshot(2, level(), topic("a"))
    for offset, there in enumerate([[], ["a"], ["a", "b"], ["a", "b", "c"]]):
        for moment in (stamp(1, offset), stamp(1, offset) + 999):
            state = load_state(logs.path, at_time=moment)
            assert (names(state), state.end_offset) == (there, offset + 1)
    assert load_state(logs.path, at_time=stamp(1, 0) - 1).end_offset == 0
    assert load_state(logs.path, at_time=2**62).end_offset == 4


def test_a_time_before_all_that_is_left_is_refused(logs: Logs) -> None:
    logs.snapshot(6, level(), topic("a"))
    logs.segment(4, [NO_OP], [NO_OP], [topic("b")])
    message = refusal(logs.path, at_time=stamp(1, 3))
    assert "there is no state at 2023-11-14T22:13:23.001Z" in message
    assert "the oldest state is that at 6, of 2023-11-14T22:13:25.001Z" in message


# --- damage ---------------------------------------------------------------------------------------


def test_a_log_ends_at_its_first_damage(logs: Logs) -> None:
    path = logs.segment(0, [level()], [topic("a")], [topic("b")], [topic("c")])
    first = len(batch(0, [level()])) + len(batch(1, [topic("a")]))
    data = bytearray(path.read_bytes())
    data[first + 70] ^= 1
    path.write_bytes(data)
    state = load_state(logs.path)
    assert (names(state), state.end_offset, codes(state)) == (["a"], 2, ["KT-LOG-CRC"])
    assert (state.findings[0].position, state.findings[0].offset) == (first + CRC_START - 4, 2)
    assert load_state(logs.path, at=2).is_whole
    message = refusal(logs.path, at=3)
    assert "the log is damaged at 2; there is no state at 3" in message
    assert f"position {first + CRC_START - 4}" in message


def test_damage_below_the_snapshot_ends_the_log_too(logs: Logs) -> None:
    """Kafka scans all of the log when it starts, cuts it there, and wipes what is left."""
    path = logs.segment(0, [level()], [topic("a")], [topic("b")], [topic("c")])
    logs.snapshot(3, level(), topic("a"), topic("b"))
    data = bytearray(path.read_bytes())
    data[70] ^= 1
    path.write_bytes(data)
    state = load_state(logs.path)
    assert (names(state), state.end_offset, codes(state)) == (["a", "b"], 3, ["KT-LOG-CRC"])


def test_offsets_that_leave_some_out_or_go_back_end_the_log(logs: Logs) -> None:
    path = logs.segment(0, [level()], [topic("a")])
    whole = path.read_bytes()
    for offset in (3, 1, 0):
        path.write_bytes(whole + batch(offset, [topic("z")]) + batch(2, [topic("y")]))
        state = load_state(logs.path)
        assert (names(state), codes(state)) == (["a"], ["KT-LOG-GAP"])
        assert (state.findings[0].expected, state.findings[0].found) == ("2", str(offset))


def test_a_missing_segment_ends_the_log(logs: Logs) -> None:
    logs.segment(0, [level()], [topic("a")])
    logs.segment(3, [topic("c")])
    state = load_state(logs.path)
    assert (names(state), state.end_offset, codes(state)) == (["a"], 2, ["KT-LOG-GAP"])


def test_a_torn_tail_costs_nothing_that_was_committed(logs: Logs) -> None:
    path = logs.segment(0, [level()], [topic("a")])
    path.write_bytes(path.read_bytes()[:-5])
    state = load_state(logs.path)
    assert (names(state), state.end_offset, codes(state)) == ([], 1, ["KT-LOG-TORN-TAIL"])


def test_the_end_that_a_running_kafka_is_writing_is_no_damage(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = logs.segment(0, [level()], [topic("a")])
    path.write_bytes(path.read_bytes()[:-5])
    monkeypatch.setattr(LogFile, "is_live", lambda file: True)
    state = load_state(logs.path)
    assert [(finding.severity, finding.undecoded) for finding in state.findings] == [
        (Severity.INFO, False)
    ]
    assert state.is_whole


def test_a_record_that_does_not_fit_is_told_and_passed_over(logs: Logs) -> None:
    logs.segment(0, [level()], [topic("a"), topic("a")], [topic("b")])
    state = load_state(logs.path)
    assert (names(state), state.end_offset, codes(state)) == (["a", "b"], 3 + 1, ["KT-LOG-REPLAY"])
    assert state.findings[0].offset == 2


@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.parent.name)
def test_every_damaged_log_gives_a_state_and_a_finding(path: Path) -> None:
    state = load_state(str(path))
    harmless = path.parent.name in ("empty-files", "garbage-index")
    assert state.is_whole == harmless, codes(state)


# --- streams --------------------------------------------------------------------------------------


def tar_of(path: Path, *directories: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for number, directory in enumerate(directories):
            archive.add(directory, f"node-{number}")
    return path


@pytest.mark.parametrize(
    "node", ["kafka-4.3.0/dynamic-quorum/node-4", "kafka-3.3.2/static-single/node-1"]
)
def test_a_tar_has_the_state_of_its_directory(
    node: str, fixtures_dir: Path, tmp_path: Path
) -> None:
    directory = fixtures_dir / node / "data"
    archive = tar_of(tmp_path / "node.tar.gz", directory)
    for at in (None, 140):
        ours, theirs = (load_state(str(path), at=at) for path in (archive, directory))
        assert state_hash(ours.image) == state_hash(theirs.image)
        assert ours.image.provenance == theirs.image.provenance
        assert (ours.start_offset, ours.end_offset) == (theirs.start_offset, theirs.end_offset)


def test_an_archive_of_two_nodes_is_not_mixed(fixtures_dir: Path, tmp_path: Path) -> None:
    nodes = [fixtures_dir / f"kafka-4.3.0/dynamic-quorum/node-{number}/data" for number in (1, 2)]
    assert "2 data directories in it" in refusal(tar_of(tmp_path / "two.tar.gz", *nodes))


def test_what_is_no_archive_of_a_node_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
    assert refusal(path)


def test_a_directory_that_was_formatted_and_never_started(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    target = tmp_path / "data"
    shutil.copytree(fixtures_dir / "kafka-4.4.0/dynamic-quorum/node-1/data", target)
    folder = target / PARTITION
    folder.chmod(0o755)
    for path in folder.iterdir():
        if not path.name.startswith(f"{0:020}-"):
            path.unlink()
    state = load_state(str(target))
    assert (state.end_offset, names(state), state.is_whole) == (0, [], True)
