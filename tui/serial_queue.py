"""Questions to something that answers one at a time, asked in a thread, in order.

Owns the queue of a view. A question that waits already is not put twice; what was asked before the
queue was cleared is answered for nobody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from kraftool.tui.view import View
from kraftool.watching.result import Failed, attempt

Answer = TypeVar("Answer")


class Asker(Generic[Answer]):
    """The questions of one view."""

    def __init__(self, view: View, answered: Callable[[Answer | Failed], None]) -> None:
        """`answered` gets each answer where widgets may be used, or why there is none."""
        self._view = view
        self._answered = answered
        self._waiting: deque[tuple[str, Callable[[], Answer]]] = deque()
        self._turn = 0
        self.is_asking = False

    def ask(self, name: str, question: Callable[[], Answer], *, alone: bool = False) -> None:
        """Ask when what was asked before is answered; `alone`: in the place of what waits."""
        if alone:
            self._waiting.clear()
        if all(name != waiting for waiting, _ in self._waiting):
            self._waiting.append((name, question))
        self._next()

    def clear(self) -> None:
        """Drop what waits."""
        self._waiting.clear()

    def forget(self) -> None:
        """Drop what waits, and the answer to what is being asked: it would be about another log."""
        self._waiting.clear()
        self._turn += 1

    def _next(self) -> None:
        if self.is_asking or not self._waiting:
            return
        _, question = self._waiting.popleft()
        self.is_asking = True
        turn = self._turn

        def show_answer(answer: tuple[Answer | Failed]) -> None:
            self.is_asking = False
            if turn == self._turn:
                self._answered(answer[0])
            self._next()

        # In a tuple, as the view would tell of a failure by itself, and the queue stand still.
        self._view.work("asking", lambda: (attempt(question),), show_answer)
