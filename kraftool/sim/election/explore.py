"""Every order in which a small case can go, up to a depth: no sample.

Owns the choices (a message arrives, a node's next timer runs out, a node crashes and starts again)
and what must hold after each. A message that is never chosen is lost or late, so that loss and
delay need no choice of their own; nodes have clocks of their own, so that timers run out in any
order. Timeouts are as short as can be. A flush is done at once.

A node's step depends on nothing but its own state and what it is given, so each is done once and
remembered; a state of the whole is a few numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kraftool.raft.messages import ANSWERED_BY
from kraftool.raft.names import Error
from kraftool.raft.roles import NEVER, Leader
from kraftool.reports.election.case import Case
from kraftool.sim.election.chances import PATIENT
from kraftool.sim.election.conditions import Conditions
from kraftool.sim.election.forms import Form, of_message, of_replica
from kraftool.sim.election.replica import Message, Replica, disk_of

MOST_STATES = 300_000
_TICK, _CRASH = -1, -2
Epochs = tuple[tuple[int, int], ...]
"""(epoch, start offset) of a stretch of a log."""
Committed = tuple[int, Epochs]
"""All below an offset, with the epochs of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that broke, and the way there."""

    invariant: str
    sentence: str
    steps: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Exploration:
    """What was found."""

    depth: int
    states: int = 0
    complete_to: int = 0
    """The depth up to which every order was tried."""
    steps: int = 0
    elected: dict[int, int] = field(default_factory=dict)
    """Who can be elected, with the fewest choices that lead there."""
    committing: dict[int, int] = field(default_factory=dict)
    stopping: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Who can end with an error, after how many choices, and with which."""
    violation: Violation | None = None

    @property
    def is_complete(self) -> bool:
        return self.complete_to >= self.depth


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """One state of one node."""

    replica: Replica
    now_ms: int
    leads: tuple[int, int] | None
    """The epoch that it leads, and itself."""
    commits: bool
    known: Committed | None
    """What it knows to be committed."""
    log: Committed


State = tuple[tuple[int, ...], tuple[int, ...], int, tuple[tuple[int, int], ...], Committed]
"""Places, messages on their way, crashes left, (epoch, leader) so far, what is committed."""


class Explorer:
    """The search, breadth first."""

    def __init__(self, case: Case, conditions: Conditions, depth: int, *, crashes: int = 1) -> None:
        self.case, self.conditions = case, conditions
        self.found = Exploration(depth=depth)
        self._crashes = crashes
        self._places: list[_Place] = []
        self._place_ids: dict[Form, int] = {}
        self._messages: list[Message] = []
        self._message_ids: dict[Form, int] = {}
        self._done: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}
        self._spots = {
            endpoint: each.id
            for each in case.nodes
            for endpoint in each.settings.listeners.values()
        }
        self._up: list[int] = []

    def go(self) -> Exploration:
        begin = self._begin()
        came: dict[State, tuple[State, int, int] | None] = {begin: None}
        level = [begin]
        for depth in range(1, self.found.depth + 1):
            following: list[State] = []
            for state in level:
                for slot, choice, after in self._successors(state):
                    self.found.steps += 1
                    if after in came:
                        continue
                    came[after] = (state, slot, choice)
                    following.append(after)
                    broken = self._look(state, after, slot, depth)
                    if broken is not None:
                        way = tuple(self._way(came, after))
                        self.found.violation = Violation(
                            invariant=broken[0], sentence=broken[1], steps=way
                        )
                        self.found.states = len(came)
                        return self.found
                if len(came) > MOST_STATES:
                    self.found.states = len(came)
                    return self.found
            self.found.complete_to = depth
            level = following
            if not level:
                self.found.complete_to = self.found.depth
                break
        self.found.states = len(came)
        return self.found

    def _begin(self) -> State:
        borders = self.case.borders
        places, mail = [], []
        for node in self.case.nodes:
            if node.id in self.conditions.down:
                continue
            replica = Replica(node, PATIENT, disk_of(node, borders))
            mail += [self._message(each) for each in replica.start(1)]
            self._up.append(node.id)
            places.append(self._place(replica, 1))
        for id_ in places:
            self._meet(self._places[id_], 0)
        return tuple(places), tuple(sorted(mail)), self._crashes, (), self._proved()

    def _proved(self) -> Committed:
        """What snapshots prove to be committed before anything happens."""
        best: Committed = (0, ())
        for node in self.case.nodes:
            for each in node.log.snapshots:
                if each.offset > best[0]:
                    best = (each.offset, _clipped(node.log.epochs, each.offset))
        return best

    def _place(self, replica: Replica, now_ms: int) -> int:
        key = of_replica(replica, now_ms)
        found = self._place_ids.get(key)
        if found is not None:
            return found
        raft = replica.raft
        log = (raft.log.end_offset, tuple(raft.log.epochs))
        high = raft.role.high_watermark
        self._places.append(
            _Place(
                replica=replica,
                now_ms=now_ms,
                leads=(raft.epoch, replica.id) if isinstance(raft.role, Leader) else None,
                commits=replica.can_commit,
                known=(high, _clipped(raft.log.epochs, high)) if high is not None else None,
                log=log,
            )
        )
        self._place_ids[key] = len(self._places) - 1
        return len(self._places) - 1

    def _message(self, message: Message) -> int:
        key = of_message(message)
        found = self._message_ids.get(key)
        if found is None:
            found = self._message_ids[key] = len(self._messages)
            self._messages.append(message)
        return found

    def _to(self, message: Message) -> int:
        if message.is_answer:
            return message.asker
        return self._spots.get(message.endpoint, message.destination_id)

    # --- choices ------------------------------------------------------------------------------

    def _successors(self, state: State) -> Iterator[tuple[int, int, State]]:
        places, mail, crashes, *_ = state
        for slot, place in enumerate(places):
            if self._places[place].replica.deadline_ms < NEVER:
                yield slot, _TICK, self._after(state, slot, _TICK)
            if crashes and not self._places[place].replica.broken:
                yield slot, _CRASH, self._after(state, slot, _CRASH)
        for number in dict.fromkeys(mail):
            message = self._messages[number]
            to = self._to(message)
            if not self.conditions.passes(message.source, to):
                continue
            if to in self._up:
                slot = self._up.index(to)
                yield slot, number, self._after(state, slot, number)
            elif not message.is_answer:
                yield -1, number, self._refused(state, number)

    def _refused(self, state: State, number: int) -> State:
        message = self._messages[number]
        answer = ANSWERED_BY[type(message.body)](top_error=Error.BROKER_NOT_AVAILABLE)
        places, mail, crashes, led, committed = state
        refused = self._message(message.answered(self._to(message), answer))
        return places, _with(mail, number, (refused,)), crashes, led, committed

    def _after(self, state: State, slot: int, choice: int) -> State:
        places, mail, crashes, led, committed = state
        after, sent = self._step(places[slot], choice)
        place = self._places[after]
        mail = _with(mail, choice, sent)
        mail = tuple(each for each in mail if self._matters(each, place))
        if place.leads is not None and place.leads not in led:
            led = tuple(sorted((*led, place.leads)))
        if place.known is not None and place.known[0] > committed[0]:
            committed = place.known
        moved = (*places[:slot], after, *places[slot + 1 :])
        return moved, mail, crashes - (choice == _CRASH), led, committed

    def _matters(self, number: int, place: _Place) -> bool:
        """Answers for which nobody waits any more change nothing."""
        message = self._messages[number]
        mine = message.is_answer and message.asker == place.replica.id
        return not mine or place.replica.expects(message)

    def _step(self, place: int, choice: int) -> tuple[int, tuple[int, ...]]:
        done = self._done.get((place, choice))
        if done is None:
            replica, now_ms = self._places[place].replica.fork(), self._places[place].now_ms
            if choice == _TICK:
                now_ms = max(now_ms, replica.deadline_ms)
                sent = replica.tick(now_ms)
            elif choice == _CRASH:
                sent = replica.restart(now_ms)
            else:
                sent = replica.receive(now_ms, self._messages[choice])
            messages = tuple(self._message(each) for each in sent)
            done = self._done[place, choice] = self._place(replica, now_ms), messages
        return done

    # --- invariants ---------------------------------------------------------------------------

    def _look(self, before: State, after: State, slot: int, depth: int) -> tuple[str, str] | None:
        """What the step broke, if anything."""
        if slot < 0:
            return None
        place = self._places[after[0][slot]]
        self._meet(place, depth)
        epochs = [epoch for epoch, _ in after[3]]
        if len(set(epochs)) != len(epochs):
            return "single leader", f"two leaders of one epoch: {after[3]}"
        committed = before[4]
        if place.known is not None:
            end = min(place.known[0], committed[0])
            if _clipped(place.known[1], end) != _clipped(committed[1], end):
                return (
                    "committed records",
                    f"{place.replica.id} takes other records than those for committed below {end}",
                )
        newly = place.leads is not None and place.leads not in before[3]
        if newly and not _has(place.log, committed):
            told = (
                f"{place.replica.id} leads with a log up to {place.log[0]}, without all of what is"
                f" committed below {committed[0]}"
            )
            return "leader completeness", told
        return None

    def _meet(self, place: _Place, depth: int) -> None:
        if place.leads is not None:
            self.found.elected.setdefault(place.replica.id, depth)
        if place.replica.broken:
            self.found.stopping.setdefault(place.replica.id, (depth, place.replica.broken))
        if place.commits:
            self.found.committing.setdefault(place.replica.id, depth)

    def _way(self, came: dict[State, tuple[State, int, int] | None], state: State) -> list[str]:
        steps: list[str] = []
        at = came[state]
        while at is not None:
            before, slot, choice = at
            node = self._up[slot] if slot >= 0 else -1
            if choice == _TICK:
                steps.append(f"{node}: a timer runs out")
            elif choice == _CRASH:
                steps.append(f"{node}: crashes and starts again")
            else:
                message = self._messages[choice]
                name = type(message.body).__name__
                steps.append(f"{message.source} → {self._to(message)}: {name}")
            at = came[before]
        return steps[::-1]


def _with(mail: tuple[int, ...], choice: int, sent: tuple[int, ...]) -> tuple[int, ...]:
    left = list(mail)
    if choice >= 0:
        left.remove(choice)
    return tuple(sorted([*left, *sent]))


def _clipped(epochs: Epochs | list[tuple[int, int]], end: int) -> Epochs:
    return tuple(each for each in epochs if each[1] < end)


def _has(log: Committed, committed: Committed) -> bool:
    """Whether a log has all that is committed. Epochs below its start are not known to it."""
    if log[0] < committed[0]:
        return False
    own, wanted = _clipped(log[1], committed[0]), committed[1]
    first = own[0][0] if own else 0
    return not own or tuple(each for each in wanted if each[0] > first) == own[1:]
