"""The shape of `features -o json`, schemaVersion 1: docs/schemas/features.json describes it.

Owns the names of the document's members.
"""

from __future__ import annotations

from typing import Any

from kraftool.image.metadata_version import METADATA_VERSION, level_name
from kraftool.reports.features.model import (
    ClusterFeatures,
    FeatureReach,
    FinalizedLevel,
    NodeSupport,
)
from kraftool.reports.features.plan import FeaturePlan
from kraftool.reports.features.rules import unregistered_voters
from kraftool.reports.plain_json import finding_counts, finding_object, plain

SCHEMA_VERSION = 1


def document(
    cluster: ClusterFeatures, reached: tuple[FeatureReach, ...], plan: FeaturePlan | None
) -> dict[str, Any]:
    """The whole report."""
    static = cluster.static_voters
    return {
        "schemaVersion": SCHEMA_VERSION,
        "sources": [plain(each) for each in cluster.sources],
        "offset": cluster.image.provenance.offset,
        "features": [_level(each) for each in cluster.levels.values()],
        "nodes": [_node(each) for each in cluster.nodes],
        "voters": list(cluster.voters),
        "staticVoters": plain(static) if static is not None else None,
        "unregisteredVoters": list(unregistered_voters(cluster)),
        "reach": [
            {
                **plain(each),
                "highestName": _name(each.name, each.highest),
                "isBelow": each.is_below,
            }
            for each in reached
        ],
        "plan": _plan(plan) if plan is not None else None,
        "findings": [finding_object(each) for each in cluster.findings],
        "findingCounts": finding_counts(cluster.findings),
    }


def _name(feature: str, level: int) -> str:
    return level_name(level) if feature == METADATA_VERSION else ""


def _level(told: FinalizedLevel) -> dict[str, Any]:
    return {**plain(told), "levelName": _name(told.name, told.level)}


def _node(node: NodeSupport) -> dict[str, Any]:
    return {
        "role": node.role.value,
        "id": node.id,
        "fenced": node.fenced,
        "software": node.software,
        "logDirectories": node.directories,
        "ranges": [
            {"feature": plain(name), "min": each.min, "max": each.max}
            for name, each in sorted(node.ranges.items())
        ],
    }


def _plan(told: FeaturePlan) -> dict[str, Any]:
    return {
        "target": plain(told.target),
        "blocked": told.blocked,
        "changes": [
            {
                **plain(each),
                "currentName": _name(each.feature, each.current),
                "targetName": _name(each.feature, each.target),
            }
            for each in told.changes
        ],
        "blockers": [plain(each) for each in told.blockers],
        "cautions": list(told.cautions),
        "losses": [plain(each) for each in told.losses],
        "newerRecords": [plain(each) for each in told.newer_records],
        "commands": list(told.commands),
    }
