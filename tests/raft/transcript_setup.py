"""The first lines of a case: what a node is and what it finds on its disk, up to `start`.

Owns the set-up words. A case begins with nothing: node 1 without voters, file or log.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kraftool.raft.control_history import ControlHistory
from kraftool.raft.log_view import LogView
from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    ElectionState,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    Voter,
    VoterSet,
)
from kraftool.raft.raft import Raft
from kraftool.raft.records import Batch
from kraftool.raft.settings import NodeSettings, Timing
from tests.raft import transcript_words as words
from tests.raft.transcript_words import TranscriptError, one, options

CLUSTER_ID = "c"


class ScriptedRandom:
    """Chance as a transcript has it: the numbers it names, then always the middle."""

    def __init__(self) -> None:
        self.draws: list[int] = []

    def randrange(self, stop: int, /) -> int:
        if not self.draws:
            return stop // 2
        drawn = self.draws.pop(0)
        if not 0 <= drawn < stop:
            raise TranscriptError(f"drawn {drawn}, where it has to be below {stop}")
        return drawn


@dataclass(slots=True)
class Setup:
    """What was said before `start`."""

    node: ReplicaKey = field(default_factory=lambda: ReplicaKey(1, "d1"))
    is_nameless: bool = False
    static: VoterSet = field(default_factory=VoterSet)
    sets: list[tuple[int, VoterSet]] = field(default_factory=list)
    state: ElectionState | None = None
    batches: tuple[Batch, ...] = ()
    log_start: int = 0
    snapshots: set[OffsetAndEpoch] = field(default_factory=set)
    listeners: tuple[str, ...] = ("CONTROLLER",)
    bootstrap: tuple[Endpoint, ...] = ()
    timing: dict[str, int] = field(default_factory=dict)
    is_controller: bool = True
    auto_join: bool = False
    is_witness: bool = False
    hands_over: bool = False

    def say(self, verb: str, rest: Sequence[str]) -> None:
        """Take one line of the set-up."""
        match verb:
            case "node":
                self._node(rest)
            case "voters":
                parsed = options(rest, {"at"})
                at = int(one(parsed, "at", "-1"))
                self.sets.append((at, words.voters(parsed[""])))
                if at == -1:
                    self.snapshots.add(BOOTSTRAP_SNAPSHOT)
            case "static":
                named = [words.key(f"{word}@-") for word in rest]
                self.static = VoterSet.of(
                    *(
                        Voter(key=key, endpoints=words.endpoints(key.id, ["CONTROLLER"]))
                        for key in named
                    )
                )
            case "state":
                self._state(rest)
            case "log":
                parsed = options(rest, {"from"})
                self.log_start = int(one(parsed, "from", "0"))
                self.batches = tuple(map(words.batch, parsed[""]))
            case "snapshots":
                self.snapshots |= set(map(words.place, rest))
            case "listeners":
                self.listeners = tuple(rest)
            case "bootstrap":
                self.bootstrap = tuple(Endpoint(host, 9093) for host in rest)
            case "timing":
                for name, milliseconds in zip(rest[::2], rest[1::2], strict=True):
                    self.timing[f"{name.replace('-', '_')}_ms"] = int(milliseconds)
            case "broker":
                self.is_controller = False
            case "auto-join":
                self.auto_join = True
            case "witness":
                self.is_witness = True
            case "hands-over":
                self.hands_over = True
            case _:
                raise TranscriptError(f"{verb} is no word of the set-up")

    def _node(self, rest: Sequence[str]) -> None:
        parsed = options(rest, {"directory"})
        name = one(parsed, "")
        self.is_nameless = name == "none"
        self.node = words.key("0@d0" if self.is_nameless else name)
        if "directory" in parsed:
            self.node = ReplicaKey(self.node.id, one(parsed, "directory"))

    def _state(self, rest: Sequence[str]) -> None:
        parsed = options(rest, {"epoch", "leader", "voted"})
        self.state = ElectionState(
            epoch=int(one(parsed, "epoch")),
            leader_id=int(one(parsed, "leader")) if "leader" in parsed else None,
            voted=words.key(one(parsed, "voted")) if "voted" in parsed else None,
        )

    def build(self, random: ScriptedRandom) -> Raft:
        """The node, not started."""
        settings = NodeSettings(
            node_id=None if self.is_nameless else self.node.id,
            directory_id=self.node.directory_id or "",
            cluster_id=CLUSTER_ID,
            listeners=words.endpoints(self.node.id, self.listeners),
            static_voters=self.static,
            bootstrap_servers=self.bootstrap,
            is_controller=self.is_controller,
            auto_join=self.auto_join,
            is_witness=self.is_witness,
            hands_over=self.hands_over,
            timing=Timing(**self.timing),
        )
        control = ControlHistory(static_voters=self.static)
        newest = max(self.snapshots, default=BOOTSTRAP_SNAPSHOT)
        for offset, members in self.sets:
            # A start reads the voters of the bootstrap snapshot from the newest one.
            offset = newest.offset - 1 if offset == -1 else offset
            control.voter_sets.add(offset, members)
            control.kraft_versions.add(offset, 1)
        for batch in self.batches:
            control.append(batch)
        log = LogView.of(self.batches, snapshots=self.snapshots, start=self.log_start)
        return Raft(settings, random, log, control, self.state)
