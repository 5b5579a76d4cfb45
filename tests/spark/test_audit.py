"""The audit of real directories: what the three commands say of each, and nothing between nodes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.files.locations import open_paths
from kraftool.reports.findings.kinds.signatures import LOST_LOG
from kraftool.reports.text.json_document import json_value
from kraftool.reports.verify.log import verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.spark.audit.collect import AuditRequest, AuditRun
from kraftool.spark.audit.examine import examine as examine_item
from kraftool.spark.audit.findings_table import add, compared, open_table
from kraftool.spark.audit.roots import find
from kraftool.spark.audit.run import audit
from tests.spark.audit_cases import Told, told_by
from tests.support.json_contract import hold_document
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PLACE = (
    "code", "severity", "reason", "file", "position", "offset", "field", "expected", "found",
    "isUndecoded",
)  # fmt: skip
SOME = ("kafka-4.4.0", "damaged")
OTHERS = ("kafka-3.3.2", "kafka-3.7.2", "kafka-3.9.1", "kafka-4.1.1", "kafka-4.3.0", "built")
ALONE = ("kafka-3.3.2", "kafka-4.4.0", "built")
"""Folders whose directories are examined without Spark."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(SOME, id="newest and damaged"),
        pytest.param(OTHERS, id="others", marks=pytest.mark.soak),
    ],
)
def run(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[AuditRun]:
    """The audit of whole folders of fixtures, which can still be asked."""
    roots = tuple(str(FIXTURES / scenario) for scenario in request.param)
    with audit(spark, AuditRequest(roots=roots)) as run:
        yield run


@pytest.fixture(scope="module")
def told(run: AuditRun) -> Told:
    return told_by(run)


def _all_findings(value: Any) -> Iterator[dict[str, Any]]:
    """Every finding in a document, wherever it stands."""
    if isinstance(value, dict):
        if "code" in value and "isUndecoded" in value:
            yield value
        for child in value.values():
            yield from _all_findings(child)
    elif isinstance(value, list):
        for child in value:
            yield from _all_findings(child)


def findings_by_command(path: str) -> set[tuple[object, ...]]:
    """What the commands say about one directory, each with the command's name."""
    locations, findings = locations_of([path])
    documents = {"doctor": json_value(diagnose(examine(locations, findings)))}
    opened, unopened = open_paths([path])
    documents["verify-log"] = json_value(verify_logs(opened, unopened=unopened))
    report = verify_snapshots(open_paths([path])[0], unopened=unopened)
    documents["verify-snapshot"] = json_value(report)
    return {
        (by, *(finding[key] for key in PLACE))
        for by, value in documents.items()
        for finding in _all_findings(value)
    }


def findings_of_audit(findings: Iterable[dict[str, Any]], path: str) -> set[tuple[object, ...]]:
    return {
        (by, *(finding[key] for key in PLACE))
        for finding in findings
        for by in finding["by"]
        if finding["directory"] == path and by != "audit"
    }


def examined_alone(*roots: Path) -> dict[str, list[dict[str, Any]]]:
    """The findings of each directory as a task of the audit finds them, in the document's form."""
    items = find(list(map(str, roots))).directories
    return {item[0].directory.name: json_value(examine_item(item).findings) for item in items}


def test_each_directory_has_the_findings_of_the_three_commands() -> None:
    by_directory = examined_alone(*(FIXTURES / scenario for scenario in ALONE))
    assert len(by_directory) > 10
    for path, findings in by_directory.items():
        assert findings_of_audit(findings, path) == findings_by_command(path), path


def test_the_document_has_for_each_directory_the_findings_of_the_three_commands(
    told: Told,
) -> None:
    findings = told.findings(weighty=False)
    directories = [directory["name"] for directory in told.document["directories"]]
    some = [path for path in directories if "fixtures/damaged" in path or path.endswith("data-b")]
    assert len(some) > 10
    for path in some:
        said = findings_of_audit(findings, path)
        alone = findings_by_command(path)
        # The log of a node with two disks is in its other directory, which doctor was not given.
        lost_log = {finding for finding in alone if finding[1] == LOST_LOG.code}
        assert said | lost_log == alone, path
        assert not (lost_log and said & lost_log), "fixtures have another directory with the log"


_ALONE = """\
from kraftool.reports.findings.kinds import log
from kraftool.reports.fleet.model import FleetFinding
from kraftool.spark.audit.frames import finding_row
print(finding_row(FleetFinding(finding=log.CRC.at("a log", "one bit")))[-2].decode())
"""


def test_a_worker_writes_a_finding_as_the_document_has_it() -> None:
    """A worker that did nothing else before has imported the rows' module alone."""
    done = subprocess.run([sys.executable, "-c", _ALONE], capture_output=True, check=True)
    assert {*PLACE, "by"} <= set(json.loads(done.stdout))


def test_each_finding_of_a_directory_is_told_once(told: Told) -> None:
    findings = told.findings(weighty=False)
    places = [tuple(finding[key] for key in PLACE) for finding in findings]
    assert len(places) == len(set(places))


def test_the_nodes_of_real_quorums_agree(told: Told) -> None:
    """fixtures/damaged has copies of theirs, and one with another cluster's id, on purpose."""
    for finding in told.between():
        assert any("fixtures/damaged" in one for one in finding["paths"]), finding
    for divergence in told.document["divergences"]:
        names = [one for side in divergence["sides"] for one in side["paths"]]
        assert any("fixtures/damaged" in one for one in names), divergence


def test_the_document_fits_the_schema(told: Told) -> None:
    hold_document("pipeline-audit", told.document)


def test_sums_are_those_of_the_lists(told: Told) -> None:
    counts = told.document["counts"]
    for severity in ("error", "warning", "info"):
        every = told.findings(weighty=False)
        count = sum(one["severity"] == severity for one in every)
        assert counts["findingCounts"][severity] == count
    assert counts["directoryCount"] == len(told.document["directories"])
    assert counts["clusterCount"] == len(told.document["clusters"])
    assert counts["batchCount"] == sum(
        directory["batchCount"] for directory in told.document["directories"]
    )
    assert sum(code["findingCount"] for code in told.document["codes"]) == len(every)


def test_an_audit_adds_its_findings_to_a_table(run: AuditRun, tmp_path: Path) -> None:
    table = open_table(str(tmp_path / "audits"), {})
    assert add(table, run.model.run.started_at, run.every_finding) == 1
    again = compared(table, 1, run.every_finding())
    assert again.same == run.model.counts.finding_counts.total > 0
    assert (again.new_findings, again.gone_findings) == ((), ())
