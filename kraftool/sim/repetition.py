"""Exchanges that change nothing: a node does the same again without its core.

A node that knows no leader, or whose leader does not lead any more, fetches as fast as the others
answer, and their answers are the same each time. Most of an election is that. Owns when a node
repeats itself: its core has handled the same message in the same state, and did nothing but send
one message. It refuses to guess: what the core has not done before, the core does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import FetchRequest, FetchResponse
from kraftool.raft.roles import Role
from kraftool.sim.dice import Dice
from kraftool.sim.replica import SentMessage, SimulatedNode


@dataclass(slots=True, kw_only=True)
class _Turn:
    """The turn of a node after an error from one place, while it pauses asking the same others."""

    is_well: bool
    """False if it pauses asking that place, too."""
    stop: int
    """The core draws one number below this; none if it is 0."""
    fetches: dict[int, SentMessage] = field(default_factory=dict)
    """The next fetch, by that number."""


_Key = tuple[int, int, frozenset[int]]
"""The number of an error, the place that it came from, and where the node pauses asking."""


class Repetition:
    """The repetition of one node, as long as its role is the same."""

    __slots__ = ("_answers", "_deadline_ms", "_dice", "_drawn", "_errors", "_fetch",
                 "_is_pausing", "_key", "_replica", "_role", "_turns")  # fmt: skip

    def __init__(self, replica: SimulatedNode, dice: Dice) -> None:
        self._replica, self._dice = replica, dice
        self._answers: dict[int, tuple[FetchRequest, FetchResponse, SentMessage, SentMessage]] = {}
        """By asker: its fetch, the error that it got, and both as they were sent last."""
        self._turns: dict[_Key, _Turn] = {}
        self._errors: dict[int, tuple[FetchResponse, int]] = {}
        """By identity: the errors that arrived, with the same number for equal ones."""
        self._fetch: SentMessage | None = None
        """The fetch that is not answered yet."""
        self._is_pausing = False
        """True while there is no such fetch, because every place is paused."""
        self._key: _Key = 0, 0, frozenset()
        self._role: Role = replica.raft.role
        self._deadline_ms = self._drawn = 0

    # --- again ----------------------------------------------------------------------------

    def of(self, message: SentMessage, now_ms: int) -> SentMessage | None:
        """Return what the node sends again after a message; None if its core has to decide."""
        replica = self._replica
        body = message.body
        if now_ms >= replica.deadline_ms:
            return None
        if message.is_answer:
            if self._fetch is None or not isinstance(body, FetchResponse):
                return None
            if body.error is Error.NONE and body.top_error is Error.NONE:
                return None
            paused = replica.raft.connections.paused(now_ms)
            self._key = self._number(body), message.destination_id, paused
            turn = self._turns.get(self._key)
            if turn is None or not replica.expects(message):
                return None
            return self._next_fetch(turn, message, now_ms)
        if self._is_pausing:
            return None
        known = self._answers.get(message.asker)
        if known is None:
            return None
        asked, answer, last, reply = known
        if last is message:
            return reply
        if asked is not body and asked != body:
            return None
        reply = message.answered(replica.id, answer)
        self._answers[message.asker] = asked, answer, message, reply
        return reply

    def _number(self, error: FetchResponse) -> int:
        """Return the same number for errors that are equal."""
        known = self._errors.get(id(error))
        if known is None:
            numbers = (number for other, number in self._errors.values() if other == error)
            known = self._errors[id(error)] = error, next(numbers, len(self._errors))
        return known[1]

    def _next_fetch(self, turn: _Turn, answer: SentMessage, now_ms: int) -> SentMessage | None:
        number = self._dice.randrange(turn.stop) if turn.stop else 0
        fetch = turn.fetches.get(number)
        if fetch is None:
            self._dice.give_back()
            return None
        # All that this changes in the core: which places are paused, and until when it waits.
        connections = self._replica.raft.connections
        connections.answered(
            answer.destination_id, answer.correlation_id, now_ms, well=turn.is_well
        )
        connections.sent(fetch.destination_id, fetch.correlation_id, now_ms)
        self._fetch = fetch
        return fetch

    # --- what the core does ---------------------------------------------------------------

    def before(self) -> None:
        """Take note of the state before a step of the core."""
        replica = self._replica
        self._role, self._deadline_ms = replica.raft.role, replica.deadline_ms
        self._drawn = self._dice.drawn

    def after(self, message: SentMessage | None, sent: list[SentMessage], now_ms: int) -> None:
        """Take note of what the core did with a message, or without one in its own time."""
        body = message.body if message is not None else None
        if self._replica.raft.role is not self._role or len(sent) > 1:
            self.forget()
        elif message is not None and isinstance(body, FetchRequest):
            self._answered(message, body, sent)
        elif message is not None and isinstance(body, FetchResponse):
            self._turned(message, body, sent, now_ms)
        elif message is not None or not self._is_pausing:
            self.forget()
        elif sent:
            self._asks(sent[0])

    def forget(self) -> None:
        """Leave all to the core: the state has changed."""
        self._answers.clear()
        self._turns.clear()
        self._fetch, self._is_pausing = None, False

    def _answered(self, message: SentMessage, asked: FetchRequest, sent: list[SentMessage]) -> None:
        answer = sent[0].body if sent else None
        if not isinstance(answer, FetchResponse) or not _is_error(answer):
            self.forget()
        elif self._is_steady and self._dice.drawn == self._drawn:
            self._answers[message.asker] = asked, answer, message, sent[0]

    def _turned(
        self, message: SentMessage, answer: FetchResponse, sent: list[SentMessage], now_ms: int
    ) -> None:
        fetch = self._fetch
        is_next = fetch is not None and fetch.correlation_id == message.correlation_id
        if not _is_error(answer):
            self.forget()
        elif not sent:
            if is_next:
                self._fetch, self._is_pausing = None, True
        elif not isinstance(sent[0].body, FetchRequest):
            self.forget()
        else:
            if is_next and self._is_steady:
                self._learn(message, sent[0], now_ms)
            self._asks(sent[0])

    def _learn(self, message: SentMessage, fetch: SentMessage, now_ms: int) -> None:
        dice = self._dice
        drawn = dice.drawn - self._drawn
        if drawn > 1:
            return
        turn = self._turns.get(self._key)
        if turn is None:
            connections = self._replica.raft.connections
            turn = self._turns[self._key] = _Turn(
                is_well=not connections.is_backing_off(message.destination_id, now_ms),
                stop=dice.stop if drawn else 0,
            )
        last = self._fetch
        if last is not None and last.body == fetch.body:  # the same object compares faster
            fetch = fetch._replace(body=last.body)
        turn.fetches[dice.number if drawn else 0] = fetch

    def _asks(self, sent: SentMessage) -> None:
        if not isinstance(sent.body, FetchRequest):
            self.forget()
            return
        self._fetch, self._is_pausing = sent, False

    @property
    def _is_steady(self) -> bool:
        """True if the step did not change when the node is due: an election or fetch timeout comes
        before the end of any request."""
        return self._replica.deadline_ms == self._deadline_ms


def _is_error(answer: FetchResponse) -> bool:
    return answer.error is not Error.NONE or answer.top_error is not Error.NONE
