"""The shapes of what `quorum` writes with -o json, schemaVersion 1.

Owns the names of the documents' members; docs/schemas/quorum.json describes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kraftool.client.change import QuorumChange
from kraftool.client.cluster_health import ClusterHealth
from kraftool.client.health import Health
from kraftool.client.model import NodeAnswer, QuorumView, leader_end
from kraftool.raft.messages import ReplicaState
from kraftool.raft.names import Endpoints
from kraftool.reports.plain_json import finding_counts, finding_object

SCHEMA_VERSION = 1


def describe_document(view: QuorumView) -> dict[str, Any]:
    """What the nodes said."""
    return {"schemaVersion": SCHEMA_VERSION, **_quorum(view)}


def health_document(health: Health) -> dict[str, Any]:
    """What the nodes said, and what is wrong."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        **_quorum(health.view),
        "health": {
            "isWell": health.is_well,
            "keepingUp": sorted(health.keeping_up),
            "commitsPerSecond": None
            if health.commits_per_s is None
            else round(health.commits_per_s, 2),
            "cluster": _cluster(health.cluster),
            "unobserved": health.unobserved,
            "findings": [finding_object(each) for each in health.findings],
            "findingCounts": finding_counts(health.findings),
        },
    }


def _cluster(found: ClusterHealth | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "readFrom": found.observation.leader_id,
        "endOffset": found.observation.end_offset,
        "brokers": {
            "registered": list(found.brokers),
            "fenced": list(found.fenced),
            "inControlledShutdown": list(found.shutting_down),
            "notFetching": list(found.absent),
        },
        "controllers": list(found.controllers),
        "topics": found.topics,
        "partitions": {
            "total": found.partitions,
            "offline": found.offline,
            "underReplicated": found.under_replicated,
            "underMinIsr": found.under_min_isr,
            "notPreferredLeader": found.not_preferred,
            "reassigning": found.reassigning,
        },
        "leaderChangesLastHour": found.elections,
    }


def change_document(change: QuorumChange, *, dry_run: bool) -> dict[str, Any]:
    """A change with its checks and what came of it."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "change": {
            "kind": change.kind,
            "subject": change.subject,
            "dryRun": dry_run,
            "isNeeded": change.is_needed,
            "isPossible": change.is_possible,
            "checks": [
                {"verdict": each.verdict.value, "text": each.text, "advice": each.advice}
                for each in change.checks
            ],
            "outcome": change.outcome.value,
            "reason": change.reason,
        },
    }


def _quorum(view: QuorumView) -> dict[str, Any]:
    quorum = view.quorum
    return {
        "clusterId": view.cluster_id,
        "leaderId": None if view.leader is None else view.leader.node_id,
        "leaderRunsController": None if view.leader is None else view.leader.runs_controller,
        "epoch": view.epoch,
        "highWatermark": None
        if quorum is None or quorum.high_watermark < 0
        else quorum.high_watermark,
        "voters": _replicas(view, view.voters) if quorum is not None else None,
        "observers": _replicas(view, view.observers) if quorum is not None else None,
        "nodes": [_node(view, each) for each in view.nodes],
        "brokers": [_broker(each) for each in view.brokers],
    }


def _replicas(view: QuorumView, replicas: Iterable[ReplicaState]) -> list[dict[str, Any]]:
    end = leader_end(view)
    return [
        {
            "id": each.replica.id,
            "directoryId": each.replica.directory_id,
            "endpoints": _endpoints(view.voter_endpoints.get(each.replica.id, {})),
            "logEndOffset": _known(each.log_end_offset),
            "lag": None if each.log_end_offset < 0 else max(end - each.log_end_offset, 0),
            "lastFetchTimestamp": _known(each.last_fetch_timestamp),
            "lastCaughtUpTimestamp": _known(each.last_caught_up_timestamp),
        }
        for each in replicas
    ]


def _endpoints(endpoints: Endpoints) -> list[dict[str, Any]]:
    return [
        {"listener": name, "host": each.host, "port": each.port} for name, each in endpoints.items()
    ]


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _broker(broker: NodeAnswer) -> dict[str, Any]:
    return {
        "endpoint": str(broker.endpoint),
        "problem": broker.problem,
        "advice": broker.advice,
        "clusterId": broker.cluster_id,
        "controllers": [
            {"id": node_id, "endpoint": str(endpoint)}
            for node_id, endpoint in sorted(broker.controllers.items())
        ],
    }


def _node(view: QuorumView, each: NodeAnswer) -> dict[str, Any]:
    return {
        "id": each.node_id,
        "endpoint": str(each.endpoint),
        "isReached": each.is_reached,
        "problem": each.problem,
        "advice": each.advice,
        "tookMs": each.took_ms,
        "clusterId": each.cluster_id,
        "isLeader": each.quorum is not None,
        "isWitness": view.is_witness(each.node_id),
        "leaderId": each.leader_id,
        "epoch": each.epoch,
        "finalizedFeaturesEpoch": _known(each.offered.finalized_epoch),
        "finalizedFeatures": dict(sorted(each.offered.finalized.items())),
        "supportedFeatures": {
            name: {"min": low, "max": high}
            for name, (low, high) in sorted(each.offered.supported.items())
        },
    }
