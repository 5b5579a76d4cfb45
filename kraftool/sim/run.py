"""One election in virtual time, from a seed: nodes start, messages take their time, somebody wins.

Owns the order of events and all chance. What is done is `replica.py`'s and the core's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from random import Random
from typing import Any

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import (
    UNREACHABLE,
    AddVoterRequest,
    FetchRequest,
    RemoveVoterRequest,
    Response,
    VoterChangeResponse,
)
from kraftool.raft.names import Endpoint
from kraftool.raft.roles import NEVER, Candidate, Leader, Role
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.sim import witnesses
from kraftool.sim.conditions import LISTENING_MS, Conditions, StartPace
from kraftool.sim.dice import Dice, endless
from kraftool.sim.disk import Disk
from kraftool.sim.links import Links
from kraftool.sim.patience import horizon_ms, idle_ms, is_idle
from kraftool.sim.repetition import Repetition
from kraftool.sim.replica import SentMessage, SimulatedNode, disks_of

MOST_EVENTS = 100_000
"""A run is given up after so many."""
OPERATOR = -1
"""Who asks for changes of the voters; no node."""
_RETRY_MS = 1000
_NOWHERE = Endpoint("", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Something that happened, for the timeline."""

    at_ms: int
    node: int
    message: SentMessage | None = None
    role: str = ""
    """The role that the node has from now on."""
    epoch: int = 0
    lost: bool = False
    """A message that does not get through."""
    to: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterChange:
    """The result of a change of the voters."""

    node: int
    adds: bool
    error: Error | None
    """None where no answer came."""
    message: str = ""
    at_ms: int = 0


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The outcome of one run."""

    seed: int
    pace: StartPace = StartPace.TOGETHER
    leader: int | None = None
    """The first that led and could commit."""
    epoch: int = 0
    witness: int | None = None
    """The witness that led before that, as a last resort."""
    elected_ms: int | None = None
    committed_ms: int | None = None
    elections: int = 0
    """Epochs that were begun until then."""
    changes: tuple[VoterChange, ...] = ()
    broken: tuple[tuple[int, str], ...] = ()
    events: int = 0

    @property
    def is_given_up(self) -> bool:
        """True if it had no leader when too much had happened, sooner than its time was over."""
        return self.leader is None and self.events >= MOST_EVENTS


class ElectionRun:
    """One run; `outcome` once it was gone through."""

    def __init__(
        self,
        case: ElectionCase,
        conditions: Conditions,
        seed: int,
        *,
        pace: StartPace = StartPace.TOGETHER,
        watched: bool = False,
        until_ms: int | None = None,
        disks: Mapping[int, Disk] | None = None,
    ) -> None:
        """`disks` are those of the case, made before: they are copied, and stay as they are."""
        self.random = Random(seed)
        self.case, self.conditions = case, conditions
        self.outcome = Outcome(seed=seed, pace=pace)
        self.seen: list[Seen] = []
        self._disks = disks_of(case) if disks is None else disks
        self._watched = watched
        self._horizon_ms = horizon_ms(case, conditions) if until_ms is None else until_ms
        """Until when a leader is waited for, and then how long for each change of the voters."""
        self._idle_ms = idle_ms(case)
        self._links = Links(self.random)
        delay = conditions.delay_ms
        self._least_ms = delay // 2
        self._delays = endless(self.random, delay + (delay + 1) // 2 - self._least_ms + 1)
        self._listening_ms: dict[int, int] = {}
        """When the listener of each node that runs is open."""
        self.now_ms = 0
        self._first_ms = NEVER
        self._queue: list[tuple[int, int, Callable[..., bool], tuple[Any, ...]]] = []
        """By time and order: what happens then; False from one that counts for nothing."""
        self._count = 0
        self.replicas: dict[int, SimulatedNode] = {}
        self._started: set[int] = set()
        self._roles: dict[int, Role] = {}
        self._leading: set[int] = set()
        """Nodes with the role of a leader, to look for one that can commit only if there is one."""
        self._led: dict[int, int] = {}
        """By epoch, the first node that led it."""
        self._led_twice: set[int] = set()
        """The epochs that another node led, too."""
        self._repetitions: dict[int, Repetition] = {}
        self._has_witnesses = any(node_case.is_witness for node_case in case.nodes)
        self._due: dict[int, int] = {}
        """The last time for which each was to be woken."""
        chances = {node.id: Random(self.random.getrandbits(64)) for node in case.nodes}
        up = [node.id for node in case.nodes if node.id not in conditions.down]
        for id_, at in self._start_times(up, pace).items():
            self._add(case.by_id[id_], chances[id_], at)

    def _start_times(self, ids: list[int], pace: StartPace) -> dict[int, int]:
        """Return when each node starts."""
        if pace is StartPace.TOGETHER:
            return {id_: self.random.randrange(self.conditions.start_within_ms + 1) for id_ in ids}
        gap, at, starts = self.conditions.gap_ms(len(ids)), 0, {}
        for id_ in self.random.sample(ids, len(ids)):
            starts[id_] = at
            at += self.random.randint(*gap)
        return starts

    def _add(self, node: NodeCase, chance: Random, at_ms: int) -> None:
        dice = Dice(chance)
        replica = SimulatedNode(node, dice, self._disks[node.id].copy())
        self.replicas[node.id] = replica
        self._repetitions[node.id] = Repetition(replica, dice)
        self._push(1 + at_ms, self._starts, node.id)
        self._listens_after(node.id, 1 + at_ms)

    def _listens_after(self, id_: int, start_ms: int) -> None:
        """A node's raft thread asks others before they can ask it."""
        self._listening_ms[id_] = start_ms + self.random.randint(*LISTENING_MS)

    def _push(self, at_ms: int, action: Callable[..., bool], *what: Any) -> None:
        self._count += 1
        heappush(self._queue, (at_ms, self._count, action, what))

    # --- the run ------------------------------------------------------------------------------

    def go(self) -> Outcome:
        """Run until a leader can commit, then through the changes of the voters."""
        for _ in self._events(self._horizon_ms):
            if not self._leading:
                continue
            leader = self._committing()
            if leader is not None and witnesses.is_over(leader, self.replicas.values()):
                self._won(leader)
                break
            if self._has_witnesses and self.outcome.witness is None:
                self.outcome.witness = witnesses.leading(self.replicas.values())
        else:
            leader = self._committing()
            if leader is not None:
                self._won(leader)
        self.outcome.broken = tuple(
            (replica.id, why)
            for replica in self.replicas.values()
            for why in dict.fromkeys(replica.errors)
        )
        if self.outcome.leader is not None:
            self._change()
        return self.outcome

    def _won(self, leader: SimulatedNode) -> None:
        self.outcome.leader, self.outcome.epoch = leader.id, leader.raft.epoch
        self.outcome.committed_ms = self.now_ms - self._first_ms
        self._note(leader.id, words="what it wrote is on a majority: it can commit")

    def _committing(self) -> SimulatedNode | None:
        for replica in self.replicas.values():
            if replica.can_commit:
                return replica
        return None

    def _events(self, until_ms: int) -> Iterator[None]:
        queue, outcome = self._queue, self.outcome
        while queue and queue[0][0] <= until_ms and outcome.events < MOST_EVENTS:
            at, _, action, what = heappop(queue)
            if at > self.now_ms:
                self.now_ms = at
            if action(*what):
                outcome.events += 1
                yield

    def _starts(self, id_: int) -> bool:
        self._started.add(id_)
        self._first_ms = min(self._first_ms, self.now_ms)
        self._note(id_, words="starts")
        replica = self.replicas[id_]
        self._after(replica, replica.start(self.now_ms))
        return True

    def _ticks(self, replica: SimulatedNode, due: int) -> bool:
        if self._due.get(replica.id) == due:
            del self._due[replica.id]
        if replica.deadline_ms != due:
            return False
        repetition = self._repetitions[replica.id]
        repetition.before()
        sent = replica.tick(self.now_ms)
        repetition.after(None, sent, self.now_ms)
        self._carry_on(replica, sent)
        return True

    def _arrives(self, message: SentMessage, to: int) -> bool:
        if to == OPERATOR:
            self._answered(message)
            return True
        replica = self.replicas.get(to)
        if replica is None or to not in self._started or replica.broken:
            if not message.is_answer and message.asker != OPERATOR:
                self._refuse(message, to)
            return False
        if self._watched:
            self.seen.append(Seen(at_ms=self.now_ms, node=message.source, message=message, to=to))
        repetition = self._repetitions[to]
        again = repetition.of(message, self.now_ms)
        if again is not None:
            self._send(again)
            return True
        repetition.before()
        sent = replica.receive(self.now_ms, message)
        repetition.after(message, sent, self.now_ms)
        self._carry_on(replica, sent)
        return True

    def _after(self, replica: SimulatedNode, sent: list[SentMessage]) -> None:
        """Go on after a step that no message and no deadline caused."""
        self._repetitions[replica.id].forget()
        self._carry_on(replica, sent)

    def _carry_on(self, replica: SimulatedNode, sent: list[SentMessage]) -> None:
        """Take note of a new role, send what the core sent, and wake the node when it is due."""
        id_, role = replica.id, replica.raft.role
        if replica.broken:
            self._note(id_, words=f"stops with an error: {replica.broken}")
            self._listens_after(id_, replica.deadline_ms)
            self._roles.pop(id_, None)
            self._wake(replica)
            return
        if role is not self._roles.get(id_):
            self._takes(replica, role)
        for message in sent:
            self._send(message)
        self._wake(replica)

    def _takes(self, replica: SimulatedNode, role: Role) -> None:
        """Take note of a new role, or of a new epoch of the same."""
        before = self._roles.get(replica.id)
        self._roles[replica.id] = role
        if isinstance(role, Leader):
            self._leading.add(replica.id)
            if self._led.setdefault(role.epoch, replica.id) != replica.id:
                self._led_twice.add(role.epoch)
        else:
            self._leading.discard(replica.id)
        if before is not None and (type(before), before.epoch) == (type(role), role.epoch):
            return
        if isinstance(role, Candidate):
            self.outcome.elections += 1
        if isinstance(role, Leader) and self.outcome.elected_ms is None:
            self.outcome.elected_ms = self.now_ms - self._first_ms
        self._note(replica.id, role=type(role).__name__, epoch=role.epoch)

    def _wake(self, replica: SimulatedNode) -> None:
        due = replica.deadline_ms
        if due < NEVER and self._due.get(replica.id) != due:
            self._due[replica.id] = due
            self._push(due, self._ticks, replica, due)

    def _note(self, node: int, **details: Any) -> None:
        if self._watched:
            self.seen.append(Seen(at_ms=self.now_ms, node=node, **details))

    def place_of(self, message: SentMessage) -> int:
        """Return who a message is for."""
        if message.is_answer:
            return message.asker
        return self.case.places.get(message.endpoint, message.destination_id)

    def _send(self, message: SentMessage) -> None:
        is_answer = message.is_answer
        to = message.asker if is_answer else self.place_of(message)
        took = self._least_ms + next(self._delays)
        if self._idle_ms and is_idle(message.body):
            took = max(took, self._idle_ms)
        if self.conditions.cut and self._is_cut(message.source, to):
            if self._watched:
                self.seen.append(
                    Seen(at_ms=self.now_ms, node=message.source, message=message, to=to, lost=True)
                )
            return
        now_ms = self.now_ms
        if not is_answer:
            is_listening = now_ms >= self._listening_ms.get(to, NEVER)
            if not self._links.connects(message.asker, to, now_ms, is_listening=is_listening):
                self._refuse(message, to)
                return
        self._count = count = self._count + 1
        heappush(self._queue, (now_ms + (took or 1), count, self._arrives, (message, to)))

    def _is_cut(self, source: int, to: int) -> bool:
        return OPERATOR not in (source, to) and not self.conditions.passes(source, to)

    def _refuse(self, message: SentMessage, to: int) -> None:
        """A request fails at once, and so does the next one until the asker connects again.

        The steps between are saved where they lead to nothing: the answer comes with the next try
        to connect. A fetch has to fail at once if another node could answer the next one.
        """
        asker, others = message.asker, [to]
        if isinstance(message.body, FetchRequest):
            others += [id_ for id_ in self.replicas if id_ != asker]
        at = max(self.now_ms + 1, self._links.next_try_ms(asker, others, self.now_ms))
        self._push(at, self._arrives, message.answered(to, UNREACHABLE[type(message.body)]), asker)

    # --- changes of the voters ----------------------------------------------------------------

    def _change(self) -> None:
        wanted = [(node_id, False) for node_id in self.conditions.removed_voters]
        wanted += [(node_id, True) for node_id in self.conditions.added_voters]
        for id_, adds in wanted:
            self.outcome.changes = (*self.outcome.changes, self._changed(id_, adds))

    def _changed(self, id_: int, adds: bool) -> VoterChange:
        """Ask the leader for a change, again and again while it says that it is not the time."""
        began = self.now_ms
        self._answer: VoterChangeResponse | None = None
        asked_ms = -_RETRY_MS
        change = VoterChange(node=id_, adds=adds, error=None)
        for _ in self._events(began + self._horizon_ms):
            answer = self._answer
            if answer is not None:
                error = answer.top_error if answer.top_error is not Error.NONE else answer.error
                took = self.now_ms - began
                change = replace(change, error=error, message=answer.message, at_ms=took)
                self._answer = None
                if error not in (Error.REQUEST_TIMED_OUT, Error.NOT_LEADER_OR_FOLLOWER):
                    break
            if self.now_ms - asked_ms >= _RETRY_MS and (leader := self._committing()) is not None:
                asked_ms = self.now_ms
                self._ask(leader, id_, adds)
        return change

    def _ask(self, leader: SimulatedNode, id_: int, adds: bool) -> None:
        body: AddVoterRequest | RemoveVoterRequest
        if adds:
            node = self.case.by_id[id_]
            body = AddVoterRequest(voter=node.key, listeners=node.settings.listeners)
        else:
            voter = leader.raft.control.voters.voters.get(id_)
            body = RemoveVoterRequest(voter=voter.key if voter is not None else None)
        message = SentMessage(
            source=OPERATOR,
            asker=OPERATOR,
            correlation_id=0,
            endpoint=_NOWHERE,
            destination_id=leader.id,
            body=body,
        )
        self._push(self.now_ms + 1, self._arrives, message, leader.id)

    def _answered(self, message: SentMessage) -> None:
        answer: Response | Any = message.body
        if isinstance(answer, VoterChangeResponse):
            self._answer = answer
            if self._watched:
                self.seen.append(
                    Seen(at_ms=self.now_ms, node=message.source, message=message, to=OPERATOR)
                )


def at_rest(case: ElectionCase, run: ElectionRun) -> ElectionCase:
    """The quorum as a run left it, to be looked at like any other."""
    nodes = []
    for node in case.nodes:
        replica = run.replicas.get(node.id)
        if replica is None:
            nodes.append(node)
            continue
        raft = replica.raft
        log = replace(
            node.log,
            start=raft.log.start_offset,
            end=raft.log.end_offset,
            epochs=tuple(raft.log.epochs),
            snapshots=tuple(raft.log.snapshots),
            voter_sets=tuple(raft.control.voter_sets.entries),
            kraft_versions=tuple(raft.control.kraft_versions.entries),
        )
        nodes.append(replace(node, log=log, election=replica.disk.election))
    return replace(case, nodes=tuple(nodes))
