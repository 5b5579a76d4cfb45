"""The audit of a generated fleet: every planted fault is found, and nothing else is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.answers import answers
from fleets.build import KINDS, FleetPlan, build
from fleets.faults import MANIFEST

from kraftool.reports.fleet.document import audit_document
from kraftool.reports.text.json_document import json_document

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_all_planted_faults_of_a_fleet_are_found_and_none_is_invented(
    spark: SparkSession, tmp_path: Path
) -> None:
    from kraftool.spark.audit.collect import AuditRequest
    from kraftool.spark.audit.run import audit

    fleet = tmp_path / "fleet"
    build(fleet, FleetPlan(clusters=len(KINDS) + 4, seed=9, faults=len(KINDS)))
    with audit(spark, AuditRequest(roots=(str(fleet),))) as run:
        document = json.loads(b"".join(json_document(audit_document(run.model, run.lists()))))
    compared = answers(json.loads((fleet / MANIFEST).read_text()), document)
    assert compared.planted == len(KINDS)
    assert compared.missed == ()
    assert compared.invented == ()


def test_the_comparison_tells_what_an_audit_misses_and_what_it_invents(tmp_path: Path) -> None:
    build(tmp_path, FleetPlan(clusters=2, seed=9, faults=1, kinds=("torn-tail",)))
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    (planted,) = manifest["planted"]
    finding = {
        "code": "KT-LOG-TORN-TAIL",
        "severity": "warning",
        "reason": "torn",
        "file": planted["file"],
        "position": planted["position"],
        "offset": planted["offset"],
        "paths": [str(tmp_path / planted["directory"])],
    }

    def compared(*findings: dict[str, object]) -> tuple[int, int]:
        result = answers(manifest, {"findings": list(findings), "divergences": []})
        return len(result.missed), len(result.invented)

    assert compared(finding) == (0, 0)
    assert compared() == (1, 0)
    assert compared({**finding, "position": 0}) == (1, 0)
    other = next(path for path in tmp_path.iterdir() if path.name not in planted["directory"])
    elsewhere = {**finding, "paths": [str(other / "controller-1")]}
    assert compared(elsewhere) == (1, 1)
    assert compared(finding, {**elsewhere, "severity": "info"}) == (0, 0)
    assert compared(finding, {**finding, "code": "KT-LOG-GAP"}) == (0, 1)
