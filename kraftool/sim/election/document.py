"""A simulated election as `-o json` writes it (docs/schemas/simulate-election.json)."""

from __future__ import annotations

from typing import Any

from kraftool.raft.names import ElectionState, ReplicaKey
from kraftool.reports.election.case import NodeCase
from kraftool.reports.election.losses import RecordLoss
from kraftool.reports.plain_json import finding_counts, finding_object
from kraftool.sim.election.chances import Chance, Failures
from kraftool.sim.election.evidence import Outlook
from kraftool.sim.election.explore import Exploration
from kraftool.sim.election.report import Changed, Report
from kraftool.sim.election.timeline import lines
from kraftool.sim.election.verdict import verdict

SCHEMA_VERSION = 1


def document(report: Report) -> dict[str, Any]:
    words = verdict(report)
    chances = {each.node: each for each in report.chances}
    outlooks = {each.node: each for each in report.outlooks}
    conditions = report.conditions
    return {
        "schemaVersion": SCHEMA_VERSION,
        "leaderPossible": bool(report.leaders),
        "elected": words.elected,
        "dataLoss": bool(report.grave),
        "verdict": words.headline,
        "details": list(words.details),
        "nextSteps": [
            {"words": each.words, "commands": list(each.commands)} for each in words.next_steps
        ],
        "leaders": list(report.leaders),
        "seed": report.seed,
        "runs": report.runs,
        "runsWithoutLeader": report.without_leader,
        "runsAfterWitness": report.after_witness,
        "runsGivenUp": report.given_up,
        "runMs": report.horizon_ms,
        "conditions": {
            "down": sorted(conditions.down),
            "cut": [list(each) for each in sorted(conditions.cut)],
            "delayMs": conditions.delay_ms,
            "startWithinMs": conditions.skew_ms,
            "starts": [each.value for each in conditions.paces],
            "addVoter": list(conditions.adding),
            "removeVoter": list(conditions.removing),
        },
        "assumptions": list(report.case.notes),
        "kraftVersion": report.case.kraft_version,
        "voters": [_key(each.key) for each in report.case.voters],
        "votersWithoutDirectory": list(report.case.unknown),
        "nodes": [
            _node(each, chances[each.id], outlooks[each.id], report) for each in report.case.nodes
        ],
        "timeToLeaderMs": {
            "min": report.quantile_ms(0),
            "median": report.quantile_ms(0.5),
            "p95": report.quantile_ms(0.95),
            "max": report.quantile_ms(1),
            "all": list(report.times_ms),
        },
        "elections": [{"begun": begun, "runs": runs} for begun, runs in report.elections],
        "broken": [
            {"node": node, "reason": why, "runs": runs} for node, why, runs in report.broken
        ],
        "losses": [_loss(each) for each in report.losses],
        "moreFailures": _failures(report.failures),
        "restarts": [
            {
                "node": each.node,
                "safe": each.is_safe,
                "leadersMeanwhile": list(each.leaders),
                "losses": [_loss(loss) for loss in each.losses],
            }
            for each in report.restarts
        ],
        "revivals": [list(each) for each in report.revivals],
        "startAlone": list(report.rescue),
        "changes": [_change(each) for each in report.changes],
        "votersAfter": list(report.voters_after),
        "moreFailuresAfter": _failures(report.failures_after),
        "timeline": [
            {"atMs": each.at_ms, "who": each.who, "words": each.words}
            for each in lines(report.timeline)
        ],
        "exploration": _exploration(report.exploration) if report.exploration else None,
        "findings": [finding_object(each) for each in report.case.findings],
        "findingCounts": finding_counts(report.case.findings),
    }


def _key(key: ReplicaKey) -> dict[str, Any]:
    return {"id": key.id, "directoryId": key.directory_id}


def _node(node: NodeCase, chance: Chance, outlook: Outlook, report: Report) -> dict[str, Any]:
    view = node.log.view()
    return {
        "id": node.id,
        "directoryId": node.settings.directory_id,
        "path": node.source,
        "assumed": node.assumed,
        "up": node.id in report.up,
        "voter": report.case.voters.has(node.key),
        "logStartOffset": view.start_offset,
        "logEndOffset": view.end_offset,
        "lastEpoch": view.last_epoch,
        "epochs": [{"epoch": epoch, "startOffset": start} for epoch, start in view.epochs],
        "snapshots": [{"offset": each.offset, "epoch": each.epoch} for each in view.snapshots],
        "quorumState": _election(node.election) if node.election is not None else None,
        "votersKnown": sorted(node.voters.ids),
        "canBeElected": chance.wins,
        "canLead": chance.commits,
        "handedOverBy": chance.via,
        "isWitness": node.is_witness,
        "whyNot": chance.why_not,
        "granted": list(chance.granted),
        "refusals": [
            {"by": each.by, "kind": each.kind, "sentence": each.sentence}
            for each in chance.refusals
        ],
        "wins": report.wins.get(node.id, 0),
        "likelihood": outlook.likelihood.value,
        "shares": [
            {
                "start": each.pace.value,
                "runs": each.runs,
                "wins": each.wins,
                "share": round(each.share, 4),
                "measured": each.is_measured,
                "statedShare": round(each.stated, 4) if each.stated is not None else None,
            }
            for each in outlook.shares
        ],
        "notes": list(node.notes),
    }


def _election(state: ElectionState) -> dict[str, Any]:
    return {
        "epoch": state.epoch,
        "leaderId": state.leader_id,
        "voted": _key(state.voted) if state.voted is not None else None,
    }


def _failures(found: Failures | None) -> dict[str, Any] | None:
    return None if found is None else {"count": found.count, "exact": found.is_exact}


def _loss(loss: RecordLoss) -> dict[str, Any]:
    return {
        "leader": loss.leader,
        "firstOffset": loss.first,
        "lastOffset": loss.end - 1,
        "records": loss.records,
        "epoch": loss.epoch,
        "holders": list(loss.holders),
        "standing": loss.standing.value,
    }


def _change(changed: Changed) -> dict[str, Any]:
    return {
        "node": changed.node,
        "change": "add" if changed.adds else "remove",
        "done": changed.is_done,
        "answers": [{"error": name, "runs": runs} for name, runs in changed.answers],
        "message": changed.message,
        "tookMs": changed.took_ms,
    }


def _exploration(found: Exploration) -> dict[str, Any]:
    broken = found.violation
    return {
        "depth": found.depth,
        "completeToDepth": found.choices.complete_to,
        "states": found.choices.states,
        "steps": found.choices.steps,
        "toTheEnd": {
            "interruptions": found.to_the_end.complete_to,
            "states": found.to_the_end.states,
            "steps": found.to_the_end.steps,
        },
        "elected": [{"node": node, "choices": depth} for node, depth in _sorted(found.elected)],
        "leading": [{"node": node, "choices": depth} for node, depth in _sorted(found.committing)],
        "ending": [
            {"node": node, "choices": depth, "reason": why}
            for node, (depth, why) in sorted(found.stopping.items())
        ],
        "violation": {
            "invariant": broken.invariant,
            "sentence": broken.sentence,
            "steps": list(broken.steps),
        }
        if broken is not None
        else None,
    }


def _sorted(found: dict[int, int]) -> list[tuple[int, int]]:
    return sorted(found.items())
