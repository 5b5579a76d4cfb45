"""The shape of `verify-log -o json`, schemaVersion 1: docs/schemas/verify-log.json describes it.

Owns the names of the document's members.
"""

from __future__ import annotations

from typing import Any

from kraftool.reports.plain_json import finding_counts, finding_object, plain
from kraftool.reports.verify.log import LogVerification, Verified

SCHEMA_VERSION = 1


def document(report: LogVerification) -> dict[str, Any]:
    """The whole report."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "verified": [_verified(each) for each in report.verified],
        "findings": [finding_object(each) for each in report.findings],
        "findingCounts": finding_counts(report.all_findings),
    }


def _verified(each: Verified) -> dict[str, Any]:
    return {
        "path": plain(each.path),
        "live": each.is_live,
        "checked": plain(each.checked),
        "findings": [finding_object(finding) for finding in each.findings],
    }
