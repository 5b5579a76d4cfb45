"""The shape of `verify-snapshot -o json`, schemaVersion 1: see docs/schemas/verify-snapshot.json.

Owns the names of the document's members.
"""

from __future__ import annotations

from typing import Any

from kraftool.image.metadata_version import level_name
from kraftool.reports.plain_json import finding_counts, finding_object, plain
from kraftool.reports.verify.snapshot_values import (
    SnapshotVerification,
    VerifiedDirectory,
    VerifiedSnapshot,
)

SCHEMA_VERSION = 1


def document(report: SnapshotVerification) -> dict[str, Any]:
    """The whole report."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "verified": [_directory(each) for each in report.directories],
        "findings": [finding_object(each) for each in report.findings],
        "findingCounts": finding_counts(report.all_findings),
    }


def _directory(each: VerifiedDirectory) -> dict[str, Any]:
    return {
        "path": plain(each.path),
        "live": each.is_live,
        "clusterId": plain(each.cluster_id),
        "snapshots": [_snapshot(one) for one in each.snapshots],
        "findings": [finding_object(finding) for finding in each.findings],
    }


def _snapshot(each: VerifiedSnapshot) -> dict[str, Any]:
    level, voters = each.metadata_version, each.controls.voters
    return {
        "file": plain(each.file),
        "offset": None if each.is_bootstrap else each.offset,
        "epoch": None if each.is_bootstrap else each.epoch,
        "state": plain(each.state),
        "size": each.size,
        "batches": each.batches,
        "records": each.records,
        "lastContainedLogTimestamp": each.controls.timestamp,
        "kraftVersion": each.controls.kraft_version,
        "voters": [voter["voterId"] for voter in voters["voters"]] if voters is not None else None,
        "metadataVersion": level,
        "metadataVersionName": level_name(level) if level is not None else "",
        "stateHash": each.state_hash or None,
        "comparedWith": plain(each.compared_with),
        "findings": [finding_object(finding) for finding in each.findings],
    }
