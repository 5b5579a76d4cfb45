"""The title and the tabs are as bad as the worst that any view has found."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import Status
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.overview import Overview
from kraftool.watching.picture import Picture
from tests.tui.recording import pictures


@pytest.mark.parametrize(
    ("recording", "status"), [("leader-killed", Status.WARN), ("no-leader", Status.BAD)]
)
def test_a_real_quorum_without_a_spare_voter_is_not_green(recording: str, status: Status) -> None:
    """The nodes that are down are statements; so is that no voter can be lost."""
    overview = Overview()
    overview.take(pictures(recording)[-1])
    assert overview.status is status
    tab = overview.tab("quorum")
    assert tab is not None
    assert tab.status is status
    assert overview.report is not None
    assert tab.count == sum(
        statement.severity is not Severity.INFO for statement in overview.report.statements
    )


def test_a_note_keeps_the_title_from_being_green() -> None:
    overview = Overview()
    overview.take(pictures("healthy")[-1])
    assert overview.loud == ()
    assert overview.status is Status.NOTE, "node 4 is a standby: a note"


def test_a_stale_directory_is_a_warning_of_the_title(fixtures_dir: Path) -> None:
    paths = [fixtures_dir / f"kafka-4.3.0/dynamic-quorum/node-{each}/data" for each in (1, 2)]
    looks = tuple(DirectoryWatch(str(path)).look(60) for path in paths)
    overview = Overview()
    overview.take(Picture(at_ms=looks[0].at_ms, directories=looks))
    assert overview.status is Status.WARN
    assert overview.loud == (Severity.WARNING,)


def test_an_error_of_any_view_is_the_title_s() -> None:
    overview = Overview()
    overview.take(pictures("healthy")[-1])
    before = overview.status
    assert before is not Status.BAD
    overview.tell("files", [Severity.INFO, Severity.ERROR])
    with_error = overview.status
    assert with_error is Status.BAD
    overview.tell("files", [])
    assert overview.status is before
