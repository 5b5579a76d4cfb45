"""Histories in parts: several tasks write the same rows of one log as one task."""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.arrow.search import find_fleet
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import write_checkpoint_name
from kraftool.reports.state.load import load_state
from kraftool.spark.log_borders import borders
from kraftool.spark.tables.states import HistoryPart, write_states
from tests.spark.history_logs import (
    cleaned_log,
    leader_change,
    partition_record,
    topic_record,
    write_history,
    write_log,
    write_snapshot,
)
from tests.spark.test_states import DIRECTORIES
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark


def _in_parts(path: Path, sink: Any, split_bytes: int) -> int:
    """Write the history as tasks do that each have a part of it; return how many those are."""
    files = list(find_fleet([str(path)]).files)
    try:
        end = load_state(str(path)).end_offset
    except KraftoolError:
        end = 0
    starts = [0, *borders(files, end, split_bytes)]
    for start, stop in zip_longest(starts, starts[1:]):
        part = HistoryPart(start, stop)
        write_states(files, sink, newest=True, show_secrets=False, part=part)
    return len(starts)


def _every_row(sink: Any) -> dict[str, list[str]]:
    return {
        table: sorted(json.dumps(row, default=str, sort_keys=True) for row in sink.rows(table))
        for table in ("topics", "partitions", "topic_history", "partition_history")
    }


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_parts_of_a_history_are_together_the_whole(directory: str, collected: Any) -> None:
    whole, path = type(collected)(), FIXTURES / directory
    write_history(path, whole)
    _in_parts(path, collected, 1)
    assert _every_row(collected) == _every_row(whole)


def test_a_history_is_divided_at_snapshots_that_are_as_far_apart_as_asked(tmp_path: Path) -> None:
    path = write_log(
        tmp_path,
        [topic_record(), partition_record()],
        *([leader_change(1 + n % 2)] for n in range(98)),
    )
    for offset in (2, 30, 50, 60, 99):
        write_snapshot(path, offset)
    files = list(find_fleet([str(path)]).files)
    size = (path / "__cluster_metadata-0/00000000000000000000.log").stat().st_size
    assert borders(files, 100, size) == []
    assert borders(files, 100, size // 4) == [30, 60]
    assert borders(files, 100, 1) == [2, 30, 50, 60, 99]


@pytest.mark.parametrize("damaged", [2, 5, 8])
def test_a_part_whose_snapshot_is_damaged_begins_with_an_older_one(
    damaged: int, tmp_path: Path, collected: Any
) -> None:
    path = write_log(
        tmp_path,
        [topic_record(), partition_record()],
        *([leader_change(1 + n % 2)] for n in range(8)),
    )
    for offset in (2, 5, 8):
        write_snapshot(path, offset, whole=offset != damaged)
    assert _in_parts(path, collected, 1) == 4
    whole = type(collected)()
    write_history(path, whole)
    assert len(whole.rows("partition_history")) == 9
    assert _every_row(collected) == _every_row(whole)


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_part_without_a_whole_snapshot_before_it_begins_with_the_next_whole_one(
    is_missing: bool, tmp_path: Path, collected: Any
) -> None:
    path = cleaned_log(tmp_path, 3)
    if is_missing:
        (path / "__cluster_metadata-0" / write_checkpoint_name(3, 1)).unlink()
    files = list(find_fleet([str(path)]).files)
    for start, end in ((0, 3), (3, 8), (8, None)):
        part = HistoryPart(start, end)
        write_states(files, collected, newest=True, show_secrets=False, part=part)
    whole = type(collected)()
    write_history(path, whole)
    assert len(whole.rows("partition_history")) == 5
    assert _every_row(collected) == _every_row(whole)
