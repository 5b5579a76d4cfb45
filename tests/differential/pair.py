"""Both nodes of a trial: Kafka's client and kraftool's core, each on a directory of its own.

Owns what a step is on each side, and how the two are brought together again: both start on copies
of one directory.
"""

from __future__ import annotations

import base64
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.error_codes import Error
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_FOLDER
from kraftool.raft.events import (
    Append,
    Event,
    RequestReceived,
    Resign,
    ResponseReceived,
    Shutdown,
    TimePassed,
    UpgradeKRaftVersion,
)
from kraftool.raft.messages import ApiVersionsResponse, Response
from kraftool.raft.names import OffsetAndEpoch, VersionRange
from kraftool.raft.raft import Raft
from kraftool.raft.wire import batches as wire_batches
from kraftool.raft.wire import requests as wire_requests
from kraftool.raft.wire import responses as wire_responses
from kraftool.storage.election_store import ElectionStore
from kraftool.storage.files import Files
from tests.differential.kafka_client import KafkaClient
from tests.differential.our_node import Chance, OurNode
from tests.differential.outcome import Folder, Outcome, Replied, Sent, voters_of
from tests.differential.start import Start, content_of, settings_of, text
from tests.differential.steps import (
    API_KEYS,
    API_NAMES,
    BEGIN_MS,
    Answer,
    AppendRecords,
    Ask,
    CleanLog,
    Pause,
    ResignLeader,
    Restart,
    ShutDown,
    Step,
    UpgradeLevel,
    WriteSnapshot,
)

NO_TIMER_MS = 10**12
"""Kafka's timers that never run out have more left than this."""


class Pair:
    """The two nodes. `start` and `run` return what each of them did."""

    def __init__(
        self, kafka: KafkaClient, start: Start, directory: Path, begin_ms: int = BEGIN_MS
    ) -> None:
        self.kafka, self.setup = kafka, start
        self.chance = Chance()
        self.now_ms = begin_ms
        self.node: OurNode | None = None
        self.sent: dict[tuple[int, str], list[tuple[Sent, Sent]]] = defaultdict(list)
        """Requests of both nodes by destination and name, ours first."""
        self._theirs, self._ours = directory / "kafka", directory / "kraftool"
        self._folder = Folder(self._theirs)

    @property
    def raft(self) -> Raft:
        assert self.node is not None, "the node runs"
        return self.node.raft

    def start(self) -> tuple[Outcome, Outcome]:
        """Fill Kafka's directory, copy it, and start both nodes."""
        folder = self._theirs / METADATA_FOLDER
        folder.mkdir(parents=True)
        self._ask("fill", folder=str(folder), at=self.now_ms, **content_of(self.setup))
        if self.setup.election is not None:
            voters = self.setup.settings.static_voters.ids
            store = ElectionStore(Files(), str(folder), voters)
            store.write(self.setup.election, self.setup.kraft_version)
        return self.reunite(self.setup.chance)

    def reunite(self, chance: int, *, from_kafka: bool = True) -> tuple[Outcome, Outcome]:
        """End both processes, copy one directory to the other, and start both."""
        self.stop()
        source, target = self._theirs, self._ours
        if not from_kafka:
            source, target = target, source
        if target.exists():
            shutil.rmtree(target)
        shutil.copytree(source, target)
        return self._start(chance)

    def stop(self) -> None:
        """End both processes."""
        if self.node is not None:
            self.node.close()
            self.node = None
        self._ask("stop")

    def _start(self, chance: int) -> tuple[Outcome, Outcome]:
        self.chance.begin(chance)
        self.sent.clear()
        self._folder = Folder(self._theirs)
        answer = self.kafka.ask(
            "start",
            folder=str(self._theirs / METADATA_FOLDER),
            at=self.now_ms,
            chance=chance,
            **settings_of(self.setup.settings),
        )
        try:
            self.node = OurNode(self.setup.settings, self._ours, self.chance)
            ours = self.node.start(self.now_ms)
        except KraftoolError as error:
            ours = Outcome(fatal=f"{type(error).__name__}: {error}")
        return self._both(ours, self._outcome(answer))

    def run(self, step: Step) -> tuple[Outcome, Outcome] | None:
        """Do one step on both sides. None if it makes no sense here, which a replay may meet."""
        self.chance.begin(step.chance)
        action = step.action
        if isinstance(action, Answer) and not self._was_sent(action):
            return None
        self.now_ms = max(self.now_ms, step.at_ms)
        if isinstance(action, Restart):
            self.stop()
            return self._start(step.chance)
        answer = self.kafka.ask(
            "step",
            at=self.now_ms,
            chance=step.chance,
            arrivesWhileWaiting=step.arrives_while_waiting,
            **self._command(step),
        )
        return self._both(
            self._our_step(step), self._outcome(answer, is_answer=isinstance(action, Answer))
        )

    def _was_sent(self, action: Answer) -> bool:
        return action.number < len(self.sent.get((action.destination, action.name), ()))

    def _both(self, ours: Outcome, theirs: Outcome) -> tuple[Outcome, Outcome]:
        """Remember the requests that both sent, so that they can be answered."""
        waiting: dict[tuple[int, str], list[Sent]] = defaultdict(list)
        for sent in ours.sends:
            waiting[sent.destination, sent.name].append(sent)
        for sent in theirs.sends:
            mine = waiting[sent.destination, sent.name]
            if mine:
                self.sent[sent.destination, sent.name].append((mine.pop(0), sent))
        return ours, theirs

    def _our_step(self, step: Step) -> Outcome:
        node = self.node
        assert node is not None, "the node runs"
        node.begin()
        outcome = Outcome()
        if not step.arrives_while_waiting and not isinstance(step.action, Pause):
            outcome = node.step(self.now_ms, TimePassed())
            if outcome.fatal is not None or node.raft.is_stopped:
                return outcome
        try:
            event = self._event(step)
        except KraftoolError as error:
            outcome.fatal = f"{type(error).__name__}: {error}"
            return outcome
        return node.step(self.now_ms, event if event is not None else TimePassed())

    def _event(self, step: Step) -> Event | None:
        node = self.node
        assert node is not None, "the node runs"
        match step.action:
            case Ask() as ask:
                value, _ = codec.decode(f"{ask.name}Request", ask.version, ask.data)
                node.asked[ask.request_id] = (ask.name, ask.version)
                return RequestReceived(
                    request_id=ask.request_id,
                    request=wire_requests.from_kafka(ask.name, value),
                    listener=ask.listener,
                )
            case Answer() as answer:
                sent, _ = self.sent[answer.destination, answer.name][answer.number]
                waiting = node.raft.connections
                node.outcome.accepts_answer = waiting.is_expected(
                    answer.destination, sent.correlation_id
                )
                if not node.outcome.accepts_answer:
                    node.outcome.ignored_after_ms = self.now_ms - sent.at_ms
                return ResponseReceived(
                    source_id=answer.destination,
                    correlation_id=sent.correlation_id,
                    response=_response(answer, self.setup.settings.default_listener),
                )
            case AppendRecords(epoch=epoch, records=records):
                size = sum(len(record) + 8 for record in records)
                return Append(epoch=epoch, records=records, size=size)
            case ResignLeader(epoch=epoch):
                return Resign(epoch=epoch)
            case UpgradeLevel(epoch=epoch, level=level, validate_only=only):
                return UpgradeKRaftVersion(epoch=epoch, level=level, validate_only=only)
            case WriteSnapshot(offset=offset, epoch=epoch):
                return node.write_snapshot(self.now_ms, OffsetAndEpoch(offset, epoch))
            case CleanLog():
                return node.clean(self.now_ms)
            case ShutDown():
                return Shutdown()
            case _:
                return None

    def _command(self, step: Step) -> dict[str, Any]:
        match step.action:
            case Ask() as ask:
                return {
                    "action": "request",
                    "request": ask.request_id,
                    "api": API_KEYS[ask.name],
                    "version": ask.version,
                    "data": text(ask.data),
                    "listener": ask.listener,
                }
            case Answer() as answer:
                _, sent = self.sent[answer.destination, answer.name][answer.number]
                return {
                    "action": "response",
                    "correlationId": sent.correlation_id,
                    "api": API_KEYS[answer.name],
                    "version": answer.version,
                    "data": text(answer.data),
                }
            case AppendRecords(epoch=epoch, records=records):
                return {"action": "append", "epoch": epoch, "records": list(map(text, records))}
            case ResignLeader(epoch=epoch):
                return {"action": "resign", "epoch": epoch}
            case UpgradeLevel(epoch=epoch, level=level, validate_only=only):
                return {"action": "upgrade", "epoch": epoch, "level": level, "validateOnly": only}
            case WriteSnapshot(offset=offset, epoch=epoch):
                return {"action": "snapshot", "offset": offset, "epoch": epoch}
            case CleanLog(offset=offset, epoch=epoch):
                return {"action": "clean", "offset": offset, "epoch": epoch}
            case ShutDown():
                return {"action": "shutdown"}
            case _:
                return {"action": "time"}

    def _ask(self, command: str, **arguments: Any) -> None:
        """Have the driver do what cannot fail."""
        answer = self.kafka.ask(command, **arguments)
        assert "fatal" not in answer, f"{command}: {answer}"

    def _outcome(self, answer: dict[str, Any], *, is_answer: bool = False) -> Outcome:
        """Return the outcome of Kafka's client."""
        if "fatal" in answer:
            place = [line for line in answer["trace"] if "org.apache.kafka" in line][:2]
            return Outcome(fatal=f"{answer['fatal']} at {' from '.join(place)}")
        state = answer["state"]
        state.setdefault("download", None)
        state["timers"] = {
            name: left for name, left in state["timers"].items() if left < NO_TIMER_MS
        }
        voters, _ = codec.decode("VotersRecord", 0, base64.b64decode(state["voters"]))
        state["voters"] = voters_of(wire_batches.voter_set(voters))
        state["files"] = self._folder.content()
        return Outcome(
            sends=[_sent(send) for send in answer["sends"]],
            replies={reply["request"]: _replied(reply) for reply in answer["replies"]},
            leader=tuple(answer["leaders"][-1]) if answer["leaders"] else None,
            refused=answer.get("refused"),
            is_down=answer["isDown"],
            accepts_answer=answer.get("outcome") if is_answer else None,
            state=state,
        )


def _sent(sent: dict[str, Any]) -> Sent:
    return Sent(
        destination=sent["destination"],
        name=API_NAMES[sent["api"]],
        host=sent["host"],
        port=sent["port"],
        correlation_id=sent["correlationId"],
        data=base64.b64decode(sent["data"]),
    )


def _replied(reply: dict[str, Any]) -> Replied:
    assert "error" not in reply, f"Kafka fails a request: {reply['error']}"
    return Replied(
        name=API_NAMES[reply["api"]],
        version=reply["version"],
        data=base64.b64decode(reply["data"]),
    )


def _response(answer: Answer, listener: str) -> Response:
    """A response as the node's connection reads it."""
    value, _ = codec.decode(f"{answer.name}Response", answer.version, answer.data)
    if answer.name != "ApiVersions":
        return wire_responses.from_kafka(answer.name, value, listener)
    features = [
        feature for feature in value["supportedFeatures"] if feature["name"] == "kraft.version"
    ]
    return ApiVersionsResponse(
        top_error=Error(value["errorCode"]),
        kraft_version=VersionRange(features[0]["minVersion"], features[0]["maxVersion"])
        if features
        else None,
    )
