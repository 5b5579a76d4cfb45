"""Which of several real logs is the newest, and what is said of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.storage.lock import LockState
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import quorum_report
from kraftool.watching.staleness import currency, newest_directory

REMOVED, LEADER, VOTER, BROKER = 0, 1, 2, 3


@pytest.fixture(scope="module")
def looks(fixtures_dir: Path) -> tuple[DirectoryReading, ...]:
    """Node 1 was removed as a voter at offset 80 and stopped; the others went on to 224."""
    quorum = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    return tuple(
        replace(
            DirectoryWatch(str(quorum / f"node-{node}/data")).read(60),
            path=f"node-{node}",
            lock=LockState.FREE,
        )
        for node in (1, 2, 3, 12)
    )


def _picture(looks: tuple[DirectoryReading, ...]) -> Picture:
    return Picture(at_ms=looks[0].at_ms, directories=looks)


def test_the_newest_log_has_the_highest_epoch_then_the_latest_end(
    looks: tuple[DirectoryReading, ...],
) -> None:
    assert newest_directory(_picture(looks)) == LEADER
    later = replace(looks[REMOVED], last_epoch=4)
    assert newest_directory(_picture((looks[LEADER], later))) == 1, "epoch 4, though it is shorter"


def test_a_removed_voter_is_stale_with_every_reason(looks: tuple[DirectoryReading, ...]) -> None:
    judgement = currency(_picture(looks), looks[REMOVED])
    assert judgement.words == (
        "ends at 81, 143 behind node-2; node 1 was removed as a voter at offset 80;"
        " no process holds its lock"
    )
    assert not judgement.is_current
    for number in (LEADER, VOTER):
        assert not currency(_picture(looks), looks[number]).stale, looks[number].path
    assert currency(_picture(looks), looks[BROKER]).stale == "ends at 185, 39 behind node-2"


def test_a_running_node_a_moment_behind_is_current(looks: tuple[DirectoryReading, ...]) -> None:
    leader = replace(looks[LEADER], lock=LockState.HELD)
    behind = replace(looks[VOTER], lock=LockState.HELD, log_end_offset=220)
    assert currency(_picture((leader, behind)), behind).is_current
    assert leader.last_timestamp is not None
    halted = replace(behind, last_timestamp=leader.last_timestamp - 60_000)
    assert currency(_picture((leader, halted)), halted).stale == (
        "ends at 220, 4 behind node-2; it does not grow"
    )


def test_another_cluster_is_not_compared(looks: tuple[DirectoryReading, ...]) -> None:
    other = replace(looks[VOTER], node=replace(looks[VOTER].node, cluster_id="other"))
    assert currency(_picture((looks[LEADER], other)), other).stale == (
        "it is of another cluster, other"
    )


def test_the_report_marks_what_is_stale(looks: tuple[DirectoryReading, ...]) -> None:
    report = quorum_report(_picture(looks))
    stale = {replica.id: replica.stale_reason for replica in report.replicas}
    assert stale[1].startswith("ends at 81, 143 behind node-2; node 1 was removed")
    assert stale[2] == stale[3] == ""
    assert any(
        statement.reason.startswith("node-1 is stale: ends at 81")
        for statement in report.statements
    )
