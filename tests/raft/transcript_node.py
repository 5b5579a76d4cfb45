"""One node of a transcript: lines in, what it did and how it stands out.

Owns the commands. Each is one step of the core, except those that begin with `become` and `commit`,
which take a node quietly through steps that other cases show one by one. It refuses to run the
node's effects: a flush is done when the transcript says `flushed`.
"""

from collections.abc import Callable, Sequence

from kraftool.decoders.errors import KraftoolError
from kraftool.raft import core, snapshots
from kraftool.raft.events import (
    Append,
    Effect,
    Event,
    LogCleaned,
    LogFlushed,
    RequestReceived,
    Resign,
    ResponseReceived,
    Send,
    SetDeadline,
    Shutdown,
    SnapshotInstalled,
    SnapshotWritten,
    StateMachineAt,
    TimePassed,
    UpgradeKRaftVersion,
)
from kraftool.raft.messages import Request
from kraftool.raft.names import ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Candidate, Follower, Leader, Prospective
from tests.raft import transcript_quiet, transcript_words
from tests.raft.transcript_messages import REQUESTS, request, response
from tests.raft.transcript_setup import CLUSTER_ID, ScriptedRandom, Setup
from tests.raft.transcript_show import effect_line, state_line
from tests.raft.transcript_words import TranscriptError, one, options


class Node:
    """A node and what it waits for."""

    def __init__(self) -> None:
        self.setup = Setup()
        self.random = ScriptedRandom()
        self.raft_or_none: Raft | None = None
        self.now_ms = 0
        self.deadline_ms = 0
        self.sent: dict[int, tuple[int, Request]] = {}
        """By correlation id: to whom, and what."""
        self.askers: list[str] = []
        """Who asked, by request id."""
        self.is_over = False

    @property
    def raft(self) -> Raft:
        if self.raft_or_none is None:
            raise TranscriptError("the node is not started")
        return self.raft_or_none

    def block(self, lines: Sequence[str]) -> list[str]:
        """Run the commands of one block: their effects, then the state at its end."""
        shown = []
        for line in lines:
            shown += self.run(line)
        if self.raft_or_none is not None and not self.is_over:
            shown.append(f"{state_line(self.raft)}, wake {self._wake()}")
        return shown

    def _wake(self) -> str:
        return effect_line(SetDeadline(at_ms=self.deadline_ms), "").removeprefix("wake ")

    def run(self, line: str) -> list[str]:
        """Run one command; what it did."""
        if self.is_over:
            raise TranscriptError(f"the node has ended: {line}")
        verb, *rest = line.split()
        try:
            return self._run(verb, rest)
        except ProtocolError:
            self.is_over = True
            return ["fatal"]
        except KraftoolError:
            self.is_over = True
            return ["does not start"]

    def _run(self, verb: str, rest: Sequence[str]) -> list[str]:
        if verb == "random":
            self.random.draws += map(int, rest)
            return []
        if verb == "at":
            self.now_ms = int(rest[0])
            return []
        if verb == "after":
            self.now_ms += int(rest[0])
            return []
        if verb == "start":
            self.raft_or_none = self.setup.build(self.random)
            return self.show(self._took(core.start(self.raft, self.now_ms)))
        if self.raft_or_none is None:
            self.setup.say(verb, rest)
            return []
        if verb == "show":
            return [self._shown(rest)]
        if verb in ("become", "commit"):
            transcript_quiet.run(self, verb, rest)
            return []
        return self.show(self.step(self._event(verb, rest)))

    def show(self, effects: Sequence[Effect]) -> list[str]:
        """All effects but the deadline, which stands in the state line."""
        lines = []
        for effect in effects[:-1]:
            asker = self.askers[effect.request_id] if hasattr(effect, "request_id") else ""
            lines.append(effect_line(effect, asker))
        return lines

    def step(self, event: Event) -> list[Effect]:
        return self._took(core.step(self.raft, self.now_ms, event))

    def _took(self, effects: list[Effect]) -> list[Effect]:
        """Remember what was sent, and until when nothing has to happen."""
        for effect in effects[:-1]:
            assert not isinstance(effect, SetDeadline), "the deadline comes last"
            if isinstance(effect, Send):
                assert effect.request.cluster_id in (None, CLUSTER_ID), "its own cluster"
                self.sent[effect.correlation_id] = (effect.destination_id, effect.request)
        last = effects[-1]
        assert isinstance(last, SetDeadline), "the deadline comes last"
        assert last.at_ms > self.now_ms, "a node that wants to act again at once never rests"
        self.deadline_ms = last.at_ms
        return effects

    def received(self, asker: str, asked: Request, listener: str = "CONTROLLER") -> Event:
        self.askers.append(asker)
        number = len(self.askers) - 1
        return RequestReceived(request_id=number, request=asked, listener=listener)

    def _event(self, verb: str, rest: Sequence[str]) -> Event:
        if verb in REQUESTS:
            parsed = options(rest, REQUESTS[verb])
            asker = one(parsed, "from", "client")
            asked = request(verb, parsed, self.raft)
            return self.received(asker, asked, one(parsed, "listener", "CONTROLLER"))
        if verb in _EVENTS:
            return _EVENTS[verb](rest)
        match verb:
            case "answer":
                return self.answer(rest)
            case "time":
                return TimePassed()
            case "timeout":
                self.now_ms = max(self.now_ms, self._timer(one({"": list(rest)}, "")))
                return TimePassed()
            case _:
                raise TranscriptError(f"{verb} is no command")

    def _timer(self, name: str) -> int:
        """When a timer of the role runs out."""
        role = self.raft.role
        match name:
            case "fetch" if isinstance(role, Follower):
                return role.fetch_deadline_ms
            case "update" if isinstance(role, Follower):
                return role.update_deadline_ms
            case "check-quorum" if isinstance(role, Leader):
                return role.check_quorum_deadline_ms
            case "begin-quorum" if isinstance(role, Leader):
                return role.begin_quorum_deadline_ms
            case "election" if not isinstance(role, Follower | Leader):
                return role.election_deadline_ms
            case _:
                raise TranscriptError(f"no timer {name} in {type(role).__name__}")

    def answer(self, rest: Sequence[str]) -> Event:
        """`answer 2 granted`: to the last request that was sent there; `answer 2 #0 …`: to that
        one."""
        source, rest = int(rest[0]), rest[1:]
        if rest and rest[0].startswith("#"):
            correlation_id, rest = int(rest[0][1:]), rest[1:]
        else:
            correlation_id = max(
                (number for number, (destination, _) in self.sent.items() if destination == source),
                default=-1,
            )
        if correlation_id not in self.sent:
            raise TranscriptError(f"nothing was sent to {source}")
        asked = self.sent[correlation_id][1]
        return ResponseReceived(
            source_id=source, correlation_id=correlation_id, response=response(asked, rest)
        )

    def _shown(self, rest: Sequence[str]) -> str:
        match list(rest):
            case ["voters"]:
                return "voters " + transcript_words.show_voters(self.raft.control.voters)
            case ["kraft.version"]:
                return f"kraft.version {self.raft.control.kraft_version}"
            case ["snapshot", where, *border] if border in ([], ["mid-batch"]):
                why = snapshots.refusal(
                    self.raft, transcript_words.place(where), is_batch_border=not border
                )
                what = "may be" if why is None else "must not be" if why else "need not be"
                return f"snapshot {where} {what} written"
            case ["in-memory", "voters"] if isinstance(self.raft.role, Leader):
                known = self.raft.role.volatile_voters
                return "in memory " + (
                    "nothing" if known is None else transcript_words.show_voters(known)
                )
            case _:
                raise TranscriptError(f"nothing to show as {rest}")

    def is_asking(self) -> bool:
        return isinstance(self.raft.role, Prospective | Candidate)


def _append(rest: Sequence[str]) -> Event:
    parsed = options(rest, {"epoch", "records", "size"})
    count = int(one(parsed, "records"))
    return Append(
        epoch=int(one(parsed, "epoch")),
        records=tuple(range(count)),
        size=int(one(parsed, "size", "0")),
    )


def _installed(rest: Sequence[str]) -> Event:
    parsed = options(rest, {"version", "voters"})
    return SnapshotInstalled(
        snapshot_id=transcript_words.place(one(parsed, "")),
        kraft_version=int(one(parsed, "version", "0")),
        voters=transcript_words.voters(parsed["voters"]) if "voters" in parsed else None,
    )


def _resign(rest: Sequence[str]) -> Event:
    parsed = options(rest, {"epoch", "prefer"})
    preferred = frozenset(map(int, parsed.get("prefer", ())))
    return Resign(epoch=int(one(parsed, "epoch")), preferred=preferred)


def _upgrade(rest: Sequence[str]) -> Event:
    parsed = options(rest, {"epoch", "level", "validate-only"})
    return UpgradeKRaftVersion(
        epoch=int(one(parsed, "epoch")),
        level=int(one(parsed, "level")),
        validate_only="validate-only" in parsed,
    )


_EVENTS: dict[str, Callable[[Sequence[str]], Event]] = {
    "append": _append,
    "flushed": lambda rest: LogFlushed(end_offset=int(rest[0])),
    "consumed": lambda rest: StateMachineAt(next_offset=int(rest[0])),
    "snapshot-written": lambda rest: SnapshotWritten(snapshot_id=transcript_words.place(rest[0])),
    "snapshot-installed": _installed,
    "log-cleaned": lambda rest: LogCleaned(start_offset=int(rest[0])),
    "resign": _resign,
    "shutdown": lambda rest: Shutdown(),
    "upgrade": _upgrade,
}
