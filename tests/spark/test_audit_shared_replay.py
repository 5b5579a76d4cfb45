"""One replay of a log serves verify-log and verify-snapshot, and finds what both find alone."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from kraftool.reports.verify import snapshot_compare
from kraftool.spark.audit.examine import PASSES, AuditedDirectory, examine, look, whole
from kraftool.spark.audit.roots import Item, find
from tests.spark.audit_cases import FIXTURES
from tests.spark.history_logs import (
    cleaned_log,
    leader_change,
    partition_record,
    topic_record,
    write_log,
    write_snapshot,
)
from tests.spark.test_same_findings_audit import edited_copy


def _alone(item: Item) -> AuditedDirectory:
    """A directory whose commands share nothing."""
    return whole([look(item, (), (command,)) for command in PASSES])


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
        assert _result(examine(item)) == _result(_alone(item)), item[0].directory.name


def test_of_edited_directories_both_find_the_same(tmp_path: Path) -> None:
    for seed in range(12):
        edited_copy(tmp_path / str(seed), seed)
    found = set()
    for item in _items(tmp_path):
        result = examine(item)
        assert _result(result) == _result(_alone(item)), item[0].directory.name
        found |= {finding.finding.code for finding in result.findings}
    assert {"KT-LOG-CRC"} <= found


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
    alone = _result(_alone(item))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the log was replayed a second time")

    monkeypatch.setattr(snapshot_compare, "SegmentsReplay", never)
    assert _result(examine(item)) == alone


def test_a_snapshot_that_differs_is_found_though_the_log_was_replayed(tmp_path: Path) -> None:
    path = _changing(tmp_path)
    other = _changing(tmp_path / "other")
    below = "__cluster_metadata-0"
    names = sorted(each.name for each in (path / below).glob("*.checkpoint"))
    # The state at 4 under the name of the one at 9, of which the epoch is the same.
    (path / below / names[2]).write_bytes((other / below / names[0]).read_bytes())
    (item,) = [item for item in _items(tmp_path) if item[0].directory.name == str(path)]
    result = examine(item)
    assert _result(result) == _result(_alone(item))
    assert "KT-SNAP-DIFFERS" in {finding.finding.code for finding in result.findings}


@pytest.mark.parametrize("start", [3, 5])
def test_a_log_that_begins_at_a_snapshot_is_replayed_from_the_same_one(
    tmp_path: Path, start: int
) -> None:
    cleaned_log(tmp_path, start)
    (item,) = _items(tmp_path)
    assert _result(examine(item)) == _result(_alone(item))
