"""Reports on live quorums and fleets at three widths: as `test_lines.py`, from values, since they
need a running quorum or Spark."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC

import pytest

from kraftool.client.health import health
from kraftool.client.judgement import judge
from kraftool.client.stopping import may_stop
from kraftool.commands.output import Output
from kraftool.commands.pipeline_audit_view import write_audit
from kraftool.commands.pipeline_tables_view import write_report
from kraftool.commands.quorum_change_run import write_permission
from kraftool.commands.quorum_view import write_health, write_quorum
from kraftool.spark.tables.run import TableReport, TablesReport
from kraftool.spark.tables.state import Totals
from tests.client.views import NOW, described, gone, replica, view, well, without_controller
from tests.commands.wrapped_lines import assert_wrapped
from tests.reports.fleet.page_fleets import sick, sound

THEN = well(mark=90, at=NOW - 1500)
LOST = view(described([replica(1), replica(2, fetched=NOW - 60_000)]), gone(2), gone(3))
TABLES = TablesReport(
    out="/data/lake/of/many/clusters/tables",
    run_number=7,
    is_new=True,
    is_optimized=True,
    clusters=40,
    changed_clusters=3,
    directories=200,
    read_logs=12,
    bytes_read=123_456_789,
    tables=(
        TableReport(
            name="ClientQuotaRecord",
            added_rows=1_000,
            removed_rows=20,
            after=Totals(rows=1_234_567, files=12, size=987_654_321),
        ),
    ),
    log_changes={"TRUNCATED": 1, "CLEANED": 2, "GONE": 3},
    unreadable=(),
)
WRITERS: dict[str, Callable[[Output], None]] = {
    "quorum describe": lambda to: write_quorum(to, well(), UTC),
    "quorum describe of a witness": lambda to: write_quorum(to, without_controller(), UTC),
    "quorum describe of a lost majority": lambda to: write_quorum(to, LOST, UTC),
    "quorum health": lambda to: write_health(to, health(THEN, well()), UTC),
    "quorum health of a lost majority": lambda to: write_health(to, health(THEN, LOST), UTC),
    "quorum may-stop": lambda to: write_permission(to, may_stop(judge(well(), THEN), 1)),
    "quorum may-stop of a lost majority": lambda to: write_permission(
        to, may_stop(judge(LOST, THEN), 1)
    ),
    "pipeline audit": lambda to: write_audit(to, sick(12)),
    "pipeline audit without findings": lambda to: write_audit(to, sound(3)),
    "pipeline tables": lambda to: write_report(to, TABLES),
}


@pytest.mark.parametrize("name", WRITERS)
def test_no_line_is_wider_than_the_screen_and_no_word_is_broken(
    name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def report(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        to = Output()
        WRITERS[name](to)
        to.flush()
        return capfd.readouterr().out

    assert_wrapped(report)
