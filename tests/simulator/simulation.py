"""One run's virtual time, its source of chance, and its record: all that a node uses of its world.

Owns the queue of what is to happen, and the trace. Nothing in it depends on the real clock, on hash
seeds or on the order of anything but the queue. It knows of no node and of no network.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, NoReturn

from kraftool.raft.events import Effect, Event, SetDeadline
from kraftool.raft.raft import Raft
from kraftool.sim.machine import Snapshot
from tests.simulator.hooks import Hooks
from tests.simulator.options import Options
from tests.simulator.trace import short


class ViolationError(Exception):
    """An invariant does not hold."""

    def __init__(self, invariant: str, text: str, at_ms: int) -> None:
        super().__init__(f"{invariant}: {text} (at {at_ms} ms)")
        self.invariant, self.text, self.at_ms = invariant, text, at_ms


class Simulation:
    """Time, chance and what happened, in one run."""

    hooks: Hooks
    """Set once, before the first node starts (`checkers.base.checked_world`)."""

    def __init__(self, options: Options, random: Random) -> None:
        self.options, self.random = options, random
        self.now = 0
        self.events = 0
        self.counts: Counter[str] = Counter()
        self.is_tracing = options.trace
        self.trace: list[str] = []
        self.contents: dict[bytes, Snapshot] = {}
        """Every snapshot ever written, by its bytes."""
        self._queue: list[tuple[int, int, Any, tuple[Any, ...]]] = []
        self._number = 0

    # Time

    def at(self, when_ms: int, action: Callable[..., object], *what: Any) -> None:
        self._number += 1
        heapq.heappush(self._queue, (when_ms, self._number, action, what))

    def after(self, wait_ms: int, action: Callable[..., object], *what: Any) -> None:
        self._number += 1
        heapq.heappush(self._queue, (self.now + wait_ms, self._number, action, what))

    def run(self, until_ms: int, is_over: Callable[[], bool] | None = None) -> bool:
        """Let things happen up to a time; whether `is_over` came true by then."""
        queue, pop = self._queue, heapq.heappop
        most = self.options.most_events
        while queue and queue[0][0] <= until_ms:
            self.now, _, action, what = pop(queue)
            action(*what)
            if is_over is not None and is_over():
                return True
            if self.events > most:
                self.violated("liveness", f"more than {most} events: the nodes do not come to rest")
        self.now = until_ms
        return False

    # What happened

    def count(self, what: str) -> None:
        self.counts[what] += 1

    def violated(self, invariant: str, text: str) -> NoReturn:
        raise ViolationError(invariant, text, self.now)

    def note(self, text: str) -> None:
        if self.is_tracing:
            self.trace.append(f"{self.now:>7} {text}")

    def note_event(self, name: str, event: Event) -> None:
        self.note(f"{name} <- {short(event)}")

    def note_effects(self, name: str, raft: Raft, effects: list[Effect]) -> None:
        for effect in effects:
            if not isinstance(effect, SetDeadline):
                self.note(f"{name}    -> {short(effect)}")
        role = raft.role
        self.note(
            f"{name}    {type(role).__name__} e{role.epoch} leader={role.leader_id}"
            f" end={raft.log.end_offset} hwm={role.high_watermark}"
        )

    # Chance

    def sync_ms(self, slow_ms: int) -> int:
        """Return the milliseconds that a disk takes to make something durable."""
        chance = self.random.random()
        if slow_ms:
            return int(chance * slow_ms)
        return 0 if chance < 0.7 else 1 + int((chance - 0.7) * 10)

    def apply_ms(self) -> int:
        """Return how long a state machine takes."""
        return 1 + int(self.random.random() * 4)
