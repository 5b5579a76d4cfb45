"""The audit of real directories: what the three commands say of each, and nothing between nodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

pytest.importorskip("pyspark")

from kraftool.reports.doctor.doctor_json import document as doctor_document
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.locations import open_paths
from kraftool.reports.verify.log import verify_logs
from kraftool.reports.verify.log_json import document as log_document
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.reports.verify.snapshot_json import document as snapshot_document
from tests.spark.audit_cases import FIXTURES, Told, audited

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PLACE = (
    "code", "severity", "text", "file", "position", "offset", "field", "expected", "found",
    "undecoded",
)  # fmt: skip
OLD = ("kafka-3.3.2", "kafka-3.7.2", "kafka-3.9.1", "built")
NEW = ("kafka-4.1.1", "kafka-4.3.0", "kafka-4.4.0", "damaged")


@pytest.fixture(scope="module", params=[OLD, NEW], ids=["old", "new"])
def told(spark: SparkSession, request: pytest.FixtureRequest) -> Told:
    """Whole folders of fixtures, in one job each."""
    return audited(spark, *(FIXTURES / each for each in request.param))


def _all_findings(value: Any) -> Iterator[dict[str, Any]]:
    """Every finding in a document, wherever it stands."""
    if isinstance(value, dict):
        if "code" in value and "undecoded" in value:
            yield value
        for each in value.values():
            yield from _all_findings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _all_findings(each)


def _said(path: str) -> set[tuple[object, ...]]:
    """What the commands say about one directory, each with the command's name."""
    locations, findings = locations_of([path])
    documents = {"doctor": doctor_document(diagnose(examine(locations, findings)))}
    locations, unopened = open_paths([path])
    documents["verify-log"] = log_document(verify_logs(locations, unopened=unopened))
    report = verify_snapshots(open_paths([path])[0], unopened=unopened)
    documents["verify-snapshot"] = snapshot_document(report)
    return {
        (by, *(each[key] for key in PLACE))
        for by, value in documents.items()
        for each in _all_findings(value)
    }


def _audited(findings: Iterable[dict[str, Any]], path: str) -> set[tuple[object, ...]]:
    return {
        (by, *(each[key] for key in PLACE))
        for each in findings
        for by in each["by"]
        if each["directory"] == path and by != "audit"
    }


def test_each_directory_has_the_findings_of_the_three_commands(told: Told) -> None:
    directories = [each["name"] for each in told.document["directories"]]
    assert len(directories) > 10
    findings = told.findings(weighty=False)
    for path in directories:
        assert _audited(findings, path) == _said(path), path


def test_each_finding_of_a_directory_is_told_once(told: Told) -> None:
    findings = told.findings(weighty=False)
    places = [tuple(each[key] for key in PLACE) for each in findings]
    assert len(places) == len(set(places))


def test_the_nodes_of_real_quorums_agree(told: Told) -> None:
    """fixtures/damaged has copies of theirs, and one with another cluster's id, on purpose."""
    for each in told.between():
        assert any("fixtures/damaged" in one for one in each["directories"]), each
    for each in told.document["divergences"]:
        names = [one for side in each["sides"] for one in side["directories"]]
        assert any("fixtures/damaged" in one for one in names), each


def test_the_document_fits_the_schema(told: Told) -> None:
    path = FIXTURES.parent / "docs/schemas/pipeline-audit.json"
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(told.document)


def test_sums_are_those_of_the_lists(told: Told) -> None:
    counts = told.document["counts"]
    for severity in ("error", "warning", "info"):
        every = told.findings(weighty=False)
        assert counts["findings"][severity] == sum(one["severity"] == severity for one in every)
    assert counts["directories"] == len(told.document["directories"])
    assert counts["clusters"] == len(told.document["clusters"])
    assert counts["batches"] == sum(each["batches"] for each in told.document["directories"])
    assert sum(each["count"] for each in told.document["codes"]) == len(every)
