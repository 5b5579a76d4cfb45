"""The shape of what `recover rehearse` writes with -o json, schemaVersion 1.

Owns the names of the document's members; docs/schemas/recover.json describes them.
"""

from __future__ import annotations

from typing import Any

from kraftool.commands.recover_json import directory_object
from kraftool.repair.rehearsal import AppliedCopy, Rehearsal
from kraftool.repair.rehearsal_election import ElectionRehearsal, Trial, is_promised
from kraftool.repair.rehearsal_nodes import NodesRehearsal
from kraftool.reports.plain_json import finding_counts, finding_object
from kraftool.sim.election.returning import Ending


def rehearsal_object(found: Rehearsal, kept: str) -> dict[str, Any]:
    """All that a rehearsal came to."""
    return {
        "schemaVersion": 1,
        "command": "rehearse",
        "planId": found.plan.id,
        "isWell": found.is_well,
        "kept": kept or None,
        "copies": [_copy(each) for each in found.copies],
        "notGiven": list(found.not_given),
        "elections": None if found.elections is None else _elections(found, found.elections),
        "nodes": None if found.nodes is None else _nodes(found.nodes),
        "findings": [finding_object(each) for each in found.findings],
        "findingCounts": finding_counts(found.findings),
    }


def _copy(each: AppliedCopy) -> dict[str, Any]:
    return {
        "host": each.of.name,
        "path": each.of.path,
        "nodeId": each.of.node_id,
        "isQuarantined": each.of.is_quarantined,
        "wasRunning": each.of.is_running,
        "edits": each.edits,
        "wasApplied": each.was_applied,
        "refused": each.refused or None,
        "directory": None if each.check is None else directory_object(each.check),
    }


def _elections(found: Rehearsal, elections: ElectionRehearsal) -> dict[str, Any]:
    return {
        "started": list(elections.started),
        "back": list(elections.back),
        "assumed": list(elections.assumed),
        "absent": list(elections.absent),
        "ahead": [
            {"node": node, "offset": end.offset, "epoch": end.epoch}
            for node, end in elections.ahead
        ],
        "trials": [
            {
                "way": each.way.value,
                "isAhead": each.is_ahead,
                "isPromised": is_promised(
                    found.plan, each.way, is_ahead=each.is_ahead or bool(elections.ahead)
                ),
                **_counts(each),
                "runs": [_run(one) for one in each.endings],
            }
            for each in elections.trials
        ],
    }


def _counts(trial: Trial) -> dict[str, int]:
    return {
        "withoutLeader": trial.without_leader,
        "losing": len(trial.losing),
        "parted": len(trial.parted),
        "breaking": len(trial.breaking),
    }


def _run(ending: Ending) -> dict[str, Any]:
    return {
        "seed": ending.seed,
        "leader": ending.leader,
        "epoch": ending.epoch,
        "tookMs": ending.took_ms,
        "committed": ending.committed,
        "lostFrom": ending.lost_from,
        "leaders": [{"node": node, "epoch": epoch} for node, epoch in ending.leaders],
        "apart": None
        if ending.apart is None
        else {"node": ending.apart[0], "epoch": ending.apart[1]},
        "voters": [{"node": node, "voters": list(voters)} for node, voters in ending.voters],
        "broken": [{"node": node, "reason": reason} for node, reason in ending.broken],
    }


def _nodes(nodes: NodesRehearsal) -> dict[str, Any]:
    return {
        "software": nodes.software,
        "skipped": nodes.skipped or None,
        "started": list(nodes.started),
        "rewrittenFiles": nodes.rewritten,
        "leader": nodes.leader,
        "epoch": nodes.epoch,
        "voters": list(nodes.voters),
        "highWatermark": None if nodes.high_watermark < 0 else nodes.high_watermark,
        "tookMs": nodes.took_ms,
        "isCompared": nodes.is_compared,
        "topics": nodes.topics,
        "partitions": nodes.partitions,
        "brokers": nodes.brokers,
        "returned": [
            {
                "node": each.id,
                "follows": each.follows,
                "leader": each.leader,
                "ended": each.ended or None,
            }
            for each in nodes.returned
        ],
    }
