"""The shapes of what `recover apply`, `undo` and `verify` write with -o json, schemaVersion 1.

Owns the names of the documents' members; docs/schemas/recover.json describes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kraftool.client.quorum_json import health_document
from kraftool.repair.plan import Edit, Fingerprint, PlanStep
from kraftool.repair.verify import DirectoryCheck, PlanVerification, QuorumCheck
from kraftool.reports.findings import in_order
from kraftool.reports.plain_json import finding_counts, finding_object


def edit_object(edit: Edit) -> dict[str, Any]:
    """A file before and after; with a recipe the hash is not known before it is made."""
    return {
        "path": edit.target.path,
        "action": "remove" if edit.is_removal else "create" if edit.before is None else "replace",
        "before": _print(edit.before),
        "after": _print(edit.after),
        "isComputed": edit.snapshot is not None,
        "why": edit.why,
    }


def _print(fingerprint: Fingerprint | None) -> dict[str, Any] | None:
    if fingerprint is None:
        return None
    return {"size": fingerprint.size, "sha256": fingerprint.sha256}


def steps_object(steps: Iterable[PlanStep]) -> list[dict[str, Any]]:
    return [
        {
            "action": each.action.value,
            "hosts": list(each.hosts),
            "text": each.text,
            "commands": list(each.commands),
        }
        for each in steps
    ]


def directory_object(checked: DirectoryCheck) -> dict[str, Any]:
    """What stands in a directory."""
    return {
        "path": checked.path,
        "host": checked.host,
        "changes": checked.changes,
        "stage": checked.stage.value,
        "ended": checked.ended_ms or None,
        "hasMovedOn": checked.has_moved_on,
        "isRunning": checked.is_running,
        "voters": [{"id": id_, "directoryId": directory} for id_, directory in checked.voters],
        "findings": [finding_object(each) for each in checked.findings],
    }


def verification_object(found: PlanVerification) -> dict[str, Any]:
    """All that verify saw."""
    return {
        "schemaVersion": 1,
        "command": "verify",
        "planId": found.plan.id,
        "isFine": found.is_fine,
        "directories": [directory_object(each) for each in found.directories],
        "quorum": None if found.quorum is None else _quorum(found.quorum),
        "findingCounts": finding_counts(found.findings),
    }


def _quorum(checked: QuorumCheck) -> dict[str, Any]:
    told = health_document(checked.health)
    del told["schemaVersion"]
    findings = in_order((*checked.findings, *checked.unwell))
    return {**told, "findings": [finding_object(each) for each in findings]}
