"""Plays a transcript of the raft core on both nodes, and compares them after each command.

Owns how the short words of a transcript become bytes: each name of a directory becomes a directory
id, and a batch without records gets some. Flushes and deliveries happen by themselves here. What
cannot be played raises `NotPlayable` with the reason.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.errors import KraftoolError
from kraftool.raft.events import (
    Append,
    Effect,
    Event,
    LogCleaned,
    LogFlushed,
    RequestReceived,
    Resign,
    ResponseReceived,
    SetDeadline,
    Shutdown,
    SnapshotWritten,
    StateMachineAt,
    TimePassed,
    UpgradeKRaftVersion,
)
from kraftool.raft.messages import ApiVersionsRequest, ApiVersionsResponse, FetchSnapshotResponse
from kraftool.raft.names import Endpoint, ReplicaKey
from kraftool.raft.records import Batch
from kraftool.raft.wire import batches as wire_batches
from kraftool.raft.wire import requests as wire_requests
from kraftool.raft.wire import responses as wire_responses
from tests.differential.compare import Difference, differences
from tests.differential.kafka_client import KafkaClient
from tests.differential.our_node import MIDDLE
from tests.differential.outcome import Outcome, Sent
from tests.differential.pair import Pair
from tests.differential.start import Snapshot, Start
from tests.differential.steps import (
    VERSIONS,
    Action,
    Answer,
    AppendRecords,
    Ask,
    CleanLog,
    Pause,
    ResignLeader,
    ShutDown,
    Step,
    UpgradeLevel,
    WriteSnapshot,
)
from tests.differential.tolerated import After, Tolerated, explained
from tests.raft.transcript_node import Node
from tests.raft.transcript_setup import ScriptedRandom, Setup

_ID_LENGTH = 22
_NO_SERVERS = (Endpoint("boot", 1),)
"""Kafka requires a bootstrap server where a transcript has none."""


class NotPlayable(Exception):
    """The transcript shows the core in a way that a whole node cannot be in."""


class Differs(Exception):
    """The nodes differ, and no entry of the table explains it."""

    def __init__(self, observed: list[Difference], step: Step | None) -> None:
        super().__init__("\n".join(map(str, observed)))
        self.step = step


class Parted(Exception):
    """The nodes differ as the table says: the rest of the case cannot be compared."""

    def __init__(self, entries: Sequence[Tolerated]) -> None:
        super().__init__(", ".join(entry.name for entry in entries))


def directory_id(name: str) -> str:
    """Return the directory id that a transcript's short name stands for; an id as it is."""
    if len(name) == _ID_LENGTH:
        return name
    digest = hashlib.sha256(name.encode()).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def translated(value: Any) -> Any:
    """Return a value with directory ids for short names, and with bytes in its batches."""
    if isinstance(value, ReplicaKey):
        name = value.directory_id
        return value if name is None else ReplicaKey(value.id, directory_id(name))
    if isinstance(value, Batch):
        return _with_bytes(value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {field.name: translated(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **changed)
    if isinstance(value, tuple):
        listed = list(map(translated, value))
        return type(value)(*listed) if hasattr(value, "_fields") else tuple(listed)
    if isinstance(value, Mapping):
        return {name: translated(item) for name, item in value.items()}
    return value


def _with_bytes(batch: Batch) -> Batch:
    if batch.data is not None:
        return batch
    control = tuple(map(translated, batch.control))
    count = batch.last_offset - batch.base_offset + 1
    data = wire_batches.encode(
        replace(batch, control=control, data=None if control else (b"x",) * count)
    )
    if not batch.is_valid:
        data = data[:-1] + bytes([data[-1] ^ 1])
    return wire_batches.decode_batches(data)[0]


class BothNodes(Node):
    """A transcript's node that is a pair."""

    def __init__(self, kafka: KafkaClient, directory: Path) -> None:
        super().__init__()
        self.steps = 0
        self._kafka, self._directory = kafka, directory
        self._pair: Pair | None = None
        self._numbers: dict[int, Answer] = {}
        """An empty answer to each request that was sent, by its number in the transcript."""
        self._last: Outcome | None = None

    @property
    def pair(self) -> Pair:
        assert self._pair is not None, "the node is started"
        return self._pair

    def play(self, lines: Sequence[str]) -> None:
        """Run the commands of one block."""
        for line in lines:
            verb, *rest = line.split()
            if verb == "start":
                self._begin()
            elif verb != "show":
                self._run(verb, rest)

    def stop(self) -> None:
        if self._pair is not None:
            self._pair.stop()

    def show(self, effects: Sequence[Effect]) -> list[str]:
        return []

    def _chance(self) -> int:
        """Return the next number that the transcript names; it stays until it is drawn."""
        return self.random.draws[0] if self.random.draws else MIDDLE

    def _begin(self) -> None:
        self._pair = Pair(self._kafka, start_of(self.setup, self._chance()), self._directory, 0)
        self._agree(self._pair.start(), None)
        self._drop_drawn()

    def _drop_drawn(self) -> None:
        """Forget the numbers that the last step drew: one for all draws."""
        if self.pair.chance.draws:
            del self.random.draws[:1]

    def _agree(self, outcomes: tuple[Outcome, Outcome], step: Step | None) -> None:
        settings = self.pair.setup.settings
        observed = differences(*outcomes, step, self._last, settings)
        entries, unexplained = explained(observed)
        if unexplained:
            raise Differs(unexplained, step)
        if any(entry.after is not After.AS_IT_IS for entry in entries):
            raise Parted(entries)
        ours, _ = self._last, _ = outcomes
        if ours.fatal or ours.is_down or self.pair.node is None:
            self.is_over = True
            return
        self.raft_or_none = self.pair.node.raft
        self.deadline_ms = self.pair.node.deadline_ms
        known = Counter((sent.destination, sent.name) for sent in ours.sends)
        for sent in ours.sends:
            key = (sent.destination, sent.name)
            number = len(self.pair.sent[key]) - known[key]
            known[key] -= 1
            if self.setup.bootstrap or settings.bootstrap_servers != _NO_SERVERS or key[0] != -2:
                self._remember(sent, number)

    def _remember(self, sent: Sent, number: int) -> None:
        """Remember a request under the number that it has in the transcript."""
        asked: Any = ApiVersionsRequest()
        if sent.name != "ApiVersions":
            value, _ = codec.decode(f"{sent.name}Request", VERSIONS[sent.name], sent.data)
            asked = wire_requests.from_kafka(sent.name, value)
        at = len(self.sent)
        self.sent[at] = (sent.destination, asked)
        self._numbers[at] = Answer(
            destination=sent.destination,
            name=sent.name,
            number=number,
            version=VERSIONS[sent.name],
            data=b"",
        )

    def step(self, event: Event) -> list[Effect]:
        action = self._action(translated(event))
        if action is not None and not self.is_over:
            step = Step(
                at_ms=max(self.now_ms, self.pair.now_ms),
                chance=self._chance(),
                action=action,
                arrives_while_waiting=not isinstance(action, Pause),
            )
            self.steps += 1
            outcomes = self.pair.run(step)
            if outcomes is not None:
                self._agree(outcomes, step)
            self._drop_drawn()
        return [SetDeadline(at_ms=self.deadline_ms)]

    def _action(self, event: Event) -> Action | None:
        """Return the step of an event; None for what both nodes do by themselves."""
        match event:
            case LogFlushed() | StateMachineAt():
                return None
            case TimePassed():
                return Pause()
            case RequestReceived():
                return self._ask(event)
            case ResponseReceived():
                return self._answer(event)
            case Append(epoch=epoch, records=records):
                return AppendRecords(epoch=epoch, records=(b"y",) * len(records))
            case Resign(epoch=epoch):
                return ResignLeader(epoch=epoch)
            case Shutdown():
                return ShutDown()
            case UpgradeKRaftVersion(epoch=epoch, level=level, validate_only=only):
                return UpgradeLevel(epoch=epoch, level=level, validate_only=only)
            case SnapshotWritten(snapshot_id=place):
                return WriteSnapshot(offset=place.offset, epoch=place.epoch)
            case LogCleaned(start_offset=start):
                snapshots = [
                    snapshot for snapshot in self.raft.log.snapshots if snapshot.offset == start
                ]
                if not snapshots:
                    raise NotPlayable("the log is cleaned to an offset without a snapshot")
                return CleanLog(offset=start, epoch=snapshots[0].epoch)
            case _:
                raise NotPlayable(f"{type(event).__name__} happens by itself")

    def _ask(self, event: RequestReceived) -> Action:
        if not event.request.is_for_metadata:
            raise NotPlayable("a request for another partition has no bytes")
        name = wire_requests.NAMES[type(event.request)]
        value = wire_requests.to_kafka(event.request, VERSIONS[name])
        return Ask(
            request_id=event.request_id,
            name=name,
            version=VERSIONS[name],
            data=codec.encode(f"{name}Request", VERSIONS[name], value),
            listener=event.listener,
        )

    def _answer(self, event: ResponseReceived) -> Action:
        answer = self._numbers[event.correlation_id]
        response = event.response
        if isinstance(response, FetchSnapshotResponse) and response.chunk:
            raise NotPlayable("a slice of a snapshot has no bytes")
        if isinstance(response, ApiVersionsResponse):
            supported = response.kraft_version
            features = []
            if supported is not None:
                features = [
                    {
                        "name": "kraft.version",
                        "minVersion": supported.min,
                        "maxVersion": supported.max,
                    }
                ]
            value: dict[str, Any] = {
                "errorCode": int(response.top_error or response.error),
                "apiKeys": [],
                "throttleTimeMs": 0,
                "supportedFeatures": features,
            }
        else:
            value = wire_responses.to_kafka(answer.name, response, answer.version)
        data = codec.encode(f"{answer.name}Response", answer.version, value)
        return replace(answer, data=data)


def start_of(setup: Setup, chance: int) -> Start:
    """Return the beginning of a case."""
    if setup.is_witness:
        raise NotPlayable("Kafka has no witness")
    if any(offset >= 0 for offset, _ in setup.sets):
        raise NotPlayable("voters at an offset without a batch")
    try:
        settings = translated(setup.build(ScriptedRandom()).settings)
    except KraftoolError as error:
        raise NotPlayable("kraftool refuses the settings") from error
    directory = settings.directory_id
    settings = replace(
        settings,
        directory_id=directory_id(directory),
        bootstrap_servers=settings.bootstrap_servers
        or (() if settings.static_voters.voters else _NO_SERVERS),
        listeners={} if setup.is_nameless else settings.listeners,
        is_controller=settings.is_controller and not setup.is_nameless,
    )
    level = 1 if setup.sets else 0
    voters = translated(setup.sets[-1][1]) if setup.sets else None
    snapshots = [
        Snapshot(
            id=snapshot,
            kraft_version=level,
            voters=voters,
            wipes=0 < setup.log_start == snapshot.offset,
        )
        for snapshot in sorted(setup.snapshots)
    ]
    before = tuple(snapshot for snapshot in snapshots if snapshot.wipes or snapshot.id.offset == 0)
    if setup.log_start and not any(snapshot.wipes for snapshot in before):
        raise NotPlayable("the log starts without a snapshot")
    return Start(
        settings=settings,
        chance=chance,
        before=before,
        batches=tuple(wire_batches.encode(translated(batch)) for batch in setup.batches),
        after=tuple(snapshot for snapshot in snapshots if snapshot not in before),
        election=translated(setup.state),
        kraft_version=level,
    )
