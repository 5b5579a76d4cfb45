"""A log whose first activation was aborted, and logs that have a level or nothing at all."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import Record, begun, broker, controller, found, level, node, one

CODE = "KT-SIG-NO-METADATA-VERSION"
BEGIN: Record = ("BeginTransactionRecord", 0, {"name": "Bootstrap records"})
ABORT: Record = ("AbortTransactionRecord", 0, {"reason": "a new controller became active"})
END: Record = ("EndTransactionRecord", 0, {})


def test_a_level_that_was_aborted_with_the_first_activation_is_missing(tmp_path: Path) -> None:
    log = begun(1).data_batch(BEGIN, level(21), epoch=1).data_batch(ABORT, epoch=2)
    path = node(tmp_path / "data", log.data_batch(controller(1), broker(11), epoch=2))
    diagnosis = one(CODE, path)
    assert diagnosis.finding.severity is Severity.WARNING
    assert "no record sets metadata.version" in diagnosis.finding.text
    assert diagnosis.commands[0].endswith("--type AbortTransactionRecord")


def test_a_level_that_was_set_again_or_is_being_set_is_fine(tmp_path: Path) -> None:
    aborted = begun(1).data_batch(BEGIN, level(21)).data_batch(ABORT)
    again = aborted.copied().data_batch(BEGIN, level(21), END, controller(1))
    assert not found(CODE, node(tmp_path / "again", again))
    assert not found(CODE, node(tmp_path / "open", aborted.copied().data_batch(BEGIN, level(21))))
    assert not found(CODE, node(tmp_path / "aborted", aborted))
    assert not found(CODE, node(tmp_path / "new", begun(1)))
