"""What an examination keeps of a log's batches: enough to know that logs are the same."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

pytest.importorskip("pyspark")

from hypothesis import given
from hypothesis import strategies as st

from kraftool.reports.doctor.log_statistics import LogStatistics
from kraftool.reports.findings.mutes import FindingFilter
from kraftool.spark.audit.examine import AuditedDirectory, examine
from kraftool.spark.audit.examined import deal
from kraftool.spark.audit.identities import MOST, BatchIdentities, identities_of, may_differ
from kraftool.spark.audit.roots import FoundDirectory, find
from tests.spark.audit_cases import by_each_command
from tests.support.places import FIXTURES

Log = list[tuple[int, int, int]]
"""Base offset, epoch and CRC of batches."""
SINGLE = FIXTURES / "kafka-4.3.0/static-single"

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
    differs = any(len(alternatives) > 1 for alternatives in seen.values())
    assert may_differ(list(map(identities, several))) == differs


def test_of_a_log_that_is_not_known_whole_nothing_is_said() -> None:
    log = [(0, 1, 5), (3, 1, 6)]
    assert identities_of(statistics(log), 2) is not None
    assert identities_of(statistics(log), 3) is None, "a batch of the log is not sound"
    assert identities([(3, 1, 6), (0, 1, 5)]) is None, "offsets go back"
    many = LogStatistics(offsets=array("q", range(MOST + 1)))
    assert identities_of(many, MOST + 1) is None
    assert may_differ([identities(log), None])
    assert not may_differ([identities(log), identities(log)])


@pytest.fixture(scope="module")
def examined() -> list[tuple[FoundDirectory, AuditedDirectory]]:
    """What the audit has of each directory of some fixtures."""
    items = find([str(FIXTURES / "damaged"), str(FIXTURES / "kafka-4.3.0")]).directories
    return [(item, examine(item)) for item in items]


def test_the_batches_of_a_whole_log_are_known_whatever_snapshots_it_has(
    examined: list[tuple[FoundDirectory, AuditedDirectory]],
) -> None:
    damaged = 0
    for (file, *_), looked in examined:
        if file.directory.name.startswith(str(FIXTURES / "damaged")):
            is_flipped = file.directory.name.endswith("flipped-bit-in-record")
            damaged += is_flipped
            assert not (is_flipped and looked.batches)
            continue
        assert looked.examined is not None
        log = looked.examined.summary.log
        if log is not None:
            assert looked.batches is not None, file.directory.name
            assert len(looked.batches.offsets) == log.batches
    assert damaged


def test_a_large_directory_has_a_task_by_itself_and_small_ones_share() -> None:
    (item,) = find([str(SINGLE)]).directories
    small = [item] * 1000
    tasks = deal(small, 2)
    assert [one.number for task in tasks for one in task] == list(range(1000))
    assert 16 <= len(tasks) <= 40
    huge = (replace(item[0], size=64 << 20),)
    first, *rest = deal([huge, *small], 2)
    assert [one.number for one in first] == [0]
    assert sum(map(len, rest)) == len(small)


def test_few_directories_have_a_task_each() -> None:
    (item,) = find([str(SINGLE)]).directories
    assert [len(task) for task in deal([item] * 3, 2)] == [1, 1, 1]


def test_a_directory_is_the_same_whether_it_is_read_once_or_by_each_command(
    examined: list[tuple[FoundDirectory, AuditedDirectory]],
) -> None:
    assert len(examined) > 30
    for item, one in examined:
        assert untimed(by_each_command(item)) == untimed(one), item[0].directory.name


def test_codes_that_are_ignored_are_the_same_either_way() -> None:
    (item,) = find([str(FIXTURES / "damaged/flipped-bit-in-record")]).directories
    one, three = (
        examine(item, FindingFilter(ignored_codes=frozenset({"KT-LOG-CRC"}))),
        by_each_command(item, ("KT-LOG-CRC",)),
    )
    assert untimed(three) == untimed(one)
    assert one.ignored > 0


def untimed(audited: AuditedDirectory) -> AuditedDirectory:
    return replace(audited, summary=replace(audited.summary, seconds=0.0, bytes_read=0))
