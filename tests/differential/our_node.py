"""kraftool's node as the comparison needs it: the core over a real metadata log, without waiting.

Owns the order of one step as `node/runner.py` has it: the effects in order, then what the disk
reports, before anything else. The state machine above consumes at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.errors import KraftoolError
from kraftool.raft import core, snapshots
from kraftool.raft.events import (
    AppendBatches,
    AppendToSnapshot,
    Deliver,
    DropSnapshotDownload,
    Effect,
    Event,
    Flush,
    InstallSnapshot,
    LeaderChanged,
    LogCleaned,
    LogFlushed,
    PersistElection,
    Refused,
    Reply,
    RequestReceived,
    ResponseReceived,
    Send,
    SetDeadline,
    SnapshotWritten,
    StartSnapshotDownload,
    StateMachineAt,
    Stopped,
    Truncate,
)
from kraftool.raft.messages import FetchResponse, FetchSnapshotResponse
from kraftool.raft.names import ImpossibleMessage, OffsetAndEpoch
from kraftool.raft.raft import Raft
from kraftool.raft.reading import filled
from kraftool.raft.roles import NEVER, Follower, Leader
from kraftool.raft.settings import NodeSettings
from kraftool.raft.wire import requests as wire_requests
from kraftool.raft.wire import responses as wire_responses
from kraftool.storage.log_config import LogConfig
from kraftool.storage.metadata_log import MetadataLog
from tests.differential.outcome import Folder, Outcome, Replied, Sent, voters_of
from tests.differential.steps import VERSIONS

MIDDLE = -1
"""The chance that gives the middle below each bound."""


class Chance:
    """The same number for every draw of a step, modulo the bound. `java/Manual.java` has it too."""

    def __init__(self) -> None:
        self.number = self.draws = 0

    def begin(self, number: int) -> None:
        self.number, self.draws = number, 0

    def randrange(self, stop: int, /) -> int:
        self.draws += 1
        return stop // 2 if self.number == MIDDLE else self.number % stop


class OurNode:
    """One process of kraftool, from its start to its end."""

    def __init__(self, settings: NodeSettings, directory: Path, chance: Chance) -> None:
        self.settings = settings
        self.log = MetadataLog.open(
            str(directory), LogConfig(), static_voters=settings.static_voters
        )
        self.raft = Raft(settings, chance, self.log.view, self.log.control, self.log.election)
        self.deadline_ms = 0
        self.consumed = 0
        self.has_truncated = False
        self.asked: dict[int, tuple[str, int]] = {}
        """The name and version of each request that arrived."""
        self._folder = Folder(directory)
        self._now_ms = 0
        self.outcome = Outcome()

    def close(self) -> None:
        self.log.close()

    def start(self, now_ms: int) -> Outcome:
        return self._do(now_ms, lambda: core.start(self.raft, now_ms), None)

    def step(self, now_ms: int, event: Event) -> Outcome:
        return self._do(now_ms, lambda: core.step(self.raft, now_ms, event), event)

    def begin(self) -> None:
        """Forget what the last step did: a step may be several events."""
        self.outcome = Outcome()

    def write_snapshot(self, now_ms: int, snapshot_id: OffsetAndEpoch) -> Event | None:
        """Write a snapshot if the core allows it; return the event that says so."""
        raft = self.raft
        is_border = snapshot_id.offset <= self.log.end_offset and self.log.is_batch_border(
            snapshot_id.offset
        )
        why = snapshots.refusal(raft, snapshot_id, is_batch_border=is_border)
        if why is not None:
            self.outcome.refused = why or None
            return None
        at = snapshot_id.offset - 1
        level = raft.control.kraft_versions.at(at) or 0
        voters = raft.control.voter_sets.at(at) if level else None
        self.log.new_snapshot(snapshot_id, 0, level, voters, now_ms=now_ms).freeze()
        return SnapshotWritten(snapshot_id=snapshot_id)

    def clean(self, now_ms: int) -> Event | None:
        """Drop everything before the newest committed snapshot; return the event that says so."""
        committed = self.raft.role.high_watermark
        self.log.config = replace(self.log.config, retention_bytes=0)
        start = self.log.clean(now_ms, committed=committed)
        return None if start is None else LogCleaned(start_offset=start)

    def _do(self, now_ms: int, effects: Callable[[], list[Effect]], event: Event | None) -> Outcome:
        self._now_ms = now_ms
        outcome = self.outcome
        try:
            try:
                self._perform(effects())
            except ImpossibleMessage as error:
                assert isinstance(event, RequestReceived | ResponseReceived), "only messages are"
                outcome.impossible = error.message
                self._perform(core.refuse(self.raft, event))
        except (KraftoolError, AssertionError) as error:
            outcome.fatal = f"{type(error).__name__}: {error}"
        outcome.state, outcome.has_truncated = self._state(), self.has_truncated
        return outcome

    def _perform(self, effects: list[Effect]) -> None:
        waiting: deque[Event] = deque()
        self._effects(effects, waiting)
        while waiting and not self.raft.is_stopped:
            self._effects(core.step(self.raft, self._now_ms, waiting.popleft()), waiting)

    def _effects(self, effects: list[Effect], waiting: deque[Event]) -> None:
        self.log.commit(self.raft.log.high_watermark)
        for effect in effects:
            event = self._effect(effect)
            if event is not None:
                waiting.append(event)

    def _effect(self, effect: Effect) -> Event | None:
        outcome, log = self.outcome, self.log
        match effect:
            case PersistElection(state=state, kraft_version=level):
                log.persist_election(state, level)
            case AppendBatches(batches=batches):
                log.append(batches)
            case Flush(end_offset=end):
                log.flush(end)
                return LogFlushed(end_offset=end)
            case Truncate(offset=offset):
                log.truncate(offset)
                self.has_truncated = True
            case StartSnapshotDownload(snapshot_id=snapshot):
                log.begin_download(snapshot)
            case AppendToSnapshot(snapshot_id=snapshot, chunk=chunk):
                log.append_to_download(snapshot, chunk)
            case InstallSnapshot(snapshot_id=snapshot):
                return log.install_snapshot(snapshot)
            case DropSnapshotDownload(snapshot_id=snapshot):
                log.drop_download(snapshot)
            case Deliver(to_offset=end):
                self.consumed = end
                return StateMachineAt(next_offset=end)
            case Send():
                outcome.sends.append(_sent(effect, self._now_ms))
            case Reply():
                outcome.replies[effect.request_id] = self._replied(effect)
            case LeaderChanged(epoch=epoch, leader_id=leader):
                outcome.leader = (epoch, -1 if leader is None else leader)
            case Refused(reason=reason):
                outcome.refused = reason
            case Stopped():
                outcome.is_down = True
            case SetDeadline(at_ms=at):
                self.deadline_ms = at
        return None

    def _replied(self, effect: Reply) -> Replied:
        name, version = self.asked[effect.request_id]
        response = effect.response
        if isinstance(response, FetchResponse | FetchSnapshotResponse):
            response = filled(self.log, response)
        value = wire_responses.to_kafka(name, response, version)
        return Replied(
            name=name, version=version, data=codec.encode(f"{name}Response", version, value)
        )

    def _state(self) -> dict[str, Any]:
        """The same facts as `java/Observed.java` has of Kafka's client."""
        raft = self.raft
        role, voted = raft.role, raft.role.voted
        return {
            "role": type(role).__name__,
            "epoch": role.epoch,
            "leader": -1 if role.leader_id is None else role.leader_id,
            "voted": -1 if voted is None else voted.id,
            "votedDirectory": None if voted is None else voted.directory_id,
            "highWatermark": -1 if role.high_watermark is None else role.high_watermark,
            "logStart": raft.log.start_offset,
            "logEnd": raft.log.end_offset,
            "lastEpoch": raft.log.last_epoch,
            "kraftVersion": raft.control.kraft_version,
            "voters": voters_of(raft.control.voters),
            "consumed": self.consumed,
            "timers": self._timers(),
            "download": _download(role) if isinstance(role, Follower) else None,
            "files": self._folder.content(),
        }

    def _timers(self) -> dict[str, int]:
        match self.raft.role:
            case Follower() as role:
                ends = {"fetch": role.fetch_deadline_ms, "update": role.update_deadline_ms}
            case Leader() as role:
                ends = {"beginQuorum": role.begin_quorum_deadline_ms}
                if len(self.raft.control.voters) > 1:  # else nothing looks at it
                    ends["checkQuorum"] = role.check_quorum_deadline_ms
            case role:
                ends = {"election": role.election_deadline_ms}
        return {name: max(0, at - self._now_ms) for name, at in ends.items() if at < NEVER}


def _download(role: Follower) -> str | None:
    if role.download is None:
        return None
    snapshot = role.download.snapshot_id
    return f"{snapshot.offset}@{snapshot.epoch}:{role.download.position}"


def _sent(effect: Send, now_ms: int) -> Sent:
    name = wire_requests.NAMES.get(type(effect.request), "ApiVersions")
    version = VERSIONS[name]
    data = b""
    if name != "ApiVersions":  # the connection writes this one
        value = wire_requests.to_kafka(effect.request, version)
        data = codec.encode(f"{name}Request", version, value)
    return Sent(
        destination=effect.destination_id,
        name=name,
        host=effect.endpoint.host,
        port=effect.endpoint.port,
        correlation_id=effect.correlation_id,
        data=data,
        at_ms=now_ms,
    )
