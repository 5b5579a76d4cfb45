"""The title and the tabs are as bad as the worst that any view has found."""

from __future__ import annotations

import pytest

from kraftool.reports.findings import Severity
from kraftool.reports.status import Status
from kraftool.watching.overview import Overview
from tests.tui.recording import pictures


@pytest.mark.parametrize(
    ("recording", "status"), [("leader-killed", Status.WARN), ("no-leader", Status.BAD)]
)
def test_a_real_quorum_without_a_spare_voter_is_not_green(recording: str, status: Status) -> None:
    overview = Overview()
    overview.take(pictures(recording)[-1])
    assert overview.status is status
    tab = overview.tab("quorum")
    assert tab is not None
    assert tab.status is status


def test_an_error_of_any_view_is_the_title_s() -> None:
    overview = Overview()
    overview.take(pictures("healthy")[-1])
    before = overview.status
    assert before is not Status.BAD
    overview.tell("files", [Severity.INFO, Severity.ERROR])
    assert overview.status is Status.BAD
    overview.tell("files", [])
    assert overview.status is before
