"""The shape of `diff-voters -o json`, schemaVersion 1: docs/schemas/diff-voters.json describes it.

Owns the names of the document's members.
"""

from __future__ import annotations

from typing import Any

from kraftool.raft.names import Voter
from kraftool.reports.metadata_summary import SeenVoters
from kraftool.reports.plain_json import finding_counts, finding_object, plain
from kraftool.reports.voters.diff import ComparedSource, VoterDiff
from kraftool.reports.voters.model import HistoryEntry, QuorumSettings
from kraftool.reports.voters.voter_set import addresses

SCHEMA_VERSION = 1


def document(diff: VoterDiff) -> dict[str, Any]:
    """The whole report."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "differ": diff.differ,
        "kraftVersion": diff.kraft_version,
        "newest": None
        if diff.newest is None
        else {"source": plain(diff.newest.name), **(_voters(diff.voters) or {})},
        "sources": [_source(each) for each in diff.sources],
        "findings": [finding_object(each) for each in diff.findings],
        "findingCounts": finding_counts(diff.findings),
    }


def _source(compared: ComparedSource) -> dict[str, Any]:
    source = compared.source
    state = source.quorum_state
    return {
        "source": plain(source.name),
        "kind": source.kind,
        "otherCluster": compared.foreign,
        "behind": compared.behind,
        "differences": list(compared.differences),
        "node": plain(source.node),
        "isWitness": source.is_witness,
        "kraftVersion": source.kraft_version,
        "voters": _voters(source.in_force),
        "endOffset": source.end,
        "highWatermark": source.high_watermark,
        "log": {"startOffset": source.log.start, "endOffset": source.log.end}
        if source.log is not None
        else None,
        "snapshots": [plain(each) for each in source.snapshots],
        "quorumState": {
            "leaderEpoch": state.leader_epoch,
            "leaderId": state.leader_id,
            "votedId": state.voted_id,
            "votedDirectoryId": state.voted_directory_id,
        }
        if state is not None
        else None,
        "settings": _settings(source.settings),
        "history": [_entry(each) for each in source.history],
        "leaderChanges": [plain(each) for each in source.leaders],
    }


def _voters(voters: SeenVoters | None) -> dict[str, Any] | None:
    if voters is None:
        return None
    return {
        "toldBy": voters.source.value,
        "offset": voters.offset,
        "file": plain(voters.file),
        "voters": [
            _voter(each, recorded=voters.is_recorded)
            for each in sorted(voters.voters, key=lambda each: each.id)
        ],
    }


def _voter(voter: Voter, *, recorded: bool) -> dict[str, Any]:
    supported = voter.kraft_version
    return {
        "id": voter.id,
        "directoryId": voter.directory_id,
        "endpoints": _endpoints(voter),
        "kraftVersions": {
            "minSupportedVersion": supported.min,
            "maxSupportedVersion": supported.max,
        }
        if recorded
        else None,
    }


def _endpoints(voter: Voter) -> list[dict[str, Any]]:
    """Endpoints by listener, null for the one address of a static voter."""
    return [
        {"listener": plain(listener) or None, "address": plain(address)}
        for listener, address in sorted(addresses(voter).items())
    ]


def _entry(entry: HistoryEntry) -> dict[str, Any]:
    return {
        "offset": entry.offset,
        "epoch": entry.epoch,
        "timestamp": entry.timestamp,
        "origin": entry.origin.value,
        "file": plain(entry.file),
        "position": entry.position,
        "kraftVersion": entry.level,
        "voters": None
        if entry.voters is None
        else [
            _voter(each, recorded=True) for each in sorted(entry.voters, key=lambda each: each.id)
        ],
        "changes": plain(entry.changes),
        "afterDamage": entry.after_damage,
        "repeatedIn": plain(entry.repeated_in),
        "commitment": entry.verdict.commitment.value,
        "reason": entry.verdict.reason,
    }


def _settings(settings: QuorumSettings | None) -> dict[str, Any] | None:
    if settings is None:
        return None
    return {
        "file": plain(settings.file),
        "nodeId": settings.node_id,
        "roles": plain(settings.roles),
        "staticVoters": [_voter(each, recorded=False) for each in settings.static_voters],
        "bootstrapServers": plain(settings.bootstrap_servers),
        "controllerListeners": plain(settings.controller_listeners),
        "advertised": plain(settings.advertised),
    }
