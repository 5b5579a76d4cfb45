"""One replay of a log serves verify-log and verify-snapshot, with the findings of both."""

from __future__ import annotations

import shutil
from pathlib import Path
from struct import pack
from typing import Any, NamedTuple

import pytest

pytest.importorskip("pyspark")

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.walk import Walk
from kraftool.directory import file_report
from kraftool.directory.log_reader import summarize
from kraftool.reports.verify import snapshot_compare
from kraftool.reports.verify.log_parts import joined
from kraftool.spark.audit.directory_pass import read_once
from kraftool.spark.audit.examine import (
    AuditedDirectory,
    examine,
    is_shown_sound,
    look,
    whole,
)
from kraftool.spark.audit.examined import looks_at
from kraftool.spark.audit.roots import Item, find
from tests.spark.audit_cases import by_each_command
from tests.spark.history_logs import (
    cleaned_log,
    leader_change,
    partition_record,
    topic_record,
    write_log,
    write_snapshot,
)
from tests.spark.test_same_findings_audit import edited_copy
from tests.support.places import FIXTURES


def _result(audited: AuditedDirectory) -> object:
    return (
        audited.findings,
        audited.ignored,
        audited.summary.finding_counts,
        audited.summary.newest_snapshot_hash,
        [(snapshot.file, snapshot.scram_removals) for snapshot in audited.snapshots],
    )


def _items(root: Path) -> list[Item]:
    return list(find([str(root)]).items)


def test_of_fixtures_both_find_the_same() -> None:
    items = _items(FIXTURES / "kafka-4.3.0") + _items(FIXTURES / "damaged")
    assert len(items) > 30
    for item in items:
        assert _result(examine(item)) == _result(by_each_command(item)), item[0].directory.name


def test_of_edited_directories_both_find_the_same(tmp_path: Path) -> None:
    for seed in range(12):
        edited_copy(tmp_path / str(seed), seed)
    codes = set()
    for item in _items(tmp_path):
        result = examine(item)
        assert _result(result) == _result(by_each_command(item)), item[0].directory.name
        codes |= {finding.finding.code for finding in result.findings}
    assert {"KT-LOG-CRC"} <= codes


def _changing(tmp_path: Path) -> Path:
    level = "FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30}
    changes = ([leader_change(1 + number % 2)] for number in range(8))
    path = write_log(tmp_path, [level, topic_record(), partition_record()], *changes)
    for offset in (4, 6, 9):
        write_snapshot(path, offset)
    return path


def test_a_sound_log_is_replayed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _changing(tmp_path)
    (item,) = _items(tmp_path)
    alone = _result(by_each_command(item))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the log was replayed a second time")

    monkeypatch.setattr(snapshot_compare, "SegmentsReplay", never)
    assert _result(examine(item)) == alone


def test_the_three_commands_read_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _changing(tmp_path)
    (item,) = _items(tmp_path)
    summaries = []

    def counted(*arguments: Any, **options: Any) -> Any:
        summaries.append(options)
        return summarize(*arguments, **options)

    monkeypatch.setattr(file_report, "summarize", counted)
    examine(item)
    below = path / "__cluster_metadata-0"
    with_batches = [*below.glob("*.log"), *path.rglob("*.checkpoint")]
    assert len(summaries) == len(with_batches) == 4


def test_progress_has_the_log_that_is_read_again_for_the_state(tmp_path: Path) -> None:
    """The state begins with the snapshot before the newest one if that is damaged."""
    path = _changing(tmp_path)
    log = path / "__cluster_metadata-0/00000000000000000000.log"
    end = str(log), log.stat().st_size
    seen: list[tuple[str, int]] = []
    assert read_once(str(path), lambda *at: seen.append(at), replays=True) is not None
    assert end not in seen
    newest = max(log.parent.glob("*.checkpoint"))
    newest.write_bytes(newest.read_bytes()[:-1])
    once = read_once(str(path), lambda *at: seen.append(at), replays=False)
    assert once is not None
    assert once.examination.directories[0].state is not None
    assert end in seen


def test_a_snapshot_that_differs_is_found_though_the_log_was_replayed(tmp_path: Path) -> None:
    path = _changing(tmp_path)
    other = _changing(tmp_path / "other")
    below = "__cluster_metadata-0"
    names = sorted(checkpoint.name for checkpoint in (path / below).glob("*.checkpoint"))
    # The state at 4 under the name of the one at 9, of which the epoch is the same.
    (path / below / names[2]).write_bytes((other / below / names[0]).read_bytes())
    (item,) = [item for item in _items(tmp_path) if item[0].directory.name == str(path)]
    result = examine(item)
    assert _result(result) == _result(by_each_command(item))
    assert "KT-SNAP-DIFFERS" in {finding.finding.code for finding in result.findings}


@pytest.mark.parametrize("start", [3, 5])
def test_a_log_that_begins_at_a_snapshot_is_replayed_from_the_same_one(
    tmp_path: Path, start: int
) -> None:
    cleaned_log(tmp_path, start)
    (item,) = _items(tmp_path)
    assert _result(examine(item)) == _result(by_each_command(item))


class _Divided(NamedTuple):
    """A directory that many tasks look at."""

    audited: AuditedDirectory
    parts: int
    """The number of tasks that replay its log."""
    is_read_again: bool


def _divided(item: Item, large: int = 1) -> _Divided:
    looks = looks_at(0, item, large)
    parts = [look(item, (), part=one.part, is_divided=one.is_divided) for one in looks]
    replays = sum(one.part is not None for one in looks)
    is_read_again = bool(replays) and not is_shown_sound(parts)
    if is_read_again:
        parts = [look(item)]
    return _Divided(whole(parts), replays, is_read_again)


def test_of_fixtures_a_replay_in_parts_finds_the_same() -> None:
    most = 0
    for item in _items(FIXTURES / "kafka-4.3.0") + _items(FIXTURES / "damaged"):
        divided = _divided(item)
        most = max(most, divided.parts)
        assert _result(divided.audited) == _result(examine(item)), item[0].directory.name
    assert most > 1


def test_of_edited_directories_a_replay_in_parts_finds_the_same(tmp_path: Path) -> None:
    for seed in range(12):
        edited_copy(tmp_path / str(seed), seed)
    for item in _items(tmp_path):
        assert _result(_divided(item).audited) == _result(examine(item)), item[0].directory.name


def write_index(log: Path, by: int = 0) -> None:
    """An index with an entry for each batch except the first, at places some bytes off."""
    data = log.read_bytes()
    batches = [item for item in Walk(lambda at, size: data[at : at + size]) if item.position]
    entries = (
        pack(">ii", item.last_offset, item.position + by)
        for item in batches
        if isinstance(item, RecordBatch)
    )
    log.with_suffix(".index").write_bytes(b"".join(entries))


@pytest.mark.parametrize("damage", ["", "snapshot in the middle", "log", "another state", "index"])
def test_a_log_is_replayed_from_snapshot_to_snapshot(tmp_path: Path, damage: str) -> None:
    below = _changing(tmp_path) / "__cluster_metadata-0"
    first, middle, _ = sorted(below.glob("*.checkpoint"))
    log = below / "00000000000000000000.log"
    write_index(log)
    if damage == "snapshot in the middle":
        middle.write_bytes(middle.read_bytes()[:-40])
    elif damage == "another state":
        middle.write_bytes(first.read_bytes())
    elif damage == "index":
        write_index(log, by=1)
    elif damage:
        data = bytearray(log.read_bytes())
        data[len(data) // 2] ^= 4
        log.write_bytes(data)
    (item,) = _items(tmp_path)
    divided = _divided(item)
    assert divided.parts == 4
    assert divided.is_read_again == bool(damage), "only a log that is not sound is replayed again"
    assert _result(divided.audited) == _result(examine(item))


@pytest.mark.parametrize("torn", ["half a batch", "zeros"])
def test_what_is_torn_behind_the_last_batch_is_no_reason_to_read_a_log_again(
    tmp_path: Path, torn: str
) -> None:
    log = _changing(tmp_path) / "__cluster_metadata-0/00000000000000000000.log"
    data = log.read_bytes()
    batch = encode_batch([(None, b"")], base_offset=_end_of(data), epoch=1, timestamp=2_000)
    log.write_bytes(data + (bytes(500) if torn == "zeros" else batch[:-10]))
    (item,) = _items(tmp_path)
    divided = _divided(item)
    assert divided.parts == 4
    assert not divided.is_read_again
    assert _result(divided.audited) == _result(examine(item))


def _end_of(data: bytes) -> int:
    batches = Walk(lambda at, size: data[at : at + size])
    return max(item.last_offset for item in batches if isinstance(item, RecordBatch)) + 1


def test_a_log_that_grows_while_its_parts_are_replayed_is_not_read_again(tmp_path: Path) -> None:
    log = _changing(tmp_path) / "__cluster_metadata-0/00000000000000000000.log"
    (item,) = _items(tmp_path)
    looks = looks_at(0, item, 1)
    parts = [look(item, (), is_divided=True) for one in looks if one.part is None]
    before = log.read_bytes()
    value = encode_record(*leader_change(2))
    more = encode_batch([(None, value)], base_offset=_end_of(before), epoch=1, timestamp=2_000)
    log.write_bytes(before + more)
    parts += [look(item, (), part=one.part) for one in looks if one.part is not None]
    assert is_shown_sound(parts)
    log.write_bytes(before)
    assert _result(whole(parts)) == _result(examine(item))


def test_parts_do_not_begin_within_a_transaction(tmp_path: Path) -> None:
    """A snapshot there has none of its records, so a replay from there knows of no transaction."""
    begin = "BeginTransactionRecord", 0, {"name": "t"}
    level = "FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30}
    first = [[level, topic_record(), partition_record()], [leader_change(2)]]
    later = [[leader_change(number)] for number in (1, 2)]
    path = write_log(tmp_path, *first, [begin], [leader_change(1)], *later)
    write_snapshot(path, 6)
    # The snapshot that a replay from 6 on would lead to, if there were no transaction.
    other = write_log(tmp_path / "other", *first, [level], [level], *later)
    write_snapshot(other, 8)
    below = "__cluster_metadata-0"
    (snapshot,) = (other / below).glob("*.checkpoint")
    shutil.copy(snapshot, path / below)
    (item,) = [item for item in _items(tmp_path) if item[0].directory.name == str(path)]
    divided = _divided(item)
    assert divided.parts > 1
    assert "KT-SNAP-DIFFERS" in {finding.finding.code for finding in divided.audited.findings}
    assert _result(divided.audited) == _result(examine(item)) == _result(by_each_command(item))


def test_parts_with_other_borders_than_their_snapshots_are_not_the_whole(tmp_path: Path) -> None:
    _changing(tmp_path)
    (item,) = _items(tmp_path)
    replayed = [
        part.replayed
        for one in looks_at(0, item, 1)
        if one.part is not None
        for part in [look(item, (), part=one.part)]
        if part.replayed is not None
    ]
    hashes = {part.states.base_file: part.base_hash for part in replayed if part.base_hash}
    end = replayed[-1].next
    assert joined(replayed, hashes, end) is not None
    assert joined(replayed, hashes, end + 1) is None, "the log goes on"
    assert joined(replayed, {}, end) is None, "a snapshot was not verified"
    lacking = [part for part in replayed if part is not replayed[1]]
    assert joined(lacking, hashes, end) is None, "a part is missing"
