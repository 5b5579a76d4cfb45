"""The shape of `doctor -o json`, schemaVersion 1: docs/schemas/doctor.json describes it.

Owns the names of the document's members. A diagnosis is a finding as every command has it, with
evidence and commands beside.
"""

from __future__ import annotations

from typing import Any

from kraftool.reports.doctor.explain import Explanation
from kraftool.reports.doctor.model import Diagnosis
from kraftool.reports.doctor.report import DirectoryDiagnoses, DoctorReport
from kraftool.reports.plain_json import finding_counts, finding_object, plain

SCHEMA_VERSION = 1


def document(report: DoctorReport) -> dict[str, Any]:
    """The whole report."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "directories": [_section(each) for each in report.sections if each.path],
        "between": [_diagnosis(one) for each in report.sections if not each.path
                    for one in each.diagnoses],
        "liveQuorum": report.is_live,
        "rules": list(report.rules),
        "ignored": report.ignored,
        "unexamined": [plain(each) for each in report.unexamined],
        "deeper": [plain(each) for each in report.deeper],
        "findingCounts": finding_counts(report.findings),
    }  # fmt: skip


def explanations(told: tuple[Explanation, ...]) -> dict[str, Any]:
    """What --explain says."""
    return {"schemaVersion": SCHEMA_VERSION, "codes": [plain(each) for each in told]}


def _section(section: DirectoryDiagnoses) -> dict[str, Any]:
    patient = section.patient
    return {
        "path": plain(section.path),
        "settings": plain(patient.settings_file) if patient is not None else "",
        "nodeId": patient.node_id if patient is not None else None,
        "live": patient is not None and patient.is_live,
        "asked": patient is not None and patient.source.is_live,
        "isWitness": None if patient is None else patient.source.is_witness,
        "diagnoses": [_diagnosis(each) for each in section.diagnoses],
    }


def _diagnosis(each: Diagnosis) -> dict[str, Any]:
    return {
        **finding_object(each.finding),
        "evidence": [plain(one) for one in each.evidence],
        "commands": [plain(one) for one in each.commands],
    }
