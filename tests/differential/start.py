"""The beginning of a trial: the settings of the node, and the directory that both sides start on.

Owns the value and what the driver of Kafka's client is given of it.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from kraftool.decoders import codec
from kraftool.raft.names import ElectionState, OffsetAndEpoch, VoterSet
from kraftool.raft.settings import TIMING_KEYS, NodeSettings
from kraftool.raft.wire import batches as wire_batches
from tests.differential.steps import VERSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One in the directory, without records of data."""

    id: OffsetAndEpoch
    kraft_version: int = 0
    voters: VoterSet | None = None
    wipes: bool = False
    """True if the log begins after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    settings: NodeSettings
    chance: int
    before: tuple[Snapshot, ...] = ()
    """Written before the log."""
    batches: tuple[bytes, ...] = ()
    after: tuple[Snapshot, ...] = ()
    election: ElectionState | None = None
    kraft_version: int = 0
    """The version of kraft.version that quorum-state is written for."""


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def content_of(start: Start) -> dict[str, Any]:
    """Return what the driver writes into the folder."""
    return {
        "before": [_snapshot(snapshot) for snapshot in start.before],
        "batches": [text(batch) for batch in start.batches],
        "after": [_snapshot(snapshot) for snapshot in start.after],
    }


def settings_of(settings: NodeSettings) -> dict[str, Any]:
    """Return the settings as the driver takes them."""
    timing = settings.timing
    listener = settings.default_listener
    return {
        "id": settings.node_id,
        "directory": settings.directory_id,
        "cluster": settings.cluster_id,
        "defaultListener": listener,
        "listeners": {name: list(endpoint) for name, endpoint in settings.listeners.items()},
        "staticVoters": {
            str(static_voter.key.id): list(static_voter.endpoints[listener])
            for static_voter in settings.static_voters
        },
        "bootstrap": [list(bootstrap_server) for bootstrap_server in settings.bootstrap_servers],
        "canBecomeVoter": settings.is_controller,
        "fetchMaxWaitMs": timing.fetch_max_wait_ms,
        "versions": VERSIONS,
        "settings": {
            **{key: getattr(timing, name) for key, name in TIMING_KEYS.items()},
            "controller.quorum.auto.join.enable": settings.auto_join,
            "controller.quorum.fetch.max.bytes": settings.fetch_max_bytes,
            "controller.quorum.fetch.snapshot.max.bytes": settings.fetch_snapshot_max_bytes,
        },
    }


def _snapshot(snapshot: Snapshot) -> dict[str, Any]:
    voters = snapshot.voters if snapshot.kraft_version else None
    return {
        "offset": snapshot.id.offset,
        "epoch": snapshot.id.epoch,
        "kraftVersion": snapshot.kraft_version,
        "voters": None if voters is None else text(voters_bytes(voters)),
        "wipes": snapshot.wipes,
    }


def voters_bytes(voters: VoterSet) -> bytes:
    return codec.encode("VotersRecord", 0, wire_batches.voters_record(voters))
