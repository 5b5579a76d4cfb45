"""What an examination keeps of a log's batches: enough to know that logs are the same."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from hypothesis import given
from hypothesis import strategies as st

from kraftool.reports.doctor.log_statistics import LogStatistics
from kraftool.spark.audit.examined import deal
from kraftool.spark.audit.identities import MOST, BatchIdentities, identities_of, may_differ
from kraftool.spark.audit.roots import find, size_of

Log = list[tuple[int, int, int]]
"""Base offset, epoch and CRC of batches."""
SINGLE = Path(__file__).resolve().parents[2] / "fixtures/kafka-4.3.0/static-single"

batches = st.tuples(st.integers(0, 6), st.integers(0, 1), st.integers(0, 1))
logs = st.lists(batches, max_size=6, unique_by=lambda batch: batch[0]).map(sorted)


def statistics(log: Log) -> LogStatistics:
    return LogStatistics(
        offsets=array("q", [offset for offset, _, _ in log]),
        epochs=array("i", [epoch for _, epoch, _ in log]),
        crcs=array("I", [crc for _, _, crc in log]),
    )


def identities(log: Log) -> BatchIdentities | None:
    return identities_of(statistics(log), len(log))


@given(st.lists(logs, min_size=1, max_size=4))
def test_logs_may_differ_exactly_where_an_offset_has_two_batches(several: list[Log]) -> None:
    seen: dict[int, set[tuple[int, int]]] = {}
    for log in several:
        for offset, epoch, crc in log:
            seen.setdefault(offset, set()).add((epoch, crc))
    differs = any(len(found) > 1 for found in seen.values())
    assert may_differ(list(map(identities, several))) == differs


def test_of_a_log_that_is_not_known_whole_nothing_is_said() -> None:
    log = [(0, 1, 5), (3, 1, 6)]
    assert identities_of(statistics(log), 3) is None, "verify-log saw a batch that is not sound"
    assert identities([(3, 1, 6), (0, 1, 5)]) is None, "offsets go back"
    many = LogStatistics(offsets=array("q", range(MOST + 1)))
    assert identities_of(many, MOST + 1) is None
    assert may_differ([identities(log), None])
    assert not may_differ([identities(log), identities(log)])


def test_large_directories_have_a_task_each_and_small_ones_share() -> None:
    (item,) = find([str(SINGLE)]).items
    small = [item] * 1000
    tasks = deal(small, 2)
    assert [number for task in tasks for number, _ in task] == list(range(1000))
    assert 16 <= len(tasks) <= 40
    huge = (replace(item[0], size=1 << 30),)
    first, *rest = deal([huge, *small], 2)
    assert [number for number, _ in first] == [0]
    assert size_of(huge) == 1 << 30
    assert sum(map(len, rest)) == len(small)


def test_few_directories_have_a_task_each() -> None:
    (item,) = find([str(SINGLE)]).items
    assert [len(task) for task in deal([item] * 3, 2)] == [1, 1, 1]
