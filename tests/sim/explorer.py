"""Every order in which a small case can go, up to two bounds: no sample.

Owns the choices (a message arrives, a node's next timer runs out, a node crashes and starts again)
and what must hold after each. A message that is never chosen is lost or late, so that loss and
delay need no choice of their own; nodes have clocks of their own, so that timers run out in any
order. Timeouts are as short as can be. A flush is done at once.

First come all orders of so many choices. Few choices are few messages, too few for a commit; so
then come all orders of all messages to their end, with no more than so many interruptions: timers
that run out, and crashes.

Since a message may be lost, a state is no more than another of the same nodes with the same
messages and some besides: what can follow of it can follow of that one, after as few choices.
Such a state is left out (unless the search is told to leave out nothing).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kraftool.raft.roles import NEVER
from kraftool.reports.election.case import ElectionCase
from kraftool.sim.conditions import Conditions
from tests.sim.board import (
    CRASH,
    TICK,
    Board,
    Committed,
    NodeState,
    clipped,
)

MOST_STATES = 300_000
"""Of the orders of so many choices."""
MOST_STATES_TO_THE_END = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that broke, and the way there."""

    invariant: str
    reason: str
    steps: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Extent:
    """The extent of a search within one bound."""

    complete_to: int = -1
    """The bound up to which every order was tried; -1 where there are too many even without."""
    states: int = 0
    steps: int = 0


@dataclass(slots=True, kw_only=True)
class Exploration:
    """The result of a search."""

    depth: int
    choices: Extent = field(default_factory=Extent)
    """Every order of so many choices."""
    to_the_end: Extent = field(default_factory=Extent)
    """Every order of all messages, with so many interruptions."""
    elected: dict[int, int] = field(default_factory=dict)
    """Who can be elected, with the fewest choices that were found to lead there."""
    committing: dict[int, int] = field(default_factory=dict)
    stopping: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Who can end with an error, after how many choices, and with which."""
    violation: Violation | None = None

    @property
    def is_complete(self) -> bool:
        return self.choices.complete_to >= self.depth


State = tuple[tuple[int, ...], tuple[int, ...], int, tuple[tuple[int, int], ...], Committed]
"""Places, messages on their way, crashes left, (epoch, leader) so far, what is committed."""
Move = tuple[int, int, State]
"""Whose turn it is (-1: nobody's, of those that are up), the choice, and what comes of it."""


class _Seen:
    """States that were met, and from where."""

    def __init__(self, begin: State, *, is_reduced: bool) -> None:
        self.came: dict[State, tuple[State, int, int] | None] = {begin: None}
        self._is_reduced = is_reduced
        self._mails: dict[object, list[tuple[int, ...]]] = {}

    def is_new(self, before: State, move: Move) -> bool:
        """Take note of a state, unless it is known, or no more than one that is."""
        slot, choice, after = move
        if after in self.came:
            return False
        if self._is_reduced:
            places, mail, *rest = after
            mails = self._mails.setdefault((places, *rest), [])
            if any(_is_within(mail, known_mail) for known_mail in mails):
                return False
            mails.append(mail)
        self.came[after] = (before, slot, choice)
        return True


class Explorer:
    """The search, breadth first."""

    def __init__(
        self,
        case: ElectionCase,
        conditions: Conditions,
        depth: int,
        *,
        crashes: int = 1,
        is_reduced: bool = True,
    ) -> None:
        self.case = case
        self.found = Exploration(depth=depth)
        self._crashes, self._is_reduced = crashes, is_reduced
        self._board = Board(case, conditions, is_reduced=is_reduced)

    def go(self, *, to_the_end: bool = True) -> Exploration:
        places, mail = self._board.begin()
        for place in places:
            self._meet(self._board.places[place], 0)
        begin = places, mail, self._crashes, (), self._proved()
        self._by_choices(begin)
        if to_the_end and self.found.violation is None:
            self._by_interruptions(begin)
        return self.found

    def _by_choices(self, begin: State) -> None:
        """All orders of one choice more, until there are as many as was asked for."""
        extent = self.found.choices
        extent.states = 1
        seen = _Seen(begin, is_reduced=self._is_reduced)
        level = [begin]
        extent.complete_to = 0
        for depth in range(1, self.found.depth + 1):
            following: list[State] = []
            for state in level:
                moves = (*self._interruptions(state), *self._arrivals(state))
                following += self._new(extent, seen, state, moves, depth)
                if self.found.violation is not None or extent.states > MOST_STATES:
                    return
            level = following
            extent.complete_to = depth if level else self.found.depth
            if not level:
                return

    def _by_interruptions(self, begin: State) -> None:
        """All orders of all messages, without a timer that runs out, with one, and so on: until
        whoever can be elected can commit, too, or there are too many."""
        extent = self.found.to_the_end
        extent.states = 1
        seen = _Seen(begin, is_reduced=self._is_reduced)
        reached: dict[int, list[State]] = {0: [begin]}
        for interruptions in range(self.found.depth + 1):
            interrupted: dict[int, list[State]] = {}
            while reached:
                depth = min(reached)
                for state in reached.pop(depth):
                    moves = self._arrivals(state)
                    new = self._new(extent, seen, state, moves, depth + 1)
                    reached.setdefault(depth + 1, []).extend(new)
                    interrupted.setdefault(depth, []).append(state)
                    if self._is_enough(extent):
                        return
            extent.complete_to = interruptions
            if self.found.committing and self.found.committing.keys() >= self.found.elected.keys():
                return
            for depth, states in interrupted.items():
                for state in states:
                    moves = self._interruptions(state)
                    new = self._new(extent, seen, state, moves, depth + 1)
                    reached.setdefault(depth + 1, []).extend(new)
                    if self._is_enough(extent):
                        return

    def _is_enough(self, extent: Extent) -> bool:
        return self.found.violation is not None or extent.states > MOST_STATES_TO_THE_END

    def _new(
        self, extent: Extent, seen: _Seen, state: State, moves: Iterable[Move], depth: int
    ) -> list[State]:
        """The states from here that were not met before."""
        return [move[2] for move in moves if self._goes_on(extent, seen, state, move, depth)]

    def _goes_on(self, extent: Extent, seen: _Seen, before: State, move: Move, depth: int) -> bool:
        """True if a choice leads to a new state, of which nothing broke. Who leads from now on is
        looked at on every way there, since what was committed before it may differ."""
        extent.steps += 1
        is_new = seen.is_new(before, move)
        slot, choice, after = move
        if not is_new and after[3] == before[3]:
            return False
        extent.states = len(seen.came)
        broken = self._look(before, after, slot, depth)
        if broken is None:
            return is_new
        steps = (*self._way(seen, before), self._named(slot, choice))
        self.found.violation = Violation(invariant=broken[0], reason=broken[1], steps=steps)
        return False

    def _proved(self) -> Committed:
        """Return what snapshots prove to be committed before anything happens."""
        best: Committed = (0, ())
        for node in self.case.nodes:
            for snapshot in node.log.snapshots:
                if snapshot.offset > best[0]:
                    best = (snapshot.offset, clipped(node.log.epochs, snapshot.offset))
        return best

    # --- choices ------------------------------------------------------------------------------

    def _interruptions(self, state: State) -> Iterator[Move]:
        """A timer runs out, or a node crashes."""
        places, _, crashes, *_ = state
        for slot, place in enumerate(places):
            replica = self._board.places[place].replica
            if replica.deadline_ms < NEVER:
                yield slot, TICK, self._after(state, slot, TICK)
            if crashes and not replica.broken:
                yield slot, CRASH, self._after(state, slot, CRASH)

    def _arrivals(self, state: State) -> Iterator[Move]:
        """A message arrives; one to a node that is down is refused."""
        board = self._board
        for number in dict.fromkeys(state[1]):
            to = board.to(number)
            if not board.passes(number):
                continue
            if to in board.up:
                slot = board.up.index(to)
                yield slot, number, self._after(state, slot, number)
            elif not board.messages[number].is_answer:
                yield -1, number, self._refused(state, number)

    def _refused(self, state: State, number: int) -> State:
        places, mail, crashes, led, committed = state
        refused = self._board.refused(number)
        sent = () if refused is None else (refused,)
        return places, _with(mail, number, sent), crashes, led, committed

    def _after(self, state: State, slot: int, choice: int) -> State:
        board = self._board
        places, mail, crashes, led, committed = state
        after, sent, forgotten = board.step(places[slot], choice)
        left = list(mail)
        if choice >= 0:
            left.remove(choice)
        if forgotten:
            places = tuple(board.without(place, forgotten) for place in places)
            left = [
                current_id
                for old in left
                if (current_id := board.stale(old, forgotten)) is not None
            ]
        mail = tuple(
            sorted(message_id for message_id in (*left, *sent) if board.matters(message_id, after))
        )
        place = board.places[after]
        if place.leads is not None and place.leads not in led:
            led = tuple(sorted((*led, place.leads)))
        if place.known is not None and place.known[0] > committed[0]:
            committed = place.known
        moved = (*places[:slot], after, *places[slot + 1 :])
        return moved, mail, crashes - (choice == CRASH), led, committed

    # --- invariants ---------------------------------------------------------------------------

    def _look(self, before: State, after: State, slot: int, depth: int) -> tuple[str, str] | None:
        """Return what the step broke, if anything."""
        if slot < 0:
            return None
        place = self._board.places[after[0][slot]]
        self._meet(place, depth)
        epochs = [epoch for epoch, _ in after[3]]
        if len(set(epochs)) != len(epochs):
            return "single leader", f"two leaders of one epoch: {after[3]}"
        committed = before[4]
        if place.known is not None:
            end = min(place.known[0], committed[0])
            if clipped(place.known[1], end) != clipped(committed[1], end):
                return (
                    "committed records",
                    f"{place.replica.id} has other records than the committed ones below {end}",
                )
        newly = place.leads is not None and place.leads not in before[3]
        if newly and not _has(place.log, committed):
            violation = (
                f"{place.replica.id} leads with a log up to {place.log[0]}, without all"
                f" records committed below {committed[0]}"
            )
            return "leader completeness", violation
        return None

    def _meet(self, place: NodeState, depth: int) -> None:
        exploration, node = self.found, place.replica.id
        if place.leads is not None:
            exploration.elected[node] = min(exploration.elected.get(node, depth), depth)
        if place.commits:
            exploration.committing[node] = min(exploration.committing.get(node, depth), depth)
        if place.replica.broken and depth < exploration.stopping.get(node, (depth + 1, ""))[0]:
            exploration.stopping[node] = (depth, place.replica.broken)

    def _way(self, seen: _Seen, state: State) -> list[str]:
        steps: list[str] = []
        at = seen.came[state]
        while at is not None:
            before, slot, choice = at
            steps.append(self._named(slot, choice))
            at = seen.came[before]
        return steps[::-1]

    def _named(self, slot: int, choice: int) -> str:
        board = self._board
        if choice == TICK:
            return f"{board.up[slot]}: a timer expires"
        if choice == CRASH:
            return f"{board.up[slot]}: crashes and starts again"
        message = board.messages[choice]
        return f"{message.source} → {board.to(choice)}: {type(message.body).__name__}"


def _with(mail: tuple[int, ...], choice: int, sent: tuple[int, ...]) -> tuple[int, ...]:
    left = list(mail)
    left.remove(choice)
    return tuple(sorted([*left, *sent]))


def _is_within(some: tuple[int, ...], all_: tuple[int, ...]) -> bool:
    """True if one list of messages is another, or part of it. Both are sorted."""
    left = iter(all_)
    return len(some) <= len(all_) and all(message_id in left for message_id in some)


def _has(log: Committed, committed: Committed) -> bool:
    """True if a log has all that is committed. Epochs below its start are not known to it."""
    if log[0] < committed[0]:
        return False
    own, wanted = clipped(log[1], committed[0]), committed[1]
    first = own[0][0] if own else 0
    return (
        not own or tuple(epoch_entry for epoch_entry in wanted if epoch_entry[0] > first) == own[1:]
    )
