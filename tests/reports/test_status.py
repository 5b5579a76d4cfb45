"""A verdict looks like the worst that was found, and never better than what was looked at."""

from __future__ import annotations

import pytest

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import Status, overall_status, worst_status


@pytest.mark.parametrize("is_complete", [True, False])
@pytest.mark.parametrize(
    ("severities", "status"),
    [
        ((Severity.INFO, Severity.ERROR, Severity.WARNING), Status.BAD),
        ((Severity.INFO, Severity.WARNING), Status.WARN),
    ],
)
def test_the_worst_finding_decides(
    severities: tuple[Severity, ...], status: Status, is_complete: bool
) -> None:
    assert overall_status(severities, is_complete=is_complete) is status


def test_only_a_complete_look_without_findings_is_good() -> None:
    assert overall_status((), is_complete=True) is Status.GOOD
    assert overall_status((Severity.INFO,), is_complete=True) is Status.NOTE
    assert overall_status((), is_complete=False) is Status.UNKNOWN
    assert overall_status((Severity.INFO,), is_complete=False) is Status.UNKNOWN
    assert worst_status(()) is Status.UNKNOWN
