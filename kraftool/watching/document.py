"""The shape of what `watch --once -o json` writes, schemaVersion 1, and of exported tables.

Owns the names of the members; docs/schemas/watch.json describes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kraftool.reports.plain_json import plain
from kraftool.watching.quorum import QuorumReport, ReplicaStatus

SCHEMA_VERSION = 1


def quorum_document(report: QuorumReport) -> dict[str, Any]:
    """The whole report."""
    voters = report.voters
    return {
        "schemaVersion": SCHEMA_VERSION,
        "at": report.at_ms,
        "clusterIds": plain(report.cluster_ids),
        "isLive": report.is_live,
        "leaderId": report.leader_id,
        "leaderRunsController": report.leader_runs_controller,
        "epoch": report.epoch,
        "highWatermark": report.high_watermark,
        "commitsPerSecond": None if report.rate is None else round(report.rate, 2),
        "leaderLogEndOffset": report.leader_end,
        "voters": {
            "ids": sorted(each.id for each in voters.now),
            "commit": voters.commit.value,
            "committedIds": sorted(each.id for each in voters.before or voters.now)
            if voters.commit.value in ("committed", "uncommitted", "static")
            else None,
            "offset": voters.offset,
            "toldBy": voters.source or None,
            "majority": voters.majority if voters.now else None,
        },
        "tolerance": {
            "failures": report.tolerance.count,
            "isLost": report.tolerance.is_lost,
            "text": report.tolerance.text,
        },
        "replicas": [_replica(each) for each in report.replicas],
        "elections": [
            {
                "epoch": each.epoch,
                "leaderId": each.leader_id,
                "at": each.at_ms,
                "isRecorded": each.is_recorded,
            }
            for each in report.elections
        ],
        "electionsSeen": report.elections_seen,
        "statements": [
            {"severity": each.severity.value, "text": plain(each.text)}
            for each in report.statements
        ],
    }


def _replica(each: ReplicaStatus) -> dict[str, Any]:
    return {
        "id": each.node_id,
        "directoryId": each.directory_id,
        "endpoint": plain(each.endpoint),
        "role": each.role,
        "isVoter": each.is_voter,
        "isJoining": each.is_joining,
        "isWitness": each.is_witness,
        "logEndOffset": each.log_end_offset,
        "lastKnownEndOffset": each.last_end,
        "lag": each.lag,
        "lagMs": each.lag_ms,
        "fetchedMsAgo": each.fetched_ms,
        "caughtUpMsAgo": each.caught_up_ms,
        "isAsked": each.is_asked,
        "isReached": each.is_reached,
        "tookMs": each.took_ms,
        "saysLeaderId": each.says_leader,
        "saysEpoch": each.says_epoch,
        "problem": plain(each.problem),
        "directory": plain(each.path),
        "directoryEndOffset": each.disk_end_offset,
        "directoryStale": plain(each.stale) or None,
        "restart": None
        if each.restart is None
        else {"isSafe": each.restart.is_safe, "reason": each.restart.reason},
    }


def quorum_rows(report: QuorumReport) -> Iterable[Sequence[object]]:
    """The replicas as rows, under their headings."""
    names = [
        each for each in _replica(ReplicaStatus(node_id=None, role="unknown")) if each != "restart"
    ]
    yield [*names, "restartIsSafe"]
    for each in report.replicas:
        values = _replica(each)
        safe = None if each.restart is None else each.restart.is_safe
        yield [*(values[name] for name in names), safe]
