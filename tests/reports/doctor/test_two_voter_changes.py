"""Two voter changes that a leader has not committed; tests/client/test_live_sources.py asks one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.reports.doctor.read import examine, locations_of, together
from kraftool.reports.doctor.report import diagnose
from tests.reports.doctor.cases import begun, hosts, node

CODE = "KT-SIG-TWO-VOTER-CHANGES"
FIRST, SECOND, END = 3, 4, 5
"""Offsets of the changes in the log, and its end."""


@pytest.mark.parametrize(
    ("mark", "found"), [(0, True), (FIRST, True), (SECOND, False), (END, False), (None, False)]
)
def test_two_changes_behind_the_high_watermark_are_named(
    tmp_path: Path, mark: int | None, found: bool
) -> None:
    log = begun(1, 2, 3).control(1, hosts(1, 2)).control(1, hosts(1, 2, 4))
    locations, findings = locations_of([str(node(tmp_path / "data", log))])
    (examined,) = examine(locations, findings).directories
    assert examined.source.high_watermark is None, "no file says what is committed"
    asked = examined.with_source(replace(examined.source, high_watermark=mark))
    report = diagnose(together([asked]))
    words = [finding.text for finding in report.findings if finding.code == CODE]
    assert bool(words) is found
    assert all(f"offsets {FIRST}, {SECOND}" in text for text in words)
