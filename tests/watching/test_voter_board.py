"""Who votes by all sources: read as diff-voters reads them, and not more often than it pays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.voters.diff import diff_voters
from kraftool.watching.sources import Sources
from kraftool.watching.task import Task
from kraftool.watching.voter_board import VoterBoard, changes, compare, compare_told
from tests.tui.recording import pictures


def _paths(fixtures_dir: Path) -> tuple[str, ...]:
    quorum = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum"
    return tuple(str(path) for path in sorted(quorum.glob("node-*/data")))


def test_directories_are_compared_as_diff_voters_does(fixtures_dir: Path) -> None:
    paths = _paths(fixtures_dir)
    diff, unobserved = compare(Sources(directories=paths), Task())
    assert diff == diff_voters(read_sources(paths))
    assert unobserved == ""


def test_what_nodes_told_is_compared_before_any_log_is_read() -> None:
    picture = pictures("healthy")[-1]
    assert picture.view is not None
    comparison = compare_told(picture.view)
    assert comparison.voters is not None
    assert {voter.id for voter in comparison.voters.voters} == {
        voter.replica.id for voter in picture.view.voters
    }
    assert not comparison.has_differences
    assert len(comparison.sources) == len(picture.view.nodes)


def test_it_is_read_again_where_voters_leaders_or_files_change() -> None:
    given = pictures("leader-killed")
    assert changes(given[0]) == changes(replace(given[0], at_ms=0))
    assert changes(given[0]) != changes(given[-1])
    sizes = {changes(picture) for picture in pictures("healthy")}
    assert len(sizes) == 1, "log ends that move are no change of voters"


def test_a_large_source_is_not_read_all_the_time() -> None:
    diff = diff_voters(())
    board = VoterBoard(diff=diff, at_ms=0, took_ms=30_000)
    assert not board.is_due(30_000 + 20 * 30_000 - 1)
    assert board.is_due(30_000 + 20 * 30_000)


def test_a_log_that_is_still_to_be_read_is_no_finding() -> None:
    view = pictures("healthy")[-1].view
    assert view is not None
    assert compare_told(view).findings == ()
