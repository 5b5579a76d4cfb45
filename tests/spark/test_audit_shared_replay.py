"""One replay of a log serves verify-log and verify-snapshot, with the findings of both.

test_identities.py compares all that an audit has of fixtures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from kraftool.directory import file_report
from kraftool.directory.log_reader import summarize
from kraftool.reports.verify import snapshot_compare
from kraftool.spark.audit.directory_pass import read_once
from kraftool.spark.audit.examine import AuditedDirectory, examine
from kraftool.spark.audit.roots import FoundDirectory, find
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


def _result(audited: AuditedDirectory) -> object:
    return (
        audited.findings,
        audited.ignored,
        audited.summary.finding_counts,
        audited.summary.newest_snapshot_hash,
        [(snapshot.file, snapshot.scram_removals) for snapshot in audited.snapshots],
    )


def _items(root: Path) -> list[FoundDirectory]:
    return list(find([str(root)]).directories)


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
    assert read_once(str(path), lambda *at: seen.append(at)) is not None
    assert end not in seen
    newest = max(log.parent.glob("*.checkpoint"))
    newest.write_bytes(newest.read_bytes()[:-1])
    once = read_once(str(path), lambda *at: seen.append(at))
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
